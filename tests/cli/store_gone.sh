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

# ---- limits of the system ----------------------------------------------------------------------------------

# limited NAME LIMIT STATUS COMMAND...: the status under `ulimit LIMIT`; out and err have what it said
limited() {
    local name=$1 limit=$2 status=$3 got
    shift 3
    (ulimit $limit && exec "$RONDO" "$@") >out 2>err </dev/null
    got=$?
    [ $got = "$status" ] && ok || bad "$name: status $got, expected $status: $(cat err)"
}
# the line to type that err has, carried out without the limit
goes_on() {
    local line
    line=$(sed -n 's/.*go on with: rondo //p' err)
    [ -n "$line" ] && eval "\"$RONDO\" $line -q" >out 2>err2 && ok || bad "$1: '$line': $(cat err err2)"
}
cat >many.yaml <<'Y'
rondo: 1
name: many
agents:
  j: { script: [x] }
  big: { description: says much, run: "head -c 60000000 /dev/zero | tr '\\0' x", maxOutput: 100000000 }
  limit: { description: which signals are ignored, run: "sed -n 's/SigIgn:.//p' /proc/self/status" }
steps:
  - { id: l, agent: j, instructions: x, loop: { maxIterations: 1000 } }
  - { id: ignored, agent: limit, dependsOn: [l] }
Y
sed 's/1000 }/2 }/; s/agent: limit/agent: big/' many.yaml >big.yaml
rm -f s.db*
limited "a limit of file sizes" "-f 100" 1 run many.yaml -q
says "a limit of file sizes" "rondo run: store .*: cannot be written: files may not become so large \(ulimit -f\)" err
says "a limit of file sizes" "when that is mended, go on with: rondo resume" err
goes_on "a limit of file sizes"
((0x$(cat out) >> 24 & 1)) && bad "children ignore SIGXFSZ: $(cat out)" || ok # SIGXFSZ is 25

# So little that it must fail, and enough for the program itself: not under sanitizers.
if (ulimit -v 200000 && exec "$RONDO" version) >/dev/null 2>&1; then
    limited "no memory" "-v 150000" 1 run big.yaml -q
    says "no memory" "^rondo: out of memory" err
    says "no memory" "^go on with: rondo resume r" err
    goes_on "no memory"
    limited "no memory, and no store" "-v 150000" 1 run big.yaml -q --store :memory:
    says "no memory, and no store" "^rondo: out of memory" err
    silent "no memory, and no store" "resume" err
fi

run=$("$RONDO" run asks.yaml -q 2>&1 </dev/null | sed -n 's/.*go on with: rondo resume //p')
for n in 6 7 8 9 10 11 12; do
    limited "$n descriptors" "-n $n" 3 run one.yaml -q
    says "$n descriptors" "^rondo run: (no event loop: too many open files|store .* cannot be)" err
    limited "$n descriptors, resume" "-n $n" 3 resume "$run" -q
    says "$n descriptors, resume" "^rondo resume: (no event loop: too many open files|store .* cannot be)" err
    grep -q "cannot be" err || says "$n descriptors, resume" "when that is mended, go on with: rondo resume $run" err
done

echo "$passed passed, $failed failed"
[ $failed = 0 ]
