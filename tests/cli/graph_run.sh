# rondo graph --run and rondo eval --run: a stored run as a picture (AE-158), and expressions that look at it.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1 LC_ALL=C.UTF-8 COLUMNS=90 RONDO_STORE=$PWD/runs.db
passed=0 failed=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); printf 'FAIL %s\n' "$*"; }
same() { if [ "$2" = "$3" ]; then ok; else bad "$1:"; diff <(echo "$3") <(echo "$2") | sed 's/^/  /'; fi; }
newest() { "$RONDO" runs --json -n 1 | sed 's/.*"id":"\([^"]*\)".*/\1/'; }
run() { timeout 60 "$RONDO" run --quiet "$@" >out 2>err </dev/null; id=$(newest); }
draw() { timeout 60 "$RONDO" graph --run "$id" "$@" 2>&1 | sed -E 's/ [0-9]+(\.[0-9])?m?s/ TIME/'; }
value() { # status, what is printed, expression, options...
    local status=$1 wanted=$2 got rc
    shift 2
    got=$(timeout 60 "$RONDO" eval --run "$id" "$@" 2>&1)
    rc=$?
    same "eval $*" "$rc: $got" "$status: $wanted"
}

cat >article.yaml <<'END'
rondo: 1
name: article
inputs: { topic: { type: string, default: jazz } }
agents:
  writer: { run: "echo draft on $TOPIC, pass $RONDO_PASS", env: { TOPIC: "${inputs.topic}" } }
  broken: { run: "exit 3" }
  critic: { script: [ { result: { score: 3 } }, { result: { score: 9 }, usage: { prompt: 10, completion: 5 } }, { result: { score: 5 } } ] }
steps:
  - { id: count, set: { n: "3 + 4" } }
  - id: refine
    dependsOn: [count]
    loop:
      maxIterations: 3
      outputMode: best
      output: draft
      score: steps.rate.result.score
      steps:
        - { id: draft, agent: writer, instructions: x }
        - { id: rate, agent: critic, instructions: x, dependsOn: [draft] }
  - id: all
    dependsOn: [refine]
    loop: { forEach: [1, 2], steps: [ { id: one, agent: writer, instructions: z } ] }
  - { id: never, agent: writer, instructions: z, condition: "false" }
  - { id: publish, agent: broken, instructions: y, dependsOn: [all] }
  - { id: after, agent: writer, instructions: y, dependsOn: [publish] }
END
run article.yaml

# ---- pictures -------------------------------------------------------------------------------------

same "a tree" "$(draw --format tree)" "article
├─ ✓ count completed TIME [set n]
├─ ✓ refine completed TIME, 3 passes, cap [loop max 3] [score steps.rate.result.score] [best] ← count
│  ├─ ✓ draft (writer) completed TIME
│  └─ ✓ rate (critic) completed TIME ← draft
├─ ✓ all completed TIME, 2 of 2 items [each of 2 items] ← refine
│  └─ ✓ one (writer) completed TIME
├─ - never (writer) skipped [if false]
├─ ✗ publish (broken) failed TIME ← all
└─ ⊘ after (writer) cancelled ← publish"
same "in plain letters" "$(LC_ALL=C draw --format tree | grep publish | head -1)" '|- x publish (broken) failed TIME <- all'
draw >out
grep -q '│ ✗ publish (broken) *│' out && grep -q '│ failed TIME *│' out && ok || bad "boxes: $(cat out)"
draw --format dot >out
grep -qF 'n8 [label="publish (broken)\nfailed TIME", style="rounded,filled", fillcolor="#f9d0d0"];' out && ok || bad "dot: $(cat out)"
grep -qF 'style="rounded,bold,filled"; fillcolor="#d3f2d9";' out && ok || bad "a cluster: $(cat out)"
command -v dot >/dev/null && { dot -Tsvg out >svg 2>err && [ ! -s err ] && ok || bad "Graphviz: $(cat err)"; }
draw --format mermaid >out
grep -qx '  class n8 failed' out && grep -qx '  classDef failed fill:#f9d0d0' out && ok || bad "Mermaid: $(cat out)"
grep -q 'classDef running' out && bad "a class that nobody has" || ok
for format in boxes tree; do
    env -u NO_COLOR CLICOLOR_FORCE=1 "$RONDO" graph --run "$id" -f $format >out
    grep -qE $'\x1b\\[31m✗ publish' out && ok || bad "$format: what failed is not red"
    [ "$(sed 's/\x1b\[[0-9]*m//g' out)" = "$("$RONDO" graph --run "$id" -f $format)" ] && ok || bad "$format: colours change the picture"
done
"$RONDO" graph article.yaml --run "$id" >out 2>err
[ $? = 3 ] && grep -q 'only one can be drawn' err && ok || bad "a file and a run"
"$RONDO" graph >out 2>err
[ $? = 3 ] && grep -q 'FILE is missing' err && ok || bad "neither"
"$RONDO" graph --run nobody >out 2>err
[ $? = 3 ] && grep -q "no run 'nobody'" err && ok || bad "no such run: $(cat err)"

# ---- what the run's expressions see at its end ------------------------------------------------------

value 0 '"jazz, article"' 'inputs.topic + ", " + run.name'
value 0 "\"$id\"" 'run.id'
value 0 7 'state.n'
value 0 '[3,"max_iterations",9.0]' '[steps.refine.passes, steps.refine.reason, steps.refine.score]'
value 0 '"failed"' 'steps.publish.status'
value 0 15 'budget.tokens.used'
value 0 '[3.0,9.0,5.0]' 'steps.refine.history.map(p, p.score)'
value 0 '["all","count","never","publish","refine"]' 'steps.filter(k, k != "after").map(k, k).sort()'
value 2 "rondo eval: 1:1: there is no step 'publsh'
steps.publsh.status
^
did you mean 'publish'?" 'steps.publsh.status'
value 1 'rondo eval: 1:21: division of 3 by zero
steps.refine.passes / 0
                    ^' 'steps.refine.passes / 0'
value 2 "rondo eval: 1:1: 'iteration' exists only in a loop
iteration
^" 'iteration'

# ---- and inside its loops ---------------------------------------------------------------------------

value 0 '[2,5.0,9.0]' '[iteration, score, best.score]' --at refine
value 0 '[3.0,9.0,5.0]' 'history.map(p, p.score)' --at refine
value 0 '["draft on jazz, pass 2",{"score":5},"completed"]' '[steps.draft.content, steps.rate.result, status]' --at refine
value 0 '["jazz",7,"failed"]' '[inputs.topic, state.n, steps.publish.status]' --at refine
for at in publish all none refine.draft refine..draft .; do
    value 3 "rondo eval: run $id has no loop or group '$at' that can be looked into" 1 --at $at
done
# After one of its passes, when nothing of what followed had happened.
value 0 '[0,3.0,3.0]' '[iteration, score, best.score]' --at refine --pass 1
value 0 '[1,9.0,9.0,[3.0,9.0]]' '[iteration, score, best.score, history.map(p, p.score)]' --at refine --pass 2
value 0 '[2,5.0,9.0]' '[iteration, score, best.score]' --at refine --pass 3
value 0 '["draft on jazz, pass 1",{"score":9},"completed"]' '[steps.draft.content, steps.rate.result, status]' --at refine --pass 2
value 0 '[7,false,false]' '[state.n, has(steps.publish.status), has(steps.refine.score)]' --at refine --pass 3
value 3 "rondo eval: --pass 4: 'refine' has 3 passes that have ended" 1 --at refine --pass 4
value 3 "rondo eval: run $id has no loop 'all' that has begun" 1 --at all --pass 1
value 3 "rondo eval: run $id has no loop 'refin' that has begun" 1 --at refin --pass 1
"$RONDO" eval 1 --run "$id" --pass 1 >out 2>err
[ $? = 3 ] && grep -q -- '--at is missing' err && ok || bad "--pass alone"
"$RONDO" eval 1 --run "$id" --at refine --pass 0 >out 2>err
[ $? = 3 ] && ok || bad "pass 0: $(cat err)"
"$RONDO" eval 1 --at refine >out 2>err
[ $? = 3 ] && grep -q -- '--run is missing' err && ok || bad "--at alone"
"$RONDO" eval 1 --run "$id" --data x.json >out 2>err
[ $? = 3 ] && ok || bad "a run and data"

# ---- containers, and a run that waits ---------------------------------------------------------------

cat >inner.yaml <<'END'
rondo: 1
name: inner
inputs: { word: { type: string } }
agents: { echo: { run: "echo $W", env: { W: "${inputs.word}" } } }
steps: [ { id: say, agent: echo, instructions: x } ]
END
cat >waits.yaml <<'END'
rondo: 1
name: waits
agents:
  a: { script: [ { result: { n: 1 } }, { result: { n: 2 } }, { result: { n: 3 } }, { result: { n: 4 } } ] }
steps:
  - { id: part, include: inner.yaml, with: { word: "'hello'" } }
  - id: outer
    loop:
      maxIterations: 2
      steps:
        - id: group
          steps:
            - id: inner
              loop: { maxIterations: 2, steps: [ { id: leaf, agent: a, instructions: x } ] }
  - id: light
    machine:
      start: red
      states: { red: { agent: a, instructions: x }, green: { agent: a, instructions: x } }
      edges: [ { from: red, to: green }, { from: green, to: end } ]
  - { id: ask, gate: { ask: "Go on?" }, dependsOn: [part, outer, light] }
  - { id: last, agent: a, instructions: x, dependsOn: [ask] }
END
run waits.yaml
same "all sorts of containers" "$(draw --format tree --open)" "waits
├─ ✓ part completed TIME [include inner.yaml]
│  └─ ✓ say (echo) completed TIME
├─ ✓ outer completed TIME, 2 passes, cap [loop max 2]
│  └─ ✓ group completed TIME
│     └─ ✓ inner completed TIME, 2 passes, cap [loop max 2]
│        └─ ✓ leaf (a) completed TIME
├─ ✓ light completed TIME, 2 passes, next [machine] [max 50]
│  ├─ ✓ red (a) completed TIME [start] → green
│  └─ ✓ green (a) completed TIME → end
├─ ? ask waiting [ask: Go on?] ← part, outer, light
└─ · last (a) pending ← ask"
for _ in open ended; do
    value 0 '"hello"' 'steps.part.content'
    value 0 '[1,"completed",["outer"]]' '[iteration, steps.group.status, steps.filter(k, k == "outer")]' --at outer
    value 0 '[1,2,"completed"]' '[iteration, steps.inner.passes, steps.part.status]' --at outer.group
    value 0 '["completed","completed"]' 'history.map(p, p.status)' --at light
    value 0 '["green","red"]' 'steps.filter(k, k in ["red", "green"]).map(k, k).sort()' --at light
    value 0 '[0,1,true]' '[iteration, size(history), history[0].result.n <= 2]' --at outer.0.group.inner --pass 1
    value 0 '[1,2,true]' '[iteration, size(history), history[0].result.n <= 2]' --at outer.0.group.inner --pass 2
    value 0 '[1,2,false]' '[iteration, size(history), history[0].result.n <= 2]' --at outer.group.inner --pass 2
    value 0 '[0,["completed"]]' '[iteration, history.map(p, p.status)]' --at outer --pass 1
    value 0 '["completed"]' 'history.map(p, p.status)' --at light --pass 1
    value 3 "rondo eval: run $id has no loop or group 'part' that can be looked into" 1 --at part
    value 3 "rondo eval: run $id has no loop or group 'outer.inner' that can be looked into" 1 --at outer.inner
    "$RONDO" show --json "$id" | grep -qF '"path":"light.0.red"' && ok || bad "the pass in which a state was visited"
    timeout 60 "$RONDO" answer --quiet "$id" ask '"yes"' >out 2>&1
    timeout 60 "$RONDO" resume --quiet "$id" >out 2>&1 </dev/null
done
same "answered" "$(draw --format tree | tail -2)" "├─ ✓ ask completed TIME [ask: Go on?] ← part, outer, light
└─ ✓ last (a) completed TIME ← ask"

# What can no longer run is not to come.
cat >ways.yaml <<'END'
rondo: 1
name: ways
agents: { a: { script: [x] } }
steps:
  - id: pick
    branch: [ { when: "true", name: one, agent: a }, { else: { agent: a } } ]
  - id: none
    loop: { forEach: "[]", steps: [ { id: inner, agent: a, instructions: x } ] }
END
run ways.yaml
same "cases that were not taken" "$(draw --format tree)" "ways
├─ ✓ pick completed TIME [branch]
│  ├─ when true: ✓ one (a) completed TIME
│  └─ - else (a) skipped
└─ ✓ none completed TIME [each of []]
   └─ - inner (a) skipped"
"$RONDO" show --json "$id" | grep -q '"path":"pick.else","status":"skipped"' && ok || bad "a case that was not taken in JSON"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
