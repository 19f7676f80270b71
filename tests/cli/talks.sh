#!/bin/bash
# talks.sh - model agents from end to end, against a server that answers by a script: turns, tools, results,
# loops, permissions, budgets, agents of agents, and what happens when the program is killed in between.
. "$ROOT/tests/cli/talk_server"

flow one.yaml <<'F'
name: one
agents: { w: { prompt: "You write.", model: compat/m } }
steps: [{ id: a, agent: w, instructions: "Say hello." }]
F

# ---- KT-100: an answer, and what is asked for it ------------------------------------------------------------------------------------------
serve < <(text "Hello.")
check "plain" 0 "Hello." "$RONDO" run -q one.yaml
same "the system text" "$(asked 0 '.messages[0].content')" "You write."
same "the prompt" "$(asked 0 '.messages[1].content')" "$(printf '## Task\nSay hello.')"
same "requests" "$(requests)" 1
serve < <(text "Hello.")
"$RONDO" run --json --store :memory: one.yaml >out 2>err
same "turns" "$(jq -r 'select(.type=="agent_turn").data.phase' out | tr '\n' ' ')" "request response "
same "tokens" "$(jq -r 'select(.type=="workflow_end").tokens | "\(.prompt) \(.completion)"' out)" "100 10"

# ---- whose work it is ----------------------------------------------------------------------------------
parent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
serve < <(text "Hello.")
TRACEPARENT=$parent check "with a trace around it" 0 "Hello." "$RONDO" run -q one.yaml
same "the model is told" "$(jq -r .headers.traceparent log)" "$parent"
serve < <(text "Hello.")
TRACEPARENT=$'00-x\r\nEvil: 1' check "with nonsense" 0 "Hello." "$RONDO" run -q one.yaml
same "it is not" "$(jq -r '.headers | has("traceparent") or has("evil")' log)" "false"

# ---- no model ----------------------------------------------------------------------------------------------
flow none.yaml <<'F'
name: none
agents: { w: { prompt: "You write." } }
steps: [{ id: a, agent: w, instructions: x }]
F
check "none is named" 3 "" "$RONDO" run -q none.yaml
says "RONDO_MODEL"
says "rehearse"
RONDO_MODEL=openai/gpt-x check "no key" 3 "" "$RONDO" run -q none.yaml
says "OPENAI_API_KEY"

# ---- KT-101: tools -------------------------------------------------------------------------------------------------
flow tools.yaml <<'F'
name: tools
agents: { w: { prompt: p, model: compat/m, tools: [read, glob, write, bash] } }
steps: [{ id: a, agent: w, instructions: x }]
F
echo "the secret of tea" >tea.txt
serve < <(calls c1 read '{"path":"tea.txt"}' c2 glob '{"pattern":"*.txt"}' c3 nothing '{}'; then_; text "Done.")
check "tools" 0 "Done." "$RONDO" run -q --allow read,glob tools.yaml
same "their order" "$(asked 1 '[.messages[] | select(.role=="tool").tool_call_id] | join(" ")')" "c1 c2 c3"
same "what was read" "$(asked 1 '.messages[] | select(.tool_call_id=="c1").content')" "the secret of tea"
same "a tool that is none" "$(asked 1 '.messages[] | select(.tool_call_id=="c3").content' | grep -c "there is no tool 'nothing'")" 1
same "the tools that it was told of" "$(asked 0 '[.tools[].function.name] | join(" ")')" "read write glob bash"

# Whatever is nested deeper than a note may be ends somewhere: with an answer to the model, or with the step.
nested() { printf "%$1s" | tr ' ' '['; printf "%$1s" | tr ' ' ']'; } # DEPTH
for depth in 250 300 1020 1100 2040 2100; do
    serve < <(calls c1 read "{\"path\":$(nested $depth)}"; then_; text "Done.")
    check "arguments nested $depth deep" 0 "Done." timeout 60 "$RONDO" run -q --allow read tools.yaml
    same "the model is told what is wrong with them" "$(asked 1 '.messages[] | select(.role=="tool").content' |
        grep -c "nested too deep\|expected string")" 1
done
serve < <(calls c1 read '{"path":"tea.txt"}' | sed "s/\"type\":\"function\"/&,\"extra_content\":{\"x\":$(nested 1500)}/"; then_; text "Done.")
check "a deep extra that a server sends" 1 "" timeout 60 "$RONDO" run -q --allow read tools.yaml
says "nested more than 1024 levels deep"

serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Sorry.")
check "what is not allowed is refused" 0 "Sorry." "$RONDO" run -q --strict --allow read tools.yaml
same "nothing was written" "$(ls new.txt 2>/dev/null)" ""
same "the model is told" "$(asked 1 '.messages[] | select(.role=="tool").content' | grep -c 'not permitted')" 1

# What is said again adds to what was said before: a denial that were lost would let something through.
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Sorry.")
check "denials add up" 0 "Sorry." "$RONDO" run -q --allow read,write --deny write --deny bash tools.yaml
same "nothing was written, either" "$(ls new.txt 2>/dev/null)" ""
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Sorry.")
check "so do questions" 0 "Sorry." "$RONDO" run -q --store :memory: --allow read,write --ask write --ask bash tools.yaml
same "nobody was there to ask" "$(ls new.txt 2>/dev/null)" ""
serve < <(calls c1 read '{"path":"tea.txt"}'; then_; text "Done.")
check "and permissions" 0 "Done." "$RONDO" run -q --strict --allow read --allow glob tools.yaml
same "the first holds" "$(asked 1 '.messages[] | select(.role=="tool").content')" "the secret of tea"
for wrong in "nosuch --deny read" "read --deny nosuch" "bash(a --deny b)"; do
    check "each is checked: $wrong" 3 "" "$RONDO" run -q --deny $wrong tools.yaml
done

serve < <(calls c1 write '{"path":"new.txt","content":7}'; then_; calls c2 write 'not json'; then_; text "Sorry.")
check "arguments that do not fit" 0 "Sorry." "$RONDO" run -q --yolo tools.yaml
same "are told" "$(asked 1 '.messages[] | select(.role=="tool").content' | grep -c 'content')" 1
same "as are those that are none" "$(asked 2 '.messages[] | select(.tool_call_id=="c2").content' | grep -c 'JSON')" 1

serve < <(for i in 1 2 3 4 5 6; do calls c$i read '{"path":"tea.txt"}'; then_; done; text never)
# KT-103: a talk that has had its turns completes with what there is, and tells.
check "maxTurns" 0 "" "$RONDO" run -q --yolo --max-turns 3 tools.yaml
same "requests of three turns" "$(requests)" 3
serve < <(calls c1 read '{"path":"tea.txt"}'; then_; text never)
"$RONDO" run -q --yolo --max-turns 1 --json tools.yaml >out 2>err
same "who looks on is told" "$(jq -r 'select(.type=="message") | tostring' out | grep -c 'maxTurns')" 1
serve < <(text "Once upon" | sed 's/"stop"/"length"/')
"$RONDO" run -q --json tools.yaml >out 2>err
same "an answer that was cut is told of" "$(jq -r 'select(.type=="message") | tostring' out | grep -c 'was cut')" 1
same "and is what there is" "$(jq -r 'select(.type=="workflow_end").data.output' out)" "Once upon"

serve < <(calls c1 bash '{"command":"echo $$"}'; then_; text "Done.")
check "a command" 0 "Done." "$RONDO" run -q --yolo tools.yaml
inside=$("$RONDO" doctor | grep -c '^ok  bubblewrap .*inside of it')
pid=$(asked 1 '.messages[] | select(.tool_call_id=="c1").content' | head -n 1)
same "is inside of bubblewrap if doctor says so" "$((pid == 2))" "$inside"

# The same again and again: it is told, and then stopped.
again() { for ((i = 1; i <= $1; i++)); do calls c$i read '{"path":"tea.txt"}'; then_; done; }
serve < <(again 6; text never)
check "the same calls again and again" 6 "" "$RONDO" run -q --yolo tools.yaml
says "the same calls 6 times in a row"
same "are stopped" "$(requests)" 6
same "after it was told" "$(asked 5 '[.messages[] | select(.role=="tool").content | test("same calls")] | join(" ")')" "false false true true true"
same "behind the result" "$(asked 3 '.messages[] | select(.tool_call_id=="c3").content' | head -n 1)" "the secret of tea"
serve < <(again 5; calls d read '{"path":"none"}'; then_; again 5; text "Well.")
check "something else in between" 0 "Well." "$RONDO" run -q --yolo tools.yaml
serve < <(for i in 1 2 3 4 5 6 7 8; do calls c$i bash '{"command":"echo x >>polled; wc -l <polled"}'; then_; done; text "Polled.")
check "other results" 0 "Polled." "$RONDO" run -q --yolo tools.yaml
same "are no stall" "$(asked 8 '[.messages[] | select(.role=="tool").content | test("same calls")] | any')" false
flow stall.yaml <<'F'
name: stall
agents: { w: { prompt: p, model: compat/m, tools: [read] } }
steps: [{ id: l, loop: { maxIterations: 2, stall: { repeats: 2 }, steps: [{ id: a, agent: w, instructions: x }] } }]
F
serve < <(again 4; text never)
check "as often as the loop says" 6 "" "$RONDO" run -q --yolo stall.yaml
says "the same calls 4 times in a row"

# ---- ZF-B38: results, and what a model is told that hands in none -----------------------------------------------------------------------------------------------
flow result.yaml <<'F'
name: result
agents:
  w:
    prompt: p
    model: compat/m
    resultSchema: { type: object, required: [score], additionalProperties: false, properties: { score: { type: integer, maximum: 10 } } }
steps: [{ id: a, agent: w, instructions: x }]
output: steps.a.result.score
F
serve < <(calls c1 submit_result '{"score":99}'; then_; calls c2 submit_result '{"score":7}'; then_; text never)
check "a result" 0 "7" "$RONDO" run -q result.yaml
same "after a wrong one" "$(asked 1 '.messages[] | select(.role=="tool").content' | grep -c 'score')" 1
same "and no more" "$(requests)" 2
serve < <(text "I think so."; then_; calls c2 submit_result '{"score":3}')
check "a reminder" 0 "3" "$RONDO" run -q result.yaml
same "leaves no choice" "$(asked 1 '[.tools[].function.name] | join(" ")')" "submit_result"
same "but to call it" "$(asked 1 '.tool_choice == "required" or .tool_choice.function.name == "submit_result"')" true
serve < <(text 'Here: ```json
{"score": 4}
```')
check "a result that was written down" 0 "4" "$RONDO" run -q result.yaml
serve < <(text "I think so.")
check "none at all" 1 "" "$RONDO" run -q result.yaml
says "without a result"
same "after two reminders" "$(requests)" 3
flow word.yaml <<'F'
name: word
agents: { w: { prompt: p, model: compat/m, resultSchema: { type: string } } }
steps: [{ id: a, agent: w, instructions: x }]
output: "[steps.a.result, steps.a.content]"
F
serve < <(calls c1 submit_result '{"result":"yes"}'; then_; text never)
check "a result that is a text" 0 '["yes","yes"]' "$RONDO" run -q word.yaml
for schema in '{ enum: ["yes", "no"] }' '{ const: "yes" }' '{ anyOf: [{ type: string }, { type: "null" }] }'; do
    sed -i "s/resultSchema: .* } }$/resultSchema: $schema } }/" word.yaml
    serve < <(calls c1 submit_result '{"result":"yes"}'; then_; text never)
    check "also where the schema names no type: $schema" 0 '["yes","yes"]' "$RONDO" run -q word.yaml
done
cat >loose.yaml <<'F'
name: loose
agents: { w: { description: d, model: compat/m, resultSchema: { type: object, properties: { score: { type: any } }, required: [score] } } }
steps: [{ id: a, agent: w, instructions: x }]
F
serve < <(calls c1 submit_result '{"points":7}'; then_; text never)
check "what v1 does not check is taken" 0 '{"points":7}' "$RONDO" run -q loose.yaml
same "what is no schema is shown" "$(asked 0 '.messages[].content' | grep -c '"score":{"type":"any"}')" 1
same "but is not the tool's" "$(asked 0 '.tools[] | select(.function.name=="submit_result").function.parameters | tojson' | grep -c any)" 0

# ---- loops -------------------------------------------------------------------------------------------------
flow loop.yaml <<'F'
name: loop
agents: { w: { prompt: p, model: compat/m, tools: [exit_loop, continue_loop] } }
steps:
  - id: l
    loop: { maxIterations: 5, onMaxIterations: returnLast, steps: [{ id: a, agent: w, instructions: x }] }
output: "steps.l.reason + ' ' + string(steps.l.passes) + ' ' + steps.l.content"
F
serve < <(text "one"; then_; text "two"; then_; calls c1 exit_loop '{"reason":"done"}'; then_; text never)
check "exit_loop" 0 "break 3 two" "$RONDO" run -q loop.yaml
same "ends at once" "$(requests)" 3
serve < <(calls c1 continue_loop '{}'; then_; text "b")
check "continue_loop" 0 "max_iterations 5 b" "$RONDO" run -q loop.yaml
serve < <(calls c1 exit_loop '{"loop":"nosuch"}'; then_; calls c2 exit_loop '{"loop":"l"}'; then_; text never)
check "a loop that is none" 0 "break 1 " "$RONDO" run -q loop.yaml
same "is told" "$(asked 1 '.messages[-1].content' | grep -c '^error: .*exit_loop')" 1

# X1: the flag, of the nearest loop or of one that is named.
flow flag.yaml <<'F'
name: flag
agents: { w: { prompt: p, model: compat/m, tools: [exit_loop] } }
steps:
  - id: l
    loop: { maxIterations: 2, steps: [{ id: m, loop: { maxIterations: 2, steps: [{ id: a, agent: w, instructions: x }] } }] }
output: "[steps.l.passes, steps.l.escalated]"
F
flags() { "$RONDO" events --store f.db --json last | jq -j 'select(.data.escalated) | "\(.type) \(.path); "'; }
serve < <(calls c1 exit_loop '{"escalate":true}'; then_; calls c2 exit_loop '{"loop":"l","escalate":true}')
check "exit_loop with the flag" 0 "[2,true]" "$RONDO" run -q --store f.db flag.yaml
same "is told" "$(flags)" "step_end l.0.m.0.a; loop_end l.0.m; step_end l.1.m.0.a; loop_end l; "
serve < <(calls c1 exit_loop '{"loop":"l"}')
check "exit_loop without it" 0 "[1,false]" "$RONDO" run -q --store f.db flag.yaml
same "is none" "$(flags)" ""

# offers NAME TOOLS SYSTEM: those for loops that the model with this system text was offered
offers() { same "$1" "$(jq -sr --arg s "$3" '[.[].body | fromjson | select(.messages[0].content | startswith($s))][0].tools // [] |
                        [.[].function.name | select(test("_loop$"))] | join(" ")' log)" "$2"; }
offered() { # NAME TOOLS STEPS...: in a loop whose model is told "p"
    printf '%s\n' "rondo: 1" "name: offered" "agents:" "  w: { prompt: p, model: compat/m${keys:-} }" "  s: { script: [x] }" "steps: $3" >offered.yaml
    serve < <(calls c1 exit_loop '{}'; then_; text "ok")
    "$RONDO" run -q --timeout 20s --max-turns 3 offered.yaml >out 2>err
    offers "$1" "$2" p
}
one="steps: [{ id: a, agent: w, instructions: x }]"
offered "a cap is an end" "" "[{ id: l, loop: { maxIterations: 2, $one } }]"
offered "nothing but the body can end it" "exit_loop continue_loop" "[{ id: l, loop: { unbounded: true, $one } }]"
offered "a step that repeats itself" "exit_loop continue_loop" "[{ id: l, agent: w, instructions: x, loop: { unbounded: true } }]"
offered "a loop further out" "exit_loop continue_loop" "[{ id: o, loop: { unbounded: true, steps: [{ id: l, loop: { maxIterations: 1, $one } }] } }]"
offered "a condition is an end" "" "[{ id: l, loop: { unbounded: true, until: 'iteration > 0', $one } }]"
offered "a budget is an end" "" "[{ id: l, loop: { unbounded: true, budget: { calls: 2 }, $one } }]"
offered "items are an end" "" "[{ id: l, loop: { forEach: [1], $one } }]"
offered "outside of loops" "" "[{ id: a, agent: w, instructions: x }]"
offered "no way out of a machine" "exit_loop continue_loop" \
    "[{ id: m, machine: { start: a, states: { a: { agent: w }, b: { agent: s } }, edges: [{ from: a, to: b }, { from: b, to: a }], maxSteps: 3 } }]"
offered "a way out of a machine" "" "[{ id: m, machine: { start: a, states: { a: { agent: w } }, edges: [{ from: a, to: end }] } }]"
keys=", tools: [exit_loop]"
offered "one that is listed" "exit_loop" "[{ id: l, loop: { maxIterations: 2, $one } }]"
offered "for items" "exit_loop" "[{ id: l, loop: { forEach: [1], $one } }]"
offered "where there is no loop" "" "[{ id: a, agent: w, instructions: x }]"
keys=", disallowedTools: [continue_loop]"
offered "one that is taken away" "exit_loop" "[{ id: l, loop: { unbounded: true, $one } }]"
keys=", disallowedTools: [exit_loop]"
offered "with nothing to end it" "" "[{ id: l, loop: { unbounded: true, $one } }]"
says "nothing can end this loop"

# Those who judge, score and review never have them; nor has anybody in v1.
flow verdicts.yaml <<'F'
name: verdicts
agents:
  w: { prompt: w, model: compat/m, tools: [] }
  j: { prompt: j, model: compat/m, tools: [exit_loop], resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } }
  s: { prompt: s, model: compat/m, tools: [exit_loop], resultSchema: { type: object, required: [score], properties: { score: { type: number } } } }
  r: { prompt: r, model: compat/m, tools: [exit_loop] }
steps:
  - id: l
    loop: { unbounded: true, untilAgent: j, scoreAgent: s, steps: [{ id: a, agent: w, instructions: x, review: { agent: r } }] }
F
serve < <(text "ok"; then_; text "APPROVE"; then_; calls c1 submit_result '{"score":1}'; then_; calls c2 submit_result '{"done":true}')
check "judge, scorer, reviewer" 0 "ok" "$RONDO" run -q verdicts.yaml
for who in w j s r; do offers "$who has none" "" $who; done
same "each was asked" "$(jq -sr '[.[].body | fromjson | .messages[0].content[0:1]] | join("")' log)" wrsj
sed -i 's/unbounded: true, untilAgent: j, //; s/loop: { scoreAgent/loop: { unbounded: true, scoreAgent/' verdicts.yaml
serve < <(text "ok"; then_; text "APPROVE"; then_; calls c1 submit_result '{"score":1}'; then_; calls c2 exit_loop '{}')
"$RONDO" run -q verdicts.yaml >out 2>err
offers "the body has them" "exit_loop continue_loop" w
for who in s r; do offers "$who has none" "" $who; done
cat >v1.yaml <<'F'
name: v1
agents: { w: { description: d, prompt: p, tools: [] } }
steps: [{ id: l, loop: { maxIterations: 2, steps: [{ id: a, agent: w, instructions: x }] } }]
F
serve < <(calls c1 exit_loop '{}'; then_; text "ok")
check "v1" 0 "ok" "$RONDO" run -q -m compat/m v1.yaml
offers "has none" "" p
same "who calls one is told" "$(asked 1 '.messages[-1].content')" "error: there is no tool 'exit_loop'; there are none"

sed 's/tools: \[\]/tools: [exit_loop]/' v1.yaml >v1_lists.yaml
check "nor may it list them" 3 "" "$RONDO" run -q -m compat/m v1_lists.yaml
says "nobody offers the tool 'exit_loop'"

# A run of an older version, which gave them to everybody: killed behind a call of exit_loop, beside another one.
"$RONDO" import --store old.db "$ROOT/tests/cli/exit_loop.rondo" >old 2>err
serve < <(text never)
"$RONDO" resume -q --workdir . --store old.db "$(cat old)" >out 2>err # asks what came of the other one
"$RONDO" answer --store old.db "$(cat old)" l.0.s.permit-1 '"skip"' >out 2>err
"$RONDO" resume --json --workdir . --store old.db "$(cat old)" >out 2>err
same "its exit counts" "$?:$(jq -r 'select(.type == "loop_end").data | "\(.reason) \(.passes)"' out)" "0:break 1"
same "and nobody is asked again" "$(requests)" 0
check "replay" 0 "" "$RONDO" replay -q --store old.db "$(cat old)"

# ---- what agents share --------------------------------------------------------------------------------------
flow shared.yaml <<'F'
name: shared
options: { sharedMemory: true }
agents: { a: { prompt: p, model: compat/m }, b: { prompt: p, model: compat/m } }
steps: [{ id: one, agent: a, instructions: x }, { id: two, agent: b, instructions: x, dependsOn: [one] }]
F
serve < <(calls c1 shared_memory_write '{"key":"colour","value":"blue"}'; then_; text "Put."; then_
          calls c2 shared_memory_read '{"key":"a/colour"}' c3 shared_memory_read '{"key":"a/none"}'; then_; text "Blue.")
check "shared memory" 0 "Blue." "$RONDO" run -q shared.yaml
same "is read by others" "$(asked 3 '[.messages[] | select(.role=="tool").content] | join("|")')" "blue|error: there is nothing under 'a/none'"

# ---- skills (KT-92), notes, pictures ---------------------------------------------------------------------------------
mkdir -p skills/tea/references
printf -- '---\nname: tea\ndescription: How to make tea.\n---\nBoil water. See references/leaves.md.\n' >skills/tea/SKILL.md
echo "Three minutes." >skills/tea/references/leaves.md
echo "Be brief." >AGENTS.md
printf '\x89PNG' >cup.png
flow skills.yaml <<'F'
name: skills
agents: { w: { prompt: "You cook.", model: compat/m, tools: [], skills: [skills/tea], projectNotes: true } }
steps: [{ id: a, agent: w, instructions: "Tea, please.", contextFiles: [cup.png, tea.txt] }]
F
serve < <(calls c1 skill '{"name":"tea"}' c2 skill '{"name":"tea","file":"references/leaves.md"}' c3 skill '{"name":"tea","file":"../../AGENTS.md"}'
          then_; text "Here you are.")
check "skills" 0 "Here you are." "$RONDO" run -q skills.yaml
same "are named first" "$(asked 0 '.messages[0].content')" "$(printf 'You cook.\n\n## Skills\n\nWhen one of these fits your task, call `skill` with its name and follow what it says.\n\n- tea: How to make tea.\n\n## Project Notes (AGENTS.md)\n\nBe brief.')"
same "their text comes when it is asked for" "$(asked 1 '.messages[] | select(.tool_call_id=="c1").content')" "Boil water. See references/leaves.md."
same "as do their files" "$(asked 1 '.messages[] | select(.tool_call_id=="c2").content')" "Three minutes."
same "but no others" "$(asked 1 '.messages[] | select(.tool_call_id=="c3").content' | grep -c '^error: ')" 1
same "a picture goes along" "$(asked 0 '.messages[1].content[1].image_url.url')" "data:image/png;base64,iVBORw=="
same "and a text is shown" "$(asked 0 '.messages[1].content[0].text' | grep -c 'the secret of tea')" 1
head -c 70000 /dev/zero | tr '\0' x >AGENTS.md
check "notes that are too long" 1 "" "$RONDO" run -q skills.yaml
says "projectNotes: AGENTS.md: larger than"
rm AGENTS.md
flow general.yaml <<'F'
name: general
agents: { w: { prompt: p, model: compat/m } }
steps: [{ id: a, agent: w, instructions: x }]
F
serve < <(calls c1 bash '{"command":"echo hi"}' c2 bash '{"command":"touch no"}'; then_; text "Done.")
check "an agent without tools" 0 "Done." "$RONDO" run -q --strict --allow 'bash(echo *),read' general.yaml
same "has what is allowed" "$(asked 0 '[.tools[].function.name] | join(" ")') $(asked 1 '.messages[] | select(.tool_call_id=="c1").content' | head -1)" "read bash hi"
same "also in part" "$(ls no 2>/dev/null)" ""

# ZF-B34: what is denied is not written in another way.
touch victim
serve < <(calls c1 bash '{"command":"rm\t-f victim"}' c2 bash "{\"command\":\"'rm' -f victim\"}" c3 bash '{"command":"/bin/rm -f victim"}' \
                c4 bash '{"command":"A=1 rm -f victim"}' c5 bash '{"command":"time rm -f victim"}' c6 bash '{"command":"echo kept"}'; then_; text "Done.")
check "denied commands" 0 "Done." "$RONDO" run -q --yolo --deny 'bash(rm *)' general.yaml
same "none of them is run" "$(ls victim) $(asked 1 '[.messages[] | select(.role=="tool").content | test("not permitted")] | map(if . then "no" else "yes" end) | join(" ")')" \
    "victim no no no no no yes"

# A redirect leads where nothing is allowed.
flow fetches.yaml <<'F'
name: fetches
agents: { w: { prompt: p, model: compat/m, tools: [fetch] } }
steps: [{ id: a, agent: w, instructions: x }]
F
redirected() {
    serve < <(calls c1 fetch '{"url":"http://127.0.0.1:${port}/a"}'; then_; text "Done."
              printf 'GET /a\nstatus 302\nheader Location: /b\nheader Content-Type: text/plain\nGET /b\nheader Content-Type: text/plain\nfill 9 b\n')
}
redirected
check "a redirect" 0 "Done." "$RONDO" run -q --local-network --strict --allow 'fetch(http://127.0.0.1:*/a)' fetches.yaml
same "is not followed where URLs are listed" "$(jq -r .target log | grep -c /b) $(jq -rs '.[-1].body' log | grep -c 'leads to .*/b')" "0 1"
redirected
check "elsewhere" 0 "Done." "$RONDO" run -q --local-network --strict --allow fetch fetches.yaml
same "it is" "$(jq -r .target log | grep -c /b) $(jq -rs '.[-1].body' log | grep -c bbbbbbbbb)" "1 1"

# ---- Zenflow's files ------------------------------------------------------------------------------------------
cat >v1.yaml <<'F'
name: old
agents: { w: { description: "A clerk.", model: compat/m, tools: [read] } }
steps: [{ id: a, agent: w, instructions: "Say." }]
F
serve < <(jq -nc '{content: "First. ", tool_calls: [{id: "c1", type: "function", function: {name: "read", arguments: "{\"path\":\"tea.txt\"}"}}]}' | wrap
          then_; text "Second.")
check "the content is that of all turns" 0 "First. Second." "$RONDO" run -q --yolo v1.yaml
same "the description is the system text" "$(asked 0 '.messages[0].content')" "A clerk."

# ---- budgets -----------------------------------------------------------------------------------------------
serve < <(for i in 1 2 3 4 5 6 7 8 9; do calls c$i read '{"path":"tea.txt"}'; then_; done; text never)
"$RONDO" run -q --yolo --max-tokens 4500 tools.yaml >out 2>err
same "a budget ends it" "$?" 4
same "with fewer requests" "$([ "$(requests)" -lt 9 ] && echo yes)" yes
last=$(($(requests) - 1))
same "the model is told that it is the last one" "$(asked $last '.messages[-1].content' | grep -c 'your last turn')" 1
same "and has no tools any more" "$(asked $last '.tools')" null
serve < <(calls c1 read '{"path":"tea.txt"}'; then_; text "As far as I know: tea.")
{ cat tools.yaml; echo "budget: { calls: 2 }"; } >few.yaml
"$RONDO" run -q --yolo few.yaml >out 2>err
same "with what it has" "$? $(cat out)" "4 As far as I know: tea."
serve < <(text "At once.")
check "one that is through at once needs no more" 0 "At once." "$RONDO" run -q --yolo --max-tokens 2600 tools.yaml
flow priced.yaml <<'F'
name: priced
models: { m: { provider: compat, model: m, price: { input: 1000, output: 1000 } } }
agents: { w: { prompt: p, model: m, maxTokens: 100 } }
steps: [{ id: a, agent: w, instructions: x }]
F
serve < <(text "Hello.")
check "money" 0 "Hello." "$RONDO" run -q --max-cost 1 priced.yaml
check "too little money" 4 "" "$RONDO" run -q --max-cost 0.0001 priced.yaml
check "no price" 3 "" "$RONDO" run -q --require-prices one.yaml
says "price"

# ---- ZF-E19: maxRetries: the step, the file, the command line, 4 ------------------------------------------------------
retries() { # NAME REQUESTS DIALECT OPTIONS STEP OPTIONS...
    local name=$1 wanted=$2
    printf '%sname: r\noptions: { onStepFailure: abort%s }\nagents: { w: { description: d, prompt: p } }\nsteps: [{ id: a, agent: w, instructions: x%s }]\n' \
        "$3" "$4" "$5" >retries.yaml
    serve < <(echo "status 503"; echo "header retry-after-ms: 1"; echo "send busy")
    "$RONDO" run -q -m compat/m "${@:6}" retries.yaml >out 2>err
    same "maxRetries: $name" "$?:$(requests)" "75:$wanted"
}
for dialect in "" 'rondo: 1\n'; do
    dialect=$(printf "${dialect}x") dialect=${dialect%x}
    retries "the step" 1 "$dialect" ", maxRetries: 2" ", maxRetries: 0" --max-retries 3
    retries "the file" 2 "$dialect" ", maxRetries: 1" "" --max-retries 3
    retries "the command line" 3 "$dialect" "" "" --max-retries 2
    retries "nobody" 5 "$dialect" "" ""
done

# ---- provider down -----------------------------------------------------------------------------------------
stop; unset SERVER_PID
check "nobody there" 75 "" "$RONDO" run -q --max-retries 0 one.yaml

# ---- a quota -----------------------------------------------------------------------------------------------
flow quota.yaml <<'F'
name: quota
models: { m: { provider: compat, model: m, onQuota: wait } }
agents: { w: { prompt: p, model: m } }
steps: [{ id: a, agent: w, instructions: x }]
F
serve < <(printf 'status 429\nheader Retry-After: 3600\nsend {"error":{"message":"used up"}}\n')
check "a quota that is not waited for" 75 "" "$RONDO" run -q one.yaml
"$RONDO" run --json --store :memory: quota.yaml >out 2>err & pid=$!
wait_for out '"wait":1'
kill -INT $pid; wait $pid
same "one that is" "$?" 130
cat >place.yaml <<'F'
rondo: 1
name: place
options: { maxConcurrency: 1 }
models: { m: { provider: compat, model: m, onQuota: wait } }
agents: { w: { prompt: p, model: m }, c: { run: "touch other; echo did" } }
steps: [{ id: a, agent: w, instructions: x }, { id: b, agent: c, instructions: x }]
F
same "until when" "$(jq -r 'select(.type=="note").data.value.wait > (now + 3500) * 1000' out)" true

rm -f other
"$RONDO" run --store quota.db place.yaml >out 2>err </dev/null & pid=$!
for _ in $(seq 500); do [ -f other ] && break; sleep 0.02; done
same "who waits takes no place" "$(ls other)" other
kill -9 $pid; wait $pid 2>/dev/null
id=$("$RONDO" runs --store quota.db --json | jq -r .id | head -1)
before=$(requests)
"$RONDO" resume --json --store quota.db "$id" >out 2>err </dev/null & pid=$!
wait_for out run_resumed
sleep 0.3
kill -INT $pid; wait $pid
same "and goes on waiting when it is taken up again" "$? $(requests)" "130 $before"

# ---- KT-92: skills ------------------------------------------------------------------------------------------------
flow skills.yaml <<'F'
name: skills
agents:
  w:
    prompt: "In general."
    model: compat/m
    skills:
      count: { description: "Counts words.", prompt: "You count.", resultSchema: { type: integer } }
      translate: { description: "Puts texts into French.", prompt: "You translate." }
      add: { description: "Adds numbers.", inputSchema: { type: array } }
steps: [{ id: a, agent: w, instructions: "How many words has tea time?" }]
output: steps.a.result
F
serve < <(text ' "count".'; then_; calls c1 submit_result '{"result":2}'; then_; text never)
check "the model chooses a skill" 0 2 "$RONDO" run -q skills.yaml
same "of those that fit, by what they are good for" "$(asked 0 '.messages[0].content' | grep -c -e '^## translate' -e '^Counts words' -e 'Adds')" 2
same "and the task" "$(asked 0 '.messages[1].content' | tail -1)" "How many words has tea time?"
same "without tools" "$(asked 0 'has("tools")')" false
same "and has what it chose" "$(asked 1 '.messages[0].content') $(asked 1 '[.tools[].function.name] | join(" ")')" "You count. submit_result"
same "in two requests" "$(requests)" 2
serve < <(text "translate"; then_; text "Bonjour.")
"$RONDO" run --json --store :memory: skills.yaml >out 2>err
same "another one" "$(jq -r 'select(.type=="note" and .data.value.skill) | .data.value.skill' out) $(asked 1 '.messages[0].content')" "translate You translate."
serve < <(text "add")
check "a skill that does not fit" 1 "" "$RONDO" run -q skills.yaml
says "the skills are: count, translate"
same "is asked for once" "$(requests)" 1
serve < <(text "count"; then_; echo "wait 600000"; then_; calls c1 submit_result '{"result":5}'; then_; text never)
sed -i '/^wait/{n;d}' script
"$RONDO" run -q --store skills.db skills.yaml >out 2>err & pid=$!
for _ in $(seq 500); do [ "$(requests)" -ge 2 ] && break; sleep 0.02; done
kill -9 $pid; wait $pid 2>/dev/null
id=$("$RONDO" runs --store skills.db --json | jq -r .id | head -1)
check "a choice is not made twice" 0 5 "$RONDO" resume -q --store skills.db "$id"
same "nor asked for" "$(requests)" 3
"$RONDO" rehearse -q skills.yaml >out 2>err
same "a rehearsal takes the first that fits" "$? $(grep -c "^[0-9]" out)" "0 1"

# ---- agents of agents --------------------------------------------------------------------------------------
serve < <(calls c1 agent '{"name":"helper","instructions":"Count."}'; then_; text "Three."; then_; text "It is three.")
check "rondo agent" 0 "It is three." "$RONDO" agent -q -m compat/m 'How many?'
same "the child knows only its task" "$(asked 1 '[.messages[] | .content] | join("|")')" "Count."
same "and answers its parent" "$(asked 2 '.messages[-1].content')" "Three."
serve < <(text "Fine.")
echo "piped text" | "$RONDO" agent -q -m compat/m 'Read this.' >out 2>err
same "what is piped in" "$(asked 0 '.messages[-1].content' | tail -1)" "piped text"
same "the answer" "$(cat out)" "Fine."

serve < <(text "Fine.")
# refused WHAT WANTED COMMAND...: before anything is asked, naming what is wrong
refused() {
    local name=$1 wanted=$2
    shift 2
    "$@" >out 2>err
    same "$name" "$?" 3
    says "$wanted"
}
refused "piped NUL" "standard input: byte 2 is NUL" "$RONDO" agent -m compat/m x < <(printf 'a\0b')
refused "piped overrides" "standard input: byte 2 begins a character that changes the direction" "$RONDO" agent -m compat/m x < <(printf 'a\xe2\x80\xaeb')
refused "piped bytes" "standard input: the text is not UTF-8" "$RONDO" agent -m compat/m x < <(printf 'a\xff')
refused "typed overrides" "the command line: byte 2 begins" "$RONDO" agent -m compat/m $'a\xe2\x80\xaeb' </dev/null
refused "a system text" "--system: byte 1 begins" "$RONDO" agent --system $'\xe2\x80\xae' -m compat/m x </dev/null
while read -r wanted servers; do
    printf '{"mcpServers":%s}' "$servers" >bad.json
    refused "$servers" "${wanted//_/ }" "$RONDO" agent --mcp bad.json -m compat/m x </dev/null
done <<'L'
bad.json:_`command`_has_to_be_text {"s":{"command":[5]}}
bad.json:_the_server_'s'_needs_either {"s":{"type":"http"}}
'/no/such/program'_not_found {"s":{"command":"/no/such/program"}}
'no-such-program'_not_found {"s":{"command":"no-such-program"}}
the_variable_'NOSUCH'_is_not_set {"s":{"command":"sh","env":{"A":"env:NOSUCH"}}}
the_variable_'NOSUCH'_is_not_set {"s":{"url":"http://127.0.0.1:1/","headers":{"A":"Bearer env:NOSUCH"}}}
bad.json:_`url`_has_to_begin {"s":{"url":"ftp://x"}}
L
check "a prompt that looks like a file" 0 "Fine." "$RONDO" agent -q -m compat/m '@tea.txt and ${holes}'
same "is none" "$(asked 0 '.messages[-1].content' | tail -1)" '@tea.txt and ${holes}'

# ---- killed ------------------------------------------------------------------------------------------------
serve < <(calls c1 bash '{"command":"echo once >>did; echo ok"}'; then_; calls c2 read '{"path":"tea.txt"}'; then_
          echo "wait 600000"; then_; text "Done.")
sed -i '/^wait/{n;d}' script
"$RONDO" run -q --yolo --store st.db tools.yaml >out 2>err & pid=$!
for _ in $(seq 500); do [ "$(requests)" -ge 3 ] && break; sleep 0.02; done
kill -9 $pid; wait $pid 2>/dev/null
id=$("$RONDO" runs --store st.db --json | jq -r .id | head -1)
check "goes on in the third turn" 0 "Done." "$RONDO" resume -q --yolo --store st.db "$id"
same "nothing was asked twice but what had no answer" "$(requests)" 4
same "nothing was done twice" "$(wc -l <did)" 1
same "with all that was said" "$(asked 3 '[.messages[] | .role] | join(" ")')" "system user assistant tool assistant tool"

# Stopped by a signal or cancelled it is no worse off; of a command that was cut nobody knows.
for how in "kill -INT" "kill -TERM" cancel; do
    rm -f did st.db*
    serve < <(calls c1 bash '{"command":"echo once >>did; echo ok"}'; then_; calls c2 read '{"path":"tea.txt"}'; then_
              echo "wait 600000"; then_; text "Done.")
    sed -i '/^wait/{n;d}' script
    "$RONDO" run -q --yolo --store st.db tools.yaml >out 2>err & pid=$!
    for _ in $(seq 500); do [ "$(requests)" -ge 3 ] && break; sleep 0.02; done
    id=$("$RONDO" runs --store st.db --json | jq -r .id | head -1)
    if [ "$how" = cancel ]; then "$RONDO" cancel --store st.db "$id" >/dev/null 2>&1; else $how $pid; fi
    wait $pid 2>/dev/null
    check "$how: goes on in the third turn" 0 "Done." "$RONDO" resume -q --yolo --store st.db "$id"
    same "$how: nothing twice" "$(requests) $(wc -l <did)" "4 1"
    same "$how: all that was said" "$(asked 3 '[.messages[] | .role] | join(" ")')" "system user assistant tool assistant tool"
    "$RONDO" replay --store st.db "$id" >/dev/null 2>err
    same "$how: the same follows from its log" "$?" 0
done
rm -f did st.db*
serve < <(calls c1 bash '{"command":"echo once >>did; sleep 600"}'; then_; text "Done.")
"$RONDO" run -q --yolo --store st.db tools.yaml >out 2>err & pid=$!
for _ in $(seq 500); do [ -s did ] && break; sleep 0.02; done
kill -INT $pid; wait $pid 2>/dev/null
id=$("$RONDO" runs --store st.db --json | jq -r .id | head -1)
check "people are asked" 5 "" "$RONDO" resume -q --yolo --store st.db "$id"
same "before it is done again" "$(requests) $(wc -l <did)" "1 1"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
