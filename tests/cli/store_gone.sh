#!/bin/bash
# store_gone.sh - a store that is removed, renamed or replaced while a run goes on, and limits that end the program.
[ -x "$RONDO" ] || { echo "no program"; exit 77; }
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
says() { grep -qE -- "$2" "$3" && ok || bad "$1: no '$2' in $3: $(cat "$3")"; }
silent() { grep -qE -- "$2" "$3" && bad "$1: '$2' in $3: $(cat "$3")" || ok; }
export HOME=$PWD RONDO_STORE=$PWD/s.db NO_COLOR=1
gone="rondo run: store '$PWD/s.db': .* was removed or replaced while it was in use"

# The command waits for the file `go`; the run is under way when there is `begun`.
cat >long.yaml <<'Y'
rondo: 1
name: long
agents:
  w: { description: waits, run: "touch begun; until [ -e go ]; do sleep 0.01; done; echo answer" }
steps: [ { id: one, agent: w } ]
Y
cat >asks.yaml <<'Y'
rondo: 1
name: asks
agents:
  w: { description: waits, run: "touch begun; until [ -e go ]; do sleep 0.01; done; echo answer" }
steps:
  - { id: one, agent: w }
  - { id: ok, gate: { ask: "Go on?" }, dependsOn: [one] }
Y
# meanwhile FILE COMMAND...: runs FILE, and the command while it is under way; the status is in `status`
meanwhile() {
    local file=$1 i
    shift
    rm -f begun go out err s.db* moved.db*
    "$RONDO" run "$file" -q >out 2>err </dev/null &
    for ((i = 0; i < 1000; i++)); do [ -e begun ] && break; sleep 0.01; done
    "$@"
    touch go
    wait $!
    status=$?
}
whole() { "$RONDO" runs --json >/dev/null 2>err.runs; }
replace() { # by another store, with another run
    RONDO_STORE=$PWD/other.db "$RONDO" run one.yaml -q >/dev/null && mv other.db s.db
}
printf 'rondo: 1\nname: one\nagents: { a: { script: [x] } }\nsteps: [ { id: a, agent: a, instructions: x } ]\n' >one.yaml

meanwhile long.yaml true
[ "$status $(cat out)" = "0 answer" ] && ok || bad "nothing removed: $status $(cat out err)"
for what in "rm s.db s.db-wal s.db-shm" "rm s.db" "rm s.db-wal" "mv s.db moved.db" "replace"; do
    for file in long.yaml asks.yaml; do
        meanwhile $file $what
        [ $status = 1 ] && ok || bad "$what, $file: status $status: $(cat out err)"
        says "$what, $file" "$gone" err
        silent "$what, $file: nothing to go on with" "rondo resume" err
        [ ! -s out ] && ok || bad "$what, $file: an answer: $(cat out)"
    done
done
meanwhile long.yaml replace
whole && ok || bad "the store that took its place: $(cat err.runs)"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
