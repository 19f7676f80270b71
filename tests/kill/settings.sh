# settings.sh - what the harness wants to know; to be sourced in the root of the tree, with B set.
harness=$PWD/$B/tests/kills
export RONDO=$PWD/$B/rondo KILLER=$PWD/$B/tests/killer.so FLOWS=$PWD/tests/kill/flows NO_COLOR=1
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 # what is preloaded comes first
coproc SERVER { "$B/tests/server" "$(printf 'tape %s\n' "$FLOWS"/*.tape; echo)" 2>/dev/null; } # until this shell ends
read -r port <&"${SERVER[0]}"
export COMPAT_BASE_URL=http://127.0.0.1:$port/v1 # the only models there are
unset RONDO_STORE
