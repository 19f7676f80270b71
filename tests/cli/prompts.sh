# What agents are shown: each tests/prompts/NAME.yaml is rehearsed, and its prompts are compared with
# NAME.txt, which holds them all in the order of their paths.  UPDATE=1 writes those files anew.
if ! "$RONDO" help rehearse >/dev/null 2>&1; then
    echo "rondo cannot rehearse yet"
    exit 77
fi
export LC_ALL=C
passed=0 failed=0

for flow in "$ROOT"/tests/prompts/*.yaml; do
    name=$(basename "$flow" .yaml)
    wanted=$ROOT/tests/prompts/$name.txt
    "$RONDO" rehearse --quiet --prompts "$name" --context "told from outside" "$flow" >"$name.out" 2>"$name.err"
    rc=$?
    (cd "$name" && for f in *; do printf '===== %s\n' "${f%.txt}"; cat "$f"; done) >"$name.txt"
    [ -n "${UPDATE:-}" ] && cp "$name.txt" "$wanted"
    if [ $rc = 0 ] && diff -u "$wanted" "$name.txt" >"$name.diff" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s (status %s)\n' "$name" "$rc"
        cat "$name.err" "$name.diff"
    fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
