#!/bin/bash
# cancels.sh - runs that were stopped at a random moment replay equal: by `rondo cancel`, by a signal, by a deadline, by
# a budget, by a sibling.  CANCELS runs in all (60).
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1 RONDO_STORE=$PWD/store.db
passed=0 failed=0
count=${CANCELS:-60}

agents='agents:
  w: { run: ["sh", "-c", "sleep 0.00; echo x"] }
  once: { run: ["sh", "-c", "sleep 0.00; echo x"], effects: once }
  slow: { run: ["sh", "-c", "sleep 0.01; echo x"] }'
flow() { printf 'rondo: 1\nname: %s\n%s\n' "$1" "$agents" >"$1.yaml"; cat >>"$1.yaml"; }
flow plain <<'F'
steps:
  - { id: l, agent: w, loop: { maxIterations: 3 } }
  - { id: m, agent: once, loop: { maxIterations: 3 } }
  - { id: n, agent: slow, loop: { maxIterations: 5 } }
F
flow deadline <<'F'
steps:
  - { id: l, agent: w, timeout: 4ms, loop: { maxIterations: 3, onMaxIterations: returnLast } }
  - { id: m, agent: once, timeout: 6ms }
F
flow budget <<'F'
steps:
  - { id: l, budget: { time: 4ms }, loop: { maxIterations: 3, onMaxIterations: returnLast, steps: [{ id: a, agent: slow }, { id: b, agent: once }] } }
  - { id: m, agent: slow, budget: { time: 5ms } }
F
agents="$agents
  bad: { run: ['sh', '-c', 'sleep 0.00; exit 1'] }"
flow sibling <<'F'
options: { onStepFailure: abort }
steps:
  - { id: a, agent: w, loop: { maxIterations: 3, onMaxIterations: returnLast } }
  - { id: b, agent: once }
  - { id: c, agent: w }
  - { id: d, agent: bad }
F

# One run, stopped in that way: sets id, and counts in early.
run_one() { # cause
    local job file=plain
    [ -e "$1.yaml" ] && file=$1
    rm -f out
    id=
    "$RONDO" run "$file.yaml" --json >out 2>err </dev/null &
    job=$!
    until [ -n "$id" ]; do
        kill -0 $job 2>/dev/null || id=none # it is looked at once more
        read -r line 2>/dev/null <out && [[ $line =~ \"runId\":\"([^\"]*)\" ]] && id=${BASH_REMATCH[1]}
    done
    case $1 in
    cancel) sleep "0.00$((RANDOM % 10))" && "$RONDO" cancel "$id" >/dev/null 2>&1 ;;
    signal) sleep "0.00$((RANDOM % 10))" && kill -INT $job 2>/dev/null ;;
    esac
    wait $job
    grep -q '"step_cancelled"' out && early=$((early + 1))
}

for cause in cancel signal deadline budget sibling; do
    early=0
    for ((i = 0; i < (count + 4) / 5; i++)); do
        run_one $cause
        if "$RONDO" replay -q "$id" 2>why; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            printf 'FAIL %s, run %s\n' "$cause" "$i"
            cat why
        fi
    done
    if [ $early -eq 0 ] && [ -z "${SAN:-}" ]; then # with sanitizers everything comes too late
        failed=$((failed + 1))
        printf 'FAIL %s: no step was cancelled\n' "$cause"
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
