# rondo run --record and --replay: the same comes out, and what is not the same is said.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1 RONDO_STORE=$PWD/runs.db
. "$ROOT/tests/cli/checks"

# plain: events without what is another in every run: times, ids, partial output
plain() {
    grep -v '^{"type":"output"' |
        sed -E 's/"timestamp":"[^"]*"/"timestamp":0/; s/"runId":"[^"]*"/"runId":0/; s/"duration":"[^"]*"/"duration":0/g'
}

# same NAME FILE OPTIONS...: recorded and replayed, with events and without: all the same
same() {
    local name=$1 file=$2 rc again
    shift 2
    "$RONDO" run -q --json "$file" --record rec "$@" >events 2>err </dev/null
    rc=$?
    "$RONDO" run -q --json "$file" --replay rec >events2 2>err2 </dev/null
    again=$?
    plain <events >a
    plain <events2 >b
    if [ $rc = $again ] && cmp -s a b && cmp -s <(sed "/: it was run /d; /^go on with: /d" err) err2; then # a replay is not kept
        ok
    else
        bad "$name: status $rc, then $again"
        diff a b | head -n 6 | cut -c 1-300
        cat err2
    fi
    "$RONDO" run -q "$file" --replay rec --record anew >/dev/null 2>&1 </dev/null
    "$RONDO" run -q --json "$file" --replay anew 2>&1 </dev/null | plain >b
    if cmp -s a <(grep '^{' b); then ok; else bad "$name: a replay that is recorded: $(diff a b | head -n 6 | cut -c 1-300)"; fi
    "$RONDO" run -q "$file" --record rec "$@" >answer 2>err </dev/null
    check "$name: the answer" $? "$(cat answer)" "$RONDO" run -q "$file" --replay rec
}

for file in "$ROOT"/examples/*.yaml; do
    [ -f "${file%.yaml}.answers" ] && continue # answers that a gate refuses are on no recording
    same "$(basename "$file")" "$file"
done
for twin in escalate forum machine skills streaming stall memory_modes; do
    same "twins/$twin.yaml" "$ROOT/examples/twins/$twin.yaml"
done

flow late.yaml <<'END'
name: late
options: { onStepFailure: skip-dependents, maxConcurrency: 10 }
agents: { c: { run: "echo FAILED test_foo; echo oops >&2; sleep 100" }, q: { run: "sleep 100" } }
steps:
  - { id: a, agent: c, timeout: 300ms }
  - { id: b, agent: c, timeout: 500ms, retry: { attempts: 2, delay: 10ms } }
  - { id: q, agent: q, timeout: 700ms }
  - { id: l, agent: c, timeout: 900ms, loop: { maxIterations: 2 } }
END
same "time that is over" late.yaml

# ---- commands do not run again; failures, timeouts and cancelled work come back -------------------

flow counts.yaml <<'END'
name: counts
agents: { a: { run: "echo x >>calls; wc -l <calls" } }
steps: [ { id: one, agent: a, loop: { maxIterations: 3 } } ]
END
check "recording runs commands" 0 3 "$RONDO" run -q counts.yaml --record counts.rec
check "replaying does not" 0 3 "$RONDO" run -q counts.yaml --replay counts.rec
if [ "$(wc -l <calls)" = 3 ]; then ok; else bad "the command ran when it was replayed"; fi

flow fails.yaml <<'END'
name: fails
agents:
  busy: { run: "echo try later >&2; exit 75" }
  slow: { run: [sleep, "30"] }
  last: { run: [echo, cleaned] }
steps:
  - { id: one, agent: busy, retries: 1 }
  - { id: two, agent: slow, timeout: 200ms }
  - { id: three, agent: last, dependsOn: [one, two], runOn: always }
END
same "a failing run" fails.yaml
if grep -q '"path":"two".*"input":{},"overdue":"timed out after 200 ms"}$' rec; then ok; else bad "a cancelled call has no reply"; cat rec; fi
if grep -q '"code":"retry","message":"exit status 75: try later"' rec; then ok; else bad "the failure is recorded"; fi

flow gates.yaml <<'END'
name: gates
order: sequence
steps:
  - { id: first, gate: { ask: "Go?", schema: { type: boolean } } }
  - { id: second, gate: { ask: "And?", timeout: 20ms, onTimeout: { answer: later } } }
END
echo 'first: true' >answers
same "gates" gates.yaml --answers answers --store :memory:
check "gates are recorded" 0 later "$RONDO" run -q gates.yaml --answers answers --store :memory: --record gates.rec
check "and answered" 0 later "$RONDO" run -q gates.yaml --replay gates.rec
sed -i '/"path":"first"/d' gates.rec
check "a gate without an answer" 1 "" "$RONDO" run -q gates.yaml --replay gates.rec
says 'no recording for `first`'

flow model.yaml <<'END'
name: model
agents: { writer: { description: "Writes." } }
steps: [ { id: one, agent: writer, instructions: "Write." } ]
END
cat >model.rec <<'END'
{"rondo-recording":1,"workflow":"model"}
{"path":"one","prompt":{"system":"Writes.","user":"## Task\nWrite."},"input":{},"reply":{"content":"written"}}
END
check "models need not be there" 0 written "$RONDO" run -q model.yaml --replay model.rec

# A description is not given to a command; recordings of before that was so have it.
flow old.yaml <<'END'
name: old
agents: { c: { description: "Counts.", run: "exit 1" }, p: { description: "Counts.", prompt: "Count.", run: "exit 1" } }
steps: [ { id: one, agent: c, instructions: "Go." }, { id: two, agent: p, instructions: "Go.", dependsOn: [one] } ]
END
cat >old.rec <<'END'
{"rondo-recording":1,"workflow":"old"}
{"path":"one","kind":"command","prompt":{"system":"Counts.","user":"## Task\nGo."},"input":{},"reply":{"content":"1"}}
{"path":"two","kind":"command","prompt":{"system":"Count.","user":"## Task\nGo.\n\n## Previous Step Results\n\n### one (completed)\n1"},"input":{},"reply":{"content":"2"}}
END
check "an old recording of commands" 0 2 "$RONDO" run -q old.yaml --replay old.rec
sed -i 's/"Count."/"Count up."/' old.rec
check "another prompt of a command" 1 "" "$RONDO" run -q old.yaml --replay old.rec
says 'prompt.system'

# ---- nothing secret, nothing that changes ----------------------------------------------------------

flow secret.yaml <<'END'
name: secret
agents:
  a: { run: 'echo "$KEY $RONDO_RUN"', env: { KEY: "env:TEST_KEY" } }
  b: { run: [echo, "open sesame"] }
steps: [ { id: one, agent: a, instructions: "run ${run.id}" }, { id: two, agent: b, dependsOn: [one] } ]
END
export TEST_KEY="open sesame"
check "secrets" 0 "***" "$RONDO" run -q secret.yaml --record secret.rec
unset TEST_KEY
if grep -q sesame secret.rec; then bad "a secret in the recording"; else ok; fi
if grep -qF '{"content":"*** ${run.id}"}' secret.rec; then ok; else bad "what is hidden: $(cat secret.rec)"; fi
check "a replay needs no secrets" 0 "***" "$RONDO" run -q secret.yaml --replay secret.rec

times() { sed -E 's/,"at":[0-9.]+,"ms":[0-9.]+}$/}/' "$1"; }
"$RONDO" run -q "$ROOT/examples/refine.yaml" --record one.rec >out 2>&1
"$RONDO" run -q "$ROOT/examples/refine.yaml" --record two.rec >out 2>&1
if cmp -s one.rec two.rec; then ok; else bad "scripts are recorded the same every time"; fi
"$RONDO" run -q "$ROOT/examples/health_check.yaml" --record one.rec >out 2>&1
"$RONDO" run -q "$ROOT/examples/health_check.yaml" --record two.rec >out 2>&1
if [ "$(times one.rec)" = "$(times two.rec)" ]; then ok; else bad "only times differ"; fi

# ---- what is not the same ----------------------------------------------------------------------------

flow short.yaml <<'END'
name: refine
agents: { a: { script: [one, two, three] } }
steps: [ { id: refine, agent: a, instructions: "Work.", loop: { maxIterations: 3 } } ]
END
check "a loop" 0 three "$RONDO" run -q short.yaml --record short.rec
sed 's/maxIterations: 3/maxIterations: 3, until: "content == \x27one\x27"/' short.yaml >shorter.yaml
check "a loop that ends sooner" 0 one "$RONDO" run shorter.yaml --replay short.rec
says 'warning: recorded, but not asked for: `refine.1`, `refine.2`'
sed 's/Work/Play/' short.yaml >other.yaml
check "another prompt" 1 "" "$RONDO" run other.yaml --replay short.rec
says '`refine.0` is asked something else than what was recorded'
says '- Work.'
says '+ Play.'
sed '$d' short.rec >shorter.rec
check "a path that is not there" 1 "" "$RONDO" run -q short.yaml --replay shorter.rec
says 'no recording for `refine.2`; the recording has `refine.0` .. `refine.1` (shorter.rec)'

# ---- files ---------------------------------------------------------------------------------------------

check "no file" 3 "" "$RONDO" run -q short.yaml --replay none.rec
says "none.rec"
check "a foreign file" 3 "" "$RONDO" run -q short.yaml --replay short.yaml
says "is no recording"
check "another workflow's" 3 "" "$RONDO" run -q short.yaml --replay counts.rec
says "is a recording of workflow 'counts', and this is 'refine'"
cp short.yaml kept.yaml
check "a file that is no recording is kept" 3 "" "$RONDO" run -q short.yaml --record kept.yaml
if cmp -s short.yaml kept.yaml; then ok; else bad "it was written over"; fi
check "a folder" 3 "" "$RONDO" run -q short.yaml --record .
cp short.rec both.rec
check "both, and the same file" 0 "$("$RONDO" run -q short.yaml --replay short.rec)" "$RONDO" run -q short.yaml --record both.rec --replay both.rec
check "which then has it again" 0 "$(cat out)" "$RONDO" run -q short.yaml --replay both.rec
head -c $(($(wc -c <short.rec) - 20)) short.rec >cut.rec
check "a file that was cut off" 1 "" "$RONDO" run -q short.yaml --replay cut.rec
says "its last line is cut off"

# ---- with other options ----------------------------------------------------------------------------------

whole=$("$RONDO" run -q short.yaml --replay short.rec)
check "no store knows a replay" 3 "" "$RONDO" show --store x.db
check "a replay that is kept" 0 "$whole" "$RONDO" run -q short.yaml --replay short.rec --store x.db
id=$("$RONDO" runs --store x.db --json | jq -r .id)
if "$RONDO" show --store x.db "$id" | grep -q "3 passes"; then ok; else bad "is in the store: $("$RONDO" show --store x.db "$id")"; fi
at=$("$RONDO" runs --store x.db --json | jq .startMs)
if [ "$at" -gt 1700000000000 ]; then ok; else bad "its date: $at"; fi

flow asks.yaml <<'END'
name: asks
steps: [ { id: one, gate: { ask: Which? } }, { id: two, gate: { ask: And? }, dependsOn: [one] } ]
output: steps.one.content + steps.two.content
END
printf 'one: a\ntwo: b\n' >ab.yaml
printf 'two: c\n' >c.yaml
check "gates are recorded" 0 ab "$RONDO" run -q asks.yaml --record asks.rec --answers ab.yaml --store :memory:
check "and answered again" 0 ab "$RONDO" run -q asks.yaml --replay asks.rec
check "but those that --answers knows" 0 ac "$RONDO" run -q asks.yaml --replay asks.rec --answers c.yaml
if [ ! -s err ]; then ok; else bad "it is said of them: $(cat err)"; fi

# counts_up: every run of a session is told what the runs before it said
flow counts_up.yaml <<'END'
name: counts-up
agents: { a: { run: "grep -c '^x' || true", memory: said }, b: { run: [echo, x], memory: said } }
steps:
  - { id: count, agent: a, instructions: "${state.?n.orValue(0)}" }
  - { id: say, agent: b, dependsOn: [count] }
  - { id: more, set: { n: "state.?n.orValue(0) + 1" }, dependsOn: [say] }
output: "steps.count.content.trim() + ' ' + string(int(state.n))"
END
check "a session" 0 "0 1" "$RONDO" run -q counts_up.yaml --session s
check "that is recorded" 0 "1 2" "$RONDO" run -q counts_up.yaml --session s --record up.rec
check "the replay begins with what it held" 0 "1 2" "$RONDO" run -q counts_up.yaml --replay up.rec
check "and leaves it alone" 0 "2 3" "$RONDO" run -q counts_up.yaml --session s
check "a replay is recorded with it" 0 "1 2" "$RONDO" run -q counts_up.yaml --replay up.rec --record again.rec
check "and replayed" 0 "1 2" "$RONDO" run -q counts_up.yaml --replay again.rec
check "a session that holds something else" 1 "" "$RONDO" run -q counts_up.yaml --replay up.rec --session s
says "is asked something else than what was recorded"
check "a replay in a session" 0 "0 1" "$RONDO" run -q counts_up.yaml --session t --record first.rec
check "writes to it" 0 "0 1" "$RONDO" run -q counts_up.yaml --replay first.rec --session u
check "as the next run sees" 0 "1 2" "$RONDO" run -q counts_up.yaml --session u
sed '1s/"memory":{"said":\[/"memory":{"said":[],"x":["/; 1s/"session":{/"session":[],"x":{/' up.rec >odd.rec
check "a session that is none" 3 "" "$RONDO" run -q counts_up.yaml --replay odd.rec

# ---- runs that did not end -------------------------------------------------------------------------------

flow waits.yaml <<'END'
name: waits
order: sequence
agents: { a: { run: [echo, done] }, b: { run: "touch started; exec sleep 30" } }
steps: [ { id: one, agent: a }, { id: two, agent: b } ]
END
interrupted() {
    rm -f started
    "$RONDO" run -q waits.yaml --record waits.rec >out 2>&1 </dev/null &
    local pid=$!
    until [ -e started ]; do sleep 0.02; done
    kill "$1" $pid
    wait $pid 2>/dev/null
}
interrupted -KILL
check "a process that was killed leaves what it had" 1 "" "$RONDO" run -q waits.yaml --replay waits.rec
says 'no recording for `two`; the recording ends with `one`'
interrupted -INT
check "one that was stopped says what was under way" 1 "" "$RONDO" run -q waits.yaml --replay waits.rec
says '`two` was not answered when this was recorded, and nothing ends it now'

# ---- the document ------------------------------------------------------------------------------------------

rondo() { "$RONDO" "$@"; }
awk '/^```yaml$/ { on = 1; next } /^```$/ { on = 0 } on' "$ROOT/docs/testing.md" >dice.yaml
awk '/^```console$/ { on = 1; next } /^```$/ { on = 0 } on' "$ROOT/docs/testing.md" >shown
: >got
while IFS= read -r line; do
    printf '%s\n' "$line" >>got
    eval "${line#$ }" >>got 2>out || grep '^rondo run\|^  [-+]' out >>got
done < <(grep '^\$' shown)
if cmp -s shown got; then ok; else bad "docs/testing.md:"; diff shown got; fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
