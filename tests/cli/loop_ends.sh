# loop_ends.sh - each end of a loop names its rule and its numbers; loops that have to reach something (`mustHold`).
cd "$(mktemp -d)" || exit 1
scratch=$PWD
trap 'cd /; rm -rf "$scratch"' EXIT
. "$ROOT/tests/cli/checks"
export XDG_DATA_HOME=$scratch/data NO_COLOR=1
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }

# ---- the sentence, and its parts for scripts -------------------------------------------------------------------
ends() { # STATUS LOOP RULE BOUND HELD SENTENCE: of a loop around a writer whose scores are 7, 8.5, 8, 8
    flow ends.yaml <<F
name: ends
agents:
  w: { script: [ { result: { n: 7 } }, { result: { n: 8.5 } }, { result: { n: 8 } } ] }
  same: { script: [same] }
  turns: { script: [a, b, a, b] }
  bad: { script: [ { fail: no } ] }
  dear: { script: [ { content: x, usage: { prompt: 60, completion: 40 } } ] }
  ender: { script: [ x, { content: y, actions: { break: true } } ] }
  judge: { script: [ { result: { done: false } }, { result: { done: true } } ], resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } }
steps: [ { id: l, $2 } ]
F
    "$RONDO" run --store s.db --json ends.yaml >out 2>err
    same "the status of $2" $? "$1"
    same "the end of $2" "$(jq -c 'select(.type == "loop_end").data | [.rule, .bound, .held]' out)" "[$3,$4,$5]"
    same "the sentence of $2" "$(jq -r 'select(.type == "loop_end").data.why' out)" "$6"
    local id
    id=$(jq -r 'select(.type == "workflow_start").runId' out)
    same "the same in the run" "$("$RONDO" show --store s.db --json "$id" | jq -r '.steps[0].why')" "$6"
    same "and of the step" "$("$RONDO" show --store s.db --json "$id" l | jq -r '.why')" "$6"
    "$RONDO" events --store s.db "$id" >lines
    same "in its event" "$(grep -cF "loop_end l $6" lines)" 1
}
ends 0 'agent: w, loop: { maxIterations: 5, until: result.n > 8 }' '"until"' '"result.n > 8"' true \
    "until: it held after pass 2 (until: result.n > 8)"
ends 0 'agent: w, loop: { maxIterations: 9, score: result.n, patience: 2 }' '"patience"' 2 null \
    "plateau: no gain over 8.5 for 2 passes (patience: 2); best: pass 2"
ends 0 'agent: w, loop: { maxIterations: 9, score: result.n, patience: 2, until: result.n > 9 }' '"patience"' 2 false \
    "plateau: no gain over 8.5 for 2 passes (patience: 2); best: pass 2; until did not hold"
ends 1 'agent: w, loop: { maxIterations: 2, until: result.n > 9 }' '"maxIterations"' 2 false \
    "cap: it was reached after pass 2 (maxIterations: 2); until did not hold"
ends 0 'agent: w, loop: { maxIterations: 2 }' '"maxIterations"' 2 null \
    "cap: it was reached after pass 2 (maxIterations: 2)"
ends 0 'agent: w, loop: { while: iteration < 2 }' '"while"' '"iteration < 2"' null \
    "while: it did not hold before pass 3 (while: iteration < 2)"
ends 0 'agent: w, loop: { unbounded: true, next: "iteration < 1 ? 1 : null" }' '"next"' '"iteration < 1 ? 1 : null"' null \
    "next: there was no next input after pass 2 (next: iteration < 1 ? 1 : null)"
ends 0 'agent: same, loop: { maxIterations: 9, until: content == "z", stall: { repeats: 3 } }' '"stall.repeats"' 3 false \
    "stalled: the same output 3 times in a row (stall.repeats: 3); until did not hold"
ends 0 'agent: turns, loop: { maxIterations: 9, stall: { repeats: 2 } }' '"stall.repeats"' 2 null \
    "oscillating: two outputs took turns 2 times (stall.repeats: 2)"
ends 1 'agent: bad, loop: { maxIterations: 9, onError: continue, maxFailures: 3 }' '"maxFailures"' 3 null \
    "failed: 3 failed passes in a row (maxFailures: 3)"
ends 1 'agent: bad, loop: { maxIterations: 9 }' null null null "failed: pass 1 failed"
ends 0 'agent: dear, loop: { maxIterations: 9, budget: { tokens: 150 } }' '"budget.tokens"' 150 null \
    "budget: 200 of 150 tokens spent"
ends 0 'agent: ender, loop: { maxIterations: 9 }' null null null "break: a step ended the loop in pass 2"
ends 0 'agent: same, loop: { maxIterations: 9, untilAgent: judge }' '"untilAgent"' '"judge"' true \
    "judge: it said done after pass 2 (untilAgent: judge)"

# ---- what a loop waits for did not come ----------------------------------------------------------------------------
flow ralph.yaml <<'F'
name: ralph
agents: { c: { script: [ same ] } }
steps: [ { id: ralph, agent: c, loop: { maxIterations: 9, until: content == "done", stall: { repeats: 2 } } } ]
F
check "a loop that stalls" 0 same "$RONDO" run --store s.db ralph.yaml
says "⚠ ralph  completed"
says "2 passes, stalled; until did not hold"
says "ralph: stalled: the same output 2 times in a row (stall.repeats: 2); until did"

# ---- mustHold ------------------------------------------------------------------------------------------------------
must() { # STATUS LOOP [MORE]
    flow must.yaml <<F
name: must
${3:-}
agents:
  c: { script: [ { content: one, result: 1, usage: { prompt: 10 } }, { content: one, result: 1 } ] }
  bad: { script: [ { fail: no } ] }
  later: { script: [ { fail: { message: no, retry: true } } ] }
  big: { script: [ { content: x, usage: { prompt: 900 } } ] }
steps:
  - { id: l, $2 }
  - { id: behind, agent: big, dependsOn: [l] }
F
    "$RONDO" run --store s.db must.yaml >out 2>err
    same "the status of $2" $? "$1"
}
must 8 'agent: c, loop: { maxIterations: 2, until: content == "z", mustHold: true }'
says "loop 'l' ended by max_iterations after 2 passes, and what it is to reach does not hold"
must 8 'agent: c, loop: { maxIterations: 2, until: content == "z", mustHold: true, onMaxIterations: returnLast }'
must 8 'agent: c, loop: { maxIterations: 9, until: content == "z", mustHold: true, score: result, patience: 1 }'
must 8 'agent: c, loop: { maxIterations: 9, until: content == "z", mustHold: true, stall: { repeats: 2 } }'
must 6 'agent: c, loop: { maxIterations: 9, until: content == "z", mustHold: true, stall: { repeats: 2, action: fail } }'
must 8 'agent: c, loop: { maxIterations: 9, until: content == "z", mustHold: true, budget: { calls: 2 } }'
must 1 'agent: bad, loop: { maxIterations: 9, until: content == "z", mustHold: true }'
must 75 'agent: later, loop: { maxIterations: 9, until: content == "z", mustHold: true }'
must 0 'agent: c, loop: { maxIterations: 9, until: content == "one", mustHold: true }'
must 0 'agent: c, loop: { maxIterations: 9, until: content == "one", mustHold: true }' 'budget: { tokens: 500 }'
must 4 'agent: c, loop: { maxIterations: 9, until: content == "one" }' 'budget: { tokens: 500 }'
must 4 'agent: big, loop: { maxIterations: 9, until: content == "z", mustHold: true }' 'budget: { tokens: 500 }'
must 2 'agent: c, loop: { maxIterations: 2, mustHold: true }'
says "\`mustHold\` needs \`until\` or \`untilAgent\`"
printf 'name: old\nagents: { a: { description: d } }\nsteps: [ { id: s, agent: a, instructions: i, loop: { maxIterations: 2, until: "true", mustHold: true } } ]\n' >old.yaml
check "v1 files have no such key" 2 "" "$RONDO" check old.yaml

# A pass that is done again counts once.
flow once.yaml <<'F'
name: once
agents: { bad: { script: [ { fail: no } ] } }
steps: [ { id: l, agent: bad, loop: { maxIterations: 9, until: content == "z" } } ]
F
check "a pass that fails" 1 "" "$RONDO" run --store s.db once.yaml
says "loop_end l failed: pass 1 failed"
check "fails again" 1 "" "$RONDO" resume --store s.db "$(run_id err)"
says "loop_end l failed: pass 1 failed"

# ---- onError: continue ---------------------------------------------------------------------------------------------
# The agent takes too long in each pass; what it left behind passes the test in the third one.
flow late.yaml <<'F'
name: late
agents: { slow: { run: "sleep 50" }, test: { run: "[ $RONDO_PASS = 2 ] && echo good" } }
steps:
  - id: l
    loop:
      maxIterations: 5
      onError: continue
      delay: 10ms
      until: steps.test.content.contains('good')
      steps:
        - { id: work, agent: slow, timeout: 100ms, instructions: go }
        - { id: test, agent: test, dependsOn: [work], runOn: always }
F
"$RONDO" run --store s.db --json late.yaml >out 2>err
same "until holds behind a pass that timed out" "$? $(jq -c 'select(.type == "loop_end").data | [.reason, .passes, .held]' out)" '0 ["until",3,true]'
same "what did not run is absent" "$(jq -rs '[.[] | select(.type == "error" and (.stepId == "l")).message] | length' out)" 0

flow cap.yaml <<'F'
name: cap
agents: { bad: { script: [ { fail: no }, { fail: no }, { fail: no }, { fail: no }, ok ] } }
steps: [ { id: l, agent: bad, loop: { maxIterations: 6, onError: continue, until: content == 'ok' } } ]
F
"$RONDO" rehearse --json cap.yaml >out 2>err # its time is made up
same "no failures in a row end it before its cap" "$(jq -c 'select(.type == "loop_end").data | [.reason, .passes]' out)" '["until",5]'
same "each one makes the next delay longer" "$(jq -s -c '[.[] | select(.type == "iteration_start").timestamp | sub("\\..*"; "Z") | fromdate] | [.[1:], .[:-1]] | transpose | map(.[0] - .[1])' out)" '[1,2,4,8]'
"$RONDO" rehearse cap.yaml >out 2>err
same "which are told" "$(sed -n 's/^[^ ]* \(delay .*\)/\1/p' err | paste -sd';')" "delay l 1.0s;delay l 2.0s;delay l 4.0s;delay l 8.0s"
sed 's/onError: continue,/onError: continue, delay: 900ms,/' cap.yaml >short.yaml
"$RONDO" rehearse short.yaml >out 2>err
same "but for short ones" "$(grep -c ' delay ' err)" 0
sed -i "s/until:/maxFailures: 2, until:/" cap.yaml
"$RONDO" rehearse --json cap.yaml >out 2>err
same "maxFailures ends it" "$(jq -c 'select(.type == "loop_end").data | [.reason, .passes, .rule, .bound]' out)" '["failed",2,"maxFailures",2]'
flow both.yaml <<'F'
name: both
agents: { bad: { script: [ { fail: no } ] } }
steps: [ { id: l, agent: bad, loop: { maxIterations: 6, onError: continue, maxFailures: 1, until: "status == 'failed'" } } ]
F
"$RONDO" run --store s.db --json both.yaml >out 2>err
same "until comes before maxFailures" "$? $(jq -r 'select(.type == "loop_end").data.reason' out)" "0 until"

# ---- a step that repeats itself, at its cap: its own error does not say why its last pass failed -------------------
flow tests.yaml <<'F'
name: tests
steps: [ { id: mend, run: 'echo "2 tests failed" >&2; exit 1', loop: { maxIterations: 2, onError: continue, delay: 1ms, until: "status == 'completed'" } } ]
F
"$RONDO" run --store s.db tests.yaml >out 2>err
same "the summary shows the pass that failed last" "$(grep -cE '^  ✗ pass 2 +[0-9]+ms  exit status 1: 2 tests failed$' err) $(grep -c '✗ pass 1' err)" "1 0"
sed -i 's/, delay/, onMaxIterations: returnLast, delay/' tests.yaml
"$RONDO" run --store s.db tests.yaml >out 2>err
same "also where the cap is no failure" "$(grep -cE '^  ✗ pass 2 +[0-9]+ms  exit status 1: 2 tests failed$' err)" 1

# ---- of several tries the last one --------------------------------------------------------------------------------
flow tries.yaml <<'F'
name: tries
steps:
  - { id: l, run: 'echo x; [ -e second ] || { touch second; exit 1; }', retry: { attempts: 2, delay: 1ms }, loop: { maxIterations: 2 } }
F
"$RONDO" run --store s.db tries.yaml >out 2>err
same "show has the end of the last try" "$("$RONDO" show --store s.db last l | sed -n 2p)" \
    "cap: it was reached after pass 2 (maxIterations: 2)"

# ---- the words of the file in the summary, too --------------------------------------------------------------------
flow never.yaml <<'F'
name: never
agents:
  w: { script: [ x ] }
  judge: { script: [ { result: { done: false } } ], resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } }
steps: [ { id: l, agent: w, loop: { maxIterations: 2, untilAgent: judge, onMaxIterations: returnLast } } ]
F
"$RONDO" run --store s.db never.yaml >out 2>err
same "untilAgent is no until" "$(grep -c '^⚠ l .*2 passes, cap; untilAgent did not hold' err) $(grep -c 'until did' err)" "1 0"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
