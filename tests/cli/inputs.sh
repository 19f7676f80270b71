# inputs.sh - what steps and files are given, in every place where they can stand: `with` of an agent, `with` and defaults of a file that is
# included or that an agent is.
cd "$(mktemp -d)" || exit 1
scratch=$PWD
trap 'cd /; rm -rf "$scratch"' EXIT
. "$ROOT/tests/cli/checks"
export XDG_DATA_HOME=$scratch/data NO_COLOR=1

flow child.yaml <<'F'
name: child
inputs: { n: { type: string, default: own }, m: { type: string, default: more } }
agents: { says: { run: [printf, "%s and %s", "${inputs.n}", "${inputs.m}"] } }
steps: [{ id: x, agent: says, instructions: i }]
F
flow marks.yaml <<'F'
name: marks
inputs: { n: { type: integer, default: 7 } }
agents:
  says: { run: [printf, '%s', '{"score": ${inputs.n}, "done": ${inputs.n == 7}, "decision": "${inputs.n == 7 ? "approve" : "reject"}"}'],
          resultSchema: { type: object } }
steps: [{ id: x, agent: says, instructions: i }]
F

# Each place is a list of steps; the body that is put in there says what comes out.
gives() { # NAME EXPECTED STEPS
    flow place.yaml <<F
name: place
agents:
  ok: { script: [ok] }
  in: { run: [printf, "%s", "\${string(input.n)}"] }
  file: { workflow: child.yaml }
  marks: { workflow: marks.yaml, resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } }
steps: $3
F
    check "$1" 0 "$2" "$RONDO" run --store :memory: --quiet place.yaml
}

places='group|[{ id: g, steps: [{ id: x, BODY }] }]
sequence|[{ id: a, agent: ok }, { id: g, dependsOn: [a], order: sequence, steps: [{ id: y, agent: ok }, { id: x, BODY }] }]
case|[{ id: g, branch: [{ when: "true", BODY }] }]
second case|[{ id: g, branch: [{ when: "false", agent: ok }, { when: "true", BODY }, { else: { agent: ok } }] }]
else|[{ id: g, branch: [{ when: "false", agent: ok }, { else: { BODY } }] }]
case in a loop|[{ id: g, loop: { maxIterations: 2, steps: [{ id: b, branch: [{ when: "true", BODY }] }] } }]
loop in a case|[{ id: g, branch: [{ when: "true", loop: { maxIterations: 2, steps: [{ id: x, BODY }] } }] }]
state|[{ id: m, machine: { start: a, states: { a: { BODY } }, edges: [{ from: a, to: end }] } }]
second state|[{ id: m, machine: { start: a, states: { a: { agent: ok }, b: { BODY } }, edges: [{ from: a, to: b }, { from: b, to: end }] } }]
steps of a loop|[{ id: m, loop: { maxIterations: 2, steps: [{ id: x, BODY }] } }]
steps of a forEach|[{ id: m, loop: { forEach: "[1, 2]", steps: [{ id: x, BODY }] } }]'
bodies='agent: in, with: { n: "4" }|4
include: child.yaml|own and more
include: child.yaml, with: { n: "'"'given'"'" }|given and more
agent: file|own and more
agent: file, with: { m: "'"'given'"'" }|own and given'

while IFS='|' read -r place steps; do
    while IFS='|' read -r body said; do
        gives "$place: $body" "$said" "${steps//BODY/$body}"
    done <<<"$bodies"
done <<<"$places"

# A loop around a file: its inputs are the same in every pass and for every item.
while IFS='|' read -r body said; do
    gives "parallel: $body" "[\"$said\"]" "[{ id: p, parallel: { steps: [{ id: x, $body }] } }]"
    case $body in *in,*) continue ;; esac
    gives "pass: $body" "$said" "[{ id: m, $body, loop: { maxIterations: 3 } }]"
    gives "item: $body" "$said" "[{ id: m, $body, loop: { forEach: '[1, 2]' } }]"
    gives "pass in a case: $body" "$said" "[{ id: g, branch: [{ when: 'true', $body, loop: { maxIterations: 2 } }] }]"
    gives "pass in a state: $body" "$said" "[{ id: m, machine: { start: a, states: { a: { $body, loop: { maxIterations: 2 } } }, edges: [{ from: a, to: end }] } }]"
done <<<"$bodies"
gives "what next gives goes before" "second and more" \
    "[{ id: m, include: child.yaml, with: { n: \"'first'\" }, loop: { maxIterations: 2, onMaxIterations: returnLast, next: \"{'n': 'second'}\" } }]"
gives "and so does an item" "b and m" \
    "[{ id: m, include: child.yaml, with: { m: \"'m'\" }, loop: { forEach: [{ n: a }, { n: b }] } }]"

# Around a body of the step's own `with` is made for every item; in it `input` is that of the loop.
cumulative() { printf '## Item 0\n\n%s\n\n## Item 1\n\n%s' "$1" "$2"; }
items() { # NAME FIRST SECOND BODY LIST
    gives "$1" "$(cumulative "$2" "$3")" "[{ id: m, $4, loop: { forEach: $5, outputMode: cumulative } }]"
}
items "an item in with" 1-0 2-1 'agent: in, with: { n: "string(item) + '"'-'"' + string(index)" }' '"[1, 2]"'
items "of an include" "a and more" "b and more" 'include: child.yaml, with: { n: item }' "[a, b]"
items "of a workflow agent" "own and a1" "own and b1" 'agent: file, with: { m: "item + '"'1'"'" }' "[a, b]"
items "of a group" a b 'with: { n: item }, steps: [{ id: x, agent: in }]' "[a, b]"
items "of a parallel" '["a","a and more"]' '["b","b and more"]' 'with: { n: item }, parallel: { agents: [in, file] }' "[a, b]"
items "what with gives goes before the item" "w and 1" "w and more" 'include: child.yaml, with: { n: "'"'w'"'" }' "[{ n: a, m: '1' }, { n: b }]"
items "also in a list" '["w and 1"]' '["w and more"]' 'with: { n: "'"'w'"'" }, parallel: { agents: [file] }' "[{ n: a, m: '1' }, { n: b }]"
gives "a nearer item" "a2" "[{ id: o, loop: { forEach: [a], steps: [{ id: m, agent: in, with: { n: item }, loop: { forEach: \"[item + '1', item + '2']\" } }] } }]"
gives "in a sequence" "b of 2" "[{ id: a, set: { k: \"['a', 'b']\" } }, { id: s, dependsOn: [a], order: sequence, steps: [{ id: p, agent: file },
    { id: m, agent: in, with: { n: \"item + ' of ' + string(size(state.k)) + (input == 'own and more' ? '' : '?')\" }, loop: { forEach: state.k } }] }]"
gives "a loop that repeats makes it once" "7" "[{ id: m, agent: in, with: { n: '7' }, loop: { maxIterations: 3, onMaxIterations: returnLast, next: input } }]"
gives "and so do steps of a forEach" "4" "[{ id: m, with: { l: '[3, 4]' }, loop: { forEach: input.l, steps: [{ id: x, agent: in, with: { n: input } }] } }]"
flow each.yaml <<'F'
name: each
agents:
  cat: { run: [cat] }
  n: { run: [printf, "%s", "${input.n}"] }
steps:
  - { id: p, agent: cat, with: { n: item }, loop: { forEach: [a] } }
  - { id: h, agent: n, with: { n: item.k }, retry: { attempts: 2 }, loop: { forEach: "[{'k': 1}, {'z': 2}, {'k': 3}]", onItemFailure: continue } }
  - { id: s, agent: n, with: { n: item }, inputSchema: { properties: { n: { type: integer } } }, loop: { forEach: "inputs.l", onItemFailure: continue } }
inputs: { l: { default: [1, x] } }
output: |
  steps.p.content + [steps.h, steps.s].map(s, s.result.iterations.map(i, i.content + i.status).join(' ')).join('; ')
F
check "what is shown, and what fails" 0 '## Input
{"n":"a"}

## forEach Item (index: 0)
"a"1completed failed 3completed; 1completed failed' "$RONDO" run --store :memory: each.yaml
says "error h[1]: with: n: no such key: 'k'"
says "error s[1]: input: n: expected integer, got \"x\""

flow typed.yaml <<'F'
name: typed
inputs: { t: { type: string, default: dd } }
agents: { s: { run: [printf, "%s", "${inputs.t}"] } }
steps: [{ id: a, agent: s, instructions: x }]
F
repeated() { # LOOP
    flow repeated.yaml <<F
name: repeated
agents: { sub: { workflow: typed.yaml } }
steps: [{ id: e, agent: sub, loop: { $1 } }]
F
}
repeated "forEach: \"[{'t': 'a'}, {'u': 5}, 7, {'t': 'b', 'u': 1}]\", maxConcurrency: 1, outputMode: cumulative"
check "items that are inputs, and others" 0 "## Item 0

a

## Item 1

dd

## Item 2

dd

## Item 3

b" "$RONDO" run --store :memory: --quiet repeated.yaml
repeated "forEach: \"[{'t': 5}]\""
check "an item that is a wrong input" 1 "" "$RONDO" run --store :memory: repeated.yaml
says "input 't': expected string, got 5"
repeated "maxIterations: 3, next: \"{'t': 7}\""
check "a pass that has one" 1 "" "$RONDO" run --store :memory: repeated.yaml
says "input 't': expected string, got 7"

# The input of a forum is that of its members and captain in all rounds; what was said stands beside it.
flow forum.yaml <<'F'
name: forum
agents:
  a: { run: [printf, "%s heard %s", "${input.k}", "${size(contributions)}"], inputSchema: { type: object, required: [k] } }
  b: { run: 'cat "$RONDO_CONTEXT" >context' }
  cap: { run: [printf, "%s: %s", "${input.k}", "${contributions.map(c, '%s %d %s'.format([c.name, c.round, c.output])).join('; ')}"],
         inputSchema: { type: object, required: [k] } }
steps: [{ id: f, with: { k: "5" }, forum: { members: [a, b], captain: cap, rounds: 2 } }]
F
check "a forum" 0 "5: a 1 5 heard 0; b 1 ; a 2 5 heard 2; b 2 " "$RONDO" run --store :memory: --quiet forum.yaml
same "a command's context" "$(tr -d ' \n' <context | grep -o '"contributions":\[{"name":"a","round":1,"output":"5heard0"}')" \
    '"contributions":[{"name":"a","round":1,"output":"5heard0"}'
sed -i 's/captain: cap,/captain: cap, show: captain,/' forum.yaml
check "that only its captain hears" 0 "5: a 1 5 heard 0; b 1 ; a 2 5 heard 0; b 2 " "$RONDO" run --store :memory: --quiet forum.yaml

# Files that are only named.
gives "agents of a parallel" '["own and more","ok"]' "[{ id: p, parallel: { agents: [file, ok] } }]"
gives "members and a captain" "own and more" "[{ id: f, forum: { members: [file, ok], captain: file, rounds: 2 } }]"
listed() { gives "$1" "$2" "[{ id: p, with: { $3 }, $4 }]"; }
listed "that are given what lists them" '["1 and more","1"]' "n: \"'1'\"" "parallel: { agents: [file, in] }"
listed "the same for two" '["own and x","own and x"]' "m: \"'x'\"" "parallel: { agents: [file, file] }"
listed "in a forum" "own and x" "m: \"'x'\", k: \"1\"" "forum: { members: [file, ok], captain: file, rounds: 2 }"
listed "in every pass" '["own and x"]' "m: \"'x'\"" "parallel: { agents: [file] }, loop: { maxIterations: 3 }"
listed "but what next gives" '["y and x"]' "m: \"'x'\"" "parallel: { agents: [file] }, loop: { maxIterations: 2, onMaxIterations: returnLast, next: \"{'n': 'y'}\" }"
listed "or an item" '["b and x"]' "m: \"'x'\"" "parallel: { agents: [file] }, loop: { forEach: [{ n: a }, { n: b }] }"
gives "no more than they take" '["own and more","own and more"]' "[{ id: g, with: { n: \"'g'\" }, steps: [{ id: p, parallel: { agents: [file, file] } }] }]"
gives "a scorer" "ok" "[{ id: m, agent: ok, loop: { maxIterations: 3, scoreAgent: marks, patience: 1 } }]"
gives "a judge" "ok" "[{ id: m, agent: ok, loop: { maxIterations: 2, onMaxIterations: fail, untilAgent: marks } }]"
gives "a reviewer" "ok" "[{ id: m, agent: ok, review: { agent: marks, onExhausted: fail } }]"

# What stands beside a step sees the input of the step.
flow beside.yaml <<'F'
name: beside
order: sequence
agents: { t: { script: [x] }, r: { script: [{ result: { n: 5 } }] }, f: { script: [{ fail: no }, ok] } }
steps:
  - { id: a, agent: r }
  - { id: b, agent: t, condition: input.n == 5 }
  - { id: c, agent: r }
  - { id: d, agent: f, retry: { attempts: 2, on: input.n == 5 } }
  - { id: e, agent: f, with: { m: "1" }, retry: { attempts: 2, on: input.m == 1 } }
output: "[steps.b.status, steps.d.content, steps.e.content]"
F
check "beside a step" 0 '["completed","ok","ok"]' "$RONDO" run --store :memory: --quiet beside.yaml

# What does not fit is known before.
flow needs.yaml <<'F'
name: needs
inputs: { a: { type: string }, b: { type: integer, default: 1 } }
agents: { s: { script: [x] } }
steps: [{ id: x, agent: s }]
F
flow also.yaml <<'F'
name: also
inputs: { c: { default: 1 } }
agents: { s: { script: [x] } }
steps: [{ id: x, agent: s }]
F
flow wrong.yaml <<'F'
name: wrong
agents: { needs: { workflow: needs.yaml }, also: { workflow: also.yaml }, ok: { script: [ok] } }
steps:
  - { id: one, parallel: { agents: [needs] } }
  - { id: two, with: { a: "'x'", cc: "1" }, parallel: { agents: [needs, also] } }
  - { id: three, with: { a: "5" }, forum: { members: [needs, ok], captain: needs } }
  - { id: four, with: { a: "'x'", cc: "1" }, parallel: { agents: [needs, ok] } }
F
check "inputs that agents in a list lack" 2 "" "$RONDO" check wrong.yaml
says "wrong.yaml:5:37: error[validation]: 'needs.yaml' needs the input 'a'"
says "wrong.yaml:6:34: error[unknown_reference]: none of the workflows that are listed has an input 'cc'"
says "wrong.yaml:7:29: error[schema]: the input 'a' of 'needs.yaml' does not take this: expected string, got 5"
same "and nothing else" "$(grep -c 'error\[' err)" 3

# `inputSchema` is about what a step gets before it starts: a loop once, a forEach every item.
flow once.yaml <<'F'
name: once
inputs: { n: { default: 1 } }
agents: { s: { script: [x, y, z] } }
steps: [{ id: l, with: { n: inputs.n }, inputSchema: { type: object, properties: { n: { type: integer } } }, loop: { maxIterations: 3, steps: [{ id: a, agent: s }] } }]
F
check "steps of a loop" 0 z "$RONDO" run --store :memory: --quiet once.yaml
check "that get what does not fit" 1 "" "$RONDO" run --store :memory: --input n=x once.yaml
says "error l: input: n: expected integer, got \"x\""
same "do not begin" "$(grep -c 'iteration_start' err)" 0
sed -i 's/loop: { maxIterations: 3, steps: .*\]/agent: s, loop: { maxIterations: 3 } }]/' once.yaml
check "a body that repeats" 0 z "$RONDO" run --store :memory: --quiet once.yaml
check "that gets what does not fit" 1 "" "$RONDO" run --store :memory: --input n=x once.yaml
says "error l: input: n: expected integer"
flow items.yaml <<'F'
name: items
inputs: { n: { default: 1 } }
agents: { s: { run: [printf, "%s", "${item}"] } }
steps: [{ id: l, inputSchema: { type: integer }, loop: { forEach: "[1, inputs.n, 3]", onItemFailure: continue, outputMode: cumulative, steps: [{ id: a, agent: s }] } }]
output: steps.l.result.iterations.map(i, i.status).join(' ')
F
check "items" 0 "completed completed completed" "$RONDO" run --store :memory: --quiet items.yaml
check "one of which does not fit" 0 "completed failed completed" "$RONDO" run --store :memory: --input n=x items.yaml
says 'error l[1]: input: expected integer, got "x"'
flow two.yaml <<'F'
name: two
inputs: { n: { default: 1 } }
agents: { s: { script: [x], inputSchema: { properties: { n: { type: integer } } } } }
steps: [{ id: a, agent: s, inputSchema: { type: object }, with: { n: inputs.n } }]
F
check "a step and its agent" 0 x "$RONDO" run --store :memory: --quiet two.yaml
check "both have to take it" 1 "" "$RONDO" run --store :memory: --input n=x two.yaml
says "error a: input: n: expected integer"
sed -i "s/with: { n: inputs.n }/with: { n: \"'x'\" }/" two.yaml
check "which may be known" 2 "" "$RONDO" check two.yaml
says "this does not fit the \`inputSchema\`: n: expected integer"
flow both.yaml <<'F'
name: both
agents: { s: { script: [x] }, file: { workflow: also.yaml, inputSchema: { properties: { c: { maximum: 3 } } } } }
steps:
  - { id: a, with: { n: "'x'" }, inputSchema: { properties: { n: { type: integer } } }, loop: { maxIterations: 2, steps: [{ id: a, agent: s }] } }
  - { id: b, inputSchema: { required: [n] }, loop: { maxIterations: 2, steps: [{ id: a, agent: s }] } }
  - { id: c, inputSchema: { type: integer }, loop: { forEach: [1, x], steps: [{ id: a, agent: s }] } }
  - { id: d, agent: file, with: { c: "5" } }
  - { id: e, agent: file }
  - { id: f, include: also.yaml, inputSchema: { properties: { c: { minimum: 2 } } } }
  - { id: g, with: { c: "4" }, parallel: { agents: [file] } }
F
check "what is known not to fit" 2 "" "$RONDO" check both.yaml
says "both.yaml:5:25: error[schema]: this does not fit the \`inputSchema\`: n: expected integer"
says "both.yaml:7:67: error[schema]: the item does not fit the \`inputSchema\` of 'c': expected integer"
says "both.yaml:8:38: error[schema]: this does not fit the \`inputSchema\`: c: expected at most 3, got 5"
says "both.yaml:10:11: error[schema]: this does not fit the \`inputSchema\`: c: expected at least 2, got 1"
says "both.yaml:11:25: error[schema]: this does not fit the \`inputSchema\`: c: expected at most 3, got 4"
same "is all of it" "$(grep -c 'error\[' err)" 5
flow items.yaml <<'F'
name: items
agents: { s: { script: [x] }, n: { run: [echo, "${input.n}"], inputSchema: { required: [n], properties: { n: { type: integer } } } }, needs: { workflow: needs.yaml } }
steps:
  - { id: a, include: needs.yaml, loop: { forEach: [{ a: x }, { a: y, b: 2 }] } }
  - { id: b, include: needs.yaml, loop: { forEach: [{ a: x }, { b: 2 }] } }
  - { id: c, parallel: { agents: [needs] }, loop: { forEach: [{ a: x }] } }
  - { id: d, include: needs.yaml, with: { a: item, b: "'x'" }, loop: { forEach: [x] } }
  - { id: e, with: { a: item }, loop: { forEach: [x], steps: [{ id: i, agent: s }] } }
  - { id: f, with: { a: item }, agent: s, loop: { maxIterations: 2 } }
  - { id: g, with: { n: "'x'" }, agent: n, loop: { forEach: [1] } }
  - { id: h, with: { m: item }, agent: n, loop: { forEach: [1] } }
  - { id: i, with: { n: item.m }, agent: n, instructions: "${input.m}", loop: { forEach: [{ n: 1 }] } }
  - { id: j, with: { n: item.n }, agent: n, loop: { forEach: [{ n: x }] } }
F
check "items and with" 2 "" "$RONDO" check items.yaml
says "items.yaml:6:5: error[validation]: 'needs.yaml' needs the input 'a'"
says "items.yaml:8:55: error[schema]: the input 'b' of 'needs.yaml' does not take this: expected integer, got \"x\""
says "items.yaml:9:25: error[unknown_reference]: a: 'item' exists only in a forEach"
says "items.yaml:10:25: error[unknown_reference]: a: 'item' exists only in a forEach"
says "items.yaml:11:25: error[schema]: this does not fit the \`inputSchema\`: n: expected integer"
says "items.yaml:13:30: error[unknown_reference]: n: no item of 'i' has 'm'"
says "items.yaml:13:68: error[unknown_reference]: hole: \`with\` gives no 'm'"
same "and no more" "$(grep -c 'error\[' err)" 7

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
