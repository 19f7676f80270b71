# following.sh - rondo events --follow: who reads along while another process drives the run is told the same as who
# reads the log afterwards.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export NO_COLOR=1 RONDO_STORE=$PWD/runs.db
. "$ROOT/tests/cli/checks"

# In every pass several steps begin and end between two looks, so that their slots have others by then.
flow long.yaml <<'END'
name: long
agents:
  wait: { run: "touch begun; while [ ! -e go ]; do sleep 0.02; done" }
  slow: { run: "sleep 0.06; echo slow" }
  paid: { script: [ { content: a, usage: { prompt: 10, completion: 5 } }, { content: b, usage: { prompt: 3, completion: 1 } } ] }
  unsteady: { run: "[ -e tried ] || { touch tried; exit 1; }" }
steps:
  - { id: first, agent: wait }
  - id: outer
    dependsOn: [first]
    loop:
      maxIterations: 3
      steps:
        - id: inner
          loop:
            maxIterations: 2
            steps: [ { id: a, agent: paid, instructions: x }, { id: b, agent: slow, dependsOn: [a] } ]
        - { id: c, agent: slow, dependsOn: [inner] }
  - id: each
    dependsOn: [outer]
    loop:
      forEach: '[1, 2, 3]'
      maxConcurrency: 2
      steps: [ { id: d, agent: slow }, { id: e, agent: paid, instructions: x, dependsOn: [d] } ]
  - { id: ok, gate: { ask: "go on?" }, dependsOn: [each] }
  - { id: again, agent: unsteady, retry: { attempts: 2, delay: 100ms }, dependsOn: [ok] }
  - { id: last, agent: paid, instructions: x, dependsOn: [again] }
END
"$RONDO" run --quiet long.yaml >drive.log 2>&1 </dev/null &
driver=$!
for _ in $(seq 3000); do [ -e begun ] && break; sleep 0.02; done
id=$("$RONDO" runs --json -n 1 | jq -r .id)
timeout 120 "$RONDO" events --json -f "$id" >followed 2>errors </dev/null &
json=$!
timeout 120 "$RONDO" events -v -f "$id" >told 2>>errors </dev/null &
text=$!
wait_for followed '"stepId":"first"'
touch go
wait $driver
same "the run waits for its gate" $? 5
check "an answer" 0 "" "$RONDO" answer "$id" ok yes
check "the run goes on" 0 "b" "$RONDO" resume --quiet "$id"
wait $json
same "lines of JSON are followed to the end" $? 0
wait $text
same "so is text" $? 0
same "without a complaint" "$(cat errors)" ""
"$RONDO" events --json "$id" >afterwards
same "the same events, word for word" "$(diff followed afterwards | head -6)" ""
"$RONDO" events -v "$id" >afterwards
same "the same text" "$(diff told afterwards | head -6)" ""

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
