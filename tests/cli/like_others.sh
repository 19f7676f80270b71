#!/bin/bash
# like_others.sh - what model agents of Agents.KT, AgentEnsemble, ADK Go and Zenflow do, line by line of docs/coverage.md.
. "$ROOT/tests/cli/talk_server"

# ---- KT-23: models and commands in one pipeline ------------------------------------------------------------------
flow mixed.yaml <<'F'
name: mixed
order: sequence
agents: { w: { prompt: p, model: compat/m, tools: [] }, up: { run: "tr a-z A-Z", stdin: instructions } }
steps:
  - { id: one, agent: w, instructions: "Say a word." }
  - { id: two, agent: up, instructions: "${steps.one.content}" }
  - { id: three, agent: w, instructions: "Repeat: ${steps.two.content}" }
  - { id: four, agent: up, instructions: "${steps.three.content}" }
F
serve < <(text "tea"; then_; text "tea time")
check "model, command, model, command" 0 "TEA TIME" "$RONDO" run -q mixed.yaml
same "the second model reads what the command made" "$(asked 1 '.messages[-1].content' | grep ^Repeat)" "Repeat: TEA"
flow three.yaml <<'F'
name: three
order: sequence
agents: { w: { prompt: p, model: compat/m, tools: [] } }
steps: [{ id: a, agent: w, instructions: "Begin." }, { id: b, agent: w, instructions: "After ${steps.a.content}." }, { id: c, agent: w, instructions: "After ${steps.b.content}." }]
F
serve < <(text "one"; then_; text "two"; then_; text "three")
check "three models" 0 "three" "$RONDO" run -q three.yaml
same "each reads the one before" "$(asked 1 '.messages[-1].content' | grep ^After) $(asked 2 '.messages[-1].content' | grep ^After)" "After one. After two."

# ---- KT-35, P5: two legs with tools, each with its own model -------------------------------------------------------
echo left >left.txt; echo right >right.txt
serve < <(text never
    for leg in left right; do
        echo "POST /$leg/chat/completions"
        for i in 1 2 3; do calls $leg$i read "{\"path\":\"$leg.txt\",\"limit\":$i}"; then_; done
        text "$leg is done"
    done)
flow legs.yaml <<F
name: legs
models:
  l: { provider: compat, model: m, baseUrl: "http://127.0.0.1:$port/left" }
  r: { provider: compat, model: m, baseUrl: "http://127.0.0.1:$port/right" }
agents: { left: { prompt: p, model: l, tools: [read] }, right: { prompt: p, model: r, tools: [read] } }
steps:
  - id: both
    parallel: { steps: [{ id: left, agent: left, instructions: x }, { id: right, agent: right, instructions: x }] }
output: "[steps.both.steps.left.content, steps.both.steps.right.content]"
F
check "two legs" 0 '["left is done","right is done"]' "$RONDO" run -q --yolo legs.yaml
for leg in left right; do
    same "each call of $leg has its response" "$(jq -sr "map(select(.target == \"/$leg/chat/completions\").body | fromjson) | .[-1].messages |
        [.[] | select(.role == \"tool\") | \"\(.tool_call_id)=\(.content | rtrimstr(\"\n\"))\"] | join(\" \")" log)" "${leg}1=$leg ${leg}2=$leg ${leg}3=$leg"
done
same "and nobody else was asked" "$(requests)" 8

# ---- KT-60: a model chooses the route -----------------------------------------------------------------------------
flow route.yaml <<'F'
name: route
agents:
  sorter: { prompt: "You sort.", model: compat/m, tools: [], resultSchema: { enum: [bill, praise] } }
  bills: { prompt: "You pay.", model: compat/m, tools: [] }
  praise: { prompt: "You thank.", model: compat/m, tools: [] }
steps:
  - { id: sort, agent: sorter, instructions: "Which is it?" }
  - id: by
    dependsOn: [sort]
    branch:
      - { name: bill, when: steps.sort.result == 'bill', agent: bills, instructions: x }
      - { name: praise, when: steps.sort.result == 'praise', agent: praise, instructions: x }
F
serve < <(calls c1 submit_result '{"result":"praise"}'; then_; text "Thank you.")
"$RONDO" run --json --store :memory: route.yaml >out 2>err
same "its route runs" "$(jq -r 'select(.type=="workflow_end").data.output' out)" "Thank you."
same "and no other one" "$(jq -r 'select(.type=="step_start").path' out | tr '\n' ' ')" "sort by by.praise "
same "the model of the route is asked" "$(requests) $(asked 1 '.messages[0].content')" "2 You thank."

# ---- KT-102, KT-112, AE-132: calls in a chain, and errors that a model mends --------------------------------------
flow sums.yaml <<'F'
name: sums
agents: { w: { prompt: p, model: compat/m, tools: [bash] } }
steps: [{ id: a, agent: w, instructions: "What is (2 + 3) * 4?" }]
F
serve < <(calls c1 bash '{"command":"echo $((2 + 3))"}'; then_; calls c2 bash '{"command":"echo $((5 * 4))"}'; then_; text "20")
check "nested sums by calls in a chain" 0 "20" "$RONDO" run -q --yolo sums.yaml
same "each call sees the result before it" "$(asked 2 '[.messages[] | select(.role=="tool").content | split("\n")[0]] | join(" ")')" "5 20"
serve < <(calls c1 bash '{"comand":"echo 5"}'; then_; calls c2 bash '{"command":"echo 5"}'; then_; text "5")
check "a call with an error" 0 "5" "$RONDO" run -q --yolo sums.yaml
same "is mended by the model" "$(asked 2 '[.messages[] | select(.role=="tool").content | test("^error: ")] | join(" ")')" "true false"
serve < <(text "")
check "an empty answer is one" 0 "" "$RONDO" run -q sums.yaml
serve < <(printf 'status 400\nsend {"error":{"message":"no such thing as m"}}\n')
check "an error of the model" 1 "" "$RONDO" run -q sums.yaml
says "failed: a: "
says "no such thing as m"

# ---- KT-104: what a text means is said by an expression ------------------------------------------------------------
flow number.yaml <<'F'
name: number
agents: { w: { prompt: p, model: compat/m, tools: [] } }
steps: [{ id: a, agent: w, instructions: x }, { id: b, dependsOn: [a], set: { n: "int(steps.a.content) * 2" } }]
output: state.n
F
serve < <(text "21")
check "a text becomes a number" 0 "42" "$RONDO" run -q number.yaml
serve < <(text "many")
check "a text that is none" 1 "" "$RONDO" run -q number.yaml
says "many"

# ---- KT-108: one of several objects, by its kind ---------------------------------------------------------------------
flow shape.yaml <<'F'
name: shape
agents:
  w:
    prompt: p
    model: compat/m
    tools: []
    resultSchema:
      oneOf:
        - { type: object, required: [kind, r], additionalProperties: false, properties: { kind: { const: circle }, r: { type: number } } }
        - { type: object, required: [kind, parts], additionalProperties: false, properties: { kind: { const: group }, parts: { type: array, items: { type: object, required: [n], properties: { n: { type: integer } } } } } }
steps: [{ id: a, agent: w, instructions: x }]
output: steps.a.result
F
serve < <(calls c1 submit_result '{"kind":"square","r":1}'; then_; calls c2 submit_result '{"r":1}'; then_; calls c3 submit_result '{"kind":"circle","r":2}'; then_; text never)
check "a whole number is a number" 0 '{"kind":"circle","r":2}' "$RONDO" run -q shape.yaml
same "no such kind, and none, are refused" "$(asked 2 '[.messages[] | select(.role=="tool").content | test("^error: ")] | join(" ")')" "true true"
serve < <(calls c1 submit_result '{"kind":"group","parts":[{"n":1},{"n":2}]}')
check "lists and objects in objects" 0 '{"kind":"group","parts":[{"n":1},{"n":2}]}' "$RONDO" run -q shape.yaml
serve < <(calls c1 submit_result '{"kind":"group","parts":[{"n":"1"}]}'; then_; calls c2 submit_result '{"kind":"group","parts":[{"n":1}]}')
check "are looked into" 0 '{"kind":"group","parts":[{"n":1}]}' "$RONDO" run -q shape.yaml
same "and a wrong one is refused" "$(asked 1 '[.messages[] | select(.role=="tool").content | test("^error: ")] | join(" ")')" true

# ---- KT-79: answers of a model are fed back to it ------------------------------------------------------------------------
flow feed.yaml <<'F'
name: feed
agents: { w: { prompt: p, model: compat/m, tools: [] } }
steps: [{ id: l, agent: w, instructions: "More than ${iteration > 0 ? history[iteration - 1].content : 'nothing'}.", loop: { maxIterations: 9, until: content == '30' } }]
F
serve < <(text 10; then_; text 20; then_; text 30; then_; text never)
check "a loop ends at the third answer" 0 30 "$RONDO" run -q feed.yaml
same "which was asked for three times" "$(requests)" 3
same "with the answer before" "$(for i in 0 1 2; do asked $i '.messages[-1].content' | grep -o 'More than .*'; done | tr '\n' ' ')" "More than nothing. More than 10. More than 20. "
same "each is a new talk" "$(for i in 0 1 2; do asked $i '.messages | length'; done | tr '\n' ' ')" "2 2 2 "

# ---- KT-80: in every pass one choice of a skill, and calls of tools ------------------------------------------------------
flow passes.yaml <<'F'
name: passes
agents:
  w:
    prompt: p
    model: compat/m
    tools: [read]
    skills:
      look: { description: "Reads.", prompt: "You read." }
      talk: { description: "Talks.", prompt: "You talk." }
steps: [{ id: l, agent: w, instructions: x, loop: { maxIterations: 2, until: content == 'two' } }]
F
serve < <(text look; then_; calls c1 read '{"path":"left.txt"}'; then_; text one; then_; text look; then_; calls c2 read '{"path":"right.txt"}'; then_; text two; then_; text never)
"$RONDO" run --json --yolo --store :memory: passes.yaml >out 2>err
same "two passes" "$? $(jq -r 'select(.type=="workflow_end").data.output' out) $(requests)" "0 two 6"
same "one choice in each" "$(jq -r 'select(.type=="note" and .data.value.skill) | "\(.path) \(.data.value.skill)"' out | tr '\n' ' ')" "l.0 look l.1 look "
same "and its own call" "$(asked 2 '.messages[-1].content') $(asked 5 '.messages[-1].content')" "left right"

# ---- X1: two texts, the call and its response, and nothing more -----------------------------------------------------------
flow exits.yaml <<'F'
name: exits
agents: { w: { prompt: p, model: compat/m, tools: [exit_loop] } }
steps: [{ id: l, loop: { maxIterations: 5, onMaxIterations: returnLast, steps: [{ id: a, agent: w, instructions: x }] } }]
output: steps.l.reason
F
serve < <(text one; then_; text two; then_; calls c1 exit_loop '{}'; then_; text never)
"$RONDO" run --json --store :memory: exits.yaml >out 2>err
same "the loop ends by it" "$(jq -r 'select(.type=="workflow_end").data.output' out)" break
same "what came of the model" "$(jq -r 'select(.type=="step_end" and (.path | test("l.[0-9].a$"))) | .data.content // .data.output' out | head -2 | tr '\n' ' ')" "one two "
same "the call and its response" "$(jq -r 'select(.type=="tool_call") | "\(.path) \(.data.phase)"' out | tr '\n' ' ')" "l.2.a start l.2.a end "
same "no request follows" "$(requests)" 3

# ---- AE-59, AE-159: texts with holes -----------------------------------------------------------------------------------
flow holes.yaml <<'F'
name: holes
inputs: { topic: { type: string }, note: { type: string, default: "" }, none: { type: [string, "null"], default: null } }
agents: { w: { prompt: p, model: compat/m, tools: [] } }
steps:
  - id: l
    agent: w
    loop: { maxIterations: 2 }
    instructions: "On ${inputs.topic} and ${inputs.topic}: [${inputs.note}] [${inputs.none}] ${'${'}x} in pass ${iteration}."
F
serve < <(text "one"; then_; text "two")
check "a text with holes in a loop" 0 "two" "$RONDO" run -q holes.yaml -i 'topic=${1 + 1} tea'
same "is filled in every pass, once" "$(asked 0 '.messages[-1].content' | grep '^On')|$(asked 1 '.messages[-1].content' | grep '^On')" \
    'On ${1 + 1} tea and ${1 + 1} tea: [] [] ${x} in pass 0.|On ${1 + 1} tea and ${1 + 1} tea: [] [] ${x} in pass 1.'
sed -i 's/inputs.note}/inputs.nota}/; s/inputs.none}/inputs.nome}/' holes.yaml
"$RONDO" check holes.yaml >out 2>err
same "all that are missing are told" "$? $(grep -c 'error\[' err) $(grep 'error\[' err | grep -oE 'no(ta|me)' | tr '\n' ' ')" "2 2 nota nome "

# ---- AE-155: a limit of requests, and waiting that a timeout ends --------------------------------------------------------
limits() { # RPM
    flow limited.yaml <<F
name: limited
models:
  slow: { provider: compat, model: m, limits: { rpm: $1 } }
  own: { provider: compat, model: n, limits: { rpm: 1 } }
agents: { w: { prompt: p, model: slow, tools: [] }, v: { prompt: p, model: own, tools: [] } }
steps:
  - { id: a, agent: w, instructions: x }
  - { id: b, agent: w, instructions: x, dependsOn: [a], timeout: 300ms }
  - { id: c, agent: v, instructions: x, dependsOn: [a] }
F
}
limits 1
serve < <(text "Hello.")
check "the second request of a minute waits, and no longer than its step may" 1 "Hello." "$RONDO" run -q limited.yaml
says "b: timed out after 300 ms"
same "another limit is another one" "$(requests)" 2
limits 0
"$RONDO" check limited.yaml >out 2>err
same "a limit that allows nothing is refused" "$?" 2
says '`rpm` has to be at least 1'

# ---- ZF-B22: a provider that hangs ------------------------------------------------------------------------------------------
flow hangs.yaml <<'F'
name: hangs
agents: { w: { prompt: p, model: compat/m, tools: [] }, s: { script: [fine] } }
steps: [{ id: a, agent: w, instructions: x, timeout: 300ms }, { id: b, agent: s }]
F
serve < <(echo hang)
check "its step is ended by its timeout, and the others go on" 1 "fine" timeout 30 "$RONDO" run -q hangs.yaml
says "a: timed out after 300 ms"
check "the run by its own" 124 "fine" timeout 30 "$RONDO" run -q --timeout 200ms hangs.yaml
serve < <(echo "wait 600000")
check "also when it is silent from the first byte" 1 "fine" timeout 30 "$RONDO" run -q hangs.yaml

# ---- ZF-E17: files beside the task ---------------------------------------------------------------------------------------------
printf '\x89PNG' >cup.png; printf '%%PDF-1.4' >tea.pdf; echo "all about tea" >tea.txt
context() { # FILES
    flow context.yaml <<F
name: context
agents: { w: { prompt: p, model: compat/m, tools: [] } }
steps: [{ id: a, agent: w, instructions: x, contextFiles: [$1] }]
F
    serve < <(text "Seen.")
    check "context files: $1" 0 "Seen." "$RONDO" run -q context.yaml
}
parts() { asked 0 '.messages[1].content | if type == "string" then "text" else [.[].type] | join(" ") end'; }
context tea.txt
same "a text stands in the prompt" "$(parts) $(asked 0 '.messages[1].content' | grep -c 'all about tea')" "text 1"
context cup.png
same "a picture is a part" "$(parts)" "text image_url"
context tea.pdf
same "as is a PDF" "$(parts) $(asked 0 '.messages[1].content[1].file.file_data')" "text file data:application/pdf;base64,JVBERi0xLjQ="
context "tea.txt, cup.png, tea.pdf"
same "each in its own way" "$(parts) $(asked 0 '.messages[1].content[0].text' | grep -c 'all about tea')" "text image_url file 1"

# ---- R4: an answer goes to the agent that asked, whoever spoke later ----------------------------------------------------------------
serve < <(text never
    printf 'POST /asks/chat/completions\n'; calls c1 write '{"path":"asked.txt","content":"x"}'; then_; text "Written."
    printf 'POST /other/chat/completions\n'; text "Later.")
flow asks.yaml <<F
name: asks
models:
  m: { provider: compat, model: m, baseUrl: "http://127.0.0.1:$port/asks" }
  n: { provider: compat, model: m, baseUrl: "http://127.0.0.1:$port/other" }
agents: { asks: { prompt: "You ask.", model: m, tools: [write] }, other: { prompt: p, model: n, tools: [] }, waits: { run: [sleep, "0.3"] } }
steps: [{ id: a, agent: asks, instructions: x }, { id: w, agent: waits }, { id: b, agent: other, dependsOn: [w], instructions: y }]
output: steps.a.content + ' ' + steps.b.content
F
check "one asks, and another one speaks" 5 "" "$RONDO" run -q asks.yaml
id=$("$RONDO" runs -n 1 --json | jq -r .id)
same "the last one to speak was the other" "$(jq -sr '.[-1].target' log)" "/other/chat/completions"
check "the answer" 0 "" "$RONDO" answer -q "$id" a y
check "goes to the one that asked" 0 "Written. Later." "$RONDO" resume -q "$id"
same "in its talk" "$(jq -sr '.[-1] | .target + " " + (.body | fromjson | .messages[0].content + " " + .messages[-1].role)' log)" "/asks/chat/completions You ask. tool"
same "and to nobody else" "$(requests)" 3

# ---- AE-143: a tool that asks a person; who may call a tool is in people.sh ---------------------------------------------------------
flow ask.yaml <<'F'
name: ask
inputs: { question: { type: string } }
steps: [{ id: g, gate: { ask: "${inputs.question}" } }]
output: steps.g.content
F
flow person.yaml <<'F'
name: person
agents:
  human: { description: "Asks a person.", workflow: ask.yaml }
  w: { prompt: p, model: compat/m, tools: [human] }
steps: [{ id: a, agent: w, instructions: x }]
F
serve < <(calls c1 human '{"question":"Which tea?"}'; then_; text "Green it is.")
check "a model asks a person" 5 "" "$RONDO" run -q person.yaml
id=$("$RONDO" runs -n 1 --json | jq -r .id)
same "in its words" "$("$RONDO" answer --json "$id" | jq -r '.[0].ask')" "Which tea?"
check "who answers" 0 "" "$RONDO" answer -q "$id" "$("$RONDO" answer --json "$id" | jq -r '.[0].path')" green
check "and it goes on" 0 "Green it is." "$RONDO" resume -q "$id"
same "with the answer" "$(asked 1 '.messages[-1] | "\(.role) \(.content)"') $(requests)" "tool green 2"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
