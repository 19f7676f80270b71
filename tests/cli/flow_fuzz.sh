#!/bin/bash
# flow_fuzz.sh - what fuzzing the loader of workflow files found, and the seeds it began with, once more.
replay=$ROOT/$B/tests/fuzz_flow
[ -x "$replay" ] || { echo "no $B/tests/fuzz_flow"; exit 77; }
"$replay" "$ROOT/tests/fuzz/corpus/flow"
