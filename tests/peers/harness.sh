# The means that the other tests of this folder use: packages, servers that end with the test, scripts for aimock.
. "$ROOT/tests/cli/checks"
. "$ROOT/tests/peers/servers"
npm_packages
aimock
tap

ask() { # TEXT: what the mock says to it
    curl -sS "$tap/v1/chat/completions" --json "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"$1\"}]}"
}

for f in "$ROOT"/tests/peers/aimock/*.json; do
    script "$(basename "$f" .json)"
    same "$(basename "$f") has answers that are all taken" \
        "$(curl -sS "$aimock/__aimock/fixtures" | jq .count)" "$(jq '.fixtures | length' "$f")"
done

script plain faults
same "an answer" "$(ask "Say hello, please" | jq -r '.choices[0].message.content')" "Hello from the other side of the wire."
same "what nobody wrote an answer to" "$(ask "Something else" | jq -r .error.code)" "no_fixture_match"
same "first throttled" "$(ask "Throttle me once" | jq -r .error.code)" "rate_limit_exceeded"
same "then answered" "$(ask "Throttle me once" | jq -r '.choices[0].message.content')" "Now it fits."
same "what the tap saw" "$(sent 'map(.body.messages[0].content) | join(",")')" \
    "Say hello, please,Something else,Throttle me once,Throttle me once"
same "a script that starts over" "$(script faults; ask "Throttle me once" | jq -r .error.code)" "rate_limit_exceeded"

# A test that is killed leaves no server behind.
cat >killed.sh <<'END'
. "$ROOT/tests/cli/checks"
. "$ROOT/tests/peers/servers"
npm_packages
aimock
echo "$server" >id
sleep 1000
END
mkdir killed
(cd killed && exec bash ../killed.sh) &
victim=$!
for _ in $(seq 1500); do [ -s killed/id ] && break; sleep 0.02; done
lost=$(cat killed/id)
sleepers=$(ps -o pid= --ppid "$victim")
if kill -0 "$lost" 2>/dev/null; then ok; else bad "there is no server to lose"; fi
kill -KILL $victim
wait $victim 2>/dev/null
if [ ${#with_us[@]} -gt 0 ]; then
    for _ in $(seq 100); do kill -0 "$lost" 2>/dev/null || break; sleep 0.02; done
    if kill -0 "$lost" 2>/dev/null; then bad "a server outlived its test"; else ok; fi
fi
kill -KILL $sleepers 2>/dev/null

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
