#!/bin/bash
# check.sh - rondo check on workflow files: exit status, and what is printed where.
[ -x "$RONDO" ] || { echo "no program"; exit 77; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }

passed=0 failed=0
expect() { # name, status, stdout, stderr, command...
    local name=$1 status=$2 out=$3 err=$4 rc
    shift 4
    "$@" >out 2>err
    rc=$?
    if [ $rc -eq "$status" ] && [ "$(cat out)" = "$out" ] && [ "$(cat err)" = "$err" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name: exit status $rc"
        cat out err
    fi
}

cat >good.yaml <<'END'
name: good
steps:
  - { id: b, dependsOn: [a] }
  - { id: a }
END
cat >bad.yaml <<'END'
rondo: 1
name: bad
agents:
  writer: { description: d }
steps:
  - id: draft
    agent: writr
    loop:
      maxIterations: 3
      untl: steps.draft.content == ""
END
cat >warned.yaml <<'END'
name: warned
steps: [{ id: a, include: none.yaml }]
END

expect "a good file" 0 "" "" "$RONDO" check good.yaml
expect "a good file as JSON" 0 \
    '{"file":"good.yaml","valid":true,"name":"good","dialect":"v1","steps":2,"order":["a","b"],"errors":[],"warnings":[]}' \
    "" "$RONDO" check --json good.yaml
expect "a bad file" 2 "" "bad.yaml:7:12: error[missing_agent]: there is no agent 'writr'
    7 |     agent: writr
      |            ^~~~~
      = did you mean 'writer'?
bad.yaml:10:7: error[validation]: unknown key \`untl\` in a loop
   10 |       untl: steps.draft.content == \"\"
      |       ^~~~
      = did you mean \`until\`?" "$RONDO" check bad.yaml
expect "several files" 2 "" "$(cat err)" "$RONDO" check good.yaml bad.yaml good.yaml
expect "a bad file as JSON" 2 \
    '{"file":"bad.yaml","valid":false,"errors":[{"file":"bad.yaml","line":7,"column":12,"severity":"error","code":"missing_agent","message":"there is no agent '"'writr'"'","hint":"did you mean '"'writer'"'?"},{"file":"bad.yaml","line":10,"column":7,"severity":"error","code":"validation","message":"unknown key `untl` in a loop","hint":"did you mean `until`?"}],"warnings":[]}' \
    "" "$RONDO" check --json bad.yaml
cat >misfit.yaml <<'END'
rondo: 1
name: misfit
agents:
  a: { script: [{ result: { n: x } }], resultSchema: { properties: { n: { type: integer } } } }
steps: [{ id: b, agent: a }]
END
expect "a reply that does not fit" 0 "" "misfit.yaml:4:32: warning[schema]: the reply does not fit the \`resultSchema\` of 'a': n: expected integer, got \"x\"
    4 |   a: { script: [{ result: { n: x } }], resultSchema: { properties: { n: { type: integer } } } }
      |                                ^
      = the step fails then; to try that, say so: { fail: { code: schema } }" "$RONDO" check misfit.yaml
expect "standard input" 0 "" "" "$RONDO" check - <good.yaml
expect "a pipe" 0 "" "" "$RONDO" check <(cat good.yaml)
expect "JSON with an escape of its own" 0 "" "" "$RONDO" check - < <(echo '{"name":"\ud83c\udfb5","steps":[{"id":"a"}]}')
expect "what is only a warning" 0 "" "warned.yaml:2:27: warning[file]: none.yaml: No such file or directory
    2 | steps: [{ id: a, include: none.yaml }]
      |                           ^~~~~~~~~" "$RONDO" check warned.yaml
expect "a file that is not there" 2 "" "none.yaml: error[file]: No such file or directory" "$RONDO" check none.yaml
echo '{ "name": 5, "steps": [{ "id": "a" }] }' >strict.json
expect "JSON is taken at its word" 2 "" "strict.json:1:11: error[validation]: \`name\` has to be text, not 5
    1 | { \"name\": 5, \"steps\": [{ \"id\": \"a\" }] }
      |           ^" "$RONDO" check strict.json
printf 'name: x\nagents:\n  w: { description: "漢字 e\xcc\x81\t🎵", modl: 漢字 }\nsteps: [{ id: a }]\n' >wide.yaml
expect "the caret stands below wide characters" 2 "" "wide.yaml:3:32: error[validation]: unknown key \`modl\` in an agent
    3 |   w: { description: \"漢字 é	🎵\", modl: 漢字 }
      |                            	     ^~~~
      = did you mean \`model\`?" "$RONDO" check wide.yaml
printf 'name: x\nsteps: [{ id: 漢字 }]\n' >wide.yaml
expect "wide characters are underlined" 2 "" "wide.yaml:2:15: error[invalid_step_id]: the id '漢字' has to begin with a letter and have only letters, digits, - and _
    2 | steps: [{ id: 漢字 }]
      |               ^~~~" "$RONDO" check wide.yaml
{
    printf 'rondo: 1\nname: many\nsteps:\n  - { id: bad, instructions: "${bad}" }\n  - id: m\n    machine:\n      start: s0\n'
    printf '      edges: [{ from: s0, to: end }'
    printf ', { from: s%d, to: end }' $(seq 299)
    printf ']\n      states:\n'
    printf '        s%d: { instructions: x }\n' $(seq 0 299)
} >many.yaml
{
    printf 'name: many\nsteps:\n  - id: a\n    loop:\n      maxIterations: 2\n      steps:\n'
    printf '        - { id: a%d, agent: none }\n' $(seq 700)
    printf '  - { id: b }\n  - { id: b }\n'
} >first.yaml
{
    printf 'rondo: 1\nname: many\nsteps:\n  - &s { id: a, instructions: "${bad}", timeout: 5x }\n'
    printf '  - { <<: *s, id: a%d }\n' $(seq 400)
} >same.yaml
expect "many that are the same do not hide others, nor where they are" 0 "same.yaml:4:34: error[cel]: hole: undeclared reference to 'bad'" "" \
    grep cel <("$RONDO" check same.yaml 2>&1)
sum='"\(.errors | length) \(.errors[0].code) \(.warnings | length) \(.more)"'
expect "many warnings do not hide an error" 0 "1 cel 200 99" "" jq -r "$sum" <("$RONDO" check --json many.yaml)
expect "many errors do not hide the first" 0 "200 duplicate_step 0 501" "" jq -r "$sum" <("$RONDO" check --json first.yaml)
expect "what is left out is counted" 0 "... and 501 more" "" tail -1 <("$RONDO" check first.yaml 2>&1)
expect "no file" 3 "" "$("$RONDO" check 2>&1)" "$RONDO" check

# Files beside the workflow stay in its folder, whatever the links say.
mkdir -p flow/parts secret
echo 'name: part
steps: [{ id: x }]' >flow/parts/part.yaml
cp flow/parts/part.yaml secret/part.yaml
ln -s ../secret flow/out
ln -s parts/part.yaml flow/in.yaml
status() { # name, status, what to include
    printf 'rondo: 1\nname: a\nsteps: [{ id: a, include: "%s" }]\n' "$3" >flow/flow.yaml
    "$RONDO" check flow/flow.yaml >out 2>&1
    if [ $? -eq "$2" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $1"; cat out; fi
}
status "a file below" 0 parts/part.yaml
status "a link inside" 0 in.yaml
status "a way up and down again" 0 parts/../in.yaml
status "out of the folder" 2 ../secret/part.yaml
status "a link out of the folder" 2 out/part.yaml
status "an absolute path" 2 /etc/passwd
status "a folder" 2 parts
status "the file itself" 2 flow.yaml
echo 'name: wrong' >flow/parts/wrong.yaml
status "a file below that is wrong" 2 parts/wrong.yaml
if grep -q '^flow/parts/wrong.yaml:1:1: error' out; then passed=$((passed + 1)); else failed=$((failed + 1)); cat out; fi

# Files that steps are shown: not there is an error where nothing could have written them before.
mkdir -p flow/docs && echo x >flow/docs/there.md
context() { # name, status, errors, warnings, dialect, step
    printf '%s\nname: a\nagents: { w: { description: d } }\nsteps: [{ id: z, agent: w }, %s]\n' "$5" "$6" >flow/flow.yaml
    "$RONDO" check flow/flow.yaml >out 2>&1
    if [ "$? $(grep -c 'error\[file\]' out) $(grep -c 'warning\[file\]' out)" = "$2 $3 $4" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1"
        cat out
    fi
}
context "context files that are there" 0 0 0 "rondo: 1" '{ id: a, agent: w, contextFiles: [docs/there.md] }'
context "one that is a folder" 2 1 0 "rondo: 1" '{ id: a, agent: w, contextFiles: [docs/there.md, docs] }'
context "one that is not" 2 1 0 "rondo: 1" '{ id: a, agent: w, contextFiles: [docs/there.md, none.md] }'
context "one outside of the folder" 2 1 0 "rondo: 1" '{ id: a, agent: w, contextFiles: [../good.yaml] }'
context "one outside of the folder, behind another step" 0 0 1 "rondo: 1" '{ id: a, agent: w, dependsOn: [z], contextFiles: [/etc/passwd] }'
context "one that a step before may write" 0 0 1 "rondo: 1" '{ id: a, agent: w, dependsOn: [z], contextFiles: [none.md] }'
context "one in a loop" 0 0 1 "rondo: 1" '{ id: a, loop: { maxIterations: 2, steps: [{ id: x, agent: w, contextFiles: [none.md] }] } }'
context "one in a group" 2 1 0 "rondo: 1" '{ id: a, steps: [{ id: x, agent: w, contextFiles: [none.md] }] }'
context "one in a state that is not the first" 0 0 1 "rondo: 1" '{ id: a, machine: { start: x, states: { x: { agent: w }, y: { agent: w, contextFiles: [none.md] } }, edges: [{ from: x, to: y }, { from: y, to: end }] } }'
context "one of a step that comes after a failure" 0 0 1 "rondo: 1" '{ id: a, agent: w, runOn: failure, contextFiles: [none.md] }'
context "one with a hole, which is none there" 2 1 0 "rondo: 1" '{ id: a, agent: w, contextFiles: ["${x}.md"] }'
context "one in v1" 0 0 1 "description: d" '{ id: a, agent: w, contextFiles: [none.md] }'

# Every circle, each once; those who only wait for one are in none.
cat >circles.yaml <<'END'
name: circles
steps:
  - { id: z, dependsOn: [a] }
  - { id: a, dependsOn: [b] }
  - { id: b, dependsOn: [a] }
  - { id: c, dependsOn: [c] }
  - { id: d, dependsOn: [e, b] }
  - { id: e, dependsOn: [d] }
END
expect "circles" 2 "" "circles.yaml:4:11: error[cycle]: steps wait for each other: a -> b -> a
    4 |   - { id: a, dependsOn: [b] }
      |           ^
circles.yaml:6:11: error[cycle]: steps wait for each other: c -> c
    6 |   - { id: c, dependsOn: [c] }
      |           ^
circles.yaml:7:11: error[cycle]: steps wait for each other: d -> e -> d
    7 |   - { id: d, dependsOn: [e, b] }
      |           ^" "$RONDO" check circles.yaml

# Only the first document counts; whoever writes more is told.
printf 'name: one\nsteps: [{ id: a }]\n--- # two\n# nothing\n...\n' >marks.yaml
expect "markers and comments behind the document" 0 "" "" "$RONDO" check marks.yaml
printf 'name: one\nsteps: [{ id: a }]\n---\n# two\n  untl: [\n' >two.yaml
expect "a second document" 0 "" "two.yaml:5:3: warning[validation]: only the first document of a file is read; this is in another one
    5 |   untl: [
      |   ^" "$RONDO" check two.yaml

# Every example is valid.
for f in "$ROOT"/examples/*.yaml; do
    expect "${f##*/}" 0 "" "" "$RONDO" check "$f"
done
# A file of nothing but holes is refused, and does not take all the memory: 240,000 of them, in 256 MB.
{
    printf 'rondo: 1\nname: h\nagents: {a: {script: [x]}}\nsteps: [{id: s, agent: a, instructions: "'
    head -c 960000 /dev/zero | sed 's/\x00\x00\x00\x00/${1}/g'
    printf '"}]\n'
} >holes.yaml
([ -n "$SAN" ] || ulimit -v 262144; "$RONDO" check holes.yaml) >out 2>err
if [ $? = 2 ] && [ "$(grep -c 'error\[' err)" = 1 ] && grep -q "more than 100000 expressions" err; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "FAIL holes"
    head -c 1000 err
fi

# However many texts agents have, what steps name is looked at.
{
    printf 'rondo: 1\nname: many\nagents:\n'
    seq -f "  a%.0f: { run: [echo, '\${steps.s.content}'] }" 1200
    printf 'steps:\n  - { id: s, set: { x: "1" } }\n'
    seq 1200 | sed 's/.*/  - { id: s&, agent: a&, dependsOn: [s] }/'
    printf "  - { id: z, agent: a1, instructions: '\${steps.nope.content}' }\n"
} >many.yaml
"$RONDO" check many.yaml >out 2>&1
if grep -q "there is no step 'nope'" out; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL many texts of agents"; head -5 out; fi

# ---- commands that are not there ------------------------------------------------------------------------------
mkdir -p tools/sub && printf '#!/bin/sh\necho made\n' >tools/made && chmod +x tools/made && echo >tools/plain
cat >commands.yaml <<'F'
rondo: 1
name: commands
agents:
  a: { run: [./generate] }
  b: { run: [./tools/plain] }
  c: { run: [no-such-command-3b1f] }
  d: { run: [./made], cwd: tools }
  e: { run: [../made], cwd: tools/sub }
  f: { run: [./unknown], cwd: "${inputs.where}" }
  g: { run: [./unknown], cwd: not/there/yet }
  h: { run: [no-such-command-3b1f], env: { PATH: /opt/mine/bin } }
  i: { run: "no-such-command-3b1f" }
  j: { run: [echo, hi] }
  k: { run: [./nobody-uses-it] }
  l: { run: [./made-by-a] }
  m: { run: [./told-to-be-made] }
  n: { run: [no-such-command-3b1f, x] }
  o: { run: "cd tools && no-such-command-4b1f | sort" }
  p: { run: "./not-there && echo" }
  q: { run: [no-such-command-3b1f] }
  r: { run: "command -v no-such-command-3b1f || echo" }
inputs: { where: { type: string, default: . } }
steps:
  - id: first
    parallel:
      steps: [{ id: a, agent: a }, { id: b, agent: b }, { id: c, agent: c }, { id: d, agent: d }, { id: e, agent: e },
              { id: f, agent: f }, { id: g, agent: g }, { id: h, agent: h }, { id: i, agent: i }, { id: j, agent: j }]
  - { id: last, agent: l, dependsOn: [first] }
  - { id: make, instructions: "Write told-to-be-made." }
  - id: again
    dependsOn: [make]
    loop:
      maxIterations: 2
      steps: [{ id: m, agent: m }, { id: n, agent: n, dependsOn: [m] }, { id: o, agent: o, dependsOn: [n] }, { id: r, agent: r }]
  - { id: line, agent: p }
  - { id: perhaps, agent: q, condition: "inputs.where == 'x'" }
F
"$RONDO" check commands.yaml >out 2>err; rc=$?
is=$(grep -h "warning\[file\]" out err | sed 's/^[^:]*://')
want="4:14: warning[file]: command './generate' not found
5:14: warning[file]: command './tools/plain' is not executable
6:14: warning[file]: command 'no-such-command-3b1f' not found
10:31: warning[file]: not/there/yet: there is no such folder
12:14: warning[file]: command 'no-such-command-3b1f' not found
15:14: warning[file]: command './made-by-a' not found
17:14: warning[file]: command 'no-such-command-3b1f' not found
18:26: warning[file]: command 'no-such-command-4b1f' not found
19:14: warning[file]: command './not-there' not found"
if [ "$rc $is" = "0 $want" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL commands that are not there: $rc"; cat out err; fi
"$RONDO" rehearse -q commands.yaml >out 2>err; rc=$?
if [ "$rc$(cat err)" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL nobody else minds: $rc"; cat err; fi

# ---- what commands were promised -----------------------------------------------------------------------------
echo key >tools/key
cat >needs.yaml <<'F'
rondo: 1
name: needs
agents:
  a: { run: [echo], env: { A: "env:NOT_SET_3B1F", B: "env:HOME", C: "$NOT_SET_3B1F", D: plain } }
  b: { run: [echo], env: { A: "file:nope", B: "file:tools/key", C: "file:/not/there", D: "file:../needs/tools/key" } }
  c: { run: [echo], cwd: tools/key }
  d: { run: [echo], cwd: tools }
  e: { run: [echo], cwd: "tools/${inputs.where}" }
  f: { run: [echo], env: [NOT_SET_3B1F] }
  g: { run: [echo], cwd: nodir, env: { A: "file:made-by-a" } }
  h: { run: [echo], cwd: nodir, env: { A: "env:NOT_SET_3B1F" } }
inputs: { where: { type: string, default: nowhere } }
steps:
  - id: first
    parallel:
      steps: [{ id: a, agent: a }, { id: b, agent: b }, { id: c, agent: c }, { id: d, agent: d }, { id: e, agent: e },
              { id: f, agent: f }]
  - { id: last, agent: g, dependsOn: [first] }
F
mkdir -p needs && mv needs.yaml tools needs
unset NOT_SET_3B1F
"$RONDO" check needs/needs.yaml >out 2>err; rc=$?
is=$(grep -h "warning\[file\]" out err | sed 's/^[^:]*://')
want="4:31: warning[file]: the variable 'NOT_SET_3B1F' is not set
5:31: warning[file]: nope: this file cannot be read: No such file or directory
5:68: warning[file]: /not/there: this file cannot be read: No such file or directory
6:26: warning[file]: tools/key: there is no such folder"
if [ "$rc $is" = "0 $want" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL what commands were promised: $rc"; cat out err; fi
"$RONDO" rehearse -q needs/needs.yaml >out 2>err; rc=$?
if [ "$rc$(cat err)" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL and nobody else minds: $rc"; cat err; fi

# ---- budgets around commands ---------------------------------------------------------------------------------
mkdir -p money/sub && printf '#!/bin/sh\necho "{}" >$RONDO_%s\n' REPLY >money/tells.sh && echo 'echo quiet' >money/quiet.sh
budget() { # name, warnings of check, what the agent has, options of the run
    printf 'rondo: 1\nname: m\nagents: { c: { %s } }\nsteps: [{ id: s, agent: c, budget: { cost: 1 } }]\n' "$3" >money/m.yaml
    "$RONDO" check money/m.yaml >out 2>&1
    if [ "$? $(grep -c 'warning.*nothing counts towards' out)" = "0 $2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1"
        cat out
    fi
}
budget "a command that says nothing" 1 'run: [sh, quiet.sh]'
budget "a script that tells what it used" 0 'run: [sh, tells.sh]'
budget "the same in a line" 0 'run: "cat x; sh ./tells.sh >y"'
budget "the same in another folder" 0 'run: [sh, ../tells.sh], cwd: sub'
budget "a script that is not there" 1 'run: [sh, none.sh]'
budget "a model" 0 'model: openai/gpt-5'

once() { # name, how often the run says it, arguments
    local name=$1 count=$2
    shift 2
    "$RONDO" run --store :memory: "$@" >out 2>err
    if [ "$? $(grep -c 'nothing counts towards' err)" = "0 $count" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        cat err
    fi
}
cat >money/two.yaml <<'F'
rondo: 1
name: two
budget: { tokens: 100, cost: 1 }
agents: { c: { run: [echo] } }
steps: [{ id: a, agent: c }, { id: b, agent: c }]
F
once "the run says it once" 1 money/two.yaml
once "and not when it is to be quiet" 0 -q money/two.yaml
sed '/^budget/d' money/two.yaml >money/none.yaml
once "a limit on the command line" 1 --max-tokens 100 money/none.yaml
once "no limit" 0 money/none.yaml
"$RONDO" rehearse --max-tokens 100 money/none.yaml >out 2>err
if grep -q 'nothing counts towards' err; then failed=$((failed + 1)); echo "FAIL a rehearsal costs nothing"; else passed=$((passed + 1)); fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
