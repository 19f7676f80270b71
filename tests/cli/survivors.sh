# rondo is killed without warning while commands are at work that do not want to end, of agents and of models: two
# seconds later nothing of them is there.  TRIALS=N tries as often.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
server=$(dirname "$RONDO")/tests/server
[ -x "$server" ] && command -v jq >/dev/null || { echo "no server to talk with, or no jq"; exit 77; }
export NO_COLOR=1 RONDO_STORE=:memory:
. "$ROOT/tests/cli/checks"
trials=${TRIALS:-3}

# Everything that they start has the word in its arguments; some of it is in a session of its own, deaf, or without an
# environment.
linger='sh -c "while :; do sleep 0.1; done" WORD'
deaf='sh -c "trap \"\" TERM HUP INT; while :; do sleep 0.1; done" WORD'
nasty="$linger & setsid $deaf & env -i setsid $linger & (setsid sh -c '(setsid $linger &)' &) ; touch began; exec $deaf"

with_word() { # the processes that have it, and not the one that looks
    grep -lzx -- "[s]${1#s}" /proc/[0-9]*/cmdline 2>/dev/null | cut -d / -f 3
}

# dies NAME WORD COMMAND...: it is killed when all of that has begun
dies() {
    local name=$1 word=$2 pid left i
    shift 2
    rm -f began
    "$@" >out 2>err </dev/null &
    pid=$!
    until [ -f began ] && [ "$(with_word "$word" | wc -l)" -ge 4 ]; do
        kill -0 $pid || { bad "$name: nothing has begun: $(cat err)"; return; }
        sleep 0.02
    done
    sleep 0.0$((RANDOM % 10))
    kill -KILL $pid
    wait $pid 2>/dev/null
    for ((i = 0; i < 40; i++)); do # 2 s
        left=$(with_word "$word")
        [ -z "$left" ] && break
        sleep 0.05
    done
    if [ -z "$left" ]; then ok; else bad "$name: $(wc -w <<<"$left") are left"; fi
    [ -z "$left" ] || kill -KILL $left
}

for ((n = 0; n < trials; n++)); do
    word=survivor-$$-$n
    text=${nasty//WORD/$word}
    jq -n --arg run "$text" '{rondo: 1, name: "c", agents: {a: {run: $run}}, steps: [{id: "s", agent: "a", instructions: "x"}]}' >command.json
    dies "a command" "$word" "$RONDO" run command.json
    jq '.agents.a.sandbox = {write: ["."]}' command.json >confined.json
    dies "a confined command" "$word" "$RONDO" run confined.json

    # the same, chosen by a model
    jq -nc --arg c "$text" '{choices: [{index: 0, finish_reason: "tool_calls", message: {role: "assistant", content: null,
        tool_calls: [{id: "c1", type: "function", function: {name: "bash", arguments: ({command: $c} | tojson)}}]}}]}' |
        sed 's/\\/\\\\/g; s/^/send /; 1i POST /v1/chat/completions\nheader Content-Type: application/json' >script
    coproc SERVER { "$server" script log; }
    read -r port <&"${SERVER[0]}"
    jq -n '{rondo: 1, name: "m", agents: {a: {prompt: "p", model: "compat/m", tools: ["bash"]}},
            steps: [{id: "s", agent: "a", instructions: "x"}]}' >model.json
    if "$RONDO" doctor | grep -q '^..  sandbox  *files'; then
        COMPAT_BASE_URL=http://127.0.0.1:$port/v1 dies "a model's command" "$word" "$RONDO" run --yolo model.json
    fi
    exec {SERVER[1]}>&-
    wait "$SERVER_PID" 2>/dev/null
done 2>/dev/null
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
