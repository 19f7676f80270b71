# make.sh - what make says where the packages are not there.
. "$ROOT/tests/cli/checks"
mkdir none && printf '#!/bin/sh\nexit 1\n' >none/pkg-config && chmod +x none/pkg-config
try() { PATH=$PWD/none:$PATH make -n -C "$ROOT" B="$PWD/build" "$@"; }

try all >out 2>err && bad "it makes something of nothing"
says "packages that rondo needs are missing: run \`make bootstrap\`"
same "and says no more" "$(wc -l <err)" 1
for goal in help clean; do
    try $goal >out 2>err && [ ! -s err ] && ok || bad "make $goal: $(cat err)"
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
