# rondo eval: values as JSON, errors with a caret, exit statuses.
if [ ! -x "$RONDO" ]; then
    echo "rondo was not built"
    exit 77
fi
passed=0 failed=0

# expect STATUS OUTPUT ARGS...: what is printed, standard error included, and the exit status
expect() {
    local status=$1 wanted=$2 is rc
    shift 2
    is=$("$RONDO" eval "$@" 2>&1)
    rc=$?
    if [ "$rc" = "$status" ] && [ "$is" = "$wanted" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL rondo eval %s\n  status %s, wanted %s\n  printed %s\n  wanted  %s\n' \
            "$*" "$rc" "$status" "$is" "$wanted"
    fi
}

printf '{"x": 5, "steps": {"a": {"score": 9}, "run-tests": {"ok": true}}}' >data.json
expect 0 '7' '1 + 2 * 3'
expect 0 '{"a":[1,2.5,null]}' "{'a': [1, 2.5, null]}"
expect 0 'true' 'steps.a.score >= 8 && x == 5' --data data.json
expect 0 'true' 'steps.run-tests.ok' --data data.json
expect 0 '10' --data=data.json 'x * 2'
expect 1 "rondo eval: 1:9: no such key: 'scor'
steps.a.scor > 1
        ^" 'steps.a.scor > 1' --data data.json
expect 1 'rondo eval: 1:3: division of 5 by zero
x / 0
  ^' 'x / 0' --data data.json
echo '{"list": [1]}' >near.json
expect 2 "rondo eval: 1:1: undeclared reference to 'y'
y + 1
^" 'y + 1' --data data.json
expect 2 'rondo eval: 1:4: expected an expression, but the expression ends
1 +
   ^' '1 +'
expect 2 'rondo eval: 1:8: a string that begins here has no end
"漢字" + "a
         ^' '"漢字" + "a'
expect 2 "rondo eval: 1:1: undeclared reference to 'lsit'
lsit + sise([1]) + foo(1)
^
did you mean 'list'?
rondo eval: 1:8: unknown function 'sise'
lsit + sise([1]) + foo(1)
       ^
did you mean 'size'?
rondo eval: 1:20: unknown function 'foo'
lsit + sise([1]) + foo(1)
                   ^" 'lsit + sise([1]) + foo(1)' --data near.json
expect 2 "rondo eval: 1:1: undeclared reference to 'lsit'
lsit
^
there are no variables; --data FILE gives some" 'lsit'
expect 0 'true' "true || duration('x') == duration('y')"
expect 0 '-2' '-5 + 3'
printf '' >no.json
printf '{\n"a": 1,,}' >bad.json
printf '{"a": 123456789012345678901234}' >large.json
printf '\xef\xbb\xbf{"a":1}' >marked.json
expect 2 'rondo eval: no.json:1:1: the file is empty' 'a' --data no.json
expect 2 "rondo eval: bad.json:2:8: expected a key in quotes or '}', got ','" 'a' --data bad.json
expect 2 'rondo eval: large.json:1:7: this whole number does not fit in 64 bits' 'a' --data large.json
expect 0 '1' 'a' --data marked.json
expect 2 'rondo eval: --data: none.json: No such file or directory' 'x' --data none.json
expect 2 'rondo eval: --data: .: Is a directory' 'x' --data .
expect 2 "rondo eval: 1:1: unexpected character U+001B
red
^" $'\e[31mred'
expect 2 'rondo eval: --data: esc: No such file or directory' x --data $'\e[31mesc'
expect 3 "rondo eval: EXPR is missing
usage: rondo eval EXPR [OPTION...]
'rondo help eval' says more"
expect 3 "rondo eval: unexpected argument '2'
usage: rondo eval EXPR [OPTION...]
'rondo help eval' says more" 1 2

is=$(echo '{"n": 3}' | "$RONDO" eval 'n + 1' --data -)
if [ "$is" = 4 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL --data -: $is"; fi
"$RONDO" eval 1 --data missing.json 2>/dev/null
if [ $? = 2 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL missing data"; fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
