# A step failed, its file is mended, and the run goes on: resume --migrate, fork --workflow.  What completed is never
# done again.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
. "$ROOT/tests/cli/talk_server"
export NO_COLOR=1
export RONDO_STORE=$PWD/runs.db

newest() { "$RONDO" runs -n 1 --json | jq -r .id; }
did() { tr '\n' ' ' <calls; }
count() { "$RONDO" runs -n 100 --json | wc -l; }
silent() { if grep -qF -- "$1" err; then bad "stderr has '$1':"; sed 's/^/  /' err; else ok; fi; }
edit() { sed -i "$@"; }

# fails FILE: a new run of it, in $id, which fails and fails again when it is resumed
fails() {
    rm -f calls && touch calls
    "$RONDO" run -q "$1" >out 2>err </dev/null && bad "$1 does not fail"
    id=$(newest)
    "$RONDO" resume -q "$id" >out 2>err </dev/null && bad "$1 does not fail again"
    : >calls
}
replays() { check "$1: replay" 0 "" "$RONDO" replay -q "$id"; }

# ---- four steps, of which the third fails --------------------------------------------------------------

flow four.yaml <<'F'
name: four
agents:
  say: { run: "echo $RONDO_PATH >>calls; echo said" }
  odd: { run: "echo $RONDO_PATH >>calls; echo broken >&2; exit 1" }
steps:
  - { id: one, agent: say }
  - { id: two, agent: say, dependsOn: [one] }
  - { id: three, agent: odd, dependsOn: [two] }
  - { id: four, agent: say, dependsOn: [three] }
F
cp four.yaml whole.yaml
rm -f calls
check "the third fails" 1 "" "$RONDO" run -q four.yaml
id=$(newest)
check "once more" 1 "" "$RONDO" resume -q "$id"
check "and again" 1 "" "$RONDO" resume -q "$id"
edit 's/echo broken >&2; exit 1/echo mended/' four.yaml
check "the old file is run, and that is said with --quiet, too" 1 "" "$RONDO" resume -q "$id"
says "note: step 'three' in $PWD/four.yaml is not what it was when run $id was started"
check "it moves to the mended file" 0 "said" "$RONDO" resume --migrate "$id"
says "+agent.run: echo \$RONDO_PATH >>calls; echo mended"
same "one and two ran once" "$(did)" "one two three three~1 three~2 three~3 three~4 four "
replays "four"
check "all attempts are shown" 0 "$(cat <<'END'
completed
mended
5 attempts:
  three  failed
    exit status 1: broken
  three~1  failed
    exit status 1: broken
  three~2  failed
    exit status 1: broken
  three~3  failed
    exit status 1: broken
  three~4  completed
END
)" bash -c '"$RONDO" show "$0" three | sed "s/  [0-9]*ms\$//"' "$id"
same "in JSON, too" "$("$RONDO" show "$id" three --json | jq -c '[.attempts[].status]')" \
    '["failed","failed","failed","failed","completed"]'
check "behind its end there is nothing to move" 3 "" "$RONDO" resume --migrate "$id"
says "has completed"
says "rondo fork $id --at PATH --workflow $PWD/four.yaml"

# ---- what is refused, and which fork does it ---------------------------------------------------------------

# as_told: the fork that a refusal named, in $fork
as_told() {
    local line
    line=$(sed -n 's/.*as it is: rondo \(fork .*\)/\1/p' err)
    [ -n "$line" ] || { bad "no fork is named:"; sed 's/^/  /' err; return; }
    eval "\"\$RONDO\" $line -q" >fork 2>err </dev/null || { bad "$line fails:"; sed 's/^/  /' err; }
    fork=$(cat fork)
}

cp whole.yaml four.yaml
fails four.yaml
edit 's/say: { run: "echo/say: { run: "echo -n; echo/' four.yaml
check "a step that has completed stays" 2 "" "$RONDO" resume --migrate "$id"
says "@@ one: changed, but it has ended @@"
says "--at one --workflow $PWD/four.yaml"
same "nothing ran" "$(did)" ""
silent "four: changed"
before=$(count)
check "a fork that does not fit is none" 2 "" "$RONDO" fork "$id" --at three --workflow four.yaml
same "nothing is left behind" "$(count)" "$before"
check "a file that is wrong is told" 2 "" "$RONDO" fork "$id" --at one --workflow tests.yaml
same "nor then" "$(count)" "$before"
"$RONDO" resume --migrate "$id" >out 2>err </dev/null
as_told
edit 's/echo broken >&2; exit 1/echo mended/' four.yaml
check "the fork that is named does it" 0 "said" "$RONDO" resume -q --migrate "$fork"
same "from there on" "$(did)" "one two three four "

cp whole.yaml four.yaml
fails four.yaml
edit 's/echo broken >&2; exit 1/echo mended/' four.yaml
check "fork and file in one" 0 "" bash -c '"$RONDO" fork -q "$0" --at three --workflow four.yaml >fork' "$id"
check "goes on with the file" 0 "said" "$RONDO" resume -q "$(cat fork)"
silent "note:"
same "and does what is left" "$(did)" "three~1 four "
check "its replay" 0 "" "$RONDO" replay -q "$(cat fork)"
: >calls
check "the first attempt has a name" 0 "" bash -c '"$RONDO" fork -q "$0" --at three~0 --workflow four.yaml >fork' "$id"
check "it is done anew" 0 "said" "$RONDO" resume -q "$(cat fork)"
same "as if it had never failed" "$(did)" "three four "

# Another kind, another place, another name: what the log says does not fit.
cp whole.yaml four.yaml
fails four.yaml
edit '/id: three/s/dependsOn: \[two\]/dependsOn: [two], loop: { maxIterations: 2 }/' four.yaml
check "another kind" 2 "" "$RONDO" resume --migrate "$id"
says "@@ three: changed, but it has begun, and is of another kind now @@"
says "--at 'three~0' --workflow"
edit 's/echo broken >&2; exit 1/echo mended/' four.yaml
"$RONDO" resume --migrate "$id" >out 2>err </dev/null
as_told
: >calls
check "fork at the first attempt" 0 "said" "$RONDO" resume -q "$fork"
same "which is a loop then" "$(did)" "three.0 three.1 four "
cp whole.yaml four.yaml
edit 's/id: three/id: third/; s/dependsOn: \[three\]/dependsOn: [third]/' four.yaml
check "another name is another step" 2 "" "$RONDO" resume --migrate "$id"
says "@@ three: removed, but it has begun @@"
cp whole.yaml four.yaml
edit 's/^agents:/budget: { tokens: 5 }\nagents:/' four.yaml
check "limits of the run" 2 "" "$RONDO" resume --migrate "$id"
says "--limit ':KEY=VALUE'"

# What the failed step waits for may change: it begins again.
cp whole.yaml four.yaml
edit 's/echo broken >&2; exit 1/cat new/; /id: three/s/dependsOn: \[two\]/dependsOn: [two, zero]/' four.yaml
echo '  - { id: zero, run: "echo $RONDO_PATH >>calls; echo new >new", dependsOn: [one] }' >>four.yaml
: >calls
check "a step before it" 0 "said" "$RONDO" resume -q --migrate "$id"
same "runs first" "$(did)" "zero three~2 four "
replays "a step before it"

# The agent of the failed step is that of steps that have completed, too.
flow shared.yaml <<'F'
name: shared
agents:
  say: { run: "echo $RONDO_PATH >>calls; case $RONDO_PATH in three*) exit 1;; esac; echo said" }
steps:
  - { id: one, agent: say }
  - { id: three, agent: say, dependsOn: [one] }
F
fails shared.yaml
edit 's/exit 1/true/' shared.yaml
check "an agent that steps share" 2 "" "$RONDO" resume --migrate "$id"
says "@@ one: changed, but it has ended @@"
says "what has ended is kept when the steps that are still to run have an agent of their own"
edit -e 's/) true/) exit 1/; s/^steps:/  other: { run: "echo mended" }\nsteps:/; /id: three/s/say/other/' shared.yaml
check "another one for the step that failed" 0 "mended" "$RONDO" resume -q --migrate "$id"
same "keeps what has ended" "$(did)" ""
replays "an agent that steps share"

# Its condition, too: it is asked again.
cp whole.yaml four.yaml
fails four.yaml
edit '/id: three/s/agent/condition: "false", agent/' four.yaml
check "a step that failed may be left out" 0 "said" "$RONDO" resume -q --migrate "$id"
same "and does not run" "$(did)" "four "
replays "left out"

# ---- a loop ----------------------------------------------------------------------------------------------------

flow loop.yaml <<'F'
name: loop
agents:
  say: { run: "echo $RONDO_PATH >>calls; echo old" }
  odd: { run: "echo $RONDO_PATH >>calls; case $RONDO_PATH in l.2*) exit 1;; esac; echo odd" }
steps:
  - { id: one, agent: say }
  - id: l
    dependsOn: [one]
    loop: { maxIterations: 4, order: sequence, outputMode: cumulative, steps: [{ id: d, agent: say }, { id: e, agent: odd }] }
  - { id: end, run: "echo x", dependsOn: [l] }
F
cp loop.yaml old-loop.yaml
fails loop.yaml
edit 's/exit 1;;/echo mended;;/; s/echo old/echo new/; s/maxIterations: 4/maxIterations: 5, until: "iteration == 3"/' loop.yaml
edit '/id: one/s/agent: say/run: "echo $RONDO_PATH >>calls; echo old"/' loop.yaml
check "one is another step then" 2 "" "$RONDO" resume --migrate "$id"
says "@@ one: changed, but it has ended @@"
cp old-loop.yaml loop.yaml
edit 's/exit 1;;/echo mended;;/; s/maxIterations: 4/maxIterations: 5, until: "iteration == 3"/' loop.yaml
edit 's/id: d, agent: say/id: d, agent: say, instructions: another text/' loop.yaml
check "texts, limits and conditions of a loop" 0 "x" "$RONDO" resume -q --migrate "$id"
same "count for the failed step and the passes behind it" "$(did)" "l.2.e~2 l.3.d l.3.e "
same "and end it" "$("$RONDO" show "$id" l --json | jq -r '"\(.reason) \(.passes)"')" "until 4"
replays "loop"

cp old-loop.yaml loop.yaml
edit 's/exit 1;;/echo mended;;/; s/maxIterations: 4/maxIterations: 3/; s/"echo x"/"exit 1"/' loop.yaml
"$RONDO" run -q loop.yaml >out 2>err
id=$(newest)
: >calls
edit 's/"exit 1"/"echo x"/; s/maxIterations: 3/maxIterations: 4/' loop.yaml
check "a loop that has ended stays" 2 "" "$RONDO" resume --migrate "$id"
says "@@ l: changed, but it has ended @@"
says "--at l.2 --workflow"
as_told
check "but for a fork in its last pass" 0 "x" "$RONDO" resume -q "$fork"
same "which has all passes before" "$(did)" "l.2.d l.2.e l.3.d l.3.e "

# Which counts: --limit, or the file?
flow caps.yaml <<'F'
name: caps
agents: { say: { run: "echo $RONDO_PATH >>calls; test ! -e stop-$RONDO_PATH" } }
steps: [{ id: l, agent: say, loop: { maxIterations: 2, maxFailures: 2 } }]
F
caps() { # VALUE OF FILE: passes that the run has in the end
    edit 's/maxIterations: [0-9]*/maxIterations: 2/; s/maxFailures: [0-9]*/maxFailures: 2/' caps.yaml
    rm -f calls stop-*
    touch stop-l.1 stop-l.4
    "$RONDO" run -q caps.yaml >out 2>err </dev/null
    id=$(newest)
    rm stop-l.1
    "$RONDO" resume -q --limit l:maxIterations=6 "$id" >out 2>err </dev/null
    rm stop-l.4
    edit "$1" caps.yaml
    "$RONDO" resume -q --migrate "$id" >out 2>err </dev/null
    "$RONDO" show "$id" l --json | jq -r .passes
}
same "a limit that the file does not change stays raised" "$(caps 's/maxFailures: 2/maxFailures: 3/')" 6
same "one that it changes is that of the file" "$(caps 's/maxIterations: 2/maxIterations: 5/')" 5
same "also when that is less" "$(caps 's/maxIterations: 2/maxIterations: 3/')" 5

# ---- items -----------------------------------------------------------------------------------------------------

flow items.yaml <<'F'
name: items
agents: { work: { run: "echo $RONDO_ITEM >>calls; test $RONDO_ITEM != 2; echo did $RONDO_ITEM" } }
steps:
  - { id: all, agent: work, loop: { forEach: [1, 2, 3, 4], onItemFailure: fail, maxConcurrency: 1 } }
F
edit 's/; echo did/ \&\& echo did/; s/onItemFailure: fail/onItemFailure: stop/' items.yaml
"$RONDO" check -q items.yaml 2>/dev/null || edit 's/, onItemFailure: stop//' items.yaml
fails items.yaml
edit 's/!= 2/!= 9/' items.yaml
check "an item" 0 "" bash -c '"$RONDO" resume -q --migrate "$0" >/dev/null' "$id"
same "and those that are left" "$(did)" "2 3 4 "
replays "items"
edit 's/forEach: \[1, 2, 3, 4\]/forEach: [1, 2, 3, 4, 5]/' items.yaml

flow some.yaml <<'F'
name: some
agents: { work: { run: "echo $RONDO_ITEM >>calls; test $RONDO_ITEM != 2 && echo did $RONDO_ITEM" } }
steps:
  - { id: all, agent: work, loop: { forEach: [1, 2, 3], onItemFailure: continue, maxConcurrency: 1 } }
F
rm -f calls && touch calls
check "a run with a failed item completes" 0 "" bash -c '"$RONDO" run -q some.yaml >/dev/null'
id=$(newest)
: >calls
edit 's/!= 2/!= 9/' some.yaml
check "and moves for its failed items" 0 "" bash -c '"$RONDO" resume -q --migrate --failed "$0" >/dev/null' "$id"
same "which alone run" "$(did)" "2 "
replays "failed items"

# ---- an included file ----------------------------------------------------------------------------------------

flow tail.yaml <<'F'
name: tail
agents:
  say: { run: "echo $RONDO_PATH >>calls; echo said" }
  odd: { run: "echo $RONDO_PATH >>calls; exit 1" }
steps: [{ id: first, agent: say }, { id: last, agent: odd, dependsOn: [first] }]
F
flow outer.yaml <<'F'
name: outer
includes: { tail: tail.yaml }
agents: { say: { run: "echo $RONDO_PATH >>calls; echo said" } }
steps: [{ id: one, agent: say }, { id: two, include: tail, dependsOn: [one] }]
F
fails outer.yaml
edit 's/exit 1/echo mended/' tail.yaml
check "a step of an included file" 0 "mended" "$RONDO" resume -q --migrate "$id"
same "alone" "$(did)" "two.last~2 "
replays "an included file"

# ---- a model -----------------------------------------------------------------------------------------------------

flow model.yaml <<'F'
name: model
agents:
  say: { run: "echo $RONDO_PATH >>calls; echo said" }
  w: { prompt: "You write.", model: compat/m, tools: [bash] }
steps: [{ id: one, agent: say }, { id: a, agent: w, dependsOn: [one], instructions: "Old." }]
F
rm -f calls && touch calls
serve < <(calls c1 bash '{"command":"echo deployed"}'; then_; echo 'status 400'; echo 'send {"error":{"message":"no such thing"}}')
"$RONDO" run -q model.yaml --allow 'bash(*)' >out 2>err </dev/null && bad "the model does not fail"
id=$(newest)
: >calls
edit 's/Old\./New./' model.yaml
serve < <(text "Fine.")
check "what it did is named, and it asks" 5 "" "$RONDO" resume -q --migrate --allow 'bash(*)' "$id"
same "nobody was asked yet" "$(requests)" 0
check "its new attempt waits" 0 "$(printf '%s\n' "2 attempts:" "  a  failed" "    compat/m: no such thing (status 400)" "  a~1  waiting")" \
    bash -c '"$RONDO" show "$0" a | sed "s/  [0-9]*ms\$//"' "$id"
"$RONDO" show "$id" >shown
if grep -q 'bash {"command":"echo deployed"}' shown; then ok; else bad "the effect is not named: $(cat shown)"; fi
echo 'a: retry' >answers.yaml
check "then it begins anew" 0 "Fine." "$RONDO" resume -q --answers answers.yaml --allow 'bash(*)' "$id"
same "with the new text alone" "$(asked 0 '.messages | map(.role) | join(" ")')" "system user"
if asked 0 '.messages[1].content' | grep -q 'New\.'; then ok; else bad "the text is old"; fi
same "what the old one cost stays" "$("$RONDO" show "$id" a --json | jq -r .usage.prompt)" 200
same "one ran once" "$(did)" ""
replays "model"

# ---- a step that is the body of its loop: its attempts are those of the pass -------------------------------------

flow pass.yaml <<'F'
name: pass
agents: { w: { run: "case $RONDO_PATH in lo.1*) echo broken >&2; exit 1;; esac; echo fine" } }
steps: [{ id: lo, agent: w, loop: { maxIterations: 2 } }]
F
fails pass.yaml
check "the try of a pass" 1 "" "$RONDO" resume -q "$id"
says "lo pass 2, try 3: exit status 1: broken"
edit 's/exit 1/true/' pass.yaml
check "it is mended" 0 "fine" "$RONDO" resume -q --migrate "$id"
same "the last attempt is shown" "$("$RONDO" show "$id" lo.1 --json | jq -c '[.status, .content, (.attempts | length)]')" '["completed","fine",4]'
same "or the one that is named" "$("$RONDO" show "$id" lo.1~0 --json | jq -c '[.status, .error]')" '["failed","exit status 1: broken"]'
same "or any other" "$("$RONDO" show "$id" lo.1~2 --json | jq -c .status)" '"failed"'

# ---- a gate that waits -------------------------------------------------------------------------------------------

flow gate.yaml <<'F'
name: gate
steps: [{ id: ask, gate: { ask: "Good?" } }]
F
check "a gate waits" 5 "" "$RONDO" run -q gate.yaml
id=$(newest)
same "and says so" "$("$RONDO" show "$id" ask --json | jq -c '.attempts | map(.status)')" '["waiting"]'
edit 's/Good/Really good/' gate.yaml
check "its question is mended" 5 "" "$RONDO" resume -q --migrate "$id"
same "the old one was cut off" "$("$RONDO" show "$id" ask --json | jq -c '[.status, (.attempts | map(.status))]')" '[null,["cut off","waiting"]]'
check "the answer" 0 "" "$RONDO" answer "$id" ask yes
check "is that to the new question" 0 "yes" "$RONDO" resume -q "$id"
same "which has ended" "$("$RONDO" show "$id" ask --json | jq -c '[.status, (.attempts | map(.status))]')" '["completed",["cut off","completed"]]'
replays "gate"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
