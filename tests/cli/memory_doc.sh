# memory_doc.sh - the examples of docs/memory.md, run one after the other: what stands below a command is what it says.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export NO_COLOR=1 RONDO_STORE=$PWD/store/rondo.db
passed=0 failed=0
mkdir bin && ln -s "$RONDO" bin/rondo && PATH=$PWD/bin:$PATH

. "$ROOT/tests/cli/doc_blocks"
doc_blocks "$ROOT/docs/memory.md"

same_time() { sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}/2026-01-01 12:00/g'; }

for ((n = 1; ; n++)); do
    [ -f command.$n ] || break
    if diff -u out.$n <(bash command.$n 2>err | same_time) >difference; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL docs/memory.md: $(cat command.$n)"
        cat difference err
    fi
done
[ $n -gt 12 ] || { failed=$((failed + 1)); echo "FAIL docs/memory.md: where are the examples?"; }
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
