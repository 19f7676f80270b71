# rondo run: exit statuses, what goes to stdout and what to stderr, inputs, gates, JSON.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1
ndjson=$ROOT/${B:-build}/tests/ndjson_suite
. "$ROOT/tests/cli/checks"

silent() { if [ ! -s err ]; then ok; else bad "stderr is not empty:"; cat err; fi; }

flow hello.yaml <<'END'
name: hello
agents: { greeter: { run: [echo, "hello, world"] } }
steps: [ { id: greet, agent: greeter, instructions: "Greet." } ]
END
flow fails.yaml <<'END'
name: fails
agents: { bad: { run: "echo partial; echo the reason >&2; exit 3" } }
steps: [ { id: one, agent: bad, instructions: x } ]
END
flow partial.yaml <<'END'
name: partial
agents: { good: { run: [echo, fine] }, bad: { run: ["false"] } }
steps:
  - { id: one, agent: good, instructions: x }
  - { id: two, agent: bad, instructions: x }
END

# ---- schemas of what is no agent by itself ----------------------------------------------------------

flow sub.yaml <<'END'
name: sub
agents: { w: { script: [x, { content: y, result: { done: true } }] } }
steps: [ { id: one, agent: w } ]
END
flow result.yaml <<'END'
name: result
agents: { sub: { workflow: sub.yaml, resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } } }
steps: [ { id: one, agent: sub } ]
END
check "a workflow keeps to its agent's schema" 1 "" "$RONDO" run --store own.db result.yaml
says 'error one'
says 'output: expected object, got "x"'
check "and is taken up again" 1 "" "$RONDO" resume --store own.db "$(run_id err)"
says 'output: expected object, got "x"'
sed -i 's/agent: sub }/agent: sub, retries: 1 }/' result.yaml
check "another try may fit" 0 "y" "$RONDO" run --store :memory: result.yaml
flow judge.yaml <<'END'
name: judge
agents: { w: { script: [z] }, sub: { workflow: sub.yaml, resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } } }
steps: [ { id: one, agent: w, loop: { maxIterations: 3, untilAgent: sub } } ]
END
check "a judge that is a workflow" 0 "z" "$RONDO" run --store :memory: judge.yaml
says 'error one.0.judge'
says 'loop_end one judge: it said done after pass 2 (untilAgent: sub)'
flow group.yaml <<'END'
name: group
inputs: { n: { type: integer } }
agents: { w: { script: [x] } }
steps: [ { id: one, with: { n: inputs.n }, inputSchema: { properties: { n: { maximum: 5 } } }, steps: [ { id: two, agent: w } ] } ]
END
check "a group takes what fits" 0 "x" "$RONDO" run --store :memory: --input n=5 group.yaml
check "and nothing else" 1 "" "$RONDO" run --store :memory: --input n=6 group.yaml
says 'error one: input: n'

# ---- limits that a step lifts, and items that are empty -------------------------------------------

flow sub.yaml <<'END'
name: sub
options: { timeout: 50ms }
agents: { s: { run: "sleep 0.2; echo x" } }
steps: [{ id: a, agent: s }]
END
flow lifted.yaml <<'END'
name: lifted
options: { stepTimeout: 50ms }
agents: { s: { run: "sleep 0.2; echo x" }, i: { run: 'set -u; echo "<$RONDO_ITEM>"', timeout: 5s } }
steps:
  - { id: own, agent: s, timeout: 5s, loop: { maxIterations: 1 } }
  - { id: none, agent: s, timeout: 0s, loop: { maxIterations: 1 } }
  - { id: passes, agent: s, loop: { maxIterations: 1 } }
  - { id: file, include: sub.yaml, timeout: 0s }
  - { id: its, include: sub.yaml }
  - { id: items, agent: i, loop: { forEach: ["a", "", null], outputMode: cumulative } }
output: "[steps.transformMap(k, v, v.status), steps.items.result.iterations.map(i, i.content)]"
END
check "limits are lifted" 1 '[{"own":"completed","none":"completed","passes":"failed","file":"completed","its":"failed","items":"completed"},["<a>","<>","<>"]]' "$RONDO" run --quiet --store :memory: lifted.yaml

# ---- a file of the other dialect -----------------------------------------------------------------

flow new.yaml <<'END'
name: new
agents: { b: { script: [hi] } }
steps: [{ id: x, agent: b }]
output: "{'k': steps.x.content}"
END
cat >old.yaml <<'END'
name: old
agents: { a: { description: d } }
steps:
  - { id: y, include: new.yaml }
  - { id: z, agent: a, dependsOn: [y], instructions: i, condition: "steps.y.result.k == 'hi' && steps.y.result.innerSteps['y.x'].content == 'hi'" }
END
check "a v1 file sees what it returns, and its steps" 0 "a answers for z (rehearsal of z)" "$RONDO" rehearse --quiet --prompts old old.yaml
same "as a text, too" "$(sed -n '/### y (completed)/{n;p}' old/z.txt)" '{"k":"hi"}'

flow newer.yaml <<'END'
name: newer
agents: { b: { script: [hi] } }
steps: [{ id: x, agent: b }, { id: n, agent: b, condition: "false" }]
END
flow both.yaml <<'END'
name: both
agents: { told: { run: [cat] } }
order: sequence
steps:
  - { id: g, steps: [{ id: inc, include: newer.yaml }] }
  - { id: y, include: newer.yaml }
  - { id: z, agent: told, instructions: "${input}" }
output: "[steps.y.result.innerSteps, steps.g.steps.inc.result.innerSteps['inc.x'].content, has(steps.y.result), has(steps.y.result.innerSteps), string(steps.z.content.contains('innerSteps'))]"
END
check "in the other dialect, too" 0 '[{"y.x":{"content":"hi","status":"completed"},"y.n":{"content":"","status":"skipped"}},"hi",false,true,"false"]' "$RONDO" run --quiet --store :memory: both.yaml
sed -i 's/innerSteps, steps.g/innerStep, steps.g/' both.yaml
check "under that name" 0 "" "$RONDO" check both.yaml
says "step 'y' never has a result"

# ---- what a limit cut off ------------------------------------------------------------------------

flow cut.yaml <<'END'
name: cut
budget: { cost: 0.02 }
agents: { a: { script: [{ content: x, usage: { cost: 0.015 } }] } }
steps: [{ id: a, agent: a }, { id: b, agent: a, dependsOn: [a] }, { id: c, agent: a, dependsOn: [b] }]
output: "'says ' + steps.a.content"
END
check "a budget" 4 "says x" "$RONDO" run --store :memory: cut.yaml
sed -i 's/^output: .*/output: steps.a.result.none/' cut.yaml
check "what cannot be said" 4 "x" "$RONDO" run --store :memory: cut.yaml
flow inner.yaml <<'END'
name: inner
agents: { i: { workflow: cut.yaml } }
steps: [{ id: one, agent: i }]
output: steps.one.result.k
END
sed -i "s/^output: .*/output: \"{'k': steps.a.content}\"/" cut.yaml
check "a budget of a file inside" 0 "x" "$RONDO" run --store :memory: inner.yaml
sed -i 's/workflow: cut.yaml/workflow: cut.yaml, outputKey: key/; s/^output: .*/output: "[steps.one.content, state.key]"/' inner.yaml
check "which does at its end what others do" 0 '["{\"k\":\"x\"}",{"k":"x"}]' "$RONDO" run --store :memory: inner.yaml
cat >older.yaml <<'END'
name: older
agents: { z: { description: d } }
steps: [{ id: y, include: cut.yaml }, { id: z, agent: z, dependsOn: [y], instructions: i, condition: "size(steps.y.result.innerSteps) == 3" }]
END
check "also for a v1 file" 0 "z answers for z (rehearsal of z)" "$RONDO" rehearse --quiet older.yaml
# What is stored tells what was told.
told() { # NAME FILE: live events against those that are read back
    "$RONDO" run --json --store told.db "$2" 2>/dev/null | jq -cS 'select(.seq) | del(.timestamp, .duration)' >live
    "$RONDO" events --json --store told.db "$(jq -r .runId live | head -1)" | jq -cS 'select(.seq) | del(.timestamp, .duration)' >stored
    same "$1" "$(diff live stored | cut -c1-200)" ""
}
flow items_cut.yaml <<'END'
name: items_cut
agents: { s: { script: [{ content: one, usage: { prompt: 5 } }] }, slow: { run: [sleep, "30"] } }
steps:
  - { id: l, loop: { maxIterations: 4, steps: [{ id: e, agent: s, budget: { tokens: 9 }, loop: { forEach: [1, 2, 3], maxConcurrency: 1 } }] } }
  - { id: g, timeout: 200ms, steps: [{ id: i, agent: slow, loop: { forEach: [1, 2] } }] }
output: "steps.l.history.map(h, h.steps.e.result.iterations[0].id)"
END
told "items that a limit cut off" items_cut.yaml
same "have their ids in all passes" "$(jq -r 'select(.type == "workflow_end").data.output | join(" ")' live)" "l.0.e[0] l.1.e[0] l.2.e[0] l.3.e[0]"
{ cat partial.yaml; echo "output: \"'says ' + steps.one.content\""; } >says.yaml
told "the output of a partial run" says.yaml
same "is there" "$(jq -r 'select(.type == "workflow_end").data.output' stored)" "says fine"
flow late.yaml <<'END'
name: late
options: { timeout: 300ms }
agents: { a: { script: [x] }, s: { run: "sleep 30" } }
steps: [{ id: a, agent: a }, { id: s, agent: s, dependsOn: [a] }]
output: "'says ' + steps.a.content"
END
check "the time of the run" 124 "says x" "$RONDO" run --store late.db late.yaml
same "is kept" "$("$RONDO" events --store late.db --json "$(run_id err)" | jq -r 'select(.type == "workflow_end").data.output')" "says x"
flow empty.yaml <<'END'
name: empty
agents: { a: { script: [x] }, none: { script: [{ content: "", result: { a: 1 } }] } }
steps:
  - { id: one, agent: a }
  - { id: two, agent: none }
  - { id: three, agent: a, loop: { forEach: "[1].filter(x, x > 1)" } }
END
check "what says nothing is no answer" 0 x "$RONDO" run --store :memory: empty.yaml

# ---- the step of an item that counts -------------------------------------------------------------

flow counts.yaml <<'END'
name: counts
agents:
  a: { run: [printf, '{"n": %s}', "${item}"], resultSchema: { type: object } }
  b: { run: [printf, "later %s", "${item}"] }
  no: { run: ["false"] }
steps:
  - id: l
    loop:
      forEach: [1, 2, 3]
      output: a
      onItemFailure: continue
      steps:
        - { id: a, agent: a, condition: item != 2 }
        - { id: b, agent: b, dependsOn: [a] }
        - { id: c, agent: no, dependsOn: [a], condition: item == 3 }
output: "[steps.l.content, steps.l.result.iterations.map(i, [i.status, i.content, i.?result.orValue('none')])]"
END
check "of each item" 0 '["{\"n\": 1}",[["completed","{\"n\": 1}",{"n":1}],["completed","","none"],["failed","{\"n\": 3}",{"n":3}]]]' \
      "$RONDO" run --store :memory: counts.yaml
told "the same in its events" counts.yaml
same "and alone" "$("$RONDO" show --store told.db "$(jq -r .runId live | head -1)" 'l[0]' | tail -1)" '{"n":1}'
sed -i 's/output: a/output: a\n      outputMode: cumulative/' counts.yaml
check "all of them" 0 '["## Item 0\n\n{\"n\": 1}",[["completed","{\"n\": 1}",{"n":1}],["completed","","none"],["failed","{\"n\": 3}",{"n":3}]]]' \
      "$RONDO" run --store :memory: counts.yaml

# ---- answers and statuses ----------------------------------------------------------------------

check "the answer is on stdout" 0 "hello, world" "$RONDO" run hello.yaml
says "step_end greet"
says "workflow_end completed"
check "--quiet says nothing" 0 "hello, world" "$RONDO" run --quiet hello.yaml
silent
check "a failure" 1 "" "$RONDO" run fails.yaml
says "the reason"
check "a failure, quietly" 1 "" "$RONDO" run -q fails.yaml
says "the reason"
check "a partial run" 1 "fine" "$RONDO" run partial.yaml
says "partial"
# Why it is partial: not what was handled, nor what a container could live with.
flow reasons.yaml <<'END'
name: reasons
agents: { o: { script: [ok] }, f: { script: [{ fail: bad }] }, mixed: { script: [ok, { fail: bad }] } }
steps:
  - { id: tolerated, parallel: { agents: [o, f], mode: collect } }
  - { id: talk, forum: { members: [o, f], captain: o, quorum: 1 } }
  - { id: items, agent: mixed, loop: { forEach: "[1, 2]", onItemFailure: continue } }
  - { id: handled, agent: f }
  - { id: h, agent: o, dependsOn: [handled], runOn: failure }
  - { id: group, steps: [{ id: x, agent: f }] }
  - { id: hg, agent: o, dependsOn: [group], runOn: failure }
  - { id: unhandled, agent: f }
  - { id: hu, agent: f, dependsOn: [unhandled], runOn: failure }
  - { id: real, steps: [{ id: one, agent: f }, { id: h1, agent: o, dependsOn: [one], runOn: failure }, { id: two, agent: f }] }
  - { id: led, forum: { members: [o, f], captain: f, quorum: 1 } }
output: "'what there was'"
END
check "why it is partial" 1 "what there was" "$RONDO" run -q --store :memory: reasons.yaml
same "each reason once, and no other" "$(tr '\n' ' ' <err)" "rondo run: partial: unhandled: bad \
rondo run: partial: hu: bad rondo run: partial: real, two: bad rondo run: partial: led, captain: bad "
check "in the summary" 1 "what there was" "$RONDO" run --store :memory: reasons.yaml
same "the same reasons" "$(grep ' failed:$' err | tr '\n' ' ')" "unhandled failed: hu failed: real, two failed: led, captain failed: "
flow lost.yaml <<'END'
name: lost
agents: { fine: { script: [fine] }, bad: { script: [{ fail: { message: oops } }] } }
steps: [{ id: a, agent: fine }, { id: b, agent: bad }]
output: int(steps.a.content)
END
check "whose output cannot be said" 1 "fine" "$RONDO" run --store lost.db lost.yaml
says "error: output: 'fine' is no int"
same "in the summary, too" "$(grep -c "^output: 'fine' is no int" err)" 1
lost=$(run_id err)
check "it is replayed" 0 "9 events in 2 turns, all as recorded" "$RONDO" replay --store lost.db "$lost"
check "and taken up again" 1 "fine" "$RONDO" resume --store lost.db "$lost"
says "error: output: 'fine' is no int"
check "--quiet" 1 "fine" "$RONDO" run --store :memory: --quiet lost.yaml
says "rondo run: output: 'fine' is no int"
"$RONDO" run --store :memory: --json --quiet lost.yaml >lines 2>err
same "--json" "$(grep -c '"error".*is no int' lines)" 1
sed -i 's/^output: .*/output: steps.b.result.x/' lost.yaml
check "that is not there" 1 "fine" "$RONDO" run --store :memory: lost.yaml
says "error: output: "
check "a workflow from stdin" 0 "hello, world" sh -c '"$0" run - <hello.yaml' "$RONDO"

# Nothing that holds is told of in the words of the file.
flow nothing_holds.yaml <<'END'
name: nothing-holds
agents: { w: { script: [x] } }
steps:
  - { id: choose, branch: [{ when: "false", agent: w }] }
  - { id: go, machine: { start: s, states: { s: { agent: w } }, edges: [{ from: s, to: end, when: "false" }] } }
END
check "no case and no edge" 1 "" "$RONDO" run nothing_holds.yaml
says 'there is no `else`'
says 'candidates: end'

# What agents say goes into a pipe as it is; on a terminal nothing of it does more than show itself.
flow colours.yaml <<'END'
name: colours
agents: { painter: { run: [printf, 'in \033[31mred\033[0m\a'] }, bad: { script: [{ fail: "no \e[31mred\a" }] } }
steps: [ { id: one, agent: painter }, { id: two, agent: bad } ]
END
check "control characters into a pipe" 1 $'in \033[31mred\033[0m\a' "$RONDO" run -q colours.yaml
if grep -q $'\033' err; then bad "control characters on stderr"; else ok; fi
if command -v script >/dev/null; then
    script -qec "'$RONDO' run -q colours.yaml 2>/dev/null" /dev/null </dev/null >out
    if [ "$(tr -d '\r' <out)" = "in red" ]; then ok; else bad "on a terminal: $(od -c out)"; fi
    # JSON says it on a terminal, too, but with escapes.
    printf '%s\n' 'name: turns' 'agents: { s: { script: ["a\u009b31m\u202eb\u007fc\u00e9"] } }' 'steps: [ { id: one, agent: s } ]' >turns.yaml
    sed -i '1i rondo: 1' turns.yaml
    id=$("$RONDO" run -q --json turns.yaml | tee piped | jq -r 'select(.type == "workflow_start").runId')
    same "JSON into a pipe as it is" "$(grep workflow_end piped | grep -c $'a\u009b31m\u202eb\x7fc\u00e9')" 1
    for command in "run -q --json turns.yaml" "events --json $id" "show --json $id one" \
                   "eval '\"a\\u009b31m\\u202eb\\u007fc\\u00e9\"'"; do
        LC_ALL=C.UTF-8 script -qec "'$RONDO' $command 2>/dev/null" /dev/null </dev/null >out
        grep -qF 'a\u009b31m\u202eb\u007fc'$'\u00e9' out && ok || bad "$command on a terminal: $(cat -A out)"
        LC_ALL=C grep -qP '\xc2[\x80-\x9f]|\xe2\x80\xae|\x7f' out && bad "$command: characters that turn others around" || ok
    done
fi

check "no such file" 2 "" "$RONDO" run nothing.yaml
says "nothing.yaml"
printf 'rondo: 1\nname: x\nsteps:\n  - { id: a, agnt: y }\n' >wrong.yaml
check "a file with a wrong key" 2 "" "$RONDO" run wrong.yaml
says "wrong.yaml:4:"
says "agnt"
printf 'name: [\n' >broken.yaml
check "a file that is no YAML" 2 "" "$RONDO" run broken.yaml
check "no file" 3 "" "$RONDO" run
check "an unknown option" 3 "" "$RONDO" run --jsn hello.yaml
says "--json"
check "a store of its own" 0 "hello, world" "$RONDO" run --store here.db hello.yaml
[ -s here.db ] && ok || bad "--store made no file"
check "a store that cannot be made" 3 "" "$RONDO" run --store /dev/null/here.db hello.yaml
says ":memory:"
check "no store" 0 "hello, world" "$RONDO" run --store :memory: hello.yaml
check "a folder that is not there" 3 "" "$RONDO" run --workdir nowhere hello.yaml
says "nowhere"

flow missing.yaml <<'END'
name: missing
agents: { m: { run: [no-such-program-here] } }
steps: [ { id: one, agent: m, instructions: x } ]
END
check "a missing command" 1 "" "$RONDO" run missing.yaml
says "no-such-program-here"

flow model.yaml <<'END'
name: model
agents: { writer: { description: "Writes." } }
steps: [ { id: one, agent: writer, instructions: x } ]
END
check "a model that is not configured" 3 "" "$RONDO" run model.yaml
says "rehearse"
check "the same, rehearsed" 0 "$("$RONDO" rehearse -q model.yaml)" "$RONDO" rehearse model.yaml
if [ -s out ]; then ok; else bad "a rehearsal without an answer"; fi

# ---- limits of the run -----------------------------------------------------------------------------

flow slow.yaml <<'END'
name: slow
agents: { s: { run: [sleep, "20"] } }
steps: [ { id: one, agent: s, instructions: x } ]
END
check "--timeout" 124 "" "$RONDO" run --timeout 200ms slow.yaml
says "timed out"

flow spends.yaml <<'END'
name: spends
agents: { s: { script: [ { content: "draft", usage: { prompt: 60, completion: 40 } } ] } }
steps:
  - id: refine
    loop:
      maxIterations: 50
      until: "false"
      steps: [ { id: draft, agent: s, instructions: x } ]
END
check "--max-tokens ends the run and keeps what there was" 4 "draft" "$RONDO" run --max-tokens 250 spends.yaml
says "budget"

flow row.yaml <<'END'
name: row
order: sequence
budget: { tokens: 250 }
agents:
  u: { script: [ { content: one, usage: { prompt: 100 } }, { content: two, usage: { prompt: 100 } }, { content: three, usage: { prompt: 100 } } ] }
steps: [ { id: a, agent: u }, { id: b, agent: u }, { id: c, agent: u }, { id: d, agent: u } ]
END
check "what there was is printed, whoever waited for it" 4 "three" "$RONDO" run row.yaml
says "the run's budget: 300 of 250 tokens spent; this is what there was"

flow last_money.yaml <<'END'
name: last_money
budget: { tokens: 50 }
agents: { f: { script: [ { fail: no, usage: { prompt: 100 } } ] } }
steps: [ { id: a, agent: f } ]
END
check "a failure is told, too" 4 "" "$RONDO" run last_money.yaml
says "failed"
says "the run's budget: 100 of 50 tokens spent"

flow stalls.yaml <<'END'
name: stalls
agents: { s: { script: [ same ] } }
steps:
  - id: refine
    loop:
      maxIterations: 50
      until: "false"
      stall: { repeats: 3, action: fail }
      steps: [ { id: draft, agent: s, instructions: x } ]
END
check "a detector" 6 "" "$RONDO" run stalls.yaml

flow busy.yaml <<'END'
name: busy
agents: { s: { script: [ { fail: { message: "the provider is down", code: retry } } ] } }
steps: [ { id: one, agent: s, instructions: x } ]
END
check "something temporary" 75 "" "$RONDO" run busy.yaml
says "the provider is down"
flow busy_too.yaml <<'F'
name: busy_too
agents: { busy: { run: "exit 75" }, bad: { run: "exit 3" } }
steps: [{ id: a, agent: busy, instructions: x }, { id: b, agent: bad, instructions: x }]
F
check "something temporary, and something that is not" 1 "" "$RONDO" run busy_too.yaml

flow capped.yaml <<'END'
name: capped
agents: { s: { script: [ text ] } }
steps:
  - id: refine
    loop:
      maxIterations: 3
      until: "false"
      onMaxIterations: fail
      steps: [ { id: draft, agent: s, instructions: x } ]
END
check "a cap that fails the run" 1 "" "$RONDO" run capped.yaml
check "does not fail a rehearsal" 0 "" "$RONDO" rehearse capped.yaml
says "its cap of 3: the given answers never met its rules"

# What failed in a loop is not why it ended at its cap.
flow judged_cap.yaml <<'END'
name: judged-cap
agents:
  w: { script: [a] }
  j: { resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } }, script: [{ result: { done: false } }, { fail: judge broke }] }
steps: [ { id: x, agent: w, loop: { maxIterations: 2, untilAgent: j } } ]
END
flow failed_cap.yaml <<'END'
name: failed-cap
agents: { g: { script: [ok, { fail: b1 }] }, other: { script: [o] } }
steps:
  - { id: x, agent: g, loop: { maxIterations: 3, onError: continue, maxFailures: 9, until: "content == 'done'" } }
  - { id: y, agent: other, runOn: always }
END
check "a cap behind a judge that failed" 1 "" "$RONDO" run -q --store :memory: judged_cap.yaml
same "the loop says why" "$(cat err)" "rondo run: failed: x: loop 'x' exhausted 2 iterations: untilAgent never held"
check "does not fail a rehearsal either" 0 "" "$RONDO" rehearse judged_cap.yaml
says "'x' went on to its cap of 2: the given answers never met its rules"
check "a cap behind a pass that failed" 1 "o" "$RONDO" run -q --store :memory: failed_cap.yaml
same "the loop says why" "$(cat err)" "rondo run: partial: x: loop 'x' exhausted 3 iterations: until never held"
check "in the summary" 1 "o" "$RONDO" run --store :memory: failed_cap.yaml
same "nothing else" "$(sed -n '/ failed:$/,$p' err | tr '\n' ' ')" "x failed:   loop 'x' exhausted 3 iterations: until never held "
check "nor does that" 0 "o" "$RONDO" rehearse -q failed_cap.yaml
silent
echo '{ y: mine }' >script.yaml
check "nor with answers for others" 0 "mine" "$RONDO" rehearse -q failed_cap.yaml --script script.yaml
echo '{ x: mine }' >script.yaml
check "what was given was meant" 1 "o" "$RONDO" rehearse -q failed_cap.yaml --script script.yaml
says "partial: x: loop 'x' exhausted 3 iterations"

# A loop that failed by itself says so; one that failed of its pass lets that say it.
flow own.yaml <<'END'
name: own
agents:
  w: { script: [a] }
  f: { script: [ok, { fail: b1 }] }
  bad: { script: [{ fail: bad }] }
  slow: { script: [{ content: x, delay: 5s }] }
  j: { resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } }, script: [{ fail: judge broke }] }
steps:
  - { id: body, loop: { maxIterations: 3, until: "false", steps: [{ id: one, agent: w }, { id: two, agent: f }] } }
  - { id: direct, agent: bad, loop: { maxIterations: 3, until: "false" } }
  - { id: judged, agent: w, loop: { maxIterations: 9, untilAgent: j } }
  - { id: stuck, agent: w, loop: { maxIterations: 9, until: "false", stall: { repeats: 2, action: fail } } }
  - { id: ahead, agent: f, loop: { maxIterations: 9, onError: continue, maxFailures: 5, while: "iteration < 2 || int('x') > 2" } }
  - { id: late, timeout: 100ms, loop: { maxIterations: 9, onError: continue, until: "false", steps: [{ id: b, agent: bad }, { id: s, agent: slow }] } }
  - { id: outer, loop: { maxIterations: 2, until: "false", steps: [{ id: inner, agent: w, loop: { maxIterations: 2, until: "false" } }] } }
  - { id: group, timeout: 100ms, steps: [{ id: t, parallel: { agents: [w, bad], mode: collect } }, { id: s, agent: slow }] }
  - { id: states, machine: { start: p, states: { p: { agent: w }, q: { agent: bad } }, edges: [{ from: p, to: q }, { from: q, to: end }] } }
END
check "who failed by itself" 1 "" "$RONDO" rehearse -q own.yaml
same "and who of what is in it" "$(sed 's/^rondo rehearse: failed: //; s/ failed in pass.*//' err)" "body pass 1, two: b1
direct pass 1: bad
judged: untilAgent of loop 'judged'
stuck: loop 'stuck' is stalled after 2 passes
ahead: while of loop 'ahead'
late: timed out after 100 ms
outer pass 1, inner: loop 'inner' exhausted 2 iterations: until never held
group: timed out after 100 ms
states pass 2, q: bad"

# A text that is given as the result is that, too.
flow said.yaml <<'END'
name: said
agents:
  a: { script: [ { result: abc } ], resultSchema: { type: string } }
  c: { run: [ sh, -c, "echo '{\"result\":\"x\"}' >$RONDO_REPLY" ] }
steps: [ { id: a, agent: a }, { id: c, agent: c } ]
output: "[steps.a.result, steps.a.content, steps.c.result, steps.c.content]"
END
check "results that are texts" 0 '["abc","abc","x","x"]' "$RONDO" run said.yaml

# What is made up never meets the rule, but the rest of the flow is seen.
flow behind.yaml <<'END'
name: behind
agents: { c: { run: [ "false" ] }, s: { script: [ text ] } }
steps:
  - { id: never, agent: c, loop: { maxIterations: 3, until: "content == '!'" } }
  - { id: thrice, agent: c, loop: { maxIterations: 3 } }
  - { id: price, dependsOn: [ never, thrice ], set: { price: "19.99", sum: 0.1 + 0.2, whole: "2.0", large: "1e300" } }
END
check "what is behind a capped loop is rehearsed" 0 '{"price":19.99,"sum":0.30000000000000004,"whole":2.0,"large":1e300}' "$RONDO" rehearse behind.yaml
says "'never' went on to its cap of 3"
same "a cap that is all there is" "$(grep -c "'thrice' went on" err)" 0
says "cap of 3: the made answers never met its rules"

# With --script a loop fails at its cap where something that is said in it was meant.
flow meant.yaml <<'END'
name: meant
agents: { w: { description: d, model: openai/x } }
steps:
  - id: refine
    loop:
      maxIterations: 2
      until: "steps.rate.content == '!'"
      onMaxIterations: fail
      steps: [ { id: draft, agent: w }, { id: rate, agent: w, dependsOn: [draft] } ]
  - { id: behind, agent: w, dependsOn: [refine] }
END
meant() { # WHAT STATUS ANSWER SCRIPT
    echo "$4" >script.yaml
    check "$1" "$2" "$3" "$RONDO" rehearse meant.yaml --script script.yaml
}
meant "a script that says nothing of a loop" 0 B '{ behind: B }'
says "'refine' went on to its cap of 2: the made answers never met its rules"
meant "a script that says some of it" 1 "" '{ behind: B, rate: "?" }'
says "'refine' went on to its cap of 2: the given answers never met its rules"
meant "by its path" 1 "" '{ behind: B, refine.rate: "?" }'
meant "one of its passes" 1 "" '{ behind: B, refine.1.draft: x }'

flow endless.yaml <<'END'
name: endless
agents: { m: { description: d, model: openai/gpt-5 } }
steps:
  - { id: spend, agent: m, loop: { unbounded: true, budget: { tokens: 1500 } } }
  - { id: last, dependsOn: [spend], set: { passes: steps.spend.passes } }
END
check "a loop without a cap ends in a rehearsal" 0 '{"passes":100}' "$RONDO" rehearse endless.yaml
says "'spend' has no cap, and was ended in pass 100"
for file in "$ROOT"/examples/*.yaml "$ROOT"/examples/twins/*.yaml; do
    "$RONDO" rehearse --quiet "$file" >out 2>err </dev/null && ok || { bad "rehearsing ${file##*/}"; cat err; }
done

# ---- inputs ------------------------------------------------------------------------------------------

flow inputs.yaml <<'END'
name: inputs
inputs:
  topic: { type: string }
  count: { type: integer, default: 3 }
  tags: { type: array, items: { type: string }, default: [] }
agents: { show: { run: [printf, "%s|%s|%s", "${inputs.topic}", "${inputs.count}", "${inputs.tags}"] } }
steps: [ { id: one, agent: show, instructions: x } ]
END
echo '{"topic": "\ud83c\udfb5", "count": 2}' >notes.json
check "inputs as JSON writes them" 0 "🎵|2|[]" "$RONDO" run --inputs notes.json inputs.yaml
check "inputs from stdin" 0 "🎵|2|[]" sh -c '"$0" run --inputs - inputs.yaml <notes.json' "$RONDO"
check "inputs out of a pipe" 0 "x|3|[]" "$RONDO" run --inputs <(echo 'topic: x') inputs.yaml
check "an input" 0 'loops|3|[]' "$RONDO" run inputs.yaml --input topic=loops
check "texts stay texts, numbers become numbers" 0 '5|7|["a"]' \
    "$RONDO" run inputs.yaml -i topic=5 -i count=7 -i 'tags=["a"]'
printf 'from a file' >topic.txt
check "an input from a file" 0 'from a file|3|[]' "$RONDO" run inputs.yaml -i topic=@topic.txt
check "a text that begins with @" 0 '@home|3|[]' "$RONDO" run inputs.yaml -i topic=@@home
printf 'topic: yaml\ncount: 4\n' >inputs.in
check "--inputs" 0 'yaml|4|[]' "$RONDO" run inputs.yaml --inputs inputs.in
check "--input wins" 0 'mine|4|[]' "$RONDO" run inputs.yaml --inputs inputs.in --input topic=mine
check "a missing input" 3 "" "$RONDO" run inputs.yaml
says "'topic'"
check "an unknown input" 3 "" "$RONDO" run inputs.yaml -i topic=x -i cuont=1
says "did you mean 'count'?"
check "an input that does not fit" 3 "" "$RONDO" run inputs.yaml -i topic=x -i count=many
says "count"
check "inputs that are no map" 3 "" sh -c 'echo "[1]" >list.in; "$0" run inputs.yaml --inputs list.in' "$RONDO"
check "an input file that is not there" 3 "" "$RONDO" run inputs.yaml -i topic=@nowhere
says "rondo run: --input topic: nowhere: No such file"
says "nowhere"
check "inputs in a rehearsal" 0 "" sh -c '"$0" rehearse -q inputs.yaml -i topic=x >/dev/null' "$RONDO"

check "an escape sequence in the name of a file" 3 "" "$RONDO" run hello.yaml --answers $'\e[31mred'
if grep -q $'\e' err; then bad "it was shown: $(cat -v err)"; else ok; fi

# ---- gates ---------------------------------------------------------------------------------------------

flow gate.yaml <<'END'
name: gate
agents: { say: { run: [echo, "${steps.ok.result}"] } }
steps:
  - { id: ok, gate: { ask: "Go on?", schema: { type: boolean } } }
  - { id: after, dependsOn: [ok], agent: say, instructions: x }
END
check "a gate without a terminal or a store" 3 "" "$RONDO" run --store :memory: gate.yaml
says "--answers"
check "a gate without a terminal" 5 "" "$RONDO" run gate.yaml
echo 'ok: true' >yes.in
check "--answers" 0 "true" "$RONDO" run --answers yes.in gate.yaml
echo '{"ok": ["maybe", false]}' >list.in
check "answers one after the other" 0 "false" "$RONDO" run --answers list.in gate.yaml
says "gate_answered ok"
echo 'ok: maybe' >wrong.in
check "an answer that does not fit" 5 "" "$RONDO" run --answers wrong.in gate.yaml
says "ok"
echo '{}' >none.in
check "who answered" 0 "true" "$RONDO" run --answers yes.in gate.yaml
says "gate_answered ok: true by answers"
check "no answer for this gate" 5 "" "$RONDO" run --answers none.in gate.yaml
check "answers that are not there" 3 "" "$RONDO" run --answers nowhere gate.yaml
sed 's/boolean }/boolean }, timeout: 10ms, onTimeout: exit/' gate.yaml >exits.yaml
check "a gate that nobody is to wait for" 5 "" "$RONDO" run --store :memory: --answers none.in exits.yaml
says "gate 'ok': nobody answered in time"
says "waiting"
"$RONDO" run --json --store :memory: --answers none.in exits.yaml >out 2>err </dev/null
if grep -q workflow_end out; then bad "a run that waits has ended: $(cat out)"; else ok; fi
check "the same with its answer" 0 "true" "$RONDO" run --store :memory: --answers yes.in exits.yaml
"$RONDO" rehearse -q gate.yaml >out 2>err </dev/null
if [ $? = 0 ]; then ok; else bad "a rehearsal with a gate: $(cat err)"; fi

# Who answered is known of all passes, also of those that are read back.
flow gates.yaml <<'END'
name: gates
steps:
  - id: l
    loop:
      maxIterations: 6
      until: iteration == 5 && history.all(p, p.steps.g.by == 'answers')
      onMaxIterations: fail
      steps: [ { id: g, gate: { ask: "Go on?" } } ]
END
echo '{"g": [1, 2, 3, 4, 5, 6]}' >six.in
check "gates of a loop" 0 "6" "$RONDO" run --store :memory: --answers six.in gates.yaml

# How many items there are is said at the start, also when an expression gives them.
flow items.yaml <<'END'
name: items
agents: { a: { script: [x] } }
steps: [ { id: f, agent: a, loop: { forEach: "[1, 2, 3].map(x, x * 2)" } } ]
END
"$RONDO" run --json --store :memory: items.yaml >out 2>err </dev/null
if grep '"type":"step_start"' out | grep -q '"loop_type":"forEach","items":3'; then ok; else bad "items: $(cat out)"; fi

# An expression that is too long is cut around its caret, and named once.
flow caret.yaml <<'END'
name: caret
agents: { a: { script: [x] } }
steps:
  - id: l
    agent: a
    loop: { maxIterations: 2, until: "'a long text that goes on and on and on and on and on' == content || int(content) > 3 || 'and on and on' == content" }
END
check "a rule that cannot be asked" 1 "" env COLUMNS=60 "$RONDO" run --store :memory: caret.yaml
says "until of loop 'l' failed in pass 1: 'x' is no int"
if [ "$(grep -A1 'int(content) > 3' err | tail -1)" = "                                  ^" ] && [ "$(grep -c '^  .*and on' err)" = 1 ]; then
    ok
else
    bad "the caret: $(cat err)"
fi

# ---- JSON ------------------------------------------------------------------------------------------------

# events NAME WANTED COMMAND...: the events of a run, "type path" a line, joined
events() {
    local name=$1 wanted=$2 is
    shift 2
    "$@" >out 2>err </dev/null
    if is=$("$ndjson" <out 2>&1 | paste -sd ' '); [ "${PIPESTATUS[0]}" = 0 ] && [[ $is == $wanted ]]; then
        ok
    else
        bad "$name: $is"; cat err
    fi
}
last() { # the keys of the last line
    local wanted=$1 is
    shift
    is=$("$ndjson" "$@" <out 2>&1)
    if [ "$is" = "$wanted" ]; then ok; else bad "the last line: $is, wanted $wanted"; fi
}
events "a run" "plan_ready workflow_start*step_start greet*step_end greet*workflow_end" \
    "$RONDO" run --json hello.yaml
last '"completed" "hello, world" 0 0' data.status data.output data.cost data.exitCode
events "a failed run" "plan_ready*error one*workflow_end" "$RONDO" run --json fails.yaml
last '"failed" 1' data.status data.exitCode
events "a loop" "plan_ready*iteration_start refine*loop_end refine*workflow_end" \
    "$RONDO" run --json --max-tokens 250 spends.yaml
last '"completed" 4' data.status data.exitCode
flow decides.yaml <<'END'
name: decides
order: sequence
agents:
  a: { script: [said] }
  c: { script: [{ result: { decision: retry, feedback: more } }, { result: { decision: approve } }] }
  u: { script: [{ fail: early }, late] }
steps:
  - { id: tries, agent: u, retry: { attempts: 2, delay: 1ms } }
  - { id: picks, branch: [{ when: "false", agent: a }, { when: "true", name: second, agent: a }] }
  - { id: talks, instructions: t, forum: { members: [a, u], captain: a, rounds: 2 } }
  - { id: looks, agent: a, review: { agent: c } }
END
check "decisions, told" 0 "said" "$RONDO" run decides.yaml
says "decision picks second"
says "decision talks round 2"
says "review looks retry: more"
"$RONDO" run --json decides.yaml >out 2>err </dev/null
for line in '"retry".*"attempt":2,"delay":"1ms"' '"decision".*"picks".*"choice":"second"' \
    '"decision".*"talks".*"round":2' '"review".*"step":"looks","decision":"retry","feedback":"more"'; do
    if grep -q "\"type\":$line" out; then ok; else bad "no line of JSON has $line"; fi
done
events "a rehearsal" "plan_ready*iteration_end refine*workflow_end" "$RONDO" rehearse --json capped.yaml
last '0' data.exitCode

# ---- pipes -------------------------------------------------------------------------------------------------

flow many.yaml <<'END'
name: many
agents: { s: { script: [ x ] } }
steps:
  - id: refine
    loop:
      maxIterations: 20000
      until: "false"
      steps: [ { id: draft, agent: s, instructions: x } ]
END
"$RONDO" run --json many.yaml 2>err | head -n 1 >out
status=${PIPESTATUS[0]}
if [ "$status" = 141 ] && [ ! -s err ]; then ok; else bad "a reader that leaves: $status $(cat err)"; fi
if grep -q plan_ready out; then ok; else bad "the first line: $(cat out)"; fi
flow long.yaml <<'END'
name: long
agents: { s: { run: "seq 100000" } }
steps: [ { id: s, agent: s, instructions: x } ]
END
"$RONDO" run -q long.yaml 2>err | head -c 5 >out
status=${PIPESTATUS[0]}
if [ "$status" = 141 ] && [ ! -s err ]; then ok; else bad "an answer that nobody reads: $status $(cat err)"; fi
flow null.yaml <<'END'
name: nothing
agents: { s: { run: "true" } }
steps: [ { id: s, agent: s, instructions: x } ]
output: "null"
END
check "null is an answer" 0 "null" "$RONDO" run -q null.yaml
sed -i '/^output/d' null.yaml
check "no text is none" 0 "" "$RONDO" run -q null.yaml
if [ -e /dev/full ]; then
    "$RONDO" run hello.yaml >/dev/full 2>err
    if [ $? = 1 ] && grep -q "standard output" err; then ok; else bad "a full disk: $(cat err)"; fi
fi
"$RONDO" run hello.yaml 2>err >&-
if [ $? = 1 ] && grep -q "standard output: Bad file" err; then ok; else bad "stdout is closed: $(cat err)"; fi
check "stderr is closed" 0 "hello, world" sh -c '"$0" run hello.yaml 2>&-' "$RONDO"
check "stdin is closed" 0 "hello, world" sh -c '"$0" run hello.yaml <&-' "$RONDO"
events "20,000 passes" "plan_ready*workflow_end" "$RONDO" run --json many.yaml

flow flood.yaml <<'END'
name: flood
agents: { f: { run: "yes | head -c 50000000" } }
steps: [ { id: one, agent: f, instructions: x } ]
END
"$RONDO" run -q flood.yaml >out 2>err
status=$?
size=$(wc -c <out)
if [ $status = 0 ] && [ "$size" -gt 1000000 ] && [ "$size" -lt 1100000 ]; then ok
else bad "a flood: status $status, $size bytes $(cat err)"; fi

flow big.yaml <<'END'
name: big
agents: { b: { run: "head -c 900000 /dev/zero | tr '\\0' x" } }
steps: [ { id: one, agent: b, instructions: x } ]
END
"$RONDO" run -q big.yaml | wc -c >out
if [ "$(cat out)" = 900001 ]; then ok; else bad "a large answer: $(cat out)"; fi

# ---- errors of expressions -----------------------------------------------------------------------------------

# told COMMAND...: the errors among its events
told() { "$@" --json 2>/dev/null | grep '"type":"error"' | sed 's/.*"runId":"[^"]*",//; s/"duration":"[^"]*",//'; }

flow scored.yaml <<'END'
name: scored
agents: { w: { script: [ { result: { n: 5 } } ] } }
steps: [ { id: l, agent: w, loop: { maxIterations: 3, score: "1 / (result.n - 5)" } } ]
END
flow tried.yaml <<'END'
name: tried
agents: { w: { script: [ { fail: no } ] } }
steps: [ { id: a, agent: w, retry: { attempts: 3, on: "int(error) == 1" } } ]
END
flow returned.yaml <<'END'
name: returned
agents: { w: { script: [ { result: { n: 5 } } ] } }
output: 1 / (steps.s.result.n - 5)
steps: [ { id: s, agent: w } ]
END
flow chosen.yaml <<'END'
name: chosen
agents: { w: { script: [x] } }
steps:
  - { id: l, loop: { maxIterations: 1, onError: continue }, branch: [ { when: "iteration > 5", agent: w } ] }
  - { id: e, dependsOn: [l], loop: { forEach: [1, 2] }, branch: [ { when: "1 / (item - 1) > 0", agent: w } ] }
END
check "an error in a score" 1 "" "$RONDO" run scored.yaml
says "error l ("
same "a loop that cannot be scored tells it once" "$(grep -c 'division of 1' err)" 3 # its line, row and part of the summary
same "an error in a score is an event" "$(told "$RONDO" run scored.yaml)" \
    '"stepId":"l","path":"l","error":"score of loop '"'l'"' failed in pass 1: division of 1 by zero\n  1 / (result.n - 5)\n    ^"}'
check "an error in retry.on" 1 "" "$RONDO" run tried.yaml
says "error a: retry.on: 'no' is no int"
same "an error in retry.on is one beside the step's own" "$(told "$RONDO" run tried.yaml)" \
    '"stepId":"a","path":"a","agent":"w","error":"no"}
"stepId":"a","path":"a","error":"retry.on: '"'no'"' is no int\n  int(error) == 1\n  ^"}'
check "an error in output" 1 '{"n":5}' "$RONDO" run returned.yaml
says "): output: division of 1 by zero"
same "an error in output is an event of the run" "$(told "$RONDO" run returned.yaml)" \
    '"error":"output: division of 1 by zero\n  1 / (steps.s.result.n - 5)\n    ^"}'
same "a body without a name tells its own failure, and no other" "$(told "$RONDO" run chosen.yaml | sed 's/\\n.*//')" \
    '"stepId":"l","path":"l.0","error":"no case holds and there is no `else`"}
"stepId":"e[0]","path":"e[0]","error":"case '"'w'"': when: division of 1 by zero
"stepId":"e","path":"e","error":"case '"'w'"': when: division of 1 by zero'

# ---- limits of included files --------------------------------------------------------------------------------

flow slow_part.yaml <<'END'
name: part
options: { timeout: 50ms }
agents: { a: { run: [sleep, "30"] } }
steps: [ { id: t, agent: a, instructions: x } ]
END
flow dear_part.yaml <<'END'
name: part
budget: { tokens: 100 }
agents: { a: { script: [ { content: some, usage: { prompt: 60 } } ] } }
steps: [ { id: t, agent: a, instructions: x, loop: { unbounded: true, budget: { tokens: 100000 } } } ]
END
flow slow.yaml <<'END'
name: slow
steps: [ { id: part, include: slow_part.yaml } ]
END
flow dear.yaml <<'END'
name: dear
steps: [ { id: part, include: dear_part.yaml } ]
END
check "an included file has its timeout" 1 "" "$RONDO" run -q slow.yaml
says "timed out after 50 ms"
check "an included file has its budget" 0 "some" "$RONDO" run -q dear.yaml

# ---- other options -------------------------------------------------------------------------------------------

mkdir -p work
flow where.yaml <<'END'
name: where
agents: { w: { run: [pwd] } }
steps: [ { id: one, agent: w, instructions: x } ]
END
check "--workdir" 0 "$PWD/work" "$RONDO" run --workdir work where.yaml
check "--notify" 0 "hello, world" "$RONDO" run --notify 'echo "$RONDO_NAME $RONDO_STATUS $RONDO_EXIT" >told; cat >>told' hello.yaml
if [ "$(cat told 2>&1)" = "hello completed 0
hello, world" ]; then ok; else bad "--notify: $(cat told)"; fi
check "--prompts" 0 "hello, world" "$RONDO" run --prompts shown hello.yaml
if grep -q "Greet." shown/greet.txt; then ok; else bad "--prompts: $(ls shown 2>&1)"; fi
check "--context" 0 "hello, world" "$RONDO" run --prompts shown2 --context "some context" hello.yaml
if grep -q "some context" shown2/greet.txt; then ok; else bad "--context"; fi
check "--verbose" 0 "hello, world" "$RONDO" run --verbose hello.yaml
says "prompt greet"
says "step_end greet"
says "hello, world"
check "--plan" 0 "hello, world" "$RONDO" run --plan hello.yaml
says "greet"
check "--quiet with --verbose" 0 "hello, world" "$RONDO" run --quiet --verbose hello.yaml
same "says nothing of what goes well" "$(cat err)" ""
flow fails.yaml <<'END'
name: fails
agents: { c: { run: [ sh, -c, "echo one >&2; echo two >&2; exit 1" ] } }
steps: [ { id: a, agent: c } ]
END
check "and of what fails" 1 "" "$RONDO" run --quiet --verbose fails.yaml
same "everything" "$(cat err)" $'rondo run: failed: a: exit status 1: one\ntwo'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
