# loops.sh - loops of workflow files: nudges, items that an action has ended, escalating out of a file.
cd "$(mktemp -d)" || exit 1
scratch=$PWD
trap 'cd /; rm -rf "$scratch"' EXIT
. "$ROOT/tests/cli/checks"
export XDG_DATA_HOME=$scratch/data NO_COLOR=1
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }

# ---- nudges --------------------------------------------------------------------------------------------------
note="The last outputs were the same: try something different."
nudge() { # LOOP: a loop that is nudged before its third pass, and what that pass is told, as text and as data
    rm -rf log said
    flow nudge.yaml <<F
name: nudge
agents: { c: { run: 'jq -r .feedback.text "\$RONDO_CONTEXT" >>log; echo "--" >>log; echo same' } }
steps: [{ id: l, agent: c, instructions: t, loop: { maxIterations: 3, $1, stall: { repeats: 2, action: nudge } } }]
F
    check "a loop with $1" 0 same "$RONDO" run -q --store :memory: --prompts said nudge.yaml
    same "its third pass" "$(sed -n '/^## Revision Instructions/,$p' said/l.2.txt)" "## Revision Instructions
$2"
    same "the same as data" "$(sed -e '1,/^--/d' log | sed -e '1,/^--/d' | sed -e '/^--/d')" "$2"
}
nudge "feedback: true" "Loop iteration 3 of 3. Improve on the previous output. $note"
nudge 'feedback: "Once more, from ${content}."' "Once more, from same.
$note"
nudge 'feedback: "Mind: ${feedback.text}"' "Mind: Loop iteration 3 of 3. Improve on the previous output.
$note"
nudge "feedback: false" "$note"
same "nothing else is told" "$(grep -c '^## ' said/l.2.txt)" 3 # Task, Iteration 3
same "nor to the pass before" "$(grep -c Revision said/l.1.txt)" 0

# ---- items -----------------------------------------------------------------------------------------------------
flow items.yaml <<'F'
name: items
agents:
  a: { script: [one, two, three] }
  c: { script: [{ content: c1, actions: { continue: true } }, c2, { content: c3, actions: { break: true } }] }
steps:
  - id: e
    loop:
      forEach: [1, 2, 3, 4]
      maxConcurrency: 1
      steps: [{ id: p, agent: a }, { id: q, agent: c, dependsOn: [p] }, { id: r, agent: a, dependsOn: [q] }]
output: steps.e.result.iterations.map(i, i.status)
F
check "items that an action ends" 0 '["completed","completed","completed","cancelled"]' "$RONDO" run items.yaml
says "3 of 4 items"
id=$(run_id err)
check "and later" 0 "completed completed completed" sh -c "\"$RONDO\" show --json $id | jq -r '[.steps[] | .. | objects | select(.path? // \"\" | test(\"^e.[0-9].$\")) | .status] | join(\" \")'"

# ---- a timeout before the next try ------------------------------------------------------------------------------
late() { # LOOP SUMMARY: its second pass, or item, fails, and its time is over before it is tried again
    flow late.yaml <<F
name: late
agents: { o: { script: [ok] }, w: { script: [good, { fail: x }] } }
steps:
  - { id: o, agent: o }
  - { id: k, agent: w, timeout: 100ms, retry: { attempts: 2, delay: 10s }, loop: { $1 } }
output: "[steps.k.content, steps.k.reason, steps.k.passes]"
F
    check "what a loop came to stays: $1" 1 '["good","time",2]' "$RONDO" run late.yaml
    says "$2  timed out after 100 ms"
    id=$(run_id err)
    check "and its time is why it ended" 0 "" sh -c "\"$RONDO\" show $id k | grep -q '^failed *[1-9][0-9]*ms  2 passes, time$'"
    check "the log says so, too" 0 "" "$RONDO" replay -q "$id"
}
late "maxIterations: 5" "2 passes, time"
late "forEach: [1, 2, 3], maxConcurrency: 1" "1 failed"
same "its items" "$("$RONDO" history --json "$id" k | jq -r .status | tr '\n' ' ')" "completed failed cancelled "

# ---- out of a file -----------------------------------------------------------------------------------------------
inner() { # ACTION
    flow inner.yaml <<F
name: inner
agents: { a: { script: [{ content: one, actions: { $1: true } }] } }
steps: [{ id: p, agent: a }, { id: q, agent: a, dependsOn: [p] }]
F
}
flow outer.yaml <<'F'
name: outer
agents: { w: { workflow: inner.yaml } }
steps:
  - { id: x, include: inner.yaml }
  - { id: y, agent: w }
  - { id: z, steps: [{ id: u, include: inner.yaml }] }
  - { id: l, include: inner.yaml, loop: { maxIterations: 2 } }
  - { id: e, agent: w, loop: { forEach: [1] } }
output: "[steps.x.content, steps.x.escalated, steps.y.escalated, steps.z.escalated, steps.z.steps.u.escalated, steps.l.escalated, steps.e.escalated]"
F
inner escalate
check "who escalates without a loop completes" 0 '["one",true,true,false,true,true,true]' "$RONDO" run outer.yaml
id=$(run_id err)
check "and what has ended is seen in its log" 0 "" "$RONDO" replay -q "$id"
check "so does one in the outermost file" 0 "one" "$RONDO" run --store o.db -q inner.yaml
check "which is a flag on its event" 0 "p q " sh -c "'$RONDO' events --store o.db --json last | jq -j 'select(.data.escalated).path + \" \"'"
check "and nothing else" 0 "false" "$RONDO" eval --store o.db --run last 'steps.p.escalated'
check "the log says so, too" 0 "" "$RONDO" replay --store o.db -q last
check "it is no mistake" 0 "" "$RONDO" check inner.yaml
hasnt "loop"
flow named.yaml <<'F'
name: named
agents: { e: { script: [{ content: up, actions: { break: outer, escalate: true } }] } }
steps:
  - id: outer
    loop: { maxIterations: 3, steps: [{ id: inner, loop: { maxIterations: 3, steps: [{ id: s, agent: e }] } }] }
output: "[steps.outer.passes, steps.outer.escalated, steps.outer.reason]"
F
check "escalate and break go together" 0 '[1,true,"break"]' "$RONDO" run -q named.yaml
inner break
check "break needs a loop" 1 "" "$RONDO" run -q --store :memory: outer.yaml
says "break or continue outside of a loop"

# ---- which of how many ------------------------------------------------------------------------------------------
flow ranks.yaml <<'F'
name: ranks
agents: { w: { script: [x] }, rv: { script: [APPROVE] } }
steps:
  - { id: z, agent: w, instructions: x, dependsOn: [l, e, g, p], review: { agent: rv } }
  - id: l
    loop:
      maxIterations: 2
      steps: [ { id: b, agent: w, instructions: x, dependsOn: [a] }, { id: a, agent: w, instructions: x } ]
  - { id: e, loop: { forEach: "[1]", steps: [ { id: d, agent: w, instructions: x } ] } }
  - { id: g, order: sequence, steps: [ { id: f, agent: w, instructions: x }, { id: h, agent: w, instructions: x, loop: { maxIterations: 1 } } ] }
  - { id: p, parallel: { steps: [ { id: u, agent: w, instructions: x }, { id: v, agent: w, instructions: x } ] } }
F
"$RONDO" run --store :memory: --json ranks.yaml >out 2>err </dev/null
same "a step is counted among those around it" "$(jq -r 'select(.type == "step_start") | "\(.path) \(.data.index)/\(.data.total)"' out | sort | tr '\n' ' ')" \
    "e 1/5 e[0].d 0/1 g 2/5 g.f 0/2 g.h 1/2 g.h.0 null/null l 0/5 l.0.a 0/2 l.0.b 1/2 l.1.a 0/2 l.1.b 1/2 p 3/5 p.u 0/2 p.v 1/2 z 4/5 z.review null/null "

# ---- steps that are called like somebody whom the loader made ------------------------------------------------------
flow made.yaml <<'F'
name: made
agents:
  a: { run: 'echo "$RONDO_PATH $RONDO_KEY" >>keys; echo "$RONDO_PATH"' }
  j: { run: 'echo "$RONDO_PATH $RONDO_KEY" >>keys; echo "{\"done\": true, \"score\": 1}"', resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } }
  s: { run: 'echo "$RONDO_PATH $RONDO_KEY" >>keys; echo 1' }
  r: { run: 'echo "$RONDO_PATH $RONDO_KEY" >>keys; echo APPROVE' }
steps:
  - { id: l, loop: { maxIterations: 2, untilAgent: j, scoreAgent: s, steps: [{ id: judge, agent: a }, { id: score, agent: a }] } }
  - { id: f, loop: { maxIterations: 2, untilAgent: j }, parallel: { steps: [{ id: judge, agent: a }] } }
  - { id: g, review: { agent: r }, steps: [{ id: review, agent: a }] }
  - { id: p, parallel: { steps: [{ id: judge, agent: a, review: { agent: r } }] } }
  - { id: z, review: { agent: r }, loop: { maxIterations: 1, steps: [{ id: review, agent: a }] } }
output: "[steps.l.steps.judge.content, steps.g.steps.review.content, steps.l.history[0].judge.contains('true')]"
F
rm -rf keys said
check "they keep their names" 0 '["l.0.judge","g.review",true]' "$RONDO" run --store made.db --record made.rec --prompts said made.yaml
id=$(run_id err)
same "and the others get another" "$(cut -d' ' -f1 keys | sort | tr '\n' ' ')" "f.0.judge f.0.judge#2 g.review g.review#2 l.0.judge l.0.judge#2 l.0.score l.0.score#2 p.judge.judge p.judge.judge.review z.0.review z.review "
same "every piece of work has a key" "$(cut -d' ' -f2 keys | sort -u | wc -l)" 12
same "and a prompt" "$(ls said | wc -l)" 12
check "what was recorded is played" 0 '["l.0.judge","g.review",true]' "$RONDO" run --store :memory: --replay made.rec made.yaml
check "the step is found" 0 "completed" sh -c "\"$RONDO\" show --store made.db --json $id l.0.judge | jq -r .status"
"$RONDO" show --store made.db "$id" 'l.0.judge#2' >out 2>err
has '"done": true'
cat >script.json <<'F'
{ "l.judge": ["one", "two"], "l.judge#2": [{ "content": "no", "result": { "done": false } }, { "result": { "done": true } }], "g.review": "three", "g.review#2": "APPROVE" }
F
check "they are named apart" 0 '["two","three",false]' "$RONDO" rehearse -q --script script.json made.yaml
sed 's/r: .*/r: { script: [APPROVE] }/; s/{ id: g, review: { agent: r }/{ id: g, review: { gate: { ask: fine? } }/' made.yaml >gate.yaml
echo '{ "g.review#2": "approve" }' >answers.json
check "a gate that reviews, too" 0 '["l.0.judge","g.review",true]' "$RONDO" run --store :memory: --answers answers.json gate.yaml

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
