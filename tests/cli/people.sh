#!/bin/bash
# people.sh - people who answer: gates and their times, who was first, tools that somebody has to permit, calls of
# which nobody knows what came of them, and who is told that somebody is waited for.
. "$ROOT/tests/cli/talk_server"
store=$scratch/store.db
export RONDO_STORE=$store NO_COLOR=1
last_id() { "$RONDO" runs --json 2>/dev/null | jq -rs 'flatten | .[0].id'; }

# ---- tools that somebody has to permit ---------------------------------------------------------------------
flow tools.yaml <<'F'
name: tools
agents: { w: { prompt: p, model: compat/m, tools: [write, read] } }
steps: [{ id: a, agent: w, instructions: x }]
F
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written.")
check "a stored run asks" 5 "" "$RONDO" run tools.yaml
says "gate_waiting a.permit-1: may this tool be called? (y: yes, n: no, a: always) write"
says "gate 'a.permit-1': there is no answer for it"
id=$(run_id err)
same "nothing is written" "$(ls new.txt 2>/dev/null)" ""
same "it waits" "$("$RONDO" runs --json 2>/dev/null | jq -r 'if type == "array" then .[] else . end | .status')" waiting
check "still asks" 5 "" "$RONDO" resume "$id"
same "once" "$("$RONDO" events "$id" --json 2>/dev/null | grep -c '"gate_waiting"')" 1
check "what it asks" 0 "a.permit-1: may this tool be called? (y: yes, n: no, a: always) write {\"content\":\"x\",\"path\":\"new.txt\"}
  expected: one of y, n, a" "$RONDO" answer "$id"
check "show tells it" 0 "$(cat /dev/null)" true
"$RONDO" show "$id" >out 2>&1
has "a.permit-1"
check "a word that is none" 3 "" "$RONDO" answer "$id" a.permit-1 perhaps
says "gate 'a.permit-1':"
check "yes" 0 "" "$RONDO" answer --by ada "$id" a.permit-1 y
check "goes on in the conversation" 0 "Written." "$RONDO" resume "$id"
same "it was written" "$(cat new.txt)" x
same "nothing is paid twice" "$(requests)" 2
same "who has permitted it" "$("$RONDO" events "$id" --json 2>/dev/null | jq -r 'select(.type=="gate_answered").data.value | "\(.value) \(.by)"')" "y ada"
check "the log is in order" 0 "" sh -c '"$0" replay "$1" >/dev/null 2>&1' "$RONDO" "$id"

rm -f new.txt
serve < <(calls c1 write '{"path":"new.txt","content":"x"}' c2 write '{"path":"two.txt","content":"x"}'; then_; text "Sorry.")
check "two at once" 5 "" "$RONDO" run tools.yaml
id=$(run_id err)
check "the name is not enough" 3 "" "$RONDO" answer "$id" a y
says "'a' is the name of several open gates"
check "the second" 0 "" "$RONDO" answer "$id" a.permit-2 y
check "the first is still open" 5 "" "$RONDO" resume "$id"
says "a.permit-1"
check "the first" 0 "" "$RONDO" answer "$id" a n
check "one of two" 0 "Sorry." "$RONDO" resume "$id"
same "only that" "$(ls new.txt two.txt 2>/dev/null)" two.txt
same "the model is told" "$(asked 1 '[.messages[] | select(.role=="tool").content] | join("|")')" "error: a person was asked and did not permit this call|$(asked 1 '[.messages[] | select(.role=="tool").content][1]')"
same "two requests" "$(requests)" 2

flow always.yaml <<'F'
name: always
agents: { w: { prompt: p, model: compat/m, tools: [write] } }
steps: [{ id: a, agent: w, instructions: x }, { id: b, agent: w, instructions: x, dependsOn: [a] }, { id: g, gate: { ask: "on?" }, dependsOn: [b] }, { id: c, agent: w, instructions: x, dependsOn: [g] }]
F
serve < <(for i in 1 2 3; do calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written."; then_; done)
check "always" 5 "" "$RONDO" run -q always.yaml
id=$(last_id)
check "is said" 0 "" "$RONDO" answer "$id" a a
check "for all steps of the run" 5 "" "$RONDO" resume "$id"
says "gate 'g'"
"$RONDO" answer -q "$id" g yes
check "whoever drives it" 0 "Written." "$RONDO" resume -q "$id"

serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written.")
check "asked" 5 "" "$RONDO" run -q tools.yaml
check "permissions that came later answer, too" 0 "Written." "$RONDO" resume -q --allow write "$(last_id)"
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written.")
check "--ask goes before --allow" 5 "" "$RONDO" run -q --allow write --ask write tools.yaml
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written.")
check "answers from a file" 0 "Written." "$RONDO" run -q --answers <(echo 'a.permit-1: y') tools.yaml
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "No.")
check "in memory nobody can be asked" 0 "No." "$RONDO" run -q --store :memory: tools.yaml
same "the model is told that, too" "$(asked 1 '.messages[] | select(.role=="tool").content' | grep -c 'nobody can be asked')" 1

# While somebody drives the run the answer is taken at once.
flow busy.yaml <<'F'
name: busy
agents: { w: { prompt: p, model: compat/m, tools: [write] }, slow: { run: "while [ ! -e go ]; do sleep 0.05; done" } }
steps: [{ id: a, agent: w, instructions: x }, { id: s, agent: slow, instructions: x }]
F
rm -f new.txt go
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written.")
"$RONDO" run busy.yaml >live 2>live.err </dev/null &
pid=$!
wait_for live.err gate_waiting
id=$(run_id live.err)
check "to a living process" 0 "" "$RONDO" answer "$id" a y
says "takes it"
wait_for live.err "step_end a"
touch go
wait $pid
same "it went on by itself" "$? $(cat new.txt)" "0 x"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
