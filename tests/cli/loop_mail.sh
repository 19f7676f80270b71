#!/bin/bash
# loop_mail.sh - messages to a loop: its next pass hears them, once, whatever kills its process; who sends too late is told.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export NO_COLOR=1 RONDO_STORE=$PWD/runs.db
. "$ROOT/tests/cli/checks"
events() { "$RONDO" events last --json 2>/dev/null; }
heard() { events | jq -r 'select(.type == "agent_inbox_drain") | "\(.path) \(.data.pass) \(.data.text)"' | tr '\n' ';'; }
dropped() { events | jq -r 'select(.type == "message_dropped") | "\(.data.to) \(.data.reason): \(.data.why)"' | tr '\n' ';'; }
begin() { "$RONDO" run -q "$@" >out.run 2>err.run </dev/null & pid=$!; }
# reaches PASS: until an agent of this pass is at work
reaches() { for _ in $(seq 1500); do [ -e "began.$1" ] && return; sleep 0.02; done; bad "pass $1 never began"; }

# An agent that a loop repeats by itself: its name is the loop's.
flow ralph.yaml <<'F'
name: ralph
agents:
  coder: { run: 'cat >prompt.$RONDO_PASS; cat $RONDO_INBOX >inbox.$RONDO_PASS; touch began.$RONDO_PASS; while [ ! -e go.$RONDO_PASS ]; do sleep 0.02; done; echo did $RONDO_PASS' }
steps: [ { id: ralph, agent: coder, instructions: Work., loop: { maxIterations: 3 } } ]
F
begin ralph.yaml
reaches 0
check "it is taken" 0 "" "$RONDO" send last ralph "mind the parser"
"$RONDO" history last ralph >out 2>&1
has "    waits for the next pass: ["
touch go.0; reaches 1; touch go.1; reaches 2
check "and another, too late" 0 "" "$RONDO" send -q last ralph "too late"
touch go.2; wait $pid
same "the run completes" "$?" 0
same "one pass has heard the first" "$(heard)" "ralph 1 mind the parser;"
same "nobody the second" "$(dropped)" "ralph loop-ended: it ended after pass 3: max_iterations;"
same "in its prompt" "$(grep -l 'mind the parser' prompt.*)" prompt.1
same "and in its inbox" "$(jq -r .text inbox.*)" "mind the parser"
"$RONDO" history last ralph >out 2>&1
has "    heard in pass 2: ["
has "    not heard: ["
same "as JSON" "$("$RONDO" history last ralph --json | jq -c '[.pass, [.heard[]?.text]]' | tr '\n' ' ')" '[0,[]] [1,["mind the parser"]] [2,[]] '
check "replay" 0 "" "$RONDO" replay -q last

# Sent, and then killed: before the message is read, when it waits, and when its pass is at work.
for moment in unread waiting heard; do
    rm -f began.* go.* prompt.* inbox.*
    begin ralph.yaml
    reaches 0
    [ $moment = unread ] && kill -STOP $pid
    "$RONDO" send -q last ralph "keep this"
    [ $moment = unread ] || for _ in $(seq 250); do events | grep -q message_sent && break; sleep 0.02; done
    [ $moment = heard ] && { touch go.0; reaches 1; }
    kill -9 $pid; wait $pid 2>/dev/null
    touch go.0 go.1 go.2
    "$RONDO" resume -q last >out 2>err </dev/null
    same "$moment: it goes on" "$?" 0
    same "$moment: one pass has heard it" "$(heard)" "ralph 1 keep this;"
    same "$moment: in one prompt" "$(grep -l 'keep this' prompt.* | tr '\n' ' ')" "prompt.1 "
    same "$moment: nothing is lost" "$(dropped)" ""
    check "$moment: replay" 0 "" "$RONDO" replay -q last
done

# A loop in a loop is meant by its path, and by its name if it works; one that waits for a gate, in its first pass.
flow nested.yaml <<'F'
name: nested
agents:
  say: { script: [ { content: said, messages: [ { to: outer.1.inner, text: path }, { to: inner, text: name }, { to: each, text: lost } ] }, said ] }
  read: { run: "cat $RONDO_INBOX; echo read" }
  judge: { script: [ { result: { done: false } }, { result: { done: true } } ], resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } }
steps:
  - id: outer
    loop:
      maxIterations: 2
      steps:
        - { id: say, agent: say }
        - { id: inner, agent: read, dependsOn: [say], loop: { maxIterations: 2, untilAgent: judge } }
        - { id: each, dependsOn: [inner], loop: { forEach: "[1, 2]", steps: [ { id: item, agent: read } ] } }
F
"$RONDO" run -q nested.yaml >out 2>err </dev/null
same "by path and by name" "$(heard)" "outer.0.inner 0 name;outer.1.inner 0 path;"
same "a forEach reads none" "$(dropped)" "each unknown-step: it is a each, which reads no messages;"
"$RONDO" history last outer.0.inner >out
same "history of one of them" "$(grep -c heard out)" "1"
has "    heard in pass 1: [outer.0.say] name"

# The summary says what was not heard: who has sent it may not see the events.
mkdir work && cd work
"$RONDO" run --workdir . "$ROOT/tests/kill/flows/loop_mail.yaml" >../out 2>../err </dev/null; cd ..
says "a message to rally was not heard: it ended after pass 3: max_iterations"

# What comes while nobody drives the run waits in the store.
flow gated.yaml <<'F'
name: gated
agents: { read: { run: "cat $RONDO_INBOX; echo read" } }
steps:
  - { id: ready, gate: { ask: "ready?" } }
  - { id: work, agent: read, dependsOn: [ready], loop: { maxIterations: 2 } }
F
"$RONDO" run -q gated.yaml >out 2>err </dev/null
"$RONDO" send -q last work "later"
"$RONDO" answer -q last ready yes
"$RONDO" resume -q last >out 2>err </dev/null
same "the first pass has it" "$(heard)" "work 0 later;"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
