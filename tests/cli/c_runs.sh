#!/bin/bash
# c_runs.sh - runs that a program has started with a definition made in C: whoever has the store can look at them.
[ -x "$RONDO" ] && [ -x "$ROOT/$B/tests/c_runs" ] || { echo "c_runs was not built"; exit 77; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
. "$ROOT/tests/cli/checks"
export NO_COLOR=1 RONDO_STORE=$PWD/runs.db
timeout 60 "$ROOT/$B/tests/c_runs" runs.db || bad "c_runs: status $?"
shown() { "$RONDO" show --json "$1" | jq -c "$2"; }

same "a loop" "$(shown loop '[.name, .status, (.steps[0] | .path, .passes, .reason, .bound)]')" '["refine","completed","refine",3,"max_iterations",3]'
same "its best pass" "$("$RONDO" show loop refine | tail -1)" "draft 2"
same "a step of a pass" "$("$RONDO" show loop refine.2.writer | tail -1)" "draft 3"
same "its history" "$("$RONDO" history --json loop refine | jq -c '[.pass, .score]' | tr '\n' ' ')" "[0,3] [1,9] [2,6] "
same "its events" "$("$RONDO" events --json loop | jq -r 'select(.type == "iteration_end") | "\(.path) \(.data.pass)"' | tr '\n' ' ')" "refine 0 refine 1 refine 2 "
check "for people" 0 "$("$RONDO" events loop)" "$RONDO" events loop
has "iteration_end refine pass 2/3 score 9"
same "items" "$(shown items '[.steps[0].steps[].status]')" '["completed","failed","completed"]'
same "a machine" "$(shown machine '.steps[0] | [.passes, .reason]')" '[2,"next"]'
same "without a name" "$("$RONDO" events --json plain | jq -r 'select(.type == "step_end").path' | tr '\n' ' ')" "one two null "
check "a gate that waits" 0 "$("$RONDO" show gate)" "$RONDO" show gate
has "nobody drives it; only the program that has started it can go on"
has "asks waits.ok: Go on?"
hasnt "rondo resume"
hasnt "rondo answer"
check "it alone can go on" 3 "" "$RONDO" resume gate
says "only that program can go on with it"

# ---- rondo runs: how many more -----------------------------------------------------------------------------------
check "who says how many gets so many" 0 "plain machine" sh -c "\"$RONDO\" runs -n 2 | awk '{ print \$1 }' | paste -sd' '"
same "and asks for no more" "$(cat err)" ""
printf 'rondo: 1\nname: many\nsteps: [{ id: a, set: { n: "1" } }]\n' >many.yaml
for _ in $(seq 18); do "$RONDO" run -q many.yaml >/dev/null; done
check "twenty" 0 20 sh -c "\"$RONDO\" runs | wc -l | tr -d ' '"
says "rondo runs: 3 more: -n 0"
check "as JSON" 0 20 sh -c "\"$RONDO\" runs --json | wc -l | tr -d ' '"
says "rondo runs: 3 more: -n 0"
check "of one status" 0 20 sh -c "\"$RONDO\" runs --status completed --json | wc -l | tr -d ' '"
says "rondo runs: 2 more: -n 0"
check "all" 0 23 sh -c "\"$RONDO\" runs -n 0 --json | wc -l | tr -d ' '"
same "there are no more" "$(cat err)" ""

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
