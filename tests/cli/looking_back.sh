# rondo runs, show, events, history, fork, replay: what is known of runs afterwards.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1 RONDO_STORE=$PWD/runs.db
. "$ROOT/tests/cli/checks"

look() { timeout 60 "$RONDO" "$@" >out 2>err </dev/null || bad "rondo $*: $(cat err)"; }
newest() { "$RONDO" runs --json -n 1 | sed 's/.*"id":"\([^"]*\)".*/\1/'; }

cat >loop.yaml <<'END'
rondo: 1
name: article
inputs: { topic: { type: string, default: jazz } }
agents:
  writer: { run: "echo $RONDO_PATH >> calls; echo draft on $TOPIC, pass $RONDO_PASS; echo the end", env: { TOPIC: "${inputs.topic}" } }
  critic: { script: [ { result: { score: 3 } }, { result: { score: 9 }, usage: { prompt: 10, completion: 5 } }, { result: { score: 5 } } ] }
steps:
  - id: refine
    loop:
      maxIterations: 3
      outputMode: best
      output: draft
      score: steps.rate.result.score
      steps:
        - { id: draft, agent: writer, instructions: x }
        - { id: rate, agent: critic, instructions: x, dependsOn: [draft] }
  - { id: publish, agent: writer, instructions: y, dependsOn: [refine] }
END
check "nothing is there yet" 3 "" "$RONDO" runs
look run --quiet loop.yaml
id=$(newest)

# ---- runs -----------------------------------------------------------------------------------------

look runs
has "$id"
has "completed  article"
check "none like that" 0 "" "$RONDO" runs --status failed
says "none like that"
check "another workflow" 0 "" "$RONDO" runs --name other
check "none since" 0 "" "$RONDO" runs --since 0s
says "none like that"
look runs --since 1000h
has "$id"
check "a status that is none" 3 "" "$RONDO" runs --status odd

# ---- show -----------------------------------------------------------------------------------------

look show "$id"
has "3 passes, cap"
has "from loop.yaml"
look show "$id" refine
has "best: pass 2 with 9"
has "draft on jazz, pass 1"
check "one step of one pass" 0 "draft on jazz, pass 0
the end" sh -c '"$RONDO" show '"$id"' refine.0.draft | tail -n 2'
check "no such step" 3 "" "$RONDO" show "$id" refine.7.draft
look show --json "$id"
has '"path":"refine"'
has '"reason":"max_iterations"'
check "no such run" 3 "" "$RONDO" show rx

cat >many.yaml <<'END'
rondo: 1
name: many
inputs: { list: { type: array } }
agents: { s: { script: [ { content: x } ] } }
steps: [ { id: each, loop: { forEach: "inputs.list", steps: [ { id: one, agent: s, instructions: x } ] } } ]
END
echo "list: [$(seq -s , 60)]" >many.list
look run --quiet many.yaml --inputs many.list
many=$(newest)
look show --json "$many"
same "every item is there" "$(grep -o '"path":"each\[[0-9]*\]"' out | sort -u | wc -l)" 60
look show "$many"
has "60 of 60 items"
same "what is left out is counted" "$(grep -c "\[[0-9]*\]" out) $(grep -o "20 more: 20 done" out)" "40 20 more: 20 done"

# ---- events ----------------------------------------------------------------------------------------

look events --json "$id"
same "every event once, without a gap" \
    "$(sed 's/.*"seq":\([0-9]*\).*/\1/' out | tr '\n' ' ')" "$(seq -s ' ' "$(wc -l <out)") "
look events --json --type iteration_end "$id"
same "only one type" "$(wc -l <out)" 3
look events --path publish "$id"
same "only one step" "$(wc -l <out)" 2
for type in decision step_start; do
    look events --json --type $type "$id"
    same "every $type that is shown, and nothing else" "$(cat out)" \
        "$("$RONDO" events --json "$id" | grep '^{"type":"'$type'"')"
done
look events -v --type decision "$id"
has "decision scope step_start"
same "as many as in JSON" "$(wc -l <out)" "$("$RONDO" events --json --type decision "$id" | wc -l)"
look events --type budget "$id"
same "what is asked for is told" "$(wc -l <out)" "$("$RONDO" events --json --type budget "$id" | wc -l)"
check "a type that is none" 3 "" "$RONDO" events --type step_strat "$id"
says "did you mean 'step_start'?"
check "a path that is none" 0 "" "$RONDO" events --path publihs "$id"
says "no event of 'publihs'"
cat >slow.yaml <<'END'
rondo: 1
name: slow
agents: { wait: { run: "echo begun > begun; while [ ! -e go ]; do sleep 0.05; done; echo late" } }
steps: [ { id: one, agent: wait, instructions: x } ]
END
"$RONDO" run --quiet slow.yaml >answer 2>&1 </dev/null &
driver=$!
for _ in $(seq 500); do [ -e begun ] && break; sleep 0.02; done
slow=$(newest)
timeout 60 "$RONDO" events -f "$slow" >followed 2>&1 &
follower=$!
for _ in $(seq 500); do grep -q step_start followed && break; sleep 0.02; done
grep -q step_end followed && bad "an end before its time" || ok
look runs --status running
has "(pid $driver"
touch go
wait $driver
wait $follower
same "follows to the end" "$(tail -n 1 followed | sed 's/.*\(workflow_end completed\).*/\1/')" "workflow_end completed"

# ---- history ----------------------------------------------------------------------------------------

LC_ALL=C look history "$id" refine
same "a table of the passes" "$(head -n 4 out | sed 's/  *[0-9.]*m*s  / TIME  /; s/words  *time/words  time/')" \
    'pass     score  gain  words  time  tokens  note
   1         3           +7 TIME          draft on jazz, pass 0
   2  *      9    +6  +1 -1 TIME      15  draft on jazz, pass 1
   3         5    -4  +1 -1 TIME          draft on jazz, pass 2'
has '       9 |      *'
has '       3 |  o'
has "best: pass 2"
same "stars and dots, where the locale has them" \
    "$(LC_ALL=C.UTF-8 "$RONDO" history "$id" refine | grep -c '★ \|│ .*★\|│ .*•')" 4
look history --full "$id" refine
same "texts in full" "$(tail -n 3 out)" "pass 3  score 5
    draft on jazz, pass 2
    the end"
check "one pass, as people count" 0 "pass 2  score 9 (best)
    draft on jazz, pass 1
    the end" "$RONDO" history "$id" refine --pass 2
check "there is no such pass" 3 "" "$RONDO" history "$id" refine --pass 4
says "'refine' has 3 passes"
check "passes are counted from 1" 3 "" "$RONDO" history "$id" refine --pass 0
look history --diff "$id" refine
has "pass 2  score 9 (best)"
has "  - draft on jazz, pass 0"
has "  + draft on jazz, pass 1"
look history --json "$id" refine --step rate
same "a line for each pass" "$(wc -l <out)" 3
has '"output":{"score":9}'
has '"gain":6.0'
has '"durationMs":'
has '"prompt":10'
check "no such step in it" 3 "" "$RONDO" history "$id" refine --step darft
says "did you mean 'draft'?"
check "no such loop" 3 "" "$RONDO" history "$id" publish
says "has no loop 'publish' that has begun; its loops: refine"
check "the only loop needs no name" 0 "$("$RONDO" history "$id" refine)" "$RONDO" history "$id"
cat >loops.yaml <<'END'
rondo: 1
name: loops
agents: { w: { script: [ x ] } }
steps:
  - { id: a, agent: w, loop: { forEach: [1, 2] } }
  - { id: g, steps: [ { id: b, loop: { maxIterations: 2, steps: [ { id: c, agent: w, loop: { maxIterations: 2 } } ] } } ] }
END
look run --quiet loops.yaml
check "one of several does" 3 "" "$RONDO" history "$(newest)"
says "which loop of run $(newest)? It has a, g.b"
cat >flat.yaml <<'END'
rondo: 1
name: flat
agents: { w: { script: [ { fail: no }, { result: 6 } ] } }
steps:
  - { id: a, agent: w, loop: { maxIterations: 3, onError: continue, delay: 0s, score: result } }
  - { id: b, agent: w, loop: { maxIterations: 2, score: result + double(iteration) } }
END
look run --quiet flat.yaml
look history "$(newest)" a
hasnt '  pass$'
look history "$(newest)" b
has '  pass'
cat >plain.yaml <<'END'
rondo: 1
name: plain
steps: [ { id: a, run: echo } ]
END
look run --quiet plain.yaml
check "there is none" 3 "" "$RONDO" history "$(newest)"
says "run $(newest) has no loop"
cat >failing.yaml <<'END'
rondo: 1
name: failing
agents:
  w: { script: [ "one", { fail: "no paper" }, "one", { fail: "no ink" } ] }
  pack: { run: "[ $ITEM = 2 ] && { echo broken >&2; exit 1; }; echo packed $ITEM", env: { ITEM: "${string(item)}" } }
  seal: { run: "echo sealed" }
steps:
  - { id: write, agent: w, instructions: x, loop: { maxIterations: 4, onError: continue } }
  - id: each
    loop:
      forEach: "[1, 2, 3]"
      steps: [ { id: pack, agent: pack }, { id: seal, agent: seal, dependsOn: [pack] } ]
  - { id: single, agent: pack, loop: { forEach: "[1, 2]" } }
  - { id: none, agent: pack, loop: { forEach: "[]" } }
END
timeout 60 "$RONDO" run --quiet failing.yaml >out 2>err </dev/null
failing=$(newest)
check "a pass that failed says why, and the next is compared with the one before it" 0 "pass 1
    one
pass 2  failed
    no paper
pass 3
    as before
pass 4  failed
    no ink" "$RONDO" history "$failing" write --diff
same "a table says it, too" "$("$RONDO" history "$failing" write | sed -n '2,5s/  *[0-9.]*m*s  / TIME  /p')" \
    '   1     +1 TIME  one
   2 TIME  failed: no paper
   3      0 TIME  one
   4 TIME  failed: no ink'
look history --json "$failing" write
has '"error":"no ink","output":null,"pass":3,"status":"failed",'
check "the items of a forEach" 0 "[1] 1
    sealed
[2] 2  failed
    exit status 1: broken
[3] 3
    sealed" "$RONDO" history "$failing" each --full
same "as a table" "$("$RONDO" history "$failing" each | sed 's/  *[0-9.]*m*s  / TIME  /; s/^item  *time/item time/')" 'item time  note
[1] 1 TIME  sealed
[2] 2 TIME  failed: exit status 1: broken
[3] 3 TIME  sealed'
check "one item" 0 "[2] 2  failed
    exit status 1: broken" "$RONDO" history "$failing" each --pass 2
check "one step of them" 0 "[1] 1
    packed 1
[2] 2  failed
    exit status 1: broken
[3] 3
    packed 3" "$RONDO" history "$failing" each --step pack --full
same "as JSON, of a forEach around one step" "$("$RONDO" history "$failing" single --json | jq -c 'del(.durationMs, .usage)')" \
    '{"content":"packed 1","item":0,"output":"packed 1","status":"completed","value":1}
{"error":"exit status 1: broken","item":1,"status":"failed","value":2}'
check "of no items" 0 "" "$RONDO" history "$failing" none
check "no such step in an item" 3 "" "$RONDO" history "$failing" each --step sael
says "did you mean 'seal'?"

# ---- runs that nobody drives ------------------------------------------------------------------------------

# standing NAME ID STATUS: runs and show agree on how the run stands
standing() {
    same "$1, as runs has it" "$("$RONDO" runs --json | sed -n '/"id":"'"$2"'"/s/.*"status":"\([^"]*\)".*/\1/p')" "$3"
    same "$1, as show has it" "$("$RONDO" show --json "$2" | sed 's/.*"status":"\([^"]*\)","steps":.*/\1/')" "$3"
    look show "$2"
    has "$4  $3  "
}

cat >asks.yaml <<'END'
rondo: 1
name: asks
steps: [ { id: ok, gate: { ask: "Deploy?" } } ]
END
"$RONDO" run --quiet asks.yaml >/dev/null 2>&1 </dev/null
standing "a run that waits for a person" "$(newest)" waiting "? asks"
rm -f go begun
"$RONDO" run --quiet slow.yaml >/dev/null 2>&1 </dev/null &
driver=$!
for _ in $(seq 500); do [ -e begun ] && break; sleep 0.02; done
slow=$(newest)
same "a run that somebody drives" "$("$RONDO" show --json "$slow" | sed 's/.*"status":"\([^"]*\)","steps":.*/\1/')" running
kill -9 $driver
wait $driver 2>/dev/null
touch go
standing "a run whose process is gone" "$slow" stopped "▸ slow"

# ---- a store that cannot be written ---------------------------------------------------------------------

other=
[ "$(id -u)" != 0 ] || other="setpriv --reuid 65534 --regid 65534 --clear-groups"
locked=$(mktemp -d)
"$RONDO" run --quiet --store "$locked/runs.db" loop.yaml >/dev/null 2>&1 </dev/null
"$RONDO" run --quiet --store "$locked/runs.db" asks.yaml >/dev/null 2>&1 </dev/null
seen=$("$RONDO" runs --store "$locked/runs.db" --name article --json | sed 's/.*"id":"\([^"]*\)".*/\1/')
asks=$("$RONDO" runs --store "$locked/runs.db" --name asks --json | sed 's/.*"id":"\([^"]*\)".*/\1/')
chmod 444 "$locked"/*
chmod 555 "$locked"
if $other "$RONDO" version >/dev/null 2>&1; then
    for command in "show $seen" "show $seen refine" "events $seen" "history $seen refine" "graph --run $seen" \
        "eval 1 --run $seen" "answer $asks" "replay $seen" runs; do
        if (cd / && $other "$RONDO" $command --store "$locked/runs.db") >out 2>err; then ok
        else bad "rondo $command: $(cat err)"; fi
    done
    if (cd / && $other "$RONDO" answer "$asks" ok yes --store "$locked/runs.db") >out 2>err; then
        bad "an answer was written to a store that cannot be"
    else ok; fi
    says "cannot be written"
fi
chmod 755 "$locked"
rm -rf "$locked"

# ---- times of passes ---------------------------------------------------------------------------------------

rm -f go begun
cat >paused.yaml <<'END'
rondo: 1
name: paused
agents: { w: { run: "echo begun > begun; [ $RONDO_PASS = 0 ] || while [ ! -e go ]; do sleep 0.05; done; echo done" } }
steps: [ { id: again, agent: w, instructions: x, loop: { maxIterations: 2 } } ]
END
"$RONDO" run --quiet paused.yaml >/dev/null 2>&1 </dev/null &
driver=$!
for _ in $(seq 500); do "$RONDO" history last again 2>/dev/null | grep -q done && break; sleep 0.02; done
kill -9 $driver
wait $driver 2>/dev/null
sleep 2
touch go
look resume --quiet last
same "times are without the time in which nobody drove the run" \
    "$("$RONDO" history last again --json | jq -c '[.durationMs < 1500]' | tr '\n' ' ')" "[true] [true] "
same "of the loop as well" "$("$RONDO" show last --json | jq '.steps[0].durationMs < 1900')" true
same "and of each step" "$(for step in again again.0 again.1; do "$RONDO" show last $step --json | jq '.durationMs < 1900'; done | sort -u)" true
look show last
same "of the run" "$(sed -n 's/^.* paused  completed  \([0-9]*\)\(ms\|\.[0-9]s\)  .*/\1\2/p' out | grep -cE '^([0-9]+ms|1\.[0-9]s)$')" 1
look runs --limit 1
same "and in the list" "$(grep -cE '  ([0-9]+ms|1\.[0-9]s)  completed  paused' out)" 1
look events last
same "and at its end" "$(grep -cE 'workflow_end completed \(([0-9]+ms|1\.[0-9]s)\)' out)" 1
look fork last --at again.1
sleep 1
look resume --quiet last
look runs --limit 1
same "a fork has no time before it" "$(grep -cE '  [0-9]+ms  completed  paused' out)" 1

# ---- replay and fork ---------------------------------------------------------------------------------

look replay "$id"
has "all as recorded"
: >calls
look fork "$id" --at refine.1 --input topic=blues
fork=$(cat out)
check "a fork goes on from there" 0 "draft on blues, pass 0
the end" "$RONDO" resume --quiet "$fork"
same "what came before is not done again" "$(tr '\n' ' ' <calls)" "refine.1.draft refine.2.draft publish "
look history "$fork" refine --diff
has "draft on jazz, pass 0"
has "  + draft on blues, pass 1"
look replay "$fork"
has "all as recorded"
same "how long it took, in both" "$("$RONDO" show "$fork" | sed -n 's/.* completed  \([0-9.]*m*s\) .*/\1/p')" \
    "$("$RONDO" runs -n 1 | sed 's/.* \([0-9.]*m*s\)  completed .*/\1/')"
look fork "$id" --at refine --pass 2 --input topic=blues
: >calls
look resume --quiet "$(cat out)"
same "--pass counts from 1" "$(tr '\n' ' ' <calls)" "refine.1.draft refine.2.draft publish "
check "a pass that there is not" 3 "" "$RONDO" fork "$id" --at refine --pass 9
says "refine.8"
check "no pass 0" 3 "" "$RONDO" fork "$id" --at refine --pass 0
check "a pass of nothing" 3 "" "$RONDO" fork "$id" --pass 2
sleep 0.5
quick=$("$RONDO" fork "$id" --at refine.1)
"$RONDO" resume --quiet "$quick" >out 2>err </dev/null
most=$("$RONDO" runs -n 1 --json | jq '.endMs - .startMs')
same "what was open takes no longer than the fork" \
    "$("$RONDO" show --json "$quick" | jq -c '[.. | .durationMs? // empty | . <= '"$most"'] | unique')" "[true]"
same "nor does one step" "$("$RONDO" show --json "$quick" refine | jq ".durationMs <= $most")" true
timeout 60 "$RONDO" run --quiet asks.yaml >out 2>err </dev/null
sleep 0.2
timeout 60 "$RONDO" resume --quiet "$(newest)" >out 2>err </dev/null
same "how long it waits does not count, in both" "$("$RONDO" show "$(newest)" | sed -n 's/.* asks  waiting  \([0-9.]*m*s\)  .*/\1/p')" \
    "$("$RONDO" runs -n 1 | sed 's/.* \([0-9.]*m*s\)  waiting .*/\1/')"
cat >costs.yaml <<'END'
rondo: 1
name: costs
agents: { s: { script: [ { content: x, usage: { prompt: 300, cost: 0.3 } } ] } }
steps:
  - { id: a, agent: s, instructions: x }
  - { id: b, agent: s, instructions: x, dependsOn: [a] }
  - { id: c, agent: s, instructions: x, dependsOn: [b] }
END
look run --quiet costs.yaml
look fork "$(newest)" --at b
look resume "$(cat out)"
says '3/3 steps  600 tokens  $0.600'
says 'what came before the fork had cost 300 tokens, $0.300'
look show "$(newest)"
has '3/3 steps  600 tokens  $0.600'
has ', which had spent 300 tokens  $0.300'
same "in JSON" "$("$RONDO" show --json "$(newest)" | grep -o '"inherited":{[^}]*}\|"usage":{[^}]*"prompt":600}')" \
    '"inherited":{"calls":0,"completion":0,"nanoUsd":300000000,"prompt":300}
"usage":{"calls":0,"completion":0,"nanoUsd":600000000,"prompt":600}'
check "nothing started there" 3 "" "$RONDO" fork "$id" --at nothing
says "nothing"
check "an unknown input" 3 "" "$RONDO" fork "$id" --at publish --input topik=x
check "without a place" 3 "" "$RONDO" fork "$id"
look rm "$id"
look show "$fork"
has "3 passes"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
