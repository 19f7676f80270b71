#!/bin/bash
# mail_end.sh - messages that are sent in the instant in which their run ends: every one that was sent comes to one end in the
# run's events, the others are refused; also when the driver is killed, or leaves at a gate, or a gate closes.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export NO_COLOR=1
. "$ROOT/tests/cli/checks"

# send_on WHO ID TO: until it is refused; what was taken is in the file "sent"
send_on() {
    local i=0
    while "$RONDO" send -q --store s.db "$2" "$3" "$1-$i" 2>>refused; do echo "$1-$i" >>sent; i=$((i + 1)); done
}
# settle ID: what the events say differs from what was sent?
settle() {
    "$RONDO" events --store s.db --json "$1" >events 2>/dev/null
    sort sent >want
    jq -r 'select(.type == "message_sent") | .data.text' events | sort >got
    jq -r 'select(.type == "message_sent") | .seq' events | sort >begun
    jq -r 'select(.type | test("drain|dropped")) | .data.sent' events | sort >ended
    cmp -s want got && cmp -s begun ended
}

flow short.yaml <<'F'
name: short
agents: { wait: { run: "until [ -e go ]; do sleep 0.005; done" } }
steps: [ { id: wait, agent: wait } ]
F
lost=0 total=0 differ=0
for n in $(seq ${ROUNDS:-60}); do
    rm -f go err; : >sent; : >refused
    "$RONDO" run --store s.db short.yaml >out 2>err </dev/null & pid=$!
    wait_for err "step_start wait"
    id=$(run_id err)
    [ $((n % 2)) = 0 ] || touch go
    for s in 1 2 3; do send_on $s "$id" wait & done
    [ $((n % 2)) = 1 ] || { wait_for sent "."; touch go; }
    wait
    settle "$id" || lost=$((lost + 1))
    total=$((total + $(wc -l <sent)))
    "$RONDO" replay -q --store s.db "$id" >/dev/null 2>&1 || differ=$((differ + 1))
    [ "$(sed 's/.* has ended: it is //' refused | sort -u)" = completed ] || { cat refused; lost=$((lost + 1)); }
done
same "runs that lost a message" $lost 0
same "runs whose replay differs" $differ 0
same "messages were sent" "$((total > 0))" 1

# ---- the driver is killed: whoever goes on has all of them ---------------------------------------------------------
for n in 1 2 3 4 5 6 7 8; do
    rm -f go err; : >sent; : >refused
    "$RONDO" run --store s.db short.yaml >out 2>err </dev/null & pid=$!
    wait_for err "step_start wait"
    id=$(run_id err)
    for s in 1 2; do send_on $s "$id" wait & done
    wait_for sent "."
    kill -9 $pid
    wait $pid
    touch go
    "$RONDO" resume -q --store s.db "$id" >out 2>err </dev/null
    same "killed $n: completes" "$?" 0
    wait
    settle "$id"
    same "killed $n: each message came to one end" "$?" 0
done 2>/dev/null

# ---- a gate: nobody drives the run, what is sent waits for rondo resume ------------------------------------------------
flow gate.yaml <<'F'
name: gate
agents: { read: { run: "cat $RONDO_INBOX" } }
steps: [ { id: ok, gate: { ask: "go?" } }, { id: read, agent: read, dependsOn: [ok] } ]
F
: >sent
"$RONDO" run -q --store s.db gate.yaml >out 2>err </dev/null
same "waits" "$?" 5
id=$("$RONDO" runs --store s.db -n 1 --json | jq -r .id)
for i in 1 2 3; do "$RONDO" send -q --store s.db "$id" read "w-$i" && echo "w-$i" >>sent; done
"$RONDO" answer -q --store s.db "$id" ok yes
"$RONDO" resume -q --store s.db "$id" >out 2>err </dev/null
settle "$id"
same "what was sent at a gate is given" "$?-$(grep -c agent_inbox_drain events)" 0-3
check "an ended run takes no message" 3 "" "$RONDO" send --store s.db "$id" read late
says "has ended: it is completed"

# ---- a run that failed and goes on is reached again -----------------------------------------------------------------
flow again.yaml <<'F'
name: again
agents: { wait: { run: "[ -e ok ] && until [ -e go ]; do sleep 0.005; done; [ -e go ]" }, read: { run: "cat $RONDO_INBOX" } }
steps: [ { id: wait, agent: wait }, { id: read, agent: read, dependsOn: [wait] } ]
F
rm -f go err
"$RONDO" run --store s.db again.yaml >out 2>err </dev/null
id=$(run_id err)
check "a run that failed takes no message" 3 "" "$RONDO" send --store s.db "$id" read early
says "has ended: it is failed"
touch ok
rm -f err
"$RONDO" resume --store s.db "$id" >out 2>err </dev/null & pid=$!
wait_for err "step_start wait"
"$RONDO" send -q --store s.db "$id" read again
same "until it goes on" "$?-$("$RONDO" runs --store s.db -n 1 --json | jq -r '"\(.status)\(.error)"')" 0-runningnull
touch go
wait $pid
same "and is given what was sent" "$(jq -r .text out)" again

# ---- who is told that an answer is taken sees it taken, although the gate's time is up ----------------------------------
flow hurry.yaml <<'F'
name: hurry
agents: { wait: { run: "sleep 0.4" } }
steps: [ { id: ok, gate: { ask: "go?", timeout: 200ms, onTimeout: { answer: late } } }, { id: wait, agent: wait } ]
F
wrong=0
for n in $(seq 12); do
    rm -f err
    "$RONDO" run --store s.db hurry.yaml >out 2>err </dev/null & pid=$!
    wait_for err "step_start wait"
    sleep 0.1$((RANDOM % 10))
    if "$RONDO" answer -q --store s.db "$(run_id err)" ok mine 2>/dev/null; then said=mine; else said=null; fi
    wait $pid
    [ "$("$RONDO" show --store s.db "$(run_id err)" --json | jq -r '.answers[0].value')" = $said ] || wrong=$((wrong + 1))
done
same "answers that were taken and did not count" $wrong 0
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
