#!/bin/bash
# team.sh - agents that models call: every kind of agent as a tool, workflows, workers of a manager, what they cost,
# and what happens when the program is killed in between.
. "$ROOT/tests/cli/talk_server"

told() { asked "$1" ".messages[] | select(.tool_call_id==\"$2\").content"; }

# ---- every kind of agent -----------------------------------------------------------------------------------
flow kinds.yaml <<'F'
name: kinds
agents:
  boss: { prompt: You lead., model: compat/m, tools: [writer, counter, parrot, sub, rater] }
  writer: { description: Writes., prompt: You write., model: compat/m, tools: [read] }
  counter: { description: Counts lines., run: "wc -l" }
  parrot: { script: [one, two] }
  sub: { description: A whole workflow., workflow: sub.yaml }
  rater:
    description: Rates.
    model: compat/m
    inputSchema: { type: object, required: [text], properties: { text: { type: string } }, additionalProperties: false }
    resultSchema: { type: object, required: [score], properties: { score: { type: integer } } }
steps: [{ id: a, agent: boss, instructions: "Get it done." }]
F
flow sub.yaml <<'F'
name: sub
inputs: { topic: { type: string }, tone: { type: string, default: dry } }
agents: { s: { run: [printf, "%s/%s", "${inputs.topic}", "${inputs.tone}"] } }
steps: [{ id: x, agent: s, instructions: x }]
F
serve < <(calls c1 writer '{"input":"Write a line."}'; then_; text "A line."; then_
          calls c2 counter '{"input":"a\nb"}' c3 parrot '{"input":"x"}'; then_
          calls c4 parrot '{"input":"x"}' c5 sub '{"topic":"tea"}' c6 sub '{}'; then_
          calls c7 rater '{"text":"A line."}'; then_; calls r1 submit_result '{"score":7}'; then_; text "All done.")
check "agents as tools" 0 "All done." "$RONDO" run -q --store st.db kinds.yaml
same "are offered by name" "$(asked 0 '[.tools[].function.name] | join(" ")')" "writer counter parrot sub rater"
same "with their descriptions" "$(asked 0 '.tools[1].function.description')" "Counts lines."
same "take a text" "$(asked 0 '.tools[0].function.parameters | .required[0] + " " + .properties.input.type')" "input string"
same "or the inputs of a workflow" "$(asked 0 '.tools[3].function.parameters | "\(.required) \(.properties | keys)"')" '["topic"] ["tone","topic"]'
same "or what their schema says" "$(asked 0 '.tools[4].function.parameters.required[0]')" text
same "a model has its own prompt" "$(asked 1 '[.messages[].content] | join("|")')" "$(printf 'You write.|## Task\nWrite a line.')"
same "and its own tools" "$(asked 1 '[.tools[].function.name] | join(" ")')" read
same "its answer is the result" "$(told 2 c1)" "A line."
same "a command" "$(told 3 c2 | tr -d ' \n')" 2
same "a script" "$(told 3 c3) $(told 4 c4)" "one two"
same "a workflow, with its defaults" "$(told 4 c5)" "tea/dry"
same "and without an input" "$(told 4 c6 | grep -c topic)" 1
same "a result that fits a schema" "$(told 6 c7)" '{"score":7}'
id=$("$RONDO" runs --store st.db --json | jq -r .id | head -1)
"$RONDO" events --store st.db --json "$id" >ev
same "they are steps of the run" "$(jq -r 'select(.type=="step_start").path' ev | tr '\n' ' ')" \
     "a a.writer[0] a.counter[1] a.parrot[2] a.parrot[3] a.sub[4] a.sub[4].x a.rater[5] "
same "whose tokens count" "$(jq -r 'select(.type=="workflow_end").tokens.prompt' ev)" 700

# ---- what is said of them may have holes ---------------------------------------------------------------------
flow told.yaml <<'F'
name: told
inputs: { topic: { default: tea } }
agents:
  boss: { prompt: "You lead.", model: compat/m, tools: [finder, far], workers: [finder, plain] }
  finder: { description: "Finds out about ${inputs.topic} for ${input.who}, $${x}.", run: "cat" }
  plain: { script: [x] }
  far: { workflow: far.yaml }
  picker:
    model: compat/m
    prompt: You pick.
    tools: []
    skills: { a: { description: "Knows ${inputs.topic}." }, b: { description: "Knows ${input.who}.", prompt: "You know." } }
steps:
  - { id: a, agent: boss, instructions: x, with: { who: "'Ann'" } }
  - { id: b, agent: picker, instructions: x, with: { who: "'Bob'" }, dependsOn: [a] }
F
flow far.yaml <<'F'
name: far
description: "Goes ${inputs.n} miles in ${inputs.far}."
inputs: { n: { type: integer, default: 5 }, far: { default: [a] } }
agents: { s: { script: [x] } }
steps: [{ id: x, agent: s }]
F
serve < <(text "Done."; then_; text b; then_; text "Picked.")
check "descriptions with holes" 0 "Picked." "$RONDO" run -q --store :memory: told.yaml
same "are filled for who may call" "$(asked 0 '.tools[] | select(.function.name=="finder").function.description')" 'Finds out about tea for Ann, ${x}.'
same "also those of files" "$(asked 0 '.tools[] | select(.function.name=="far").function.description')" 'Goes 5 miles in ["a"].'
same "and of workers" "$(asked 0 '.tools[] | select(.function.name=="delegate").function.description' | tail -2)" \
     "$(printf -- '- finder: Finds out about tea for Ann, ${x}.\n- plain')"
same "and of skills" "$(asked 1 '.messages[0].content' | grep Knows)" "$(printf 'Knows tea.\nKnows Bob.')"
sed -i '/id: a,/s/with: { who: /with: { whom: /' told.yaml
check "one that cannot be filled" 1 "" "$RONDO" run -q --store :memory: told.yaml
says "the description of the agent 'finder'"
says "no such key: 'who'"
sed -i 's/default: 5/minimum: 5/' far.yaml
check "a file that names what it is not given yet" 2 "" "$RONDO" check told.yaml
says "told.yaml:5:65: error[validation]: the description of 'far.yaml' names its input 'n', which has no default"
says "give the agent 'far' a \`description\` of its own"
sed -i 's/far: { workflow/far: { description: Far., workflow/' told.yaml
check "and does not have to say it" 0 "" "$RONDO" check told.yaml

# ---- a failure is told -------------------------------------------------------------------------------------
flow bad.yaml <<'F'
name: bad
agents: { boss: { prompt: p, model: compat/m, tools: [no] }, no: { run: "echo broken >&2; exit 3" } }
steps: [{ id: a, agent: boss, instructions: x }]
F
serve < <(calls c1 no '{"input":"x"}'; then_; text "It failed.")
check "one that fails" 0 "It failed." "$RONDO" run -q bad.yaml
same "tells why" "$(told 1 c1 | grep -c 'error: the agent failed.*broken')" 1

# ---- at load -----------------------------------------------------------------------------------------------
wrong() { flow w.yaml; check "$1" 2 "" "$RONDO" check w.yaml; says "$2"; }
wrong "an unknown tool" "did you mean 'reviewer'" <<'F'
name: w
agents: { a: { prompt: p, tools: [reviewr] }, reviewer: { prompt: p } }
steps: [{ id: s, agent: a, instructions: x }]
F
wrong "a circle" "a -> b -> a" <<'F'
name: w
agents: { a: { prompt: p, tools: [b] }, b: { prompt: p, workers: [a] } }
steps: [{ id: s, agent: a, instructions: x }]
F
wrong "itself" "a -> a" <<'F'
name: w
agents: { a: { prompt: p, tools: [a] } }
steps: [{ id: s, agent: a, instructions: x }]
F
wrong "too deep" "more than 5 deep" <<'F'
name: w
agents: { a: { prompt: p, tools: [b] }, b: { prompt: p, tools: [c] }, c: { prompt: p, tools: [d] }, d: { prompt: p, tools: [e] },
          e: { prompt: p, tools: [f] }, f: { prompt: p, tools: [g] }, g: { prompt: p } }
steps: [{ id: s, agent: a, instructions: x }]
F
wrong "a name of both" "both a tool and an agent" <<'F'
name: w
agents: { a: { prompt: p, tools: [read] }, read: { prompt: p } }
steps: [{ id: s, agent: a, instructions: x }]
F
wrong "an unknown worker" "did you mean 'writer'" <<'F'
name: w
agents: { a: { prompt: p, workers: [writr] }, writer: { prompt: p } }
steps: [{ id: s, agent: a, instructions: x }]
F
wrong "a workflow as a worker" "list it in" <<'F'
name: w
agents: { a: { prompt: p, workers: [sub] }, sub: { workflow: sub.yaml } }
steps: [{ id: s, agent: a, instructions: x }]
F

# ---- a manager and its workers (AE-93, AE-150, AE-152) -----------------------------------------------------------------------------
flow manager.yaml <<'F'
name: manager
agents:
  boss: { prompt: You lead., model: compat/m, tools: [], workers: [writer, counter] }
  writer:
    description: Writes.
    prompt: You write.
    model: compat/m
    tools: [read]
    resultSchema: { type: object, required: [line], properties: { line: { type: string } } }
  counter: { description: Counts lines., run: "wc -l" }
steps: [{ id: a, agent: boss, instructions: "Get it done." }]
F
serve < <(calls c1 delegate '{"worker":" Writer ","task":"Write."}'; then_; calls w1 submit_result '{"line":"ok"}'; then_
          calls c2 ask '{"worker":"writer","question":"How long?"}'; then_; text "A minute."; then_
          calls c3 ask '{"worker":"counter","question":"a"}' c4 delegate '{"worker":"cook","task":"x"}'; then_; text "Done.")
check "delegate and ask" 0 "Done." "$RONDO" run -q manager.yaml
same "a manager's tools" "$(asked 0 '[.tools[].function.name] | join(" ")')" "delegate ask"
same "tell of the workers" "$(asked 0 '.tools[0].function.description' | tail -2)" "$(printf -- '- writer: Writes.\n- counter: Counts lines.')"
same "who works has its tools" "$(asked 1 '[.tools[].function.name] | join(" ")')" "read submit_result"
same "and hands in a result" "$(told 2 c1)" '{"line":"ok"}'
same "who is asked has none" "$(asked 3 '.tools')" null
same "and is only asked" "$(asked 3 '[.messages[].content] | join("|")')" "$(printf 'You write.|## Task\nHow long?')"
same "the answer" "$(told 4 c2)" "A minute."
same "what is no model is called" "$(told 5 c3 | tr -d ' \n')" 1
same "an unknown worker" "$(told 5 c4)" "error: there is no worker 'cook'; there are: writer, counter"

# ---- places and budgets ------------------------------------------------------------------------------------
serve < <(calls c1 sub '{"topic":"a"}' c2 sub '{"topic":"b"}'; then_; text "Done.")
check "one place is enough" 0 "Done." "$RONDO" run -q --max-concurrency 1 kinds.yaml
same "for two calls" "$(told 1 c1) $(told 1 c2)" "a/dry b/dry"
serve < <(calls c1 counter '{"input":"x"}' c2 counter '{"input":"y"}'; then_; text "Done.")
check "also of commands" 0 "Done." "$RONDO" run -q --max-concurrency 1 kinds.yaml
serve < <(calls c1 writer '{"input":"x"}'; then_; text "A line."; then_; calls c2 writer '{"input":"x"}'; then_; text never)
{ cat kinds.yaml; echo "budget: { calls: 3 }"; } >few.yaml
"$RONDO" run -q few.yaml >out 2>err
same "a budget holds for all of them" "$? $([ "$(requests)" -le 3 ] && echo yes)" "4 yes"

# ---- recorded ----------------------------------------------------------------------------------------------
serve < <(calls c1 writer '{"input":"x"}' c2 sub '{"topic":"a"}'; then_; text "A line."; then_; text "Done.")
check "recorded" 0 "Done." "$RONDO" run -q --store :memory: --record rec.json kinds.yaml
check "and played, without those that were called" 0 "Done." "$RONDO" run --replay rec.json kinds.yaml
same "which is nothing to be warned of" "$(grep -c warning err)" 0
same "or a model" "$(requests)" 3
usage_of() { jq -c 'select(.type == "workflow_end").data.usage' "$1"; }
serve < <(calls c1 writer '{"input":"x"}' c2 sub '{"topic":"a"}'; then_; text "A line."; then_; text "Done.")
"$RONDO" run -q --json --store :memory: --record rec.json kinds.yaml >one 2>err
"$RONDO" run -q --json --replay rec.json kinds.yaml >two 2>err
same "what they cost is told all the same" "$(usage_of two) $(jq .calls <<<"$(usage_of two)")" "$(usage_of one) 3"

# ---- a gate in a workflow that was called ------------------------------------------------------------------
flow asking.yaml <<'F'
name: asking
agents: { boss: { prompt: p, model: compat/m, tools: [sign] }, sign: { description: d, workflow: sign.yaml } }
steps: [{ id: a, agent: boss, instructions: x }]
F
flow sign.yaml <<'F'
name: sign
steps: [{ id: g, gate: { ask: "Fine?", schema: { type: string } } }]
F
serve < <(calls c1 sign '{}'; then_; text "Signed.")
"$RONDO" run -q --store g.db asking.yaml >out 2>err </dev/null
same "waits for a person" "$?" 5
id=$("$RONDO" runs --store g.db --json | jq -r .id | head -1)
check "who answers" 0 "" "$RONDO" answer -q --store g.db "$id" 'a.sign[0].g' yes
"$RONDO" resume -q --store g.db "$id" >out2 2>err
same "and it goes on" "$(cat out2) $(told 1 c1)" "Signed. yes"

# ---- killed ------------------------------------------------------------------------------------------------
flow slow.yaml <<'F'
name: slow
agents:
  boss: { prompt: p, model: compat/m, tools: [writer, slow] }
  writer: { prompt: w, model: compat/m }
  slow: { workflow: steps.yaml, description: d }
steps: [{ id: a, agent: boss, instructions: x }]
F
flow steps.yaml <<'F'
name: steps
agents: { one: { run: "echo one >>did; echo 1" }, two: { run: "echo two >>did; [ -e go ] || sleep 600; echo 2" } }
steps: [{ id: x, agent: one, instructions: x }, { id: y, agent: two, instructions: x, dependsOn: [x] }]
F
serve < <(calls c1 writer '{"input":"x"}'; then_; text "A line."; then_; calls c2 slow '{}'; then_; text "Done.")
"$RONDO" run -q --store k.db slow.yaml >out 2>err & pid=$!
wait_for did two
kill -9 $pid; wait $pid 2>/dev/null
touch go
id=$("$RONDO" runs --store k.db --json | jq -r .id | head -1)
check "goes on inside of the call" 0 "Done." "$RONDO" resume -q --store k.db "$id"
same "nothing is paid twice" "$(requests)" 4
same "nothing that was done is done again" "$(tr '\n' ' ' <did)" "one two two "
same "the results are there" "$(told 3 c1) $(told 3 c2)" "A line. 2"
check "and it can be replayed" 0 "" "$RONDO" replay -q --store k.db "$id"

fork=$("$RONDO" fork --store k.db --at 'a.slow[1].y' "$id" 2>/dev/null)
serve < <(text "Done otherwise.")
check "a fork inside of a call" 0 "Done otherwise." "$RONDO" resume -q --store k.db "$fork"
same "pays nothing again" "$(requests)" 1
same "and does again what is behind it" "$(tr '\n' ' ' <did)" "one two two two "

# ---- killed, and the agent that called cannot go on -----------------------------------------------------------
rm -f go did
sed 's/\[writer, slow\]/[bash, slow]/; s/^name: slow/&\noptions: { onUnknown: fail }/' slow.yaml >cannot.yaml
serve < <(calls c1 slow '{}' c2 bash '{"command":"sleep 600"}'; then_; text never)
"$RONDO" run -q --yolo --store f.db cannot.yaml >out 2>err & pid=$!
wait_for did two
kill -9 $pid; wait $pid 2>/dev/null
id=$("$RONDO" runs --store f.db --json | jq -r .id | head -1)
check "it fails" 1 "" "$RONDO" resume -q --yolo --store f.db "$id"
same "behind those that it called" "$("$RONDO" events --store f.db --json "$id" | jq -r 'select(.type=="step_cancelled" or .type=="error").path' | tr '\n' ' ')" \
     "a.slow[0].y a.slow[0] a "
check "and it can be replayed" 0 "" "$RONDO" replay -q --store f.db "$id"

# ---- cancelled ---------------------------------------------------------------------------------------------
rm -f go did
serve < <(calls c2 slow '{}'; then_; text never)
"$RONDO" run -q --store c.db slow.yaml >out 2>err & pid=$!
wait_for did two
kill -INT $pid; wait $pid
same "a cancel ends all of it" "$?" 130
id=$("$RONDO" runs --store c.db --json | jq -r .id | head -1)
same "step by step" "$("$RONDO" events --store c.db --json "$id" | jq -r 'select(.type=="step_cancelled").path' | tr '\n' ' ')" \
     "a.slow[0].y a.slow[0] a "
touch go
serve < <(calls c2 slow '{}'; then_; text "Done.")
check "and it can be taken up again" 0 "Done." "$RONDO" resume -q --store c.db "$id"

# ---- one that must not be cut off ------------------------------------------------------------------------------
rm -f go did
sed 's/boss: { prompt: p,/boss: { prompt: p, effects: once,/' slow.yaml >once.yaml
serve < <(calls c2 slow '{}'; then_; calls c3 writer '{"input":"x"}'; then_; text "As far as it went.")
"$RONDO" run -q --store o.db once.yaml >out 2>err & pid=$!
wait_for did two
kill -INT $pid; wait $pid
same "is told that what it called was cancelled" "$(told 1 c2)" "error: the agent failed: it was cancelled"
same "calls nobody any more" "$(told 2 c3)" "error: the agent failed: it was cancelled"
same "and finishes" "$("$RONDO" events --store o.db --json "$("$RONDO" runs --store o.db --json | jq -r .id)" |
    jq -r 'select(.type=="step_end" and .path=="a").data.output')" "As far as it went."

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
