#!/bin/bash
# check_schema.sh - rondo check --schema: exit status, and what is printed where.
[ -x "$RONDO" ] || { echo "no program"; exit 77; }

passed=0 failed=0
expect() { # name, status, stdout, stderr, command...
    local name=$1 status=$2 out=$3 err=$4 rc
    shift 4
    "$@" >out 2>err
    rc=$?
    if [ $rc -eq "$status" ] && [ "$(cat out)" = "$out" ] && [ "$(cat err)" = "$err" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name: exit status $rc"
        cat out err
    fi
}

cat >schema.json <<'END'
{ "type": "object", "required": ["name"],
  "properties": { "name": { "type": "string" }, "day": { "format": "date" } } }
END
echo '{"name": "x", "day": "soon"}' >good.json
echo '{"name": 5}' >bad.json
echo '{"name": ' >broken.json
echo '{"type": "nothing"}' >wrong.json

expect "a value that fits" 0 "" "" "$RONDO" check --schema schema.json good.json
expect "a value that does not" 2 "" "bad.json: name: expected string, got 5" \
    "$RONDO" check --schema schema.json bad.json
expect "several values" 2 "" "bad.json: name: expected string, got 5" \
    "$RONDO" check --schema schema.json good.json bad.json
expect "as JSON" 2 '{"file":"bad.json","path":"/name","rule":"/properties/name/type","message":"name: expected string, got 5"}' "" \
    "$RONDO" check --schema schema.json --json bad.json
echo '{"name": "x", "n": 123456789012345678901234567890}' >large.json
expect "a number beyond 64 bits" 0 "" "" "$RONDO" check --schema schema.json large.json
expect "a file that is not there" 2 "" "none.json: No such file or directory" \
    "$RONDO" check --schema schema.json none.json
expect "formats when asked" 2 "" 'good.json: day: expected a date such as 2026-01-31, got "soon"' \
    "$RONDO" check --schema schema.json --formats good.json
expect "a schema that is none" 2 "" 'wrong.json: schema: type: expected the name of a type, got "nothing"' \
    "$RONDO" check --schema wrong.json good.json
echo '{"type": "nothing", "items": {"minimum": "x"}}' >wrong.json
expect "all that is wrong with a schema" 2 "" 'wrong.json: schema: type: expected the name of a type, got "nothing"
wrong.json: schema /items: minimum: expected a number, got "x"' \
    "$RONDO" check --schema wrong.json good.json
expect "the same as JSON" 2 '{"file":"wrong.json","path":"/type","rule":"","message":"schema: type: expected the name of a type, got \"nothing\""}
{"file":"wrong.json","path":"/items/minimum","rule":"","message":"schema /items: minimum: expected a number, got \"x\""}' "" \
    "$RONDO" check --schema wrong.json --json good.json
"$RONDO" check --schema schema.json broken.json 2>err
[ $? -eq 2 ] && grep -q '^broken.json: line 2' err && passed=$((passed + 1)) ||
    { failed=$((failed + 1)); echo "FAIL broken JSON"; cat err; }
"$RONDO" check --schema 2>/dev/null
[ $? -eq 3 ] && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAIL wrong usage"; }
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
