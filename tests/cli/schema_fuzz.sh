#!/bin/bash
# schema_fuzz.sh - what fuzzing found, and the seeds it began with, once more.
replay=$ROOT/$B/tests/fuzz_schema
[ -x "$replay" ] || { echo "no $B/tests/fuzz_schema"; exit 77; }
"$replay" "$ROOT/tests/fuzz/corpus/schema"
