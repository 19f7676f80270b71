# readme.sh - the workflows of README.md do what it says, and the first of them lives as it says: killed, resumed, its
# cap raised, spoken to, stopped gently.
set -uo pipefail
. "$ROOT/tests/cli/checks"
. "$ROOT/tests/cli/doc_blocks"
unset ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL RONDO_MODEL
export NO_COLOR=1

# `claude` does one thing a call, and `make test` wants five.
mkdir bin
ln -s "$RONDO" bin/rondo
cat >bin/claude <<'F'
#!/bin/sh
cat >"prompt.$RONDO_PASS"
[ "$*" = "-p --permission-mode acceptEdits" ] || exit 9
[ -e slow ] && until [ -e go ]; do sleep 0.02; done
echo thing >>done
[ -e kill ] && rm kill && kill -9 $PPID
echo "$(wc -l <done) things are done"
F
cat >Makefile <<'F'
test:
	@echo "$$(wc -l <done) of 5"; [ "$$(wc -l <done)" -ge 5 ]
F
chmod +x bin/claude
export PATH=$PWD/bin:$PATH

doc_blocks "$ROOT/README.md"
for file in flow.yaml article.yaml; do
    check "$file is right" 0 "" rondo check "$file"
    same "without a warning" "$(cat err)" ""
    rondo rehearse -q "$file" >out 2>err </dev/null && ok || bad "$file cannot be rehearsed: $(cat err)"
done
check "the second one needs a key" 3 "" rondo run article.yaml
says "ANTHROPIC_API_KEY"
says "rondo rehearse article.yaml"

# ---- the first one, with all that is printed below it ----------------------------------------------------------------
printed() { grep -q "^    $1 *\(#\|$\)" "$ROOT/README.md" && ok || bad "README.md has no '$1'"; }
check "the first one runs" 0 "5 things are done" rondo run flow.yaml
says "loop_end fix until: it held after pass 5 (until: steps.test.status == 'completed')"
same "the agent has read its role" "$(head -1 prompt.0)" \
    "You write code until the tests pass. You leave the tests as they are."
grep -q "1 of 5" prompt.1 && ok || bad "the second pass was not told what the tests have printed: $(cat prompt.1)"

rm done; touch kill
{ rondo run flow.yaml >out 2>err </dev/null; } 2>/dev/null
same "killed" $? 137
printed "rondo resume last"
check "it goes on" 0 "5 things are done" rondo resume last
printed "rondo history last"
check "its loop" 0 "$(rondo history last fix)" rondo history last
has "failed: exit status 2: make:"
has "until: it held after pass 4"

rm done; sed 's/maxIterations: 10/maxIterations: 2/' flow.yaml >capped.yaml
check "its cap is too low" 1 "" rondo run capped.yaml
check "and still too low" 1 "" rondo resume last --limit fix:maxIterations=4
says "loop 'fix' exhausted 4 iterations"
printed "rondo resume last --limit fix:maxIterations=20"
check "again" 0 "5 things are done" rondo resume last --limit fix:maxIterations=20

rm done; touch slow
rondo run flow.yaml >out.slow 2>err.slow </dev/null &
pid=$!
wait_for err.slow "step_start fix.0.code"
printed "rondo send last fix TEXT"
printed "rondo cancel last --after-pass"
check "something is said to it" 0 "" rondo send last fix "Leave the parser alone."
check "it is to stop" 0 "" rondo cancel last --after-pass
touch go
wait $pid
same "it stops" $? 5
check "and goes on" 0 "5 things are done" rondo resume last
grep -q "Leave the parser alone." prompt.1 && ok || bad "the second pass has not heard it: $(cat prompt.1)"
check "which pass has heard it is told" 0 "$(rondo history last)" rondo history last
has "heard in pass 2: [outside] Leave the parser alone."

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
