#!/bin/bash
# next.sh - what the program suggests to type does something, and a resume that has nothing to do says so.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
. "$ROOT/tests/cli/checks"
export NO_COLOR=1 RONDO_STORE=$PWD/runs.db
mkdir bin && ln -s "$RONDO" bin/rondo && PATH=$PWD/bin:$PATH # lines are typed as they stand

made() { { echo "name: $1"; cat; } | flow "$1.yaml"; } # FILE: a file of that name, from stdin
# next NAME STATUS LINE ARGS...: the run ends with STATUS and suggests LINE (R is the run), which begins a step
next() {
    local name=$1 status=$2 line=$3 is
    shift 3
    rondo run "$@" >out 2>err </dev/null
    same "$name: status" $? "$status"
    id=$(run_id err)
    is=$(sed -n 's/.*go on with: //p' err | head -1)
    same "$name: the line" "$is" "${line/R/$id}"
    sed -n 's/^each pass: //p' err >history
    while read -r looks; do
        sh -c "$looks" >out 2>&1 </dev/null || bad "$name: '$looks': $(cat out)"
    done <history
    sh -c "$is" >out 2>err </dev/null
    grep -q step_start err && ok || bad "$name: '$is' did nothing: $(cat err)"
    check "$name: replays" 0 "" rondo replay -q "$id"
}

made cap <<'F'
steps: [ { id: l, run: 'echo pass $RONDO_PASS', loop: { maxIterations: 2, until: content == 'no' } } ]
F
made must <<'F'
steps: [ { id: l, run: 'echo x', loop: { maxIterations: 2, mustHold: true, onMaxIterations: returnLast, until: content == 'no' } } ]
F
made stall <<'F'
steps: [ { id: l, run: 'echo same', loop: { maxIterations: 9, stall: { repeats: 2, action: fail } } } ]
F
made turns <<'F'
steps: [ { id: l, run: 'echo $((RONDO_PASS % 2))', loop: { maxIterations: 20, stall: { repeats: 2, action: fail } } } ]
F
made patience <<'F'
steps: [ { id: l, run: 'echo x', loop: { maxIterations: 9, score: "1.0", patience: 2, mustHold: true, until: "false" } } ]
F
made budget <<'F'
agents: { dear: { script: [ { content: x, usage: { prompt: 60, completion: 40 } } ] } }
steps: [ { id: l, agent: dear, loop: { maxIterations: 9, budget: { tokens: 150 }, mustHold: true, until: "false" } } ]
F
made beside <<'F'
steps:
  - { id: l, run: 'echo pass $RONDO_PASS', loop: { maxIterations: 2, until: content == 'no' } }
  - { id: b, loop: { maxIterations: 3, steps: [ { id: c, run: 'sleep 0.1' } ] } }
F
made nested <<'F'
steps: [ { id: outer, loop: { maxIterations: 3, steps: [ { id: in, run: 'echo x', loop: { maxIterations: 2, until: content == 'no' } } ] } } ]
F
made items <<'F'
steps:
  - id: all
    loop:
      forEach: [0, 9, 1]
      maxConcurrency: 1
      onItemFailure: continue
      steps: [ { id: l, run: 'echo pass $RONDO_PASS', loop: { maxIterations: 2, until: "content == 'pass ' + string(item)" } } ]
  - { id: fails, run: 'exit 1', dependsOn: [all] }
F
sed '/onItemFailure/d; s/name: items/name: item/' items.yaml >item.yaml
made retried <<'F'
steps: [ { id: l, run: 'echo pass $RONDO_PASS', retry: { attempts: 2, delay: 0s }, loop: { maxIterations: 2, until: content == 'no' } } ]
F
made poor <<'F'
agents: { dear: { script: [ { content: x, usage: { prompt: 60, completion: 40, cost: 0.001 } } ] } }
budget: { tokens: 150 }
steps: [ { id: l, agent: dear, loop: { maxIterations: 9 } } ]
F
sed 's/tokens: 150/cost: 0.0005/' poor.yaml >cost.yaml
made slow <<'F'
steps: [ { id: a, run: 'sleep 2' } ]
F
made failures <<'F'
steps: [ { id: l, run: 'exit 1', loop: { maxIterations: 9, onError: continue, delay: 0s, maxFailures: 2 } } ]
F
made step <<'F'
steps: [ { id: a, run: 'sleep 2', timeout: 300ms } ]
F

next "a cap" 1 "rondo resume R --limit l:maxIterations=4" cap.yaml
next "once more" 1 "rondo resume R --limit l:maxIterations=4" cap.yaml
next "what is to hold" 8 "rondo resume R --limit l:maxIterations=4" must.yaml
rondo run must.yaml >out 2>err
says "l: cap: it was reached after pass 2 (maxIterations: 2); until did not hold"
rondo run failures.yaml >out 2>err
says "l: failed: 2 failed passes in a row (maxFailures: 2)"
next "a stall" 6 "rondo resume R --limit l:stall.repeats=4" stall.yaml
next "two that take turns" 6 "rondo resume R --limit l:stall.repeats=4" turns.yaml
next "patience" 8 "rondo resume R --limit l:patience=4" patience.yaml
next "a loop's budget" 8 "rondo resume R --limit l:budget.tokens=400" budget.yaml
next "others began later" 1 "rondo resume R --limit l:maxIterations=4" beside.yaml
next "a loop in a loop" 1 "rondo resume R --limit outer.in:maxIterations=4" nested.yaml
next "a loop of an item" 1 "rondo resume R --limit all.l:maxIterations=4" item.yaml
next "a loop that was tried twice" 1 "rondo resume R --limit l:maxIterations=4" retried.yaml
next "what the run may spend" 4 "rondo resume R --limit :budget.tokens=400" poor.yaml
next "what the run may cost" 4 "rondo resume R --limit :budget.cost=0.002" cost.yaml
next "the run's and the loop's" 4 "rondo resume R --limit l:budget.tokens=400 --limit :budget.tokens=400" --max-tokens 150 budget.yaml
next "another step failed" 1 "rondo resume R" items.yaml
next "too many failures are tried again" 1 "rondo resume R" failures.yaml
next "a step that was late" 1 "rondo resume R" step.yaml

rondo run --timeout 300ms slow.yaml >out 2>err
same "the run was late" $? 124
line=$(sed -n 's/^go on with: //p' err)
case $line in "rondo resume $(run_id err) --limit :timeout="*ms) ok ;; *) bad "late: '$line'" ;; esac
sh -c "$line" >out 2>err
has_begun=$(grep -c 'step_start a' err)
same "it is tried again" "$has_begun" 1

rondo run -q cap.yaml >out 2>err
same "quiet" "$(sed -n 's/go on with: rondo resume r[0-9a-f]* //p' err)" "--limit l:maxIterations=4"

# ---- whose budget it was ------------------------------------------------------------------------------------------
made whose <<'F'
agents: { dear: { script: [ { content: x, usage: { prompt: 60, completion: 40 } } ] } }
steps:
  - id: outer
    loop:
      maxIterations: 3
      budget: { tokens: 150 }
      steps: [ { id: l, agent: dear, loop: { unbounded: true, budget: { tokens: 450 } } } ]
F
rondo run whose.yaml >out 2>err
same "of the loop around it" "$(grep -c 'budget: 200 of 150 tokens spent' err)" 3
sed '/^agents/!s/budget: { tokens: 150 }, //' budget.yaml >bare.yaml
rondo run --max-tokens 150 bare.yaml >out 2>err
says "l: budget: 200 of 150 tokens spent"
id=$(run_id err)
rondo resume "$id" --limit :budget.tokens=250 >out 2>err
says "l: budget: 300 of 250 tokens spent"
same "each in its time" "$(rondo events "$id" | grep -o '[0-9]* of [0-9]* tokens' | tr '\n' ' ')" "200 of 150 tokens 300 of 250 tokens "

# ---- a run that waits --------------------------------------------------------------------------------------------
made gate <<'F'
steps: [ { id: ok, gate: { ask: 'Go on?' } }, { id: after, run: 'echo well', dependsOn: [ok] } ]
F
rondo run gate.yaml >out 2>err </dev/null
same "it waits" $? 5
id=$(run_id err)
cp err asks
check "there are no passes to wait for" 3 "" rondo cancel --after-pass "$id"
says "no process drives run $id: it waits for a person; see for what with: rondo answer $id"
check "which says it" 0 "$(rondo answer "$id")" sh -c "$(sed -n 's/.*with: //p' err)"
has "Go on?"
line=$(sed -n 's/^answer with: //p' asks)
check "the answer" 0 "" sh -c "${line/VALUE/yes}"
check "and the line that goes on" 0 well sh -c "$(sed -n 's/^then go on with: //p' asks)"

# ---- nothing to do ----------------------------------------------------------------------------------------------
nothing="there was nothing to do: the run stays as it had ended"
rondo run cap.yaml >out 2>err
check "a loop at its cap, without more" 1 "" rondo resume "$(run_id err)"
says "$nothing"
says "go on with: rondo resume"
made good <<'F'
steps: [ { id: a, run: 'echo well' } ]
F
rondo run good.yaml >out 2>err
id=$(run_id err)
check "a run that has completed" 0 well rondo resume "$id"
says "$nothing"
check "quietly" 0 well rondo resume -q "$id"
same "nothing is said" "$(cat err)" ""
check "items that failed: there are none" 0 well rondo resume --failed "$id"
same "that is said once" "$(grep -c 'nothing' err)" 1
rondo run poor.yaml >out 2>err
check "a run without money" 4 x rondo resume "$(run_id err)"
says "$nothing"
says "--limit :budget.tokens=400"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
