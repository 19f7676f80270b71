# commands in workflow files, as a user writes them: what they get, what they give, and that nothing stays.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1 TMPDIR=$PWD/tmp
mkdir "$TMPDIR"
set -m # a process group for each job
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); printf 'FAIL %s\n' "$*"; }
is() { if [ "$2" = "$3" ]; then ok; else bad "$1: '$2', wanted '$3'"; fi; }
has() { if grep -qF -- "$3" <<<"$2"; then ok; else bad "$1: no '$3' in: $2"; fi; }
clean() { is "$1: temporary files" "$(ls -A "$TMPDIR")" ""; }

# run NAME STATUS STDOUT [OPTION...]: the file on standard input, in flow.yaml
run() {
    local name=$1 status=$2 wanted=$3 rc
    shift 3
    { echo "rondo: 1"; echo "name: t"; cat; } >flow.yaml
    "$RONDO" run -q "$@" flow.yaml >out 2>err </dev/null
    rc=$?
    if [ $rc = "$status" ] && [ "$(cat out)" = "$wanted" ]; then
        ok
    else
        bad "$name: status $rc (wanted $status), stdout '$(cat out)' (wanted '$wanted')"
        sed 's/^/  /' err
    fi
    clean "$name"
}
alive() { [ -e /proc/$1/stat ] && ! grep -q ') [ZX] ' /proc/$1/stat; }
until_true() { until "$@" 2>/dev/null; do sleep 0.02; done; }
gone() { ! alive "$1"; }

# ---- in and out ------------------------------------------------------------------------------------

run "words are arguments" 0 '<a b> <*> <$HOME> <>' <<'E'
inputs: { x: { type: string, default: "a b" } }
agents: { a: { run: [printf, '<%s> <%s> <%s> <%s>', '${inputs.x}', '*', '$HOME', ''] } }
steps: [ { id: s, agent: a, instructions: x } ]
E
run "shell text is the shell's" 0 '3 a b $' <<'E'
inputs: { x: { type: string, default: "a b" } }
agents: { a: { run: 'X=3; echo "${X} $Y $"', env: { Y: '${inputs.x}' } } }
steps: [ { id: s, agent: a, instructions: x } ]
E
run "the prompt, and what came before, are on standard input" 0 'yes yes' <<'E'
agents:
  first: { run: [echo, from the first] }
  second: { run: 'text=$(cat); case $text in *"from the first"*) printf yes;; esac; case $text in *"the task at hand"*) printf " yes";; esac' }
steps:
  - { id: one, agent: first, instructions: x }
  - { id: two, agent: second, instructions: "Do the task at hand.", dependsOn: [one] }
E
run "a result is the last line" 0 'total 3, words' <<'E'
agents:
  count: { run: 'echo words; echo "{\"n\": 3}"', resultSchema: { type: object, required: [n], properties: { n: { type: integer } } } }
  tell: { run: [echo, 'total ${steps.c.result.n}, ${steps.c.content}'] }
steps:
  - { id: c, agent: count, instructions: x }
  - { id: t, agent: tell, instructions: x, dependsOn: [c] }
E
run "a result that does not fit" 1 '' <<'E'
agents:
  count: { run: 'echo "{\"n\": \"three\"}"', resultSchema: { type: object, properties: { n: { type: integer } } } }
steps: [ { id: c, agent: count, instructions: x } ]
E
has "a result that does not fit" "$(cat err)" "n"
printf 'rondo: 1\nname: sub\ninputs: { n: { default: null } }\nagents: { x: { script: [x] } }\nsteps: [ { id: x, agent: x } ]\noutput: inputs.n\n' >sub.yaml
run "null is a result where the schema takes it" 0 '[null,"null",null,"text",true,"null",null,"c",null,"c",null,"null","c"]' <<'E'
agents:
  c: { run: 'echo null', resultSchema: { type: [object, "null"] } }
  d: { run: 'echo "text"; echo null', resultSchema: { type: [object, "null"] } }
  e: { run: 'echo "{\"result\": null}" >$RONDO_REPLY', resultSchema: { type: [object, "null"] } }
  f: { script: [ { result: null, content: c } ], resultSchema: { type: [object, "null"] } }
  g: { script: [ { result: null, content: c } ], resultSchema: { type: [string, "null"] } }
  w: { workflow: sub.yaml, resultSchema: { type: [object, "null"] } }
  h: { script: [ { result: null, content: c } ] }
order: sequence
steps: [ { id: c, agent: c }, { id: d, agent: d }, { id: e, agent: e }, { id: f, agent: f }, { id: g, agent: g }, { id: w, agent: w }, { id: h, agent: h } ]
output: >-
  [steps.c.result, steps.c.content, steps.d.result, steps.d.content, steps.e.result == null, steps.e.content, steps.f.result, steps.f.content,
  steps.g.result, steps.g.content, steps.w.result, steps.w.content, steps.h.content]
E
run "and elsewhere it is none" 1 '' <<'E'
agents: { c: { run: 'echo null', resultSchema: { type: object } } }
steps: [ { id: c, agent: c } ]
E
has "and elsewhere it is none" "$(cat err)" 'expected object, got "null"'
run "results of items that are texts, or null" 0 '["a",null,["c"],"d"]' <<'E'
agents:
  s: { script: [ { result: a }, { result: null }, { result: [c] }, { result: d, content: other } ], resultSchema: { type: [string, array, "null"] } }
steps: [ { id: f, agent: s, loop: { forEach: [1, 2, 3, 4], maxConcurrency: 1 } } ]
output: steps.f.result.iterations.map(i, i.result)
E
run "and a text that is only content is none" 0 '[false,true]' <<'E'
agents: { s: { script: [a] }, c: { run: 'echo "\"b\""', resultSchema: { type: string } } }
steps:
  - { id: f, loop: { forEach: [1], output: s, steps: [ { id: s, agent: s }, { id: t, agent: c, dependsOn: [s] } ] } }
  - { id: g, loop: { forEach: [1], output: t, steps: [ { id: s, agent: s }, { id: t, agent: c, dependsOn: [s] } ] } }
output: "[has(steps.f.result.iterations[0].result), has(steps.g.result.iterations[0].result)]"
E
run "a loop that a command ends, with state" 0 'pass 3 of 3' <<'E'
agents:
  a:
    run: |
      n=$((RONDO_PASS + 1))
      if [ $n = 3 ]; then echo "{\"actions\": {\"break\": true, \"state\": {\"n\": $n}}}" >$RONDO_REPLY; fi
      echo pass $n
  b: { run: [echo, '${steps.l.content} of ${state.n}'] }
steps:
  - { id: l, loop: { maxIterations: 9, steps: [ { id: s, agent: a, instructions: x } ] } }
  - { id: e, agent: b, instructions: x, dependsOn: [l] }
E
# The program sleeps until all of them have ended: what it hears first is chance, and what the break cuts has ended already.
rm -f go
export D=$PWD
set +m # a shell that has jobs would take it for one that was put aside
run "a break in the same turn as other ends" 0 break <<'E'
options: { maxConcurrency: 20, timeout: 30s, cleanup: 1s }
agents:
  s: { run: 'while [ ! -e "$D/go" ]; do sleep 0.02; done; echo S', env: [PATH, D] }
  b:
    run: |
      kill -STOP $PPID
      touch "$D/go"
      (sleep 0.5; kill -CONT $PPID) >/dev/null 2>&1 &
      echo '{"actions": {"break": true}}' >$RONDO_REPLY
    env: [PATH, D]
steps:
  - id: l
    loop: { maxIterations: 2, steps: [{ id: s1, agent: s }, { id: s2, agent: s }, { id: s3, agent: s }, { id: b, agent: b },
                                      { id: s4, agent: s }, { id: s5, agent: s }, { id: s6, agent: s }] }
output: steps.l.reason
E
set -m
run "a judge that is a command" 0 'draft 2' <<'E'
agents:
  writer: { run: 'echo draft $((RONDO_PASS + 1))' }
  judge:
    run: 'case $(cat) in *"draft 2"*) echo "{\"done\": true}";; *) echo "{\"done\": false, \"feedback\": \"more\"}";; esac'
    resultSchema: { type: object, required: [done], properties: { done: { type: boolean }, feedback: { type: string } } }
steps:
  - id: l
    loop: { maxIterations: 5, untilAgent: judge, steps: [ { id: s, agent: writer, instructions: x } ] }
E
run "a judge that fails had something to say" 0 'half done
(failed: exit status 3: oops
standard output: half done)' <<'E'
agents:
  writer: { run: 'echo draft' }
  judge:
    run: 'echo "half done"; echo oops >&2; exit 3'
    resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } }
output: steps.l.history[0].judge
steps:
  - { id: l, agent: writer, loop: { maxIterations: 1, untilAgent: judge, onMaxIterations: returnLast } }
E
run "items and their number" 0 '["0:a","1:b c"]' <<'E'
agents: { a: { run: 'echo "$(sed "s/.*\"index\":\([0-9]*\).*/\1/" $RONDO_CONTEXT):$RONDO_ITEM"' } }
output: steps.l.result.iterations.map(i, i.content)
steps:
  - id: l
    loop: { forEach: ["a", "b c"], steps: [ { id: s, agent: a, instructions: x } ] }
E
run "more than maxOutput" 0 "0123456789
[output cut: these are the first 10 of 16 bytes]" <<'E'
agents: { a: { run: [printf, 0123456789abcdef], maxOutput: 10 } }
steps: [ { id: s, agent: a, instructions: x } ]
E

# ---- what goes wrong ----------------------------------------------------------------------------------

run "a status" 1 '' <<'E'
agents: { a: { run: 'echo the reason >&2; exit 3' } }
steps: [ { id: s, agent: a, instructions: x } ]
E
has "a status" "$(cat err)" "exit status 3: the reason"

# What a test has printed reaches everybody: the error, `show`, `history`, the events, and the next pass.
{ echo "rondo: 1"; cat; } >story.yaml <<'E'
name: story
agents:
  coder: { prompt: You fix., run: [cat] }
  tests: { run: "echo 'FAILED test_foo: expected 3 got 4'; printf '\\033[31mred\\n'; exit 1" }
steps:
  - id: l
    loop:
      maxIterations: 2
      onError: continue
      steps:
        - { id: code, agent: coder, instructions: Fix it. }
        - { id: test, agent: tests, dependsOn: [code] }
E
wanted='exit status 1: FAILED test_foo: expected 3 got 4'
"$RONDO" run --json --store story.db story.yaml >events 2>err </dev/null
has "the error in the events" "$(grep '"type":"error"' events)" "$wanted"
id=$(sed -n '1s/.*"runId":"\([^"]*\)".*/\1/p' events)
has "in show" "$("$RONDO" show $id l.0.test --store story.db)" "$wanted"
has "in history" "$("$RONDO" history $id l --store story.db)" "$wanted"
has "in the next pass" "$("$RONDO" show $id l.1.code --store story.db)" "(failed: $wanted"
"$RONDO" run --store story.db story.yaml >out 2>err </dev/null
has "in the summary" "$(cat out err)" "FAILED test_foo: expected"
if cat out err <("$RONDO" show $id l.0.test --store story.db) | grep -q $'\033'; then
    bad "escape sequences of a command reach the terminal"
else
    ok
fi

run "a command that is not there" 1 '' <<'E'
agents: { a: { run: [no-such-command, x] } }
steps: [ { id: s, agent: a, instructions: x } ]
E
has "a command that is not there" "$(cat err)" "command 'no-such-command' not found"
run "trying again helps" 75 '' <<'E'
agents: { a: { run: 'exit 75' } }
steps: [ { id: s, agent: a, instructions: x } ]
E
run "a retry sees why" 0 'second: exit status 1: first' <<'E'
agents: { a: { run: 'if [ -e tried ]; then rm tried; echo "second: $RONDO_FEEDBACK"; else touch tried; echo first >&2; exit 1; fi' } }
steps: [ { id: s, agent: a, instructions: x, retries: 1 } ]
E
run "an agent's timeout, and what was tried again after it" 0 'in time' <<'E'
agents: { a: { run: 'if [ -e slow ]; then rm slow; echo in time; else touch slow; sleep 100; fi', timeout: 300ms } }
steps: [ { id: s, agent: a, instructions: x, retry: { attempts: 2, delay: 1ms } } ]
E

# ---- secrets ---------------------------------------------------------------------------------------------

export THE_TOKEN=s3cr3t-value
printf 'from-a-file\n' >token
cat >secret.yaml <<'E'
rondo: 1
name: secret
agents:
  a:
    env: { A: 'env:THE_TOKEN', B: 'file:token' }
    run: 'echo "$A $B"; sleep 0.3; echo "again $A" >&2; echo "{\"result\": \"$A\"}" >$RONDO_REPLY'
  b: { env: { A: 'env:THE_TOKEN' }, run: 'echo "bad $A" >&2; exit 1' }
steps: [ { id: s, agent: a, instructions: x }, { id: t, agent: b, instructions: x, dependsOn: [s] } ]
E
"$RONDO" run --json secret.yaml >out 2>err </dev/null
if grep -q -e s3cr3t -e from-a-file out err; then bad "a secret is seen: $(cat out err)"; else ok; fi
has "secrets" "$(cat out)" '*** ***'
has "secrets" "$(cat out)" 'exit status 1: bad ***'
unset THE_TOKEN

# ---- live output ---------------------------------------------------------------------------------------------

cat >live.yaml <<'E'
rondo: 1
name: live
agents: { a: { run: 'for i in 1 2 3; do echo part $i; sleep 0.2; done' } }
steps: [ { id: s, agent: a, instructions: x } ]
E
"$RONDO" run --json live.yaml >out 2>err </dev/null
if [ "$(grep -c '"type":"output"' out)" -ge 2 ]; then ok; else bad "no output events: $(cat out)"; fi
if grep '"type":"output"' out | grep -q '"stepId":"s",.*"delta":"part 1\\n.*","done":false,'; then ok; else bad "not as Zenflow has them: $(cat out)"; fi

# ---- rehearsals ------------------------------------------------------------------------------------------------

cat >rehearse.yaml <<'E'
rondo: 1
name: rehearse
agents: { a: { run: 'echo ran >>log; sleep 0.2; echo ran' } }
steps: [ { id: s, agent: a, instructions: x, timeout: 10m } ]
E
"$RONDO" rehearse -q rehearse.yaml >out 2>err </dev/null
if [ ! -e log ]; then ok; else bad "a rehearsal ran a command"; fi
"$RONDO" rehearse -q --commands rehearse.yaml >out 2>err </dev/null
is "rehearse --commands" "$(cat out)" ran

# ---- nothing stays ---------------------------------------------------------------------------------------------

# A command with children everywhere: in its group, and in a session of its own.
cat >family.yaml <<'E'
rondo: 1
name: family
agents:
  a:
    grace: 300ms
    run: |
      sh -c 'trap "" TERM; echo $$ >near; while :; do sleep 0.05; done' &
      setsid sh -c 'echo $$ >far; exec sleep 1000' >/dev/null 2>&1 &
      until [ -s near ] && [ -s far ]; do sleep 0.01; done
      echo $$ >leader
      WAIT
      echo done
steps: [ { id: s, agent: a, instructions: x } ]
E
family() { # NAME SIGNAL STATUS: the command runs on until the signal; "" for a command that ends by itself
    local name=$1 signal=$2 wanted=$3 job rc
    rm -f near far leader
    sed "s/WAIT/$([ -n "$signal" ] && echo 'sleep 1000')/" family.yaml >now.yaml
    "$RONDO" run -q now.yaml >out 2>err </dev/null &
    job=$!
    until_true test -s leader
    [ -n "$signal" ] && kill "-$signal" $job
    wait $job
    rc=$?
    is "$name: status" "$rc" "$wanted"
    if [ "$signal" = KILL ]; then # nobody is there to wait for
        for f in near far leader; do until_true gone "$(cat $f)"; done
        until_true eval 'test -z "$(ls -A "$TMPDIR")"'
    fi
    for f in near far leader; do
        if alive "$(cat $f)"; then bad "$name: $f is still alive"; kill -KILL "$(cat $f)"; else ok; fi
    done
    clean "$name"
} 2>/dev/null
family "a command that ends" "" 0
is "a command that ends: output" "$(cat out)" done
family "Ctrl-C" INT 130
family "SIGTERM" TERM 143
family "SIGKILL" KILL 137

# The step's end is told when all of it is dead, and not before.
cat >order.yaml <<'E'
rondo: 1
name: order
agents:
  a: { grace: 300ms, run: 'trap "" TERM; echo $$ >leader; while :; do sleep 0.05; done' }
  b: { run: 'if [ -e /proc/$(cat leader) ]; then echo alive; else echo dead; fi' }
steps:
  - { id: s, agent: a, instructions: x, timeout: 300ms }
  - { id: t, agent: b, instructions: x, dependsOn: [s], runOn: always }
E
"$RONDO" run -q order.yaml >out 2>err </dev/null
is "the step after a timeout" "$(cat out)" dead

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
