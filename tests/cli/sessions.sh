# sessions.sh - runs that share state and memory: what is handed on, what a crash leaves, searching, forgetting.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export NO_COLOR=1 RONDO_STORE=$PWD/store/rondo.db
. "$ROOT/tests/cli/checks"

# holds SESSION JSON: its state and the entries of its memory
holds() {
    local is
    is=$("$RONDO" sessions "$1" --json 2>err | jq -cS '[.state, (.memory | map_values(map(.entry)))]')
    if [ "$is" = "$2" ]; then ok; else bad "session $1 holds $is, wanted $2"; cat err; fi
}
run() { "$RONDO" run -q "$@"; }

flow count.yaml <<'END'
name: count
agents: { echoes: { run: [echo, "said ${state.n}"], memory: talk } }
steps:
  - id: up
    set: { n: "state.?n.orValue(0) + 1", "user:u": "'kept'", "app:a": "[1, 2]", "temp:t": "'dropped'" }
  - { id: say, dependsOn: [up], agent: echoes, instructions: "${has(state.temp) ? 'bad' : 'x'}" }
END

# ---- R14: state and memory are handed on -----------------------------------------------------------------

check "the first run" 0 "said 1" run count.yaml --session s
check "the second goes on" 0 "said 2" run count.yaml --session s
check "another session does not" 0 "said 1" run count.yaml --session other
check "no session, nothing shared" 0 "said 1" run count.yaml
holds s '[{"app:a":[1,2],"n":2,"user:u":"kept"},{"talk":["said 1","said 2"]}]'
holds other '[{"app:a":[1,2],"n":1,"user:u":"kept"},{"talk":["said 1"]}]'

# The prompt shows the newest five, the oldest first.
flow look.yaml <<'END'
name: look
agents: { looks: { run: "sed -n '/^## Memory/,/^## Task/p' | grep said | tr '\n' ';'", memory: talk } }
steps: [ { id: look, agent: looks, instructions: "Look." } ]
END
for n in 3 4 5 6; do run count.yaml --session s >/dev/null; done
check "the newest five" 0 "said 2;said 3;said 4;said 5;said 6;" run look.yaml --session s

# Removing a key, and a run that fails: what it wrote before stays.
flow drop.yaml <<'END'
name: drop
agents: { bad: { run: ["false"] } }
steps:
  - { id: drop, set: { n: "null", "user:u": "'new'" } }
  - { id: fail, dependsOn: [drop], agent: bad, instructions: x }
END
check "a run that fails" 1 "" run drop.yaml --session other
holds other '[{"app:a":[1,2],"user:u":"new"},{"talk":["said 1"]}]'

# ---- files inside others: their state is their own, memory is everybody's ---------------------------

flow inner.yaml <<'END'
name: inner
agents: { echoes: { run: [echo, "inner ${state.n}"], memory: talk } }
steps:
  - { id: up, set: { n: "100", only: "true" } }
  - { id: say, dependsOn: [up], agent: echoes, instructions: x }
END
flow outer.yaml <<'END'
name: outer
includes: { inner: ./inner.yaml }
steps:
  - { id: up, set: { n: "7" } }
  - { id: sub, dependsOn: [up], include: inner }
END
check "a file inside" 0 "inner 100" run outer.yaml --session nested
holds nested '[{"n":7},{"talk":["inner 100"]}]'

# ---- loops: the session loses what the loop lets go of, and nothing else ----------------------------

flow window.yaml <<'END'
name: window
agents: { echoes: { run: [echo, "pass ${iteration}"], memory: talk } }
steps:
  - id: turn
    loop:
      maxIterations: 5
      memoryMode: window
      memoryWindow: 2
      steps: [ { id: say, agent: echoes, instructions: x } ]
END
check "a window" 0 "pass 4" run window.yaml --session nested
holds nested '[{"n":7},{"talk":["inner 100","pass 2","pass 3","pass 4"]}]'
sed 's/memoryMode: window/memoryMode: fresh/; /memoryWindow/d; s/name: window/name: fresh/' window.yaml >fresh.yaml
check "a fresh one leaves the other run's" 0 "pass 4" run fresh.yaml --session nested
holds nested '[{"n":7},{"talk":["inner 100","pass 2","pass 3","pass 4","pass 4"]}]'

# ---- a crash between: nothing is lost, nothing is there twice ----------------------------------------

flow crash.yaml <<'END'
name: crash
agents:
  notes: { run: [echo, "note ${state.n}"], memory: talk }
  dies: { run: "if [ -e died ]; then echo went on; else echo $RONDO_RUN >died; kill -9 $PPID; sleep 60; fi", memory: talk }
steps:
  - { id: up, set: { n: "state.?n.orValue(0) + 1" } }
  - { id: note, dependsOn: [up], agent: notes, instructions: x }
  - { id: die, dependsOn: [note], agent: dies, instructions: x }
END
rm -f died
run crash.yaml --session crash >out 2>err
[ -e died ] && ok || bad "the run did not get as far as its end"
holds crash '[{"n":1},{"talk":["note 1"]}]'
id=$(cat died)
run count.yaml --session crash >/dev/null # somebody else changes the session meanwhile
check "it goes on" 0 "went on" "$RONDO" resume -q "$id"
holds crash '[{"app:a":[1,2],"n":2,"user:u":"kept"},{"talk":["note 1","said 2","went on"]}]'

# ---- several at once ----------------------------------------------------------------------------------

flow slow.yaml <<'END'
name: slow
inputs: { who: { type: string } }
agents: { echoes: { run: [sh, -c, "sleep 0.1; echo $0", "${inputs.who}"], memory: talk } }
steps:
  - { id: a, agent: echoes, instructions: x }
  - { id: b, dependsOn: [a], agent: echoes, instructions: x }
END
pids=
for who in 1 2 3 4; do run slow.yaml --session many --input who=w$who >/dev/null 2>err.$who & pids="$pids $!"; done
for pid in $pids; do wait "$pid" && ok || bad "one of several runs failed: $(cat err.?)"; done
many=$("$RONDO" sessions many --json | grep -o '"w[1-4]"' | sort | uniq -c | tr -s ' \n' ' ')
[ "$many" = ' 2 "w1" 2 "w2" 2 "w3" 2 "w4" ' ] && ok || bad "several at once left $many"

# ---- the command ----------------------------------------------------------------------------------------

flow say.yaml <<'END'
name: say
inputs: { text: { type: string }, scope: { type: string, default: x } }
agents: { echoes: { run: [echo, "${inputs.text}"], memory: talk } }
steps: [ { id: say, agent: echoes, instructions: x } ]
END
run say.yaml --session words --input text="The customer wants the invoice by mail" >/dev/null
run say.yaml --session words --input text=$'line one\nline two \e[31mred\e[0m' >/dev/null
found() { "$RONDO" sessions "$@" | sed -E 's/^[-0-9]+ [0-9:]+  //'; }
check "a word's beginning" 0 "words  talk  The customer wants the invoice by mail" found words --search "INVO cust"
check "a phrase" 0 "words  talk  The customer wants the invoice by mail" found --search '"by mail"'
check "nothing to find" 1 "" "$RONDO" sessions words --search "invoice missing"
check "control characters stay away" 0 "words  talk  line one line two red" found words --search "line one"
check "odd characters are only text" 1 "" "$RONDO" sessions --search 'a" OR (b* NEAR ^{'
check "a scope that is not there" 3 "" "$RONDO" sessions words --scope none
says "session 'words' has no memory 'none'"
check "nobody of that name" 3 "" "$RONDO" sessions word
says "there is no session 'word'; did you mean 'words'?"
check "a name that is none" 3 "" run say.yaml --session "a b" --input text=x
says "letters, digits"
check "a session in memory" 3 "" run say.yaml --session s --store :memory: --input text=x
says "session"
check "--scope alone" 3 "" "$RONDO" sessions --scope x
check "--forget alone" 3 "" "$RONDO" sessions --forget
check "--forget and --search" 3 "" "$RONDO" sessions s --forget --search x
check "nobody to ask" 3 "" "$RONDO" sessions words --forget
says "--yes"
holds words '[{},{"talk":["The customer wants the invoice by mail","line one\nline two \u001b[31mred\u001b[0m"]}]'
check "forgetting a scope" 0 "" "$RONDO" sessions s --forget --scope talk --yes
holds s '[{"app:a":[1,2],"n":6,"user:u":"kept"},{}]'
check "forgetting" 0 "" "$RONDO" sessions words --forget --yes
check "it is gone" 3 "" "$RONDO" sessions words
check "and so are its words" 1 "" "$RONDO" sessions --search invoice
check "forgetting it again" 3 "" "$RONDO" sessions words --forget --yes
names=$("$RONDO" sessions | awk 'NR > 1 { print $1 }' | sort | tr '\n' ' ')
[ "$names" = "crash many nested other s " ] && ok || bad "the list: $names"
check "a store that is not there" 3 "" "$RONDO" sessions --store nowhere/none.db
[ -e nowhere ] && bad "looking made a store" || ok

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
