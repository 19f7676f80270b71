# bench_compare.sh - when `make bench-compare` says that a figure is worse, and what it refuses to measure.
. "$ROOT/tests/cli/checks"
unset ONLY ROUNDS

figures=$(jq -r '.headline | keys_unsorted[]' "$ROOT/bench/targets.json")
same "ten figures" "$(wc -l <<<"$figures")" 10

# samples BASE NOW AGAIN: seven rounds of every figure, around the given numbers; wall times are far worse
samples() {
    for figure in $figures wall_ms; do
        for round in 1 2 3 4 5 6 7; do
            echo "base $figure $(($1 + round))"
            echo "now $figure $([ "$figure" = wall_ms ] && echo 9000 || echo $(($2 + round)))"
            echo "again $figure $(($3 + round))"
        done
    done
}
verdict() { "$ROOT/bench/compare" verdict "$PWD/samples"; }
judged() { # NAME STATUS WORD: of the first figure and of all
    verdict >out 2>err
    same "$1: status" "$?" "$2"
    has "$3"
}

samples 1000 1000 1000 >samples
judged "nothing has changed" 0 "0 of 10 headline figures are worse"
has "wall_ms                            1004       9000   8.964    0.0 %"
hasnt "WORSE"
samples 1000 1090 1000 >samples
judged "9 % are allowed" 0 "0 of 10"
samples 1000 1120 1000 >samples
judged "12 % are not" 1 "10 of 10"
samples 1000 600 1000 >samples
judged "less is never worse" 0 "0 of 10"
samples 1000 1120 1150 >samples
judged "BASE differs as much from itself" 0 "in the noise"
samples 1000 1120 870 >samples
judged "downwards, too" 0 "in the noise"
samples 1000 1400 1150 >samples
judged "a gap beyond the noise" 1 "10 of 10"

samples 1000 1000 1000 | sed -E 's/^now check_10k_cpu_ms 100[1-4]$/now check_10k_cpu_ms 1500/' >samples
judged "most rounds of one figure" 1 "1 of 10 headline figures are worse"
same "which one" "$(grep WORSE out | cut -d' ' -f1)" check_10k_cpu_ms
samples 1000 1000 1000 | sed -E 's/^now check_10k_cpu_ms 100[1-3]$/now check_10k_cpu_ms 9000/' >samples
judged "a few rounds do not count" 0 "0 of 10"
samples 1000 1000 1000 | grep -v '^base check_10k' >samples
judged "a figure that BASE does not have" 1 "check_10k_cpu_ms             was not measured"
: >samples
judged "nothing was measured" 1 "10 of 10"

check "no commit" 2 "" "$ROOT/bench/compare" ""
says "which commit?"
check "none of that name" 2 "" "$ROOT/bench/compare" no-such-commit
says "there is no commit 'no-such-commit'"
check "too few rounds" 2 "" env ROUNDS=6 "$ROOT/bench/compare" HEAD
says "ROUNDS is 7 or more, got '6'"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
