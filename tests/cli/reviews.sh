# reviews.sh - reviews of workflow files: approve, retry, back to a predecessor, reject; their limits, what is shown to whom, what is
# refreshed, and people as reviewers.
cd "$(mktemp -d)" || exit 1
scratch=$PWD
trap 'cd /; rm -rf "$scratch"' EXIT
. "$ROOT/tests/cli/checks"
export XDG_DATA_HOME=$scratch/data NO_COLOR=1
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
starts() { sed -n 's/.*step_start \([^ ]*\).*/\1/p' err | tr '\n' ' '; }
decisions() { sed -n 's/^[0-9:]* review //p' err | tr '\n' ';'; }

# ---- back and forth ------------------------------------------------------------------------------------------
flow press.yaml <<'F'
name: press
agents:
  planner: { script: [plan one, plan two] }
  writer: { script: [short, longer, best] }
  editor: { script: ["RETRY: too short", "RETRY_PREDECESSOR plan: the plan is wrong", "APPROVE"] }
  teller: { run: 'echo "$TEXT"', env: { TEXT: "${steps.plan.content}" } }
  printer: { run: 'echo "$TEXT"', env: { TEXT: "${steps.write.content} after ${steps.plan.content}, told ${steps.tell.content}" } }
steps:
  - { id: plan, agent: planner, instructions: Plan. }
  - { id: tell, agent: teller, dependsOn: [plan], instructions: Tell. }
  - { id: write, agent: writer, dependsOn: [plan, tell], instructions: Write., review: { agent: editor } }
  - { id: print, agent: printer, dependsOn: [write, tell], instructions: Print. }
F
check "a review" 0 "best after plan two, told plan two" "$RONDO" run --store :memory: --prompts said press.yaml
same "what ran" "$(starts)" "plan tell write write.review write~1 write.review~1 plan~1 tell~1 write~2 write.review~2 print "
same "what was decided" "$(decisions)" "write retry: too short;plan retryPredecessor: the plan is wrong;write approve;"
told() { grep -A"$2" -F "$3" "said/$1.txt" | tail -1; }
if grep -qF "too short" "said/write~1.txt"; then ok; else bad "the writer is not told why: $(cat said/write~1.txt)"; fi
if grep -qF "short" "said/write~1.txt"; then ok; else bad "nor what it had written"; fi
if grep -qF "the plan is wrong" "said/plan~1.txt"; then ok; else bad "the planner is not told why: $(cat said/plan~1.txt)"; fi
if grep -qF "plan one" "said/plan~1.txt"; then ok; else bad "nor what it had planned"; fi
if grep -qF "too short" "said/write~2.txt"; then bad "old words are told again"; else ok; fi
if grep -qF "plan two" "said/write~2.txt" && ! grep -qF "plan one" "said/write~2.txt"; then ok; else bad "the new plan is not seen"; fi
if grep -qF "longer" "said/write.review~1.txt"; then ok; else bad "the reviewer does not see the new text"; fi

# ---- limits ----------------------------------------------------------------------------------------------------
limited() { # REVIEW
    flow limited.yaml <<F
name: limited
agents:
  planner: { script: [plan] }
  writer: { script: [one, two, three, four, five] }
  never: { script: ["RETRY: more"] }
  back: { script: ["RETRY_PREDECESSOR plan: no"] }
  stern: { script: ["REJECT: dull"] }
  mumbles: { script: ["hm"] }
  hums: { script: [hm, "RETRY: a", hm, APPROVE] }
  words: { script: [{ content: x, result: { decision: retry, feedback: again } }, { content: x, result: { decision: approve } }] }
  after: { script: [read] }
steps:
  - { id: plan, agent: planner, instructions: x }
  - { id: write, agent: writer, dependsOn: [plan], instructions: x, review: { $1 } }
  - { id: after, agent: after, dependsOn: [write], instructions: x }
output: "steps.write.content + (steps.write.capped ? ' capped' : '')"
F
}
limited "agent: never"
check "two retries, then flagged" 0 "three capped" "$RONDO" run --store :memory: limited.yaml
same "and said" "$(decisions)" "write retry: more;write retry: more;write flagged: more;"
limited "agent: never, maxRetries: 1, onExhausted: accept"
check "one, then accepted" 0 two "$RONDO" run -q --store :memory: limited.yaml
limited "agent: never, maxRetries: 0, onExhausted: fail"
check "none, then failed" 1 one "$RONDO" run --store :memory: limited.yaml
says "rejected by its review: more"
same "what depends on it did not run" "$(starts | grep -c after)" 0
limited "agent: back, maxPredecessorRetries: 1"
check "back once, then flagged" 0 "two capped" "$RONDO" run --store :memory: limited.yaml
same "both ran twice" "$(starts)" "plan write write.review plan~1 write~1 write.review~1 after "
limited "agent: back, maxPredecessorRetries: 0, onExhausted: accept"
check "not back at all" 0 one "$RONDO" run -q --store :memory: limited.yaml
limited "agent: stern"
check "rejected" 1 one "$RONDO" run --store :memory: limited.yaml
says "rejected by its review: dull"
limited "agent: mumbles"
check "not understood is asked once more" 1 one "$RONDO" run --store :memory: limited.yaml
same "once" "$(starts)" "plan write write.review write.review~1 "
says "the review was not understood"
limited "agent: words"
check "a result says it, too" 0 two "$RONDO" run -q --store :memory: limited.yaml

limited "agent: hums"
check "not understood is asked once more about each output" 0 "two" "$RONDO" run --store :memory: limited.yaml
same "both times" "$(starts)" "plan write write.review write.review~1 write~1 write.review~2 write.review~3 after "

# A predecessor that was sent back as often as that may be does not use up the turns of another one.
flow two.yaml <<'F'
name: two
agents:
  p: { script: [p1, p2] }
  q: { script: [q1, q2] }
  writer: { script: [one, two, three, four] }
  back: { script: ["RETRY_PREDECESSOR p: no", "RETRY_PREDECESSOR q: no", "RETRY_PREDECESSOR p: no"] }
steps:
  - { id: p, agent: p, instructions: x }
  - { id: q, agent: q, instructions: x }
  - { id: w, agent: writer, dependsOn: [p, q], instructions: x, review: { agent: back, maxPredecessorRetries: 1 } }
output: "steps.p.content + steps.q.content + steps.w.content + (steps.w.capped ? ' capped' : '')"
F
check "each predecessor has its own turns" 0 "p2q2three capped" "$RONDO" run --store :memory: two.yaml
same "and said" "$(decisions)" "p retryPredecessor: no;q retryPredecessor: no;w flagged: no;"

# ---- what is told on the way ---------------------------------------------------------------------------------
sections() { sed -n '/^## Previous Output/,$p' "$1"; }
flow both.yaml <<'F'
name: both
agents:
  s: { script: [{ content: long text one, result: { r: 1 } }, { fail: net }, { content: two, result: { r: 2 } }] }
  rv: { script: ["RETRY: cite sources", APPROVE] }
steps:
  - { id: q, agent: s, instructions: t, retry: { attempts: 2 }, review: { agent: rv } }
F
check "text and result" 0 two "$RONDO" run -q --store :memory: --prompts both both.yaml
same "are both shown" "$(sections both/q~1.txt)" "## Previous Output
long text one

### Structured Result
{\"r\":1}

## Review Feedback
cite sources"
same "as the reviewer has seen them" "$(sed -n '/^## Output Under Review/,$p' both/q.review.txt | tail -n +2)" \
    "$(sections both/q~1.txt | sed '/^## Review/,$d' | tail -n +2 | sed -e '$d')"
same "and again when that fails" "$(sections both/q~2.txt)" "$(sections both/q~1.txt)

## Previous Attempt Failed
net"

flow inside.yaml <<'F'
name: inside
agents:
  c: { run: 'jq -c ".feedback | [.text, .previous, .judge, .attempt]" "$RONDO_CONTEXT" >>log; [ "$(wc -l <log)" != 2 ] || exit 9; wc -l <log' }
  rv: { script: ["RETRY: cite sources", APPROVE] }
steps:
  - { id: g, review: { agent: rv }, steps: [{ id: q, agent: c, instructions: t, retry: { attempts: 2 } }] }
F
check "a group is sent back" 0 3 "$RONDO" run -q --store :memory: --prompts inside inside.yaml
same "what its step is told" "$(sections inside/g~1.q~1.txt)" "## Previous Output
1

## Review Feedback
cite sources

## Previous Attempt Failed
exit status 9"
same "and as data" "$(cat log)" '["",null,"",0]
["cite sources","1","",1]
["cite sources\n\nexit status 9","1","",1]'

rm log
flow loop.yaml <<'F'
name: loop
agents:
  c: { run: 'jq -c ".feedback | [.text, .previous, .judge, .attempt]" "$RONDO_CONTEXT" >>log; [ "$(wc -l <log)" != 2 ] || exit 9; wc -l <log' }
  j:
    resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } }
    script: [{ content: more, result: { done: false } }, { content: enough, result: { done: true } }]
steps:
  - { id: l, loop: { maxIterations: 3, untilAgent: j, steps: [{ id: s, agent: c, instructions: t, retry: { attempts: 2 } }] } }
F
check "a try in a later pass" 0 3 "$RONDO" run -q --store :memory: loop.yaml
same "has what the pass has" "$(tail -1 log)" '["Loop iteration 2 of 3. Improve on the previous output.\n\nexit status 9","1","more",1]'

# ---- who sees them --------------------------------------------------------------------------------------------
flow hidden.yaml <<'F'
name: hidden
agents:
  writer: { script: [one, two, three, four] }
  editor: { script: [APPROVE] }
  judge:
    script: [{ content: "no", result: { done: false } }, { content: "no", result: { done: false } }, { content: "no", result: { done: false } }, { content: "yes", result: { done: true } }]
    resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } }
steps:
  - id: all
    loop:
      maxIterations: 4
      untilAgent: judge
      steps: [{ id: a, agent: writer, instructions: x }, { id: b, agent: writer, dependsOn: [a], instructions: x, review: { agent: editor } }]
  - id: each
    dependsOn: [all]
    loop: { maxIterations: 1, onMaxIterations: returnLast, outputMode: cumulative, steps: [{ id: c, agent: writer, instructions: x, review: { agent: editor } }] }
  - { id: group, steps: [{ id: d, agent: writer, instructions: x, review: { agent: editor } }] }
  - { id: last, agent: writer, dependsOn: [all, each, group], instructions: "${steps.all.history} ${steps.all.steps} ${steps.each.content} ${steps.group.steps}" }
output: size(steps.all.history)
F
check "reviews everywhere" 0 4 "$RONDO" run --store :memory: --prompts seen hidden.yaml
says "4/4 steps"
same "no prompt shows a reviewer's answer" "$(grep -l APPROVE seen/*.txt | grep -v review)" ""
"$RONDO" run --store :memory: --json hidden.yaml >out 2>err
same "nor does what a pass gave" "$(jq -r 'select(.type == "iteration_end") | .data.outputs | keys | join("+")' out | sort | uniq -c | tr -s ' \n' ' ')" " 4 a+b 1 c "
same "the event is about the step" "$(jq -r 'select(.type == "review") | .stepId + " " + .path + " " + .data.step' out | sort | sed -n '1p;$p' | tr '\n' ';')" "all.0.b all.0.b b;group.d group.d d;"

# ---- people -------------------------------------------------------------------------------------------------------
limited 'gate: { ask: "Fine? ${steps.write.content}" }'
check "a person reviews" 5 "" "$RONDO" run limited.yaml
id=$(run_id err)
says "write.review: Fine? one"
check "what can be said is told" 0 "write.review: Fine? one
  expected: APPROVE, RETRY: words, RETRY_PREDECESSOR step: words, or REJECT: words" "$RONDO" answer "$id"
check "what nobody understands is refused" 3 "" "$RONDO" answer "$id" write.review "aprove"
says "gate 'write.review': expected APPROVE, RETRY: words"
"$RONDO" answer -q --by ada "$id" write.review "RETRY: shorter"
check "asks again" 5 "" "$RONDO" resume --prompts mine "$id"
says "Fine? two"
same "the writer is told what the person said, in another process too" "$(sections mine/write~1.txt)" "## Previous Output
one

## Review Feedback
shorter"
"$RONDO" answer -q --by bob "$id" write.review~1 approve
check "and goes on" 0 two "$RONDO" resume -q "$id"
same "who has said so" "$("$RONDO" show --json "$id" | jq -r '.answers | map(.path + " " + .by) | join(", ")')" "write.review ada, write.review~1 bob"

check "nobody to ask: a name that works is told" 3 "" "$RONDO" run --store :memory: limited.yaml
says "{ write.review: ANSWER }"
flow answered.yaml <<'F'
name: answered
agents: { w: { script: [a, b, c] } }
steps:
  - id: refine
    loop: { maxIterations: 2, steps: [ { id: s, agent: w, instructions: do, review: { gate: { ask: "fine?" } } } ] }
  - { id: all, dependsOn: [refine], parallel: { steps: [ { id: t, agent: w, instructions: do, review: { gate: { ask: "good?" } } } ] } }
F
# answered MAP: the run with these answers, in its status and what was said
answered() { "$RONDO" run -q --store :memory: --answers <(echo "$1") answered.yaml </dev/null >out 2>err; }
for map in 's.review: APPROVE, t.review: APPROVE' 's: APPROVE, t: APPROVE' 'refine.s: APPROVE, all.t: APPROVE' \
    'refine.0.s: APPROVE, refine.1.s.review: APPROVE, all.t.t: APPROVE' 's: ["RETRY: x", APPROVE, APPROVE], all.t.t.review: APPROVE'; do
    answered "{ $map }"
    same "answered by $map" $? 0
done
# What is accepted has an effect.
for row in "review|there is no step 'review'; did you mean 'refine.s.review'?" "refine|the step asks nothing" \
    "all|the step asks nothing" "s.reviews|there is no step 's.reviews'"; do
    answered "{ s: APPROVE, t: APPROVE, ${row%%|*}: APPROVE }"
    same "${row%%|*} is refused" $? 3
    says "${row##*|}"
done

# ---- how long it took -------------------------------------------------------------------------------------------
flow slow.yaml <<'F'
name: slow
agents: { w: { script: [x] }, u: { script: [x] }, rv: { script: [APPROVE] } }
steps:
  - { id: sent, agent: w, instructions: do, review: { agent: rv } }
  - { id: tried, agent: u, instructions: do, retry: { attempts: 2, delay: 1s } }
F
cat >slow.script <<'F'
sent: [ { content: a, delay: 2s }, { content: b, delay: 2s }, { content: c, delay: 2s } ]
sent.review: [ { content: "RETRY: x", delay: 1h }, { content: "RETRY: y", delay: 1h }, APPROVE ]
tried: [ { fail: no, delay: 2s }, { content: b, delay: 2s } ]
F
"$RONDO" rehearse --script slow.script slow.yaml >out 2>err </dev/null
same "a step that was sent back has the time of all its tries, without that of its reviewer" \
    "$(sed -n 's/^[^ ]* \(sent\|tried\)  *\([^ ]*\)  try \([0-9]\).*/\1 \2 \3/p' err | tr '\n' ';')" "sent 6.0s 3;tried 5.0s 2;"

# ---- side by side ---------------------------------------------------------------------------------------------------
flow beside.yaml <<'F'
name: beside
agents:
  w: { script: [bad, good] }
  c: { run: [printf, "%s", "${string(input.k)}"] }
  rv: { script: ["RETRY: better", APPROVE] }
steps:
  - id: p
    parallel:
      steps:
        - { id: x, agent: w, instructions: do, review: { agent: rv } }
        - { id: y, agent: c, with: { k: "7" } }
        - { id: z, agent: c, with: { k: "8" }, review: { agent: rv } }
output: "[steps.p.result, steps.p.steps.x.content]"
F
check "steps of a parallel may be reviewed" 0 '[["good","7","8"],"good"]' "$RONDO" run --store beside.db --prompts side beside.yaml
says "review p.x.x retry: better"
same "and are told why" "$(tail -5 side/p.x.x~1.txt | tr '\n' '|')" "## Previous Output|bad||## Review Feedback|better|"
id=$(run_id err)
check "drawn" 0 "" sh -c "\"$RONDO\" graph --store beside.db --run $id | grep -q 'review rv' || echo none"
check "and replayed" 0 "" "$RONDO" replay -q --store beside.db "$id"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
