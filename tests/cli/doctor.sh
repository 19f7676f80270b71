#!/bin/bash
# doctor.sh - rondo doctor: names of keys but no values, and an exit status that means something.
[ -x "$RONDO" ] || { echo "no program"; exit 77; }
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }

OPENAI_API_KEY=sk-secret-1234 ANTHROPIC_API_KEY=other-secret "$RONDO" doctor >out 2>err && ok || bad "exit status: $(cat out err)"
grep -q 'model keys .*ANTHROPIC_API_KEY, OPENAI_API_KEY' out && ok || bad "keys: $(cat out)"
grep -q secret out err && bad "a value was told" || ok
for what in rondo libuv jansson libyaml PCRE2 SQLite libcurl shell store Landlock seccomp sandbox bubblewrap "paths of tools" Graphviz; do
    grep -qE "^(ok|--|!!)  $what  *[^ ]" out && ok || bad "$what is not told"
done
OPENAI_API_KEY=sk-secret-1234 "$RONDO" doctor --json >json && ok || bad "--json"
grep -q secret json && bad "a value was told" || ok
[ "$("$RONDO" eval "works && checks.exists(c, c.name == 'libuv' && c.status == 'ok') && checks.all(c, c.detail != '')" --data json)" = true ] &&
    ok || bad "as JSON: $(cat json)"
# A store that cannot be used is none.
echo "not a store, but a text of some length that nobody would take for a header; it goes on and on and on and on" >text
mkdir folder
for store in /proc/x/y "$PWD/folder" "$PWD/text" "$PWD/text/x.db"; do
    RONDO_STORE=$store "$RONDO" doctor | grep -q "^--  store  .*$store" && ok || bad "the store $store: $(RONDO_STORE=$store "$RONDO" doctor)"
done
RONDO_STORE=$PWD/folder/new/x.db "$RONDO" doctor | grep -q '^ok  store' && [ -z "$(ls -A folder)" ] && ok || bad "a new store: $(ls -A folder)"
RONDO_STORE=:memory: "$RONDO" doctor | grep -q '^ok  store  *:memory:' && ok || bad "no store"
TMPDIR=$PWD/none "$RONDO" doctor >out
[ $? = 1 ] && grep -q '^!!  temporary files .*none: No such file' out && ok || bad "nowhere to write: $(cat out)"
TMPDIR=$PWD/none "$RONDO" doctor --json >json
[ $? = 1 ] && [ "$("$RONDO" eval '!works' --data json)" = true ] && ok || bad "nowhere to write, as JSON"
# What it says of sandboxes is what happens.
cat >box.yaml <<'E'
rondo: 1
name: box
agents: { a: { run: [echo, fine], sandbox: {} } }
steps: [ { id: s, agent: a, instructions: x } ]
E
"$RONDO" run -q box.yaml --store :memory: >out 2>&1 </dev/null
status=$?
"$RONDO" doctor | grep -q '^..  sandbox  *files' && can=0 || can=3
[ $status = $can ] && ok || bad "the sandbox: status $status, and it says $("$RONDO" doctor | grep sandbox)"
PATH=$PWD/empty "$RONDO" doctor | grep -q '^--  Graphviz .*not installed' && ok || bad "no Graphviz"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
