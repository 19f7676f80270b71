#!/bin/bash
# messaging_sample.sh - the sample of Zenflow's page on loops, "bidirectional messaging in a loop", as it is printed: a
# worker in stages, a judge, and the coordinator of --coordinator, all of them models of a server that answers by a
# script.  tests/zenflow/stages.yaml has the same shape; the page's own file is used too where it is at hand ($SEEDS,
# else beside the source tree).
. "$ROOT/tests/cli/talk_server"

command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export NO_COLOR=1
page=${SEEDS:-$ROOT/../shared/seeds}/003_5eebb6e82b537070.txt

# What the models say.  The coordinator knows a stage by the message that tells of it, a worker by its own call.
route() { echo "POST /v1/chat/completions"; [ -n "$1" ] && echo "has $1"; }
hub() { route "$1"; shift; calls "$@"; then_; text "Waiting."; }
models() {
    echo "has what nobody says" # of the route that serve begins with
    hub '[loop-stages.2.worker]: STAGE_3: ' f3 finalize '{"summary":"three stages"}'
    hub '[loop-stages.1.worker]: STAGE_2: ' f2 forward_to_agent '{"target_step_id":"worker","text":"by bare name"}'
    hub '[loop-stages.0.worker]: STAGE_1: ' n1 narrate '{"text":"stage 1 has begun"}' \
        f1 forward_to_agent '{"target_step_id":"loop-stages.1.worker","text":"by full id"}'
    route "Coordinate this workflow"; text "Waiting."
    route '"s3"'; text "STAGE_3_DONE"
    route '"s2"'; echo "wait 1500"; text "STAGE_2_DONE"; then_; text "Noted."
    route '"s1"'; text "STAGE_1_DONE"
    route "Evaluate Loop Progress"; echo "wait 1500"; calls j1 submit_result '{"done":false,"reason":"two are missing"}'; then_
    calls j2 submit_result '{"done":false}'; then_; calls j3 submit_result '{"done":true}'
    route ""; text "READY"; for i in 1 2 3; do then_; calls s$i send_message "{\"text\":\"STAGE_$i: coat $i\"}"; done; then_; text "Report."
}

data() { jq -r "select(.type == \"$1\" and (.stepId // \"\" | test(\"$2\"))).data$3" out; }
first_of() { jq -sr "[.[].body | fromjson | select([.messages[]?.content] | tostring | test(\"$1\"))][0] | $2" log; } # request

# sample NAME FILE: what the page says that happens, by its numbers
sample() {
    local name=$1
    serve < <(models)
    "$RONDO" run --json --store "$name.db" -m compat/m --coordinator compat/m "$2" >out 2>err </dev/null || bad "$name: $(cat err)"
    same "$name 1: setup" "$(data step_end '^setup$' .output)" READY
    same "$name 2: the first pass has its id" "$(data step_start '^loop-stages.0.worker$' .total)" 1
    same "$name 2: and the coordinator sees it start" \
        "$(data coordinator_inbox_message '' .text | grep -cx 'step loop-stages.0.worker started')" 1
    same "$name 3: the first inbox is empty" "$(data agent_inbox_drain '^loop-stages.0.worker$' .text)" ""
    same "$name 3: the worker sends" "$(data message_sent '^loop-stages.0' '|"\(.to): \(.text)"')" "coordinator: STAGE_1: coat 1"
    same "$name 3: so do the others" "$(data message_sent '^loop-stages' .text | tr '\n' ';')" "STAGE_1: coat 1;STAGE_2: coat 2;STAGE_3: coat 3;"
    same "$name 4: the coordinator wakes and sees it" \
        "$(data agent_inbox_drain '^coordinator$' '|"\(.from): \(.text)"' | grep STAGE_1:)" "loop-stages.0.worker: STAGE_1: coat 1"
    same "$name 4: it narrates" "$(jq -r 'select(.type == "coordinator_narration").message' out)" "stage 1 has begun"
    same "$name 4: and forwards" "$(data message_sent '^coordinator$' '|"\(.to): \(.text)"' | tr '\n' ';')" \
        "loop-stages.1.worker: by full id;worker: by bare name;"
    same "$name 5: the judge is not content" "$(data step_end '^loop-stages.0.judge$' .output.done)" false
    same "$name 6: the next pass" "$(data step_start '^loop-stages.1.worker$' .total)" 1
    same "$name 6: sees what the judge said" "$(first_of 'Judge Feedback .Iteration 1' '[.messages[].content] | tostring | test("two are missing")')" true
    same "$name 6: and what was forwarded" "$(data agent_inbox_drain '^loop-stages.[0-9].worker$' '|"\(.from): \(.text)"' | tr '\n' ';')" \
        "coordinator: by full id;coordinator: by bare name;"
    same "$name 6: before it says anything" "$(first_of 'by full id' '.messages[-1].content')" "[coordinator]: by full id"
    same "$name 7: the loop ends" "$(data loop_end . '|"\(.reason) \(.passes)"')" "judge 3"
    same "$name 7: with all passes" "$(data step_end '^loop-stages$' .output | grep -c '^## Iteration')" 3
    same "$name: nothing is lost" "$(data message_dropped '' .reason)" ""
    same "$name: the summary" "$(data workflow_end '' '|"\(.status) \(.summary)"')" "completed three stages"
    check "$name: replay" 0 "" "$RONDO" replay -q --store "$name.db" last
}

sample ours "$ROOT/tests/zenflow/stages.yaml"
if [ -f "$page" ]; then
    awk '/^Worked example: bidirectional/ { at = 1 } /^What happens:/ { on = 0 } on { print } at && /^yaml$/ { on = 1 }' "$page" >page.yaml
    same "the page has its sample" "$(sed -n 's/^name: //p' page.yaml)" loop-bidirectional
    sample page page.yaml
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
