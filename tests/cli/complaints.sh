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

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
