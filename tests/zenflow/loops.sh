# loops.sh - a part of tests/cli/zenflow.sh: loops, judges, items.

# ---- our own loops ------------------------------------------------------------------------------------

f=$own/practice.yaml # ZF-E07
checked "$f" "tune-up play-along"
play "practice" 0 "$f" <<<'{ "play": ["rough", "better", "fine"], "play-along.judge": [ { "result": { "done": false }, "content": "slower" }, { "result": { "done": false } }, { "result": { "done": true } } ] }'
calls 7
ends play-along.0.play completed play-along.1.play completed play-along.2.play completed play-along.2.judge completed
never "step_start play-along.3.play"
for i in 1 2 3; do says play-along "## Iteration $i"; done
lists play-along.1.play "### tune-up (completed)" "## Iteration 2" "rough" "## Judge Feedback (Iteration 1)" "slower"
lists play-along.2.judge "## Your Task: Evaluate Loop Progress" "## Iteration 1" "rough" "## Judge Feedback (Iteration 1)" "slower" \
    "## Iteration 2" "better" "## Iteration 3" "fine"

f=$own/stalls.yaml # ZF-E05 ZF-E08
checked "$f" "list visit tell"
play "stalls" 0 "$f" <<<'{ "list": { "result": { "stalls": [ { "owner": "Ada" }, { "owner": "Bo" }, { "owner": "Cy" } ] } },
    "visit[0].buy": "apples", "visit[1].buy": "bread", "visit[2].buy": "cheese", "look": { "content": "l", "delay": "1s" } }'
calls 8; most '^visit\[[0-9]\]\.' 2
ends "visit[0].look" completed "visit[1].buy" completed "visit[2].buy" completed
shows "visit[1].look" '{"owner":"Bo"}'; shows "visit[1].buy" '## forEach Item (index: 1)'; hides "visit[1].buy" "Ada"
lists tell "apples" "bread" "cheese"
play "no stalls" 0 "$f" <<<'{ "list": { "result": { "stalls": [] } } }'
calls 2; ends visit completed tell completed; gives visit '{"iterations":[]}'

f=$own/refine.yaml # ZF-E06
checked "$f" "idea cycle"
play "until" 0 "$f" <<<'{ "read": ["no", "PRINT IT"], "judge": { "result": { "done": false } } }'
calls 6; never "step_start cycle.1.judge"; gives cycle '"PRINT IT"'
at step_start cycle.1.write 10; at step_end cycle 10
play "a judge that is content" 0 "$f" <<<'{ "read": "no", "judge": [ { "result": { "done": false } }, { "result": { "done": true } } ] }' # ZF-B02
calls 7; never "step_start cycle.2.write"; ends cycle.1.judge completed cycle completed
same "the reason" "$("$ndjson" type=loop_end data.reason data.passes <events)" '"judge" 2'

# ZF-B01: a judge that fails is told, and the loop goes on.
play "a judge that fails" 0 "$f" <<<'{ "read": "no", "judge": [ { "fail": "asleep" }, "no result at all", { "result": { "done": 5 } }, { "result": { "done": true } } ] }'
fails cycle.0.judge "asleep"; ends cycle.1.judge failed cycle.2.judge failed cycle.3.judge completed cycle completed
calls 13; of status '"completed"'

# ZF-B03: the error says which conditions never held; without any it is a success.
play "never content" 1 "$f" <<<'{ "read": "no", "judge": { "result": { "done": false } } }'
calls 13; of status '"partial"'; fails cycle "exhausted 4 iterations"; fails cycle "until and untilAgent"; at error cycle 30
capped() { # NAME STATUS LOOP
    flow capped.yaml <<END
name: capped
agents:
  judge: { description: j, resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } }
steps:
  - { id: l, loop: { maxIterations: 2, $3 steps: [ { id: w } ] } }
  - { id: slow }
  - { id: sees, dependsOn: [slow], condition: "steps.l.content == 'w2'" }
END
    local judge='"judge": { "result": { "done": false } },'
    play "$1" "$2" capped.yaml <<<'{ "w": ["w1", "w2"], '"${4:+$judge}"' "slow": { "content": "s", "delay": "1s" } }'
    ends sees completed # the content is kept
}
capped "only until" 1 "until: \"content == 'x'\","
fails l "exhausted 2 iterations: until "
capped "only a judge" 1 "untilAgent: judge," scripted
fails l "exhausted 2 iterations: untilAgent "
capped "neither" 0 ""
ends l completed; gives l '"w2"'

# ---- until ------------------------------------------------------------------------------------------------

# ZF-B06: it reads inner steps, the result of the pass, its number, and what the loop waits for.
flow until.yaml <<'END'
name: until
agents: { n: { description: n, resultSchema: { type: object, required: [n], properties: { n: { type: integer } } } } }
steps:
  - { id: goal-is, agent: n }
  - id: l
    dependsOn: [goal-is]
    loop:
      maxIterations: 5
      until: "result.n == steps.goal-is.result.n && steps.b.result.n == 3.0 && steps.a.content == 'a3' && iteration == 2 && status == 'completed'"
      steps: [ { id: a }, { id: b, agent: n, dependsOn: [a] } ]
  - { id: reads, dependsOn: [l], condition: "steps.l.result.n == 3" }
END
play "until" 0 until.yaml <<<'{ "goal-is": { "result": { "n": 3 } }, "a": ["a1", "a2", "a3"], "b": [ { "result": { "n": 1 } }, { "result": { "n": 2 } }, { "result": { "n": 3 } } ] }'
ends l completed reads completed; calls 8

# ZF-B43: in v1 any trouble with it fails the loop.
flow until-error.yaml <<'END'
name: until error
steps:
  - { id: l, loop: { maxIterations: 5, until: "steps.a.result.none == 1", steps: [ { id: a } ] } }
  - { id: m, loop: { maxIterations: 5, until: "1 / size(content) == 1" } }
END
play "an until that cannot be evaluated" 1 until-error.yaml <<<'{ "a": { "result": { "n": 1 } }, "m": "" }'
ends l failed m failed; calls 2

# A step that is repeated by itself keeps its id, and is shown what it said before: ZF-B49.
flow single.yaml <<'END'
name: single
steps: [ { id: s, instructions: "Improve.", loop: { maxIterations: 3, until: "content.endsWith('!')" } }, { id: t, dependsOn: [s] } ]
END
play "a step by itself" 0 single.yaml <<<'{ "s": ["one", "two!"] }'
same "ids" "$("$ndjson" type=step_end stepId=s data.output <events | tr '\n' ' ')" '"one" "two!" "two!" '
shows t "### s (completed)"; shows s.1 "## Previous Iteration Output (Iteration 1)"; shows s.1 "one"

# ZF-B05: the loop fails with the error, at once.
play "a worker that fails" 1 "$own/refine.yaml" <<<'{ "write": ["fine", { "fail": "no ink" }], "read": "no", "judge": { "result": { "done": false } } }'
ends cycle.0.judge completed cycle.1.write failed cycle.1.read cancelled cycle failed; fails cycle "no ink"
never "step_start cycle.1.judge"; never "step_start cycle.2.write"; calls 5; of status '"partial"'

# ---- waiting -----------------------------------------------------------------------------------------------

# ZF-B04: who stops the run does not wait for a delay.
flow delay.yaml <<'END'
name: delay
steps:
  - { id: l, loop: { maxIterations: 3, delay: 1h, steps: [ { id: a } ] } }
  - { id: w }
options: { onStepFailure: abort }
END
play "a delay that is aborted" 1 delay.yaml <<<'{ "w": { "fail": "no", "delay": "5s" } }'
ends l cancelled w failed l.0.a completed; at step_cancelled l 5; calls 2
play "delays" 0 delay.yaml <<<'{ "w": "fine" }'
at step_end l 7200
flow delay-real.yaml <<'END'
rondo: 1
name: delay for real
agents: { s: { script: [ again ] } }
steps: [ { id: l, agent: s, loop: { maxIterations: 3, delay: 1h } } ]
END
now="a delay and a signal"
: >events # what is left of the last run has delays, too
"$RONDO" run --json delay-real.yaml >events 2>err </dev/null &
pid=$!
until grep -q '"type":"delay"' events || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
kill -INT $pid
wait $pid
same "the exit status" $? 130
ends_with=$("$ndjson" data.status <events)
same "the status" "$ends_with" '"cancelled"'

# A timeout is of the whole loop, as the specification says: ZF-B45.
flow loop-timeout.yaml <<'END'
name: loop timeout
steps: [ { id: l, timeout: 25s, loop: { maxIterations: 5, steps: [ { id: a } ] } } ]
END
play "a loop that takes too long" 1 loop-timeout.yaml <<<'{ "a": { "content": "x", "delay": "10s" } }'
ends l failed l.1.a completed l.2.a cancelled; at error l 25; fails l "timed out"

# ---- output -------------------------------------------------------------------------------------------------

# ZF-B08: the last in the file, not the last to finish; of those that completed.
flow last.yaml <<'END'
name: last
steps:
  - { id: l, loop: { maxIterations: 2, steps: [ { id: slow }, { id: quick }, { id: no, condition: "false" } ] } }
  - { id: t, dependsOn: [l] }
END
play "the last step" 0 last.yaml <<<'{ "slow": { "content": "SLOW", "delay": "5s" }, "quick": "QUICK" }'
order "step_end l.1.quick" "step_end l.1.slow" "step_end l"
gives l '"QUICK"'; lists t "### l (completed)" "QUICK"; hides t "SLOW"

# The same when another step of the body works on it, but did not run, or stands before it.
flow skipped.yaml <<'END'
name: skipped
agents: { r: { description: r, resultSchema: { type: object, required: [ok], properties: { ok: { type: boolean } } } } }
steps:
  - id: l
    loop:
      maxIterations: 2
      until: "content == 'GOOD' && result.ok"
      steps: [ { id: do }, { id: look, agent: r, dependsOn: [do] }, { id: fix, dependsOn: [look], condition: "!steps.look.result.ok" } ]
  - { id: e, loop: { forEach: [1], steps: [ { id: x }, { id: y, dependsOn: [x], condition: "false" } ] } }
  - { id: o, loop: { maxIterations: 1, steps: [ { id: y, dependsOn: [x] }, { id: x } ] } }
  - { id: t, dependsOn: [l, e, o] }
END
play "the last step that ran" 0 skipped.yaml <<<'{ "look": { "content": "GOOD", "result": { "ok": true } }, "x": "EKS", "y": "WHY" }'
lists t "### l (completed)" "GOOD" '{"ok":true}' "### o (completed)" "EKS"; hides t "WHY"

# ZF-B07: all passes, exempt from 16 KiB but not from 120; the result is the last one's.
flow modes.yaml <<'END'
name: modes
agents: { n: { description: n, resultSchema: { type: object, required: [n], properties: { n: { type: integer } } } } }
steps:
  - { id: all, loop: { maxIterations: 2, outputMode: cumulative, steps: [ { id: a }, { id: b, dependsOn: [a] } ] } }
  - { id: one, loop: { maxIterations: 2, outputMode: last, steps: [ { id: a }, { id: b, dependsOn: [a] } ] } }
  - { id: alone, agent: n, loop: { maxIterations: 2, outputMode: cumulative } }
  - { id: sees-all, dependsOn: [all] }
  - { id: sees-one, dependsOn: [one] }
  - { id: sees-alone, dependsOn: [alone], condition: "steps.alone.result.n == 2 && steps.alone.content.contains('## Iteration 2')" }
END
play "output modes" 0 modes.yaml <<<"{ \"a\": [\"$(xs 18000 a) a1\", \"a2\", \"a1\", \"a2\"], \"b\": [\"$(xs 18000 b) b1\", \"$(xs 18000 b) b2\"],
    \"alone\": [ { \"content\": \"one\", \"result\": { \"n\": 1 } }, { \"content\": \"two\", \"result\": { \"n\": 2 } } ] }"
lists sees-all "### all (completed)" "## Iteration 1" "### a" "### b" "## Iteration 2" "### a" "### b"
shows sees-all " a1"; shows sees-all " b1"; shows sees-all " b2"; hides sees-all "truncated"
shows sees-one "truncated"; hides sees-one " b2"; hides sees-one "a2"
ends sees-alone completed; lists sees-alone "one" "two" "### alone result" '{"n":2}'
play "more than fits" 0 modes.yaml <<<"{ \"a\": \"$(xs 18000 a)\", \"all.0.b\": \"$(xs 100000 ß)\" }"
shows sees-all "truncated"
size=$(wc -c <prompts/sees-all.txt)
if [ "$size" -gt 122500 ] && [ "$size" -le 122881 ]; then ok; else bad "sees-all.txt has $size bytes"; fi

# ---- items --------------------------------------------------------------------------------------------------

# ZF-B09 ZF-B11: so many at a time; a failure starts no more, those at work finish, all errors are told.
items() { # KEYS [OPTIONS]
    flow items.yaml <<END
name: items
steps:
  - { id: e, loop: { forEach: [0, 1, 2, 3, 4, 5], $1 steps: [ { id: w } ] } }
  - { id: t, dependsOn: [e] }
options: { $2 }
END
}
items ""
play "five at once, as the run may" 0 items.yaml <<<'{ "w": { "content": "x", "delay": "1s" } }'
most '^e\[.\].w$' 5
items "" "maxConcurrency: 20"
play "all at once" 0 items.yaml <<<'{ "w": { "content": "x", "delay": "1s" } }'
most '^e\[.\].w$' 6
same "the ids" "$("$ndjson" type=step_end path=e data.output.iterations <events | grep -o '"id":"[^"]*"' | tr -d '\n')" \
    '"id":"e[0]""id":"e[1]""id":"e[2]""id":"e[3]""id":"e[4]""id":"e[5]"'
items "maxConcurrency: 2,"
play "two at a time" 0 items.yaml <<<'{ "w": { "content": "x", "delay": "1s" } }'
most '^e\[.\].w$' 2; at step_end e 3
items "maxConcurrency: 3,"
play "items that fail" 1 items.yaml <<<'{ "e[0].w": { "fail": "no salt", "delay": "1s" }, "e[1].w": { "fail": "no pepper", "delay": "2s" }, "e[2].w": { "content": "x", "delay": "3s" } }'
ends e failed "e[0].w" failed "e[1].w" failed "e[2].w" completed t cancelled; calls 3
never "step_start e[3].w"; fails e "no salt"; fails e "no pepper"; at error e 3
items "maxConcurrency: 1,"
play "an item that fails and leaves the others unbegun" 1 items.yaml <<<'{ "e[0].w": { "fail": "no salt" } }'
ends e failed; calls 1; fails e "no salt"; never "step_start e[1].w"

# ZF-B12: items that are only cut off are not a success.
items "maxConcurrency: 2," "onStepFailure: abort"
sed 's/^options/  - { id: w2 }\noptions/' items.yaml >cut.yaml
play "items that are cut off" 1 cut.yaml <<<'{ "e[0].w": { "content": "x", "delay": "1s" }, "w": { "content": "x", "delay": "1h" }, "w2": { "fail": "no", "delay": "5s" } }'
ends "e[0].w" completed "e[1].w" cancelled "e[2].w" cancelled e cancelled t cancelled w2 failed; at step_cancelled e 5
never "step_start e[3].w"; of status '"failed"'

# ZF-B13: any list of CEL's, of any step that has ended; what is none fails the step.
flow cel.yaml <<'END'
name: cel
steps:
  - { id: a }
  - { id: b, dependsOn: [a] }
  - { id: f, dependsOn: [b], loop: { forEach: "steps.a.result.list.filter(x, x > 1).map(x, {'n': x})", steps: [ { id: w, condition: "item.n != 3 || index == 0" } ] } }
  - { id: bad, dependsOn: [b], loop: { forEach: "steps.a.result.text", steps: [ { id: w } ] } }
  - { id: none, dependsOn: [b], loop: { forEach: "steps.a.result.nothing", steps: [ { id: w } ] } }
  - { id: after, dependsOn: [bad] }
END
play "lists" 1 cel.yaml <<<'{ "a": { "content": "x", "result": { "list": [1, 2, 3, 4], "text": "abc" } } }'
ends f completed bad failed none failed after cancelled "f[0].w" completed "f[1].w" skipped "f[2].w" completed
shows "f[2].w" '{"n":4}'; calls 4

# ZF-B50: a step by itself for every item.
flow each-single.yaml <<'END'
name: each single
steps: [ { id: e, instructions: "Taste it.", loop: { forEach: [ soup, { cake: 2 } ] } }, { id: t, dependsOn: [e], condition: "steps.e.result.iterations.size() == 2 && steps.e.content == 'sweet'" } ]
END
play "a step for every item" 0 each-single.yaml <<<'{ "e[0]": "salty", "e[1]": "sweet" }'
ends "e[0]" completed "e[1]" completed t completed; shows "e[0]" '"soup"'; lists "e[1]" "Taste it." "## forEach Item (index: 1)" '{"cake":2}'
gives e '{"iterations":[{"content":"salty","id":"e[0]","index":0,"item":"soup","status":"completed"},{"content":"sweet","id":"e[1]","index":1,"item":{"cake":2},"status":"completed"}]}'

# ZF-B10: a hundred at a time, and all get their turn.
flow many.yaml <<END
name: many
steps: [ { id: e, loop: { forEach: [ $(seq -s , 0 149) ] } } ]
options: { maxConcurrency: 1000 }
END
play "a hundred and fifty items" 0 many.yaml <<<'{ "e": { "content": "x", "delay": "1s" } }'
calls 150; most '^e\[[0-9]+\]$' 100
