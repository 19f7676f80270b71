#!/bin/bash
# sse_fuzz.sh - what fuzzing the readers of event streams and lines found, and the seeds it began with, once more.
replay=$ROOT/$B/tests/fuzz_sse
[ -x "$replay" ] || { echo "no $B/tests/fuzz_sse"; exit 77; }
"$replay" "$ROOT/tests/fuzz/corpus/sse"
