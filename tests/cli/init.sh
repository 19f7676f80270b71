#!/bin/bash
# init.sh - rondo init: every template is right, and nothing is overwritten.
[ -x "$RONDO" ] || { echo "no program"; exit 77; }
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
has() { "$RONDO" help | grep -q "^  $1 "; }
export XDG_DATA_HOME=$PWD/data

templates=$("$RONDO" init --list | cut -d' ' -f1)
[ "$(echo $templates)" = "hello refine foreach" ] && ok || bad "the list: $templates"
choices=$("$RONDO" help init | sed -n 's/.*: \([a-z]*|[a-z|]*\)$/\1/p')
[ "$choices" = "$(echo $templates | tr ' ' '|')" ] && ok || bad "the option offers $choices"
for t in $templates; do
    "$RONDO" init "new/$t" --template $t >out 2>err && ok || bad "$t: $(cat err)"
    grep -q "^  cd new/$t$" out && [ -s "new/$t/README.md" ] && ok || bad "$t: what is printed: $(cat out)"
    "$RONDO" graph "new/$t/flow.yaml" >out 2>err && ok || bad "$t is not right: $(cat err)"
    has run || continue
    "$RONDO" check "new/$t/flow.yaml" >out 2>err && [ ! -s err ] && ok || bad "$t: check: $(cat err)"
    "$RONDO" run "new/$t/flow.yaml" >"answer.$t" 2>err && ok || bad "$t does not run: $(cat err)"
done
if has run; then
    [ "$(cat answer.hello)" = "HELLO, WORLD!" ] && ok || bad "hello says '$(cat answer.hello)'"
    [ "$("$RONDO" run new/hello/flow.yaml --input name='A "b" $x' 2>/dev/null)" = 'HELLO, A "B" $X!' ] && ok || bad "hello with an input"
    grep -q '^A rondo is .*A B A C A\.$' answer.refine && ok || bad "refine says '$(cat answer.refine)'"
    [ "$(grep -c ': [0-9]' answer.foreach)" = 3 ] && ok || bad "foreach says '$(cat answer.foreach)'"
fi

# the default, and this folder
mkdir here && (cd here && "$RONDO" init >out && cmp -s flow.yaml ../new/hello/flow.yaml && ! grep -q '^  cd' out) && ok || bad "here"

# never overwrites, and then writes nothing at all
echo mine >here/flow.yaml
rm here/README.md
"$RONDO" init here >out 2>err
[ $? = 3 ] && grep -q "'here/flow.yaml' is there already" err && ok || bad "overwriting: $(cat err)"
[ "$(cat here/flow.yaml)" = mine ] && [ ! -e here/README.md ] && ok || bad "something was written"
mkdir other && echo mine >other/README.md
"$RONDO" init other >out 2>err
[ $? = 3 ] && [ ! -e other/flow.yaml ] && ok || bad "half a project"
grep -qF "'other/README.md' is there already; nothing was written: move it away, or name another folder" err && ok || bad "what to do: $(cat err)"
for name in 'with space 日本' "it's" -x '-'; do
    "$RONDO" init -- "$name" >out 2>err && ok || bad "init '$name': $(cat err)"
    (eval "$(sed -n 's/^  cd/cd/p' out)" && cmp -s flow.yaml "$OLDPWD/new/hello/flow.yaml") && ok || bad "as it is printed: $(cat out)"
done
echo x >file
"$RONDO" init file/below >out 2>err
[ $? = 3 ] && grep -q "'file/below': Not a directory" err && ok || bad "a folder that cannot be: $(cat err)"
(ulimit -f 0; trap '' XFSZ; "$RONDO" init full >/dev/null 2>&1)
[ $? = 3 ] && [ -z "$(ls -A full)" ] && ok || bad "half a file: $(ls -l full)"
"$RONDO" init $'esc\e[31m' >out 2>err && ! grep -q $'\e' out && ok || bad "an escape sequence: $(cat -v out)"
"$RONDO" init --template nothing x 2>err
[ $? = 3 ] && [ ! -e x ] && ok || bad "an unknown template"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
