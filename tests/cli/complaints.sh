# complaints.sh - what the program says when something is missing or wrong: all of it, where, and what to do next.
set -uo pipefail
. "$ROOT/tests/cli/checks"
unset OPENAI_API_KEY OPENAI_BASE_URL ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL RONDO_MODEL

# ---- keys --------------------------------------------------------------------------------------------------
flow "two keys.yaml" <<'F'
name: keys
agents:
  a: { model: openai/gpt-5, prompt: p }
  b: { model: anthropic/claude-haiku-4-5, prompt: p }
steps:
  - { id: one, agent: a, instructions: x }
  - { id: two, agent: b, instructions: x }
  - { id: three, agent: a, instructions: x }
F
check "keys that are not set" 3 "" "$RONDO" run "two keys.yaml"
says "agent 'a' of step 'one' and 1 more step: model 'openai/gpt-5': there is no key for openai: set the variable OPENAI_API_KEY"
says "agent 'b' of step 'two': model 'anthropic/claude-haiku-4-5': there is no key for anthropic: set the variable ANTHROPIC_API_KEY"
says "rondo rehearse 'two keys.yaml'"
check "as it says" 0 "a answers for three (rehearsal of three)" "$RONDO" rehearse -q "two keys.yaml"
check "an example" 3 "" "$RONDO" run "$ROOT/examples/models/ask.yaml"
says "with made-up answers: rondo rehearse $ROOT/examples/models/ask.yaml"

# ---- failures of a quiet run ---------------------------------------------------------------------------------
flow fails.yaml <<'F'
name: fails
agents: { c: { run: "echo one; echo two >&2; echo three >&2; exit 7" } }
steps:
  - { id: a, agent: c }
  - id: l
    loop: { maxIterations: 2, steps: [{ id: in, agent: c }] }
  - id: many
    loop: { forEach: "[1,2,3,4,5,6,7,8,9,10,11,12]", onItemFailure: continue, steps: [{ id: x, agent: c }] }
F
check "each failure has its step" 1 "" "$RONDO" run -q fails.yaml
same "in one line" "$(head -3 err)" "rondo run: failed: a: exit status 7: two three standard output: one
rondo run: failed: l pass 1, in: exit status 7: two three standard output: one
rondo run: failed: many [1] 1, x: exit status 7: two three standard output: one"
kept() { echo "rondo run: it was run $1"; echo "go on with: rondo resume $1"; } # the end, for RUN
last() { "$RONDO" runs -n 1 --json | jq -r .id; }
same "and not without end" "$(tail -3 err); $(wc -l <err)" "rondo run: and 4 more failures
$(kept "$(last)"); 13"
check "a limit ends the run" 124 "" "$RONDO" run -q --timeout 1ms fails.yaml
same "behind the steps that had failed" "$(tail -3 err | sed 's/=[0-9]*ms$/=MORE/')" "rondo run: failed: the run timed out after 1 ms
$(kept "$(last)") --limit :timeout=MORE"
flow late.yaml <<'F'
name: late
agents: { bad: { script: [{ fail: broken }] }, slow: { run: [sleep, "9"] } }
steps: [{ id: x, agent: bad }, { id: s, agent: slow }]
F
check "which are named" 124 "" "$RONDO" run -q --timeout 300ms late.yaml
same "one by one" "$(sed 's/=[0-9]*ms$/=MORE/' err)" "rondo run: failed: x: broken
rondo run: failed: the run timed out after 300 ms
$(kept "$(last)") --limit :timeout=MORE"
sed -i 's/^name: late/name: late\nbudget: { time: 300ms }/' late.yaml
check "also by a budget" 4 "" "$RONDO" run -q late.yaml
same "one by one again" "$(sed 's/=[0-9]*ms$/=MORE/' err)" "rondo run: failed: x: broken
$(kept "$(last)") --limit :budget.time=MORE"

# ---- answers for gates that there are not ----------------------------------------------------------------------
flow gate.yaml <<'F'
name: gate
agents: { c: { run: [echo, hi] } }
steps:
  - { id: a, agent: c }
  - { id: ready, gate: { ask: "Ready?" } }
  - { id: w, agent: c, review: { gate: { ask: "Good?" } } }
F
runs=$("$RONDO" runs | wc -l)
check "a name that no step has" 3 "" "$RONDO" run gate.yaml --answers <(echo 'redy: yes')
says "redy: there is no step 'redy'; did you mean 'ready'?"
check "another file" 3 "" "$RONDO" run gate.yaml --answers gate.yaml
check "of a rehearsal" 3 "" "$RONDO" rehearse gate.yaml --answers <(echo 'redy: yes')
same "nothing was begun" "$("$RONDO" runs | wc -l)" "$runs"
check "all names that there may be" 0 "hi" "$RONDO" run -q gate.yaml \
    --answers <(echo '{ ready: yes, a.permit-1: y, w.review: approve, w.review~1: approve, a: retry }')
check "and not" 3 "" "$RONDO" run -q gate.yaml --answers <(echo 'aa.permit-1: y')

# ---- paths of steps that there are not --------------------------------------------------------------------------
flow paths.yaml <<'F'
name: paths
agents: { m: { description: d, model: openai/x }, c: { description: d, model: openai/x } }
steps:
  - { id: gr, steps: [ { id: deep, agent: m }, { id: g, gate: { ask: "Ready?" } } ] }
  - { id: lp, agent: m, loop: { maxIterations: 4 } }
  - { id: li, loop: { maxIterations: 2, steps: [ { id: h, gate: { ask: "Sure?" } } ] } }
  - { id: fo, forum: { members: [m], captain: c, rounds: 2 } }
output: "steps.fo.content + ' ' + steps.li.steps.h.content"
F
check "all that a script has wrong" 3 "" "$RONDO" rehearse paths.yaml \
    --script <(echo '{ grx.deep: X, gr.m: X, lp.17: X, li.g: X, fo.captain: fine }')
same "is told" "$(sed 's|^.*/[^ ]*: ||' err)" "grx.deep: there is no step 'grx.deep'; did you mean 'gr.deep'?
gr.m: there is no step 'gr.m'; did you mean 'gr.g'?
lp.17: there is no step 'lp.17'; did you mean 'lp'?
li.g: there is no step 'li.g'; did you mean 'li.h'?"
check "all that answers have wrong" 3 "" "$RONDO" rehearse paths.yaml --answers <(echo '{ grpp.g: true, li.2.h: true }')
same "is told, too" "$(sed 's|^.*/[^ ]*: ||' err)" "grpp.g: there is no step 'grpp.g'; did you mean 'gr.g'?
li.2.h: there is no step 'li.2.h'; did you mean 'li.h'?"
check "a path without numbers holds whenever the step runs" 0 "fine really" "$RONDO" rehearse -q paths.yaml \
    --script <(echo '{ fo.m: I think so, fo.captain: fine }') --answers <(echo '{ li.h: really }')
"$RONDO" rehearse -q --json paths.yaml --script <(echo '{ fo.m: I think so }') >out 2>err
same "also in the rounds of a forum" "$(jq -r 'select(.type == "step_end" and .data.output == "I think so").path' out | xargs)" \
    "fo.r1.m fo.r2.m"

# ---- replies that nobody can use -----------------------------------------------------------------------------------
flow one.yaml <<'F'
name: one
agents: { m: { description: d, model: openai/x } }
steps: [ { id: in, agent: m } ]
F
flow useless.yaml <<'F'
name: useless
agents: { m: { description: d, model: openai/x }, sub: { workflow: one.yaml } }
steps:
  - { id: a, agent: m }
  - { id: g, steps: [ { id: i, agent: m } ] }
  - { id: file, include: one.yaml }
  - { id: whole, agent: sub, loop: { maxIterations: 2 } }
  - { id: q, gate: { ask: "?", schema: { type: integer } } }
output: string(steps.q.result) + steps.file.content
F
check "a script that says nothing useful" 3 "" "$RONDO" rehearse useless.yaml \
    --script <(echo '{ a: [], g: mine, file: mine, whole: mine, whole.0: mine, q: text }')
same "is told before the run" "$(sed 's|^.*/[^ ]*: ||' err)" "a: expected a reply or a list of replies, got []
g: step 'g' asks nobody itself; did you mean 'g.i'?
file: step 'file' asks nobody itself; did you mean 'file.in'?
whole: step 'whole' asks nobody itself; did you mean 'whole.in'?
whole.0: step 'whole.0' asks nobody itself; did you mean 'whole.in'?
q: expected integer, got \"text\""
check "what it tells to say is heard" 0 "5mine" "$RONDO" rehearse -q useless.yaml \
    --script <(echo '{ a: [x], g.i: mine, file.in: mine, whole.in: mine, q: 5 }')

# ---- places ------------------------------------------------------------------------------------------------------
printf '{\n"a": 1,,}' >bad.json
printf '\xef\xbb\xbf{"a": 123456789012345678901234}' >large.json
echo '{}' >any.json
check "where JSON is wrong" 2 "" "$RONDO" check --schema any.json bad.json
says "bad.json: line 2, column 8: expected a key in quotes or '}', got ','"
check "what is nothing" 2 "" "$RONDO" check --schema any.json /dev/null any.json
check "large numbers, and the mark of an editor" 0 "" "$RONDO" check --schema any.json large.json
check "a file that is not there" 2 '{"file":"none.yaml","valid":false,"errors":[{"file":"none.yaml","line":1,"column":1,"severity":"error","code":"file","message":"No such file or directory","hint":"did you mean '"'one.yaml'"'?"}],"warnings":[]}' \
    "$RONDO" check --json none.yaml
cp gate.yaml $'n\xff.yaml'
"$RONDO" check --json $'n\xff.yaml' >out 2>err
has '{"file":"n�.yaml","valid":true,'
"$RONDO" check --json --schema any.json $'m\xff.json' >out 2>err
has '{"file":"m�.json",'

# ---- standard input ------------------------------------------------------------------------------------------------
flow hello.yaml <<'F'
name: hello
inputs: { who: { type: string, default: you }, to: { type: string, default: me } }
agents: { c: { run: [echo, "hello ${inputs.who}"] } }
steps: [{ id: a, agent: c }]
F
once() { # WHO ARGUMENT...: it is refused
    local who=$1
    shift
    check "read once: $*" 3 "" "$RONDO" "$@"
    says "standard input can be read only once, not as $who"
}
once "FILE and --inputs" run - --inputs -
once "FILE and --answers" run - --answers -
once "FILE and --script" rehearse - --script -
once "--inputs and --answers" run hello.yaml --inputs - --answers -
once "FILE and FILE" check - -
once "FILE and --schema" check --schema - -
once "--input who and --input to" run hello.yaml -i who=@- -i to=@-
is=$(echo piped | "$RONDO" run -q hello.yaml -i who=@-)
same "an input from there" "$is" "hello piped"
"$RONDO" check - <&- 2>err
says "standard input: error[file]: it is closed"
"$RONDO" eval 1 -d - <&- 2>err
says "standard input: it is closed"


# ---- values that are too large -------------------------------------------------------------------------------------------
flow many.yaml <<'F'
name: many
inputs: { i: { type: integer, default: 1 }, x: { type: number, default: 1 }, s: { type: string, default: "" } }
agents: { w: { run: [echo, "${inputs.s}"] } }
steps: [{ id: a, agent: w }, { id: g, gate: { ask: "How many?", schema: { type: integer } }, dependsOn: [a] }]
F
too="this number is too large: whole numbers have 64 bits, and others go up to 1.8e308"
check "a duration" 3 "" "$RONDO" run many.yaml --timeout 99999999h
says "rondo run: --timeout: the duration '99999999h' is too long: at most 640511h"
check "a whole number" 3 "" "$RONDO" run many.yaml -i i=99999999999999999999
says "rondo run: --input i: $too: 99999999999999999999"
check "another number" 3 "" "$RONDO" run many.yaml -i x=-1e999
says "rondo run: --input x: $too: -1e999"
check "a number of a limit" 3 "" "$RONDO" run many.yaml --max-turns 99999999999999999999
says "--max-turns: expected at most 9223372036854775807, got '99999999999999999999'"
check "a text may be one" 5 "" "$RONDO" run -q many.yaml -i s=99999999999999999999
check "an answer" 3 "" "$RONDO" answer "$(last)" g 99999999999999999999
says "gate 'g': $too"
check "an input without its value" 3 "" "$RONDO" run many.yaml -i i
says "rondo run: --input: expected NAME=VALUE, got 'i'"

# ---- all that a run waits for --------------------------------------------------------------------------------------------
flow three.yaml <<'F'
name: three
steps: [{ id: a, gate: { ask: "A?" } }, { id: b, gate: { ask: "B?" } }, { id: c, gate: { ask: "C?" } }]
F
check "three questions" 5 "" "$RONDO" run -q three.yaml
same "are named, and what answers them" "$(cat err)" "rondo run: run $(last) waits for answers to gates 'a', 'b' and 'c'
answer with: rondo answer $(last) a VALUE
answer with: rondo answer $(last) b VALUE
answer with: rondo answer $(last) c VALUE
then go on with: rondo resume $(last)"
check "two" 0 "" "$RONDO" answer -q "$(last)" b yes
check "are fewer" 5 "" "$RONDO" resume -q "$(last)"
says "waits for answers to gates 'a' and 'c'"

# ---- a line of run, rehearsed ------------------------------------------------------------------------------------------
check "by changing one word" 0 "c answers for a (rehearsal of a)" "$RONDO" rehearse -q hello.yaml --model openai/x --allow read --yolo \
    --store not/made.db --session s --max-turns 3 --max-retries 0 --notify 'touch notified' --record rec --thinking high
same "nothing is touched" "$(ls -d not notified rec 2>/dev/null)" ""
check "wrong is wrong" 3 "" "$RONDO" rehearse -q hello.yaml --max-turns many
check "what is no option of either" 3 "" "$RONDO" rehearse -q hello.yaml --modle x
check "a model without a name" 3 "" "$RONDO" run "two keys.yaml" --model ''
says "the name of the model is empty: write provider/model"

# ---- made-up answers that a workflow cannot use ---------------------------------------------------------------------
flow number.yaml <<'F'
name: number
steps: [ { id: n, run: echo 7 }, { id: m, dependsOn: [n], set: { n: int(steps.n.content) } } ]
F
check "a text where a number is wanted" 1 "" "$RONDO" rehearse number.yaml
says "the answers were made up: --commands lets commands run, --script FILE gives those of steps"
check "with what the command says" 0 '{"n":7}' "$RONDO" rehearse --commands number.yaml
grep -q "made up" err && bad "it was not made up: $(cat err)" || ok

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
