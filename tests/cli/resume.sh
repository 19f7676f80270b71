# rondo resume, cancel, answer: runs that outlive their process.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1
store=$PWD/runs.db
export RONDO_STORE=$store
. "$ROOT/tests/cli/checks"

# ---- after kill -9 -------------------------------------------------------------------------------

flow chain.yaml <<'END'
name: chain
agents:
  quick: { run: "echo $RONDO_PATH >> calls; echo quick" }
  slow: { run: "echo $RONDO_PATH >> calls; [ -e go ] || sleep 60; echo slow" }
steps:
  - { id: one, agent: quick, instructions: x }
  - { id: two, agent: slow, instructions: x, dependsOn: [one] }
  - { id: three, agent: quick, instructions: x, dependsOn: [two] }
END
begin_chain() { # until its second step is under way: $pid, $id
    rm -f go calls
    "$RONDO" run chain.yaml >out 2>started </dev/null &
    pid=$!
    wait_for calls two
    wait_for started workflow_start
    id=$(run_id started)
}
begin_chain
check "a second driver" 7 "" "$RONDO" resume "$id"
says "pid $pid"
kill -9 $pid
wait $pid 2>/dev/null
touch go
check "goes on after kill -9" 0 quick "$RONDO" resume "$id"
same "each completed step once, the one under way again" "$(tr '\n' ' ' <calls)" "one two two three "
check "a run that is done gives its answer again" 0 quick "$RONDO" resume "$id"
same "and does nothing" "$(wc -l <calls)" 4
check "a short id" 0 quick "$RONDO" resume "${id%????}"
check "no such run" 3 "" "$RONDO" resume rx
says "rx"

# ---- the definition is the one it was started with -------------------------------------------------

begin_chain
kill -9 $pid
wait $pid 2>/dev/null
cp chain.yaml kept.yaml
sed -i 's/echo quick/echo other/' chain.yaml
touch go
check "an edited file changes nothing" 0 quick "$RONDO" resume "$id"
rm chain.yaml
check "nor does one that is gone" 0 quick "$RONDO" resume "$id"
mv kept.yaml chain.yaml

flow later.yaml <<'END'
name: later
agents: { b: { run: test -e mended }, w: { script: [x] } }
steps:
  - { id: bad, agent: b, instructions: x }
  - { id: ask, dependsOn: [bad], gate: { ask: "go?" } }
  - { id: last, dependsOn: [ask], agent: w, instructions: x }
END
"$RONDO" run --quiet later.yaml >out 2>err </dev/null
id=$("$RONDO" runs -n 1 --json | jq -r .id)
touch mended
check "goes on up to the gate" 5 "" "$RONDO" resume --quiet "$id"
same "what had no try yet is still to come" "$("$RONDO" show --json "$id" | jq -c '[.steps[0, 2].status]')" \
    '["completed","pending"]'

# ZF-B25
# ---- failed and cancelled runs ------------------------------------------------------------------------

flow fails.yaml <<'END'
name: fails
agents:
  count: { run: "echo $RONDO_PATH >> tries; echo fine" }
  picky: { run: "echo $RONDO_PATH >> tries; test -e allowed && echo good" }
steps:
  - { id: first, agent: count, instructions: x }
  - id: again
    dependsOn: [first]
    loop:
      maxIterations: 2
      steps:
        - { id: a, agent: count, instructions: x }
        - { id: b, agent: picky, instructions: x, dependsOn: [a] }
END
check "fails" 1 "" "$RONDO" run fails.yaml
says "go on with: rondo resume"
id=$(run_id err)
touch allowed
check "a failed run goes on" 0 good "$RONDO" resume "$id"
same "completed work stays" "$(grep -c '^first$' tries) $(grep -c '^again.0.a$' tries) $(grep -c '^again.1.a$' tries)" "1 1 1"

begin_chain
kill -9 $pid
wait $pid 2>/dev/null
check "what was killed is cancelled here" 0 "" "$RONDO" cancel "$id"
if grep -q workflow_start err; then bad "what is old is told as new"; else ok; fi
says "run_resumed"

begin_chain
check "cancel asks the driver" 0 "" "$RONDO" cancel "$id"
wait $pid
same "the driver stops" $? 1
check "cancelling twice" 3 "" "$RONDO" cancel "$id"
says "cancelled"
"$RONDO" show "$id" two >out
if grep -q "^cancelled  *[1-9]" out; then ok; else bad "no time of what was cancelled: $(cat out)"; fi
touch go
check "a cancelled run goes on" 0 quick "$RONDO" resume "$id"

# An item that failed and then completed has nothing more to say of the failure.
flow items.yaml <<'END'
name: items
agents: { c: { run: [ sh, -c, "test -e mended" ] } }
steps: [ { id: all, loop: { forEach: "[1, 2]", steps: [ { id: a, agent: c } ] } } ]
END
"$RONDO" run items.yaml >out 2>err
id=$(grep -o 'resume r[0-9a-f]*' err | cut -d' ' -f2)
touch mended
"$RONDO" resume "$id" >out 2>err
same "an item that was mended" "$(grep -c '\[0\].*exit status' err)" 0

flow spends.yaml <<'END'
name: spends
agents: { s: { script: [ { content: draft, usage: { prompt: 60, completion: 40 } } ] } }
steps:
  - { id: one, agent: s, instructions: x }
  - { id: two, agent: s, instructions: x, dependsOn: [one] }
  - { id: three, agent: s, instructions: x, dependsOn: [two] }
END
check "a budget ends the run" 4 draft "$RONDO" run spends.yaml --max-tokens 150
id=$(run_id err)
check "and is still used up" 4 draft "$RONDO" resume "$id"
check "also when it is too small" 3 "" "$RONDO" resume "$id" --max-tokens 180
says "budget is used up (tokens)"
check "a larger one lets it go on" 0 draft "$RONDO" resume "$id" --max-tokens 1000
says "step_start three"
if grep -q "step_start one" err; then bad "one ran again"; else ok; fi
look() { "$RONDO" show "$id" >out; }
look
has "3/3 steps"
hasnt "cancelled"
flow cut.yaml <<'END'
name: cut
budget: { tokens: 1000 }
agents:
  s: { script: [ { content: draft, usage: { prompt: 400 } } ] }
  slow: { run: "sleep 0.05; echo late" }
steps:
  - id: t
    loop: { maxIterations: 5, steps: [ { id: d, agent: s, instructions: x } ] }
  - { id: u, agent: slow, instructions: x, dependsOn: [t] }
  - { id: n, agent: slow, instructions: x, dependsOn: [u], condition: "false" }
END
check "a budget ends a loop" 4 draft "$RONDO" run cut.yaml
spent=$id id=$(run_id err)
"$RONDO" show --json "$id" >out
hasnt '"durationMs":1[0-9]\{12\}'
check "it goes on" 0 "" "$RONDO" resume "$id" --max-tokens 50000
says "5 passes, cap"
if grep -q "step_end u ([0-9]*ms)" err; then ok; else bad "step_end u has no duration: $(cat err)"; fi
look
has "5 passes, cap"
hasnt "cancelled"
"$RONDO" show --json "$id" >out
has '"passes":5,"path":"t","reason":"max_iterations"'
hasnt '"durationMs":1[0-9]\{12\}'
"$RONDO" graph --run "$id" >out
has "5 passes"
"$RONDO" show "$id" u >out
if grep -q "^completed  *[1-9][0-9]*ms" out; then ok; else bad "no time: $(cat out)"; fi
"$RONDO" show "$id" t.0.d >out
has "400 tokens"
id=$spent
check "there is nothing to do twice" 3 "" "$RONDO" resume "$id" --max-tokens 2000
says "the run has completed"

flow reviewed.yaml <<'END'
name: reviewed
agents:
  writer: { run: "echo $RONDO_PATH >> drafts; echo draft" }
  critic: { run: "test -e pleased && echo 'APPROVE' || echo 'REJECT: dull'" }
  reader: { run: "echo $RONDO_PATH >> drafts; echo read" }
steps:
  - { id: text, agent: writer, instructions: x, review: { agent: critic } }
  - { id: after, agent: reader, instructions: x, dependsOn: [text] }
END
check "a rejected step fails the run" 1 "" "$RONDO" run reviewed.yaml
says "rejected by its review: dull"
id=$(run_id err)
touch pleased
check "it is written and looked at again" 0 read "$RONDO" resume "$id"
same "once more, and then read" "$(tr '\n' ' ' <drafts)" "text text~1 after "

for words in "exit 3" "echo hm"; do
    rm -f pleased drafts
    sed -i "s/^  critic: .*/  critic: { run: \"test -e pleased \&\& echo 'APPROVE' || $words\" }/" reviewed.yaml
    check "a step that nobody could review fails the run ($words)" 1 "" "$RONDO" run reviewed.yaml
    says "error text: the review"
    id=$(run_id err)
    touch pleased
    check "only the reviewer is asked again ($words)" 0 read "$RONDO" resume "$id"
    same "and then it is read ($words)" "$(tr '\n' ' ' <drafts)" "text after "
    same "it has completed ($words)" "$("$RONDO" eval --run "$id" steps.text.status)" '"completed"'
done

# ---- gates ------------------------------------------------------------------------------------------------

flow gate.yaml <<'END'
name: gate
agents: { say: { run: [echo, "done"] } }
steps:
  - { id: ok, gate: { ask: "Deploy?", schema: { enum: [yes, no] } } }
  - { id: last, agent: say, instructions: x, dependsOn: [ok] }
END
check "waits for a person" 5 "" "$RONDO" run gate.yaml
says "rondo answer"
id=$(run_id err)
check "still waits" 5 "" "$RONDO" resume "$id"
check "what it asks" 0 "ok: Deploy?
  expected: one of yes, no" "$RONDO" answer "$id"
check "a wrong answer" 3 "" "$RONDO" answer "$id" ok perhaps
check "an unknown gate" 3 "" "$RONDO" answer "$id" nope yes
says "open: ok"
check "an answer" 0 "" "$RONDO" answer "$id" ok yes
check "goes on" 0 "done" "$RONDO" resume "$id"
check "asks nothing any more" 0 "" "$RONDO" answer "$id"

flow reviewed_by.yaml <<'END'
name: reviewed_by
agents: { say: { run: [echo, "done"] } }
steps: [ { id: w, agent: say, instructions: x, review: { gate: { ask: "Good?" } } } ]
END
check "a person reviews" 5 "" "$RONDO" run reviewed_by.yaml
id=$(run_id err)
check "what is no review" 3 "" "$RONDO" answer "$id" w fine
says "expected APPROVE"
check "by the name of the step" 0 "" "$RONDO" answer "$id" w APPROVE
check "and only once" 3 "" "$RONDO" answer "$id" w APPROVE
says "answered already"
check "is approved" 0 "done" "$RONDO" resume "$id"

flow once.yaml <<'END'
name: once
agents: { pay: { run: "echo $RONDO_PATH >> paid; [ -e slow ] && sleep 60; echo paid", effects: once } }
steps: [ { id: o, agent: pay, instructions: x } ]
END
touch slow
"$RONDO" run once.yaml >out 2>started </dev/null &
pid=$!
wait_for paid o
wait_for started workflow_start
id=$(run_id started)
kill -9 $pid
wait $pid 2>/dev/null
rm slow
check "nobody knows what came of it" 5 "" "$RONDO" resume "$id"
check "nonsense is refused" 3 "" "$RONDO" answer "$id" o nonsense
says "expected retry, skip, fail, or an object"
check "an object of something else" 3 "" "$RONDO" answer "$id" o '{"reslut": 1}'
check "what can be done" 0 "" "$RONDO" answer "$id" o retry
check "is done" 0 paid "$RONDO" resume "$id"

# ---- cancelling shows what is new ---------------------------------------------------------------------------

check "a gate that is to be cancelled" 5 "" "$RONDO" run gate.yaml
id=$(run_id err)
check "goes on, once" 5 "" "$RONDO" resume "$id"
check "and twice" 5 "" "$RONDO" resume "$id"
before=$("$RONDO" events --json "$id" | wc -l)
"$RONDO" cancel --json "$id" 2>err | grep -v plan_ready >out
same "the first new event" "$(head -n 1 out | sed 's/.*"seq":\([0-9]*\).*/\1/')" "$((before + 1))"
same "every new event" "$("$RONDO" events --json "$id" | wc -l)" "$((before + $(wc -l <out)))"

flow gates.yaml <<'END'
name: gates
agents: { say: { run: [echo, "done"] } }
steps:
  - { id: first, gate: { ask: "One?" } }
  - { id: second, gate: { ask: "Two?" }, dependsOn: [first], condition: "steps.first.result == 'yes'" }
  - { id: last, agent: say, instructions: x, dependsOn: [second] }
END
check "the first of two" 5 "" "$RONDO" run gates.yaml
id=$(run_id err)
check "is answered" 0 "" "$RONDO" answer "$id" first yes
check "the second is asked" 5 "" "$RONDO" resume "$id"
says "rondo answer $id second VALUE"
check "is answered, too" 0 "" "$RONDO" answer "$id" second x
check "a text is a result" 0 "done" "$RONDO" resume "$id"

# ---- stores that cannot be used ------------------------------------------------------------------------------

check "in memory nothing is kept" 0 "done" "$RONDO" run --store :memory: --answers <(echo 'ok: yes') gate.yaml
check "a store that is not there" 3 "" "$RONDO" resume --store "$PWD/none.db" x
[ ! -e none.db ] && ok || bad "resume made a store"
echo "this is no database, but a text that is long enough to be looked at" >text.db
check "a store that is none" 3 "" "$RONDO" run --store "$PWD/text.db" chain.yaml
same "it is not touched" "$(cat text.db)" "this is no database, but a text that is long enough to be looked at"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
