# files.sh - a part of tests/cli/zenflow.sh: texts and workflows in other files, and how files are read.

# ---- our own house --------------------------------------------------------------------------------------

f=$own/house.yaml # ZF-E10
checked "$f" "plan build inspect measure repair move_in"
play "a house" 0 "$f" <<<'{ "inspect": "solid" }'
calls 6; ends repair skipped move_in completed move_in.carry completed move_in.unpack completed
lists plan "[System]" "You are an architect who likes wood." "## Task" "Plan a house for five people." "It has a garden." \
    "## Context Files" "### texts/site.md" "The ground is wet in spring."
lists build "You lay stone on stone." "Build it." "### plan (completed)" "### texts/site.md" "### texts/missing.md"
hides build "id: cook" # nor what is beside the folder
lists move_in.carry "## Parent Context" "### measure (completed)"
hides move_in.carry "### repair"
hides move_in.unpack "## Parent Context"
play "a house with cracks" 0 "$f" <<<'{ "inspect": "CRACKS everywhere" }'
calls 7; ends repair completed
lists move_in.carry "## Parent Context" "### repair (completed)" "### measure (completed)"

# ---- workflows in workflows -------------------------------------------------------------------------------

# ZF-B17 ZF-B46: by name and by path, with what the include came to, and its own rules for failures.
flow inc/parts/two.yaml <<'END'
name: two
agents: { inner: { description: "Works inside.", resultSchema: { type: object, required: [ok], properties: { ok: { type: boolean } } } } }
steps:
  - { id: first }
  - { id: second, agent: inner, dependsOn: [first] }
  - { id: third, dependsOn: [first], condition: "steps.second.result.ok == false" }
END
flow inc/flow.yaml <<'END'
name: outer
includes: { again: parts/two.yaml }
steps:
  - { id: before }
  - { id: one, include: again, dependsOn: [before] }
  - { id: two, include: parts/two.yaml }
  - { id: after, dependsOn: [one], condition: "steps.one.result.ok && steps.one.result.innerSteps['one.third'].status == 'skipped' && steps.one.content == 'S'" }
END
play "includes" 0 inc/flow.yaml <<<'{ "before": "B", "second": { "content": "S", "result": { "ok": true } } }'
calls 6; ends one.first completed one.third skipped two.second completed after completed
gives one '{"innerSteps":{"one.first":{"content":"the default agent answers for first (rehearsal of one.first)","status":"completed"},"one.second":{"content":"S","status":"completed"},"one.third":{"content":"","status":"skipped"}},"ok":true}'
lists one.first "## Parent Context" "### before (completed)" "B"
hides two.first "## Parent Context"; hides one.second "### before"

flow inc/failing.yaml <<'END'
name: outer
steps:
  - { id: one, include: parts/fails.yaml, retries: 1 }
  - { id: after, dependsOn: [one] }
options: { onStepFailure: skip-dependents }
END
flow inc/parts/fails.yaml <<'END'
name: fails
steps: [ { id: x }, { id: y, dependsOn: [x] }, { id: z, dependsOn: [y] } ]
END
play "an include that fails" 1 inc/failing.yaml <<<'{ "y": { "fail": "no glue" } }'
ends one failed one.y failed one.z cancelled after skipped; fails one "no glue"; calls 4
play "an include that is tried again" 0 inc/failing.yaml <<<'{ "y": [ { "fail": "no glue" }, "fine" ] }'
ends one~1 completed one~1.x completed one~1.z completed after completed; calls 6
same "the ids" "$("$ndjson" type=step_end stepId=one data.output <events | grep -o '"one[^"]*"' | tr '\n' ' ')" '"one.x" "one.y" "one.z" '

flow inc/loop.yaml <<'END'
name: outer
includes: { two: parts/two.yaml }
steps:
  - { id: l, loop: { maxIterations: 2, steps: [ { id: i, include: two } ] } }
END
play "an include in a loop, by name" 0 inc/loop.yaml <<<'{ "second": { "result": { "ok": true } } }'
calls 4; ends l.0.i.first completed l.1.i.second completed

# ZF-B14 ZF-B15 ZF-B16: five deep and no more, no names twice, nothing from outside of the folder.
mkdir -p deep outside
for i in 1 2 3 4 5 6; do printf 'name: n%s\nsteps: [ { id: s, include: f%s.yaml } ]\n' $i $((i + 1)) >deep/f$i.yaml; done
printf 'name: last\nsteps: [ { id: s } ]\n' >deep/f7.yaml
play "five deep" 0 deep/f2.yaml </dev/null
ends s.s.s.s.s.s completed
refused "six deep" "more than 5 deep" deep/f1.yaml
flow inc/both.yaml <<'END'
name: both
agents: { inner: { description: "Another one." } }
steps: [ { id: a, include: parts/two.yaml } ]
END
refused "an agent in both files" "have an agent 'inner'" inc/both.yaml
cp deep/f7.yaml outside/
ln -sfn ../outside inc/out
ln -sf ../outside/f7.yaml inc/link.yaml
for path in "$PWD/outside/f7.yaml" ../outside/f7.yaml parts/../../outside/f7.yaml out/f7.yaml link.yaml /etc/passwd; do
    printf 'name: t\nsteps: [ { id: a, include: "%s" } ]\n' "$path" >inc/escape.yaml
    refused "an include of $path" "$path: leaves the folder" inc/escape.yaml
    printf 'name: t\nincludes: { x: "%s" }\nsteps: [ { id: a, include: x } ]\n' "$path" >inc/escape.yaml
    refused "an include of $path by name" "$path: leaves the folder" inc/escape.yaml
done

printf 'name: t\nincludes: { x: "" }\nsteps: [ { id: a, include: x } ]\n' >inc/empty.yaml
refused "an include of nothing" "the path is empty" inc/empty.yaml
printf 'name: t\nsteps: [ { id: a, contextFiles: [""] } ]\n' >inc/empty.yaml
same "a context file without a name" "$("$RONDO" check inc/empty.yaml 2>&1 | grep -c 'warning.*: the path is empty')" 1

# ---- texts from files: ZF-B40 -----------------------------------------------------------------------------

mkdir -p at/deep
at_flow() { printf 'name: at\nagents: { w: { description: d, prompt: "%s" } }\nsteps: [ { id: a, agent: w, instructions: "%s" }, { id: l, loop: { maxIterations: 1, steps: [ { id: b, instructions: "%s" } ] } } ]\n' "$1" "$2" "$3" >at/flow.yaml; }
printf 'from a file' >at/text.md
printf '@text.md' >at/deep/near.md # relative to the workflow
at_flow @text.md @deep/near.md @text.md
play "texts from files" 0 at/flow.yaml </dev/null
lists a "[System]" "from a file" "## Task" "from a file"
shows l.0.b "from a file"
for i in $(seq 1 20); do echo "@c$((i + 1)).md" >at/c$i.md; done
echo "the end of it" >at/c21.md
at_flow p @c2.md i
play "twenty files" 0 at/flow.yaml </dev/null
shows a "the end of it"
at_flow p @c1.md i
refused "twenty-one files" "more than 20 files" at/flow.yaml
echo " @two.md " >at/one.md
echo "@deep/../one.md" >at/two.md
at_flow p @one.md i
refused "files in a circle" "leads back to itself" at/flow.yaml
echo "@" >at/empty.md
at_flow p @empty.md i
refused "a file that names no file" "'@' has to be followed" at/flow.yaml
echo secret >outside/secret.md
ln -sf ../outside/secret.md at/link.md
for path in ../outside/secret.md link.md "$PWD/outside/secret.md" none.md deep; do
    at_flow p "@$path" i
    refused "the text @$path" "error[file]: $path: " at/flow.yaml
    at_flow "@$path" i i
    refused "the prompt @$path" "error[file]: $path: " at/flow.yaml
done
xs 1048576 y >at/big.md
at_flow p @big.md i
play "a text of 1 MiB" 0 at/flow.yaml </dev/null
shows a "truncated"
printf y >>at/big.md
refused "a text of more" "big.md: larger than 1048576" at/flow.yaml
long=$(xs 2000 z)
printf 'name: t\nsteps: [ { id: a, instructions: "%s" } ]\n' "$long" >long-text.yaml
play "instructions of 2000 bytes" 0 long-text.yaml </dev/null
printf 'name: t\nsteps: [ { id: a, instructions: "%sz" } ]\n' "$long" >long-text.yaml
refused "one more" '`instructions` have 2001 bytes; at most 2000 are allowed' long-text.yaml
printf 'name: t\nsteps: [ { id: a, instructions: "%sä" } ]\n' "${long:1}" >long-text.yaml
refused "2000 characters, one of two bytes" '`instructions` have 2001 bytes; at most 2000 are allowed' long-text.yaml
printf 'name: t\ndescription: "%sä"\nsteps: [ { id: a, instructions: "%sä" } ]\n' "${long:1}" "${long:2}" >long-text.yaml
refused "a description, too" '`description` has 2001 bytes; at most 2000 are allowed' long-text.yaml
printf 'name: t\ndescription: "%sä"\nsteps: [ { id: a, instructions: "%sä" } ]\n' "${long:2}" "${long:2}" >long-text.yaml
play "both with 2000 bytes" 0 long-text.yaml </dev/null

# ---- what is written how: ZF-B41 ZF-B42 -----------------------------------------------------------

printf 'name: "f\\u00fcr e\\u0301ine"\nsteps: [ { id: a, instructions: "caf\\u0065\\u0301 \\u200bzero\\u2060 \\u0007bell \\ue000private\\ufeff tab\\there" } ]\n' >unicode.yaml
play "characters" 0 unicode.yaml </dev/null
shows a "café zero bell private tab	here" # composed, and without what cannot be seen
same "the name" "$("$ndjson" type=workflow_start message <events)" '"für éine"'
printf 'name: "n\xe2\x80\xa8"\nsteps:\n  - id: a # \xe2\x80\xa9 instructions: none\n    instructions: |\n      one\xc2\x85 line\n      and\xe2\x80\xa8 another\n' >unicode.yaml
checked unicode.yaml a
play "line ends of YAML 1.1" 0 unicode.yaml </dev/null
lists a "one line" "and another"
same "the name" "$("$ndjson" type=workflow_start message <events)" '"n"'
for c in 202a 202e 2066 2069; do
    printf 'name: n\nsteps: [ { id: a, instructions: "x\\u%s" } ]\n' $c >unicode.yaml
    refused "U+$c" "direction" unicode.yaml
done

printf '\357\273\277name: bom\r\nsteps:\r\n  - id: a\r\n    instructions: one # two\r\n  - id: b\r\n    instructions: |\r\n      first\r\n      second # kept\r\n' >edge.yaml
play "BOM, CRLF and comments" 0 edge.yaml </dev/null
shows a "one"; hides a "two"; lists b "first" "second # kept"
if grep -q $'\r' prompts/a.txt prompts/b.txt; then bad "there is a carriage return"; else ok; fi
same "the name" "$("$ndjson" type=workflow_start message <events)" '"bom"'

flow edge.yaml <<'END'
name: 12
description: ~
agents:
  a: &base { description: true, prompt: 3.50, maxTurns: 2 }
  b: { <<: *base, prompt: "own" }
steps:
  - { id: x, agent: a, instructions: 007, dependsOn: null, condition: ~ }
  - { id: y, agent: b, instructions: yes, timeout: null, loop: }
options: ~
---
name: another
steps: [ { id: never } ]
END
play "scalars, nulls, anchors and a second document" 0 edge.yaml </dev/null
calls 2; lists x "3.50" "007"; lists y "own" "yes"
same "the name" "$("$ndjson" type=workflow_start message <events)" '"12"'
printf 'name: t\nsteps:\n\t- id: a\n' >edge.yaml
refused "a tab" "tab" edge.yaml
printf ' \n\n' >edge.yaml
refused "blanks" "empty" edge.yaml
printf 'name: t\nsteps: [ { id: a, id: b } ]\n' >edge.yaml
refused "a key twice" "twice" edge.yaml
printf '{ "name": "json", "steps": [ { "id": "a" } ] } and more' >edge.json
play "JSON with something behind it" 0 edge.json </dev/null
printf '{ "name": 5, "steps": [ { "id": "a" } ] }' >edge.json
refused "a number in JSON" "\`name\` has to be text" edge.json
printf '{ "name": "n", "steps": [ { "id": "a", "step": 1 } ] }' >edge.json
refused "an unknown key in JSON" "unknown key \`step\`" edge.json
{ printf 'name: t\nsteps: [ { id: a } ]\n#'; xs 1048540; } >edge.yaml
play "a file of nearly 1 MiB" 0 edge.yaml </dev/null
xs 100 >>edge.yaml
refused "a file of more" "at most 1048576" edge.yaml
