#!/bin/bash
# store_fuzz.sh - what fuzzing found in files to import and in stores, and the seeds it began with, once more: with
# checksums that fit everything, and some of the files in the program as it is.
. "$ROOT/tests/cli/checks"
corpus=$ROOT/tests/fuzz/corpus
for target in file store; do
    replay=$ROOT/$B/tests/fuzz_$target
    [ -x "$replay" ] || { echo "no $B/tests/fuzz_$target"; exit 77; }
    check "$target" 0 "" "$replay" "$corpus/$target"
done

# ---- files whose sums are right -----------------------------------------------------------------------
check "a tag above 127" 1 "" "$RONDO" import "$corpus/file/high-tag" --store t.db
says "has something in it that is not known"
for id in odd-id control-id; do
    check "an id with $id" 1 "" "$RONDO" import "$corpus/file/$id" --store t.db
    says "the id of a run is made of letters, digits and - _ . : @, got '"
    same "nothing of it gets to the terminal" "$(grep -c $'\u009b\|\u202e' err)" 0
done
check "a child that its parent does not have" 0 r51c259f8b932004c "$RONDO" import "$corpus/file/no-such-child" --store t.db
id=$("$RONDO" runs --store t.db | cut -d' ' -f1)
check "its replay" 1 "" "$RONDO" replay "$id" --store t.db
says "event 2: the log has step_start"
for command in "show $id" "events $id" "graph --run $id" "eval 1 --run $id" "fork $id --at draft" "resume $id"; do
    # shellcheck disable=SC2086
    check "$command" 1 "" "$RONDO" $command --store t.db
    says "event 2 (step_start) does not fit what came before it"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
