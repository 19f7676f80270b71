# people_doc.sh - the examples of docs/people.md, run one after the other in one shell: what stands below a command is what it says.
. "$ROOT/tests/cli/talk_server"
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export NO_COLOR=1 RONDO_STORE=$PWD/store/rondo.db
mkdir bin && ln -s "$RONDO" bin/rondo && PATH=$PWD/bin:$PATH
serve < <(calls c1 write '{"path":"todo.txt","content":"nothing"}'; then_; text "It is all written down.")

. "$ROOT/tests/cli/doc_blocks"
doc_blocks "$ROOT/docs/people.md"

for ((n = 1; ; n++)); do
    [ -f command.$n ] || break
    . ./command.$n >said 2>errors
    if diff -u out.$n said >difference; then
        ok
    else
        bad "docs/people.md: $(cat command.$n)"
        cat difference errors
    fi
done
[ $n -gt 10 ] || bad "docs/people.md: where are the examples?"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
