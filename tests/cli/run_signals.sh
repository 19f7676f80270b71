# rondo run and signals: the first stops the run, the second leaves; children never stay behind.
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

# stop NAME STATUS FILE SIGNAL...: sends the signals one after the other
stop() {
    local name=$1 wanted=$2 file=$3 job rc
    shift 3
    rm -f child cleaned
    "$RONDO" run "$file" >out 2>err </dev/null &
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

sed -i 's/grace: 300ms/grace: 60s/; s/\[touch, cleaned\]/"sleep 60; touch cleaned"/' stubborn.yaml
stop "Ctrl-C twice" 130 stubborn.yaml INT INT
if [ ! -e cleaned ]; then ok; else bad "the second Ctrl-C still cleaned up"; fi
stop "Ctrl-C, then SIGTERM" 130 stubborn.yaml INT TERM
stop "SIGKILL leaves no child either" 137 stubborn.yaml KILL

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
