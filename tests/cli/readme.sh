# readme.sh - the workflows of README.md do what it says.
set -uo pipefail
. "$ROOT/tests/cli/checks"
. "$ROOT/tests/cli/doc_blocks"
unset ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL RONDO_MODEL

doc_blocks "$ROOT/README.md"
for file in flow.yaml article.yaml; do
    check "$file is right" 0 "" "$RONDO" check "$file"
    same "without a warning" "$(cat err)" ""
    "$RONDO" rehearse -q "$file" >out 2>err </dev/null && ok || bad "$file cannot be rehearsed: $(cat err)"
done
check "the first one runs" 0 $'1\n2\n3' "$RONDO" run flow.yaml
says "loop_end produce until: it held after pass 2"
check "the second one needs a key" 3 "" "$RONDO" run article.yaml
says "ANTHROPIC_API_KEY"
says "rondo rehearse article.yaml"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
