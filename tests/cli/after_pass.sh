#!/bin/bash
# after_pass.sh - rondo cancel --after-pass: the run stops between passes, and goes on as if it had not.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export NO_COLOR=1 RONDO_STORE=$PWD/runs.db
. "$ROOT/tests/cli/checks"
events() { "$RONDO" events last --json 2>/dev/null; }
types() { events | jq -r "select(.type | test(\"$1\")) | [.type, .path // empty, .data.passes // .data.pass // empty] | map(tostring) | join(\" \")" | tr '\n' ';'; }
begin() { "$RONDO" run "$@" >out.run 2>err.run </dev/null & pid=$!; }
began() { for _ in $(seq 1500); do [ -e "began.$1" ] && return; sleep 0.02; done; bad "$1 never began"; }
heard() { for _ in $(seq 500); do events | grep -q "$1" && return; sleep 0.02; done; bad "there was no $1"; }
clean() { rm -f began.* go.*; }

flow ralph.yaml <<'F'
name: ralph
agents: { coder: { run: 'touch began.$RONDO_PASS; while [ ! -e go.$RONDO_PASS ]; do sleep 0.02; done; echo did $RONDO_PASS' } }
steps:
  - { id: ralph, agent: coder, loop: { maxIterations: 4 } }
  - { id: after, set: { done: "true" }, dependsOn: [ralph] }
F
begin -q ralph.yaml
began 0; touch go.0; began 1
check "it is asked" 0 "" "$RONDO" cancel last --after-pass
says "it stops after pass 2 of ralph; then go on with: rondo resume r"
heard stop_asked
touch go.1; wait $pid
same "the driver leaves with" "$?" 5
id=$("$RONDO" runs --json | head -1 | jq -r .id)
same "and says why" "$(cat err.run)" "stopped after pass 2; go on with: rondo resume $id"
same "there is no answer" "$(cat out.run)" ""
same "no pass begins" "$(ls began.* | tr '\n' ' ')" "began.0 began.1 "
same "the loop says so" "$(types 'loop_|stop_|iteration_')" "iteration_start ralph 0;iteration_end ralph 0;iteration_start ralph 1;stop_asked;iteration_end ralph 1;loop_paused ralph 2;"
same "it is listed as stopped" "$("$RONDO" runs | head -1 | grep -c ' stopped ')" 1
check "a second request" 3 "" "$RONDO" cancel last --after-pass
says "no process drives run $id: it has stopped; go on with: rondo resume $id"
check "replay before it goes on" 0 "" "$RONDO" replay -q last
touch go.2 go.3
"$RONDO" resume -q last >out 2>err </dev/null
same "it goes on" "$?" 0
same "with the next pass" "$(types 'iteration_start' | tr -d '\n')" "iteration_start ralph 0;iteration_start ralph 1;iteration_start ralph 2;iteration_start ralph 3;"
check "replay" 0 "" "$RONDO" replay -q last
check "of a run that has ended" 3 "" "$RONDO" cancel last --after-pass
says "has ended: it is completed"

# In front of a person the summary has it; the pass that was the last ends its loop, and nothing behind it begins.
clean; sed 's/maxIterations: 4/maxIterations: 2/' ralph.yaml >two.yaml
begin two.yaml
began 0; touch go.0; began 1; "$RONDO" cancel -q last --after-pass; heard stop_asked; touch go.1; wait $pid
same "a loop that ended" "$?:$(types 'loop_|step_start.*after')" "5:loop_end ralph 2;"
same "is told" "$(grep "^stopped" err.run)" "stopped; go on with: rondo resume $("$RONDO" runs --json | head -1 | jq -r .id)"
same "with how far it is" "$(grep -c 'two  stopped\|ralph  stopped' err.run)" 1
"$RONDO" resume -q last >out 2>err </dev/null
same "what comes behind it begins then" "$?:$(types 'step_end' | grep -c 'step_end after')" "0:1"

# Two loops at work and an agent beside them; a loop inside is part of its pass; a step that waits for one of them does not begin.
clean
flow many.yaml <<'F'
name: many
agents:
  work: { run: 'n=$(echo $RONDO_PATH | tr . -); touch began.$n; while [ ! -e go.$n ]; do sleep 0.02; done; echo $n' }
  say: { script: [ said ] }
steps:
  - { id: side, agent: work }
  - { id: behind, agent: say, dependsOn: [side] }
  - { id: one, agent: work, loop: { maxIterations: 2 } }
  - id: two
    loop: { maxIterations: 2, steps: [ { id: in, agent: work, loop: { maxIterations: 2 } } ] }
F
begin -q many.yaml
began side; began one-0; began two-0-in-0
check "both are asked" 0 "" "$RONDO" cancel last --after-pass
says "it stops after pass 1 of one, after pass 1 of two; then"
heard stop_asked
touch go.one-0 go.two-0-in-0; began two-0-in-1; touch go.two-0-in-1 go.side; wait $pid
same "all of them are awaited" "$?:$(cat err.run | sed 's/;.*//')" "5:stopped after pass 1 of one, after pass 1 of two"
same "and nothing else begins" "$(types 'step_start' | sed 's/step_start //g')" "side;one;two;one.0;two.0.in;two.0.in.0;two.0.in.1;"
touch go.one-1 go.two-1-in-0 go.two-1-in-1
"$RONDO" resume -q last >out 2>err </dev/null
same "then they do" "$?:$(types 'step_end' | grep -o 'step_end behind;\|step_end one;\|step_end two;' | wc -l)" "0:3"
check "replay of many" 0 "" "$RONDO" replay -q last

# Killed while its pass is at work, and when it has paused: it goes on, and nothing is asked of it any more.
for moment in asked paused; do
    clean
    begin -q ralph.yaml
    began 0; "$RONDO" cancel -q last --after-pass; heard stop_asked
    [ $moment = paused ] && { kill -STOP $pid; touch go.0; sleep 0.2; kill -CONT $pid; }
    kill -9 $pid; wait $pid 2>/dev/null
    touch go.0 go.1 go.2 go.3
    "$RONDO" resume -q last >out 2>err </dev/null
    same "killed when it was $moment" "$?:$(types 'iteration_end' | tr -d '\n')" "0:iteration_end ralph 0;iteration_end ralph 1;iteration_end ralph 2;iteration_end ralph 3;"
    check "$moment: replay" 0 "" "$RONDO" replay -q last
done

# A message waits for the pass after the stop; a machine goes on in the state that comes next; a delay does not keep it.
clean
flow machine.yaml <<'F'
name: machine
agents:
  work: { run: 'touch began.$RONDO_PASS; while [ ! -e go.$RONDO_PASS ]; do sleep 0.02; done; cat $RONDO_INBOX | jq -r .text; echo done' }
steps:
  - id: m
    machine:
      start: a
      states: { a: { agent: work }, b: { agent: work }, c: { agent: work } }
      edges: [ { from: a, to: b }, { from: b, to: c }, { from: c, to: end } ]
F
begin -q machine.yaml
began 0; "$RONDO" cancel -q last --after-pass; "$RONDO" send -q last m hello; heard message_sent; touch go.0; wait $pid
same "a machine stops" "$?:$(cat err.run | sed 's/;.*//')" "5:stopped after pass 1"
touch go.1 go.2
"$RONDO" resume -q last >out 2>err </dev/null
same "and goes on" "$?:$(types 'step_end m|inbox_drain')" "0:agent_inbox_drain m 1;"
same "in the next state" "$(types 'step_start' | sed 's/step_start //g')" "m;m.0.a;m.1.b;m.2.c;"
check "replay of a machine" 0 "" "$RONDO" replay -q last

# What has stopped can be moved to another file, in which its states have other places; it can be forked from before the stop.
clean; cp machine.yaml moved.yaml
begin -q moved.yaml
began 0; "$RONDO" cancel -q last --after-pass; heard stop_asked; touch go.0; wait $pid
sed -i 's/states: { a/states: { b: { agent: work }, a/; s/, b: { agent: work }, c/, c/' moved.yaml
touch go.1 go.2
"$RONDO" resume -q last --migrate >out 2>err </dev/null
same "it moves to another file" "$?:$(types 'step_start' | sed 's/step_start //g')" "0:m;m.0.a;m.1.b;m.2.c;"
"$RONDO" fork -q last --at m.1 >forked 2>err
"$RONDO" resume -q "$(cat forked)" >out 2>err </dev/null
same "a fork does not stop" "$?:$("$RONDO" events "$(cat forked)" --json 2>/dev/null | jq -r 'select(.type=="workflow_end").data.status')" "0:completed"
check "replay of a fork" 0 "" "$RONDO" replay -q "$(cat forked)"
clean; sed 's/maxIterations: 4/maxIterations: 4, delay: 1h/' ralph.yaml >slow.yaml
begin -q slow.yaml
began 0; touch go.0; heard '"delay"'
"$RONDO" show last 2>&1 | grep -q '^. ralph .* next in 59m[0-9]*s\|next in 1h' && ok || bad "nothing says when the next pass begins: $("$RONDO" show last)"
"$RONDO" cancel -q last --after-pass; wait $pid
same "a delay is no pass" "$?:$(cat err.run | sed 's/;.*//')" "5:stopped after pass 1"
"$RONDO" show last 2>&1 | grep -q 'next in' && bad "nobody begins the next pass" || ok
"$RONDO" cancel -q last 2>err
same "what has stopped can be cancelled" "$?:$(events | jq -r 'select(.type=="workflow_end").data.status')" "0:cancelled"

# A run without a loop at work says so.  A cancel ends a run that was to stop.
clean
flow plain.yaml <<'F'
name: plain
agents: { work: { run: 'touch began.0; while [ ! -e go.0 ]; do sleep 0.02; done; echo done' } }
steps: [ { id: work, agent: work } ]
F
begin -q plain.yaml
began 0
check "no loop" 3 "" "$RONDO" cancel last --after-pass
says "no loop is at work in run "
touch go.0; wait $pid
same "and nothing was asked" "$?:$(types stop_)" "0:"
clean
begin -q ralph.yaml
began 0; "$RONDO" cancel -q last --after-pass; heard stop_asked; "$RONDO" cancel -q last; wait $pid
same "a cancel ends it" "$?:$(events | jq -r 'select(.type=="workflow_end").data.status')" "1:cancelled"
touch go.0 go.1 go.2 go.3
"$RONDO" resume -q last >out 2>err </dev/null
same "it can be taken up, and does not stop" "$?:$(types loop_paused)" "0:"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
