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

# has NAME TEXT: what the last command said; is NAME GOT EXPECTED
has() { grep -qF -- "$2" err && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAIL $1: no '$2' in"; cat err; }; }
hasnt() { ! grep -qF -- "$2" err && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAIL $1: '$2' in"; cat err; }; }
is() { [ "$2" = "$3" ] && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAIL $1: '$2', expected '$3'"; }; }

# ---- what to type next finds the run, wherever it is kept ----------------------------------------------------------

mkdir -p "hints/it's here"
cd hints || exit
cat >gate.yaml <<'E'
{ rondo: 1, name: asks, steps: [ { id: sure, gate: { ask: "Sure?" } } ] }
E
sed "s|name: asks,|name: asks, options: { store: \"$PWD/opt.db\" },|" gate.yaml >named.yaml
for store in x.db "it's here/x y.db"; do
    "$RONDO" run gate.yaml --store "$store" </dev/null >out 2>err
    is "it waits" $? 5
    answer=$(sed -n 's/^answer with: rondo \(.*\) VALUE\(.*\)/\1 yes\2/p' err)
    go_on=$(sed -n 's/^then go on with: rondo //p' err)
    (eval "\"\$RONDO\" $answer") >out 2>err
    is "the answer as it is printed: $answer" $? 0
    (eval "\"\$RONDO\" $go_on") >out 2>err
    is "then as it is printed: $go_on" "$? $(cat out)" "0 yes"
    id=${go_on#resume } id=${id%% *}
    "$RONDO" fork "$id" --at sure --store "$store" >out 2>err
    go_on=$(sed -n 's/^rondo fork: go on with: rondo //p' err)
    (eval "\"\$RONDO\" $go_on") </dev/null >out 2>err
    is "a fork as it is printed" $? 5
    id=$(sed -n 's/^then go on with: rondo resume \([^ ]*\).*/\1/p' err)
    "$RONDO" send "$id" sure hello --store "$store" >out 2>err
    has "send names the store" "go on with: rondo resume $id --store "
    answer=$("$RONDO" show "$id" --store "$store" | sed -n 's/^answer with: rondo \(.*\) PATH VALUE\(.*\)/\1 sure no\2/p')
    (eval "\"\$RONDO\" $answer") >out 2>err
    is "show names the store: $answer" $? 0
done
"$RONDO" run named.yaml </dev/null >out 2>err
has "the store that the file names" "--store $PWD/opt.db"
mkdir beside
sed 's|name: asks,|name: asks, options: { store: own.db },|' gate.yaml >beside/named.yaml
"$RONDO" run beside/named.yaml </dev/null >out 2>err
is "a store that the file names is beside it" "$(ls own.db beside/own.db 2>/dev/null)" beside/own.db
has "the store beside the file" "--store $PWD/beside/own.db"
"$RONDO" run - <beside/named.yaml >out 2>err
is "a file on stdin names one from where we are" "$(ls own.db 2>/dev/null)" own.db
"$RONDO" run beside/named.yaml --store option.db </dev/null >out 2>err
is "an option is seen from where we are" "$(ls option.db beside/option.db 2>/dev/null)" option.db
RONDO_STORE=$PWD/x.db "$RONDO" run gate.yaml --store x.db </dev/null >out 2>err
hasnt "the store that the command finds itself" "--store"
"$RONDO" run gate.yaml </dev/null >out 2>err
hasnt "the usual store" "--store"

# ---- :memory: is no file, whoever says it ------------------------------------------------------------------------

mkdir empty && cd empty || exit
echo '{ rondo: 1, name: h, agents: { a: { run: [echo, hi] } }, steps: [ { id: s, agent: a, instructions: x } ] }' >../h.yaml
is "a run in memory" "$(RONDO_STORE=:memory: "$RONDO" run -q ../h.yaml)" hi
RONDO_STORE=:memory: "$RONDO" run ../gate.yaml </dev/null >../out 2>../err
is "a gate that cannot wait" $? 3
for command in runs "show r1" "events r1" "resume r1" "rm r1" gc du "export r1" "fork r1 --at s" sessions; do
    RONDO_STORE=:memory: "$RONDO" $command >../out 2>../err
    is "$command: the status" $? 3
    (cd .. && grep -qF "the store is :memory:" err)
    is "$command: told why" $? 0
done
is "nothing was written" "$(ls -A)" ""
cd ../..
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
