#!/bin/bash
# money.sh - what models cost, from end to end: the ledger is exact to the last billionth, no budget is overspent by
# agents side by side, what was spent survives a kill, and what has no price is called so.
set -u
cd "$(mktemp -d)" || exit 1
scratch=$PWD
trap 'cd /; [ -n "${SERVER_PID:-}" ] && exec {SERVER[1]}>&-; rm -rf "$scratch"' EXIT
. "$ROOT/tests/cli/checks"
export XDG_DATA_HOME=$scratch/data HOME=$scratch
unset OPENAI_API_KEY OPENAI_BASE_URL RONDO_MODEL
server=$(dirname "$RONDO")/tests/server

# answers N MS: N answers that take MS each, with odd numbers of tokens
answers() {
    for ((i = 0; i < $1; i++)); do
        [ $i -gt 0 ] && echo then
        echo "wait $2"
        echo "header Content-Type: application/json"
        echo 'send {"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"done"}}],"usage":{"prompt_tokens":'$((101 + i))',"completion_tokens":'$((7 + i % 5))',"prompt_tokens_details":{"cached_tokens":'$((i % 3))'},"completion_tokens_details":{"reasoning_tokens":'$((i % 2))'}}}'
    done
}
serve() {
    stop
    { echo "POST /v1/chat/completions"; cat; } >script
    : >log
    coproc SERVER { "$server" script log; }
    read -r port <&"${SERVER[0]}"
    export COMPAT_BASE_URL=http://127.0.0.1:$port/v1
}
stop() { if [ -n "${SERVER_PID:-}" ]; then exec {SERVER[1]}>&-; wait "$SERVER_PID" 2>/dev/null; fi; }
requests() { wc -l <log; }

# What must hold of the events in $1 with a limit of $2 nano-dollars: never more than that spent and held.
most() { # FILE: the most that was spent and held at any moment
    jq -s 'reduce .[] as $e ({ spent: 0, held: {}, most: 0 };
        ($e.path // "") as $p | ($e.data // {}) as $d | "\($p)#\($d.call)" as $c |
        if $e.type == "budget_asked" then .asked[$c] = $d.value.nanoUsd
        elif $e.type == "budget_granted" then .held[$c] = .asked[$c]
        elif $e.type == "budget" then (if $d.call then del(.held[$c]) else . end) | .spent += $d.value.nanoUsd
        else . end |
        ([.held[]] | add // 0) as $held | .most = ([.most, .spent + $held] | max)) | .most' "$1"
}
spent() { jq -s '[.[] | select(.type == "budget").data.value.nanoUsd] | add // 0' "$1"; }
at_end() { jq -r 'select(.type == "workflow_end").'"$2" "$1"; }
nano() { jq -r 'select(.type == "workflow_end").data.cost * 1e9 | round' "$1"; }

# ---- M1: exact ----------------------------------------------------------------------------------------------
flow lanes.yaml <<'F'
name: lanes
models: { m: { provider: compat, model: m, price: { input: 2.5, output: 10.001, cacheRead: 0.3 } } }
agents: { w: { prompt: You work., model: m, maxTokens: 200 } }
steps:
  - id: each
    agent: w
    instructions: "Do ${item}."
    loop: { forEach: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], maxConcurrency: 6 }
F
serve < <(answers 12 1)
"$RONDO" run --json --store :memory: lanes.yaml >out 2>err
same "all of it" "$? $(requests)" "0 12"
same "the ledger is the sum of its entries" "$(nano out)" "$(spent out)"
same "calls" "$(at_end out 'data.usage.calls')" 12
same "tokens" "$(at_end out 'tokens.prompt')" "$(jq -s '[.[] | select(.type=="budget").data.value.prompt] | add' out)"
same "tokens as the server counts them" "$(at_end out 'tokens | "\(.prompt) \(.cacheRead) \(.reasoning)"')" \
     "$((12 * 101 + 66)) 12 6"

# ---- M2: never more than the limit ----------------------------------------------------------------------------
for limit in 0.004 0.006 0.01; do
    serve < <(answers 12 5)
    "$RONDO" run --json --store :memory: --max-cost $limit lanes.yaml >out 2>err
    rc=$?
    cap=$(jq -n "$limit * 1e9 | round")
    same "$limit: what was spent and held" "$([ "$(most out)" -le "$cap" ] && echo within)" within
    same "$limit: as much as the ledger says" "$(nano out)" "$(spent out)"
    if [ "$(grep -c '"type":"budget_refused"' out)" -gt 0 ]; then
        same "$limit: ends by its budget" "$rc $(at_end out 'data.exitCode')" "4 4"
        same "$limit: what is done is kept" "$(at_end out 'data.usage.calls')" "$(requests)"
    else
        same "$limit: enough" "$rc" 0
    fi
done
serve < <(answers 12 1)
"$RONDO" run --store :memory: --max-cost 0.002 lanes.yaml >out 2>err
same "too little" "$?" 4
says "the run's budget: "
says " of \$0.002 spent, the next call may cost "

# ---- M3: what was spent survives a kill ---------------------------------------------------------------------------
flow chain.yaml <<'F'
name: chain
models: { m: { provider: compat, model: m, price: { input: 1000, output: 1000 } } }
agents: { w: { prompt: You work., model: m, maxTokens: 20 } }
steps:
  - { id: a, agent: w, instructions: one }
  - { id: b, agent: w, instructions: two, dependsOn: [a] }
F
# killed: while the second call is under way; the third will be answered
killed() {
    serve < <(answers 1 1; echo then; echo "wait 600000"; echo "send x"; echo then; answers 2 1)
    "$RONDO" run --json "$@" chain.yaml >out 2>err & pid=$!
    for _ in $(seq 500); do [ "$(requests)" -ge 2 ] && break; sleep 0.02; done
    kill -9 $pid; wait $pid 2>/dev/null
    id=$(jq -r '.runId' out | head -1)
    before=$(spent out)
}
killed
reserved=$(jq -s '[.[] | select(.type == "budget_asked")][-1].data.value.nanoUsd' out)
"$RONDO" resume --json "$id" >out2 2>err
same "goes on" "$?" 0
same "both calls are counted, once" "$(at_end out2 'data.usage.calls')" 2
same "spent before and after" "$(nano out2)" "$((before + $(spent out2)))"
same "what was cut off is lost" "$(jq -r 'select(.type == "workflow_end").data.lostCost * 1e9 | round' out2)" "$reserved"
"$RONDO" show --json "$id" b >shown
same "and shown" "$(jq -r '.lost.nanoUsd' shown)" "$reserved"
"$RONDO" show "$id" b >shown
same "to people" "$(grep -c 'lost .*tokens' shown)" 1
"$RONDO" replay "$id" >/dev/null 2>err
same "the same follows from its log" "$?" 0

# A fork has nothing of that; a run that is moved to a changed file has all of it; with what is left being too
# little after a crash, the run ends.
fork=$("$RONDO" fork --at b "$id" 2>err)
"$RONDO" resume --json "$fork" >out2 2>err
same "a fork" "$? $(at_end out2 'data | "\(.usage.calls) \(.inherited.calls) \(.lost)"')" "0 1 1 null"
killed
echo "  - { id: c, agent: w, instructions: three, dependsOn: [b] }" >>chain.yaml
"$RONDO" resume --json --migrate "$id" >out2 2>err
same "a migrated run" "$? $(at_end out2 'data.usage.calls')" "0 3"
same "has lost the same" "$(jq -r 'select(.type == "workflow_end").data.lostCost * 1e9 | round' out2)" "$reserved"
sed -i '$d' chain.yaml
limit=$(jq -n "($before + $reserved * 1.5) / 1e9")
killed --max-cost "$limit"
"$RONDO" resume --json "$id" >out2 2>err
same "no room after a crash" "$? $(at_end out2 'data.usage.calls') $(at_end out2 'data.lost.calls')" "4 1 1"
"$RONDO" resume --json --max-cost 5 "$id" >out2 2>err
same "goes on with a larger budget" "$? $(at_end out2 'data.usage.calls')" "0 2"

# ---- no price ---------------------------------------------------------------------------------------------------------
flow free.yaml <<'F'
name: free
agents: { w: { prompt: You work., model: compat/m } }
steps: [{ id: a, agent: w, instructions: x }]
F
serve < <(answers 9 1)
"$RONDO" run --json free.yaml >out 2>err
same "no cost is told" "$(at_end out 'data.cost')" null
same "but that it has none" "$(at_end out 'data.usage.unpriced')" 1
"$RONDO" show "$(jq -r '.runId' out | head -1)" >out 2>err
has "unpriced"
same "and no dollars" "$(grep -c '\$' out)" 0

"$RONDO" run --store :memory: --max-cost 1 free.yaml >out 2>err
same "a limit of its cost" "$?" 0
says "warning: the limit of cost may not hold: agent 'w' of step 'a': nobody knows what 'compat/m' costs"
"$RONDO" run --store :memory: --max-tokens 100000 free.yaml >out 2>err
same "one of tokens holds" "$? $(grep -c warning err)" "0 0"
sed 's/^agents/budget: { cost: 1 }\nagents/' free.yaml >free2.yaml
"$RONDO" run --store :memory: free2.yaml >out 2>err
says "warning: the limit of cost may not hold"
"$RONDO" run --store :memory: --require-prices free.yaml >out 2>err
same "refused" "$?" 3
for none in "--max-cost 0" "--max-cost -1" "--max-cost 0.0" "--max-tokens 0" "--max-turns 0" "--max-concurrency 0"; do
    "$RONDO" run --store :memory: $none free.yaml >out 2>err
    same "$none is no limit" "$? $(grep -c 'expected \(1 or more\|more than 0\)' err)" "3 1"
done

# ---- what servers say that makes no sense ---------------------------------------------------------------------------
flow odd.yaml <<'F'
name: odd
models: { m: { provider: compat, model: m, price: { input: 1000, output: 1000 } } }
agents: { w: { prompt: You work., model: m, tools: [] } }
steps: [{ id: a, agent: w, instructions: x }]
F
while read -r wanted usage; do
    serve < <(answers 1 1 | sed 's/"usage":.*/"usage":{'"$usage"'}}/')
    "$RONDO" run --json --store :memory: odd.yaml >out 2>err
    same "$usage" "$? $(at_end out 'tokens | "\(.prompt > 9 and .prompt < 200) \(.completion) \(.cacheRead)"') $(($(nano out) < 200000000))" "0 true ${wanted/_/ } 1"
done <<'L'
5_10 "prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":999999999}
2_0 "prompt_tokens":0,"completion_tokens":0
2_0 "prompt_tokens":-7,"completion_tokens":-1000000
2_0 "prompt_tokens":9223372036854775807,"completion_tokens":1e300
2_0 "prompt_tokens":"7","completion_tokens":null
L

# ---- another model has another price -----------------------------------------------------------------------------
# other: the first one refuses everything, its fallback answers
other() {
    stop
    { echo "POST /v1/chat/completions"; echo "status 401"; echo "send {}"; echo "POST /v2/chat/completions"; answers 2 1; } >script
    : >log
    coproc SERVER { "$server" script log; }
    read -r port <&"${SERVER[0]}"
    export COMPAT_BASE_URL=http://127.0.0.1:$port/v1
    flow other.yaml <<F
name: other
models:
  cheap: { provider: compat, model: a, temperature: 0.1, maxTokens: 3000, price: { input: 1, output: 1 }, fallback: [dear] }
  dear: { provider: compat, model: b, baseUrl: "http://127.0.0.1:$port/v2", topP: 0.5, price: { input: 1000, output: 1000 } }
agents: { w: { prompt: You work., model: cheap } }
steps: [{ id: a, agent: w, instructions: x }]
F
}
other
"$RONDO" run --json --store :memory: --max-cost 0.05 other.yaml >out 2>err
same "what would cost too much is not asked" "$? $(at_end out 'data.cost') $(jq -r .target log | sort -u)" "4 0 /v1/chat/completions"
other
"$RONDO" run --json --store :memory: --max-cost 1 other.yaml >out 2>err
same "what can be paid is" "$? $(nano out)" "0 108000000"
same "within the limit" "$([ "$(most out)" -le 1000000000 ] && echo yes)" yes
same "and bounded by it" "$(jq -rs '.[-1].body | fromjson | (.max_tokens // .max_completion_tokens) | . > 0 and . < 1000' log)" true
same "with what it says itself" "$(jq -rs '[.[].body | fromjson | "\(.model) \(.temperature) \(.top_p)"] | join(", ")' log)" "a 0.1 null, b null 0.5"
sed -i 's/, price: { input: 1000, output: 1000 }//' other.yaml
"$RONDO" run --store :memory: --require-prices other.yaml >out 2>err
same "one without a price counts, too" "$?" 3
says "'dear' costs"

# ---- what is kept for the next time may cost more -------------------------------------------------------------------
# kept N: N answers whose input, 500 tokens, was written into a cache
kept() {
    for ((i = 0; i < $1; i++)); do
        [ $i -gt 0 ] && echo then
        echo "header Content-Type: application/json"
        echo "wait 100"
        echo 'send {"id":"x","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn","usage":{"input_tokens":0,"cache_creation_input_tokens":500,"output_tokens":1}}'
    done
}
flow kept.yaml <<'F'
name: kept
models: { m: { provider: anthropic, model: m, price: { input: 1000, cacheWrite: 4000, output: 0 } } }
agents: { w: { prompt: You work., model: m, tools: [], maxTokens: 300 } }
steps: [{ id: each, agent: w, instructions: "Do ${item}, and everything that goes with it: LONG", loop: { forEach: [1, 2, 3, 4, 5, 6, 7, 8], maxConcurrency: 4 } }]
F
sed -i "s/LONG/$(printf 'word %.0s' $(seq 220))/" kept.yaml
serve < <(kept 8)
sed -i 's,/v1/chat/completions,/v1/messages,' script
stop; coproc SERVER { "$server" script log; }
read -r port <&"${SERVER[0]}"
ANTHROPIC_BASE_URL=http://127.0.0.1:$port ANTHROPIC_API_KEY=k "$RONDO" run --json --store :memory: --max-cost 7 kept.yaml >out 2>err
same "within the limit" "$? $(($(requests) * 2000000000)) $(($(nano out) <= 7000000000)) $(($(most out) <= 7000000000))" "4 $(nano out) 1 1"

# ---- tries that fail are paid for, too -----------------------------------------------------------------------------
flow cut.yaml <<'F'
name: cut
models: { m: { provider: compat, model: m, price: { input: 0, output: 1000 } } }
agents: { w: { prompt: You work., model: m, tools: [], maxTokens: 300 } }
steps: [{ id: a, agent: w, instructions: x }]
F
words=$(printf 'word %.0s' $(seq 200))
cut_off() { echo "header Content-Type: text/event-stream"; printf 'send data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\\n\\n\ncut\n' "$words"; }
serve < <(cut_off)
"$RONDO" run --json --store :memory: --max-cost 0.4 cut.yaml >out 2>err
same "what another try may cost is not there" "$? $(requests)" "4 1"
serve < <(cut_off)
"$RONDO" run --json --store :memory: --max-cost 0.7 cut.yaml >out 2>err
same "for as many as there is money" "$? $(requests) $([ "$(nano out)" -le 700000000 ] && echo within)" "4 2 within"
serve < <(cut_off; echo then; answers 1 1)
"$RONDO" run --json --store :memory: cut.yaml >out 2>err
same "all of them count" "$? $(at_end out 'data.usage.calls') $(nano out)" "0 1 $(spent out)"
same "as they were" "$([ "$(spent out)" -gt 200000000 ] && echo more)" more

# ---- many are cut at the same moment ------------------------------------------------------------------------------
# Each of these answers costs 0.25 dollars, whether it is cut or not; at most it is 0.3.
piece() { printf 'send data: {"choices":[{"index":0,"delta":{"content":"%s"}}]%s}\\n\\n\n' "$words" "$1"; }
cut_late() { # [USAGE]: what the server said before it was cut
    echo "wait 200"; echo "header Content-Type: text/event-stream"; piece "${1:-}"; echo cut
}
counted=',"usage":{"prompt_tokens":1,"completion_tokens":250}'
side_by_side() { # MORE: of the model; TARGET: what it falls back on
    stop
    { echo "POST /v1/chat/completions"; cut_late "$1"; echo "POST /v2/chat/completions"; cut_late "$1"; } >script
    : >log
    coproc SERVER { "$server" script log; }
    read -r port <&"${SERVER[0]}"
    export COMPAT_BASE_URL=http://127.0.0.1:$port/v1
    flow side.yaml <<F
name: side
options: { maxConcurrency: 12 }
models:
  m: { provider: compat, model: m, price: { input: 0, output: 1000 }$2 }
  n: { provider: compat, model: n, baseUrl: "http://127.0.0.1:$port/v2", price: { input: 0, output: ${3:-1000} } }
agents: { w: { prompt: You work., model: m, tools: [], maxTokens: 300 } }
steps:
  - { id: each, agent: w, instructions: "Do ${hole}.", loop: { forEach: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], maxConcurrency: 12 } }
F
}
hole='${item}'
charged() { jq -s "[.[] | if .target == \"/v2/chat/completions\" then ${1:-1000} * 250000 else 250000000 end] | add" log; }
# together LIMIT [OPTION...]: it is stopped until the answers to all its first requests have been cut
together() {
    local limit=$1 first pid
    first=$(jq -n "[12, ($limit / 0.3 | floor)] | min")
    "$RONDO" run --json --store :memory: --max-cost "$@" side.yaml >out 2>err & pid=$!
    for _ in $(seq 500); do [ "$(requests)" -ge "$first" ] && break; sleep 0.01; done
    kill -STOP $pid; sleep 0.3; kill -CONT $pid
    wait $pid
}
within() { [ "$(charged "${2:-1000}")" -le "$(jq -n "$1 * 1e9 | round")" ] && echo within; }
for limit in 1.3 3.9; do
    side_by_side "$counted" ""
    together $limit
    same "$limit: all cut at once" "$? $(within $limit)" "4 within"
    same "$limit: the ledger has what was charged" "$(nano out) $([ "$(most out)" -le "$(jq -n "$limit * 1e9 | round")" ] && echo within)" "$(charged) within"
    same "$limit: as many as can be paid" "$(requests)" "$(jq -n "($limit - 0.3) / 0.25 | floor + 1")"
    side_by_side "" ""
    together $limit
    same "$limit: when nobody counts, too" "$? $(within $limit)" "4 within"
    for price in 1000 900 1100; do
        side_by_side "$counted" ", fallback: [n]" $price
        together $limit --max-retries 0
        same "$limit: another for $price" "$(within $limit $price) $(nano out)" "within $(charged $price)"
    done
done
side_by_side "$counted" ""
"$RONDO" run --json --store :memory: --max-tokens 4000 side.yaml >out 2>err
same "tokens" "$? $([ $(($(requests) * 251)) -le 4000 ] && echo within) $(at_end out 'tokens | .prompt + .completion')" "4 within $(($(requests) * 251))"

# ---- and those that we cut ourselves ---------------------------------------------------------------------------------
flow slow.yaml <<'F'
name: slow
models: { m: { provider: compat, model: m, price: { input: 0, output: 1000 }, timeouts: { firstByte: 300ms } } }
agents: { w: { prompt: You work., model: m, tools: [], maxTokens: 300, timeout: 200ms } }
steps: [{ id: a, agent: w, instructions: Do., loop: { maxIterations: 8, onError: continue, delay: 0s, maxFailures: 9 } }]
F
serve < <(echo "header Content-Type: text/event-stream"; piece ""; echo chunked; echo hang)
"$RONDO" run --json --store :memory: --max-cost 1 slow.yaml >out 2>err
same "what was seen of an answer is paid for" "$? $(requests) $(nano out)" "4 3 750000000"
serve < <(echo "head"; echo hang)
"$RONDO" run --json --store :memory: --max-cost 1 slow.yaml >out 2>err
same "of one that was silent nobody knows" "$? $(at_end out 'data.lostCost')" "4 0.9" # a third of it each
sed -i 's/, timeout: 200ms//; s/, loop: .* }/ }/; s/input: 0/input: 1000/' slow.yaml
"$RONDO" run --json --store :memory: --max-retries 1 slow.yaml >out 2>err
same "it has read what was sent" "$? $(at_end out 'tokens | .prompt > 0 and .completion == 0') $(($(nano out) > 0))" "75 true 1"

# A server that does not know when to stop is stopped.
sed -i 's/, timeouts: .* }$/ } }/; s/input: 1000/input: 0/' slow.yaml
serve < <(echo "header Content-Type: text/event-stream"; for i in $(seq 40); do echo "wait 2"; piece ""; done)
"$RONDO" run --json --store :memory: --max-cost 5 slow.yaml >out 2>err
same "an endless answer" "$(($? != 0)) $(requests) $(($(nano out) < 3000000000))" "1 1 1"
has "does not keep to the length"

# ---- whatever happens ------------------------------------------------------------------------------------------------
# Steps side by side, loops in loops, a judge, a review, an agent that calls agents, a coordinator; answers that come,
# are cut, or call tools, by chance; half of the runs are killed or stopped now and then, and resumed.
flow any.yaml <<'F'
name: any
options: { maxConcurrency: 10 }
models: { m: { provider: compat, model: m, price: { input: 0, output: 1000 } } }
agents:
  w: { prompt: You work., model: m, tools: [], maxTokens: 300 }
  j: { prompt: You judge., model: m, maxTokens: 300, resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } }
  boss: { prompt: You lead., model: m, tools: [helper], maxTokens: 300 }
  helper: { prompt: You help., description: helps, model: m, tools: [], maxTokens: 300 }
  guide: { prompt: You coordinate., model: m, maxTokens: 300 }
coordinator: { agent: guide }
steps:
  - { id: each, agent: w, instructions: "Do ${item}.", loop: { forEach: [1, 2, 3, 4], maxConcurrency: 4 } }
  - { id: lead, agent: boss, instructions: Lead. }
  - id: nest
    loop:
      maxIterations: 3
      untilAgent: j
      steps:
        - { id: in1, agent: w, instructions: x }
        - { id: in2, agent: w, instructions: y, loop: { maxIterations: 2 } }
  - { id: seen, agent: w, instructions: z, review: { agent: w } }
F
counts='"usage":{"prompt_tokens":10,"completion_tokens":250}'
whole() { echo "wait 20"; echo "header Content-Type: application/json"; echo 'send {"id":"x","choices":[{"index":0,'"$1"'}],'"$counts"'}'; }
help_call() { echo '{"id":"'$1'","type":"function","function":{"name":"helper","arguments":"{\\"instructions\\":\\"x\\",\\"input\\":\\"x\\"}"}}'; }
by_chance() {
    for ((i = 0; i < 60; i++)); do
        [ $i -gt 0 ] && echo then
        case $((RANDOM % 5)) in
        0) cut_late "$counted" ;;
        1) whole '"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":['"$(help_call a$i),$(help_call b$i)"']}' ;;
        *) whole '"finish_reason":"stop","message":{"role":"assistant","content":"done"}' ;;
        esac
    done | sed 's/^wait 200$/wait 20/'
}
# lives LIMIT: until it has ended by itself
lives() {
    local pid want id
    "$RONDO" run --json --store any.db --max-cost "$1" any.yaml >out 2>err & pid=$!
    for kills in 1 2 3 4; do
        want=$(($(requests) + RANDOM % 5 + 1))
        while [ "$(requests)" -lt $want ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
        kill "$([ $((RANDOM % 2)) = 0 ] && echo -KILL || echo -INT)" $pid 2>/dev/null || break
        wait $pid 2>/dev/null
        id=$(jq -r .runId out | head -1)
        "$RONDO" resume --json --store any.db "$id" >>out 2>err & pid=$!
    done
    wait $pid
}
for seed in 1 5 7 10 11 12 13 14; do
    RANDOM=$seed
    rm -f any.db*
    limit=$(jq -n "($RANDOM % 60 + 4) / 10")
    serve < <(by_chance)
    if [ $((seed % 2)) = 0 ]; then
        "$RONDO" run --json --store :memory: --max-cost "$limit" any.yaml >out 2>err
        same "chance $seed: charged and spent" "$(charged)" "$(spent out)"
    else
        lives "$limit"
    fi
    same "chance $seed: within $limit" "$(within "$limit")" within
done

stop
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
