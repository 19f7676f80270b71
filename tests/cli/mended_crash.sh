# A run moves to a changed file after a crash: attempts that were cut off begin anew with the new text, what they did of
# class `once` is asked about, and a kill in the middle of the move leaves the old run or the new one.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
. "$ROOT/tests/cli/talk_server"
export NO_COLOR=1
export RONDO_STORE=$PWD/runs.db

newest() { "$RONDO" runs -n 1 --json | jq -r .id; }
did() { tr '\n' ' ' <calls; }
edit() { sed -i "$@"; }
may=(--allow read --allow "bash(*)")
replays() { check "$1: replay" 0 "" "$RONDO" replay -q "$id"; }

# crash FILE TEXT OPTION...: a run that is killed when its events have that text, in $id
crash() {
    local file=$1 text=$2
    shift 2
    rm -f calls go events && touch calls events
    "$RONDO" run --json "$file" "$@" >events 2>err </dev/null & pid=$!
    wait_for events "$text"
    sleep 0.1
    kill -9 $pid; wait $pid 2>/dev/null
    id=$(newest)
    : >calls
}

# ---- a model at work ---------------------------------------------------------------------------------------

flow model.yaml <<'F'
name: model
agents: { w: { prompt: "You write.", model: compat/m, tools: [read, bash] } }
steps:
  - { id: one, run: "echo one >>calls" }
  - { id: a, agent: w, dependsOn: [one], instructions: "Old." }
F
echo tea >tea.txt
silence() { echo "wait 20000"; text "too late"; }
serve < <(calls c1 read '{"path":"tea.txt"}'; then_; silence)
crash model.yaml '"phase":"end"' "${may[@]}"
edit 's/Old\./New./' model.yaml
serve < <(text "Fine.")
check "a talk that was cut off begins anew" 0 "Fine." "$RONDO" resume -q --migrate "${may[@]}" "$id"
same "without what was said before" "$(asked 0 '.messages | map(.role) | join(" ")')" "system user"
if asked 0 '.messages[1].content' | grep -q 'New\.'; then ok; else bad "the text is old"; fi
same "what it had cost stays" "$("$RONDO" show "$id" a --json | jq -r '.usage.prompt, (.attempts | map(.path) | join(" "))' | tr '\n' ' ')" "200 a a~1 "
same "the step before it ran once" "$(did)" ""
replays "a talk"
"$RONDO" events "$id" >out
has "run_resumed: anew a"

# The same file: the talk goes on where it was.
serve < <(calls c1 read '{"path":"tea.txt"}'; then_; silence)
crash model.yaml '"phase":"end"' "${may[@]}"
serve < <(text "Fine.")
check "a talk whose work is the same" 0 "Fine." "$RONDO" resume -q --migrate "${may[@]}" "$id"
same "goes on" "$(asked 0 '.messages | map(.role) | join(" ")')" "system user assistant tool"
serve < <(calls c1 read '{"path":"tea.txt"}'; then_; silence)
crash model.yaml '"phase":"end"' "${may[@]}"
edit '/id: one/s/}/, description: changed }/; /id: a/s/instructions/retry: { attempts: 2 }, instructions/' model.yaml
edit '/id: one/s/, description: changed//' model.yaml
serve < <(text "Fine.")
check "other limits do not cut it off" 0 "Fine." "$RONDO" resume -q --migrate "${may[@]}" "$id"
same "either" "$(asked 0 '.messages | map(.role) | join(" ")')" "system user assistant tool"

# What it did of class once is named.
serve < <(calls c1 bash '{"command":"echo deployed"}'; then_; silence)
crash model.yaml '"phase":"end"' "${may[@]}"
edit 's/New\./Newer./' model.yaml
serve < <(text "Fine.")
check "what it did is asked about" 5 "" "$RONDO" resume -q --migrate "${may[@]}" "$id"
"$RONDO" show "$id" >out
has 'before, it did: bash {"command":"echo deployed"}'
check "a kill before the answer loses nothing" 5 "" "$RONDO" resume -q "${may[@]}" "$id"
echo "a: { content: by hand }" >answers.yaml
check "and somebody says what came out" 0 "by hand" "$RONDO" resume -q --answers answers.yaml "$id"
same "the model was not asked" "$(requests)" 0
replays "what it did"

# Cancelled with its run.
serve < <(calls c1 read '{"path":"tea.txt"}'; then_; silence)
: >events; rm -f calls
"$RONDO" run --json model.yaml "${may[@]}" >events 2>err </dev/null & pid=$!
wait_for events '"phase":"end"'
id=$(newest)
"$RONDO" cancel "$id" >out 2>&1
wait $pid
edit 's/Newer\./Newest./' model.yaml
serve < <(text "Fine.")
check "a talk that was cancelled" 0 "Fine." "$RONDO" resume -q --migrate "${may[@]}" "$id"
same "begins anew, too" "$(asked 0 '.messages | map(.role) | join(" ")')" "system user"
replays "cancelled"

# In a loop and in an item.
flow loops.yaml <<'F'
name: loops
agents: { w: { prompt: "You write.", model: compat/m, tools: [read] } }
steps:
  - { id: l, agent: w, instructions: "Old.", loop: { maxIterations: 3 } }
  - { id: all, agent: w, dependsOn: [l], instructions: "Old ${item}.", loop: { forEach: [x, y], maxConcurrency: 1 } }
F
serve < <(text "1."; then_; calls c1 read '{"path":"tea.txt"}'; then_; silence)
crash loops.yaml '"phase":"end".*tea' "${may[@]}"
edit 's/Old\./New./' loops.yaml
serve < <(text "2."; then_; text "3."; then_; text "X."; then_; calls c1 read '{"path":"tea.txt"}'; then_; silence)
: >events
"$RONDO" resume --json --migrate "${may[@]}" "$id" >events 2>err </dev/null & pid=$!
wait_for events '"phase":"end".*tea'
sleep 0.1
kill -9 $pid; wait $pid 2>/dev/null
if asked 0 '.messages[1].content' | grep -q 'New\.'; then ok; else bad "the pass has the old text"; fi
edit 's/Old \$/Anew $/' loops.yaml
serve < <(text "Y.")
check "an item that was cut off" 0 "" bash -c '"$RONDO" resume -q --migrate "$0" >/dev/null' "$id"
same "is the only one" "$(requests)" 1
if asked 0 '.messages[1].content' | grep -q 'Anew y\.'; then ok; else bad "the item has the old text"; fi
same "passes and items are there" "$("$RONDO" show "$id" --json | jq -r '[.steps[] | .passes // (.steps | length)] | join(" ")')" "3 2"
replays "a loop and an item"

# A judge.
flow judge.yaml <<'F'
name: judge
agents:
  w: { script: [one, two] }
  j: { prompt: "Old judge.", model: compat/m, tools: [read], resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } }
steps: [{ id: l, agent: w, loop: { maxIterations: 2, untilAgent: j } }]
F
serve < <(calls c1 read '{"path":"tea.txt"}'; then_; silence)
crash judge.yaml '"phase":"end".*tea' "${may[@]}"
edit 's/Old judge/New judge/' judge.yaml
serve < <(calls c1 submit_result '{"done":true}')
check "a judge that was cut off" 0 "one" "$RONDO" resume -q --migrate "${may[@]}" "$id"
same "begins anew" "$(asked 0 '.messages | map(.role) | join(" ")')" "system user"
if asked 0 '.messages[0].content' | grep -q 'New judge'; then ok; else bad "the judge is old"; fi
replays "a judge"

# ---- a command of class once ------------------------------------------------------------------------------------

flow once.yaml <<'F'
name: once
agents: { pay: { effects: once, run: "echo pay >>calls; test -e go || sleep 30; echo paid" } }
steps: [{ id: a, agent: pay, instructions: x }, { id: b, run: "echo end", dependsOn: [a] }]
F
crash once.yaml 'step_start'
edit 's/sleep 30/sleep 31/' once.yaml
touch go
check "nobody knows whether it has paid" 5 "" "$RONDO" resume -q --migrate "${may[@]}" "$id"
same "it did not pay once more" "$(did)" ""
echo "a: { content: by hand }" >answers.yaml
check "somebody knows" 0 "end" "$RONDO" resume -q --answers answers.yaml "$id"
same "nor then" "$(did)" ""
replays "once"

# ---- a gate --------------------------------------------------------------------------------------------------------

flow gate.yaml <<'F'
name: gate
steps: [{ id: ok, gate: { ask: Go on? } }, { id: b, run: "echo went", dependsOn: [ok] }]
F
check "waits for a person" 5 "" "$RONDO" run -q gate.yaml
id=$(newest)
edit 's/Go on?/Really?/' gate.yaml
check "another question" 5 "" "$RONDO" resume -q --migrate "${may[@]}" "$id"
"$RONDO" show "$id" >out
has "Really?"
hasnt "Go on?"
"$RONDO" answer "$id" ok~1 yes >out 2>&1
check "is answered" 0 "went" "$RONDO" resume -q "$id"
replays "gate"

# ---- bad input --------------------------------------------------------------------------------------------------

flow chain.yaml <<'F'
name: chain
agents:
  say: { run: "echo $RONDO_PATH >>calls; echo said" }
  odd: { run: "echo $RONDO_PATH >>calls; test -e go || exit 1; echo went" }
steps:
  - { id: one, agent: say }
  - { id: two, agent: odd, dependsOn: [one], instructions: "A ${steps.one.content}" }
F
fail() {
    rm -f calls go
    "$RONDO" run -q chain.yaml >out 2>err </dev/null
    id=$(newest)
    : >calls
    touch go
}
fail
cp chain.yaml old.yaml
edit 's/steps.one.content/steps.one.contents +/' chain.yaml
check "a text that does not compile" 2 "" "$RONDO" resume -q --migrate "${may[@]}" "$id"
says "chain.yaml:"
check "nor for a fork" 2 "" "$RONDO" fork -q "$id" --at two --workflow chain.yaml
check "a file that is not there" 2 "" "$RONDO" fork -q "$id" --at two --workflow nowhere.yaml
check "the run is as it was" 0 "went" "$RONDO" resume -q "$id"

cp old.yaml chain.yaml
edit 's/echo said/sleep 30/' chain.yaml
: >events; rm -f calls
"$RONDO" run --json chain.yaml >events 2>err </dev/null & pid=$!
wait_for events step_start
id=$(newest)
edit 's/went/moved/' chain.yaml
check "another process drives it" 7 "" "$RONDO" resume -q --migrate "${may[@]}" "$id"
says "$id"
kill -9 $pid; wait $pid 2>/dev/null

# ---- killed while it moves -------------------------------------------------------------------------------------------

killer=$(dirname "$RONDO")/tests/killer.so
cp old.yaml chain.yaml
edit 's/exit 1/exit 1; true/' chain.yaml
# The version that the run has: of the texts of its second step.
version() { "$RONDO" export "$id" 2>/dev/null | grep -ac 'echo moved' | sed 's/^[1-9].*/1/'; }
if [ -e "$killer" ] && [ -z "${SAN:-}" ]; then
    fail
    cp runs.db base.db; cp runs.db-wal base.db-wal 2>/dev/null
    edit 's/echo went/echo moved/' chain.yaml
    RONDO_STORE=$PWD/count.db
    cp base.db count.db; cp base.db-wal count.db-wal 2>/dev/null
    LD_PRELOAD=$killer RONDO_KILL_COUNT=$PWD/writes "$RONDO" resume -q --migrate "$id" >out 2>err </dev/null
    same "not killed" "$(cat out)" "moved"
    writes=$(cat writes)
    old=0 new=0
    for at in $(seq "$writes"); do
        for how in before half after; do
            rm -f try.db*
            cp base.db try.db; cp base.db-wal try.db-wal 2>/dev/null
            RONDO_STORE=$PWD/try.db
            LD_PRELOAD=$killer RONDO_KILL_AT=$at RONDO_KILL_HOW=$how "$RONDO" resume -q --migrate "$id" >out 2>err </dev/null & wait $! 2>/dev/null
            : >calls
            "$RONDO" resume -q "$id" >out 2>err </dev/null
            case $(cat out) in
            went) old=$((old + 1)) ;;
            moved) new=$((new + 1)) ;;
            *) bad "killed $how write $at of $writes: $(cat out err)" ;;
            esac
            grep -q one calls && bad "killed $how write $at: one ran once more"
            "$RONDO" replay -q "$id" >out 2>&1 || bad "killed $how write $at: replay: $(cat out)"
        done
    done
    if [ "$old" -gt 0 ] && [ "$new" -gt 0 ]; then ok; else bad "$old old runs, $new new ones of $writes writes"; fi
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
