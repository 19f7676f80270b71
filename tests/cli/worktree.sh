# options.isolation: worktree-per-step: every command works in a git worktree of its own.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
command -v git >/dev/null || { echo "git is not here"; exit 77; }
export NO_COLOR=1 HOME=$PWD TMPDIR=$PWD/tmp GIT_CONFIG_NOSYSTEM=1
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE XDG_CONFIG_HOME
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t GIT_CEILING_DIRECTORIES=$PWD
set -m
mkdir -p tmp
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); printf 'FAIL %s\n' "$*"; }
same() { if [ "$2" = "$3" ]; then ok; else bad "$1: got '$2', wanted '$3'"; fi; }
has() { if grep -qF -- "$2" "$3"; then ok; else bad "$1: no '$2' in: $(head -c 600 "$3")"; fi; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }
until_true() { until "$@" 2>/dev/null; do sleep 0.02; done; }

repo() { # an empty one with two files; leaves us in it
    cd "$HOME" && rm -rf "$1" && git init -q "$1" && cd "$1" || exit 1
    echo first >note
    mkdir sub
    echo inner >sub/inner
    printf '#!/bin/sh\necho ran >>"%s/hooks-ran"\n' "$HOME" >.git/hooks/post-checkout
    chmod +x .git/hooks/post-checkout
    cp .git/hooks/post-checkout .git/hooks/pre-commit
    printf 'ignored\n' >.gitignore
    git add -A && git -c core.hooksPath=/dev/null commit -qm one || exit 1
}
flow() { # steps, on stdin agents
    printf 'rondo: 1\nname: iso\nagents:\n'
    cat
    printf 'steps: %s\noptions: { isolation: worktree-per-step, maxConcurrency: 4 }\n' "$1"
}
# clean NAME: nothing has stayed but branches
clean() {
    same "$1: worktrees" "$(git worktree list | wc -l)" 1
    same "$1: temporary folders" "$(ls "$TMPDIR" | tr '\n' ' ')" ""
    same "$1: files" "$(git status --porcelain -- . ':!f.yaml' | tr '\n' ' ')" ""
}
branches() { git for-each-ref --format='%(refname:short)' refs/heads/rondo | sed 's|rondo/[^/]*/||' | tr '\n' ' '; }
branch_of() { git for-each-ref --format='%(refname:short)' refs/heads/rondo | grep "/$1\$" | tail -1; }

# ---- where it cannot be --------------------------------------------------------------------------------

flow '[ { id: a, agent: c } ]' >f.yaml <<<'  c: { run: [touch, ran] }'
"$RONDO" run -q f.yaml >out 2>err </dev/null
same "no repository" $? 3
has "no repository" "needs a git repository" err
if [ ! -e ran ]; then ok; else bad "it ran all the same"; fi
"$RONDO" rehearse -q f.yaml >out 2>err </dev/null
same "a rehearsal needs none" $? 0
flow '[ { id: a, agent: c } ]' >s.yaml <<<'  c: { script: [said] }'
same "words need none" "$("$RONDO" run -q s.yaml 2>&1 </dev/null)" said
git init -q bare && cp f.yaml bare && cd bare || exit 1
"$RONDO" run -q f.yaml >out 2>err </dev/null
same "no commit" $? 3
has "no commit" "there is no commit yet" err
PATH=$HOME "$RONDO" run -q f.yaml >out 2>err </dev/null
same "no git" $? 3
has "no git" "git" err
cd "$HOME" || exit 1
sed 's/worktree-per-step/vm-per-step/' f.yaml >other.yaml
"$RONDO" check other.yaml >out 2>&1
has "an unknown one" "\`isolation: vm-per-step\` is not known" out
"$RONDO" check f.yaml >out 2>&1
same "a known one" "$(grep -c warning out)" 0

# ---- what it does ----------------------------------------------------------------------------------------

repo plain
echo changed >note # in the folder of the user, who has not committed it
flow '[ { id: a, agent: reads }, { id: b, agent: writes }, { id: c, agent: commits }, { id: d, agent: fails, runOn: always } ]' >f.yaml <<'E'
  reads: { run: "pwd; cat note; touch ignored" }
  writes: { run: "cat note; echo new >made; echo second >note; rm sub/inner" }
  commits: { run: "echo x >mine; git add mine; git -c user.name=t -c user.email=t@t -c core.hooksPath=/dev/null commit -qm mine; echo y >late" }
  fails: { run: "echo z >half; exit 3" }
E
"$RONDO" run --json f.yaml >events 2>err </dev/null
same "changes: status" $? 1
same "changes: branches" "$(branches)" "b c d "
same "changes: what was made" "$(git show "$(branch_of b):made")" new
same "changes: what was changed" "$(git show "$(branch_of b):note")" second
same "changes: what was removed" "$(git ls-tree -r --name-only "$(branch_of b)" | tr '\n' ' ')" ".gitignore made note "
same "changes: commits of its own" "$(git log --format=%s "$(branch_of c)" | tr '\n' ' ')" "c mine one "
same "changes: of a step that failed" "$(git show "$(branch_of d):half")" z
same "changes: by whom" "$(git log -1 --format=%an "$(branch_of b)")" rondo
same "changes: the folder of the user" "$(cat note)" changed
has "changes: they are told" '"branch":"rondo/' events
same "changes: a tree of HEAD" "$(grep -c '"content":"changed' events)" 0
if [ ! -e "$HOME/hooks-ran" ]; then ok; else bad "hooks ran"; fi
git checkout -q note
rm -f events err
clean changes

repo sub-folder
mkdir flows && flow '[ { id: a, agent: c, contextFiles: [text] } ]' >flows/f.yaml <<<'  c: { run: "pwd >../where; cat; ls; basename \"$PWD\"" }'
echo committed >flows/text
git add -A && git -c core.hooksPath=/dev/null commit -qm two
echo "not committed" >flows/text
"$RONDO" run -q flows/f.yaml >"$HOME/out" 2>"$HOME/err" </dev/null
same "a folder: status" $? 0
same "a folder: its name" "$(tail -1 "$HOME/out")" flows
has "a folder: context files are of the commit" "committed" "$HOME/out"
same "a folder: and not of the folder" "$(grep -c 'not committed' "$HOME/out")" 0
same "a folder: branches" "$(branches)" "a "
git checkout -q flows/text
clean "a folder"
mkdir new && cp flows/f.yaml flows/text new && "$RONDO" run -q new/f.yaml >"$HOME/out" 2>"$HOME/err" </dev/null
same "a folder that is not in the commit" $? 1
has "a folder that is not in the commit" "new/: this folder is not in the commit" "$HOME/err"
rm -r new
clean "a folder that is not in the commit"

repo many
flow '[ { id: t, agent: twice, retry: { attempts: 2, delay: 1ms } }, { id: l, loop: { maxIterations: 3, steps: [ { id: x, agent: w } ] } }, { id: e, loop: { forEach: "lists.range(12)", maxConcurrency: 4, steps: [ { id: lock, agent: w } ] } } ]' >f.yaml <<'E'
  twice: { run: "ls; test -e made && exit 9; echo $RONDO_PATH >made; case $RONDO_PATH in t) exit 1;; esac" }
  w: { run: "test -e made && exit 9; echo $RONDO_PATH >made" }
E
"$RONDO" run -q f.yaml >"$HOME/out" 2>"$HOME/err" </dev/null
same "many: status" $? 0
same "many: branches" "$(git for-each-ref refs/heads/rondo | wc -l)" 17
same "many: a second try" "$(git show "$(branch_of t-1):made")" "t~1"
same "many: passes" "$(git show "$(branch_of l.2.x):made")" "l.2.x"
rm f.yaml
clean many

repo inner # files in files, workflow agents
mkdir parts
printf 'rondo: 1\nname: part\nagents: { c: { run: "echo x >made" } }\nsteps: [ { id: p, agent: c } ]\n' >parts/part.yaml
flow '[ { id: a, include: parts/part.yaml } ]' >f.yaml <<<'  unused: { script: [x] }'
git add -A && git -c core.hooksPath=/dev/null commit -qm two
"$RONDO" run -q f.yaml >"$HOME/out" 2>"$HOME/err" </dev/null
same "inner: status" $? 0
same "inner: branches" "$(branches)" "a.p "
same "inner: where" "$(git show "$(branch_of a.p):parts/made")" x
"$RONDO" rehearse -q f.yaml >"$HOME/out" 2>&1 </dev/null
same "inner: a rehearsal makes none" "$(branches)" "a.p "
"$RONDO" rehearse --commands -q f.yaml >"$HOME/out" 2>&1 </dev/null
same "inner: with commands it does" "$(branches)" "a.p a.p "
clean inner

repo wild # what was done to the tree
flow '[ { id: a, agent: gone }, { id: b, agent: foreign }, { id: c, agent: broken } ]' >f.yaml <<'E'
  gone: { run: "rm -rf \"$PWD\"; echo fine" }
  foreign: { run: "git init -q other; cd other; git config core.fsmonitor 'touch ../../../escaped; false'; echo fine" }
  broken: { run: "rm .git; git init -q .; printf '[core]\n\tfsmonitor = touch $HOME/escaped\n' >.git/config; echo fine" }
E
"$RONDO" run -q f.yaml >"$HOME/out" 2>"$HOME/err" </dev/null
same "wild: nothing escapes" "$(ls "$HOME/escaped" 2>/dev/null)" ""
has "wild: lost changes fail the step" "could not be kept" "$HOME/err"
rm f.yaml
clean wild

# ---- ends that come early ---------------------------------------------------------------------------------

repo early
flow '[ { id: a, agent: slow }, { id: b, agent: slow, dependsOn: [] } ]' >f.yaml <<'E'
  slow: { run: "echo part >made; echo $$ >>\"$HOME/pids\"; exec sleep 1000", grace: 100ms }
E
for signals in INT "INT INT" TERM; do
    rm -f "$HOME/pids"
    "$RONDO" run -q f.yaml >"$HOME/out" 2>"$HOME/err" </dev/null &
    job=$!
    until_true eval 'test "$(wc -l <"$HOME/pids")" = 2'
    for s in $signals; do kill -$s $job; done
    { wait $job; } 2>/dev/null
    until_true eval 'test -z "$(ls "$TMPDIR")"' # after the second signal nobody waits: the guard does it
    [ "$signals" != "INT INT" ] || git worktree prune
    clean "$signals"
done
case " $(branches)" in *" a "*) ok ;; *) bad "what a cancelled step had changed is not kept: $(branches)" ;; esac
rm -f "$HOME/pids"
"$RONDO" run -q f.yaml >"$HOME/out" 2>"$HOME/err" </dev/null &
job=$!
until_true eval 'test "$(wc -l <"$HOME/pids")" = 2'
kill -9 $job
{ wait $job; } 2>/dev/null
until_true eval 'test -z "$(ls "$TMPDIR")"' # the guard
same "kill -9: the repository still knows them" "$(git worktree list | wc -l)" 3
git worktree add -q --detach "$HOME/kept" && rm -r "$HOME/kept" # somebody else's is none of ours
flow '[ { id: a, agent: c } ]' >f.yaml <<<'  c: { run: [echo, fine] }'
"$RONDO" run -q f.yaml >"$HOME/out" 2>"$HOME/err" </dev/null
same "kill -9: the next run" "$(cat "$HOME/out")" fine
same "kill -9: has forgotten them" "$(git worktree list | wc -l)" 2
git worktree prune
clean "kill -9"

# A run that is resumed makes new ones, and finds the branches of before.
repo durable
export RONDO_STORE=$HOME/runs.db
flow '[ { id: a, agent: first }, { id: b, agent: slow, dependsOn: [a] } ]' >f.yaml <<'E'
  first: { run: "echo one >made" }
  slow: { run: "git cat-file -e rondo/$RONDO_RUN/a:made || exit 7; test -e made && exit 8; echo two >made; echo $$ >\"$HOME/pids\"; test -e \"$HOME/go\" || exec sleep 1000" }
E
rm -f "$HOME/pids"
"$RONDO" run f.yaml >"$HOME/out" 2>"$HOME/err" </dev/null &
job=$!
until_true test -s "$HOME/pids"
kill -9 $job
{ wait $job; } 2>/dev/null
until_true eval 'test -z "$(ls "$TMPDIR")"'
touch "$HOME/go"
id=$(sed -n 's/.*workflow_start [^(]*(\(r[0-9a-f]*\)).*/\1/p' "$HOME/err" | head -1)
"$RONDO" resume -q "$id" >"$HOME/out" 2>"$HOME/err" </dev/null
same "resumed: status" $? 0
same "resumed: branches" "$(branches)" "a b "
same "resumed: what was made" "$(git show "rondo/$id/b:made")" two
rm f.yaml
clean resumed

# ---- git that never ends --------------------------------------------------------------------------------

repo stuck
git=$(command -v git)
mkdir "$HOME/bin"
cat >"$HOME/bin/git" <<E
#!/bin/sh
case "\$*" in *"worktree add"*) echo \$\$ >"$HOME/stuck/.git/objects/pid"; exec sleep 1000 ;; esac
exec "$git" "\$@"
E
chmod +x "$HOME/bin/git"
flow '[ { id: a, agent: c, timeout: 500ms } ]' >f.yaml <<<"  c: { run: [touch, ran] }"
PATH=$HOME/bin:$PATH "$RONDO" run -q f.yaml >"$HOME/out" 2>"$HOME/err" </dev/null
same "stuck: status" $? 1
has "stuck: why" "timed out after 500 ms" "$HOME/err"
if [ -s .git/objects/pid ] && is_gone "$(cat .git/objects/pid)"; then ok; else bad "stuck: git is still there"; fi
rm f.yaml
clean stuck

# What a step has changed is kept, but nobody waits for that as long as for other work.
repo keeping
sed -i 's/"worktree add"/"status --porcelain"/; s/stuck/keeping/' "$HOME/bin/git"
flow '[ { id: a, agent: c, timeout: 500ms } ]' >f.yaml <<<"  c: { run: [touch, ran] }"
PATH=$HOME/bin:$PATH timeout 60 "$RONDO" run -q f.yaml >"$HOME/out" 2>"$HOME/err" </dev/null
same "keeping: status" $? 1
has "keeping: why" "timed out after 500 ms" "$HOME/err"
if [ -s .git/objects/pid ] && is_gone "$(cat .git/objects/pid)"; then ok; else bad "keeping: git is still there"; fi
rm f.yaml
clean keeping

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
