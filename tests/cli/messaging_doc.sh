# messaging_doc.sh - the examples of docs/messaging.md, run one after the other: what stands below a command is what it says.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export NO_COLOR=1 RONDO_STORE=$PWD/store/rondo.db
passed=0 failed=0
mkdir bin && ln -s "$RONDO" bin/rondo && PATH=$PWD/bin:$PATH

. "$ROOT/tests/cli/doc_blocks"
doc_blocks "$ROOT/docs/messaging.md"

for ((n = 1; ; n++)); do
    [ -f command.$n ] || break
    if diff -u out.$n <(bash command.$n 2>err) >difference; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL docs/messaging.md: $(cat command.$n)"
        cat difference err
    fi
done
[ $n -gt 3 ] || { failed=$((failed + 1)); echo "FAIL docs/messaging.md: where are the examples?"; }

# A message from outside reaches a run that nobody drives when it goes on, once.
cat >gated.yaml <<'END'
rondo: 1
name: gated
agents:
  worker: { run: "cat $RONDO_INBOX" }
steps:
  - { id: wait, gate: { ask: "ready?" } }
  - { id: worker, agent: worker, dependsOn: [wait] }
END
rondo run gated.yaml </dev/null >/dev/null 2>&1
id=$(rondo runs --json 2>/dev/null | jq -r 'if type == "array" then .[] else . end | select(.name == "gated") | .id' | head -1)
check() { # what, expected, found
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $1: $3"; fi
}
rondo send "$id" worker "from a shell" 2>said
check "the message is kept" "rondo send: kept; go on with: rondo resume $id" "$(cat said)"
rondo send "$id" worker " " 2>said; check "a message needs a text" 3 $?
rondo send "$id" worker x --kind shout 2>said; check "a message has a kind" 3 $?
rondo answer "$id" wait yes 2>/dev/null
check "the step has it" "from a shell" "$(rondo resume "$id" 2>/dev/null | jq -r .text)"
check "once" 1 "$(rondo events "$id" --json 2>/dev/null | grep -c agent_inbox_drain)"
rondo send "$id" worker "late" 2>said
check "a run that has ended takes none" "rondo send: run $id has ended: it is completed" "$(cat said)"
check "replay agrees" 0 "$(rondo replay "$id" >/dev/null 2>&1; echo $?)"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
