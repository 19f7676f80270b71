# payments do not happen twice unasked: the short form of tests/kill.
[ -x "$RONDO" ] && [ -x "$ROOT/$B/tests/kills" ] || { echo "the harness was not built"; exit 77; }
[[ $SAN != *thread* ]] || { echo "too slow with this sanitizer"; exit 77; }
cd "$ROOT" || exit 1
. tests/kill/settings.sh
"$harness" once 24
