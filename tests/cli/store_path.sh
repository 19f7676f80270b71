#!/bin/bash
# store_path.sh - which store is used: the given one, the project's, the user's own.
[ -x "$RONDO" ] || { echo "no program"; exit 77; }
passed=0 failed=0
top=$PWD
unset RONDO_STORE XDG_DATA_HOME
export HOME=$top/home
mkdir -p home data project/.rondo project/deep/er other plain

# says NAME EXPECTED FOLDER [ENV...]: the store that rondo doctor tells of there
says() {
    local name=$1 want=$2 folder=$3 got
    shift 3
    got=$(cd "$folder" && env "$@" "$RONDO" doctor | sed -n 's/^..  store  *//p')
    [ "$got" = "$want" ] && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAIL $name: '$got', expected '$want'"; }
}

says "the user's own" "$HOME/.local/share/rondo/rondo.db" plain
says "XDG_DATA_HOME" "$top/data/rondo/rondo.db" plain XDG_DATA_HOME="$top/data"
says "a relative XDG_DATA_HOME means nothing" "$HOME/.local/share/rondo/rondo.db" plain XDG_DATA_HOME=data
says "RONDO_STORE" "$top/x.db" project RONDO_STORE="$top/x.db" XDG_DATA_HOME="$top/data"
says "an empty RONDO_STORE is none" "$HOME/.local/share/rondo/rondo.db" plain RONDO_STORE=
says "a relative RONDO_STORE" "x.db" plain RONDO_STORE=x.db
says "the project" "$top/project/.rondo/rondo.db" project
says "the project, from inside of it" "$top/project/.rondo/rondo.db" project/deep/er XDG_DATA_HOME="$top/data"
: >other/.rondo
says "a file .rondo is no project" "$HOME/.local/share/rondo/rondo.db" other
rm other/.rondo && ln -s ../project/.rondo other/.rondo
says "nor is a link" "$HOME/.local/share/rondo/rondo.db" other
says "nowhere" "HOME is not set: say where the store is with --store PATH" plain -u HOME
mkdir -p locked
chmod 500 locked
[ -w locked ] || says "not writable" "$top/locked/x.db cannot be written: Permission denied" plain RONDO_STORE="$top/locked/x.db"
if [ "$(id -u)" = 0 ]; then
    mkdir -p foreign/.rondo && chown 12345 foreign/.rondo
    says "somebody else's .rondo is no project" "$HOME/.local/share/rondo/rondo.db" foreign
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
