# Tools of server-everything, an MCP server that others wrote, over stdio and HTTP: used by a model agent of a workflow.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
. "$ROOT/tests/cli/checks"
. "$ROOT/tests/peers/servers"
export NO_COLOR=1 RONDO_STORE=$PWD/runs.db
npm_packages
aimock
tap
every=$npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js
port=$(free_port)
serve every "listening on port" env PORT="$port" node "$every" streamableHttp

# task HOW INSTRUCTIONS [KEYS]: a workflow whose agent has all tools of the server
task() {
    local how
    case $1 in
    stdio) how="command: node, args: [\"$every\", stdio, \"$PWD/mark\"]" ;;
    http) how="url: \"http://127.0.0.1:$port/mcp\"" ;;
    esac
    flow task.yaml <<END
name: task
models: { m: { provider: openai, model: mock-1, baseUrl: "$tap/v1" } }
mcpServers: { every: { $how } }
agents: { a: { description: "Uses tools.", model: m, tools: ["every__*"]${3:+, $3} } }
steps: [ { id: one, agent: a, instructions: "$2" } ]
END
}

# gone WHEN: no server that a run started is left
gone() {
    for _ in $(seq 100); do
        pgrep -f "stdio $PWD/mark" >left || { ok; return; }
        sleep 0.02
    done
    bad "$1: still there: $(tr '\n' ' ' <left)"
}

for how in stdio http; do
    script servers
    task $how "Echo it."
    check "$how: a tool" 0 "It came back." "$RONDO" run -q --yolo task.yaml
    same "$how: its description" "$(sent '.[0].body.tools | map(.function) | map(select(.name == "every__echo")) | .[0].description')" \
        "Echoes back the input string"
    same "$how: its parameters" "$(sent '.[0].body.tools | map(.function) | map(select(.name == "every__get-sum")) | .[0].parameters.required | join(",")')" a,b
    same "$how: what it said" "$(sent '.[1].body.messages | map(select(.role == "tool"))[0].content')" "Echo: hello, wire"
    gone "$how"

    task $how "Use several."
    check "$how: several" 0 "All were of use." "$RONDO" run -q --yolo task.yaml
    told() { sent '.[3].body.messages | map(select(.role == "tool"))['"$1"'].content | if type == "string" then . else tostring end'; }
    same "$how: a sum" "$(told 0)" "The sum of 19 and 23 is 42."
    same "$how: structured content" "$(told 1 | grep -c temperature)" 1
    same "$how: an image" "$(sent '.[3].body | tostring | test("iVBOR")')" true
    same "$how: arguments that do not fit" "$(told 3 | grep -ciE 'number|expected')" 1
    gone "$how"

    task $how "Wait for it." "timeout: 1s"
    check "$how: a tool that takes too long" 1 "" "$RONDO" run -q --yolo task.yaml
    gone "$how"
done

# Killed in the middle of a call, rondo leaves nothing behind.
script servers
task stdio "Wait for it."
"$RONDO" run -q --yolo task.yaml >out 2>err &
victim=$!
for _ in $(seq 500); do
    [ "$(sent length)" -ge 1 ] && break
    sleep 0.02
done
sleep 0.5
kill -KILL $victim
wait $victim 2>/dev/null
gone "after SIGKILL"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
