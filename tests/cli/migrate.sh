# rondo resume --migrate: a run moves to a changed workflow, if its past stays true.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1
export RONDO_STORE=$PWD/runs.db
. "$ROOT/tests/cli/checks"

silent() { if grep -qF -- "$1" err; then bad "stderr has '$1':"; sed 's/^/  /' err; else ok; fi; }

write_flow() {
    cat >flow.yaml <<'FLOW'
rondo: 1
name: chain
includes: { tail: tail.yaml }
agents:
  say: { run: "echo $RONDO_PATH >> calls; echo said", prompt: "@tone.md" }
  stop: { run: "echo $RONDO_PATH >> calls; test -e go && echo went" }
steps:
  - { id: one, agent: say }
  - { id: two, agent: stop, dependsOn: [one] }
  - { id: three, include: tail, dependsOn: [two] }
FLOW
    cat >tail.yaml <<'FLOW'
rondo: 1
name: tail
agents: { last: { script: [the end] } }
steps: [{ id: end, agent: last }]
FLOW
    echo "Be kind." >tone.md
}

# A run whose second step failed, in $id.
new_run() {
    rm -f go calls
    write_flow
    check "stops at its second step" 1 "" "$RONDO" run flow.yaml
    id=$(run_id err)
    touch go
}

# ---- what has not started ----------------------------------------------------------------------------

new_run
sed -i 's/the end/another end/' tail.yaml
check "an edit changes nothing" 0 "the end" "$RONDO" resume "$id"
says "note: step 'three.end' in $PWD/flow.yaml is not what it was when run $id was started"
check "nor is there anything to change behind the end" 3 "" "$RONDO" resume --migrate "$id"
says "has completed"

new_run
sed -i 's/the end/another end/' tail.yaml
sed -i 's/dependsOn: \[two\] }/dependsOn: [two, extra] }/' flow.yaml
echo '  - { id: extra, agent: say, dependsOn: [two] }' >>flow.yaml
check "a run moves" 0 "another end" "$RONDO" resume --migrate "$id"
says "--- run $id"
says "+++ $PWD/flow.yaml"
says "@@ three.end: changed @@"
says "@@ three: changed @@"
says '-dependsOn: ["two"]'
says '+dependsOn: ["extra","two"]'
says "@@ extra: added @@"
same "and does what is new" "$(tr '\n' ' ' <calls)" "one two two~1 extra "

# The next time it is the workflow that the run has.
check "it has moved for good" 0 "another end" "$RONDO" resume "$id"
silent "note:"

new_run
sed -i '/id: three/d' flow.yaml
check "what a failure has passed over cannot go" 2 "" "$RONDO" resume --migrate "$id"
says "@@ three: removed, but the run has passed it over already @@"

cat >gate.yaml <<'FLOW'
rondo: 1
name: gate
agents: { say: { script: [said] } }
steps:
  - { id: one, agent: say }
  - { id: ok, gate: { ask: go on? }, dependsOn: [one] }
  - { id: two, agent: say, dependsOn: [ok] }
  - { id: three, agent: say, dependsOn: [two] }
FLOW
check "waits for a person" 5 "" "$RONDO" run gate.yaml
id=$(run_id err)
sed -i '/id: three/d; s/script: \[said\] }/script: [said] }, new: { script: [new] }/; s/two, agent: say/two, agent: new/' gate.yaml
echo "ok: true" >answers.yaml
check "a step that has not started may go" 0 "new" "$RONDO" resume --migrate --answers answers.yaml "$id"
says "@@ three: removed @@"
says "-agent: say"
says "+agent: new"

# ---- what has ---------------------------------------------------------------------------------------------

refused() { # NAME STEP KEY
    check "$1" 2 "" "$RONDO" resume --migrate "$id"
    says "@@ $2: changed, but it has ended @@"
    says "$3"
    says "what has ended, or is there already, stays"
    says "rondo fork $id --at $2 --workflow $PWD/flow.yaml"
    same "$1: nothing ran" "$(tr '\n' ' ' <calls)" "one two "
}

new_run
echo "Be rude." >tone.md
refused "the text of a started agent" one "-  Be kind."
write_flow
sed -i 's/id: one, agent: say/id: one, agent: say, timeout: 5s/' flow.yaml
refused "a limit of a started step" one "+timeout: 5s"
write_flow
sed -i '/id: one/d; s/dependsOn: \[one\]/retry: { attempts: 2 }/' flow.yaml
check "a started step cannot go" 2 "" "$RONDO" resume --migrate "$id"
says "@@ one: removed, but it has begun @@"
write_flow
sed -i 's/name: chain/name: chain\ninputs: { x: { default: 1 } }/' flow.yaml
check "nor can the inputs change" 2 "" "$RONDO" resume --migrate "$id"
says "@@ (the file): changed, but the run has started @@"
write_flow
check "and it goes on as it was" 0 "the end" "$RONDO" resume "$id"
silent "note:"
same "with its completed work" "$(tr '\n' ' ' <calls)" "one two two~1 "

# ---- files ---------------------------------------------------------------------------------------------------

new_run
echo "steps: [" >flow.yaml
check "a file that is wrong" 2 "" "$RONDO" resume --migrate "$id"
says "flow.yaml:"
rm flow.yaml
check "a file that is gone" 2 "" "$RONDO" resume --migrate "$id"
mkdir -p other
write_flow
mv flow.yaml tail.yaml tone.md go other/
sed -i 's/the end/elsewhere/' other/tail.yaml
check "--workflow alone" 3 "" "$RONDO" resume --workflow other/flow.yaml "$id"
check "a file elsewhere" 0 "elsewhere" "$RONDO" resume --migrate --workflow other/flow.yaml "$id"

write_flow
rm -f go calls
check "from standard input" 1 "" bash -c '"$RONDO" run - <flow.yaml'
id=$(run_id err)
touch go
check "has no file" 3 "" "$RONDO" resume --migrate "$id"
says "--workflow FILE"
check "unless one is given" 0 "the end" "$RONDO" resume --migrate --workflow flow.yaml "$id"
says "is what it was when run"

# ---- a cap that changes: each pass is told with the one of its time -------------------------------------------

capped() { # CAP
    flow capped.yaml <<END
name: capped
steps:
  - { id: l, run: 'echo pass \$RONDO_PASS', loop: { maxIterations: $1, mustHold: true, onMaxIterations: returnLast, until: content == 'pass 9' } }
END
}
told() { "$RONDO" events "$1" | grep -o 'iteration_start.*\|cap: .*)' | sed 's/iteration_start l pass //; s/ was reached after//' | tr '\n' ' '; }
ends() { "$RONDO" events --json "$1" | jq -r 'select(.type == "loop_end") | .data.bound' | tr '\n' ' '; }

capped 2
"$RONDO" run capped.yaml >out 2>err
id=$(run_id err)
check "its limit is raised" 8 "" "$RONDO" resume "$id" --limit l:maxIterations=3
capped 4
check "then the file's" 8 "" "$RONDO" resume "$id" --migrate
same "each cap in its time" "$(told "$id")" \
    "1/2 2/2 cap: it pass 2 (maxIterations: 2) 3/3 cap: it pass 3 (maxIterations: 3) 4/4 cap: it pass 4 (maxIterations: 4) "
capped 3
check "a smaller one" 8 "" "$RONDO" resume "$id" --migrate
says "go on with: rondo resume $id --limit l:maxIterations=8"
same "with its bounds" "$(ends "$id")" "2 3 4 3 "
check "what it says to go on with" 8 "" "$RONDO" resume "$id" --limit l:maxIterations=8
check "replay" 0 "" "$RONDO" replay -q "$id"
new=$("$RONDO" fork -q "$id" --at l --pass 4)
capped 5
check "a fork with another file" 8 "" "$RONDO" resume "$new" --migrate
same "has the old caps before it" "$(told "$new")" \
    "1/2 2/2 cap: it pass 2 (maxIterations: 2) 3/3 cap: it pass 3 (maxIterations: 3) 4/4 5/5 cap: it pass 5 (maxIterations: 5) "
check "replay of it" 0 "" "$RONDO" replay -q "$new"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
