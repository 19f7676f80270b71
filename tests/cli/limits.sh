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
same "what happened before is told as it was" "$("$RONDO" events --store s.db --json "$id" | jq -rs '[.[] | select(.type == "iteration_start" or .type == "loop_end").data | .cap // .bound] | join(" ")')" "2 2 2 9 9 content == 'pass 3'"
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
says "loop 'l' exhausted 3 iterations: until never held"
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
says "l: budget.tokens 200 is used up already: expected more than 200"
raise "a larger budget" 0 x l:budget.tokens=350 l:budget.time=2h l:budget.cost=250.5
says "limits_changed l budget.tokens=350 budget.time=2h budget.cost=250.5"
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

# ---- loops that have ended in a run that has not ---------------------------------------------------------------------
newest() { "$RONDO" runs --store s.db --json --limit 1 | jq -r .id; }
forks() { # NAME: the fork that the refusal names
    local at
    at=$(sed -n "s/.*rondo fork $id --at \([^,]*\), and resume.*/\1/p" err)
    check "$1: the fork that it names" 0 "" sh -c "\"$RONDO\" fork --store s.db $id --at '$at' >/dev/null"
    id=$(newest)
}
# k kills its driver while it is at work, b is at work until it may end.
more="$agents
  k: { run: 'echo \$RONDO_PATH >>calls; [ -e good ] || kill -9 \$PPID; echo k' }
  slow: { run: 'echo \$RONDO_PATH >>calls; touch began; while [ ! -e good ]; do sleep 0.02; done; echo slow' }"
killed() { # FILE: runs it until it kills itself; id is the run's
    rm -f calls good began
    { "$RONDO" run --store s.db "$1" >out 2>err; } 2>/dev/null
    id=$(newest)
    touch good
}

flow beside.yaml <<F
name: beside
$more
steps:
  - { id: a, agent: n, loop: { maxIterations: 2 } }
  - { id: b, run: 'sleep 0.3; echo \$RONDO_PATH >>calls; [ -e good ] || kill -9 \$PPID' }
  - { id: join, agent: same, dependsOn: [a, b] }
F
killed beside.yaml
raise "a loop beside what was at work" 0 same a:maxIterations=4
calls "beside" "a.0:1 a.1:1 a.2:1 a.3:1 b:2 join:1"
says "run_resumed: again b"
replays "a loop that was opened again beside what was at work"
same "its passes are one loop's" "$("$RONDO" history --store s.db --json "$id" a | wc -l | tr -d ' ')" 4

killed beside.yaml
raise "less than it has" 3 "" a:maxIterations=2
says "a: maxIterations 2 is used up already: expected more than 2"
check "then it goes on as it was" 0 same "$RONDO" resume --store s.db "$id"
calls "as it was" "a.0:1 a.1:1 b:2 join:1"

killed beside.yaml
"$RONDO" resume --store s.db "$id" --limit a:maxIterations=3 >/dev/null 2>&1
raise "once more when it has ended" 3 "" a:maxIterations=5
says "others have begun since then: rondo fork $id --at a.2, and resume"
forks "when it has ended"
raise "which works" 0 same a:maxIterations=5
same "there" "$(grep -c '^a.[234]$' calls) $(grep -c '^join$' calls)" "4 2"

# It is stopped behind the loop, before the next step.
flow stopped.yaml <<F
name: stopped
$more
steps:
  - { id: l, run: 'echo \$RONDO_PATH >>calls; touch began; while [ ! -e good ]; do sleep 0.02; done; echo pass \$RONDO_PASS', loop: { maxIterations: 1 } }
  - { id: publish, agent: same, dependsOn: [l] }
F
rm -f calls good began
"$RONDO" run --store s.db stopped.yaml >out 2>err &
while [ ! -e began ]; do sleep 0.02; done
id=$(newest)
"$RONDO" cancel --store s.db --after-pass "$id" 2>/dev/null
touch good
wait $!
raise "a loop behind whose last pass the run was stopped" 0 same l:maxIterations=3
calls "stopped" "l.0:1 l.1:1 l.2:1 publish:1"
replays "a run that was stopped behind a loop"

# A gate has begun: the fork goes on.
flow gated.yaml <<F
name: gated
$agents
steps:
  - { id: l, agent: n, loop: { maxIterations: 2 } }
  - { id: ok, gate: { ask: 'Go on?' }, dependsOn: [l] }
F
begin 5 gated.yaml
raise "a loop before a gate that waits" 3 "" l:maxIterations=4
says "loop 'l' has ended, and others have begun since then: rondo fork $id --at l.1, and resume"
forks "a gate waits"
raise "which asks when it has gone on" 5 "" l:maxIterations=4
calls "gated" "l.0:1 l.1:2 l.2:1 l.3:1"

# What is around it begins it anew, with the new limit.
flow outer.yaml <<F
name: outer
$more
steps:
  - id: outer
    loop:
      maxIterations: 2
      steps:
        - { id: inner, agent: n, loop: { maxIterations: 1 } }
        - { id: last, agent: k, dependsOn: [inner] }
F
killed outer.yaml
raise "an inner loop that will begin anew" 0 k outer.inner:maxIterations=2
calls "inner, later" "outer.0.inner.0:1 outer.0.last:2 outer.1.inner.0:1 outer.1.inner.1:1 outer.1.last:1"
replays "an inner loop with a limit for later passes"

sed 's/name: outer/name: stops/; s/k, dependsOn/slow, dependsOn/' outer.yaml >stops.yaml
rm -f calls good began
"$RONDO" run --store s.db stops.yaml >out 2>err &
while [ ! -e began ]; do sleep 0.02; done
id=$(newest)
"$RONDO" cancel --store s.db "$id" 2>/dev/null
wait $!
touch good
raise "the same in a run that was cancelled" 0 slow outer.inner:maxIterations=2
calls "inner, later, cancelled" "outer.0.inner.0:1 outer.0.last:1 outer.0.last~1:1 outer.1.inner.0:1 outer.1.inner.1:1 outer.1.last:1"

flow paused.yaml <<F
name: paused
$agents
steps:
  - id: outer
    loop:
      maxIterations: 2
      delay: 1s
      steps: [ { id: inner, agent: n, loop: { maxIterations: 1 } } ]
F
rm -f calls
"$RONDO" run --store s.db --timeout 500ms paused.yaml >out 2>err
same "it has ended while the outer one waits" $? 124
id=$(newest)
check "an inner loop whose outer one waits" 0 "pass 2" "$RONDO" resume --store s.db --timeout 60s --limit outer.inner:maxIterations=3 "$id"
calls "while the outer one waited" "outer.0.inner.0:1 outer.1.inner.0:1 outer.1.inner.1:1 outer.1.inner.2:1"
replays "an outer loop that waited"

# A step that did not begin, because of what the loop had come to, is judged once more.
flow judged.yaml <<F
name: judged
$agents
steps:
  - { id: l, agent: n, loop: { maxIterations: 2 } }
  - { id: publish, agent: same, dependsOn: [l], condition: "steps.l.content == 'pass 3'" }
F
begin 0 judged.yaml
raise "a step that did not begin" 0 same l:maxIterations=4
calls "judged once more" "l.0:1 l.1:1 l.2:1 l.3:1 publish:1"
replays "a step that is judged once more"

# One that ended by its goal, while others go on.
sed "s/maxIterations: 2 }/maxIterations: 9, until: content == 'pass 1' }/; s/name: beside/name: done/" beside.yaml >done.yaml
killed done.yaml
raise "a loop that has reached its goal" 3 "" a:maxIterations=20
says "loop 'a' has ended (until): another limit would change nothing"

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
says "maxIterations is a limit of a loop: name it, as in l:maxIterations"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
