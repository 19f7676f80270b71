#!/bin/bash
# old_ids.sh - runs of 0.1.0 whose ids have signs that no new run may have: they are read, shown and resumed, and do
# nothing to a terminal or to files.
[ -x "$RONDO" ] || { echo "no program"; exit 77; }
command -v sqlite3 >/dev/null && command -v script >/dev/null || { echo "there is no sqlite3, or no script"; exit 77; }
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
export HOME=$PWD RONDO_STORE=$PWD/s.db LC_ALL=C.UTF-8 TERM=xterm NO_COLOR=1

cat >flow.yaml <<'Y'
rondo: 1
name: asks
agents: { a: { script: [x] } }
steps:
  - { id: l, agent: a, instructions: x, loop: { maxIterations: 2 } }
  - { id: ok, gate: { ask: "Go on?" }, dependsOn: [l] }
Y
# old ID: a run that waits, under this id
old() {
    rm -f s.db*
    "$RONDO" run flow.yaml -q >/dev/null 2>&1 </dev/null
    sqlite3 s.db "UPDATE run SET id = CAST(x'$(printf %s "$1" | od -An -tx1 | tr -d ' \n')' AS TEXT)"
}
# on_terminal COMMAND...: what a terminal gets in `out`, stderr too; the status
on_terminal() {
    printf '%q ' "$RONDO" "$@" >command
    script -qec "bash command" /dev/null >out </dev/null
}
evil=$'e\e[31mred\nx y\xc2\x9b2J'

# ---- on a terminal ------------------------------------------------------------------------------------------
for command in "runs" "runs --json" "show RUN" "show RUN --json" "show RUN l" "show RUN nosuch" "events RUN" "events RUN --json" \
    "events RUN --path nosuch" "history RUN l" "history RUN nosuch" "history RUN l --json" "replay RUN" "graph --run RUN" \
    "eval --run RUN 1" "answer RUN" "answer RUN nosuch x" "send RUN nosuch hello" "fork RUN --at l.1" "fork RUN --at nosuch" \
    "resume RUN" "resume RUN -q" "resume RUN --migrate --workflow other.yaml" "resume RUN --failed" "cancel RUN" \
    "show RUN" "du RUN" "du RUN --json" "sessions" "gc --older 0d --dry-run" "gc --older 0d --dry-run --json" "rm RUN x"; do
    [ "$command" = runs ] && old "$evil" && sed 's/x, loop/y, loop/' flow.yaml >other.yaml
    words=()
    for word in $command; do words+=("${word/#RUN/$evil}"); done
    on_terminal "${words[@]}"
    # What draws a live view moves the cursor; nothing else may be there but lines.
    if sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g' out | grep -qP '\xc2[\x80-\x9f]|[\x00-\x08\x0b\x0c\x0e-\x1f]' ||
        grep -qP '\x1b\[31mred' out || grep -q '^x y' out; then
        bad "$command: $(cat -v out)"
    else ok; fi
done

# ---- beside the terminal ------------------------------------------------------------------------------------
for id in "../../tmp/evil" "a b" "-x" ".hidden" "$evil"; do
    old "$id"
    [ "$("$RONDO" runs --json | jq -r .id)" = "$id" ] && ok || bad "'$id' is not in the list"
    mkdir -p folder/in && rm -f folder/in/* && cd folder/in || exit 1
    "$RONDO" export -- "$id" 2>../../err && ok || bad "export of '$id': $(cat ../../err)"
    [ "$(find ../.. -name '*.rondo' | wc -l)" = 1 ] && [ "$(ls *.rondo | wc -l)" = 1 ] && ok || bad "export of '$id': $(find ../..)"
    file=$(ls)
    case $file in [a-zA-Z0-9_]*) ok ;; *) bad "a file '$file'" ;; esac
    grep -qF "is in $file" ../../err && ok || bad "export of '$id' says: $(cat ../../err)"
    cd ../..
    RONDO_STORE=$PWD/new.db "$RONDO" import "folder/in/$file" >out 2>err
    [ $? = 1 ] && grep -q 'the id of a run' err && ! grep -q $'\e' err && ok || bad "import of '$id': $(cat -v err)"
    printf 'ok: true\n' >answers.yaml
    "$RONDO" resume -q --answers answers.yaml -- "$id" >out 2>err && ok || bad "resume of '$id': $(cat -v err)"
    "$RONDO" replay -- "$id" >out 2>err && ok || bad "replay of '$id': $(cat -v err)"
done
old "a b"
"$RONDO" resume "a b" -q 2>err
grep -qF "rondo resume 'a b'" err && ok || bad "the line to type: $(cat err)"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
