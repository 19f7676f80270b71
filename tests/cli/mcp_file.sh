#!/bin/bash
# mcp_file.sh - rondo agent and the servers of .mcp.json, which nobody has named: one question for each, on a terminal.
. "$ROOT/tests/cli/talk_server"
[ -x "${server%/*}/test_mcp" ] || { echo "the servers were not built"; exit 77; }

# servers FILE ARGUMENTS VARIABLES: one server, which leaves a mark when it is started
servers() {
    printf '{"mcpServers":{"x":{"command":"sh","args":["-c","touch \\"$1\\"; exec %s","sh","%s"],"env":{"MCP_MOCK":"",%s}}}}' \
        "${server%/*}/test_mcp" "$2" "$3" >"$1"
}
agent() { "$RONDO" agent -m compat/m --store :memory: "$@" hi; }
was_started() { [ -e "$scratch/started" ] && echo yes; rm -f "$scratch/started"; }
variables='"TOKEN":"env:HOME","PLAIN":"word"'
servers .mcp.json "$scratch/started" "$variables"

# ---- nobody can be asked ------------------------------------------------------------------------------------
serve < <(text "Done.")
check "without a terminal" 0 "Done." agent
says ".mcp.json is not used, because nobody can be asked; --mcp .mcp.json uses it"
same "nothing is started" "$(was_started)" ""
same "nothing is offered" "$(asked 0 '[.tools[].function.name] | map(select(startswith("x__"))) | length')" 0
serve < <(text "Done.")
check "in a sandbox" 0 "Done." agent --sandbox
says ".mcp.json is not used, because there is a sandbox"
same "nothing is started there" "$(was_started)" ""
serve < <(text "Done.")
check "named" 0 "Done." agent --mcp .mcp.json
same "it is started" "$(was_started)" "yes"
serve < <(text "Done.")
check "named in a sandbox" 0 "Done." agent --mcp .mcp.json --sandbox
same "it is started, too" "$(was_started)" "yes"
serve < <(text "Done.")
flow named.yaml <<F
name: named
mcpServers: $(jq -c .mcpServers .mcp.json)
agents: { w: { prompt: p, model: compat/m, tools: [x] } }
steps: [{ id: a, agent: w, instructions: x }]
F
check "of a workflow" 0 "Done." "$RONDO" run -q named.yaml
same "it is started without a question" "$(was_started)" "yes"
echo '{"mcpServers":[]}' >.mcp.json
serve < <(text "Done.")
check "a file that is not used may be broken" 0 "Done." agent
rm .mcp.json && mkdir -m 400 .mcp.json
serve < <(text "Done.")
check "a folder only holds the name" 0 "Done." agent
grep -q mcp err && bad "it is told of" || ok
rmdir .mcp.json

# ---- on a terminal ------------------------------------------------------------------------------------------
command -v tmux >/dev/null || { echo "$passed passed, $failed failed"; exit $((failed > 0)); }
sum=$passed missed=$failed
. "$ROOT/tests/cli/terminal"
passed=$sum failed=$missed
trap 'tm kill-server 2>/dev/null; stop; cd /; rm -rf "$scratch"' EXIT

# asks NAME ANSWER COMMAND...: with a question, and that answer.  silent NAME COMMAND...: without one
in_terminal() {
    serve < <(text "Done.")
    term 250 40 "export COMPAT_BASE_URL=$COMPAT_BASE_URL XDG_DATA_HOME=$XDG_DATA_HOME; $1"
}
asks() {
    in_terminal "$3"
    wait_for "May it be used? [y/n]"
    screen >question
    enter "$2"
    finish
    has "$1" "status 0"
}
silent() {
    in_terminal "$2"
    finish
    has "$1" "status 0"
    hasnt "$1" "[y/n]"
}
shows() { if grep -qF -- "$1" question; then ok; else bad "the question has no '$1':"; cat question; fi; }
command="$RONDO agent -m compat/m --store :memory: hi"

servers .mcp.json "$scratch/started" "$variables"
silent "a sandbox" "$command --sandbox"
same "nothing is started in it" "$(was_started)" ""
silent "nobody is to be asked" "$command -q"
same "nothing is started quietly" "$(was_started)" ""
asks "yes" y "$command"
same "it is started then" "$(was_started)" "yes"
shows "? .mcp.json has the server x, which is not confined:"
shows "command  sh -c 'touch \"\$1\"; exec "
shows "sh $scratch/started"
shows "env      MCP_MOCK, TOKEN (env:HOME), PLAIN"
shows "in       $scratch"
grep -q word question && bad "a value is shown" || ok
silent "one question" "$command --yolo"
same "is enough" "$(was_started)" "yes"
same "the answer is kept for its owner" "$(find data -name pins.json -exec stat -c %a {} +)" 600

servers .mcp.json "$scratch/started" "$variables,\"MORE\":\"1\""
asks "another variable" n "$command --yolo"
same "no" "$(was_started)" ""
silent "no is kept as well" "$command"
same "and it is not started" "$(was_started)" ""
has "no is told" "the server 'x' was refused; --mcp .mcp.json uses it"
servers .mcp.json "$scratch/started" '"TOKEN":"env:HOME","PLAIN":"other"'
asks "another value" n "$command"
servers .mcp.json "$scratch/other" "$variables"
asks "another argument" n "$command"
same "was not started" "$([ -e other ] && echo yes)" ""
servers .mcp.json "$scratch/started" "$variables"
mkdir elsewhere
asks "another folder" n "$command --workdir elsewhere"
cp .mcp.json elsewhere
asks "another file" n "(cd elsewhere && $command)"
silent "what was agreed to still is" "$command"
same "and is started" "$(was_started)" "yes"

printf '{"mcpServers":{"x\\u001b[2J":{"url":"http://127.0.0.1:1/\\u001b]0;t\\u0007a","headers":{"Key":"Bearer env:HOME"}}}}' >.mcp.json
asks "an address" n "$command"
shows "? .mcp.json has the server x, which"
shows "url      'http://127.0.0.1:1/a'"
shows "headers  Key (env:HOME)"
head -c 5000 /dev/zero | tr '\0' a >long
printf '{"mcpServers":{"x":{"command":"sh","args":["%s"]}}}' "$(cat long)" >.mcp.json
in_terminal "$command"
finish
has "what cannot be shown" "the server 'x' is too long to be shown"
has "is an error" "status 3"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
