# Many processes on one store: the short form of tests/shared/torture.
cd "$ROOT" || exit 1
[ -x "$RONDO" ] && [ -x "$B/tests/short_runs" ] || { echo "it was not built"; exit 77; }
passed=0 failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
holds() { # name, command...
    local name=$1 said
    shift
    if said=$("$@" 2>&1); then passed=$((passed + 1))
    else failed=$((failed + 1)); printf 'FAIL %s: %s\n' "$name" "$said"; fi
}
many() { holds "$1" tests/shared/many "$2" "$3" "$tmp/$1"; } # name, processes, runs
many quick 8 400
holds vanish tests/shared/vanish 25 "$tmp/vanish"
if ldd "$RONDO" | grep -q libsqlite3; then # else there is nothing to be slow in
    PRELOAD=$ROOT/$B/tests/delay.so many slow 8 200
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
