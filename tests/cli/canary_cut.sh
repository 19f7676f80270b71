#!/bin/bash
# canary_cut.sh - a secret exactly where rondo shortens a text: no piece of it is written down, nor sent to a model.
. "$ROOT/tests/cli/talk_server"
[ -x "$server" ] && command -v jq >/dev/null || { echo "the server was not built, or there is no jq"; exit 77; }
export NO_COLOR=1
key=qZ7hR2mX9kW4tB8nV3cL6pY1sD5fG0jAeUuOoIiT # no piece of eight stands in it twice
: >log
export CANARY=$key COMPAT_API_KEY=$key
for i in $(seq 0 32); do echo "${key:i:8}"; done >pieces
fill() { head -c "$1" /dev/zero | tr '\0' "$2"; }
many() { fill "$1" p; for _ in $(seq "$2"); do printf %s "$key"; done; } # PADDING TIMES

# run WHAT FILE ARGS...: everything that is written of a run is in kept/; no piece is in it, and the mark is
run() {
    local what=$1 file=$2 found
    shift 2
    rm -rf kept && mkdir kept
    timeout 60 "$RONDO" run -v "$file" ${allow---yolo} --store kept/s.db --record kept/rec --prompts kept/prompts "$@" \
        >kept/out 2>kept/err </dev/null
    timeout 60 "$RONDO" run --json "$file" ${allow---yolo} --store kept/s2.db "$@" >kept/json 2>kept/err2 </dev/null
    "$RONDO" events "$(run_id kept/err)" -v --store kept/s.db >kept/events 2>&1
    # What the model says itself is sent back to it as it is.
    jq -c '.body | select(. != "") | fromjson | .tools, (.messages[]? | select(.role != "assistant"))' log >kept/sent 2>kept/bad
    [ -s kept/bad ] && bad "$what: requests are not whole: $(cat kept/bad)"
    found=$(grep -raohFf pieces kept | sort | uniq -c | head -3)
    if [ -n "$found" ]; then bad "$what: $found in $(grep -ralFf pieces kept | tr '\n' ' ')"; else ok; fi
    if grep -raqF -e '***' -e ___ kept || [ -n "${no_mark:-}" ]; then ok; else bad "$what: the secret was nowhere: $(tail -3 kept/err)"; fi
}

# ---- commands: K bytes of the secret are on the one side of the cut, the rest on the other ----------------

cat >out.sh <<'END'
fill() { head -c "$1" /dev/zero | tr '\0' "$2"; }
echo "the whole: $KEY"
sleep 0.2 # so that the beginning is shown as it comes
fill $((2000 - 52 - $1)) x; printf %s "$KEY"; fill 500 y
END
cat >err.sh <<'END'
{ printf %s "$KEY"; head -c $((4096 - 41 - $1)) /dev/zero | tr '\0' z; echo "$KEY"; } >&2
exit 1
END
cat >reply.sh <<'END'
fill() { head -c "$1" /dev/zero | tr '\0' x; }
printf '{"content": "%s\\u0071%s, and more"}' "$(fill $((2000 - $1)))" "${KEY:1}" >"$RONDO_REPLY"
echo "$KEY"
END
for k in 1 9 20 39; do
    for what in out err reply; do
        no_mark=$([ $what = reply ] && echo 1) # nothing else of it is shown
        flow command.yaml <<END
name: command
agents: { a: { run: [bash, $what.sh, "$k"], env: { KEY: "env:CANARY" }, maxOutput: 2000 } }
steps: [ { id: s, agent: a, instructions: x } ]
END
        run "$what.sh, $k bytes" command.yaml
    done
done
no_mark=

# Cut by rondo, which ends the command.
cat >slow.sh <<'END'
printf 'the whole: %s, half of it: %s' "$KEY" "${KEY:0:20}"
printf 'the whole: %s, half of it: %s' "$KEY" "${KEY:0:20}" >&2
exec sleep 60
END
flow slow.yaml <<'END'
name: slow
agents: { a: { run: [bash, slow.sh], env: { KEY: "env:CANARY" }, timeout: 700ms } }
steps: [ { id: s, agent: a, instructions: x } ]
END
run "a command that is too slow" slow.yaml

# ---- what tools are asked and what they say -----------------------------------------------------------------

for k in 1 9 20 39; do
    { fill $((2000 - k)) x; printf '%s' "$key"; fill 100 y; echo; echo "the whole: $key"; } >long
    { fill $((400 - k)) g; printf '%s' "$key"; fill 100 y; echo; } >grepped
    { fill 20 g; printf 'EDIT'; fill $((176 - k)) e; printf '%s' "$key"; fill 100 y; echo; } >edited
    { fill $((65536 - k)) h; printf '%s' "$key"; fill 400000 m; printf '%s' "$key"; fill $((131072 - k)) t; } >middle
    { fill $((4194304 - k)) h; printf '%s' "$key"; fill 1000 m; } >huge
    { for _ in $(seq 140); do fill 1900 r; echo; done; many 0 2000; } >large
    long=$(many "$k" 80)
    cat >tools.yaml <<END
rondo: 1
name: tools
agents: { w: { prompt: p, model: compat/m, tools: [bash, read, write, edit, grep, glob, fetch] } }
steps: [ { id: a, agent: w, instructions: x } ]
END
    answer() {
        calls a bash '{"command":"cat middle"}' b bash '{"command":"cat huge"}' c read '{"path":"long"}' \
            d grep '{"pattern":"ggg","path":"grepped"}' e edit '{"path":"edited","old":"EDITe\nno","new":"x"}' f read '{"path":"large"}' \
            g read "$(jq -nc --arg a "$long" '{path: $a}')" h glob "$(jq -nc --arg a "$long/" '{pattern: ("/" + $a)}')" \
            i grep "$(jq -nc --arg a "$long" '{pattern: ("(" + $a)}')" j fetch "$(jq -nc --arg a "$long" '{url: ("ftp://" + $a)}')" \
            k fetch "$(jq -nc --arg a "$(many "$k" 15)" '{url: ("http://127.0.0.1:1/" + $a)}')" \
            l fetch "$(jq -nc --arg a "$(many "$k" 6)" '{url: ("http://" + $a + ".invalid/")}')" \
            m "$(many "$k" 5)" '{}' q "$key" '{}' n "$long" '{}' o read "$(jq -nc --arg a "$long" '{path: [$a]}')" \
            p read "$(jq -nc --arg a "$long" '{path: "long", offset: $a}')" r bash "$(jq -nc --arg a "$long" '{command: ("exit 3 #" + $a)}')" \
            s write "$(jq -nc --arg a "$long" --arg b "$(many "$k" 5)" '{path: ($b + "/../../" + $a), content: "x"}')"
        echo then
        text "done"
    }
    { answer; echo then; answer; } >said
    serve <said
    run "tools, $k bytes" tools.yaml
done

# ---- prompts, questions, and the last words of a model ---------------------------------------------------------

for k in 1 9 20 39; do
    { fill $((118 * 1024)) f; many "$k" 100; } >big
    flow prompt.yaml <<END
name: prompt
agents:
  a: { run: [bash, -c, 'echo "the whole: \$KEY"'], env: { KEY: "env:CANARY" } }
  b: { run: [wc, -c] }
steps: [ { id: s, agent: a, instructions: x, contextFiles: [big] }, { id: t, agent: b, instructions: x, contextFiles: [big] } ]
END
    run "a prompt, $k bytes" prompt.yaml
    flow result.yaml <<END
name: result
agents: { w: { prompt: p, model: compat/m, maxTurns: 2, resultSchema: { type: object, properties: { n: { type: integer } } } } }
steps: [ { id: a, agent: w, instructions: x } ]
END
    for _ in 1 2 3; do calls a submit_result "$(jq -nc --arg a "$(many "$k" 3)" '{n: $a}')"; echo then; text "$(many "$k" 30)"; echo then; done | sed '$d' >said
    serve <said
    run "last words, $k bytes" result.yaml
    calls a bash "$(jq -nc --arg a "$(many "$k" 80)" '{command: ("true " + $a)}')" >said
    serve <said
    flow ask.yaml <<END
name: ask
agents: { w: { prompt: p, model: compat/m, tools: [bash] } }
steps: [ { id: a, agent: w, instructions: x } ]
END
    allow= run "a question, $k bytes" ask.yaml --ask bash
done

# ---- what a server says instead of an answer ----------------------------------------------------------------

flow model.yaml <<END
name: model
agents: { w: { prompt: p, model: compat/m } }
steps: [ { id: a, agent: w, instructions: x } ]
END
answers() { # all of the server's script on stdin
    stop
    cat >script
    : >log
    coproc SERVER { "$server" script log; }
    read -r port <&"${SERVER[0]}"
    export COMPAT_BASE_URL=http://127.0.0.1:$port/v1
}
says_instead() { # WHAT, the answer on stdin
    answers < <(echo "POST /v1/chat/completions"; cat)
    run "$1" model.yaml --max-retries 1
}
for k in 0 19 31; do
    text=$(many "$k" 120)
    for status in 400 401 404 500; do
        says_instead "status $status" <<END
status $status
header Content-Type: application/json
send {"error":{"message":"Incorrect API key: $text","type":"$text","code":"$text"}}
END
    done
    no_mark=1 # its type is not shown
    says_instead "an error without a message" <<END
status 400
header Content-Type: application/json
send {"error":{"type":"$text"}}
END
    no_mark=
    says_instead "an error that is a text" <<END
status 400
header Content-Type: text/plain
send no: $text
END
    says_instead "an error in a stream" <<END
header Content-Type: text/event-stream
send data: {"error":{"message":"$text"}}\n\n
END
    says_instead "an error that breaks off" <<END
status 400
send {"error":{"message":"$key ${key:0:20}
wait 50
cut
END
    no_mark=1 # nothing else of it is shown
    says_instead "an answer that breaks off" <<END
header Content-Type: text/event-stream
send data: {"choices":[{"index":0,"delta":{"content":"It is ${key:0:20}"}}]}\n\n
wait 50
cut
END
    no_mark=
    says_instead "a page" <<END
header Content-Type: text/html
send <html><body><h1>Hello</h1>$(many "$k" 300)
END
    says_instead "bad JSON" <<END
header Content-Type: application/json
send {"error": nothing $text
END
    says_instead "an event that is no JSON" <<END
header Content-Type: text/event-stream
send data: $text\n\n
END
    says_instead "a list" <<END
header Content-Type: application/json
send ["$text"]
END
    says_instead "a content type" <<END
header Content-Type: text/$text
send Hello.
END
    says_instead "a redirect" <<END
status 302
header Location: https://example.invalid/$text
send Hello.
END
done
stop

# ---- MCP servers: what they say is not their own secret, but one that the run knows ---------------------------

echo "$key" >keyfile
cat >mcp.sh <<'END'
KEY=$(cat keyfile)
fill() { head -c "$1" /dev/zero | tr '\0' "$2"; }
many() { fill "$1" p; for _ in $(seq "$2"); do printf %s "$KEY"; done; }
long=$(many "$2" 120)
while read -r line; do
    id=$(sed -n 's/.*"id":\([0-9]*\).*/\1/p' <<<"$line")
    result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}'
    tool='{"name":"t","description":"d","inputSchema":{"type":"object"}}'
    case $1:$line in
    dies:*tools/call*) { printf %s "$KEY"; fill $((400 - 40 - $2)) s; printf %s "$KEY"; } >&2; exit 3 ;;
    refuses:*initialize*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32000,"message":"'"$long"'"}}'; continue ;;
    version:*initialize*) result='{"protocolVersion":"'$long'","capabilities":{"tools":{}}}' ;;
    lists:*tools/list*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32000,"message":"'"$long"'"}}'; continue ;;
    describes:*tools/list*) tool='{"name":"t","description":"'$(many "$2" 500)'","inputSchema":{"type":"object","description":"'$KEY'","properties":{"p":{"type":"string","default":"'$KEY'"}}}}' ;;
    bad:*tools/list*) tool='{"name":"'"$(many "$2" 3)"'","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"'$long'"}},{"name":"t","inputSchema":{"type":"object"}}' ;;
    fails:*tools/call*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32000,"message":"'"$long"'"}}'; continue ;;
    type:*tools/call*) result='{"content":[{"type":"'$long'"},{"type":"audio","mimeType":"'$long'","data":"AAAA"}]}' ;;
    esac
    case $line in
    *tools/list*) result='{"tools":['$tool']}' ;;
    *tools/call*) [ "$1" = type ] || result='{"content":[{"type":"text","text":"fine '$KEY'"}]}' ;;
    *server/discover*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"no"}}'; continue ;;
    *notifications*) continue ;;
    esac
    echo '{"jsonrpc":"2.0","id":'"$id"',"result":'"$result"'}'
done
END
export XDG_DATA_HOME=$PWD/data
for _ in 1 2; do calls a s__t '{}'; echo then; text "done"; echo then; done | sed '$d' >said
for k in 1 9 20 39; do
    for what in dies refuses version lists describes bad fails type; do
        flow mcp.yaml <<END
name: mcp
mcpServers: { s: { command: bash, args: [mcp.sh, $what, "$k"] } }
agents: { w: { prompt: p, model: compat/m, tools: [s] } }
steps: [ { id: a, agent: w, instructions: x } ]
END
        rm -rf data
        serve <said
        run "an MCP server that $what, $k bytes" mcp.yaml
    done
done

# The same over HTTP.
for k in 0 7 19; do
    text=$(many "$k" 40)
    for answer in "status 500|send $text" "status 400|send <p>$text" "status 302|header Location: http://$text.invalid/"; do
        { echo "POST /mcp"; tr '|' '\n' <<<"$answer"; echo "POST /v1/chat/completions"; text "done"; } >said
        answers <said
        flow mcp.yaml <<END
name: mcp
mcpServers: { s: { url: "http://127.0.0.1:$port/mcp", headers: { X-Token: "env:CANARY" } } }
agents: { w: { prompt: p, model: compat/m, tools: [s] } }
steps: [ { id: a, agent: w, instructions: x } ]
END
        rm -rf data
        run "an MCP server answers ${answer%%|*}, $k" mcp.yaml
    done
done
stop
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
