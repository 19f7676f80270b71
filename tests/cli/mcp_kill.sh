# When the program is killed without warning no MCP server survives it, however stubborn.
. "$ROOT/tests/cli/checks"
here=${RONDO%/*}/tests
[ -x "$here/mcp_suite" ] && [ -x "$here/test_mcp" ] || { echo "the client was not built"; exit 77; }

# servers WORD: how many mocks of this test there are
servers() { grep -lz "^MCP_MOCK=.*$1" /proc/[0-9]*/environ 2>/dev/null | wc -l; }

for i in $(seq 8); do
    mark=mark-$$-$i
    "$here/mcp_suite" --call suite__echo '{"text":"up"}' --call suite__hangs '{}' -- \
        env MCP_MOCK="stubborn $mark" "$here/test_mcp" >out 2>err &
    client=$!
    wait_for out '"content":"up"'
    for _ in $(seq 100); do [ "$(servers "$mark")" = 1 ] && break; sleep 0.02; done
    same "trial $i: a server" "$(servers "$mark")" 1
    kill -KILL $client
    wait $client 2>/dev/null
    for _ in $(seq 1000); do [ "$(servers "$mark")" = 0 ] && break; sleep 0.02; done
    same "trial $i: survivors" "$(servers "$mark")" 0
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
