#!/bin/bash
# talk_mail.sh - model agents that send and hear messages, against a server that answers by a script.
. "$ROOT/tests/cli/talk_server"

command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
kinds() { jq -r "select(.type | test(\"message_|drain|wake|idle\")) | \"\(.type) \(.data.to // .data.cycle // \"\") \(.data.reason // \"\")\"" out | sed 's/ *$//'; }

# ---- before the first request, and a message to a later step -----------------------------------------------
flow relay.yaml <<'F'
name: relay
agents:
  boss: { script: [{ content: go, messages: [{ to: w, text: one }, { to: w, text: two }] }] }
  w: { prompt: "You work.", model: compat/m, tools: [send_message] }
  reader: { run: "cat $RONDO_INBOX" }
steps:
  - { id: boss, agent: boss }
  - { id: w, agent: w, instructions: "Work.", dependsOn: [boss] }
  - { id: later, agent: reader, dependsOn: [w] }
F
serve < <(calls c1 send_message '{"to":"later","text":"hi"}' c2 send_message '{"to":"lader","text":"hi"}' c3 send_message '{"text":"hi"}'
          then_; text "Done.")
check "relay" 0 '{"from":"w","to":"later","text":"hi","kind":"info"}' "$RONDO" run -q relay.yaml
same "what waited is heard first" "$(asked 0 '[.messages[2:][].content] | join("|")')" "[boss]: one|[boss]: two"
same "queued" "$(asked 1 '.messages[] | select(.tool_call_id=="c1").content')" "queued"
same "dropped" "$(asked 1 '.messages[] | select(.tool_call_id=="c2").content')" "dropped: unknown-step: there is no such step; at work: w"
same "without a coordinator there has to be an address" "$(asked 1 '.messages[] | select(.tool_call_id=="c3").content' | grep -c error)" 1

# ---- to a loop: the next pass hears it, before its first request ------------------------------------------------
flow again.yaml <<'F'
name: again
agents:
  boss: { script: [{ content: go, messages: [{ to: again, text: more }] }, go] }
  w: { prompt: "You work.", model: compat/m, tools: [] }
steps:
  - id: again
    loop: { maxIterations: 2, steps: [ { id: w, agent: w, instructions: "Work." }, { id: boss, agent: boss, dependsOn: [w] } ] }
F
serve < <(text "One."; then_; text "Two.")
check "a loop of a model" 0 "go" "$RONDO" run -q again.yaml
same "the first pass hears nothing" "$(asked 0 '[.messages[2:][].content] | join("|")')" ""
same "the second one does" "$(asked 1 '[.messages[2:][].content] | join("|")')" "[again.0.boss]: more"

# ---- after a batch --------------------------------------------------------------------------------------------
flow batch.yaml <<'F'
name: batch
agents:
  w: { prompt: "You work.", model: compat/m, tools: [read] }
  late: { script: [{ content: sent, delay: 300ms, messages: [{ to: w, text: "look" }, { to: w, text: "there" }] }] }
steps:
  - { id: w, agent: w, instructions: "Work." }
  - { id: late, agent: late }
output: "steps.w.content"
F
echo tea >tea.txt
serve < <(echo "wait 2000"; calls c1 read '{"path":"tea.txt"}'; then_; text "Done.")
check "after a batch" 0 "Done." "$RONDO" run -q --yolo batch.yaml
same "heard behind the results" "$(asked 1 '[.messages[4:][].content] | join("|")')" "[late]: look|[late]: there"

# ---- at the end, and what was said before stays ---------------------------------------------------------------
flow late.yaml <<'F'
name: late
agents:
  w: { prompt: "You work.", model: compat/m }
  late: { script: [{ content: sent, delay: 300ms, messages: [{ to: w, text: "one more thing" }] }] }
steps:
  - { id: w, agent: w, instructions: "Work." }
  - { id: late, agent: late }
output: "steps.w.content"
F
serve < <(echo "wait 2000"; text "One."; then_; text "Two.")
check "late" 0 "$(printf 'One.\n\nTwo.')" "$RONDO" run -q late.yaml
same "asked again" "$(asked 1 '[.messages[2:][].content] | join("|")')" "One.|[late]: one more thing"
serve < <(echo "wait 2000"; text "One."; then_; text "Two.")
"$RONDO" run -q --json late.yaml >out 2>err
same "events" "$(kinds | tr '\n' ';')" "message_sent w;agent_wake 1;agent_inbox_drain w;agent_idle;"

# ---- called off -----------------------------------------------------------------------------------------------
sed 's/text: "look" }/text: "stop", kind: cancel }/' batch.yaml >off.yaml
serve < <(echo "wait 2000"; calls c1 read '{"path":"tea.txt"}'; then_; text "Never.")
"$RONDO" run -q --yolo --json off.yaml >out 2>err
same "called off" "$(jq -r 'select(.type=="step_end" and .stepId=="w").data.output' out)" cancelled
same "nothing behind it is heard" "$(kinds | tr '\n' ';')" "message_sent w;message_sent w;agent_wake 1;agent_inbox_drain w;agent_idle;message_dropped w target-terminal;"
same "requests" "$(requests)" 1

# ---- ZF-B29: so often, and not more -----------------------------------------------------------------------------------
flow self.yaml <<'F'
name: self
agents: { w: { prompt: "You work.", model: compat/m, tools: [send_message], maxTurns: 40 } }
steps: [{ id: w, agent: w, instructions: "Work." }]
F
serve < <(for i in $(seq 30); do calls c$i send_message "{\"to\":\"w\",\"text\":\"again $i\"}"; then_; done; text "Enough.")
"$RONDO" run -q --json self.yaml >out 2>err
same "ten times" "$(kinds | grep -c agent_wake)" 10
same "then not any more" "$(kinds | tail -1)" "message_dropped w max-wake-cycles"
same "each message has one end" "$(kinds | grep -c message_sent)" "$(kinds | grep -c -e drain -e dropped)"
same "with a warning" "$(jq -r 'select(.type=="max_wake_cycles_warning").data | "\(.current_cycle) \(.max_cycles)"' out)" "8 10"
same "one budget of turns" "$(requests)" 31

# ---- killed in between ----------------------------------------------------------------------------------------
serve < <(calls c1 send_message '{"to":"w","text":"again"}'; then_; echo "wait 5000"; text "Lost."; then_; text "Done.")
"$RONDO" run --store k.db self.yaml >out 2>err &
pid=$!
for _ in $(seq 500); do [ "$(requests)" = 2 ] && break; sleep 0.02; done
kill -KILL $pid; wait $pid 2>/dev/null
"$RONDO" resume -q --store k.db "$("$RONDO" runs --store k.db --json | jq -r 'if type == "array" then .[0] else . end | .id')" >out 2>err
same "goes on" "$(cat out)" "Done."
same "what was sent is heard once" "$(asked 2 '[.messages[].content | select(. == "[w]: again")] | length')" 1

# ---- a coordinator --------------------------------------------------------------------------------------------
flow hub.yaml <<F
name: hub
agents:
  hub: { prompt: "You coordinate.", model: compat/m, tools: [] }
  reader: { run: "cat \$RONDO_INBOX" }
  waiter: { run: "until [ -e '$PWD/go' ]; do sleep 0.02; done" }
coordinator: { agent: hub }
steps:
  - { id: one, agent: reader }
  - { id: two, agent: waiter, dependsOn: [one] }
  - { id: three, agent: reader, dependsOn: [two] }
F
serve < <(calls c1 forward_to_agent '{"target_step_id":"three","text":"a hint"}' c2 narrate '{"text":"off we go"}' c3 forward_to_agent '{"target_step_id":"four","text":"x"}'
          then_; text "Waiting."; then_; calls c4 finalize '{"summary":"all is well"}'; then_; text "Done.")
"$RONDO" run -q --json --store h.db hub.yaml >out 2>err &
pid=$!
until [ "$(requests)" -ge 2 ] || ! kill -0 $pid; do sleep 0.02; done # what it did first has arrived
touch go
wait $pid
same "completes" "$?" 0
same "the hint arrives" "$(jq -r 'select(.type=="step_end" and .stepId=="three").data.output' out)" '{"from":"coordinator","to":"three","text":"a hint","kind":"info"}'
same "it narrates" "$(jq -r 'select(.type=="coordinator_narration").message' out)" "off we go"
same "its summary is the run's" "$(jq -r 'select(.type=="workflow_end").data.summary' out)" "all is well"
same "a wrong id is told" "$(asked 1 '.messages[] | select(.tool_call_id=="c3").content' | cut -c1-21)" "dropped: unknown-step"
same "its words of before stay" "$(asked 2 '[.messages[].content | select(. == "Waiting.")] | length')" 1
same "it is told outputs" "$(asked -1 '[.messages[].content | select(type == "string" and test("step three completed: .*a hint"))] | length')" 1
same "its tokens count" "$(jq -r 'select(.type=="workflow_end").tokens.completion' out)" "$((10 * $(requests)))"
same "replay" "$("$RONDO" replay --store h.db "$("$RONDO" runs --store h.db --json | jq -r 'if type == "array" then .[0] else . end | .id')" >/dev/null 2>&1; echo $?)" 0
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
