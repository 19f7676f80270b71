# The public conformance tests of CEL, where they are at hand.
suite=${CEL_SUITE:-$ROOT/../shared/conformance/cel}
if [ ! -d "$suite" ]; then
    echo "the conformance tests are not here (CEL_SUITE=folder)"
    exit 77
fi
if [ ! -x "$ROOT/$B/tests/cel_suite" ]; then
    echo "build/tests/cel_suite was not built"
    exit 77
fi
"$ROOT/$B/tests/cel_suite" "$suite"
