# The MCP client against servers that others wrote: server-everything (older era) and the newest SDK (newer era), each as a
# child and by HTTP.
. "$ROOT/tests/cli/checks"
. "$ROOT/tests/peers/servers"
npm_packages
suite=${RONDO%/*}/tests/mcp_suite
everything=$npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js
cp "$ROOT/tests/peers/mcp_modern.mjs" "$npm/" || exit 1
modern=$npm/mcp_modern.mjs

# said TOOL: what the last call of it came to
said() { jq -r --arg tool "suite__$1" 'select(.call == $tool) | "\(.error) \(.content | if type == "string" then . else tojson end)"' out | tail -1; }

# ---- the older era ---------------------------------------------------------------------------------

try_everything() { # NAME WAY...
    local name=$1
    shift
    "$suite" --verbose --call suite__echo '{"message":"Grüße"}' --call suite__get-sum '{"a":2,"b":40}' \
        --call suite__get-tiny-image '{}' --call suite__get-structured-content '{"location":"Chicago"}' \
        --call suite__get-resource-reference '{"resourceType":"Text","resourceId":1}' \
        --call suite__get-resource-links '{"count":2}' --call suite__get-annotated-message '{"messageType":"error"}' \
        --call suite__trigger-long-running-operation '{"duration":0.5,"steps":5}' \
        --call suite__trigger-elicitation-request '{}' --call suite__get-sum '{"a":"x"}' "$@" >out 2>err
    same "$name: exit status" $? 0
    [ "$(jq -r 'select(.tool) | .tool' out | wc -l)" -ge 13 ] && ok || bad "$name: too few tools"
    same "$name: echo" "$(said echo)" "false Echo: Grüße"
    grep -qF "the arguments of 'suite__get-sum' do not fit:\\n- a: expected number" out && ok ||
        bad "$name: wrong arguments are sent"
    grep -q '"The sum of 2 and 40 is 42."' out && ok || bad "$name: sum"
    grep -q '"image":{"type":"image/png"' out && ok || bad "$name: image"
    same "$name: structured" "$(said get-structured-content | cut -c1-6)" "false "
    grep -q 'demo://resource/dynamic/text/1' out && ok || bad "$name: resource"
    same "$name: long" "$(said trigger-long-running-operation)" \
        "false Long running operation completed. Duration: 0.5 seconds, Steps: 5."
    grep -q 'suite__trigger-elicitation-request","error":false' out && ok || bad "$name: elicitation"
    grep -q '^asked: ' err && ok || bad "$name: nobody was asked"
}

try_everything "as a child" -- node "$everything" stdio
port=$(free_port)
serve everything "listening on port" env PORT="$port" node "$everything" streamableHttp
try_everything "by HTTP" "http://127.0.0.1:$port/mcp"
grep -q "session termination request" everything.log && ok || bad "the session was not ended"

# 200 calls at a time
calls=()
for i in $(seq 200); do calls+=(--call suite__echo "{\"message\":\"$i\"}"); done
"$suite" --together "${calls[@]}" "http://127.0.0.1:$port/mcp" >out 2>err
same "200 calls by HTTP" "$(jq -r 'select(.error == false) | .content' out | sort -u | wc -l)" 200
"$suite" --together "${calls[@]}" -- node "$everything" stdio >out 2>err
same "200 calls of a child" "$(jq -r 'select(.error == false) | .content' out | sort -u | wc -l)" 200

# ---- the newer era ---------------------------------------------------------------------------------

try_modern() { # NAME WAY...
    local name=$1
    shift
    "$suite" --verbose --call suite__echo '{"text":"Grüße"}' --call suite__sum '{"a":2,"b":40}' --call suite__ask '{}' \
        --call suite__slow '{}' "$@" >out 2>err
    same "$name: exit status" $? 0
    same "$name: echo" "$(said echo)" "false Grüße"
    same "$name: sum" "$(said sum)" 'false {"sum":42}'
    same "$name: ask" "$(said ask)" "false blue, kept"
    same "$name: slow" "$(said slow)" "false done"
}

try_modern "newer child" -- node "$modern" stdio
serve modern "listening on" node "$modern" http
url=$(sed -n 's/.*listening on \(http[^ ]*\).*/\1/p' modern.log)
try_modern "newer by HTTP" "$url"

# What a server adds later is not used until somebody approves it.
"$suite" --pins "$PWD/pins.json" --call suite__grow '{}' --call suite__slow '{}' --call suite__slow '{}' \
    --call suite__slow '{}' --call suite__slow '{}' --call suite__slow '{}' "$url" >out 2>err
grep -q "the tool 'grown' is new since the server 'suite' was first used" err && ok || { bad "a new tool was not noticed"; cat err; }
"$suite" --pins "$PWD/pins.json" --verbose "$url" >out 2>err
grep -q '"suite__grown"' out && bad "a new tool is offered" || ok
same "the file of pins" "$(stat -c %a pins.json)" 600

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
