#!/bin/bash
# schema_suite.sh - the public JSON Schema test suite, where it is at hand.
#
# Looks for it in $CONFORMANCE, else beside the source tree.  Optional tests that are expected to
# fail would be listed in docs/json-schema.md; there are none.
suite=$ROOT/$B/tests/schema_suite
data=${CONFORMANCE:-$ROOT/../shared/conformance}/json-schema
[ -x "$suite" ] || { echo "no $B/tests/schema_suite"; exit 77; }
[ -d "$data" ] || { echo "no suite in $data"; exit 77; }

passed=0 failed=0
args=(--remotes "$data/remotes" --metaschema "$data/metaschema")
run_in() { # folder, options
    local folder=$1 out
    shift
    out=$("$suite" --examples "$@" "${args[@]}" "$data/$folder" 2>&1)
    [[ ${out##*$'\n'} =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]] || { echo "$out"; exit 1; }
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    grep '^FAIL' <<<"$out"
}
run_in draft2020-12
run_in draft2020-12/optional
run_in draft2020-12/optional/format --format
run_in draft7 --draft 7
run_in draft7/optional --draft 7
run_in draft7/optional/format --draft 7 --format
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
