#!/bin/bash
# encore.sh - messages to steps that have ended: their conversations go on, against a server that answers by a script.
. "$ROOT/tests/cli/talk_server"

command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export NO_COLOR=1
types() { jq -r "select(.type | test(\"^resume_|message_sent|message_dropped\")) | \"\(.type) \(.stepId) \(.data.resumeID // .data.kind // \"\") \(.data.reason // \"\")\"" out | sed 's/ *$//' | tr '\n' ';'; }
first_run() { "$RONDO" runs --store "$1" --json | jq -r 'if type == "array" then .[0] else . end | .id'; }

# A hub that asks again what was found out: twice, when the step has ended.
flow ask.yaml <<'F'
name: ask
agents:
  hub:
    script:
      - {}
      - { messages: [ { to: research, text: "and the colour?" }, { to: research, text: "and the size?" } ] }
      - {}
      - { finalize: "all told" }
  w: { prompt: "You research.", model: compat/m, tools: [read], maxTurns: 2, outputKey: found }
  slow: { run: "until [ -e go ]; do sleep 0.02; done; echo $(cat go)" }
coordinator: { agent: hub }
steps:
  - { id: research, agent: w, instructions: "Find out." }
  - { id: slow, agent: slow, dependsOn: [research] }
output: "state.found + ', ' + steps.research.content"
F
answers() { text "A cat."; then_; calls c1 read '{"path":"tea.txt"}'; then_; text "Grey."; then_; text "Small."; }
echo tea >tea.txt
let_go() { (until [ "$(requests)" -ge 4 ]; do sleep 0.02; done; sleep 0.1; echo done >go) & }
rm -f go; serve < <(answers); let_go
"$RONDO" run -q --yolo --json --store a.db ask.yaml >out 2>err
same "completes" "$?" 0
same "one after the other, and each is answered" "$(types)" "message_sent coordinator info;message_sent coordinator info;resume_queued research;resume_started research research^1;resume_completed research research^1;message_sent research resume_reply;resume_started research research^2;resume_completed research research^2;message_sent research resume_reply;"
same "the conversation goes on" "$(asked 1 '[.messages[].content] | join("|")')" "You research.|## Task
Find out.|A cat.|[coordinator]: and the colour?"
same "with the same tools" "$(asked 2 '[.tools[].function.name] | join(" ")')" "read send_message"
same "which are called" "$(asked 2 '.messages[-1].content')" "tea"
same "and is longer the next time" "$(asked 3 '[.messages[].content // "-"] | .[2:] | join("|")')" "A cat.|[coordinator]: and the colour?||tea
|Grey.|[coordinator]: and the size?"
same "the replies are the words" "$(jq -r 'select(.type=="agent_inbox_drain" and .data.kind=="resume_reply") | "\(.stepId) \(.data.from) \(.data.text)"' out | tr '\n' ';')" "coordinator research Grey.;coordinator research Small.;"
same "what the step came to stays" "$(jq -r 'select(.type=="workflow_end").data.output' out)" "A cat., A cat."
same "its tokens count" "$(jq -r 'select(.type=="workflow_end").tokens.completion' out)" 40
same "workflow_end comes last" "$(tail -1 out | jq -r .type)" workflow_end
same "resume_started says who asked" "$(jq -c 'select(.type=="resume_started").data' out | head -1)" '{"resumeID":"research^1","step":"research","from":"coordinator","replyTo":"coordinator"}'
id=$(first_run a.db)
check "replay" 0 "" "$RONDO" replay -q --store a.db "$id"
same "show" "$("$RONDO" show --store a.db "$id" | grep -c "resume 2")" 1
"$RONDO" export --store a.db "$id" file.rondo >/dev/null 2>&1 && "$RONDO" import --store b.db file.rondo >/dev/null 2>&1
check "it is the same when it comes back from a file" 0 "" "$RONDO" replay -q --store b.db "$id"
same "with the same events" "$("$RONDO" events --store b.db --json "$id" | grep -c resume_)" "$("$RONDO" events --store a.db --json "$id" | grep -c resume_)"

# ---- recorded and played back ----------------------------------------------------------------------------------
rm -f go; serve < <(answers); let_go
"$RONDO" run -q --yolo --json --record rec ask.yaml >out 2>err
was=$(types)
"$RONDO" run -q --yolo --json --replay rec ask.yaml >out 2>err
same "a recording answers for encores, too" "$(types)" "$was"

# ---- a fork has its own -----------------------------------------------------------------------------------------
serve < <(text "Blue."; then_; text "Large.")
fork=$("$RONDO" fork -q --store a.db "$id" --at slow)
"$RONDO" resume -q --json --store a.db "$fork" >out 2>err
same "a fork from before has its own encores" "$(types)" "$was"
same "of the conversation as it was" "$(asked 0 '[.messages[].content] | .[2:] | join("|")')" "A cat.|[coordinator]: and the colour?"

serve < <(text "A dog."; then_; text "Black."; then_; text "Huge.")
fork=$("$RONDO" fork -q --store a.db "$id" --at research)
"$RONDO" resume -q --json --store a.db "$fork" >out 2>err
same "a fork at the step begins the step anew" "$(asked 0 '.messages | length')" 2
serve < <(text "Black."; then_; text "Huge.")
fork=$("$RONDO" fork -q --store a.db "$id" --at research^2)
"$RONDO" resume -q --json --store a.db "$fork" >out 2>err
same "and one at an encore that encore" "$(asked 0 '[.messages[].content] | .[-2:] | join("|")')" "Grey.|[coordinator]: and the size?"

# ---- killed in the middle ---------------------------------------------------------------------------------------
rm -f go
serve < <(text "A cat."; then_; calls c1 read '{"path":"tea.txt"}'; then_; echo "wait 5000"; text "Lost."; then_; text "Grey."; then_; text "Small.")
"$RONDO" run -q --yolo --store k.db ask.yaml >out 2>err &
pid=$!
for _ in $(seq 500); do [ "$(requests)" = 3 ] && break; sleep 0.02; done
kill -KILL $pid; wait $pid 2>/dev/null
echo done >go
"$RONDO" resume -q --json --yolo --store k.db "$(first_run k.db)" >out 2>err
same "goes on after a crash" "$?" 0
same "where it was" "$(asked 3 '[.messages[].content // "-"] | .[2:] | join("|")')" "A cat.|[coordinator]: and the colour?||tea"
"$RONDO" events --store k.db --json "$(first_run k.db)" >out
same "and answers once" "$(types)" "$was"

# ---- a run that failed, moved to a changed workflow ------------------------------------------------------------
flow moved.yaml <<'F'
name: moved
agents:
  hub: { script: [ {} ] }
  w: { prompt: "You work.", model: compat/m }
  ask: { script: [ { content: asked, messages: [ { to: research, text: "more?" } ] } ] }
  try: { run: "test -e go" }
coordinator: { agent: hub }
steps:
  - { id: research, agent: w, instructions: "Find out." }
  - { id: ask, agent: ask, dependsOn: [research] }
  - { id: try, agent: try, dependsOn: [ask] }
output: "steps.research.content"
F
rm -f go; serve < <(text "A cat."; then_; text "Grey.")
"$RONDO" run -q --store m.db moved.yaml >out 2>err
same "fails" "$?" 1
touch go
sed -i 's/^  - { id: research/  - { id: before, agent: w, instructions: "Something new." }\n&/; s/^output/  - { id: again, agent: ask, dependsOn: [try, before] }\n&/' moved.yaml
serve < <(text "New."; then_; text "Small.")
"$RONDO" resume -q --json --migrate --store m.db "$(first_run m.db)" >out 2>err
same "it goes on" "$?" 0
same "with the conversation that it had" "$(asked 1 '[.messages[].content] | .[2:] | join("|")')" "A cat.|[ask]: more?|Grey.|[again]: more?"
same "under the next number" "$(grep -c '"resume_completed".*"research^2"' out)" 1
check "replay" 0 "" "$RONDO" replay -q --store m.db "$(first_run m.db)"

# ---- limits -----------------------------------------------------------------------------------------------------
flow often.yaml <<'F'
name: often
agents:
  hub: { script: [ {}, { messages: [ { to: w, text: "1" }, { to: w, text: "2" }, { to: w, text: "3" }, { to: w, text: "4" }, { to: w, text: "5" }, { to: w, text: "6" },
                                     { to: w, text: "7" }, { to: w, text: "8" }, { to: w, text: "9" }, { to: w, text: "10" }, { to: w, text: "11" } ] }, {} ] }
  w: { prompt: "You work.", model: compat/m }
coordinator: { agent: hub }
steps: [ { id: w, agent: w, instructions: "Work." } ]
F
serve < <(for i in $(seq 11); do text "$i."; then_; done; text "too many")
"$RONDO" run -q --json often.yaml >out 2>err
same "ten times" "$(grep -c '"resume_completed"' out)" 10
same "then not any more" "$(jq -r 'select(.type=="message_dropped").data.reason' out)" "max-wake-cycles"
same "each message has one end" "$(grep -c '"message_sent"' out)" "$(jq -r 'select(.type=="agent_inbox_drain" and .data.from != "workflow" and (.data.text | test("^step ") | not)).type, select(.type=="message_dropped").type' out | wc -l)"

serve < <(text "One."; then_; text "Two."; then_; text "Never.")
sed "s/^coord/budget: { calls: 2 }\ncoord/" often.yaml >broke.yaml
"$RONDO" run -q --json broke.yaml >out 2>err
same "the budget of the run holds" "$(requests)" 2
same "what waits then is told" "$(jq -r 'select(.type=="message_dropped").data.reason' out | sort | uniq -c | awk '{print $1, $2}' | tr '\n' ';')" "1 max-wake-cycles;9 resume-shutdown;1 workflow-cancelled;"

# ---- who has no conversation -------------------------------------------------------------------------------------
flow none.yaml <<'F'
name: none
agents:
  hub: { script: [ {}, {}, { messages: [ { to: c, text: "hello" }, { to: w, text: "stop", kind: cancel }, { to: x, text: hello } ] }, {} ] }
  c: { run: "echo done" }
  last: { run: "sleep 0.3" }
  w: { prompt: "You work.", model: compat/m }
coordinator: { agent: hub }
steps:
  - { id: c, agent: c }
  - { id: w, agent: w, instructions: "Work.", dependsOn: [c] }
  - { id: x, agent: w, condition: "false", dependsOn: [c] }
  - { id: last, agent: last, dependsOn: [w] }
F
serve < <(text "One.")
"$RONDO" run -q --json none.yaml >out 2>err
for what in "c no-transcript" "w target-terminal" "x no-transcript"; do
    same "$what" "$(jq -r 'select(.type=="message_dropped") | "\(.data.to) \(.data.reason)"' out | grep -c "^$what$")" 1
done

# ---- inside loops, by path and by name; a step that asks another; a result with a schema -------------------------
flow inner.yaml <<'F'
name: inner
agents:
  hub: { script: [ {} ] }
  w: { prompt: "You work.", model: compat/m, tools: [], resultSchema: { type: object, required: [n], properties: { n: { type: integer } } } }
  asker: { prompt: "You ask.", model: compat/m, tools: [send_message, bash] }
coordinator: { agent: hub }
steps:
  - { id: rounds, loop: { maxIterations: 2, steps: [ { id: worker, agent: w, instructions: "Work." } ] } }
  - { id: asker, agent: asker, dependsOn: [rounds], instructions: "Ask." }
output: "steps.asker.content"
F
serve < <(calls r1 submit_result '{"n":1}'; then_; calls r2 submit_result '{"n":2}'; then_
          calls s1 send_message '{"to":"rounds.0.worker","text":"why one?"}' s2 bash '{"command":"sleep 1"}'; then_
          text "Because."; then_; text "He said because.")
"$RONDO" run -q --json --yolo inner.yaml >out 2>err
same "a pass of a loop is resumed by its path" "$(types)" "message_sent asker info;resume_started rounds.0.worker rounds.worker^1;resume_completed rounds.0.worker rounds.worker^1;message_sent rounds.0.worker resume_reply;"
same "its reply is heard by who asked" "$(jq -r 'select(.type=="agent_inbox_drain" and .stepId=="asker").data | "\(.from): \(.text)"' out)" "rounds.0.worker: Because."
same "without a result" "$(jq -r 'select(.type=="resume_completed").data.output' out)" "Because."

# ---- a person ----------------------------------------------------------------------------------------------------
flow person.yaml <<'F'
name: person
agents:
  hub: { script: [ {} ] }
  w: { prompt: "You work.", model: compat/m }
  slow: { run: "until [ -e go ]; do sleep 0.02; done" }
coordinator: { agent: hub }
steps:
  - { id: w, agent: w, instructions: "Work." }
  - { id: slow, agent: slow, dependsOn: [w] }
F
rm -f go; serve < <(text "One."; then_; text "Two.")
"$RONDO" run -q --json --store p.db person.yaml >out 2>err &
pid=$!
for _ in $(seq 500); do grep -q '"stepId":"slow"' out && break; sleep 0.02; done
"$RONDO" send -q --store p.db "$(first_run p.db)" w "say more" 2>/dev/null
for _ in $(seq 500); do grep -q resume_completed out && break; sleep 0.02; done
touch go; wait $pid
same "a person's message is answered in the events" "$(jq -r 'select(.type=="resume_completed").data.output' out)" "Two."
same "and nowhere else" "$(grep -c resume_reply out)" 0

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
