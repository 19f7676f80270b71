#!/bin/bash
# http.sh - libcurl is not linked, and the scripted server works as a program.
set -u
passed=0 failed=0
check() { # what, condition...
    local what=$1
    shift
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $what"; fi
}
links() { ldd "$1" | grep -q libcurl; }
not() { ! "$@"; }
check "the program links libcurl" not links "$RONDO"
for so in "$ROOT/$B"/librondo.so.*.*.*; do
    check "the library links libcurl" not links "$so"
done

coproc SERVER { "$ROOT/$B/tests/server" "
GET /hello
  send hello \${n}\n
then
  status 503
" log.ndjson; }
pid=$SERVER_PID
read -r port <&"${SERVER[0]}"
ask() { # path; the answer, by bash alone
    exec 9<>"/dev/tcp/127.0.0.1/$port"
    printf 'GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' "$1" >&9
    timeout 10 head -n "$2" <&9
    exec 9>&-
}
check "the first answer" grep -q '^hello 1' <<<"$(ask /hello 5)"
check "the second answer" grep -q '503 Scripted' <<<"$(ask /hello 1)"
check "the log" grep -q '"target":"/hello".*"n":2' log.ndjson
eval "exec ${SERVER[1]}>&-"
wait "$pid"
check "it ends with its input" [ $? -eq 0 ]
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
