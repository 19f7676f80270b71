#!/bin/bash
# answer_fuzz.sh - what fuzzing the readers of models' answers found, and the seeds it began with, once more.
replay=$ROOT/$B/tests/fuzz_answer
[ -x "$replay" ] || { echo "no $B/tests/fuzz_answer"; exit 77; }
"$replay" "$ROOT/tests/fuzz/corpus/answer"
