#!/bin/bash
# mail_lives.sh - messages that wait while their run is forked, moved, exported, imported, recorded and replayed: each arrives once.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export NO_COLOR=1
. "$ROOT/tests/cli/checks"
of() { "$RONDO" events --store "$1" --json "$2" >events 2>/dev/null; jq -r "select(.type == \"$3\") | \"\(.stepId) \(.data.from): \(.data.text // .data.reason)\"" events | tr '\n' ';'; }

flow wait.yaml <<'F'
name: wait
agents:
  first: { script: [ first ] }
  plan: { script: [ { content: planned, messages: [ { to: check, text: "by name" }, { to: loop.1.check, text: "by path" }, { to: nobody, text: "lost" } ] } ] }
  read: { run: "cat $RONDO_INBOX" }
steps:
  - { id: first, agent: first }
  - { id: plan, agent: plan, dependsOn: [first] }
  - { id: ready, gate: { ask: "ready?" }, dependsOn: [plan] }
  - { id: loop, dependsOn: [ready], loop: { maxIterations: 2, steps: [ { id: check, agent: read } ] } }
F
"$RONDO" run -q --store a.db wait.yaml >out 2>err </dev/null
same "waits at its gate" "$?" 5
id=$("$RONDO" runs --store a.db --json | jq -r 'if type == "array" then .[0] else . end | .id')
given="loop.0.check plan: by name;loop.1.check plan: by path;"

# go_on STORE ID NAME: answered and resumed, what waited is given once, and a replay agrees
go_on() {
    "$RONDO" answer -q --store "$1" "$2" ready yes >/dev/null 2>&1
    "$RONDO" resume -q --store "$1" "$2" ${4:-} >out 2>err </dev/null
    same "$3: completes" "$?" 0
    same "$3: each is given once" "$(of "$1" "$2" agent_inbox_drain)" "$given"
    same "$3: what was lost is told once" "$(of "$1" "$2" message_dropped)" "nobody plan: unknown-step;"
    check "$3: replay" 0 "" "$RONDO" replay -q --store "$1" "$2"
}
"$RONDO" export --store a.db "$id" file.rondo >/dev/null 2>&1
"$RONDO" import --store b.db file.rondo >/dev/null 2>&1
go_on b.db "$id" imported
"$RONDO" run -q --store c.db wait.yaml >out 2>err </dev/null
kept=$("$RONDO" runs --store c.db --json | jq -r 'if type == "array" then .[0] else . end | .id')
"$RONDO" send -q --store c.db "$kept" check hello
"$RONDO" answer -q --by ada --store c.db "$kept" ready yes
check "what nobody has taken is exported" 0 "" "$RONDO" export --store c.db "$kept" kept.rondo
"$RONDO" import --store d.db kept.rondo >/dev/null 2>&1
check "the answer, too" 3 "" "$RONDO" answer --store d.db "$kept" ready no
says "was answered already by ada"
for store in c.db d.db; do
    "$RONDO" resume -q --store $store "$kept" >out 2>err </dev/null
    same "$store: goes on" "$?" 0
    same "$store: each is given once" "$(of $store "$kept" agent_inbox_drain)" "loop.0.check plan: by name;loop.0.check $(of $store "$kept" message_sent | grep -o '[^ ]*: hello');loop.1.check plan: by path;"
done
"$RONDO" export --store c.db "$kept" ended.rondo >/dev/null 2>&1
check "one that has ended" 0 "$kept" "$RONDO" import --store e.db ended.rondo

fork=$("$RONDO" fork -q --store a.db "$id" --at ready)
"$RONDO" resume -q --store a.db "$fork" >out 2>err </dev/null # up to its gate
go_on a.db "$fork" forked
again=$("$RONDO" fork -q --store a.db "$id" --at plan)
"$RONDO" resume -q --store a.db "$again" >out 2>err </dev/null
go_on a.db "$again" "forked before they were sent"
whole=$("$RONDO" fork -q --store a.db "$id" --at first)
"$RONDO" resume -q --store a.db "$whole" >out 2>err </dev/null
go_on a.db "$whole" "forked in its first turn"
cp wait.yaml kept.yaml
sed -i 's/^  - { id: loop,/  - { id: new, agent: read, dependsOn: [plan] }\n&/' wait.yaml
go_on a.db "$id" moved --migrate

# ---- sent just before a step ends: heard by the next one ---------------------------------------------------------
flow late.yaml <<'F'
name: late
agents: { wait: { run: "until [ -e go ]; do sleep 0.01; done" }, read: { run: "cat $RONDO_INBOX" } }
steps: [ { id: wait, agent: wait }, { id: read, agent: read, dependsOn: [wait] } ]
F
for n in 1 2 3 4; do
    rm -f go late.err
    "$RONDO" run --store late.db late.yaml >out 2>late.err </dev/null & pid=$!
    wait_for late.err "step_start wait"
    "$RONDO" send -q --store late.db "$(run_id late.err)" read "number $n"
    touch go
    wait $pid
    same "number $n is heard" "$(jq -r .text out)" "number $n"
done

# ---- recorded --------------------------------------------------------------------------------------------------
echo '{ ready: yes }' >answers
"$RONDO" run -q --json --record rec --answers answers kept.yaml >one 2>err
"$RONDO" run -q --json --replay rec kept.yaml >two 2>err
sent() { jq -r 'select(.type | test("message_|drain")) | "\(.type) \(.stepId) \(.data.text)"' "$1"; }
same "a recording sends the same" "$(sent two)" "$(sent one)"
same "all of it" "$(sent two | wc -l)" 6
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
