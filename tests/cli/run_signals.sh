# rondo run and signals: the first stops the run, the second leaves.  Equal ones at once are one.  Children never stay
# behind.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1
set -m # a process group for each job, as in a shell
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); printf 'FAIL %s\n' "$*"; }

# until COMMAND...: waits until it succeeds
until_true() { until "$@" 2>/dev/null; do sleep 0.02; done; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }

# The child writes its pid and then ignores what it can.
flow() { # file, shell text
    cat >"$1" <<END
rondo: 1
name: stubborn
agents:
  s: { run: "$2", grace: 300ms }
  t: { run: [touch, cleaned] }
steps:
  - { id: one, agent: s, instructions: x }
  - { id: clean, agent: t, instructions: x, dependsOn: [one], runOn: always }
END
}
flow polite.yaml 'echo $$ >child; exec sleep 100'
flow stubborn.yaml 'trap \"\" TERM INT HUP; echo $$ >child; while :; do sleep 1; done'

# stop NAME STATUS ARGUMENTS SIGNAL...: sends the signals one after the other
stop() {
    local name=$1 wanted=$2 file=$3 job rc
    shift 3
    rm -f child cleaned
    "$RONDO" run $file >out 2>err </dev/null &
    job=$!
    until_true test -s child
    for s in "$@"; do
        kill "-$s" $job
        sleep 0.1
    done
    { wait $job; } 2>/dev/null
    rc=$?
    if [ $rc = "$wanted" ]; then ok; else bad "$name: status $rc, wanted $wanted: $(cat err)"; fi
    until_true is_gone "$(cat child)" # hangs when a child stays
    ok
}

is() { if [ "$2" = "$3" ]; then ok; else bad "$1: $2, expected $3"; fi; }

stop "Ctrl-C" 130 polite.yaml INT
if [ -e cleaned ]; then ok; else bad "runOn: always did not run: $(cat err)"; fi
if grep -q "cancelled" err && grep -q "SIGINT" err; then ok; else bad "no summary: $(cat err)"; fi
stop "SIGTERM" 143 polite.yaml TERM
if [ -e cleaned ]; then ok; else bad "runOn: always did not run after SIGTERM"; fi
id=$(sed -n 's/.*workflow_start [^(]*(\(r[0-9a-f]*\)).*/\1/p' err)
told=$("$RONDO" events --json "$id" | sed -n 's/.*"exitCode":\([0-9]*\).*/\1/p')
if [ "$told" = 143 ]; then ok; else bad "events --json tells another exit code later: $told"; fi
stop "a child that ignores SIGTERM" 130 stubborn.yaml INT
if [ -e cleaned ]; then ok; else bad "runOn: always did not run after a stubborn child"; fi
stop "SIGHUP" 129 polite.yaml HUP
stop "SIGTERM, quietly" 143 "polite.yaml --quiet" TERM
if grep -q "cancelled: stopped by SIGTERM" err && grep -q "go on with: rondo resume r" err; then ok
else bad "--quiet does not say how to go on: $(cat err)"; fi

# One grace period for all, also for those who are in a session of their own.
cat >deaf.yaml <<'END'
rondo: 1
name: deaf
agents:
  s: { run: "trap '' TERM; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & echo $$ >child; while :; do sleep 1; done", grace: 1500ms }
steps:
  - { id: one, agent: s, instructions: x }
  - { id: two, agent: s, instructions: x }
  - { id: three, agent: s, instructions: x }
END
for i in 1 2 3; do
    begun=$(date +%s%N)
    stop "deaf ones in sessions of their own" 130 deaf.yaml INT
    took=$((($(date +%s%N) - begun) / 1000000))
    if [ $took -lt 2900 ]; then ok; else bad "deaf ones took $took ms: $(cat err)"; fi
done

# Who follows it hears the same.
rm -f child
"$RONDO" run polite.yaml >out 2>err </dev/null &
job=$!
until_true test -s child
id=$(sed -n 's/.*workflow_start [^(]*(\(r[0-9a-f]*\)).*/\1/p' err)
"$RONDO" events --json --follow "$id" >followed &
until_true test -s followed
kill -TERM $job
wait
told=$(sed -n 's/.*"exitCode":\([0-9]*\).*/\1/p' followed)
if [ "$told" = 143 ]; then ok; else bad "events --follow --json tells another exit code: $told"; fi

# As timeout(1) does it: first the program, then its whole group, steps that are just being started included.
cat >short.yaml <<'END'
rondo: 1
name: short
agents: { s: { run: ["true"] } }
steps:
  - id: all
    loop: { maxIterations: 400 }
    steps: [ { id: one, agent: s, instructions: x } ]
END
has_begun() { grep -q "step_end all" "$1"; }
stop_group() { # number
    local err=err.$1 rest=$((RANDOM % 10)) job rc
    "$RONDO" run short.yaml >/dev/null 2>"$err" </dev/null &
    job=$!
    until_true has_begun "$err"
    sleep 0.0$rest
    kill -TERM $job
    kill -TERM -- -$job
    { wait $job; } 2>/dev/null
    rc=$?
    [ $rc = 0 ] && return # it was done already
    is "the group is told, too: status" $rc 143
    if grep -q "stopped by SIGTERM" "$err" && grep -q "go on with: rondo resume r" "$err"; then ok
    else bad "the group is told, too: it does not say so: $(tail -n 20 "$err")"; fi
    if grep -q "step_failed\|ended by signal\|left at once" "$err"; then bad "a step was hit: $(tail -n 20 "$err")"; else ok; fi
}
for i in $(seq 30); do stop_group "$i"; done
id=$(sed -n 's/.*go on with: rondo resume \(r[0-9a-f]*\).*/\1/p' err.30)
if [ -z "$id" ] || "$RONDO" resume --quiet "$id" >/dev/null 2>err; then ok; else bad "it cannot be resumed: $(cat err)"; fi

sed -i 's/grace: 300ms/grace: 60s/; s/\[touch, cleaned\]/"sleep 60; touch cleaned"/' stubborn.yaml
# leave NAME OPTION...: the same signal until it leaves.
leave() {
    local name=$1 job
    shift
    rm -f child cleaned
    "$RONDO" run "$@" stubborn.yaml >out 2>err </dev/null &
    job=$!
    until_true test -s child
    while kill -INT $job 2>/dev/null; do sleep 0.6; done
    { wait $job; } 2>/dev/null
    is "$name: status" $? 130
    until_true is_gone "$(cat child)"
    if [ ! -e cleaned ]; then ok; else bad "$name: it still cleaned up"; fi
    if grep -q "left at once" err && grep -q "go on with: rondo resume r" err; then ok; else bad "$name: $(cat err)"; fi
}
leave "Ctrl-C twice"
leave "Ctrl-C twice, quietly" --quiet
stop "Ctrl-C, then SIGTERM" 130 stubborn.yaml INT TERM
stop "SIGKILL leaves no child either" 137 stubborn.yaml KILL

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
