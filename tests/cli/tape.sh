#!/bin/bash
# tape.sh - what a model said once is said again, without it; and the key is on no tape.
set -u
[ -x "$ROOT/$B/tests/server" ] || { echo "no $B/tests/server"; exit 77; }
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }

cat >hello.yaml <<'END'
rondo: 1
name: hello
agents:
  writer: { description: Writes., model: openai/gpt-test }
steps:
  - { id: a, agent: writer, instructions: Say hello. }
  - { id: b, agent: writer, instructions: "Say more than ${steps.a.content}.", dependsOn: [a] }
END
chunk='"object":"chat.completion.chunk","model":"gpt-test"'
coproc SERVER { "$ROOT/$B/tests/server" "
POST /v1/chat/completions
  header Content-Type: text/event-stream
  send data: {\"id\":\"1\",$chunk,\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hel\"}}]}\n\n
  wait 10
  send data: {\"id\":\"1\",$chunk,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo \${n}\"},\"finish_reason\":\"stop\"}]}\n\n
  send data: {\"id\":\"1\",$chunk,\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"total_tokens\":7}}\n\n
  send data: [DONE]\n\n
" log.ndjson; }
pid=$SERVER_PID
read -r port <&"${SERVER[0]}"
export OPENAI_BASE_URL=http://127.0.0.1:$port/v1 OPENAI_API_KEY=sk-canary-5c3a91 no_proxy=127.0.0.1
run() { "$RONDO" run --quiet "$@" 2>err; }

RONDO_HTTP_TAPE=record:hello.tape run hello.yaml >out && grep -q 'Hello 2' out && ok || bad "recording: $(cat out err)"
grep -q sk-canary-5c3a91 log.ndjson && ok || bad "the key was not sent"
grep -q canary hello.tape && bad "the key is on the tape" || ok
[ "$(wc -l <hello.tape)" = 3 ] && ok || bad "lines: $(cat hello.tape)"
eval "exec ${SERVER[1]}>&-"
wait "$pid"

RONDO_HTTP_TAPE=play:hello.tape run hello.yaml >again && cmp out again && ok || bad "playing: $(cat again err)"
RONDO_HTTP_TAPE=play:hello.tape OPENAI_API_KEY=sk-another run hello.yaml | cmp out - && ok || bad "with another key: $(cat err)"
sed 's/Say hello/Say good-bye/' hello.yaml >other.yaml
RONDO_HTTP_TAPE=play:hello.tape run other.yaml >again && bad "another question was answered" || ok
grep -q 'Say hello' err && grep -q 'Say good-bye' err && ok || bad "the difference: $(cat err)"
run hello.yaml >again && bad "answered by nobody" || ok
for how in hello.tape play: record: play:none.tape record:hello.yaml; do
    RONDO_HTTP_TAPE=$how run hello.yaml >again && bad "$how" || ok
    grep -q 'RONDO_HTTP_TAPE' err && ok || bad "$how: $(cat err)"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
