#!/bin/bash
# as_nobody.sh - what a model's commands may do where rondo runs as an ordinary user.  Of /etc they read what everybody may
# read, and not what only this user may; a folder that they shut is removed with the rest.  Needs root, to put another
# folder in the place of /etc and to become somebody else.
. "$ROOT/tests/cli/talk_server"
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
[ "$(id -u)" = 0 ] && unshare -m $nobody true 2>/dev/null || { echo "not root, or no namespaces"; exit 77; }
flow bash.yaml <<'F'
name: bash
agents: { w: { prompt: p, model: compat/m, tools: [bash] } }
steps: [{ id: a, agent: w, instructions: x }]
F
mkdir etc home tmp
cp -a /etc/passwd /etc/group /etc/nsswitch.conf /etc/ld.so.cache /etc/alternatives etc 2>/dev/null
echo "for all" >etc/public
echo "the secret" >etc/own
chmod 600 etc/own
chmod 755 . etc
chown -R 65534:65534 "$scratch"
cat >inside.sh <<'S'
mount --bind etc /etc || exit 77
exec setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$PWD/home" TMPDIR="$PWD/tmp" XDG_DATA_HOME="$PWD/home" PATH="$1" \
    "$RONDO" run -q --store :memory: --workdir home --strict --allow bash bash.yaml
S
no_bwrap=$scratch/bin # programs as in PATH, but without bubblewrap
mkdir bin
for x in sh bash cat env setpriv mkdir chmod; do ln -s "$(command -v $x)" bin/; done
chmod 755 bin
for path in "$PATH" "$no_bwrap"; do
    serve < <(calls c1 bash '{"command":"cat /etc/public; cat /etc/own; mkdir -p $TMPDIR/a/b/c; chmod 0 $TMPDIR/a/b; chmod 500 $TMPDIR/a"}'; then_; text "Done.")
    check "a command" 0 "Done." unshare -m bash inside.sh "$path"
    same "what all may read" "$(asked 1 '.messages[] | select(.role=="tool").content' | grep -c "for all")" 1
    same "what only the user may read" "$(asked 1 '.messages[] | select(.role=="tool").content' | grep -c "the secret")" 0
    same "what is left in the folder for temporary files" "$(ls tmp)" ""
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
