#!/bin/bash
# coordinator.sh - coordinators of the command line, their tools, and steps that they cancel.
. "$ROOT/tests/cli/talk_server"

command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export NO_COLOR=1
first_run() { "$RONDO" runs --store "$1" --json | jq -r 'if type == "array" then .[0] else . end | .id'; }
ends() { jq -r 'select(.type | test("^step_(end|cancelled|skipped)|^error$")) | select(.stepId and .stepId != "coordinator") | "\(.type) \(.stepId)"' out | sort | tr '\n' ';'; }

# ---- --coordinator -------------------------------------------------------------------------------------------
flow plain.yaml <<'F'
name: plain
agents: { c: { run: "if [ -e fail ]; then exit 1; fi; echo did" } }
steps:
  - { id: one, agent: c }
  - { id: two, agent: c, dependsOn: [one] }
F
cat >script.yaml <<'S'
coordinator: [ { messages: [ { to: two, text: "be quick" } ] }, { narrate: "half of it" }, { finalize: "all of it" } ]
S
"$RONDO" rehearse -q --json --coordinator compat/m --script script.yaml plain.yaml >out 2>err
same "rehearsed: it wakes up, says its lines, and sums up" "$(jq -r 'select(.type=="workflow_end").data.summary' out)" "all of it"
same "its messages arrive" "$(jq -r 'select(.type=="agent_inbox_drain" and .stepId=="two").data.text' out)" "be quick"
same "it narrates once" "$(jq -r 'select(.type=="coordinator_narration").message' out)" "half of it"

touch fail
serve < <(for i in 1 2 3 4; do text "Waiting."; then_; done; text "Waiting.")
"$RONDO" run -q --json --store c.db --coordinator compat/m plain.yaml >out 2>err
same "fails" "$?" 1
same "it was told what it is for" "$(asked 0 '.messages[0].content' | grep -c 'Coordinate this workflow')" 1
same "and has its four tools" "$(asked 0 '[.tools[].function.name] | join(" ")')" "forward_to_agent cancel_step narrate finalize"
same "its tokens count" "$(jq -r 'select(.type=="workflow_end").tokens.completion' out)" "$((10 * $(requests)))"
first=$(requests)
rm fail
serve < <(for i in 1 2 3 4; do calls c$i finalize '{"summary":"after all"}'; then_; done; text "Done.")
"$RONDO" resume -q --json --store c.db "$(first_run c.db)" >out 2>err
same "resumed" "$?" 0
same "it is there again, with what it remembers" "$(asked 0 '[.messages[].content | select(. == "Waiting.")] | length > 0')" true
same "and has the last word" "$(jq -r 'select(.type=="workflow_end").data.summary' out)" "after all"
same "what it spent counts, before and after" "$("$RONDO" show --store c.db --json "$(first_run c.db)" |
    jq -r '"\(.about.usage.completion) \(.steps[] | select(.path == "coordinator") | .status + " " + (.usage.completion | tostring))"')" \
    "$((10 * (first + $(requests)))) completed $((10 * (first + $(requests))))"
check "replay" 0 "" "$RONDO" replay -q --store c.db "$(first_run c.db)"
"$RONDO" run -q --store d.db plain.yaml >/dev/null 2>&1
check "a run without one gets none later" 3 "" "$RONDO" resume --store d.db --coordinator compat/m "$(first_run d.db)"
says "was started without a coordinator"

flow scripted.yaml <<'F'
name: scripted
agents: { hub: { script: [ {} ] } }
coordinator: { agent: hub }
steps: [ { id: one, agent: hub } ]
F
check "who is no model gets none" 2 "" "$RONDO" run --coordinator compat/m scripted.yaml
says "4:23: error[validation]: the agent 'hub' coordinates and is a script: --coordinator has no model to replace"

# ---- its tools ---------------------------------------------------------------------------------------------------
flow few.yaml <<'F'
name: few
agents: { c: { run: "echo did" }, hub: { prompt: "You watch.", model: compat/other, tools: [] } }
coordinator: { agent: hub, tools: [narrate] }
steps: [ { id: one, agent: c } ]
F
serve < <(for i in 1 2 3; do text "Fine."; then_; done; text "Fine.")
"$RONDO" run -q --json few.yaml >out 2>err
same "only those that are listed" "$(asked 0 '[.tools[].function.name] | join(" ")')" "narrate"
serve < <(for i in 1 2 3; do text "Fine."; then_; done; text "Fine.")
"$RONDO" run -q --json --coordinator compat/m few.yaml >out 2>err
same "the command line names another model" "$(asked 0 .model)" "m"
same "for the same agent" "$(asked 0 '.messages[0].content')" "You watch."
sed 's/\[narrate\]/[narate]/' few.yaml >wrong.yaml
check "a tool that there is not" 2 "" "$RONDO" check wrong.yaml
says "a coordinator has no tool 'narate'"

# What is wrong with their arguments is said.
flow watch.yaml <<'F'
name: watch
agents: { c: { run: "sleep 0.3; echo did" }, hub: { prompt: "You watch.", model: compat/m, tools: [], maxTurns: 2 } }
coordinator: { agent: hub }
steps: [ { id: one, agent: c }, { id: two, agent: c, dependsOn: [one] } ]
F
told() { asked "$1" ".messages[] | select(.tool_call_id==\"$2\").content"; }
serve < <(calls c1 forward_to_agent '{"target_step_id":"two","text":"x","kind":"loud"}' c2 forward_to_agent '{"target_step_id":"","text":"x"}'; then_
          text "Fine.")
"$RONDO" run -q --json watch.yaml >out 2>err
same "a kind that there is not" "$(told 1 c1 | grep -c 'kind: expected one of "info", "context_update", "cancel"')" 1
same "no address" "$(told 1 c2)" "error: a message needs an address and a text"

# Each wake is a new beginning with the old memories: the last may have been called off, or have used up its turns.
serve < <(calls c1 cancel_step '{"step":"coordinator"}'; then_; text "Fine."; then_; text "Fine."; then_; calls c2 finalize '{"summary":"seen"}'; then_; text "Fine.")
"$RONDO" run -q --json watch.yaml >out 2>err
same "who calls itself off hears the rest" "$?:$(jq -r 'select(.type=="workflow_end").data.summary' out)" "0:seen"
serve < <(for i in 1 2 3 4 5 6; do calls c$i narrate "{\"text\":\"word $i\"}"; then_; done; text "Fine.")
"$RONDO" run -q --json watch.yaml >out 2>err
same "maxTurns is for one wake" "$(requests):$(jq -s '[.[] | select(.type=="agent_wake")] | length' out)" 6:3

# What reads no messages, and judges of passes that are over.
flow loop.yaml <<'F'
name: loop
agents:
  w: { script: [ { content: one, messages: [ { to: again, text: x } ] }, { content: two, messages: [ { to: again.0.judge, text: late } ] } ] }
  j: { script: [ { result: { done: false } }, { result: { done: true } } ], resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } }
steps: [ { id: again, loop: { maxIterations: 3, untilAgent: j, steps: [ { id: w, agent: w } ] } } ]
F
"$RONDO" run -q --json loop.yaml >out 2>err
same "the next pass of a loop hears it, and its judge does not" "$(jq -r 'select(.type=="agent_inbox_drain") | "\(.path) \(.data.pass)"' out)" "again 1"
same "who sends to a judge that is through is told at once" \
     "$(jq -r 'select(.type | test("dropped|step_end")) | .stepId' out | grep -A1 '^again.1.w' | tail -1)" "again.0.judge"

# A step that talks like a coordinator is none.
flow claims.yaml <<'F'
name: claims
agents: { one: { script: [ { content: did, narrate: "I lead", finalize: "I am done" } ] } }
steps: [ { id: one, agent: one } ]
F
"$RONDO" run -q --json claims.yaml >out 2>err
same "its words are no coordinator's" "$(jq -r 'select(.type | test("^coordinator_")).type' out)" ""

# ---- cancelling --------------------------------------------------------------------------------------------------
flow stop.yaml <<'F'
name: stop
agents:
  hub: { script: [ { cancel: [slow] }, {} ] }
  slow: { run: "trap 'echo told >told; exit' TERM; echo $$ >pid; sleep 60 & wait" }
  quick: { run: "echo quick" }
coordinator: { agent: hub }
steps:
  - { id: slow, agent: slow }
  - { id: other, agent: quick }
  - { id: after, agent: quick, dependsOn: [slow] }
  - { id: always, agent: quick, dependsOn: [slow, other], runOn: always }
F
"$RONDO" run -q --json --store s.db stop.yaml >out 2>err
same "a command is cut, and the others go on" "$?:$(ends)" "0:step_cancelled slow;step_end always;step_end other;step_skipped after;"
same "the coordinator is told" "$(jq -r 'select(.type=="coordinator_inbox_message" and .data.from=="slow").data.text' out | tail -1)" "step slow was cancelled"
check "replay" 0 "" "$RONDO" replay -q --store s.db "$(first_run s.db)"

# A model hears it behind its calls, and ends by itself.
flow hear.yaml <<'F'
name: hear
agents:
  hub: { script: [ {}, { cancel: [w] }, {} ] }
  w: { prompt: "You work.", model: compat/m, tools: [bash] }
  quick: { run: "sleep 0.3; echo quick" }
coordinator: { agent: hub }
steps: [ { id: w, agent: w, instructions: "Work." }, { id: other, agent: quick } ]
output: "steps.w.content"
F
serve < <(calls c1 bash '{"command":"sleep 1"}'; then_; text "Never.")
check "a model ends at its next boundary" 0 "cancelled" "$RONDO" run -q --yolo hear.yaml
same "and is not asked again" "$(requests)" 1

# Members of a forum that were cut have not answered.
flow forum.yaml <<'F'
name: forum
agents:
  hub: { script: [ { cancel: [decide.r1.slow] }, {} ] }
  quick: { script: [yes] }
  slow: { run: "sleep 60" }
coordinator: { agent: hub }
steps: [ { id: decide, instructions: Well?, forum: { members: [quick, slow], captain: quick, quorum: 2 } } ]
F
"$RONDO" run -q --json forum.yaml >out 2>err
same "a forum without its quorum fails" "$?:$(ends)" "1:error decide;step_cancelled decide.r1.slow;step_end decide.r1.quick;"
sed -i 's/quorum: 2/quorum: 1/' forum.yaml
"$RONDO" run -q --json forum.yaml >out 2>err
same "and goes on with it" "$?:$(ends)" "0:step_cancelled decide.r1.slow;step_end decide;step_end decide.captain;step_end decide.r1.quick;"

# ---- a budget that is used up ------------------------------------------------------------------------------------
flow broke.yaml <<'F'
name: broke
budget: { calls: 1 }
agents: { hub: { prompt: "You watch.", model: compat/m, tools: [] }, c: { run: "sleep 0.2; echo did" } }
coordinator: { agent: hub }
steps: [ { id: one, agent: c }, { id: two, agent: c, dependsOn: [one] } ]
F
serve < <(text "Fine.")
"$RONDO" run -q --json broke.yaml >out 2>err
same "it ends the run" "$?:$(ends)" "4:step_end one;step_skipped two;"
same "which does not wait for a coordinator that rests" "$(jq -r 'select(.type=="timer").type' out)" ""

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
