#!/bin/bash
# housekeeping.sh - rondo rm, gc, du, export, import: as a user of stored runs meets them.
[ -x "$RONDO" ] || { echo "no program"; exit 77; }
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
export RONDO_STORE=$PWD/store/rondo.db HOME=$PWD

# does NAME STATUS COMMAND...: the exit status; out and err have what it said
does() {
    local name=$1 status=$2 got
    shift 2
    "$RONDO" "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$status" ] && ok || bad "$name: status $got, expected $status: $(cat out err)"
}
says() { grep -qE -- "$2" "$3" && ok || bad "$1: no '$2' in $3: $(cat "$3")"; }
# bytes KEY [RUN]: what du says
bytes() { "$RONDO" du --json ${2:+"$2"} | tr -d ' ,"' | sed -n "s/^$1://p"; }

cat >flow.yaml <<'Y'
rondo: 1
name: talk
agents:
  long: { description: says much, run: "yes WORD | tr -d '\\n' | head -c 20000" }
steps:
  - { id: one, agent: long }
  - { id: two, agent: long, dependsOn: [one] }
Y
cat >gate.yaml <<'Y'
rondo: 1
name: asks
steps:
  - { id: ok, gate: { ask: "Go on?" } }
Y

# run WORD [FILE]: its id
run() {
    sed "s/WORD/$1/" "${2:-flow.yaml}" >now.yaml
    "$RONDO" run now.yaml --json </dev/null 2>/dev/null | sed -n '1s/.*"runId":"\([^"]*\)".*/\1/p'
}

# ---- nothing there --------------------------------------------------------------------------------
does "du without a store" 3 du
says "du without a store" "no such file" err
does "gc without a store" 3 gc
does "rm without a store" 3 rm r1
[ ! -e store ] && ok || bad "a store was made"
does "import of nothing" 3 import none.rondo
says "import of nothing" "none.rondo: No such file" err
[ ! -e store ] && ok || bad "a store was made for a file that is not there"
does "rm needs a run" 3 rm
does "a wrong age" 3 gc --older soon
says "a wrong age" "--older: expected a duration" err
does "too many days" 3 gc --older 99999999d

# ---- runs -------------------------------------------------------------------------------------------
a=$(run apple) b=$(run pear) c=$(run apple)
[ -n "$a" ] && [ -n "$b" ] && [ -n "$c" ] && ok || bad "no runs: '$a' '$b' '$c'"
does "du" 0 du
says "du" "^ *40.0 kB  long texts" out
[ "$(bytes texts)" = 40000 ] && ok || bad "texts are kept once: $(bytes texts)"
[ "$(bytes texts "$a")" = 20000 ] && ok || bad "texts of one run: $(bytes texts "$a")"
[ "$(bytes runs)" = 3 ] && ok || bad "runs: $(bytes runs)"
does "du of several" 0 du "$a" "$b"
[ "$(grep -c '20.0 kB  long texts' out)" = 2 ] && ok || bad "du of several: $(cat out)"
does "du of nobody" 3 du nobody
says "du of nobody" "no run 'nobody'" err
for command in du rm "export" show resume; do
    does "$command of one of several" 3 $command r
    says "$command of one of several" "say more of it" err
done

# ---- export and import -------------------------------------------------------------------------------
does "export" 0 export "$a"
[ -f "$a.rondo" ] && [ "$(stat -c %a "$a.rondo")" = 600 ] && ok || bad "the file: $(ls -l)"
[ "$(stat -c %s "$a.rondo")" -lt 25000 ] && ok || bad "the file is large: $(ls -l)"
does "export again" 1 export "$a"
says "export again" "File exists" err
does "export by a short id" 0 export "${a:0:8}" short.rondo
cmp -s "$a.rondo" short.rondo && ok || bad "two exports differ"
does "export of nobody" 3 export nobody x.rondo
[ ! -e x.rondo ] && ok || bad "a file was made of nobody"
does "import of what is there" 1 import "$a.rondo"
says "import of what is there" "$a" err
does "rm" 0 rm "$a"
does "rm again" 3 rm "$a"
does "import" 0 import "$a.rondo"
[ "$(cat out)" = "$a" ] && ok || bad "import says: $(cat out)"
does "export after import" 0 export "$a" again.rondo
cmp -s "$a.rondo" again.rondo && ok || bad "an imported run is exported differently"
does "into another store" 0 import "$a.rondo" --store other/deep/rondo.db
[ "$(stat -c %a other/deep)" = 700 ] && [ "$(stat -c %a other/deep/rondo.db)" = 600 ] && ok || bad "modes: $(ls -la other/deep)"
head -c 1000 "$a.rondo" >cut.rondo
does "a file cut off" 1 import cut.rondo --store other/deep/rondo.db
says "a file cut off" "cut off" err
does "a foreign file" 1 import flow.yaml
says "a foreign file" "is no file that .rondo export. wrote" err
does "a folder" 1 import .
echo x >>again.rondo
does "one more byte" 1 import again.rondo --store other/deep/rondo.db

# ---- rm and gc ------------------------------------------------------------------------------------------
does "rm of several" 0 rm "$a" "$c"
[ "$(bytes texts)" = 40000 ] && ok || bad "rm sweeps nothing: $(bytes texts)"
does "gc" 0 gc
says "gc" "^0 runs removed, [0-9.]+ kB given back" out
[ "$(bytes texts)" = 20000 ] && ok || bad "after gc: $(bytes texts)"
d=$(run plum) w=$(run x gate.yaml)
does "what would go" 0 gc --keep 1 --dry-run
[ "$(cat out)" = "$(printf '%s\n%s\n2 runs would be removed' "$d" "$b")" ] && ok || bad "what would go: $(cat out)"
[ "$(bytes runs)" = 3 ] && ok || bad "a dry run removed something"
does "nothing is that old" 0 gc --older 1d
says "nothing is that old" "^0 runs removed" out
does "old and not among the newest" 0 gc --older 0s --keep 2 --json
says "old and not among the newest" "\"$b\"" out
[ "$(bytes runs)" = 2 ] && ok || bad "runs: $(bytes runs)"
does "all that ended" 0 gc --keep 0
[ "$(bytes runs)" = 1 ] && ok || bad "a run that waits was removed"
does "the one that waits" 0 rm "$w"
does "the rest" 0 gc
[ "$(bytes texts)$(bytes records)$(bytes definitions)" = 000 ] && ok || bad "something is left: $("$RONDO" du)"

# ---- a run that is driven -------------------------------------------------------------------------------------
cat >slow.yaml <<'Y'
rondo: 1
name: slow
agents:
  slow: { description: waits, run: "touch begun; while [ ! -e end ]; do sleep 0.05; done" }
steps:
  - { id: one, agent: slow }
Y
"$RONDO" run slow.yaml --json >events 2>/dev/null </dev/null &
driver=$!
while [ ! -e begun ]; do sleep 0.05; done
id=$(sed -n '1s/.*"runId":"\([^"]*\)".*/\1/p' events)
does "rm of a driven run" 7 rm "$id"
says "rm of a driven run" "pid $driver" err
does "gc leaves it alone" 0 gc --keep 0
[ "$(bytes runs)" = 1 ] && ok || bad "a driven run was removed"
does "a driven run can be exported" 0 export "$id" driven.rondo
touch end
wait $driver && ok || bad "the driver was disturbed"
does "rm afterwards" 0 rm "$id"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
