#!/bin/bash
# waits.sh - whatever a run waits for: cancels, timeouts and signals end each wait (the table is in docs/running.md).
. "$ROOT/tests/cli/talk_server"
set -m # so that jobs hear SIGINT
here=$(dirname "$RONDO")/tests
[ -x "$here/server" ] && [ -x "$here/test_mcp" ] && [ -x "$here/lock" ] || { echo "the servers were not built"; exit 77; }
serve < <(echo hang)

# ---- agents at work --------------------------------------------------------------------------------------

# model [AGENT]: a step whose agent has these keys as well; @STEP@ and @AGENT@ are for more keys
model() {
    echo "agents: { w: { description: d, prompt: p, model: compat/m$1 @AGENT@ } }"
    echo "steps: [{ id: a, agent: w, instructions: x @STEP@ }]"
}
mcp() { # SERVER
    echo "mcpServers: { f: $1 }"
    model ", tools: [f]"
}
mock() { mcp "{ command: \"$here/test_mcp\", env: { MCP_MOCK: \"$1\" } }"; }
waits() {
    echo "name: waits"
    case $1 in
    probe) mock deaf ;;
    greet) mock mute ;;
    list) mock listless ;;
    http) mcp "{ url: \"$COMPAT_BASE_URL/chat/completions\" }" ;;
    model) model "" ;;
    command) echo "agents: { w: { run: 'sleep 1000' } }"; echo "steps: [{ id: a, agent: w @STEP@ }]" ;;
    esac
}
# make NAME [STEP] [AGENT]: w.yaml
make() { waits "$1" | sed "s/ @STEP@/${2:+, $2}/; s/ @AGENT@/${3:+, $3}/" | flow w.yaml; }

# took TYPE: milliseconds from the first event of that type in out to the end of the run
took() {
    jq -rs --arg type "$1" 'def ms: capture("(?<s>.*)\\.(?<f>[0-9]{3})") | (.s + "Z" | fromdate) * 1000 + (.f | tonumber);
        (map(select(.type == $type))[0].timestamp | ms) as $from | (.[-1].timestamp | ms) - $from' out
}

# ended NAME TYPE STATUS RC: the promise is 100 ms; a busy machine gets more, but less than any of these waits lasts
ended() {
    local ms
    ms=$(took "$2")
    same "$1: status" "$4" "$3"
    if [ "${ms:-9999}" -lt 2000 ]; then ok; else bad "$1: the run ended '$ms' ms later"; fi
}
run() { "$RONDO" run --json --yolo "$@" w.yaml >out 2>err </dev/null; }
start() { # in the background; nobody sees what an earlier run has said
    : >out
    "$RONDO" run --json --yolo "$@" w.yaml >out 2>err </dev/null &
    job=$!
}

still() { kill -0 "$2" 2>/dev/null && ok || bad "$1"; } # NAME PID: it has not ended
once() { # COMMAND [STEP]
    flow w.yaml <<<"name: once
agents: { w: { run: '$1', effects: once } }
steps: [{ id: a, agent: w${2:+, $2} }]"
}

for wait in probe greet list http model command; do
    make $wait "timeout: 300ms"
    run --store :memory:
    ended "$wait, the step's timeout" timer 1 $?
    if [ $wait != command ]; then
        make $wait "" "timeout: 300ms"
        run --store :memory:
        ended "$wait, the agent's timeout" timer 1 $?
    fi
    make $wait
    run --store :memory: --timeout 300ms
    ended "$wait, the run's timeout" timer 124 $?

    start --store s.db
    wait_for out step_start
    "$RONDO" cancel --store s.db "$(jq -r .runId out | head -1)" >/dev/null 2>&1
    wait $job
    ended "$wait, rondo cancel" cancel 1 $?

    start --store :memory:
    wait_for out step_start
    kill -TERM $job
    wait $job
    ended "$wait, SIGTERM" cancel 143 $?
done

# A reviewer has its own time.
flow w.yaml <<<"name: review
agents: { w: { run: 'true' }, r: { run: 'sleep 1000', timeout: 1s } }
steps: [{ id: a, agent: w, timeout: 300ms, review: { agent: r } }]"
run --store :memory:
ended "review, the agent's timeout" step_start 1 $?
has "timed out after 1 s"
hasnt "timed out after 300 ms"

# A step is cancelled while its worktree is put away, because its model chose no skill.
if command -v git >/dev/null; then
    serve < <(text "none of them")
    mkdir tree bin && cd tree || exit 1
    printf '#!/bin/sh\ncase "$*" in *"status --"*) cd %s; echo x >held; until [ -e go ]; do sleep 0.02; done ;; esac\nexec %s "$@"\n' \
        "$scratch/tree/.git/objects" "$(command -v git)" >../bin/git
    chmod +x ../bin/git
    git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m one
    flow w.yaml <<<"name: skills
options: { isolation: worktree-per-step }
agents: { w: { prompt: p, model: compat/m, tools: [read], skills: { a: { description: a }, b: { description: b } } } }
steps: [{ id: a, agent: w, instructions: x }]"
    PATH=$scratch/bin:$PATH start --store :memory:
    wait_for .git/objects/held x
    kill -TERM $job
    wait_for out '"cancel"'
    touch .git/objects/go
    wait $job
    same "a skill that was not chosen, SIGTERM: status" $? 143
    cd "$scratch" || exit 1
fi

# ---- what is left when the run has ended -------------------------------------------------------------------

# leaves NAME SIGNAL STATUS: within less time than the child is given
leaves() {
    local from rc
    from=$(date +%s%N)
    kill -$2 $job
    wait $job
    rc=$?
    same "$1: status" $rc "$3"
    if [ $((($(date +%s%N) - from) / 1000000)) -lt 1500 ]; then ok; else bad "$1: it did not leave at once"; fi
}
echo "name: left
$(mcp '{ command: sh, args: [-c, "trap : TERM; while :; do sleep 0.1; done"] }' | sed 's/ @[A-Z]*@//')" | flow w.yaml
start --store s.db
wait_for out step_start
kill -TERM $job
wait_for out workflow_end
sleep 0.1
leaves "a child that has its grace, another signal" INT 143
says "go on with: rondo resume"

once 'echo said'
: >told
"$RONDO" run --store :memory: --notify 'echo $$ >told; exec sleep 1000' w.yaml >out 2>err </dev/null &
job=$!
wait_for told '[0-9]'
leaves "a program that is told of the end, a signal" TERM 143
says "completed"
same "the answer was there" "$(cat out)" said
kill "$(cat told)"

# Before it has begun anything, it ends as any program does.
mkfifo given
rm -f s.db
"$RONDO" run --store s.db --timeout 100ms --inputs given w.yaml >out 2>err </dev/null &
job=$!
sleep 0.5
still "no timeout counts before the run" $job
leaves "inputs that do not come, a signal" TERM 143
same "nothing was kept" "$(ls s.db 2>&1 | grep -c '^s.db$')" 0

# Whoever reads what we say may stand still.
for stream in 1 2; do
    flow w.yaml <<<"name: much
agents: { w: { script: ['$(printf '%05000d' 0)'] } }
steps: [{ id: l, loop: { maxIterations: 1000 }, steps: [{ id: a, agent: w, instructions: x }] }]"
    mkfifo pipe
    exec 8<>pipe
    if [ $stream = 1 ]; then "$RONDO" run --json --store :memory: w.yaml >pipe 2>err </dev/null 8>&- &
    else "$RONDO" run -v --store :memory: w.yaml 2>pipe >out </dev/null 8>&- &
    fi
    job=$!
    sleep 1
    for signal in TERM INT; do kill -$signal $job; sleep 0.2; done
    still "stream $stream did not hold it up" $job
    leaves "stream $stream, a third signal" HUP 143
    exec 8>&-
    rm pipe
done

# ---- work that may be done once only ---------------------------------------------------------------------

once 'sleep 1000' 'timeout: 300ms'
run --store :memory:
ended "once, the step's timeout" timer 1 $?
once 'until [ -e go ]; do sleep 0.02; done'
rm -f go
start --store :memory:
wait_for out step_start
kill -TERM $job
wait_for out '"cancel"'
touch go
wait $job
same "once, SIGTERM: status" $? 143
same "it is awaited" "$(jq -r 'select(.type == "step_end" or .type == "cancel") | .type' out | xargs)" "cancel step_end"

# ---- the store ---------------------------------------------------------------------------------------------

flow s.yaml <<F
name: s
agents: { w: { run: 'echo x >>begun; until [ -e go ]; do sleep 0.02; done' } }
steps: [{ id: a, agent: w }, { id: b, agent: w, dependsOn: [a] }]
F
lock() {
    mkfifo hold
    "$here/lock" s.db <hold >held &
    lock=$!
    exec 9>hold
    wait_for held locked
}
unlock() { exec 9>&-; wait $lock; rm -f hold held; }

# begin [OPTION]...: a run in s.db that has something to write, once somebody else has locked it
begin() {
    rm -f begun go
    "$RONDO" run --store s.db "$@" s.yaml >out 2>err </dev/null 9>&- &
    job=$!
    wait_for begun x
    lock
    touch go
}

begin
sleep 6 # longer than a store is waited for that no run needs
still "the run did not wait" $job
unlock
wait $job
same "a run waits for a store" $? 0

begin --timeout 1s
wait $job
same "until its timeout" $? 124
still "it was not locked any more: timeout" $lock
says "another process has kept it locked for too long"
says "go on with: rondo resume"
unlock
"$RONDO" resume -q --store s.db --timeout 60s "$(run_id err)" >out 2>err2
same "and is gone on with" $? 0

for signal in TERM INT; do
    begin
    sleep 0.3
    kill -$signal $job
    wait $job
    same "SIG$signal ends the wait" $? $([ $signal = TERM ] && echo 143 || echo 130)
    still "it was not locked any more: SIG$signal" $lock
    says "go on with: rondo resume"
    unlock
    "$RONDO" resume -q --store s.db "$(run_id err)" >out 2>err2
    same "and the run is gone on with" $? 0
done

lock
"$RONDO" run -q --store s.db s.yaml >out 2>err </dev/null 9>&- &
job=$!
sleep 6
still "it did not wait to begin" $job
unlock
wait $job
same "a run that is not begun yet" $? 0

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
