#!/bin/bash
# yaml_fuzz.sh - what fuzzing the readers of YAML and JSON found, and the seeds it began with, once more.
replay=$ROOT/$B/tests/fuzz_yaml
[ -x "$replay" ] || { echo "no $B/tests/fuzz_yaml"; exit 77; }
"$replay" "$ROOT/tests/fuzz/corpus/yaml"
