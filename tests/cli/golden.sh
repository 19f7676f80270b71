#!/bin/bash
# golden.sh - runs that older versions kept are listed, shown, replayed, exported and resumed as ever (tests/golden).
#
# When another text is meant: tests/golden/record.  When other decisions are: a line in tests/golden/differs.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1 TZ=UTC
golden=$ROOT/tests/golden top=$PWD

complain() { printf 'FAIL %s\n' "$*"; }
events() { RONDO_STORE=$1 "$RONDO" events --json "$2" 2>&1; }

# Does its log follow from itself?  In one of those that `differs` names it does not.
replays() { # ARCHIVE NAME STORE ID
    local wanted=0 said rc
    grep -q "^$1 $2 " "$golden/differs" && wanted=1
    said=$("$RONDO" replay -q --store "$3" "$4" 2>&1)
    rc=$?
    [ $rc = $wanted ] || complain "$1 $2: replay has status $rc, not $wanted: $said"
}

# Is it the same when it went through a file?
moves() { # ARCHIVE NAME STORE ID
    "$RONDO" export --store "$3" "$4" run.rondo >/dev/null && "$RONDO" import --store new.db run.rondo >/dev/null &&
        diff <(events "$3" "$4") <(events new.db "$4") || complain "$1 $2: is not the same when it was exported and imported"
}

try() { # ARCHIVE NAME ID LOOP...
    local store=$top/$1/golden.db text=$golden/$1/$2.txt
    mkdir "$1.$2" && cd "$1.$2" || exit 1
    "$golden/tell" "$store" "${@:2}" 2>&1 | diff -u --label "$text" "$text" --label "now" - || complain "$1 $2: is told differently"
    replays "$1" "$2" "$store" "$3"
    moves "$1" "$2" "$store" "$3"
    "$RONDO" replay -q --store copy.db "$3" >/dev/null 2>said || grep -q "^$1 $2 " "$golden/differs" ||
        complain "$1 $2: does not replay when it was resumed: $(cat said)"
}

count=0
for archive in "$golden"/*.tar.gz; do
    name=$(basename "$archive" .tar.gz)
    mkdir "$name" && tar --no-same-owner -xzf "$archive" -C "$name" || exit 1
    RONDO_STORE=$top/$name/golden.db "$RONDO" runs --limit 0 |
        diff -u --label "$golden/$name/runs.txt" "$golden/$name/runs.txt" --label "now" - >"$name.out" ||
        complain "$name: the list of runs differs" >>"$name.out"
    while read -r run id loops; do
        (try "$name" "$run" "$id" $loops) >"$name.$run.out" 2>&1 &
        [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
        count=$((count + 1))
    done <"$name/runs"
    for file in "$name"/*.rondo; do
        run=$(basename "$file" .rondo)
        id=$("$RONDO" import --store "$run.db" "$file" 2>&1)
        diff <(events "$name/golden.db" "$id") <(events "$run.db" "$id") >"$run.rondo.out" 2>&1 || complain "$file: is not what the store has" >>"$run.rondo.out"
        count=$((count + 1))
    done
    wait
    count=$((count + 1))
done
cat ./*.out
failed=$(grep -l '^FAIL ' ./*.out | wc -l)
echo "$((count - failed)) passed, $failed failed"
[ "$failed" = 0 ]
