#!/bin/bash
# mcp.sh - model agents with tools of MCP servers, from end to end: a server that is a child, a model that is a script.
set -u
cd "$(mktemp -d)" || exit 1
scratch=$PWD
trap 'cd /; [ -n "${SERVER_PID:-}" ] && exec {SERVER[1]}>&-; rm -rf "$scratch"' EXIT
. "$ROOT/tests/cli/checks"
export XDG_DATA_HOME=$scratch/data HOME=$scratch
unset OPENAI_API_KEY OPENAI_BASE_URL RONDO_MODEL
here=$(dirname "$RONDO")/tests
[ -x "$here/server" ] && [ -x "$here/test_mcp" ] || { echo "the servers were not built"; exit 77; }

# What the model says: calls TOOL ARGUMENTS... (one turn), say TEXT
wrap() { jq -c '{id: "x", object: "chat.completion", model: "m", choices: [{index: 0, finish_reason: (if .tool_calls then "tool_calls" else "stop" end),
                 message: ({role: "assistant", content: null} + .)}], usage: {prompt_tokens: 100, completion_tokens: 10, total_tokens: 110}}' |
             sed 's/\\/\\\\/g; s/^/send /'; }
say() { jq -nc --arg t "$1" '{content: $t}' | wrap; }
calls() {
    local all=[] n=0
    while [ $# -ge 2 ]; do
        n=$((n + 1))
        all=$(jq -nc --argjson all "$all" --arg id "c$n" --arg tool "$1" --arg a "$2" \
                '$all + [{id: $id, type: "function", function: {name: $tool, arguments: $a}}]')
        shift 2
    done
    jq -nc --argjson all "$all" '{tool_calls: $all}' | wrap
    echo then
}
model() {
    if [ -n "${SERVER_PID:-}" ]; then exec {SERVER[1]}>&-; wait "$SERVER_PID" 2>/dev/null; fi
    { echo "POST /v1/chat/completions"; cat; } | sed '/^send /i header Content-Type: application/json' >script
    : >log
    coproc SERVER { "$here/server" script log; }
    read -r port <&"${SERVER[0]}"
    export COMPAT_BASE_URL=http://127.0.0.1:$port/v1
}
asked() { jq -sr ".[$1].body | fromjson | $2" log; } # of request N

# mock BEHAVIOUR [TOOLS]: the workflow
mock() {
    flow one.yaml <<F
name: one
mcpServers:
  mock: { command: "$here/test_mcp", env: { MCP_MOCK: "$1", TOKEN: "env:CANARY" } }
agents: { w: { prompt: p, model: compat/m, tools: [${2:-mock}] } }
steps: [{ id: a, agent: w, instructions: x }]
F
}
export CANARY=canary-0a1b2c3d4e5f

for era in "" modern; do
    mock "$era"
    model < <(calls mock__echo '{"text":"Grüße"}' mock__add '{"a":2,"b":40}' mock__fails '{}' mock__dies '{}'
              calls mock__echo '{"text":"back"}'; say "Done.")
    check "${era:-older} era" 0 "Done." "$RONDO" run -q --yolo one.yaml
    same "tools are offered by their full names" "$(asked 0 '[.tools[].function.name] | .[0:2] | join(" ")')" "mock__echo mock__add"
    same "a result" "$(asked 1 '.messages[3].content')" "Grüße"
    same "a structured result" "$(asked 1 '.messages[4].content')" '{"sum":42.0}'
    same "a failure" "$(asked 1 '.messages[5].content')" "it did not work"
    same "a death, without the secret" "$(asked 1 '.messages[6].content')" \
        "error: MCP server 'mock': it ended with status 9: first line the last words, ***"
    same "and the server is back" "$(asked 2 '.messages[-1].content')" "back"
done

# One tool by its name; others are not offered.
mock "" mock__add
model < <(say "Done.")
check "one tool" 0 "Done." "$RONDO" run -q --yolo one.yaml
same "is all there is" "$(asked 0 '[.tools[].function.name] | join(" ")')" "mock__add"

# Some are taken away, or all of a server.
mock "" 'mock, read'
for none in mock 'mock__*'; do
    sed "s/tools: \[/disallowedTools: ['$none'], tools: [/" one.yaml >less.yaml
    model < <(say "Done.")
    check "without $none" 0 "Done." "$RONDO" run -q --yolo less.yaml
    same "there is none of $none" "$(asked 0 '[.tools[].function.name] | join(" ")')" "read"
done
sed 's/tools: \[/disallowedTools: [mock__add, bsah], tools: [/' one.yaml >less.yaml
check "without what is none" 2 "" "$RONDO" run -q --yolo less.yaml
says "there is no tool 'bsah'"

# Nobody has permitted it.
mock ""
model < <(calls mock__echo '{"text":"x"}'; say "Done.")
check "permissions" 0 "Done." "$RONDO" run -q --strict one.yaml
asked 1 '.messages[3].content' | grep -q "x$" && bad "it was called" || ok
model < <(calls mock__echo '{"text":"x"}' mock__add '{"a":1,"b":1}'; say "Done.")
check "one is permitted" 0 "Done." "$RONDO" run -q --strict --allow 'mock__e*' one.yaml
same "and called" "$(asked 1 '.messages[3].content')" "x"

# A tool that has changed is blocked until it is approved.
mock "changed more"
model < <(say "Done.")
"$RONDO" run --json one.yaml >out 2>err
same "changed" $? 0
same "it is not offered" "$(asked 0 '[.tools[].function.name] | map(select(. == "mock__echo" or . == "mock__extra")) | length')" 0
grep -q "the tool 'echo' of the server 'mock' has changed since it was accepted: its description" out && ok || bad "nobody is told"
mock "changed" mock__echo
model < <(say "Done.")
check "by name it is an error" 1 "" "$RONDO" run -q one.yaml
says "--approve-tools"
model < <(say "Done.")
check "approved" 0 "Done." "$RONDO" run -q --approve-tools one.yaml
model < <(say "Done.")
check "for good" 0 "Done." "$RONDO" run -q one.yaml
same "the file is private" "$(find data -name '*pins*' -not -name '*.lock' -exec stat -c %a {} +)" 600

# A server that cannot be started.
mock doomed
model < <(say "Done.")
check "doomed" 1 "" "$RONDO" run -q one.yaml
says "MCP server 'mock': it ended with status 5: cannot open the database"

# The server's secret is nowhere.
mock "" && model < <(calls mock__env '{"name":"TOKEN"}'; say "Done.")
"$RONDO" run --json --yolo one.yaml >out 2>err
same "secrets" $? 0
same "they are covered" "$(asked 1 '.messages[3].content')" "***"
grep -rqa "$CANARY" data out err && bad "the secret was written" || ok

# The example of the manual is a workflow.
awk '/^```yaml/ { inside = 1; next } /^```/ { inside = 0 } inside' "$ROOT/docs/mcp.md" >example.yaml
check "docs/mcp.md" 0 "" "$RONDO" check example.yaml

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
