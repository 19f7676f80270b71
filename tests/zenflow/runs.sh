# runs.sh - a part of tests/cli/zenflow.sh: conditions, failures, retries, timeouts, prompts.

# ---- our own dinner, conditions ---------------------------------------------------------------------

f=$own/dinner.yaml # ZF-E04
checked "$f" "menu cook label_nuts taste garnish serve"
play "dinner with nuts" 0 "$f" <<<'{ "menu": { "result": { "dishes": ["soup", "nut cake"] } }, "taste": { "result": { "good": true } } }'
calls 6; of status '"completed"'
lists serve "### label_nuts (completed)" "### garnish (completed)" "### taste (completed)" "### taste result" '{"good":true}'
play "dinner with pesto" 0 "$f" <<<'{ "menu": { "result": { "dishes": ["soup", "pesto"] } }, "taste": { "result": { "good": true } } }'
calls 6
play "dinner without" 0 "$f" <<<'{ "menu": { "result": { "dishes": ["soup"] } }, "taste": { "result": { "good": true } } }'
calls 5; ends label_nuts skipped garnish completed serve completed; of status '"completed"'
hides serve "label_nuts"
play "a bad dinner" 0 "$f" <<<'{ "menu": { "result": { "dishes": [] } }, "taste": { "result": { "good": false } } }'
calls 4; ends label_nuts skipped garnish skipped serve completed
play "a menu without dishes" 1 "$f" <<<'{ "menu": { "result": { "courses": 3 } } }'
ends menu failed cook cancelled serve cancelled; of status '"failed"'

# A guard against null is no mistake, and a whole number is a number.
flow guards.yaml <<'END'
name: guards
agents:
  t: { description: d, resultSchema: { type: object, properties: { passed: { type: boolean }, score: { type: number } }, required: [passed] } }
steps:
  - { id: t, agent: t }
  - { id: yes, dependsOn: [t], condition: "steps.t != null && steps.t.result != null && steps.t.result.passed" }
  - { id: well, dependsOn: [t], condition: "steps.t.result.score * 100.0 >= 85.0" }
  - { id: text, dependsOn: [t], condition: "steps.t.result.passed == 'true'" }
END
for n in 1 1.0 0.9; do
    play "guards with $n" 0 guards.yaml <<<'{ "t": { "result": { "passed": true, "score": '$n' } } }'
    ends yes completed well completed text skipped; of status '"completed"'
done

# What is no schema is shown all the same, and whatever comes is taken.
flow loose.yaml <<'END'
name: loose
agents: { w: { description: d, resultSchema: { type: object, properties: { x: { type: any } }, required: [x] } } }
steps:
  - { id: a, agent: w }
  - { id: b, dependsOn: [a], condition: "steps.a.result.y == 2" }
END
play "a schema that is none" 0 loose.yaml <<<'{ "a": { "result": { "y": 2 } } }'
ends a completed b completed; shows a '"x":{"type":"any"}'

# ZF-B19: what is skipped keeps nobody from running, and can be asked about.
flow keeps.yaml <<'END'
name: keeps
steps:
  - { id: a }
  - { id: no, dependsOn: [a], condition: "steps.a.content == 'x'" }
  - { id: after, dependsOn: [no] }
  - { id: instead, dependsOn: [no], condition: "steps.no.status == 'skipped' && steps.no.content == ''" }
  - { id: missing, dependsOn: [a], condition: "steps.a.result.key == 1" }
  - { id: last, dependsOn: [missing] }
END
play "a false condition" 0 keeps.yaml <<<'{ "a": "y" }'
ends no skipped after completed instead completed missing skipped last completed; of status '"completed"'
hides after "Previous Step Results"
flow all-skipped.yaml <<'END'
name: nothing
steps: [ { id: a, condition: "1 > 2" }, { id: b, condition: "false" } ]
END
play "all is skipped" 0 all-skipped.yaml </dev/null
calls 0; of status '"completed"'; ends a skipped b skipped

# ZF-B44: any other trouble fails the step, and is told.
flow trouble.yaml <<'END'
name: trouble
steps:
  - { id: a }
  - { id: b, dependsOn: [a], condition: "steps.a.result.n / 0 == 1" }
  - { id: c, dependsOn: [b] }
  - { id: d, dependsOn: [a], condition: "steps.a.result.n" }
  - { id: e, dependsOn: [a], condition: "steps.a.result.n == 3 && steps.a.result.n < 3.5" }
END
play "a condition that cannot be evaluated" 1 trouble.yaml <<<'{ "a": { "content": "x", "result": { "n": 3 } } }'
ends b failed c cancelled d failed e completed; of status '"partial"'
fails b "division"

# A condition sees all steps of its scope that have ended, and gates a whole loop: ZF-B44.
flow scope.yaml <<'END'
name: scope
steps:
  - { id: quick }
  - { id: slow }
  - { id: asks, dependsOn: [slow], condition: "steps.quick.content == 'done' && steps['slow'].status == 'completed'" }
  - { id: loop-it, dependsOn: [slow], condition: "steps.quick.content == 'no'", loop: { maxIterations: 2, steps: [ { id: x } ] } }
END
play "steps that are no dependencies" 0 scope.yaml <<<'{ "quick": "done", "slow": { "content": "s", "delay": "2s" } }'
ends asks completed loop-it skipped; calls 3

# ---- failures: ZF-B18 ------------------------------------------------------------------------------

# a -> b -> c -> d, b fails; e depends on b and x; w works for a while by itself, and w2 follows.
policy() { # NAME POLICY
    flow "$2.yaml" <<END
name: chain
steps:
  - { id: a }
  - { id: b, dependsOn: [a] }
  - { id: c, dependsOn: [b], condition: "steps.b.status == 'failed'" }
  - { id: d, dependsOn: [c] }
  - { id: x }
  - { id: e, dependsOn: [x, b] }
  - { id: w }
  - { id: w2, dependsOn: [w] }
options: { onStepFailure: $2 }
END
    play "$1" 1 "$2.yaml" <<<'{ "b": { "fail": "no paper", "delay": "1s" }, "w": { "content": "w", "delay": "5s" } }'
    of status '"partial"'; of exitCode 1
    ends a completed b failed x completed
    fails b "no paper"
}
policy "cascade" cascade
ends c cancelled d cancelled e cancelled w completed w2 completed
for s in c d e; do order "error b" "step_skipped $s"; done
policy "skip-dependents" skip-dependents
ends c skipped d skipped e skipped w completed w2 completed
for s in c d e; do order "error b" "step_skipped $s"; done
policy "abort" abort
ends c cancelled d cancelled e cancelled w cancelled w2 cancelled
at step_cancelled w 1
never "step_start w2"

flow default.yaml <<'END'
name: default
steps: [ { id: a }, { id: b, dependsOn: [a] } ]
END
play "nothing completed" 1 default.yaml <<<'{ "a": { "fail": "no" } }'
of status '"failed"'; ends a failed b cancelled; calls 1

# ---- retries and timeouts --------------------------------------------------------------------------------

# ZF-B20 ZF-B48: N more attempts at once, the tokens of all of them summed.
flow retries.yaml <<'END'
name: retries
steps: [ { id: a, retries: 2 }, { id: b, dependsOn: [a] } ]
END
play "the third time" 0 retries.yaml <<<'{ "a": [ { "fail": "one", "usage": { "prompt": 10, "completion": 1 } }, { "fail": "two", "usage": { "prompt": 20, "completion": 2 } }, { "content": "three", "usage": { "prompt": 30, "completion": 3 } } ] }'
gives a~2 '"three"'; calls 4
same "the ids" "$("$ndjson" type=step_start stepId=a path <events | tr '\n' ' ')" '"a" "a~1" "a~2" '
same "the tokens" "$("$ndjson" data.usage.prompt data.usage.completion data.usage.total <events)" "60 6 66"
play "never" 1 retries.yaml <<<'{ "a": { "fail": "no", "usage": { "prompt": 10, "completion": 1 } } }'
ends a failed b cancelled
same "the tokens" "$("$ndjson" data.usage.prompt <events)" 30

# ZF-B21: all attempts share one window; steps without one have the default; 0s is none.
flow timeouts.yaml <<'END'
name: timeouts
steps:
  - { id: own, timeout: 3s, retries: 5 }
  - { id: default }
  - { id: longer, timeout: 1m }
  - { id: none, timeout: 0s }
  - { id: after, dependsOn: [own] }
options: { stepTimeout: 10s }
END
play "steps that take too long" 1 timeouts.yaml <<<'{ "own": { "fail": "no", "delay": "2s" }, "default": { "content": "x", "delay": "20s" }, "longer": { "content": "x", "delay": "30s" }, "none": { "content": "x", "delay": "45s" } }'
ends own~1 failed default failed longer completed none completed after cancelled
at error own 2; at error own~1 3; at error default 10
fails own~1 "timed out"; fails default "timed out"

# The clock begins when there is room.
flow room.yaml <<'END'
name: room
steps: [ { id: a, timeout: 5s }, { id: b, timeout: 5s }, { id: c, timeout: 5s } ]
options: { maxConcurrency: 1 }
END
play "timeouts of those who wait" 0 room.yaml <<<'{ "a": { "content": "x", "delay": "4s" }, "b": { "content": "x", "delay": "4s" }, "c": { "content": "x", "delay": "4s" } }'
most '^[abc]$' 1; at step_end c 12

flow whole.yaml <<'END'
name: whole
steps: [ { id: a }, { id: b, dependsOn: [a] }, { id: c, dependsOn: [b] } ]
options: { timeout: 1m30s }
END
play "a run that takes too long" 124 whole.yaml <<<'{ "a": { "content": "x", "delay": "1m" }, "b": { "content": "x", "delay": "1h" } }'
ends a completed b cancelled c cancelled
at step_cancelled b 90

# ZF-B23: what crashes takes nobody along.
flow crash.yaml <<'END'
rondo: 1
name: crash
agents: { crash: { run: "kill -SEGV $$" }, fine: { run: [echo, fine] } }
steps: [ { id: a, agent: crash }, { id: b, agent: fine } ]
END
now="a crash"
"$RONDO" run --json crash.yaml >events 2>err </dev/null
same "the exit status" $? 1
of status '"partial"'; fails a "signal"; gives b '"fine"'

# ---- what is shown ----------------------------------------------------------------------------------------

# ZF-B47: the sections, in their order.
flow sections.yaml <<'END'
name: sections
agents:
  w: { description: "Describes itself.", prompt: "You are w.", resultSchema: { type: object, required: [n], properties: { n: { type: integer } } } }
  d: { description: "Only described." }
steps:
  - { id: a, agent: w, instructions: "Do a." }
  - { id: b, instructions: "Do b." }
  - { id: c, agent: w, instructions: "Do c.", dependsOn: [b, a], contextFiles: [note.txt] }
  - { id: d, agent: d, dependsOn: [c] }
END
printf 'a note' >note.txt
play "sections" 0 sections.yaml --context "On a Sunday." <<<'{ "a": { "content": "A", "result": { "n": 1 } }, "b": "B", "c": { "result": { "n": 3 } } }'
lists c "[System]" "You are w." "[Flow Context]" "On a Sunday." "## Task" "Do c." "## Required: Submit Structured Result" \
    "## Previous Step Results" "### b (completed)" "B" "### a (completed)" "A" "### a result" '{"n":1}' \
    "## Context Files" "### note.txt" "a note"
shows a 'Required schema: {"type":"object"'
hides c "Describes itself."
lists d "[System]" "Only described." "### c result" '{"n":3}'
hides d "## Task"

# ZF-B37: 16 KiB of a dependency, 120 KiB of a prompt, cut between characters.
flow long.yaml <<END
name: long
steps:
$(for i in 1 2 3 4 5 6 7 8 9; do echo "  - { id: s$i }"; done)
  - { id: one, dependsOn: [s1] }
  - { id: all, dependsOn: [s1, s2, s3, s4, s5, s6, s7, s8, s9] }
END
play "long texts" 0 long.yaml <<<"{ $(for i in 1 2 3 4 5 6 7 8 9; do printf '"s%s": "%s%s END", ' $i "$(xs $i a)" "$(xs 10000 ä)"; done) \"one\": \"x\" }"
shows one "...[truncated for context limit]"
hides one "END"
for p in one all; do
    if iconv -f UTF-8 -t UTF-8 prompts/$p.txt >/dev/null 2>&1; then ok; else bad "prompts/$p.txt is not UTF-8"; fi
done
size=$(wc -c <prompts/one.txt)
if [ "$size" -gt 16300 ] && [ "$size" -lt 16700 ]; then ok; else bad "one.txt has $size bytes"; fi
size=$(wc -c <prompts/all.txt)
if [ "$size" -gt 122500 ] && [ "$size" -le 122881 ]; then ok; else bad "all.txt has $size bytes"; fi
same "the last line" "$(tail -n 1 prompts/all.txt)" "...[truncated for context limit]"
hides all "### s9 (completed)"
play "texts that fit exactly" 0 long.yaml <<<"{ \"s1\": \"$(xs 16380)1234\" }"
shows one "xxx1234"; hides one "truncated"
play "one more" 0 long.yaml <<<"{ \"s1\": \"$(xs 16380)12345\" }"
shows one "truncated"; hides one "12345"
