# A full disk and its relatives, for the program: one call to the store fails, the run stops with the cause, and
# then goes on; nothing that it had told is done again.  RONDO_TORTURE: every call, else some.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
[ -z "${SAN:-}" ] || { echo "a sanitizer wants to be loaded first"; exit 77; }
${CC:-cc} -shared -fPIC -O1 -o failer.so "$ROOT/tests/crash/failer.c" 2>err || { cat err; echo "no compiler"; exit 77; }
export NO_COLOR=1 RONDO_STORE=$PWD/runs.db
passed=0 failed=0 told=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); printf 'FAIL %s\n' "$*"; sed 's/^/  /' err; }

cat >flow.yaml <<'END'
rondo: 1
name: small
agents:
  say: { run: "echo $RONDO_PATH >> calls; echo said" }
steps:
  - { id: one, agent: say, instructions: x }
  - { id: two, agent: say, instructions: x, dependsOn: [one] }
output: "steps.one.content + ' ' + steps.two.content"
END
run_id() { sed -n 's/.*workflow_start [^(]*(\(r[0-9a-f]*\)).*/\1/p' "$1" | head -1; }

# fail HOW N: false when there is no such call
fail() {
    rm -f runs.db* mark calls
    LD_PRELOAD=$PWD/failer.so RONDO_FAIL_HOW=$1 RONDO_FAIL_AT=$2 RONDO_FAIL_MARK=$PWD/mark \
        "$RONDO" run flow.yaml >out 2>err </dev/null
    rc=$?
    [ -e mark ] || return 1
    id=$(run_id err)
    case $rc in
    0) [ "$(cat out)" = "said said" ] && ok || bad "$1 $2: stdout: $(cat out)"; return 0 ;;
    1 | 3) told=$((told + 1)) ;;
    *) bad "$1 $2: status $rc" ;;
    esac
    grep -qE "disk is full|I/O error|Input/output error|No space|cannot be opened|cannot be read|it cannot be written|cannot be opened for writing|Too many open|the file is damaged" err ||
        bad "$1 $2: no cause is told"
    grep -q "cannot be read: the disk is full" err && bad "$1 $2: it was to be written"
    [ $rc = 3 ] || [ -z "$id" ] || grep -q "go on with: rondo resume $id" err || bad "$1 $2: how to go on is not told"
    done=$(sed -n 's/.*step_end \([a-z]*\).*/\1/p' err)
    if [ -n "$id" ]; then
        "$RONDO" resume "$id" >out 2>err </dev/null
    else
        "$RONDO" run flow.yaml >out 2>err </dev/null
    fi
    rc=$?
    [ $rc -eq 0 ] && [ "$(cat out)" = "said said" ] && ok || bad "$1 $2: afterwards: status $rc, stdout: $(cat out)"
    for step in $done; do
        [ -z "$id" ] || [ "$(grep -cx "$step" calls)" = 1 ] || bad "$1 $2: $step was done again"
    done
    return 0
}

for how in full short sync open read; do
    n=1
    while fail $how $n; do
        [ -n "${RONDO_TORTURE:-}" ] && n=$((n + 1)) || n=$((n + 1 + n / 4))
    done
    [ $n -gt 2 ] || bad "$how: hardly a call was there to fail"
done

# A disk that is really full; who may not have one of their own does without.  Opening a store needs room, too.
cat >full.sh <<'END'
mount -t tmpfs -o size=300k none disk || exit 77
cat /dev/zero >disk/fill 2>/dev/null
"$RONDO" init disk/project >out 2>err && exit 10
[ -z "$(ls -A disk/project)" ] || exit 11
rm disk/fill
"$RONDO" run -q flow.yaml --store disk/x.db >out 2>err || exit 12
cat /dev/zero >disk/fill 2>/dev/null
"$RONDO" run -q flow.yaml --store disk/x.db >out 2>err && exit 13
grep -q "cannot be written: the disk is full" err || exit 14
END
cat >readonly.sh <<'END'
mount -t tmpfs none disk || exit 77
"$RONDO" run -q flow.yaml --store disk/x.db >out 2>err || exit 10
mount -o remount,ro none disk || exit 77
"$RONDO" run -q flow.yaml --store disk/x.db >out 2>err && exit 11
grep -q "cannot be written: Read-only file system" err || exit 12
"$RONDO" runs --store disk/x.db >out 2>err || exit 13
END
mkdir disk
: >err
unshare -m bash readonly.sh 2>/dev/null
rc=$?
case $rc in
0) ok ;;
1?) bad "a file system that is read-only: $rc: $(cat err)" ;;
esac
unshare -m bash full.sh 2>/dev/null
rc=$?
case $rc in
0) ok ;;
1?) bad "a full disk: $rc" ;;
esac
[ $told -gt 10 ] || bad "only $told failures were told"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
