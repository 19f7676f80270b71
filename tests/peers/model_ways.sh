# Models against aimock: which one is asked and with which key, what is sent along with a question, fallbacks, budgets,
# caches, runs that are killed and go on, and that no key is ever written down.
. "$ROOT/tests/peers/mocks"

# ---- which model, which key -----------------------------------------------------------------------------

flow asks.yaml <<'END'
name: asks
agents: { a: { description: "Answers.", model: openai/first }, b: { description: "Answers." } }
steps: [ { id: one, agent: a, instructions: "Who are you?" } ]
END
flow open.yaml <<'END'
name: open
agents: { a: { description: "Answers." } }
steps: [ { id: one, agent: a, instructions: "Who are you?" } ]
END
script ways
check "no key" 3 "" "$RONDO" run -q asks.yaml
says "OPENAI_API_KEY"
same "nothing was sent" "$(sent length)" 0
export OPENAI_API_KEY=$MOCK_KEY OPENAI_BASE_URL=$tap/v1
check "by the usual variables" 0 "The first." "$RONDO" run -q asks.yaml
check "another model" 0 "The second." "$RONDO" run -q asks.yaml --model openai/second
check "with a colon" 0 "The second." "$RONDO" run -q asks.yaml --model openai:second
check "no model" 3 "" "$RONDO" run -q open.yaml
check "a model from the environment" 0 "The second." env RONDO_MODEL=openai/second "$RONDO" run -q open.yaml
check "the file's beats the environment's" 0 "The first." env RONDO_MODEL=openai/second "$RONDO" run -q asks.yaml
check "no such provider" 3 "" "$RONDO" run -q asks.yaml --model opnai/first
says "openai"
ANTHROPIC_API_KEY=$MOCK_KEY ANTHROPIC_BASE_URL=$tap check "Anthropic's variables" 0 "The second." "$RONDO" run -q asks.yaml --model anthropic/second
same "their header" "$(sent '.[-1].headers | ."x-api-key" != null and .authorization == null and ."anthropic-version" == "2023-06-01"')" true
ANTHROPIC_AUTH_TOKEN=$MOCK_KEY ANTHROPIC_BASE_URL=$tap check "a token" 0 "The second." "$RONDO" run -q asks.yaml --model anthropic/second
same "is a bearer's" "$(sent '.[-1].headers | ."x-api-key" == null and (.authorization | startswith("Bearer "))')" true
GOOGLE_API_KEY=$MOCK_KEY GEMINI_API_KEY=other GEMINI_BASE_URL=$tap check "Google's variables" 0 "The second." "$RONDO" run -q asks.yaml --model google/second
same "not in the address" "$(sent '.[-1] | .headers."x-goog-api-key" != null and (.path | test("key=") | not)')" true
OLLAMA_HOST=${tap#http://} OLLAMA_API_KEY=$MOCK_KEY check "Ollama's" 0 "The second." "$RONDO" run -q asks.yaml --model ollama/second

# A key of the environment does not go where a file wants to have it.
flow steals.yaml <<END
name: steals
models: { m: { provider: openai, model: first, baseUrl: "$tap/v1" } }
agents: { a: { description: "Answers.", model: m } }
steps: [ { id: one, agent: a, instructions: "Who are you?" } ]
END
script ways
check "a key that a file wants" 1 "" "$RONDO" run -q steals.yaml
says "apiKey"
same "is not sent" "$(sent 'length > 0 and (map(.headers | tostring | test("canary") | not) | all)')" true

# ---- what is sent along -----------------------------------------------------------------------------------

printf '%s' iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg== | base64 -d >dot.png
printf '%%PDF-1.4\n%%%%EOF\n' >dot.pdf
wants() { # NAME JQ: of the last request
    same "$1" "$(sent ".[-1].body | $2")" true
}
for p in openai openai-responses anthropic gemini ollama; do
    script ways
    mock $p "What do you see?" "temperature: 0.5, topP: 0.25, maxTokens: 77"
    sed -i 's/instructions: "What/contextFiles: [dot.png, dot.pdf], &/' mock.yaml
    check "$p: with files" 0 "A dot." "$RONDO" run -q mock.yaml
    case $p in
    openai)
        wants "$p: sampling" '.temperature == 0.5 and .top_p == 0.25 and .max_completion_tokens == 77'
        wants "$p: a picture" '.messages[-1].content | map(.image_url.url // "" | startswith("data:image/png;base64,iVBOR")) | any'
        wants "$p: a PDF" '.messages[-1].content | map(.file.file_data // "" | startswith("data:application/pdf;base64,")) | any'
        wants "$p: usage is asked for" '.stream_options.include_usage'
        ;;
    openai-responses)
        wants "$p: sampling" '.temperature == 0.5 and .top_p == 0.25 and .max_output_tokens == 77'
        wants "$p: a picture" '.input[-1].content | map(.image_url // "" | startswith("data:image/png;base64,iVBOR")) | any'
        wants "$p: a PDF" '.input[-1].content | map(.file_data // "" | startswith("data:application/pdf;base64,")) | any'
        wants "$p: nothing is kept there" '.store == false'
        ;;
    anthropic)
        wants "$p: sampling" '(.temperature == 0.5 or .top_p == 0.25) and .max_tokens == 77'
        wants "$p: a picture" '.messages[-1].content | map(.type == "image" and .source.media_type == "image/png" and (.source.data | startswith("iVBOR"))) | any'
        wants "$p: a PDF" '.messages[-1].content | map(.type == "document" and .source.media_type == "application/pdf") | any'
        ;;
    gemini)
        wants "$p: sampling" '.generationConfig | .temperature == 0.5 and .topP == 0.25 and .maxOutputTokens == 77'
        wants "$p: a picture" '.contents[-1].parts | map(.inlineData.mimeType == "image/png" and (.inlineData.data | startswith("iVBOR"))) | any'
        wants "$p: a PDF" '.contents[-1].parts | map(.inlineData.mimeType == "application/pdf") | any'
        ;;
    ollama)
        wants "$p: sampling" '.options | .temperature == 0.5 and .top_p == 0.25 and .num_predict == 77'
        wants "$p: a picture" '.messages[-1].images[0] | startswith("iVBOR")'
        ;;
    esac
done

# Thoughts go back where an API wants them, as they were.
for p in openai-responses anthropic; do
    script thinking
    mock $p "Think, then read." "tools: [read], effort: high"
    sed -i "s/model: mock-1/model: $([ $p = anthropic ] && echo claude-sonnet-4-6 || echo gpt-5)/" mock.yaml
    check "$p: thoughts" 0 "It says one." "$RONDO" run -q --allow read mock.yaml
done
wants "anthropic: with its signature" '.messages[1].content[0] | .type == "thinking" and .signature == "c2lnbmF0dXJlLW9mLXRoZS1tb2Nr"'
wants "anthropic: how hard" '.output_config.effort == "high" or .thinking.type != null'

# ---- fallbacks ---------------------------------------------------------------------------------------------

flow falls.yaml <<END
name: falls
models:
  a: { provider: openai, model: first, baseUrl: "http://127.0.0.1:9/v1", fallback: [b, c] }
  b: { provider: openai, model: refused, baseUrl: "$tap/v1", apiKey: "env:MOCK_KEY" }
  c: { provider: anthropic, model: second, baseUrl: "$tap", apiKey: "env:MOCK_KEY" }
agents: { x: { description: "Answers.", model: a } }
steps: [ { id: one, agent: x, instructions: "Who are you?" } ]
END
script ways
check "the third one answers" 0 "The second." "$RONDO" run -q --max-retries 0 falls.yaml
same "the second was asked once" "$(sent 'map(.body.model) | join(",")')" refused,second
"$RONDO" run --json --max-retries 0 falls.yaml >out 2>err
same "both are told" "$(jq -s 'map(select(.type == "message" and .data.reason == "model")) | length >= 2' out)" true

# ---- money --------------------------------------------------------------------------------------------------

script plain
mock openai "Say hello." "maxTokens: 100" "budget: { cost: 0.000001 }"
check "a call that cannot be paid is not made" 4 "" "$RONDO" run -q mock.yaml
same "nothing was asked" "$(sent length)" 0
mock openai "Say hello." "maxTokens: 100" "budget: { cost: 1 }"
check "one that can is" 0 "Hello from the other side of the wire." "$RONDO" run -q mock.yaml
sed -i 's/, price: {[^}]*}//' mock.yaml
check "no price" 3 "" "$RONDO" run -q --require-prices mock.yaml
sed -i 's/^budget.*//' mock.yaml
"$RONDO" run mock.yaml >out 2>err
says "unpriced"
cat >prices.json <<'END'
{ "models": { "openai/mock-1": { "input": 1, "output": 2 } } }
END
"$RONDO" run --json --prices prices.json mock.yaml >out 2>err
same "a table of one's own" "$(ended '.data.cost == 0.000049')" true

# ---- the same question ----------------------------------------------------------------------------------------

script plain
mock openai "Say hello." "cache: true"
export XDG_DATA_HOME=$PWD/data
check "asked" 0 "Hello from the other side of the wire." "$RONDO" run -q mock.yaml
check "asked again" 0 "Hello from the other side of the wire." "$RONDO" run -q mock.yaml
same "answered from the cache" "$(sent length)" 1
"$RONDO" run --json mock.yaml >out 2>err
same "for nothing" "$(ended '.data.usage | .prompt + .completion')" 0

# ---- loops, deaths ----------------------------------------------------------------------------------------------

script ways
flow round.yaml <<END
name: round
models: { m: { provider: openai, model: mock-1, baseUrl: "$tap/v1", apiKey: "env:MOCK_KEY" } }
agents: { a: { description: "Goes round.", model: m } }
steps: [ { id: l, loop: { unbounded: true, steps: [ { id: s, agent: a, instructions: "Go round." } ] } } ]
END
"$RONDO" run --json round.yaml >out 2>err
same "a model ends its loop" "$(jq -r 'select(.type == "loop_end") | .data | "\(.reason) \(.passes)"' out)" "break 2"

script ways
mock openai "Take your time." "tools: [read]"
"$RONDO" run --allow read mock.yaml >out 2>err &
victim=$!
for _ in $(seq 500); do
    [ "$(sent length)" -ge 2 ] && break
    sleep 0.02
done
kill -KILL $victim
wait $victim 2>/dev/null
check "killed in its second turn, it goes on there" 0 "It says: one fish." "$RONDO" resume -q --allow read "$(run_id err)"
same "the first turn is not asked again" "$(sent 'map(.body.messages | length) | join(",")')" 2,4,4

script faults
mock openai "Be down once."
check "down" 75 "" "$RONDO" run --max-retries 0 mock.yaml
check "up again, it goes on" 0 "Up again." "$RONDO" resume -q "$(run_id err)"

# ---- keys ------------------------------------------------------------------------------------------------------------

# Whatever rondo wrote: stores, caches, what it said.  (requests is the tap's.)
found=$(grep -rlaF "$MOCK_KEY" . --exclude=requests)
same "files with the key" "$found" ""
[ -s runs.db ] && ok || bad "there is no store that could have had it"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
