# within.sh - a run does not answer its own gates: neither a command that it started nor one further inside does.
. "$ROOT/tests/cli/checks"
export RONDO RONDO_STORE=$PWD/store.db NO_COLOR=1 OTHER=$PWD/other.db DIR=$PWD
unset RONDO_RUN RONDO_WITHIN
last_id() { "$RONDO" runs -n 1 --json | jq -r .id; }
start() { "$RONDO" run -q "$1" </dev/null >/dev/null 2>&1; last_id; } # FILE: of a run that then waits
note() { "$RONDO" events "$1" --json | jq -c 'select(.type == "workflow_start").data.value.within'; }
refused() { echo "rondo answer: this command works within run $1 (RONDO_WITHIN): somebody outside of it has to answer its gates"; }

flow gate.yaml <<'F'
name: gate
steps: [{ id: ok, gate: { ask: "on?" } }]
F

# asks NAME COMMAND: a workflow of a gate and, beside it, a command, which sees where it is
asks() {
    flow "$1.yaml" <<F
name: $1
agents: { c: { run: "sh \$DIR/$1.sh 2>&1", env: [RONDO, RONDO_STORE, OTHER, DIR, A, B] } }
steps: [{ id: ok, gate: { ask: "on?" } }, { id: do, agent: c }]
F
    printf '%s\n' "$2" >"$1.sh"
}
named() { "$RONDO" runs --json | jq -r "select(.name == \"$1\").id"; } # the run of the workflow of that name
said() { "$RONDO" show "$1" do --json | jq -r .content; }

# ---- its own --------------------------------------------------------------------------------------------------
asks own '"$RONDO" answer "$RONDO_RUN" ok yes; echo "status $?"; "$RONDO" answer "$RONDO_RUN" | head -1'
id=$(start own.yaml)
same "its own gate" "$(said "$id")" "$(refused "$id")
status 3
ok: on?"
same "nothing is noted" "$(note "$id") $("$RONDO" show "$id" --json | jq -c .about.within)" "null null"
check "somebody outside answers" 0 "" "$RONDO" answer -q "$id" ok yes
check "and it goes on" 0 "$(said "$id")" "$RONDO" resume -q "$id"

# ---- those above, whichever store the runs between are in -----------------------------------------------------
asks top 'A=$RONDO_RUN "$RONDO" run -q "$DIR/middle.yaml" --store "$OTHER" --answers "$DIR/yes.yaml"'
asks middle 'export B="$RONDO_RUN"; "$RONDO" answer "$A" ok yes; "$RONDO" run -q "$DIR/low.yaml" --store :memory: --answers "$DIR/yes.yaml"'
asks low '"$RONDO" answer "$A" ok yes; "$RONDO" answer "$B" ok yes --store "$OTHER"; echo "$RONDO_WITHIN"'
echo 'ok: yes' >yes.yaml
id=$(start top.yaml)
b=$(RONDO_STORE=$OTHER last_id)
said "$id" >out
same "the parent's gate" "$(sed -n 1p out)" "$(refused "$id")"
same "the grandparent's" "$(sed -n 2p out)" "$(refused "$id")"
same "the parent's, of a run in memory" "$(sed -n 3p out)" "$(refused "$b")"
same "what it is told" "$(sed -n 4p out | jq -c '.[1:]')" "[\"$b\",\"$id\"]"
same "what is noted" "$(RONDO_STORE=$OTHER note "$b") $("$RONDO" show "$b" --json --store "$OTHER" | jq -c .about.within)" "[\"$id\"] [\"$id\"]"

# ---- those that it started itself, and those beside it --------------------------------------------------------
asks tests '"$RONDO" run -q "$DIR/gate.yaml"; B=$("$RONDO" runs -n 1 --json | jq -r .id)
"$RONDO" answer -q "$B" ok yes; echo "status $?"; "$RONDO" resume -q "$B"'
start tests.yaml >/dev/null
same "its child's gate" "$(said "$(named tests)" | tail -2)" "status 0
yes"
asks beside '"$RONDO" run -q "$DIR/gate.yaml"; B=$("$RONDO" runs -n 1 --json | jq -r .id)
B=$B "$RONDO" run -q "$DIR/sibling.yaml" --answers "$DIR/yes.yaml"; "$RONDO" resume -q "$B"'
asks sibling '"$RONDO" answer -q "$B" ok "by a sibling"; echo "status $?"'
start beside.yaml >/dev/null
said "$(named beside)" >out
has "status 0"
has "by a sibling"

# ---- programs that are told -----------------------------------------------------------------------------------
"$RONDO" run -q gate.yaml >out 2>&1 --notify 'test "$RONDO_STATUS" = waiting && "$RONDO" answer "$RONDO_RUN" "$RONDO_GATE" yes'
# The run takes the answer at once, or has ended before it came.
check "a program that is told may answer" 0 yes "$RONDO" resume "$(last_id)"
asks told 'A=$RONDO_RUN "$RONDO" run "$DIR/gate.yaml" --notify "\"\$RONDO\" answer \"\$A\" ok yes; \"\$RONDO\" answer -q \"\$RONDO_RUN\" ok \"\$RONDO_STATUS\""
"$RONDO" resume -q "$("$RONDO" runs -n 1 --json | jq -r .id)"'
start told.yaml >/dev/null
id=$(named told)
said "$id" >out
has "$(refused "$id")"
same "and of the run that tells it, inside of another" "$(tail -1 out)" waiting
"$RONDO" run -q own.yaml --answers yes.yaml --notify 'echo "$RONDO_WITHIN"; env | grep -c ^RONDO_RUN=' 2>err >/dev/null
same "of the end, too" "$(tail -2 err | tr '\n' ' ')" "[] 1 "

# ---- the environment alone ------------------------------------------------------------------------------------
a=$(start gate.yaml)
b=$(RONDO_RUN=$a start gate.yaml)
same "what a run finds is noted" "$(note "$b")" "[\"$a\"]"
check "named by RONDO_RUN" 3 "" env RONDO_RUN="$a" "$RONDO" answer "$a" ok yes
check "above the one that it names" 3 "" env RONDO_RUN="$b" "$RONDO" answer "$a" ok yes
says "this command works within run $a"
check "below it" 0 "" env RONDO_RUN="$a" "$RONDO" answer -q "$b" ok yes
check "answers for resume" 3 "" env RONDO_RUN="$a" "$RONDO" resume "$a" --answers yes.yaml
says "rondo resume: this command works within run $a"
check "resuming is nobody's answer" 5 "" env RONDO_RUN="$a" "$RONDO" resume -q "$a"
if command -v tmux >/dev/null; then # in a terminal nobody is asked
    tm() { LC_ALL=C.UTF-8 TERM=screen tmux -L "rondo-within-$$" -f /dev/null "$@"; }
    trap 'tm kill-server 2>/dev/null' EXIT
    tm new-session -d "RONDO_RUN=$a '$RONDO' resume $a; echo \"status \$?\" >'$PWD/done'; exec sleep 1000"
    wait_for done status
    same "in a terminal" "$(cat done)" "status 5"
fi
fork=$(RONDO_RUN=$a "$RONDO" fork "$a" --at ok -q)
same "a fork notes who forked" "$("$RONDO" events "$fork" --json | jq -c 'select(.type == "run_forked").data.within')" "[\"$a\"]"
flow later.yaml <<'F'
name: later
agents: { c: { run: 'echo "$RONDO_WITHIN"' } }
steps: [{ id: ok, gate: { ask: "on?" } }, { id: do, agent: c, dependsOn: [ok] }]
F
b=$(RONDO_RUN=$a start later.yaml)
check "after its process ended" 0 "[\"$b\",\"$a\"]" "$RONDO" resume -q "$b" --answers yes.yaml
b=$(RONDO_RUN=$a start later.yaml)
check "and in another run" 0 "[\"$b\",\"$a\",\"r2\",\"r3\"]" env RONDO_WITHIN='["r2", "r3", "r2"]' \
    "$RONDO" resume -q "$b" --answers yes.yaml

same "and a fork of its own start only" "$("$RONDO" show --json "$("$RONDO" fork "$b" --at ok -q)" | jq -c .about.within)" null

long=$(printf 'r%09999d' 0)
for bad in "$long" '' "$(printf '\377')"; do
    id=$(RONDO_RUN=$bad start gate.yaml)
    same "no id" "$(note "$id")" null
    check "no id hinders nobody" 0 "" env RONDO_RUN="$bad" "$RONDO" answer -q "$id" ok yes
done
for bad in "$long" '{"a":1}' '[1, null, ["'"$a"'"]]' '["'"$long"'"]' "$(printf '[%.0s' $(seq 4000))" nonsense; do
    id=$(RONDO_WITHIN=$bad start gate.yaml)
    same "no list of ids" "$(note "$id")" null
done
check "the run that is named counts then" 3 "" env RONDO_RUN="$a" RONDO_WITHIN=nonsense "$RONDO" answer "$a" ok yes
many=$(seq 500 | jq -cs 'map("r\(.)")')
id=$(RONDO_WITHIN=$many start gate.yaml)
same "no more than can be useful" "$(note "$id" | jq length)" 32

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
