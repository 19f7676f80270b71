# workflow_doc.sh - every piece of YAML in docs/workflow.md is a piece of the example that stands above it.
passed=0 failed=0
cd "$ROOT" || exit 1

# Prints "FILE LINE" for each block and leaves the block in block.N.
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
awk -v tmp="$tmp" '
    /^```yaml$/ { n++; print n, NR, above; inside = 1; next }
    /^```$/ { inside = 0; next }
    inside { print > (tmp "/block." n) }
    { above = $0 }' docs/workflow.md >"$tmp/list"

while read -r n line above; do
    file=${above#\`} file=${file%\`}
    if [ -f "$file" ] && [[ $(cat "$file") == *"$(cat "$tmp/block.$n")"* ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL docs/workflow.md:$line: this does not stand in '$file'"
    fi
done <"$tmp/list"
[ $((passed + failed)) -ge 15 ] || { failed=$((failed + 1)); echo "FAIL docs/workflow.md: where are the examples?"; }
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
