# Model agents of workflow files against aimock, a model server that others wrote, in the shapes of five APIs: answers,
# events, what is counted, what was really sent, and what happens when things go wrong.
. "$ROOT/tests/peers/mocks"

scheme='resultSchema: { type: object, required: [score, issues], properties: { score: { type: number }, issues: { type: array, items: { type: string } } } }'

for p in openai openai-responses anthropic gemini ollama; do
    # ---- answers ------------------------------------------------------------------------------------
    script plain
    mock $p "Say hello, please."
    check "$p: an answer" 0 "Hello from the other side of the wire." "$RONDO" run -q mock.yaml
    same "$p: one request" "$(sent length)" 1
    same "$p: a stream" "$(sent '.[0] | .body.stream == true or (.path | test("streamGenerateContent.*alt=sse"))')" true
    same "$p: the key" "$(sent '.[0].headers | [.authorization, ."x-api-key", ."x-goog-api-key"] | map(select(. != null)) |
        length == 1 and (.[0] | sub("^Bearer "; "")) == "canary-5ee0d1c2-key"')" true
    same "$p: no key in the address" "$(sent '.[0].path | test("canary")')" false
    same "$p: JSON" "$(sent '.[0].headers."content-type"')" application/json
    same "$p: the task" "$(sent '.[0].body | tostring | test("## Task.*Say hello, please")')" true
    same "$p: the system text" "$(sent '.[0].body | tostring | test("An agent for tests")')" true

    "$RONDO" run --json mock.yaml >out 2>err
    same "$p: output" "$(ended .data.output)" "Hello from the other side of the wire."
    [ $p = ollama ] || same "$p: usage" "$(ended '.data.usage | "\(.prompt) \(.completion)"')" "31 9"
    [ $p = ollama ] || same "$p: cost" "$(ended .data.cost)" 0.000152
    same "$p: partial output" "$(jq -rs 'map(select(.type == "output") | .data.value.content) | join("")' out)" \
        "Hello from the other side of the wire."

    mock $p "Use other letters."
    check "$p: all letters" 0 $'Grüße, 世界, 👋🏽 and a "quoted" \\ back\tslash\nin two lines' "$RONDO" run -q mock.yaml

    # ---- tools --------------------------------------------------------------------------------------
    script tools
    mock $p "Compare both files." "tools: [read]"
    check "$p: two tools at once" 0 "They differ in one word." "$RONDO" run -q --allow read mock.yaml
    same "$p: two requests" "$(sent length)" 2
    same "$p: what was read goes back" "$(sent '.[1].body | tostring | test("one fish.*two fish")')" true
    same "$p: the tool is offered" "$(sent '.[0].body.tools | tostring | test("\"read\"")')" true
    [ $p = ollama ] || same "$p: both turns count" \
        "$("$RONDO" run --json --allow read mock.yaml 2>err | tee out | jq -r 'select(.type == "workflow_end").data.usage | "\(.prompt) \(.completion)"')" "280 46"
    mock $p "Use a tool that is not there." "tools: [read]"
    check "$p: a tool that is not there" 0 "Then I walk." "$RONDO" run -q mock.yaml
    mock $p "Never stop reading." "tools: [read], maxTurns: 3"
    "$RONDO" run -q --allow read mock.yaml >out 2>err
    same "$p: an end of turns" "$(sent 'map(select(.body | tostring | test("Never stop"))) | length')" 3

    # ---- results ------------------------------------------------------------------------------------
    script results
    mock $p "Score this at once." "$scheme"
    check "$p: a result" 0 '{"score":8,"issues":["too long"]}' "$RONDO" run -q mock.yaml
    mock $p "Score this badly first." "$scheme"
    check "$p: a result that is mended" 0 '{"score":9,"issues":[]}' "$RONDO" run -q mock.yaml
    same "$p: told what is wrong" "$(sent '.[2].body | tostring | test("score")')" true
    mock $p "Score this." "prompt: You are forgetful., $scheme" "output: steps.one.result"
    check "$p: a result that is asked for" 0 '{"score":7,"issues":["dull"]}' "$RONDO" run -q mock.yaml
    mock $p "Score this." "prompt: You are stubborn., $scheme"
    check "$p: no result" 1 "" "$RONDO" run -q mock.yaml
    says "I do not hand in forms"

    # ---- faults -------------------------------------------------------------------------------------
    script faults
    for x in "Throttle me once=Now it fits." "Be down once=Up again." "Cut me once=Whole at last." "Stammer once=Clear again." \
        "Hang up once=Still there."; do
        mock $p "${x%%=*}."
        "$RONDO" run --json mock.yaml >out 2>err
        same "$p: ${x%%=*}" "$(ended .data.output)" "${x#*=}"
        same "$p: ${x%%=*}: a retry is told" "$(retries)" 1
    done
    # What OpenAI calls a quota that is used up is what Gemini says of too many requests a minute.
    for x in "Send me the bill=check your plan and billing" "Ask for credit=balance is too low" \
        "Refuse my key=Incorrect API key" "Refuse my request=no such parameter"; do
        [[ $p != openai* && $x == Send* ]] && continue
        script faults
        mock $p "${x%%=*}."
        check "$p: ${x%%=*}" 1 "" "$RONDO" run -q mock.yaml
        says "${x#*=}"
        same "$p: ${x%%=*}: not tried again" "$(sent length)" 1
    done
    script faults
    mock $p "Be down for good."
    check "$p: down for good" 75 "" "$RONDO" run -q --max-retries 1 mock.yaml
    says "nobody is here"
    same "$p: tried twice" "$(sent length)" 2
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
