# sandbox: of commands: ways out of it that must not work, and ordinary work that must.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1
mkdir probe
cat >probe.yaml <<'E'
rondo: 1
name: probe
agents: { a: { run: [echo, fine], sandbox: { write: [probe] } } }
steps: [ { id: s, agent: a, instructions: x } ]
E
"$RONDO" run -q probe.yaml >out 2>err </dev/null
if [ $? = 3 ] && grep -q "cannot be enforced here" err; then
    tail -1 err
    exit 77
fi
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); printf 'FAIL %s\n' "$*"; }
if [ "$(cat out)" = fine ]; then ok; else bad "a sandboxed command did not run: $(cat err)"; fi

# What cannot be written to is told before anything runs, unless a step may still make it.
cat >missing.yaml <<'E'
rondo: 1
name: missing
agents:
  first: { run: [echo, first], sandbox: { write: [probe, nosuch] } }
  maker: { run: [mkdir, later] }
  last: { run: [echo, last], sandbox: { write: [later] } }
steps:
  - { id: make, agent: maker }
  - { id: last, agent: last, dependsOn: [make] }
  - { id: first, agent: first }
E
"$RONDO" check missing.yaml >out 2>err
if [ $? = 0 ] && [ "$(grep -c 'warning\[file\]' err)" = 1 ] && grep -q "missing.yaml:4:58: warning.*nosuch" err; then ok
else bad "check did not tell: $(cat err)"; fi
"$RONDO" run -q missing.yaml >out 2>err </dev/null
if [ $? = 3 ] && [ ! -d later ] && grep -q "nosuch' cannot be written to" err; then ok; else bad "it was run: $(cat err)"; fi
mkdir nosuch
"$RONDO" run -q missing.yaml >out 2>err </dev/null
if [ $? = 0 ] && [ -d later ]; then ok; else bad "it was not run: $(cat err)"; fi
rm -rf nosuch later out

# box/ may be written to, out/ not.
reset() {
    rm -rf box out
    mkdir box out out/dir
    echo precious >out/victim
    echo inner >out/dir/inner
    ln -s ../out/victim box/link
    ln -s ../out box/linkdir
    echo mine >box/own
}
picture() { find out \( -type f -exec cksum {} + \) -o -print | sort; }

flow() { # network, shell text on standard input
    { cat <<E
rondo: 1
name: try
agents:
  a:
    sandbox: { write: [box], network: $1 }
    run: |
E
      sed 's/^/      /'
      cat <<'E'
steps: [ { id: s, agent: a, instructions: x } ]
E
    } >try.yaml
}

# refused NAME, shell text on standard input: nothing outside of the box changes, and nobody says ESCAPED
refused() {
    local name=$1 before after
    reset
    before=$(picture)
    flow false
    "$RONDO" run -q try.yaml >got 2>err </dev/null
    after=$(picture)
    if [ "$before" != "$after" ]; then
        bad "$name: changed what is outside: $(diff <(echo "$before") <(echo "$after"))"
    elif grep -q ESCAPED got; then
        bad "$name: $(cat got)"
    else
        ok
    fi
}

# works NAME STDOUT, shell text on standard input
works() {
    reset
    flow "${3:-false}"
    "$RONDO" run -q try.yaml >got 2>err </dev/null
    if [ "$(cat got)" = "$2" ]; then ok; else bad "$1: got '$(cat got)', wanted '$2': $(cat err)"; fi
}

# ---- files -----------------------------------------------------------------------------------------------

n=0
while IFS= read -r line; do # each line is a way out
    [ -n "$line" ] || continue
    n=$((n + 1))
    refused "file $n: $line" <<<"$line"
done <<'E'
echo x >out/new
echo x >>out/victim
: >out/victim
echo x >box/../out/new
echo x >"$PWD/out/new"
echo x >box/link
echo x >box/linkdir/new
echo x >/proc/self/cwd/out/new
echo x >/proc/$$/cwd/out/new
echo x >/proc/self/root"$PWD"/out/new
cd out && echo x >new
cd box/linkdir && echo x >new
exec 5>out/new
exec 5<>out/victim; echo x >&5
truncate -s 0 out/victim
truncate -s 0 box/link
dd if=/dev/zero of=out/victim bs=1 count=1 conv=notrunc
cp box/own out/victim
cp box/own out/new
mv box/own out/new
mv box/own out/victim
mv out/victim box/stolen
mv out/dir box/stolen
mv -T out/victim out/renamed
rm -f out/victim
rm -rf out
rm -rf out/dir
unlink out/victim
rmdir out/dir
mkdir out/newdir
mkdir -p out/a/b/c
ln box/own out/hard
ln out/victim box/hard && echo x >>box/hard
ln -s /etc/passwd out/soft
ln -sf box/own out/victim
mkfifo out/pipe
mknod out/node c 1 3
mknod box/node b 8 0 && echo ESCAPED
touch out/new
sed -i s/precious/gone/ out/victim
tee out/victim <box/own
install box/own out/installed
sh -c 'echo x >out/new'
(echo x >out/new) &  wait
setsid sh -c 'echo x >out/new'
nohup sh -c 'echo x >out/new'
env -i /bin/sh -c 'echo x >out/new'
find box -name own -exec cp {} out/new \;
tar cf out/new.tar box/own
cat box/own | (cd out; cat >new)
sh -c 'umask 0; mkdir -m 777 out/open'
mv box/linkdir box/real; echo x >box/real/new
rm box/linkdir; ln -s "$PWD/out" box/again; echo x >box/again/new
mkdir box/d; mv out box/d/out
mkdir box/d; cp box/own box/d/victim; mv -f box/d/victim out/
echo x >"$HOME/.rondo-escape" && echo ESCAPED; rm -f "$HOME/.rondo-escape"
echo x >/tmp/rondo-escape-$$ && echo ESCAPED
echo x >/var/tmp/rondo-escape-$$ && echo ESCAPED
echo x >/dev/shm/rondo-escape-$$ && echo ESCAPED
echo 0 >/proc/sys/vm/swappiness && echo ESCAPED
echo x >/proc/1/comm && echo ESCAPED
echo x >/sys/kernel/mm/transparent_hugepage/enabled && echo ESCAPED
echo x >../flow-escape && echo ESCAPED
echo x >try.yaml && echo ESCAPED
mount -t tmpfs none out && echo ESCAPED
mount --bind box out && echo x >out/new
unshare -rm mount --bind box out && echo ESCAPED
unshare -r sh -c 'echo x >out/new'
chroot . /bin/sh -c 'echo x >/out/new' && echo ESCAPED
su -c 'echo x >out/new'
sudo -n sh -c 'echo x >out/new'
E

# ---- other doors ------------------------------------------------------------------------------------------

kill_target() { sleep 1000 & echo $! >target; }
kill_target
refused "a signal to somebody outside" <<E
[ -n "\$(cat /proc/sys/kernel/osrelease | awk -F. '\$1 * 100 + \$2 >= 612')" ] || exit 0
kill -KILL $(cat target) && echo ESCAPED
E
kill "$(cat target)" 2>/dev/null
wait 2>/dev/null
refused "bash's own sockets" <<'E'
command -v bash >/dev/null && bash -c 'exec 3<>/dev/tcp/127.0.0.1/9' 2>msg; bash -c 'exec 3<>/dev/udp/127.0.0.1/9' && echo ESCAPED
E
if command -v python3 >/dev/null; then
    python() { refused "$1" <<<"exec python3 -c '$2'"; }
    for family in AF_INET AF_INET6 AF_UNIX AF_NETLINK AF_PACKET AF_VSOCK; do
        python "a socket of $family" "
import socket
try:
    socket.socket(socket.$family, socket.SOCK_DGRAM); print(\"ESCAPED\")
except (OSError, AttributeError): pass"
    done
    syscall() { # NAME NUMBER ARGUMENTS: must not succeed
        python "system call $1" "
import ctypes
if ctypes.CDLL(None, use_errno=True).syscall($2) >= 0: print(\"ESCAPED\")"
    }
    [ "$(uname -m)" = x86_64 ] && {
        syscall io_uring_setup "425, 8, ctypes.create_string_buffer(200)"
        syscall socket "41, 2, 1, 0"
        syscall "socket by its x32 number" "0x40000000 + 41, 2, 1, 0"
        syscall unshare "272, 0x10000000"
        syscall setns "308, 0, 0"
        syscall mount "165, b\"none\", b\"out\", b\"tmpfs\", 0, 0"
        syscall open_tree "428, -100, b\"box\", 1"
        syscall fsopen "430, b\"tmpfs\", 0"
        syscall bpf "321, 0, 0, 0"
        syscall perf_event_open "298, 0, 0, 0, 0, 0"
        syscall userfaultfd "323, 1"
        syscall keyctl "250, 0, 1, 0"
        syscall setxattr "188, b\"out/victim\", b\"user.x\", b\"y\", 1, 0"
        syscall chroot "161, b\".\""
        syscall open_by_handle_at "304, -100, 0, 0"
    }
    python "a file without a name that gets one" "
import os
try:
    fd = os.open(\"box\", os.O_TMPFILE | os.O_RDWR); os.write(fd, b\"x\")
    os.link(\"/proc/self/fd/%d\" % fd, \"out/named\", follow_symlinks=True)
except OSError: pass"
    python "renaming by exchange" "
import ctypes
ctypes.CDLL(None).renameat2(-100, b\"box/own\", -100, b\"out/victim\", 2)"
    python "a descriptor of a folder" "
import os
fd = os.open(\"out\", os.O_RDONLY)
try: os.close(os.open(\"new\", os.O_WRONLY | os.O_CREAT, dir_fd=fd))
except OSError: pass"
    python "a file opened for reading, made writable" "
import os
fd = os.open(\"out/victim\", os.O_RDONLY)
try: os.write(os.open(\"/proc/self/fd/%d\" % fd, os.O_WRONLY), b\"x\")
except OSError: pass"
    python "memory of our parent" "
import os
try:
    open(\"/proc/%d/mem\" % os.getppid(), \"r+b\"); print(\"ESCAPED\")
except OSError: pass"
    python "the memory of a file, written through a mapping" "
import mmap, os
try:
    fd = os.open(\"out/victim\", os.O_RDONLY)
    m = mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE); m[0:1] = b\"X\"
except (OSError, PermissionError, ValueError): pass"
    works "pairs of sockets are only pipes" "pair" <<'E'
exec python3 -c 'import socket; a, b = socket.socketpair(); a.send(b"pair"); print(b.recv(9).decode())'
E
fi
refused "privileges of root" <<'E'
grep -E '^Cap(Prm|Eff)' /proc/self/status | grep -qv '0000000000000000$' && echo ESCAPED
grep -q '^NoNewPrivs:.*0$' /proc/self/status && echo ESCAPED
E
refused "a grandchild that outlives its parent" <<'E'
setsid sh -c 'sleep 0.1; echo x >out/new' >/dev/null 2>&1 &
sleep 0.3
E

# ---- ordinary work ----------------------------------------------------------------------------------------

works "making, changing, moving and removing in the box" "a
b
box/d/moved" <<'E'
echo a >box/x; echo b >>box/x; cat box/x; mkdir box/d; mv box/x box/d/moved; ln box/d/moved box/hard; rm box/hard
mkfifo box/p; chmod 700 box/d; find box/d -type f
E
works "reading anything" "precious" <<'E'
cat out/victim
E
works "running programs, and throwing output away" "2" <<'E'
ls /bin >/dev/null 2>&1 && expr 1 + 1
E
works "temporary files" "temp" <<'E'
t=$(mktemp) && echo temp >$t && cat $t && sort -T "$TMPDIR" /dev/null
E
works "here documents, pipes and /dev/stderr" "doc" <<'E'
cat <<X | cat
doc
X
echo note >/dev/stderr
E
works "a reply" "from the reply" <<'E'
echo '{"content": "from the reply"}' >$RONDO_REPLY
E
works "the context" "yes" <<'E'
grep -q '"steps"' $RONDO_CONTEXT && echo yes
E
command -v python3 >/dev/null && works "the network, when it is allowed" "socket" true <<'E'
exec python3 -c 'import socket; socket.socket(); print("socket")'
E
reset
flow false <<'E'
sleep 1000 & sleep 1000
E
sed -i 's/run: |/timeout: 200ms\n    run: |/' try.yaml
"$RONDO" run -q try.yaml >got 2>err </dev/null
if grep -q "timed out" err; then ok; else bad "a confined command does not time out: $(cat err)"; fi
rm -f /tmp/rondo-escape-* /var/tmp/rondo-escape-* /dev/shm/rondo-escape-* 2>/dev/null

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
