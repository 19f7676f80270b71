#!/bin/bash
# people.sh - people who answer: gates and their times, who was first, tools that somebody has to permit, calls of
# which nobody knows what came of them, and who is told that somebody is waited for.
. "$ROOT/tests/cli/talk_server"
store=$scratch/store.db
export RONDO_STORE=$store NO_COLOR=1
last_id() { "$RONDO" runs --json 2>/dev/null | jq -rs 'flatten | .[0].id'; }

# ---- AE-143: tools that somebody has to permit ---------------------------------------------------------------------
flow tools.yaml <<'F'
name: tools
agents: { w: { prompt: p, model: compat/m, tools: [write, read] } }
steps: [{ id: a, agent: w, instructions: x }]
F
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written.")
check "a stored run asks" 5 "" "$RONDO" run tools.yaml
says "gate_waiting a.permit-1: may this tool be called? (y: yes, n: no, a: always) write"
says "gate 'a, permit-1': there is no answer for it"
id=$(run_id err)
same "nothing is written" "$(ls new.txt 2>/dev/null)" ""
same "it waits" "$("$RONDO" runs --json 2>/dev/null | jq -r 'if type == "array" then .[] else . end | .status')" waiting
check "still asks" 5 "" "$RONDO" resume "$id"
same "once" "$("$RONDO" events "$id" --json 2>/dev/null | grep -c '"gate_waiting"')" 1
check "what it asks" 0 "a.permit-1: may this tool be called? (y: yes, n: no, a: always) write {\"path\":\"new.txt\",\"content\":\"x\"}
  expected: one of y, n, a" "$RONDO" answer "$id"
"$RONDO" show "$id" >out 2>err
has "asks a.permit-1: may this tool be called?"
has "answer with: rondo answer $id PATH VALUE"
"$RONDO" runs >out 2>err
has "tools  ~  asks a.permit-1"
check "a word that is none" 3 "" "$RONDO" answer "$id" a.permit-1 perhaps
says "gate 'a.permit-1':"
check "yes" 0 "" "$RONDO" answer --by ada "$id" a.permit-1 y
check "goes on in the conversation" 0 "Written." "$RONDO" resume "$id"
same "it was written" "$(cat new.txt)" x
same "nothing is paid twice" "$(requests)" 2
"$RONDO" show "$id" >out 2>err
has "answered a.permit-1: y  by ada, 20"
same "nothing is asked any more" "$("$RONDO" runs --json | jq -c .asks) $("$RONDO" show --json "$id" | jq -c '.asks, [.answers[] | .path, .value, .by]' | tr '\n' ' ')" 'null [] ["a.permit-1","y","ada"] '
same "its place" "$("$RONDO" events "$id" --json 2>/dev/null | jq -r 'select(.type=="gate_waiting") | "\(.path) \(.stepId) \(.data.tool) \(.data.arguments.path)"')" "a.permit-1 a write new.txt"
same "who has permitted it" "$("$RONDO" events "$id" --json 2>/dev/null | jq -r 'select(.type=="gate_answered").data.value | "\(.value) \(.by)"')" "y ada"
check "the log is in order" 0 "" sh -c '"$0" replay "$1" >/dev/null 2>&1' "$RONDO" "$id"

rm -f new.txt
serve < <(calls c1 write '{"path":"new.txt","content":"x"}' c2 write '{"path":"two.txt","content":"x"}'; then_; text "Sorry.")
check "two at once" 5 "" "$RONDO" run tools.yaml
id=$(run_id err)
check "the name is not enough" 3 "" "$RONDO" answer "$id" a y
says "'a' means several open gates: give the path of one"
check "the second" 0 "" "$RONDO" answer "$id" a.permit-2 y
check "the first is still open" 5 "" "$RONDO" resume "$id"
says "a.permit-1"
check "the first" 0 "" "$RONDO" answer "$id" a n
check "one of two" 0 "Sorry." "$RONDO" resume "$id"
same "only that" "$(ls new.txt two.txt 2>/dev/null)" two.txt
same "the model is told" "$(asked 1 '[.messages[] | select(.role=="tool").content] | join("|")')" "error: a person was asked and did not permit this call|$(asked 1 '[.messages[] | select(.role=="tool").content][1]')"
same "two requests" "$(requests)" 2

flow always.yaml <<'F'
name: always
agents: { w: { prompt: p, model: compat/m, tools: [write] } }
steps: [{ id: a, agent: w, instructions: x }, { id: b, agent: w, instructions: x, dependsOn: [a] }, { id: g, gate: { ask: "on?" }, dependsOn: [b] }, { id: c, agent: w, instructions: x, dependsOn: [g] }]
F
serve < <(for i in 1 2 3; do calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written."; then_; done)
check "always" 5 "" "$RONDO" run -q always.yaml
id=$(last_id)
says "waits for an answer to gate 'a.permit-1'"
says "answer with: rondo answer $id a.permit-1 VALUE"
check "is said" 0 "" "$RONDO" answer "$id" a a
check "for all steps of the run" 5 "" "$RONDO" resume "$id"
says "gate 'g'"
"$RONDO" answer -q "$id" g yes
check "whoever drives it" 0 "Written." "$RONDO" resume -q "$id"

serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written.")
check "asked" 5 "" "$RONDO" run -q tools.yaml
check "permissions that came later answer, too" 0 "Written." "$RONDO" resume -q --allow write "$(last_id)"
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written.")
check "--ask goes before --allow" 5 "" "$RONDO" run -q --allow write --ask write tools.yaml
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written.")
check "answers from a file" 0 "Written." "$RONDO" run -q --answers <(echo 'a.permit-1: y') tools.yaml
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "No.")
check "in memory nobody can be asked" 0 "No." "$RONDO" run -q --store :memory: tools.yaml
same "the model is told that, too" "$(asked 1 '.messages[] | select(.role=="tool").content' | grep -c 'nobody can be asked')" 1

# A fork asks what its parent had asked, and what is cancelled asks nothing any more.
flow two.yaml <<'F'
name: two
agents: { w: { prompt: p, model: compat/m, tools: [write] }, s: { script: [x] } }
steps: [{ id: a, agent: w, instructions: x }, { id: g, gate: { ask: "on?" } }, { id: b, agent: s, dependsOn: [g], instructions: x }]
output: steps.a.content
F
rm -f new.txt
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written.")
check "asks twice" 5 "" "$RONDO" run two.yaml
id=$(run_id err)
"$RONDO" answer -q "$id" g yes
check "one is left" 5 "" "$RONDO" resume "$id"
"$RONDO" fork "$id" --at b >fork.out 2>fork.err </dev/null
fork=$(last_id)
if [ "$fork" != "$id" ]; then ok; else bad "no fork: $(cat fork.err)"; fi
same "the same question" "$("$RONDO" answer --json "$fork" | jq -r '.[].path' | tr '\n' ' ')" "a.permit-1 "
"$RONDO" answer -q "$fork" a y
check "a fork goes on" 0 "Written." "$RONDO" resume -q "$fork"
same "with the answer of its own" "$("$RONDO" answer --json "$id" | jq -r '.[].path')" a.permit-1
"$RONDO" cancel "$id" >out 2>err </dev/null
check "cancelled" 3 "" "$RONDO" answer "$id" a y
says "run $id has ended: it is cancelled"
same "it asks nothing" "$("$RONDO" runs --json | jq -r "select(.id == \"$id\") | \"\(.status) \(.asks)\"")" "cancelled null"

# Who waits for a person takes no place; and is found by the path of its step, too.
rm -f new.txt one.txt
flow places.yaml <<'F'
name: places
options: { maxConcurrency: 1 }
agents: { w: { prompt: p, model: compat/m, tools: [write] }, plain: { run: "echo plain" } }
steps:
  - { id: one, loop: { maxIterations: 1, steps: [ { id: a, agent: w, instructions: x } ] } }
  - { id: two, loop: { maxIterations: 1, steps: [ { id: a, agent: w, instructions: x } ] } }
  - { id: z, agent: plain }
F
write() { calls c1 write "{\"path\":\"$1\",\"content\":\"x\"}"; }
serve < <(write new.txt; then_; write one.txt; then_; text "Written."; then_; text "Written.")
check "one place for three" 5 "" "$RONDO" run places.yaml
id=$(run_id err)
says "step_end z"
same "both ask" "$("$RONDO" answer --json "$id" | jq -r '.[].path' | tr '\n' ' ')" "one.0.a.permit-1 two.0.a.permit-1 "
check "the name means both" 3 "" "$RONDO" answer "$id" a y
says "'a' means several open gates: give the path of one"
same "which are listed" "$(grep -c '  open: ...\.0\.a\.permit-1' err)" 2
check "one by its step's path" 0 "" "$RONDO" answer "$id" 'two.0.a' y
check "once" 3 "" "$RONDO" answer "$id" 'two.0.a' n
says "was answered already"
check "the other by its own" 0 "" "$RONDO" answer "$id" 'one.0.a.permit-1' y
"$RONDO" resume -q "$id" >out 2>err </dev/null
same "both go on" "$? $(cat new.txt one.txt)" "0 xx"
check "and are replayed" 0 "" "$RONDO" replay -q "$id"

# Agents of an agent ask in its name; while one of them waits the others work on.
rm -f new.txt one.txt two.txt
write() { calls c1 write "{\"path\":\"$1\",\"content\":\"x\"}"; }
serve < <(calls k1 agent '{"name":"h","instructions":"write it"}'; then_; write new.txt; then_; text "Written."; then_; text "All done.")
check "an agent of an agent" 5 "" "$RONDO" agent 'Do it.' -q -m compat/m
"$RONDO" answer -q "$(last_id)" agent.permit-1 y
check "goes on, and its agent with it" 0 "All done." "$RONDO" resume -q "$(last_id)"
same "nothing is asked of the model twice" "$(requests) $(cat new.txt)" "4 x"
serve < <(calls k1 agent '{"name":"h","instructions":"write it"}' k2 agent '{"name":"i","instructions":"write it, too"}'; then_
          write one.txt; then_; write two.txt; then_; text "Written."; then_; text "Written."; then_; text "All done.")
check "two of them" 5 "" "$RONDO" agent 'Do it.' -q -m compat/m
id=$(last_id)
same "two questions" "$("$RONDO" answer --json "$id" | jq -r '.[].path' | tr '\n' ' ')" "agent.permit-1 agent.permit-2 "
"$RONDO" answer -q "$id" agent.permit-1 y
check "one of them is through" 5 "" "$RONDO" resume -q "$id"
"$RONDO" answer -q "$id" agent.permit-2 y
check "and the other" 0 "All done." "$RONDO" resume -q "$id"
same "both" "$(requests) $(cat one.txt two.txt)" "6 xx"

# While somebody drives the run the answer is taken at once.
flow busy.yaml <<'F'
name: busy
agents: { w: { prompt: p, model: compat/m, tools: [write] }, slow: { run: "while [ ! -e go ]; do sleep 0.05; done" } }
steps: [{ id: a, agent: w, instructions: x }, { id: s, agent: slow, instructions: x }]
F
rm -f new.txt go
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written.")
"$RONDO" run busy.yaml >live 2>live.err </dev/null &
pid=$!
wait_for live.err gate_waiting
id=$(run_id live.err)
check "to a living process" 0 "" "$RONDO" answer "$id" a y
says "takes it"
wait_for live.err "step_end a"
touch go
wait $pid
same "it went on by itself" "$? $(cat new.txt)" "0 x"


# ---- calls of which nobody knows what came of them -----------------------------------------------------------
# The command ends its own program, after it has acted and before anybody knows.
flow doubt.yaml <<'F'
name: doubt
agents: { w: { prompt: p, model: compat/m, tools: [bash] } }
steps: [{ id: a, agent: w, instructions: x }]
F
# cut: runs doubt.yaml until its command waits, and kills the program
cut() {
    rm -f begun; : >acts
    "$RONDO" run --yolo "${1:-doubt.yaml}" >out 2>cut.err </dev/null &
    pid=$!
    for _ in $(seq 500); do [ -s acts ] && break; sleep 0.02; done
    kill -9 $pid; wait $pid 2>/dev/null
    id=$(run_id cut.err)
}
act='{"command":"echo act >>acts; [ -e begun ] || { touch begun; sleep 600; }"}'
serve < <(calls c1 bash "$act"; then_; text "Done.")
cut
check "a call that was cut off is asked about" 5 "" "$RONDO" resume --yolo "$id"
says "a.permit-1: this call was under way when its process died"
same "it was not made again" "$(wc -l <acts)" 1
check "not with y" 3 "" "$RONDO" answer "$id" a y
check "retry" 0 "" "$RONDO" answer "$id" a retry
check "is made again" 0 "Done." "$RONDO" resume -q --yolo "$id"
same "twice in all" "$(wc -l <acts) $(requests)" "2 2"
for answer in skip '{"content":"it had acted"}'; do
    serve < <(calls c1 bash "$act"; then_; text "Done.")
    cut
    check "asked" 5 "" "$RONDO" resume -q --yolo "$id"
    check "$answer" 0 "" "$RONDO" answer "$id" a "$answer"
    check "goes on after $answer" 0 "Done." "$RONDO" resume -q --yolo "$id"
    same "once after $answer" "$(wc -l <acts)" 1
    told=$(asked 1 '.messages[] | select(.role=="tool").content')
    case $answer in skip) same "the model is told" "${told:0:21}" "error: The program wa" ;; *) same "the model is told it" "$told" "it had acted" ;; esac
done
serve < <(calls c1 bash "$act"; then_; text "Done.")
cut
"$RONDO" resume -q --yolo "$id" >out 2>err </dev/null
check "fail" 0 "" "$RONDO" answer "$id" a fail
check "fails the step" 1 "" "$RONDO" resume -q --yolo "$id"
{ cat doubt.yaml; echo "options: { onUnknown: skip }"; } >skip.yaml
serve < <(calls c1 bash "$act"; then_; text "Done.")
cut skip.yaml
check "where the policy is to skip nobody is asked" 0 "Done." "$RONDO" resume -q --yolo "$id"

# ---- forums -----------------------------------------------------------------------------------------------------
flow forum.yaml <<'F'
name: forum
agents: { a: { prompt: p, model: compat/m, tools: [] }, b: { script: [one, two, three] }, c: { script: [never] } }
steps: [{ id: f, instructions: x, forum: { members: [a, b], captain: c, rounds: 3, earlyReturn: true } }]
F
serve < <(text "I am thinking."; then_; calls c1 forum_return '{"answer":"It is tea."}'; then_; text never)
check "a member that ends the forum" 0 "It is tea." "$RONDO" run forum.yaml
same "has a tool for it" "$(asked 0 '[.tools[].function.name] | join(" ")')" forum_return
same "in the second round" "$(requests) $(grep -c 'step_start f.r2' err) $(grep -c captain err)" "2 2 1"
same "in which it has seen the first" "$(asked 1 '.messages[1].content' | grep -A1 '### b (round 1)' | tail -1)" one
sed -i 's/, earlyReturn: true//' forum.yaml
serve < <(text "I am thinking."; then_; text "And thinking."; then_; text "And thinking.")
check "where it may not" 0 never "$RONDO" run -q forum.yaml
same "there is no tool" "$(asked 0 '.tools')" null

# ---- gates ----------------------------------------------------------------------------------------------------
flow gate.yaml <<'F'
name: gate
agents: { say: { run: [echo, "done"] } }
steps:
  - { id: ok, gate: { ask: "Deploy?", schema: { enum: [go, stay] } } }
  - { id: last, agent: say, instructions: x, dependsOn: [ok] }
output: "steps.ok.result + ' by ' + steps.ok.by"
F
check "waits" 5 "" "$RONDO" run gate.yaml
id=$(run_id err)
"$RONDO" runs >out; has "gate  ~  asks ok"
check "an answer that does not fit" 3 "" "$RONDO" answer "$id" ok perhaps
says "gate 'ok': "
same "the gate stays open" "$("$RONDO" answer --json "$id" | jq -r '.[].path')" ok
check "a gate that there is none of" 3 "" "$RONDO" answer "$id" other go
says "run $id has no open gate 'other'"
says "  open: ok"
check "a step that is no gate" 3 "" "$RONDO" answer "$id" last go
check "an answer" 0 "" "$RONDO" answer --by ada "$id" ok go
says "kept; go on with: rondo resume $id"
check "is told of" 0 "ok: Deploy?
  expected: one of go, stay
  answered by ada; go on with: rondo resume $id" "$RONDO" answer "$id"
"$RONDO" show "$id" >out; has "  answered by ada; go on with: rondo resume $id"
if grep -q "answer with:" out; then bad "show wants another answer:"; cat out; else ok; fi
same "and as JSON" "$("$RONDO" show --json "$id" | jq -c '.asks[0].answered')" '{"by":"ada","value":"go"}'
check "a second one, before anybody has taken the first" 3 "" "$RONDO" answer --by bob "$id" ok stay
says "gate 'ok' was answered already by ada: \"go\""
check "the first counts" 0 "go by ada" "$RONDO" resume "$id"
check "a third one" 3 "" "$RONDO" answer --by bob "$id" ok stay
says "gate 'ok' was answered already by ada at 20"
check "to a run that has ended" 3 "" "$RONDO" answer "$id" other stay
says "run $id has ended: it is completed"
check "to a run that there is none of" 3 "" "$RONDO" answer r0000 ok go
"$RONDO" run -q gate.yaml >out 2>err </dev/null
id=$(last_id)
env -u LOGNAME -u USER "$RONDO" answer -q "$id" ok go
check "who answers has a name, also where nobody is logged in" 0 "go by $(logname 2>/dev/null || id -un)" "$RONDO" resume -q "$id"

# What people say may have a secret in it, whether the one who says it knows that or the one who goes on.
flow secret.yaml <<'F'
name: secret
agents: { a: { run: "cat $RONDO_INBOX", env: { TOKEN: "env:PEOPLE_TOKEN" } } }
steps: [{ id: g, gate: { ask: "Which?" } }, { id: a, agent: a, dependsOn: [g] }]
output: steps.g.result
F
for knows in yes no; do
    said=s3cret-$knows-$RANDOM
    PEOPLE_TOKEN=$said "$RONDO" run -q secret.yaml >out 2>err </dev/null
    id=$(last_id)
    [ $knows = yes ] && export PEOPLE_TOKEN=$said
    "$RONDO" answer -q "$id" g "it is $said"
    "$RONDO" send -q "$id" a "it is $said, too"
    [ $knows = yes ] && same "is kept without it" "$(cat "$store"* | grep -c -a "$said")" 0
    PEOPLE_TOKEN=$said check "what people say has no secrets" 0 "it is ***" "$RONDO" resume -q "$id"
    same "nor have events" "$("$RONDO" events --json "$id" | grep -c "$said") $("$RONDO" events --json "$id" | grep -c '\*\*\*, too')" "0 3"
done
unset PEOPLE_TOKEN

# Two at once, many times: one is taken, the other is told who was first, whatever the order, and whether somebody
# drives the run or not.
flow race.yaml <<'F'
name: race
steps: [{ id: ok, gate: { ask: "Who?" } }, { id: s, set: { x: "steps.ok.by" }, dependsOn: [ok] }]
output: steps.ok.result
F
race() { # alone, or resumed: by somebody who drives it meanwhile
    local id winner loser rc_a rc_b answer
    "$RONDO" run -q race.yaml >out 2>err </dev/null
    id=$(last_id)
    "$RONDO" answer --by ada "$id" ok ada >a.out 2>a.err & a=$!
    "$RONDO" answer --by bob "$id" ok bob >b.out 2>b.err & b=$!
    [ "$1" = resumed ] && { "$RONDO" resume -q "$id" >taken 2>/dev/null </dev/null; }
    wait $a; rc_a=$?
    wait $b; rc_b=$?
    case "$rc_a $rc_b" in
    "0 3") winner=ada loser=b ;;
    "3 0") winner=bob loser=a ;;
    *) bad "race $1: $rc_a $rc_b: $(cat a.err b.err)"; return ;;
    esac
    grep -q "was answered already by $winner" $loser.err || { bad "race $1: the second is told: $(cat $loser.err)"; return; }
    answer=$("$RONDO" resume -q "$id" 2>/dev/null </dev/null)
    [ "$answer" = "$winner" ] || { bad "race $1: $answer counts, not $winner"; return; }
    races=$((races + 1))
}
races=0
for i in $(seq "${RACES:-8}"); do race alone; race resumed; done
same "races" "$races" $((2 * ${RACES:-8}))

# Once per pass.
flow loop.yaml <<'F'
name: loop
steps:
  - id: l
    loop:
      maxIterations: 5
      until: "steps.g.result == 'enough'"
      steps: [{ id: g, gate: { ask: "Pass ${iteration}?" } }]
F
check "the first pass asks" 5 "" "$RONDO" run loop.yaml
id=$(run_id err)
says "l.0.g: Pass 0?"
"$RONDO" answer -q --by ada "$id" g more
check "the second pass asks" 5 "" "$RONDO" resume "$id"
says "l.1.g: Pass 1?"
check "the first is closed" 3 "" "$RONDO" answer "$id" l.0.g again
says "gate 'l.0.g' was answered already by ada at"
"$RONDO" answer -q --by bob "$id" l.1.g enough
check "and that is all" 0 "enough" "$RONDO" resume "$id"
same "asked once per pass" "$("$RONDO" events --json "$id" | jq -r 'select(.type=="gate_waiting").data.value' | tr '\n' ' ')" "Pass 0? Pass 1? "
"$RONDO" show "$id" >out
has "answered l.0.g: more  by ada, 20"
has "answered l.1.g: enough  by bob, 20"

# When nobody answers in time: each of the ways.
timed() { flow timed.yaml <<F
name: timed
steps: [{ id: g, gate: { ask: "Now?", timeout: 150ms$1 } }]
F
}
timed ""
"$RONDO" run --store :memory: timed.yaml >out 2>err </dev/null
same "in memory a gate is refused before the run" $? 3
"$RONDO" run -q timed.yaml >out 2>err </dev/null
same "a stored run stops before" $? 5
sleep 0.2
check "and fails when it goes on" 1 "" "$RONDO" resume -q "$(last_id)"
says "nobody answered within 150 ms"
check "an answer that comes too late" 3 "" "$RONDO" answer "$(last_id)" g yes
timed ", onTimeout: { answer: later }"
"$RONDO" run -q timed.yaml >out 2>err </dev/null
sleep 0.2
check "an answer is taken" 0 later "$RONDO" resume -q "$(last_id)"
same "nobody's" "$("$RONDO" show --json "$(last_id)" | jq -c .answers)" "[]"
timed ", onTimeout: exit"
"$RONDO" run -q timed.yaml >out 2>err </dev/null
sleep 0.2
check "left open" 5 "" "$RONDO" resume -q "$(last_id)"
"$RONDO" answer -q "$(last_id)" g yes
check "and answered" 0 yes "$RONDO" resume -q "$(last_id)"

# ---- telling somebody -------------------------------------------------------------------------------------------
: >told
notify='{ echo "$RONDO_RUN $RONDO_NAME $RONDO_GATE $RONDO_STATUS"; cat; } >>told'
check "--notify" 5 "" "$RONDO" run --notify "$notify" gate.yaml
id=$(run_id err)
same "what it is told" "$(head -1 told)" "$id gate ok waiting"
same "and asked" "$(sed -n 2p told | jq -c '[.run, .workflow, .path, .ask, .schema.enum]')" "[\"$id\",\"gate\",\"ok\",\"Deploy?\",[\"go\",\"stay\"]]"
same "once" "$(wc -l <told)" 2
: >told
check "not again" 5 "" "$RONDO" resume --notify "$notify" "$id"
same "for the same gate" "$(cat told)" ""
"$RONDO" answer -q "$id" ok go
"$RONDO" resume -q --notify 'echo "$RONDO_STATUS $RONDO_EXIT" >>told' "$id" >out 2>err </dev/null
same "of the end" "$(cat told)" "completed 0"
check "a command that fails is told" 5 "" "$RONDO" run --notify 'echo tried; exit 4' gate.yaml
says "rondo: --notify: the command ended with 4"
says "tried"
check "and one that there is none of" 5 "" "$RONDO" run --notify '/nowhere/at/all' gate.yaml
says "rondo: --notify: the command ended with 127"
: >told
check "answers from a file need nobody" 0 "go by answers" "$RONDO" run -q --notify "$notify" --answers <(echo 'ok: go') gate.yaml
same "so nobody is told of the gate" "$(grep -c waiting told)" 0
serve < <(calls c1 write '{"path":"new.txt","content":"x"}'; then_; text "Written.")
: >told
check "tools, too" 5 "" "$RONDO" run -q --notify "$notify" tools.yaml
same "are told of" "$(sed -n 2p told | jq -c '[.path, .schema.enum]')" '["a.permit-1",["y","n","a"]]'
# The run does not wait for it, and nothing of it stays.
flow slow.yaml <<'F'
name: slow
agents: { w: { run: "touch worked" } }
steps: [{ id: g, gate: { ask: "?", timeout: 1s, onTimeout: { answer: none } } }, { id: a, agent: w, instructions: x }]
F
rm -f worked held
"$RONDO" run -q --answers <(echo '{}') --notify 'touch held; until [ -e worked ]; do sleep 0.05; done; (setsid sleep 4242 &)' slow.yaml >out 2>err </dev/null
same "the run went on meanwhile" "$(ls held worked | tr '\n' ' ')" "held worked "
same "nobody stays" "$(pgrep -f 'sleep 424[2]' | wc -l)" 0
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
