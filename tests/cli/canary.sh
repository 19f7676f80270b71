# A canary among the secrets: it must be nowhere in what rondo wrote, in none of its forms.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1 RONDO_STORE=$PWD/kept/runs.db
. "$ROOT/tests/cli/checks"
mkdir kept home
canary='cnry/7f3a "9b+1 x&y=4d2e' # a blank, a slash, a quote, a plus: every form is another
second=FILEcanary0c41d8f2b7a95e63
third=inputCANARY88c1e2d4f6a7
printf '%s\n' "$second" >home/key
export CANARY=$canary THIRD=$third
ulimit -S -c unlimited 2>/dev/null # rondo itself forbids it

# middle PAD TEXT: what base64 says of the text alone, behind as many other bytes
middle() {
    local n=${#1} len=${#2}
    printf %s "$1$2" | base64 -w 0 | cut -c "$((n * 4 / 3 + 2))-$(((n + len) * 4 / 3))"
}
forms() { # a line each
    for c in "$canary" "$second" "$third"; do
        printf '%s\n' "$c"
        printf '%s\n' "$c" | sed 's/["\\]/\\&/g'
        printf '%s\n' "$c" | sed 's/["\\]/\\&/g; s|/|\\/|g'
        printf %s "$c" | od -An -v -tx1 | tr -d ' \n'; echo
        printf %s "$c" | od -An -v -tx1 | tr -d ' \n' | tr a-f A-F; echo
        for pad in '' x xy; do
            middle "$pad" "$c"
            middle "$pad" "$c" | tr +/ -_
        done
    done
    echo 'cnry%2F7f3a%20%229b%2B1%20x%26y%3D4d2e'
    echo 'cnry%2f7f3a%20%229b%2b1%20x%26y%3d4d2e'
    echo 'cnry%2F7f3a+%229b%2B1+x%26y%3D4d2e'
}
forms >patterns

# Says it in every form: on stdout, on stderr, in pieces, in the reply, in an event, in a key, as state.
cat >tell.sh <<'END'
say() {
    echo "raw $KEY. other $FILEKEY."
    printf 'json "%s"\n' "$(printf %s "$KEY" | sed 's/["\\]/\\&/g')"
    printf %s "$KEY" | base64 -w 0; echo
    printf 'x%s' "$KEY" | base64 -w 0; echo
    printf 'xy%s-behind' "$KEY" | base64; echo
    printf %s "$FILEKEY" | base64 | tr +/ -_
    printf %s "$KEY" | od -An -v -tx1 | tr -d ' \n'; echo
    printf %s "$KEY" | od -An -v -tx1 | tr -d ' \n' | tr a-f A-F; echo
    echo 'cnry%2F7f3a%20%229b%2B1%20x%26y%3D4d2e cnry%2f7f3a%20%229b%2b1%20x%26y%3d4d2e cnry%2F7f3a+%229b%2B1+x%26y%3D4d2e'
}
say
say >&2
for piece in "${KEY:0:5}" "${KEY:5:9}" "${KEY:14}"; do printf %s "$piece"; sleep 0.1; done
[ "$1" = fail ] && exit 1
json=$(printf %s "$KEY" | sed 's/["\\]/\\&/g')
cat >"$RONDO_REPLY" <<R
{"result": {"$FILEKEY": "$json", "list": ["$FILEKEY", 5]},
 "events": [{"content": "in an event: $json"}, {"content": "x", "data": {"k": "$FILEKEY"}}]}
R
END
# What a command that was given nothing can find: its environment and arguments, those of the processes around it.
cat >look.sh <<'END'
{ env; tr '\0' '\n' </proc/$$/environ; for p in /proc/[0-9]*; do tr '\0' '\n' <"$p/cmdline"; done; } 2>/dev/null |
    grep -v 'word=' >looked # what the user said on the command line is the user's
grep 'core file size' /proc/$PPID/limits >limits
END
flow tell.yaml <<'END'
name: tell
inputs: { word: { default: none } }
agents:
  teller: { run: [bash, tell.sh], env: { KEY: "env:CANARY", FILEKEY: "file:home/key", INPUTKEY: "env:THIRD" } }
  echo: { run: [cat] }
  look: { run: [bash, look.sh] }
  failer: { run: [bash, tell.sh, fail], env: { KEY: "env:CANARY", FILEKEY: "file:home/key" } }
steps:
  - { id: tell, agent: teller, instructions: "Say it: ${inputs.word}" }
  - { id: again, agent: echo, dependsOn: [tell], instructions: "${steps.tell.content} ${steps.tell.result} ${inputs.word}" }
  - { id: read, agent: echo, dependsOn: [tell], instructions: "And this:", contextFiles: [home/key] }
  - { id: look, agent: look, dependsOn: [tell], instructions: look }
  - { id: fails, agent: failer, dependsOn: [again, read, look], instructions: fail }
END

# clean WHAT FILE...: the files are there and have none of the patterns
clean() {
    local what=$1 found
    shift
    for file; do [ -s "$file" ] || { bad "$what: there is no $file"; return; }; done
    found=$(grep -aohFf patterns "$@" | sort | uniq -c | head -5)
    if [ -z "$found" ]; then ok; else bad "$what has it: $found"; fi
}
there() { if grep -aqF -- "$1" "$2"; then ok; else bad "$2 has no '$1'"; fi; }

# The test can fail: without rondo it is all there.
KEY=$canary FILEKEY=$second RONDO_REPLY=$PWD/reply bash tell.sh >plain 2>&1
found=$(cat plain reply | grep -aoFf patterns | sort -u | wc -l)
[ "$found" -ge 11 ] && ok || bad "the teller tells only $found forms"

"$RONDO" run -v tell.yaml -i word="$third" --prompts prompts --record rec >kept/out 2>kept/err </dev/null
[ $? = 1 ] && ok || bad "the status of the run: $(tail -3 kept/err)"
id=$(run_id kept/err)
there '***' kept/err
there '***' prompts/tell.txt
there '***' prompts/again.txt
there '***' prompts/read.txt
there '***' rec
there ' 0 ' limits
clean "stderr" kept/err
clean "the store" kept/runs.db*
clean "prompts" prompts/*
clean "the recording" rec
clean "a command that was not given it" looked
"$RONDO" run --json tell.yaml -i word="$third" >kept/json 2>kept/err2 </dev/null
clean "--json" kept/json
there '***' kept/json
"$RONDO" show "$id" >kept/show 2>&1
"$RONDO" show "$id" tell >kept/shown 2>&1
"$RONDO" show "$id" --json >kept/show.json 2>&1
"$RONDO" events "$id" -v >kept/events 2>&1
"$RONDO" events "$id" --json >kept/events.json 2>&1
"$RONDO" export "$id" kept/exported 2>/dev/null
clean "what is looked up" kept/show kept/shown kept/show.json kept/events kept/events.json kept/exported
there '***' kept/events
"$RONDO" run tell.yaml -i word="$third" --replay rec >kept/replayed 2>&1 </dev/null
clean "a replay" kept/replayed
"$RONDO" resume "$id" -v >kept/resumed 2>&1 </dev/null
there '***' kept/resumed
clean "a run that was resumed" kept/resumed kept/runs.db*

"$RONDO" fork "$id" --at fails -i word="again $third" >kept/forked 2>&1
grep -qE "^r[0-9a-f]+$" kept/forked && ok || bad "no fork: $(cat kept/forked)"
clean "a fork with another input" kept/forked kept/runs.db*

# A key that is merely in the environment, and that somebody was given without calling it a secret.
flow ambient.yaml <<'END'
name: ambient
agents: { a: { run: 'echo "my key is $OPENAI_API_KEY, $(printf %s "$OPENAI_API_KEY" | base64)"', env: [OPENAI_API_KEY] } }
steps: [ { id: s, agent: a, instructions: x } ]
END
OPENAI_API_KEY=sk-ambient-$second "$RONDO" run ambient.yaml >kept/ambient 2>&1 </dev/null
there '***' kept/ambient
clean "a key in the environment" kept/ambient kept/runs.db*

# What models and servers of tools are asked with is known before anybody asks them.
cat >known.yaml <<'END'
rondo: 1
name: known
inputs: { word: { type: string } }
models: { m: { provider: compat, model: m, baseUrl: "http://127.0.0.1:1/v1", apiKey: "file:home/key" } }
mcpServers:
  s: { command: cat, env: { K: "env:CANARY" } }
  t: { url: "http://127.0.0.1:1/", headers: { Authorization: "Bearer env:THIRD" } }
agents: { a: { run: 'echo "$CANARY, $THIRD, $(cat home/key)"', env: [CANARY, THIRD] } }
steps: [ { id: s, agent: a, instructions: x } ]
END
"$RONDO" run -v known.yaml -i word="$second" >kept/known 2>&1 </dev/null
there 'step_end s' kept/known
there '***, ***, ***' kept/known
clean "what nobody has asked with yet" kept/known kept/runs.db*

sed 's/type: string/type: string, maxLength: 9/' known.yaml >refuses.yaml
"$RONDO" run refuses.yaml -i word="$second" >kept/refused 2>&1 </dev/null
there "input 'word': expected" kept/refused
clean "an input that is refused" kept/refused

# So is an answer.
sed 's/^steps:.*/steps: [ { id: g, gate: { ask: "?", schema: { type: boolean } } } ]/; s/^inputs:.*//' known.yaml >gate.yaml
"$RONDO" run -v gate.yaml >kept/gate 2>&1 </dev/null
"$RONDO" answer "$(run_id kept/gate)" g "$second" >kept/refused 2>&1
there "gate 'g': expected boolean" kept/refused
there '***' kept/refused
clean "an answer that is refused" kept/refused

# A key of a model, whose server tells it: in pieces, in what tools are called with, encoded, in errors.
server=$(dirname "$RONDO")/tests/server
serve() { # the script on stdin
    [ -n "${SERVER_PID:-}" ] && { exec {SERVER[1]}>&-; wait "$SERVER_PID" 2>/dev/null; }
    mkdir -p served
    cat >served/script
    : >served/log
    coproc SERVER { "$server" served/script served/log; }
    read -r port <&"${SERVER[0]}"
    export COMPAT_BASE_URL=http://127.0.0.1:$port/v1
}
delta() { printf 'send data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\\n\\n\nwait 50\n' "$1"; }
if [ -x "$server" ] && command -v jq >/dev/null; then
    key=sk-model-$second
    flow model.yaml <<'END'
name: model
agents: { w: { prompt: "You write.", model: compat/m, tools: [bash, read, write] } }
steps:
  - { id: a, agent: w, instructions: "Say it." }
  - { id: b, agent: w, dependsOn: [a], instructions: "Again: ${steps.a.content}" }
END
    arguments=$(jq -nc --arg c "echo $key; echo $key | base64; env" '{command: $c} | tojson')
    serve <<END
POST /v1/chat/completions
header Content-Type: text/event-stream
$(delta "My key is ${key:0:14}")
$(delta "${key:14:9}")
$(delta "${key:23}, and in pieces.")
send data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"bash","arguments":$(sed 's/\\/\\\\/g' <<<"$arguments")}}]},"finish_reason":"tool_calls"}]}\n\n
send data: [DONE]\n\n
then
header Content-Type: text/event-stream
$(delta "Encoded: $(printf %s "$key" | base64 -w 0)")
send data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n
then
status 401
header Content-Type: application/json
send {"error": {"message": "Incorrect key: \${header:authorization}", "type": "auth", "code": "\${header:authorization}"}}
END
    COMPAT_API_KEY=$key "$RONDO" run -v model.yaml --yolo --prompts prompts2 --record rec2 >kept/model 2>&1 </dev/null
    mid=$(run_id kept/model)
    there 'in pieces' kept/model
    there '***' kept/model
    grep -q "Bearer $key" served/log && ok || bad "the key was not sent: $(head -c 300 served/log)"
    [ "$(wc -l <served/log)" -ge 3 ] && ok || bad "$(wc -l <served/log) requests: $(tail -3 kept/model)"
    clean "a run with a model" kept/model kept/runs.db*
    "$RONDO" events "$mid" --json >kept/model.events 2>&1
    clean "its events" kept/model.events
    clean "its prompts and recording" prompts2/* rec2
    COMPAT_API_KEY=$key "$RONDO" run --json model.yaml --yolo >kept/model.json 2>kept/model.err </dev/null
    clean "its --json" kept/model.json
    clean "what is said of an error" kept/model.err
    exec {SERVER[1]}>&-
    rm -rf served
fi

# A file that is not there is told by its name.
sed 's|file:home/key|file:home/none|' tell.yaml >none.yaml
"$RONDO" run -q none.yaml >kept/none 2>&1 </dev/null
clean "a missing file" kept/none
there 'home/none' kept/none
find . -type f -not -name key -not -name patterns -not -name plain -not -name reply -not -name tell.sh >all
found=$(xargs grep -alFf patterns <all)
[ -z "$found" ] && ok || bad "it is in $found"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
