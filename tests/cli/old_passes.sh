# old_passes.sh - passes of a loop that are no longer in memory are what they were: every field of history[0] and
# history[1] is the same after two passes and after five, whatever the body is, and so is what a judge is shown.
cd "$(mktemp -d)" || exit 1
scratch=$PWD
trap 'cd /; rm -rf "$scratch"' EXIT
. "$ROOT/tests/cli/checks"
export NO_COLOR=1 RONDO_STORE=$scratch/runs.db
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }

flow part.yaml <<'F'
name: part
inputs: { n: { type: integer, default: 0 } }
agents: { inner: { script: [ { content: p1, result: { p: 1 } }, p2, { fail: no part }, p4 ] } }
steps:
  - { id: first, agent: inner, instructions: x }
  - { id: second, agent: inner, instructions: x, dependsOn: [first] }
output: "steps.first.content"
F

echo '{ g: "yes", h: { n: 1 } }' >answers.yaml

# body NAME, with the step `l` on stdin, indented by two, and N for the number of passes: a file for each
body() {
    {
        cat <<'F'
rondo: 1
name: old
agents:
  both: { script: [ { content: one, result: { s: 1 }, usage: { prompt: 3, completion: 2 } }, { content: two, result: { s: 5 } }, { content: three, result: { s: 3 } }, { result: { s: 4 } } ] }
  text: { script: [ uno, { content: due, usage: { prompt: 1, completion: 1 } }, tre, quattro, cinque ] }
  data: { script: [ { result: [1] }, { result: "a text" }, { result: 3 }, { result: null }, { content: "" } ] }
  odd: { script: [ { fail: boom1 }, fine, { fail: boom3 }, good, { fail: boom5 }, fair ] }
  never: { script: [ { fail: never } ] }
  slow: { script: [ { content: late, delay: 30ms } ] }
  breaks: { script: [ go, { content: left, actions: { continue: true } }, on, { content: out, actions: { break: true } } ] }
  editor: { script: [ "RETRY: more", APPROVE, APPROVE, "RETRY: less" , APPROVE ] }
  harsh: { script: [ "REJECT: bad", APPROVE, "REJECT: worse" ] }
  part: { workflow: part.yaml }
  judge: { script: [ { fail: no idea }, { content: not yet, result: { done: false } }, { content: nearly, result: { done: false } } ], resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } }
  rater: { script: [ { result: { score: 3 } }, { result: { score: 9 } }, { result: { score: 1 } } ] }
steps:
F
        cat
        echo 'output: "steps.l.history"'
    } >template
    sed s/NNN/2/g template >"$1.2.yaml"
    sed s/NNN/5/g template >"$1.5.yaml"
}

passes() { jq -ce '.[0:2] | if length == 2 then . else error("too few") end' out 2>>err; }

# compares NAME OPTION...: both stores, and what is read afterwards; with the body on stdin
compares() {
    local name=$1 young= id store
    shift
    body "$name"
    if "$RONDO" run --quiet --store :memory: "$@" "$name.2.yaml" >out 2>err </dev/null; then young=$(passes); fi
    [ -n "$young" ] || { bad "$name: two passes: $(cat out err)"; return; }
    for store in :memory: "$RONDO_STORE"; do
        "$RONDO" run --quiet --store "$store" "$@" "$name.5.yaml" >out 2>err </dev/null || bad "$name: $(cat err)"
        same "$name in $store" "$(passes)" "$young"
    done
    id=$("$RONDO" runs --json -n 1 | jq -r .id)
    "$RONDO" history --json "$id" l >out 2>err || bad "$name: history: $(cat err)"
    same "$name afterwards" "$(head -2 out | jq -c '[.content, .score]' | tr '\n' ' ')" \
        "$(echo "$young" | jq -c '.[] | [.content, .score]' | tr '\n' ' ')"
}

compares "content and result" <<'F'
  - { id: l, agent: both, loop: { maxIterations: NNN } }
F
compares "text" <<'F'
  - { id: l, agent: text, loop: { maxIterations: NNN } }
F
compares "values" <<'F'
  - { id: l, agent: data, loop: { maxIterations: NNN } }
F
compares "steps" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - { id: z, agent: both, instructions: x }
        - { id: a, agent: text, instructions: x, dependsOn: [z] }
        - { id: m, agent: data, instructions: x, dependsOn: [z] }
F
compares "order of the file" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - { id: last, agent: slow, instructions: x }
        - { id: first, agent: both, instructions: x }
F
compares "groups" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - id: g
          steps:
            - { id: z, agent: both, instructions: x }
            - { id: a, agent: text, instructions: x, dependsOn: [z] }
        - { id: after, agent: text, instructions: x, dependsOn: [g] }
F
compares "a group alone" <<'F'
  - id: l
    loop: { maxIterations: NNN }
    steps:
      - { id: z, agent: both, instructions: x }
      - { id: a, agent: text, instructions: x }
F
compares "parallel agents" <<'F'
  - { id: l, parallel: { agents: [both, text] }, loop: { maxIterations: NNN } }
F
compares "parallel inside" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - { id: p, parallel: { mode: collect, steps: [ { id: x, agent: both, instructions: x }, { id: y, agent: odd, instructions: x } ] } }
F
compares "parallel that fails" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      onError: continue
      delay: 0s
      maxFailures: 9
      steps:
        - { id: p, parallel: { mode: failFast, steps: [ { id: x, agent: both, instructions: x }, { id: y, agent: odd, instructions: x } ] } }
F
compares "branch" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - id: b
          branch:
            - { when: "iteration == 0", name: begin, agent: both }
            - { else: { agent: text } }
F
compares "a branch alone" <<'F'
  - id: l
    loop: { maxIterations: NNN }
    branch:
      - { when: "iteration == 0", name: begin, agent: both }
      - { else: { agent: text } }
F
compares "forum" <<'F'
  - { id: l, forum: { members: [both, text], captain: both, rounds: 2 }, loop: { maxIterations: NNN } }
F
compares "forum inside" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps: [ { id: f, forum: { members: [odd, text], quorum: 1, captain: both, rounds: 2 } } ]
F
compares "machine" <<'F'
  - id: l
    machine:
      start: p
      states: { p: { agent: both }, q: { agent: text } }
      edges: [ { from: p, to: end, when: iteration + 1 >= NNN }, { from: p, to: q }, { from: q, to: end, when: iteration + 1 >= NNN }, { from: q, to: p } ]
F
compares "machine inside" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - id: m
          machine:
            start: p
            states: { p: { agent: both }, q: { steps: [ { id: in, agent: text, instructions: x } ] } }
            edges: [ { from: p, to: q }, { from: q, to: end } ]
F
compares "a loop of one agent inside" <<'F'
  - id: l
    loop: { maxIterations: NNN, steps: [ { id: in, agent: both, loop: { maxIterations: 2, outputMode: best, score: result.s } } ] }
F
compares "a loop of steps inside" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - id: in
          loop:
            maxIterations: 3
            outputMode: best
            output: d
            score: steps.r.result.score
            steps:
              - { id: d, agent: both, instructions: x }
              - { id: r, agent: rater, instructions: x, dependsOn: [d] }
F
compares "a loop inside, all of it" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - { id: in, loop: { maxIterations: 2, outputMode: cumulative, onMaxIterations: flag, steps: [ { id: d, agent: both, instructions: x } ] } }
F
compares "a loop inside, its last step" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - { id: in, loop: { maxIterations: 2, outputMode: finalStep, steps: [ { id: d, agent: both, instructions: x }, { id: e, agent: text, instructions: x } ] } }
F
compares "a loop inside that fails" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      onError: continue
      delay: 0s
      maxFailures: 9
      steps:
        - { id: in, loop: { maxIterations: 2, outputMode: cumulative, onError: continue, delay: 0s, maxFailures: 1, steps: [ { id: d, agent: both, instructions: x }, { id: e, agent: odd, instructions: x } ] } }
F
compares "a loop inside whose cap is a failure" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      onError: continue
      delay: 0s
      maxFailures: 9
      steps: [ { id: in, agent: both, loop: { maxIterations: 2, until: "result.s > 100", onMaxIterations: fail } } ]
F
compares "items" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps: [ { id: in, loop: { forEach: "[1, 2, 3]", steps: [ { id: d, agent: both, instructions: x }, { id: e, agent: text, instructions: x } ] } } ]
F
compares "items of one agent" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps: [ { id: in, agent: both, loop: { forEach: "[1, 2, 3]", outputMode: last } } ]
F
compares "items that fail" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      onError: continue
      delay: 0s
      maxFailures: 9
      steps:
        - { id: before, agent: both, instructions: x }
        - { id: in, agent: odd, dependsOn: [before], loop: { forEach: "[1, 2]", onItemFailure: stop } }
F
compares "items of which some fail" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps: [ { id: in, agent: odd, loop: { forEach: "[1, 2]", onItemFailure: continue } } ]
F
compares "include" <<'F'
  - { id: l, include: part.yaml, loop: { maxIterations: NNN, onError: continue, delay: 0s, maxFailures: 9 } }
F
compares "include inside" <<'F'
  - id: l
    loop: { maxIterations: NNN, onError: continue, delay: 0s, maxFailures: 9, steps: [ { id: i, include: part.yaml, with: { n: iteration } } ] }
F
compares "a workflow that is an agent" <<'F'
  - id: l
    loop: { maxIterations: NNN, onError: continue, delay: 0s, maxFailures: 9, steps: [ { id: w, agent: part, instructions: x }, { id: t, agent: text, instructions: x } ] }
F
compares "an agent that fails" <<'F'
  - { id: l, agent: odd, loop: { maxIterations: NNN, onError: continue, delay: 0s } }
F
compares "steps that fail" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      onError: continue
      delay: 0s
      maxFailures: 9
      steps:
        - { id: before, agent: both, instructions: x }
        - { id: fails, agent: odd, instructions: x, dependsOn: [before] }
        - { id: after, agent: text, instructions: x, dependsOn: [fails] }
        - { id: help, agent: text, instructions: x, dependsOn: [fails], runOn: always }
F
compares "groups that fail" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      onError: continue
      delay: 0s
      maxFailures: 9
      steps:
        - id: g
          steps:
            - { id: before, agent: both, instructions: x }
            - { id: fails, agent: odd, instructions: x, dependsOn: [before] }
F
compares "tries" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      onError: continue
      delay: 0s
      maxFailures: 9
      steps:
        - { id: a, agent: odd, instructions: x, retries: 1 }
        - { id: b, agent: never, instructions: x, retries: 1, dependsOn: [a] }
F
compares "skipped steps" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - { id: a, agent: both, instructions: x }
        - { id: b, agent: text, instructions: x, condition: "iteration != 0" }
        - { id: c, agent: text, instructions: x, dependsOn: [b] }
F
compares "reviewed steps" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - { id: a, agent: both, instructions: x, review: { agent: editor } }
        - { id: b, agent: text, instructions: x, dependsOn: [a] }
F
compares "rejected steps" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      onError: continue
      delay: 0s
      maxFailures: 9
      steps: [ { id: a, agent: both, instructions: x, review: { agent: harsh } } ]
F
compares "reviewers that fail" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      onError: continue
      delay: 0s
      maxFailures: 9
      steps: [ { id: a, agent: both, instructions: x, review: { agent: odd } } ]
F
compares "output" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      output: a
      steps:
        - { id: a, agent: both, instructions: x }
        - { id: b, agent: text, instructions: x, dependsOn: [a] }
F
compares "output that is not always there" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      output: a
      steps:
        - { id: a, agent: both, instructions: x, condition: "iteration != 1" }
        - { id: b, agent: text, instructions: x }
F
compares "break and continue" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - { id: in, loop: { maxIterations: 3, steps: [ { id: a, agent: both, instructions: x }, { id: b, agent: breaks, instructions: x, dependsOn: [a] }, { id: c, agent: text, instructions: x, dependsOn: [b] } ] } }
F
compares "a continue of its own" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - { id: b, agent: breaks, instructions: x }
        - { id: c, agent: text, instructions: x, dependsOn: [b] }
F
compares "gates" --answers answers.yaml <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps: [ { id: g, gate: { ask: "well?" } }, { id: h, gate: { ask: "and?", schema: { type: object } } } ]
F
compares "set" <<'F'
  - id: l
    loop: { maxIterations: NNN, steps: [ { id: s, set: { n: "iteration" } }, { id: a, agent: both, instructions: "${state.n}", dependsOn: [s] } ] }
F
compares "budgets inside" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      steps:
        - id: g
          budget: { tokens: 4 }
          steps:
            - { id: a, agent: both, instructions: x }
            - { id: b, agent: text, instructions: x, dependsOn: [a] }
        - { id: in, agent: both, dependsOn: [g], loop: { maxIterations: 3, budget: { tokens: 1 } } }
F
compares "times that are over" <<'F'
  - id: l
    loop: { maxIterations: NNN, onError: continue, delay: 0s, maxFailures: 9, steps: [ { id: t, agent: text, instructions: x }, { id: a, agent: slow, instructions: x, timeout: 1ms } ] }
F
compares "scores" <<'F'
  - { id: l, agent: both, loop: { maxIterations: NNN, scoreAgent: rater, outputMode: best } }
F
compares "judges" <<'F'
  - { id: l, agent: both, loop: { maxIterations: NNN, untilAgent: judge, onMaxIterations: returnLast } }
F
compares "judges of the best" <<'F'
  - { id: l, agent: text, loop: { maxIterations: NNN, untilAgent: judge, onMaxIterations: returnLast, score: 5 - iteration } }
F
compares "judges and scores" <<'F'
  - id: l
    loop:
      maxIterations: NNN
      untilAgent: judge
      onMaxIterations: returnLast
      score: "iteration == 0 ? 5 : iteration"
      steps: [ { id: a, agent: text, instructions: x }, { id: b, agent: odd, instructions: x, retries: 1 } ]
F


# ---- what they are ---------------------------------------------------------------------------------------------

field() { jq -c "$1" out; }
flow three.yaml <<'F'
name: three
agents: { a: { script: [ { content: one, result: { s: 1 } }, { content: two, result: { s: 5 } }, { content: three, result: { s: 3 } } ] } }
steps: [ { id: l, agent: a, loop: { maxIterations: 3 } } ]
output: "steps.l.history.map(h, h.content)"
F
check "the words, not the data" 0 '["one","two","three"]' "$RONDO" run --quiet --store :memory: three.yaml
flow failed.yaml <<'F'
name: failed
agents: { a: { script: [ { content: one, result: { s: 1 } }, two ] }, odd: { script: [ { fail: boom1 }, fine ] } }
steps:
  - id: l
    loop: { maxIterations: 4, onError: continue, delay: 0s, steps: [ { id: z, agent: a, instructions: x }, { id: b, agent: odd, instructions: x, dependsOn: [z] } ] }
output: "steps.l.history[0]"
F
"$RONDO" run --quiet --store :memory: failed.yaml >out 2>err
same "why it failed, and what did not" "$(field '[.status, .error, .content, .result.s, .steps.z.content, .steps.z.result.s]')" \
    '["failed","boom1","one",1,"one",1]'
flow items.yaml <<'F'
name: items
agents: { a: { script: [ x, y, z ] } }
steps: [ { id: l, loop: { maxIterations: 4, steps: [ { id: in, loop: { forEach: "[1, 2]", steps: [ { id: d, agent: a, instructions: x } ] } } ] } } ]
output: "steps.l.history[0].steps['in']"
F
"$RONDO" run --quiet --store :memory: items.yaml >out 2>err
same "as many items as there were, and nothing of what is in them" "$(field '[.passes, .reason, has("steps")]')" '[2,"items",false]'

# ---- what is kept ------------------------------------------------------------------------------------------------

kept() { # MAX_HISTORY MORE
    flow kept.yaml <<F
name: kept
agents: { a: { script: [ one, two, three, four, five, six ] } }
steps: [ { id: l, agent: a, loop: { maxIterations: 6, maxHistory: $1$2 } } ]
output: "steps.l.history.map(h, h == null ? 'gone' : h.content)"
F
    "$RONDO" run --quiet kept.yaml 2>err </dev/null || cat err
}
same "maxHistory 1" "$(kept 1)" '["gone","gone","gone","gone","gone","six"]'
same "maxHistory 2" "$(kept 2)" '["gone","gone","gone","gone","five","six"]'
same "maxHistory 4" "$(kept 4)" '["gone","gone","three","four","five","six"]'
same "and the best" "$(kept 3 ', score: "iteration == 1 ? 9 : 0"')" '["gone","two","gone","four","five","six"]'

id=$("$RONDO" runs --json | jq -sr '.[0].id')
same "what history shows of it" "$("$RONDO" history --diff "$id" l)" 'pass 1  not kept (maxHistory)
pass 2  score 9 (best)
    two
pass 3  not kept (maxHistory)
pass 4  score 0
  - two
  + four
pass 5  score 0
  - four
  + five
pass 6  score 0
  - five
  + six'
same "and as JSON" "$("$RONDO" history --json "$id" l | jq -c '[.pass, .kept, .status, .content]')" '[0,false,null,null]
[1,null,"completed","two"]
[2,false,null,null]
[3,null,"completed","four"]
[4,null,"completed","five"]
[5,null,"completed","six"]'

# ---- judges --------------------------------------------------------------------------------------------------------

# judged NAME: what a judge is shown of the first two passes when the next one has ended, and after the fifth
block() { awk -v first="## Iteration $1" '$0 == first, /^---$/' "said/l.$2.judge.txt"; }
judged() {
    { echo "rondo: 1"; echo "name: judged"; cat; } >judged.yaml
    rm -rf said
    "$RONDO" run --quiet --store :memory: --prompts said judged.yaml >out 2>err </dev/null || bad "$1: $(cat err)"
    { block 1 1; block 2 2; } >young
    { block 1 4; block 2 4; } >old
    if [ -s young ] && [ "$(cat young)" = "$(cat old)" ]; then ok; else bad "$1:"; diff young old; fi
}
agents='agents:
  both: { script: [ { content: one, result: { s: 1 } }, { content: two, result: { s: 5 } }, { content: three, result: { s: 3 } } ] }
  odd: { script: [ { fail: boom1 }, fine, good, { fail: boom4 }, fair ] }
  slow: { script: [ { content: late, delay: 30ms } ] }
  judge: { script: [ { fail: no idea }, { content: not yet, result: { done: false } } ], resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } }'
judged "one agent" <<F
$agents
steps: [ { id: l, agent: both, loop: { maxIterations: 5, onMaxIterations: returnLast, untilAgent: judge } } ]
F
judged "in the order of the file" <<F
$agents
steps:
  - { id: l, loop: { maxIterations: 5, onMaxIterations: returnLast, untilAgent: judge, steps: [ { id: last, agent: slow, instructions: x }, { id: first, agent: both, instructions: x } ] } }
F
same "which is not that in which they ended" "$(grep '^### ' old | tr '\n' ' ')" "### last ### first ### last ### first "
judged "passes that failed" <<F
$agents
steps:
  - { id: l, agent: odd, loop: { maxIterations: 5, onMaxIterations: returnLast, untilAgent: judge, onError: continue, delay: 0s } }
F
same "say why" "$(grep -c '^(failed: boom1)' old)" 1
judged "steps that failed" <<F
$agents
steps:
  - id: l
    loop: { maxIterations: 5, onMaxIterations: returnLast, untilAgent: judge, onError: continue, delay: 0s, maxFailures: 9, steps: [ { id: a, agent: both, instructions: x }, { id: b, agent: odd, instructions: x, dependsOn: [a] } ] }
F
judged "what has no name" <<F
$agents
steps:
  - id: l
    loop: { maxIterations: 5, onMaxIterations: returnLast, untilAgent: judge, steps: [ { id: in, agent: both, loop: { maxIterations: 2 } }, { id: p, parallel: { agents: [both, slow] } } ] }
F

# ---- runs that are taken up again ------------------------------------------------------------------------------------

flow again.yaml <<'F'
name: again
agents:
  both: { script: [ { content: one, result: { s: 1 } }, { content: two, result: { s: 5 } }, { content: three, result: { s: 3 } } ] }
  odd: { script: [ { fail: boom }, fine ] }
steps:
  - id: l
    loop:
      maxIterations: 5
      steps:
        - { id: g, steps: [ { id: a, agent: both, instructions: x }, { id: b, agent: odd, instructions: x, dependsOn: [a] } ] }
        - { id: c, agent: both, instructions: x, dependsOn: [g] }
output: "steps.l.history[0]"
F
"$RONDO" run --quiet again.yaml >out 2>err </dev/null
"$RONDO" resume --quiet "$("$RONDO" runs --json -n 1 | jq -r .id)" >out 2>err </dev/null || bad "resume: $(cat err)"
same "the pass that failed and went on" "$(field '[.status, .error, .content, .steps.g.steps.a.content, .steps.g.steps.b.content, .steps.c.result.s]')" \
    '["completed",null,"two","one","fine",5]'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
