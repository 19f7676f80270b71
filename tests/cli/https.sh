#!/bin/bash
# https.sh - certificates, HTTP/2 and proxies, against servers of node.
set -u
shopt -s extglob
command -v node >/dev/null && command -v openssl >/dev/null || { echo "no node or no openssl"; exit 77; }
unset https_proxy http_proxy all_proxy HTTPS_PROXY HTTP_PROXY ALL_PROXY no_proxy NO_PROXY SSL_CERT_FILE CURL_CA_BUNDLE
fetch=$ROOT/$B/tests/fetch
passed=0 failed=0
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null || { echo "no certificate"; exit 77; }

serve() { # kind; sets port
    mkfifo "$1.in" "$1.out"
    node "$ROOT/tests/programs/https.mjs" "$1" key.pem cert.pem <"$1.in" >"$1.out" &
    exec {held}>"$1.in" {said}<"$1.out" # held open as long as this script lives
    read -r port <&"$said"
}
serve h2 && h2=https://localhost:$port p2=$port
serve h1 && h1=https://localhost:$port p1=$port
serve proxy && proxy=http://127.0.0.1:$port

is() { # what, what it should be (a pattern), command...
    local what=$1 want=$2 out
    shift 2
    out=$("$@" 2>&1)
    # shellcheck disable=SC2053
    if [[ $out == $want ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s\nis:       %s\nexpected: %s\n' "$what" "$out" "$want"
    fi
}
is "a certificate of nobody" "0 tls localhost:$p2: no secure connection: SSL certificate problem: self*signed certificate 1" \
    "$fetch" "$h2/x"
is "a certificate for another" "0 tls 127.0.0.1:$p2: no secure connection: *" "$fetch" ca=cert.pem "https://127.0.0.1:$p2/x"
is "no such file of certificates" "0 tls localhost:$p2: no secure connection: *" "$fetch" ca=none.pem "$h2/x"
is "a certificate that is trusted" "ok*200 none 1" "$fetch" ca=cert.pem "$h2/x"
is "the environment's certificates" "ok*200 none 1" env SSL_CERT_FILE=cert.pem "$fetch" "$h2/x"
is "http where TLS is spoken" "0 * localhost:$p1: *" "$fetch" "http://localhost:$p1/x"
is "many over HTTP/2" "ok*200 none 400" "$fetch" ca=cert.pem count=400 "$h2/x"
is "not a connection for each" "+([0-9]) connections, * requests, HTTP 2.0*200 none 1" "$fetch" ca=cert.pem "$h2/count"
n=$("$fetch" ca=cert.pem "$h2/count") n=${n%% *}
is "at most 64 and those before" yes eval "[ $n -le 75 ] && echo yes || echo $n"
is "many over HTTP/1.1, which wait for each other" "ok*200 none 200" "$fetch" ca=cert.pem count=200 connect=5000 "$h1/x"
is "HTTP/1.1" "* HTTP 1.1*200 none 1" "$fetch" ca=cert.pem "$h1/count"
for base in "$h2" "$h1"; do
    is "none waits for another" "held and let go*200 none 20" "$fetch" ca=cert.pem count=20 "$base/hold"
done
is "a stream that is cut" "*cut localhost:$p2: the connection ended before the answer did, after * bytes of it 1" \
    "$fetch" ca=cert.pem "$h2/cut"
is "a connection that is cut" "*cut localhost:$p1: the connection ended before the answer did, after * bytes of it 1" \
    "$fetch" ca=cert.pem "$h1/cut"
is "down from https to http" "302 redirect localhost:$p2: redirects from https to http (localhost) 1" \
    "$fetch" ca=cert.pem redirects=3 "$h2/down"
is "through a proxy" "ok*200 none 1" "$fetch" ca=cert.pem "proxy=$proxy" "$h2/x"
is "through the environment's proxy" "ok*200 none 1" env https_proxy="$proxy" "$fetch" ca=cert.pem "$h1/x"
is "a proxy that refuses" "0 proxy other:$p1: the proxy answers with status 403 1" \
    "$fetch" ca=cert.pem "proxy=$proxy" "https://other:$p1/x"
is "public only, in spite of a name" "0 forbidden-address localhost:$p2: *" "$fetch" ca=cert.pem public=1 "$h2/x"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
