# limits.sh - rondo resume --limit: limits that are raised in a run that stopped, failed or completed.
cd "$(mktemp -d)" || exit 1
scratch=$PWD
trap 'cd /; rm -rf "$scratch"' EXIT
. "$ROOT/tests/cli/checks"
export XDG_DATA_HOME=$scratch/data NO_COLOR=1
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }

# Each call leaves a line in `calls`.
agents="agents:
  n: { run: 'echo \$RONDO_PATH >>calls; echo pass \$RONDO_PASS' }
  same: { run: 'echo \$RONDO_PATH >>calls; echo same' }
  bad: { run: 'echo \$RONDO_PATH >>calls; [ -e good ] && echo good' }
  dear: { script: [ { content: x, usage: { prompt: 60, completion: 40 } } ] }"
begin() { # STATUS FILE: runs it; id is the run's
    rm -f calls good
    "$RONDO" run --store s.db "$2" >out 2>err
    same "$2 at first" $? "$1"
    id=$(run_id err)
}
raise() { # NAME STATUS STDOUT LIMIT...: resumes with these limits
    local name=$1 status=$2 wanted=$3
    shift 3
    check "$name" "$status" "$wanted" "$RONDO" resume --store s.db "$id" "${@/#/--limit=}"
}
calls() { same "$1: calls" "$(sort calls 2>/dev/null | uniq -c | awk '{ print $2 ":" $1 }' | paste -sd' ')" "$2"; }
replays() { check "$1 replays" 0 "$("$RONDO" events --store s.db --json "$id" | wc -l | tr -d ' ') events" sh -c "\"$RONDO\" replay --store s.db $id | sed 's/ in .*//'"; }
ended() { same "$1: the end" "$("$RONDO" events --store s.db --json "$id" | jq -rs '[.[] | select(.type == "loop_end")][-1].data | [.reason, .passes, .bound] | map(tostring) | join(" ")')" "$2"; }

# ---- loops that have ended by a limit --------------------------------------------------------------------------
flow cap.yaml <<F
name: cap
$agents
steps: [ { id: l, agent: n, loop: { maxIterations: 2, until: content == 'pass 3', onMaxIterations: returnLast } } ]
F
begin 0 cap.yaml
raise "its cap is raised" 0 "pass 3" l:maxIterations=9
calls "completed at its cap" "l.0:1 l.1:1 l.2:1 l.3:1"
says "limits_changed l maxIterations=9"
says "pass 3/9"
replays "a completed run with a raised cap"
raise "a loop that has ended by its goal" 3 "" l:maxIterations=20
says "loop 'l' has ended (until): another limit would change nothing"

sed 's/, onMaxIterations: returnLast//; s/name: cap/name: fails/' cap.yaml >fails.yaml
begin 1 fails.yaml
raise "a loop that failed at its cap" 0 "pass 3" l:maxIterations=4
calls "failed at its cap" "l.0:1 l.1:1 l.2:1 l.3:1"
replays "a failed run with a raised cap"

begin 1 fails.yaml
raise "a cap that is too small again" 1 "" l:maxIterations=3
ended "too small again" "max_iterations 3 3"
says "loop 'l' exhausted 3 iterations"
raise "and raised once more" 0 "pass 3" l:maxIterations=4
calls "raised twice" "l.0:1 l.1:1 l.2:1 l.3:1"
replays "a run with a cap that was raised twice"

flow stall.yaml <<F
name: stall
$agents
steps: [ { id: l, agent: same, loop: { maxIterations: 9, stall: { repeats: 2 } } } ]
F
begin 0 stall.yaml
raise "a stalled loop goes on" 0 same l:stall.repeats=4
ended "stalled again" "stalled 4 4"
calls "stalled" "l.0:1 l.1:1 l.2:1 l.3:1"
replays "a stalled run"

flow plateau.yaml <<F
name: plateau
$agents
steps: [ { id: l, agent: same, loop: { maxIterations: 9, score: "1.0", patience: 2 } } ]
F
begin 0 plateau.yaml
raise "patience is raised" 0 same l:patience=5
ended "a plateau again" "plateau 6 5"
replays "a plateau"

flow spent.yaml <<F
name: spent
$agents
steps: [ { id: l, agent: dear, loop: { maxIterations: 9, budget: { tokens: 150, time: 1h, cost: 0.1 } } } ]
F
begin 0 spent.yaml
ended "spent" "tokens 2 150"
raise "less than is spent" 3 "" l:budget.tokens=200
says "l: budgetTokens 200 is used up already (200): give it more"
raise "a larger budget" 0 x l:budget.tokens=350 l:budget.time=2h l:budget.cost=0.5
says "limits_changed l budget.tokens=350 budget.time=2h budget.cost=0.5"
ended "spent again" "tokens 4 350"
replays "a loop with a larger budget"

flow failures.yaml <<F
name: failures
$agents
steps: [ { id: l, agent: bad, loop: { maxIterations: 9, onError: continue, delay: 0s, maxFailures: 2, until: content == 'good' } } ]
F
begin 1 failures.yaml
touch good
raise "after too many failures" 0 good l:maxFailures=5
ended "mended" "until 2 content == 'good'"
replays "a loop with more failures"

# ---- where it stands --------------------------------------------------------------------------------------------
flow nested.yaml <<F
name: nested
$agents
steps:
  - id: outer
    loop:
      maxIterations: 2
      steps:
        - { id: first, agent: same }
        - { id: inner, agent: n, dependsOn: [first], loop: { maxIterations: 2 } }
F
begin 0 nested.yaml
raise "the inner loop" 0 "pass 3" outer.inner:maxIterations=4
calls "an inner loop" "outer.0.first:1 outer.0.inner.0:1 outer.0.inner.1:1 outer.1.first:1 outer.1.inner.0:1 outer.1.inner.1:1 outer.1.inner.2:1 outer.1.inner.3:1"
raise "and the outer one, whose passes have the inner one's new cap" 0 "pass 3" outer:maxIterations=3
same "its last pass" "$(grep -c '^outer.2.inner' calls)" 4
replays "nested loops"

flow behind.yaml <<F
name: behind
$agents
steps:
  - { id: l, agent: n, loop: { maxIterations: 2 } }
  - { id: publish, agent: same, dependsOn: [l] }
F
begin 0 behind.yaml
raise "others have begun since then" 3 "" l:maxIterations=3
says "loop 'l' has ended, and others have begun since then: rondo fork $id --at l.1, and resume the fork with this limit"
check "the fork that it names" 0 "" sh -c "\"$RONDO\" fork --store s.db $id --at l.1 >/dev/null"
id=$(sed -n 's/.*rondo resume \(r[0-9a-f]*\).*/\1/p' err)
raise "works" 0 same l:maxIterations=3
same "and goes on from there" "$(grep -c '^l.2$' calls) $(grep -c '^publish$' calls)" "1 2"
replays "the fork"

# ---- the run itself, and one that was stopped ---------------------------------------------------------------------
flow poor.yaml <<F
name: poor
budget: { tokens: 150 }
$agents
steps: [ { id: l, agent: dear, loop: { maxIterations: 9 } } ]
F
begin 4 poor.yaml
raise "the run's budget" 4 x :budget.tokens=350
same "it is spent again" "$("$RONDO" show --store s.db --json "$id" | jq '[.. | .passes? // empty][0]')" 4
replays "a run with a larger budget"

flow killed.yaml <<F
name: killed
agents: { k: { run: 'echo \$RONDO_PATH >>calls; [ \$RONDO_PASS != 1 ] || [ -e good ] || kill -9 \$PPID; echo pass \$RONDO_PASS' } }
steps: [ { id: l, agent: k, loop: { maxIterations: 2 } } ]
F
rm -f calls good
"$RONDO" run --store s.db killed.yaml >out 2>err
id=$("$RONDO" runs --store s.db --json --limit 1 | jq -r .id)
touch good
raise "a run that was killed" 0 "pass 2" l:maxIterations=3
calls "killed" "l.0:1 l.1:2 l.2:1"
replays "a run that was killed"

# Killed right behind the change: it is there when the run goes on.
begin 1 fails.yaml
sed -i 's/n: { run: .echo/n: { run: '"'"'kill -9 $PPID; echo/' fails.yaml
"$RONDO" resume --store s.db --limit l:maxIterations=4 "$id" >out 2>err & # its own kept file is carried out
wait $!
check "the raised cap is kept" 0 "pass 3" "$RONDO" resume --store s.db "$id"

# ---- what is wrong ------------------------------------------------------------------------------------------------
wrong() { # LIMIT WORDS
    raise "$1" 3 "" "$1"
    says "$2"
}
sed 's/, onMaxIterations: returnLast//' cap.yaml >again.yaml
begin 1 again.yaml
wrong l:maxIterations=x "expected a number above 0, got 'x'"
wrong l:maxIterations=0 "expected a number above 0, got '0'"
wrong l:cap=3 "expected PATH:KEY=VALUE, KEY one of maxIterations, maxFailures, patience,"
wrong l "expected PATH:KEY=VALUE"
wrong l:timeout=5 "expected a duration with its unit"
raise "no such step" 2 "" m:maxIterations=3
says "there is no step 'm' in the workflow"
raise "a limit that it has not" 2 "" l:patience=3
says "loop 'l' has no patience"
raise "a limit that runs do not have" 2 "" :maxIterations=3
says "there is no limit 'maxIterations' that could be changed for the whole run"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
