#!/bin/bash
# zenflow_suite.sh - the fixtures of the Zenflow specification, where they are at hand.
#
# ZF-P01: those that are invalid, with the code of the first error.  ZF-P02: those that are valid.
# Looks for them in $CONFORMANCE, else beside the source tree.
suite=$ROOT/$B/tests/zenflow_suite
data=${CONFORMANCE:-$ROOT/../shared/conformance}/zenflow
[ -x "$suite" ] || { echo "no $B/tests/zenflow_suite"; exit 77; }
[ -d "$data" ] || { echo "no fixtures in $data"; exit 77; }
"$suite" "$data"
