# rondo resume --failed: items of a forEach that failed run again in a run that has ended, and nothing else.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1
store=$PWD/runs.db
export RONDO_STORE=$store
. "$ROOT/tests/cli/checks"

newest() { "$RONDO" runs -n 1 --json | jq -r .id; }
calls() { tr '\n' ' ' <calls; }
replays() { check "$1: replay" 0 "" "$RONDO" replay -q "$id"; }

# A run in which the items of these names fail.
begin() { # FILE NAME...
    local file=$1
    rm -f bad-* calls && touch calls
    shift
    for name; do touch "bad-$name"; done
    "$RONDO" run -q "$file" >first 2>err </dev/null
    id=$(newest)
    : >calls
    rm -f bad-*
}

# ---- one of a thousand ------------------------------------------------------------------------------------

flow many.yaml <<'END'
name: many
agents:
  work: { run: "echo $RONDO_ITEM >>calls; test ! -e bad-$RONDO_ITEM && echo did $RONDO_ITEM" }
  side: { run: "echo side >>calls; echo side" }
  sum: { run: [sh, -c, "echo sum >>calls; echo $0", "${steps.all.result.failed.size()} failed"] }
steps:
  - { id: all, agent: work, loop: { forEach: "inputs.items", onItemFailure: continue, maxConcurrency: 4, outputMode: cumulative } }
  - { id: side, agent: side }
  - { id: sum, agent: sum, dependsOn: [all] }
inputs: { items: { type: array } }
output: "steps.sum.content + ': ' + string(steps.all.result.iterations.filter(i, i.content == 'did ' + string(i.item)).size()) + ' of ' + string(steps.all.result.iterations.size())"
END
rm -f bad-* calls
touch calls bad-700
"$RONDO" run -q many.yaml -i items="[$(seq -s, 1000)]" >first 2>err </dev/null
id=$(newest)
same "one item failed" "$(cat first)" "1 failed: 999 of 1000"
: >calls
rm bad-700
check "item 700 is mended" 0 "0 failed: 1000 of 1000" "$RONDO" resume -q --failed "$id"
same "by one call, and what depends on it begins anew" "$(calls)" "700 sum "
replays "item 700"
"$RONDO" events "$id" >out
same "what began again is told" "$(grep -o 'run_reopened.*' out)" "run_reopened: again all~1[699]~1, sum~1"

rm -f bad-* && touch bad-2
"$RONDO" run many.yaml -i items="[1, 2, 3]" >out 2>err </dev/null
says "run the failed items again: rondo resume $("$RONDO" runs -n 1 --json | jq -r .id) --failed"
rm bad-2
"$RONDO" resume --failed last >out 2>err </dev/null
if grep -q "failed items again" err; then bad "an offer though no item failed"; else ok; fi
"$RONDO" history last all >out
same "history has what each item came to last" "$(awk 'NR > 1 { print $1, $2, $4, $5, $6 }' out)" "[1] 1 did 1 
[2] 2 did 2 
[3] 3 did 3 "

# ---- nothing to do ----------------------------------------------------------------------------------------

: >calls
check "no item failed" 0 "0 failed: 1000 of 1000" "$RONDO" resume --failed "$id"
says "no item of a forEach has failed"
same "nothing runs" "$(calls)" ""

# ---- items that fail once more, and kill -9 in between ----------------------------------------------------

flow slow.yaml <<'END'
name: slow
agents:
  work: { run: "echo $RONDO_ITEM >>calls; test ! -e bad-$RONDO_ITEM || exit 1; echo $RONDO_ITEM >>done; [ -e fast ] || [ $RONDO_ITEM != 5 ] || sleep 60" }
  sum: { run: "echo sum >>calls; echo sum" }
steps:
  - { id: all, agent: work, loop: { forEach: "[1,2,3,4,5,6,7,8]", onItemFailure: continue, maxConcurrency: 1 } }
  - { id: sum, agent: sum, dependsOn: [all] }
output: "string(steps.all.result.failed.size()) + ' failed'"
END
touch fast
begin slow.yaml 2 4 5 7
same "four items failed" "$(cat first)" "4 failed"
rm fast
: >done
"$RONDO" resume --failed "$id" >out 2>err </dev/null &
pid=$!
wait_for calls 5
kill -9 $pid
wait $pid 2>/dev/null
same "killed at the third of them" "$(calls)" "2 4 5 "
touch fast
check "resume --failed goes on" 0 "0 failed" "$RONDO" resume --failed "$id"
says "had not ended"
same "no item runs twice but the one under way, none is lost" "$(calls)" "2 4 5 5 7 sum "
replays "killed"

begin slow.yaml 2 4
touch bad-4
check "one fails again" 0 "1 failed" "$RONDO" resume -q --failed "$id"
same "both were tried" "$(calls)" "2 4 sum "
rm bad-4
: >calls
check "and once more" 0 "0 failed" "$RONDO" resume -q --failed "$id"
same "only the one that had failed again" "$(calls)" "4 sum "
replays "three lives"

# ---- items with steps of their own, inside each other, and in a loop --------------------------------------

flow nested.yaml <<'END'
name: nested
agents:
  work: { run: "echo $RONDO_PATH >>calls; test ! -e bad-$RONDO_ITEM && echo did $RONDO_ITEM" }
  pre: { run: "echo $RONDO_PATH >>calls; echo pre" }
steps:
  - id: out
    loop:
      forEach: "['x','y']"
      onItemFailure: continue
      output: in
      steps:
        - { id: pre, agent: pre }
        - { id: in, agent: work, dependsOn: [pre], loop: { forEach: "['1','2','3'].map(n, item + n)", onItemFailure: continue, outputMode: cumulative } }
        - { id: post, agent: pre, dependsOn: [in] }
  - { id: alone, agent: pre }
output: "steps.out.result.iterations.map(i, i.content.split('did ').size() - 1)"
END
begin nested.yaml x2 y1 y3
same "items in items failed" "$(cat first)" "[2,1]"
check "are mended" 0 "[3,3]" "$RONDO" resume -q --failed "$id"
same "each where it is, and what follows it there" "$(sort calls | tr '\n' ' ')" \
    "out~1[0]~1.in~1[1]~1 out~1[0]~1.post~1 out~1[1]~1.in~1[0]~1 out~1[1]~1.in~1[2]~1 out~1[1]~1.post~1 "
replays "nested"

flow steps.yaml <<'END'
name: steps
agents:
  first: { run: "echo first $RONDO_ITEM >>calls; echo f$RONDO_ITEM" }
  second: { run: "echo second $RONDO_ITEM >>calls; test ! -e bad-$RONDO_ITEM && echo s$RONDO_ITEM" }
steps:
  - id: all
    loop:
      forEach: "['a','b','c']"
      onItemFailure: continue
      steps: [ { id: one, agent: first }, { id: two, agent: second, dependsOn: [one] } ]
output: "steps.all.result.iterations.map(i, i.content)"
END
begin steps.yaml b
check "an item with steps" 0 '["sa","sb","sc"]' "$RONDO" resume -q --failed "$id"
same "runs from its start" "$(calls)" "first b second b "
begin steps.yaml a b c
same "all items failed" "$("$RONDO" runs -n 1 --json | jq -r .status)" failed
check "all of them" 0 '["sa","sb","sc"]' "$RONDO" resume -q --failed "$id"
replays "all of them"

flow passes.yaml <<'END'
name: passes
agents:
  work: { run: "echo $RONDO_PATH >>calls; test ! -e bad-$RONDO_ITEM && echo did $RONDO_ITEM" }
  pre: { run: "echo $RONDO_PATH >>calls; echo pre" }
steps:
  - id: lo
    loop:
      maxIterations: 3
      until: "steps.each.result.failed.size() == 0 && iteration > 0"
      steps:
        - { id: a, agent: pre }
        - { id: each, agent: work, dependsOn: [a], loop: { forEach: "['1','2']", onItemFailure: continue } }
        - { id: b, agent: pre, dependsOn: [each] }
  - { id: after, agent: pre, dependsOn: [lo] }
output: "string(steps.lo.passes) + ' ' + steps.lo.reason"
END
sed -i 's/^      until:/      onMaxIterations: returnLast\n&/' passes.yaml
begin passes.yaml 2
same "a loop at its cap" "$(cat first)" "3 max_iterations"
check "its last pass is mended" 0 "3 until" "$RONDO" resume -q --failed "$id"
same "and no other" "$(calls)" "lo~1.2~1.each~1[1]~1 lo~1.2~1.b~1 after~1 "
replays "a loop"

# ---- a run that failed: only items, and what depends on them ----------------------------------------------

flow other.yaml <<'END'
name: other
agents:
  work: { run: "echo $RONDO_ITEM >>calls; test ! -e bad-$RONDO_ITEM && echo did $RONDO_ITEM" }
  bad: { run: "echo bad >>calls; test ! -e bad-step" }
  strict: { run: [sh, -c, "echo strict >>calls; test $0 = 0", "${steps.all.result.failed.size()}"] }
steps:
  - { id: all, agent: work, loop: { forEach: "['a','b','c']", onItemFailure: continue } }
  - { id: bad, agent: bad }
  - { id: strict, agent: strict, dependsOn: [all] }
END
begin other.yaml b
same "a step minds" "$("$RONDO" runs -n 1 --json | jq -r .status)" partial
check "it begins anew" 0 "" "$RONDO" resume -q --failed "$id"
same "with the item" "$(calls)" "b strict "
begin other.yaml b step
check "another step stays failed" 1 "" "$RONDO" resume -q --failed "$id"
same "and does not run" "$(calls)" "b strict "
: >calls
check "until it is resumed" 0 "" "$RONDO" resume -q "$id"
same "alone" "$(calls)" "bad "
replays "two ways"

# ---- effects of class once --------------------------------------------------------------------------------

flow once.yaml <<'END'
name: once
agents:
  work: { run: "echo $RONDO_ITEM >>calls; test ! -e bad-$RONDO_ITEM && echo did $RONDO_ITEM" }
  publish: { run: "echo publish >>calls; echo published", effects: once }
steps:
  - { id: all, agent: work, loop: { forEach: "['a','b','c']", onItemFailure: continue } }
  - { id: publish, agent: publish, dependsOn: [all] }
END
begin once.yaml b
check "what was published is asked about" 5 "" "$RONDO" resume -q --failed "$id"
same "first" "$(calls)" "b "
"$RONDO" answer "$id" publish retry >out 2>err || bad "no answer: $(cat err)"
check "and then done again" 0 "published" "$RONDO" resume -q "$id"
same "once" "$(calls)" "b publish "
replays "once"

flow deploys.yaml <<'END'
name: deploys
agents:
  deploy: { run: "echo deploy $RONDO_ITEM >>calls; echo deployed", effects: once }
  verify: { run: "echo verify $RONDO_ITEM >>calls; test ! -e bad-$RONDO_ITEM && echo fine $RONDO_ITEM" }
steps:
  - id: all
    loop:
      forEach: "['a','b']"
      onItemFailure: continue
      steps: [ { id: deploy, agent: deploy }, { id: verify, agent: verify, dependsOn: [deploy] } ]
output: "steps.all.result.iterations.map(i, i.content)"
END
begin deploys.yaml b
check "what an item had done once is asked about" 5 "" "$RONDO" resume -q --failed "$id"
same "before it is done again" "$(calls)" ""
"$RONDO" show "$id" >out
has "was done before"
"$RONDO" answer "$id" 'all~1[1]~1.deploy' '{"content": "as before"}' >out 2>err || bad "no answer: $(cat err)"
check "an answer takes its place" 0 '["fine a","fine b"]' "$RONDO" resume -q "$id"
same "and the item goes on" "$(calls)" "verify b "
replays "items of class once"

# ---- a fork at one item -----------------------------------------------------------------------------------

forks() { # PATH
    new=$("$RONDO" fork -q "$id" --at "$1" 2>err) || bad "no fork at $1: $(cat err)"
    : >calls
}
begin steps.yaml b
forks 'all[1]'
check "a fork at an item that failed" 0 '["sa","sb","sc"]' "$RONDO" resume -q "$new"
same "runs it alone" "$(calls)" "first b second b "
same "its parent is what it was" "$("$RONDO" show --json "$id" | jq -c '[.. | objects | select(.status? == "failed")] | length > 0')" true
check "replay of a fork" 0 "" "$RONDO" replay -q "$new"
forks 'all[2]'
check "a fork at one that completed" 0 '["sa","fb","sc"]' "$RONDO" resume -q "$new"
same "runs that alone" "$(calls)" "first c second c "
id=$new
check "a fork can be mended" 0 '["sa","sb","sc"]' "$RONDO" resume -q --failed "$id"
replays "a mended fork"

begin nested.yaml x2
forks 'out[0].in[2]'
check "a fork at an item of an item" 0 "[2,3]" "$RONDO" resume -q "$new"
same "runs that, and what follows it there" "$(calls)" "out~1[0]~1.in~1[2]~1 out~1[0]~1.post~1 "
forks 'out[0].post'
check "at a step in an item it begins there, as ever" 0 "[2,3]" "$RONDO" resume -q "$new"
same "so does what came after that" "$(grep -c 'out\[0\].post' calls)" 1
"$RONDO" export "$new" fork.rondo >/dev/null 2>err && "$RONDO" import --store other.db fork.rondo >/dev/null 2>err || bad "no export: $(cat err)"
check "it goes through a file" 0 "" "$RONDO" replay -q --store other.db "$new"

flow paid.yaml <<'END'
name: paid
agents: { m: { script: [{ content: one, usage: { completion: 10 } }] } }
steps: [ { id: all, agent: m, budget: { tokens: 60 }, loop: { forEach: "[1,2,3,4,5]", onItemFailure: continue } } ]
END
begin paid.yaml
same "what it cost" "$("$RONDO" runs --json | jq -c "select(.id == \"$id\") | .usage.completion")" 50
forks 'all[2]'
"$RONDO" resume -q "$new" >out 2>err
same "siblings cost nothing" "$("$RONDO" runs --json | jq -c "select(.id == \"$new\") | .usage.completion")" 10


# ---- budgets and what a run of an older version knows -----------------------------------------------------

mkdir old && tar --no-same-owner -xzf "$ROOT/tests/golden/0.1.0.tar.gz" -C old
old=$(awk '$1 == "kill.each" { print $2 }' old/runs)
[ -n "$old" ] || bad "no kill.each in the old store"
RONDO_STORE=$PWD/old/golden.db "$RONDO" resume --workdir "$PWD" --failed "$old" >out 2>err </dev/null
same "a run of 0.1.0: its failed item alone" "$(grep fruits count | cut -d' ' -f1 | tr '\n' ' ')" \
    "fruits~1[1]~1.wash fruits~1[1]~1.taste "
same "and what depends on it" "$(grep -c counts count)" "$(grep -vc fruits count)"
check "replays" 0 "" "$RONDO" replay -q --store old/golden.db "$old"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
