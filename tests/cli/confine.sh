#!/bin/bash
# confine.sh - what a model's tools reach of stores and of git's settings: nothing, whatever it tries, as any user, with
# bubblewrap and without it, and where there are no namespaces.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
command -v git >/dev/null && command -v jq >/dev/null && command -v unshare >/dev/null ||
    { echo "git, jq or unshare is not here"; exit 77; }
"$RONDO" doctor | grep -q '^..  sandbox  *files' || { echo "there is no sandbox here"; exit 77; }

# Once more as somebody who may do little, with a program that he may read.
if [ -z "${AGAIN:-}" ] && [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    away=$(mktemp -d) && mkdir "$away/tests" && cp "$RONDO" "$away" && cp "$(dirname "$RONDO")/tests/server" "$away/tests"
    mkdir "$away/root" && cp -r --parents tests/cli/talk_server tests/cli/checks tests/cli/confine.sh "$away/root" 2>/dev/null ||
        (cd "$ROOT" && cp -r --parents tests/cli/talk_server tests/cli/checks tests/cli/confine.sh "$away/root")
    chown -R 65534:65534 "$away"
    AGAIN=1 TMPDIR=$away ROOT=$away/root RONDO=$away/rondo HOME=$away XDG_DATA_HOME=$away/data \
        setpriv --reuid=65534 --regid=65534 --clear-groups bash -c 'cd "$HOME" && bash "$ROOT/tests/cli/confine.sh"' >nobody 2>&1
    nobody_failed=$? nobody_said=$(cat nobody)
    rm -rf "$away"
fi
. "$ROOT/tests/cli/talk_server"
[ -z "${nobody_said:-}" ] || { sed '$d; s/^/nobody: /' <<<"$nobody_said"; passed=$(tail -1 <<<"$nobody_said" | sed 's/ .*//') failed=$nobody_failed; }
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t
export COMPAT_API_KEY=none
unset RONDO_STORE GIT_DIR GIT_WORK_TREE

# ---- settings --------------------------------------------------------------------------------------------------

hide='mount --bind /dev/null /usr/bin/bwrap 2>/dev/null; '
none='echo 0 >/proc/sys/user/max_user_namespaces && echo 0 >/proc/sys/user/max_mnt_namespaces && '
within() { # SETTING COMMAND...
    local setting=$1
    shift
    case $setting in
    bubblewrap) "$@" ;;
    view) unshare -rm sh -c "$hide"'exec "$@"' sh "$@" ;;
    none) unshare -rm sh -c "$hide$none"'exec "$@"' sh "$@" ;;
    mounted) within $wrap_mount unshare -rm sh -c 'mount --bind .rondo copy || exit 9; exec "$@"' sh "$@" ;;
    esac
}
settings=
for setting in bubblewrap view none; do
    doctor=$(within $setting "$RONDO" doctor 2>/dev/null)
    case $setting in
    bubblewrap) grep -q '^ok  bubblewrap .*inside of it' <<<"$doctor" && settings+=" $setting" ;;
    view) grep '^..  sandbox  *files' <<<"$doctor" | grep -qv 'no namespaces' && settings+=" $setting" ;;
    none) grep '^..  sandbox  *files' <<<"$doctor" | grep -q 'no namespaces' && settings+=" $setting" ;;
    esac
done
echo "settings:$settings (user $(id -u))"

# ---- a folder to work in -----------------------------------------------------------------------------------------

project() { # a new one, with a commit; leaves us in it
    cd "$scratch" && rm -rf p data out err && mkdir p data && cd p && git init -q . || exit 1
    cp "$RONDO" r
    echo first >note
    git add note && git commit -qm one || exit 1
    flow flow.yaml <<'F'
name: try
agents:
  m: { prompt: p, model: compat/m, tools: [bash, read, write, edit, glob, grep] }
  d: { run: ["sh", "-c", "echo deployed >deployed"] }
steps:
  - { id: model, agent: m, instructions: x }
F
}
gated() {
    cat >>flow.yaml <<'F'
  - { id: approve, gate: { ask: "Deploy?", schema: { type: boolean } } }
  - { id: deploy, agent: d, dependsOn: [approve, model], condition: "steps.approve.result == true" }
F
}
command_of() { jq -n --arg c "$1" '{command: $c}'; }
said() { asked 1 '[.messages[] | select(.role=="tool").content] | join("\n")'; } # of all calls of the first turn
# bash_in SETTING COMMAND [OPTIONS]: got is what a model is told of it
tell_in() { # SETTING [OPTIONS]: the answers of the server are on stdin
    local setting=$1 here=$PWD
    shift
    cd "$scratch" && serve && cd "$here" || exit 1
    within "$setting" "$RONDO" run --yolo -q flow.yaml "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    got=$(cd "$scratch" && said)
}
bash_in() { tell_in "$1" "${@:3}" < <(calls c1 bash "$(command_of "$2")"; then_; text "Done."); }
# tool_in TOOL ARGUMENTS [OPTIONS]: likewise of another tool
tool_in() { tell_in bubblewrap "${@:3}" < <(calls c1 "$1" "$2"; then_; text "Done."); }
like() { if grep -q -- "$2" <<<"$got"; then ok; else bad "$1: no '$2' in: $got"; fi; }
unlike() { if grep -q -- "$2" <<<"$got"; then bad "$1: '$2' in: $got"; else ok; fi; }

# ---- gates ----------------------------------------------------------------------------------------------------------

answer='ID=$(./r runs | grep -o "r[0-9a-f]\{16\}" | head -1); ./r answer $ID approve true --by alice
cp .rondo/rondo.db stolen.db; cp runs.db stolen.db; true'
for setting in $settings; do
    project; gated; mkdir .rondo
    bash_in $setting "$answer"
    same "$setting: a gate in the project's store" "$status" 5
    same "$setting: nobody answered it" "$(ls | grep -c 'deployed\|stolen')" 0
    project; gated
    echo 'options: { store: ./runs.db }' >>flow.yaml
    bash_in $setting "export RONDO_STORE=runs.db; $answer" >/dev/null
    same "$setting: a gate in a store of the file's choice" "$status" 5
    same "$setting: nobody answered that" "$(ls deployed 2>/dev/null; head -c 6 stolen.db 2>/dev/null)" ""
done

# ---- commands -------------------------------------------------------------------------------------------------------

# Each line is a way to a store or to a setting of git, and succeeds when it got there.
canary=CANARY-31f0
ways() { cat <<'E'
grep -q CANARY .rondo/rondo.db
grep -q CANARY "$PWD/.rondo/../.rondo/rondo.db"
grep -q CANARY link
grep -q CANARY folder/rondo.db
grep -q CANARY -r .
grep -q CANARY /proc/self/cwd/.rondo/rondo.db
ln .rondo/rondo.db hard && grep -q CANARY hard
cp .rondo/rondo.db copy && grep -q CANARY copy
[ -n "$(ls -A .rondo)" ]
mv .rondo away
mv deep elsewhere && mv elsewhere deep
mv deep/er/named.db deep/er/other.db
grep -q CANARY deep/er/named.db
cp note deep/er/named.db && [ -s deep/er/named.db ]
echo x >deep/er/named.db-journal && [ -s deep/er/named.db-journal ]
rm deep/er/named.db
rm -r .rondo
rm .rondo/rondo.db && rmdir .rondo
echo x >.rondo/rondo.db
echo x >.rondo/new
mkdir .rondo/new
chmod 755 .rondo
git config core.fsmonitor "touch pwned"
git config filter.x.smudge "touch pwned"
git config extensions.worktreeConfig true
git config --file .git/config.worktree a.b c && [ -s .git/config.worktree ]
echo >>.git/config
cp note .git/config
mv note .git/config
ln -sf "$PWD/note" .git/config
rm -f .git/config
mv .git/config .git/other
mv .git away && mkdir .git
mv -T .git .git2
rm -rf .git/hooks
echo x >.git/hooks/pre-commit
mkdir .git/hooks/x
mv .git/hooks .git/hooks2
ln -s "$PWD" .git/hooks/new
mkdir -p .git/info && echo x >.git/info/attributes
mkdir -p .git/info && mv .git/info .git/info2
echo x >.git/config.worktree && [ -s .git/config.worktree ]
mkdir -p .git/worktrees/w/x
echo x >.git/modules/m/config
mv .git/modules .git/modules2
mv .git/worktrees .git/worktrees2
chmod +x .git/hooks/pre-push.sample
mkdir evil; echo ../evil >.git/commondir
E
}
settle() { # where the ways lead
    mkdir -p .rondo deep/er .git/modules/m/objects .git/worktrees/w
    echo $canary >.rondo/rondo.db
    cp .rondo/rondo.db deep/er/named.db
    cp note .git/modules/m/config
    touch .git/hooks/pre-push.sample
    rm -rf .git/info .git/config.worktree
    ln -s .rondo/rondo.db link
    ln -s .rondo folder
}
attempts() {
    local n=0 way
    while IFS= read -r way; do
        n=$((n + 1))
        printf '( %s\n) >/dev/null 2>&1 && echo ESCAPED by %s\n' "$way" $n
    done < <(ways)
    echo "echo tried"
}
sums() { find .rondo deep .git/config .git/modules .git/hooks -type f -exec cksum {} + 2>/dev/null | sort; }

project; settle # outside of a sandbox they all work
number=0 missing=
while IFS= read -r way; do
    number=$((number + 1))
    rm -rf "$scratch/control" && cp -a "$scratch/p" "$scratch/control"
    (cd "$scratch/control" && eval "$way") >/dev/null 2>&1 </dev/null || missing+=" $number"
done < <(ways)
same "ways that lead nowhere without a sandbox" "$missing" ""

for setting in $settings; do
    [ $setting = none ] && continue
    project; settle
    before=$(sums)
    RONDO_STORE=$PWD/deep/er/named.db bash_in $setting "$(attempts)" --store :memory:
    like "$setting: the ways were tried" "^tried"
    unlike "$setting: a way to a store, or to git" ESCAPED
    same "$setting: all is as it was" "$(sums)" "$before"
    same "$setting: nothing stays in .git" "$(ls -d .git/commondir* 2>/dev/null)" ""

    # What is a link cannot be covered.
    for link in .rondo .git/hooks .git/config; do
        project; mkdir other; rm -rf $link; ln -s "$PWD/other" $link
        bash_in $setting 'echo ran' --store :memory:
        like "$setting: a link $link" "no command is run: .*is a link"
    done

    # Ordinary work.
    project
    bash_in $setting 'echo more >>note; git add . && git -c user.name=t -c user.email=t@t commit -qm two && git log --format=%s; git stash list
git checkout -qb side; git branch; mkdir sub && mv note sub/ && mv sub other && cat other/note
echo new >new; git -c user.name=t -c user.email=t@t stash -q -u; ls new; git stash pop -q && cat new; git show --stat --format= HEAD'
    like "$setting: a commit" "^two$"
    unlike "$setting: git sees nothing of ours" "mcp.json  *|"
    like "$setting: a stash" "^new$"
    like "$setting: a branch" "^. side$"
    like "$setting: files" "^more$"
    same "$setting: and the commit is there" "$(git log --format=%s | head -1)" two

    # A project's store does not come into being, and nothing stays of what is in its way.
    project
    bash_in $setting 'mkdir .rondo && echo MADE; mkdir x && mv -T x .rondo && echo MADE; rm -f .rondo && mkdir .rondo && echo MADE
git status --porcelain; echo tried' --store :memory:
    like "$setting: a new store" "^tried"
    unlike "$setting: no new store" "^MADE\|?? .rondo"
    same "$setting: nothing stays" "$(ls -A | grep rondo)" ""

    # The user's own, which is not there yet, or is; seen from a folder that contains it.
    project
    mkdir -p "$scratch/home/work"
    export XDG_DATA_HOME=$scratch/home/data
    bash_in $setting 'mkdir -p data/rondo && echo x >data/rondo/rondo.db && echo MADE; mv data elsewhere && echo MADE
echo tried' --store :memory: --workdir "$scratch/home"
    like "$setting: the user's own store, to be" "^tried"
    unlike "$setting: it is not made" MADE
    mkdir -p "$XDG_DATA_HOME/rondo" && echo $canary >"$XDG_DATA_HOME/rondo/rondo.db"
    bash_in $setting 'cat data/rondo/rondo.db; ls -A data/rondo; mv data elsewhere && echo MADE
echo tried' --store :memory: --workdir "$scratch/home"
    like "$setting: the user's own store" "^tried"
    unlike "$setting: it is not seen" "MADE\|CANARY\|^rondo.db$"
    bash_in $setting 'echo ran' --store :memory: --workdir "$XDG_DATA_HOME/rondo"
    like "$setting: not in its folder" "is in the folder of a store"
    ln "$XDG_DATA_HOME/rondo/rondo.db" "$scratch/home/work/hard"
    bash_in $setting 'echo ran; cat hard' --store :memory: --workdir "$scratch/home/work"
    like "$setting: another name of it" "no command is run: .*hard link"
    unlike "$setting: and none was" "^ran\|CANARY"
    rm -rf "$scratch/home"
    export XDG_DATA_HOME=$scratch/data

    # The same folder in two places.
    project
    mkdir .rondo copy && echo $canary >.rondo/rondo.db
    wrap_mount=$setting
    bash_in mounted 'cat copy/rondo.db copy/.rondo/rondo.db; echo tried' --store :memory:
    like "$setting: a folder that is mounted twice" "^tried"
    unlike "$setting: neither is seen" "CANARY"

    # Several commands at the same time keep what is in the way for each other.
    project
    tell_in $setting --store :memory: < <(
        calls c1 bash "$(command_of 'sleep 0.3; mkdir .rondo && echo MADE; echo tried')" \
            c2 bash "$(command_of 'true')" c3 bash "$(command_of 'sleep 0.6; mkdir .rondo && echo MADE')"
        then_; text "Done.")
    like "$setting: side by side" "^tried"
    unlike "$setting: side by side, no store" MADE
    same "$setting: side by side, nothing stays" "$(ls -A | grep rondo)" ""
done

# ---- where there are no namespaces ------------------------------------------------------------------------------------

refused() { # NAME WHY OPTIONS...
    bash_in none 'echo ran $((6 * 7))' "${@:3}"
    like "without namespaces: $1" "no command is run: .*$2"
    unlike "without namespaces: $1: none was" "ran 42"
}
if [[ $settings == *none* ]]; then
    project
    bash_in none 'echo ran $((6 * 7)); cat note; cat "$0" /etc/shadow; echo x >../outside' --store "$scratch/data/x.db"
    like "without namespaces: a command" "^ran 42$"
    same "without namespaces: it is confined" "$(ls "$scratch/outside" 2>/dev/null)" ""
    got=$(within none "$RONDO" doctor | grep sandbox); like "without namespaces: doctor tells" "no namespaces"
    mkdir .rondo
    refused "a project's store" "\.rondo"
    project
    refused "another store" "sub/x.db" --store "$PWD/sub/x.db"
    rm -rf "$scratch/data"
    refused "a folder that will contain one" "data/rondo" --store :memory: --workdir "$scratch"
    mkdir -p "$scratch/data/rondo"
    refused "a folder that contains one" "data/rondo" --store :memory: --workdir "$scratch"
    mkdir -p "$scratch/bin"
    PATH=$PATH:$scratch/bin refused "a store among programs" "bin/x.db" --store "$scratch/bin/x.db"
fi

# ---- tools for files ------------------------------------------------------------------------------------------------

# try_all TOOL WANTED PATH...: one call each
tries=() wanted=()
try_all() {
    local tool=$1 answer=$2 path
    for path in "${@:3}"; do
        tries+=("c${#wanted[@]}" "$tool" "$(jq -nc --arg p "$path" --arg t "$tool" '{path: $p} +
            if $t == "write" then {content: "x"} elif $t == "edit" then {old: "CANARY", new: "x"} else {} end')")
        wanted+=("$answer")
    done
}

project; settle; mkdir sub
ln .rondo/rondo.db hard
before=$(sums)
for tool in read edit; do
    try_all $tool "belongs to a store" .rondo/rondo.db .rondo/../.rondo/rondo.db "$PWD/.rondo/rondo.db" link folder/rondo.db \
        hard deep/er/named.db
done
try_all write "belongs to a store" .rondo/rondo.db .rondo/new sub/.rondo/rondo.db .Rondo/x .rondo folder/new link \
    deep/er/named.db-journal
try_all write "is only read here" .git/config .git/hooks/new .git/info/attributes .git/config.worktree .git/commondir \
    .git/modules/m/config sub/.git sub/.git/config
try_all read "repositoryformatversion" .git/config
try_all write "made" .git/remarks
export RONDO_STORE=$PWD/deep/er/named.db
tell_in bubblewrap --store :memory: < <(calls "${tries[@]}"; then_; text "Done.")
for i in "${!wanted[@]}"; do
    got=$(cd "$scratch" && asked 1 ".messages[] | select(.tool_call_id==\"c$i\").content")
    like "${tries[3 * i + 1]} ${tries[3 * i + 2]}" "${wanted[i]}"
done
same "all is as it was" "$(sums)" "$before"
same "no folder was made" "$(ls -d sub/.rondo .Rondo .git/info 2>/dev/null)" ""
tool_in glob '{"pattern":"**","hidden":true}' --store :memory:; unlike "glob" "rondo.db"
tool_in glob '{"pattern":"*","path":".rondo"}' --store :memory:; like "glob in it" "belongs to a store"
rm link folder
tool_in grep '{"pattern":"CANARY-","hidden":true}' --store :memory:; like "grep" "nothing\|no "
unset RONDO_STORE

# Files that are read for a model, by a link that an earlier one made.
project; settle
mkdir skill && printf -- '---\nname: skill\ndescription: d\n---\nbody\n' >skill/SKILL.md
ln .rondo/rondo.db skill/hard && ln .rondo/rondo.db notes.md && ln .rondo/rondo.db AGENTS.md
sed -i 's/model: compat.m, /&skills: [skill], projectNotes: true, /; s/instructions: x/&, contextFiles: [notes.md, link]/' flow.yaml
tool_in skill '{"name":"skill","file":"hard"}' --store :memory:
like "a file of a skill" "belongs to a store"
unlike "a file of a skill" CANARY
got=$(cd "$scratch" && asked 0 '[.messages[].content] | join("\n")')
like "context files" "error: the file belongs to a store"
unlike "context files, notes" CANARY

project
tool_in read '{"path":"own.db"}' --store own.db; like "the store of this run" "belongs to a store"
"$RONDO" runs --store own.db >/dev/null 2>&1 && ok || bad "the store of this run: it is not whole"

# ---- worktrees --------------------------------------------------------------------------------------------------------

isolated() { # a project with two steps in worktrees: a model, then a command
    project
    flow flow.yaml <<'F'
name: try
options: { isolation: worktree-per-step }
agents:
  m: { prompt: p, model: compat/m, tools: [bash, read, write] }
  none: { prompt: p, model: compat/m, tools: [] }
  d: { run: ["true"] }
steps:
  - { id: first, agent: m, instructions: x }
  - { id: second, agent: d, dependsOn: [first] }
F
    git add flow.yaml && git commit -qm two
}
pwned=$scratch/pwned
program="sh -c 'touch $pwned; cat'"
config=$(printf '[core]\n\trepositoryformatversion = 0\n[filter "x"]\n\tsmudge = "%s"\n\tclean = cat\n' "$program")

# By tools for files, and by commands.
isolated
tell_in bubblewrap --sandbox --store :memory: < <(
    calls c1 write "$(jq -n --arg c "$config" '{path: ".git/config", content: $c}')" \
        c2 write '{"path":".git/info/attributes","content":"* filter=x\n"}' \
        c3 write '{"path":".gitattributes","content":"* filter=x\n"}'; then_; text "Done.")
same "a model that has set a filter" "$status $(ls "$pwned" 2>/dev/null)" "0 "
for setting in $settings; do
    isolated; rm -f "$pwned"
    bash_in $setting "git config filter.x.smudge \"$program\"; git config filter.x.clean \"$program\"; echo '* filter=x' >.gitattributes
echo '* filter=x' >.git/info/attributes; echo tried" --store :memory:
    like "$setting: a command that sets a filter" "^tried"
    same "$setting: a filter that a command set" "$status $(ls "$pwned" 2>/dev/null)" "0 "

    # Where the user has set one, it works, and is confined.
    isolated
    git config filter.x.smudge "sh -c 'touch $pwned; cat $scratch/seen; tr a-z A-Z'"
    git config filter.x.clean "sh -c 'touch $pwned; tr A-Z a-z'"
    echo 'note filter=x' >.gitattributes && git add .gitattributes && git commit -qm three
    echo $canary >"$scratch/seen" && rm -f "$pwned"
    bash_in $setting 'pwd; cat note; echo MORE >>note; git status --porcelain | head -1; ls "$OLDPWD" ..' --store :memory:
    like "$setting: the user's filter" "^FIRST"
    unlike "$setting: it reads no more than a command of a model" CANARY
    same "$setting: it writes nothing else" "$status $(ls "$pwned" 2>/dev/null)" "0 "
    same "$setting: what it cleaned" "$(git show "$(git for-each-ref --format='%(refname:short)' refs/heads/rondo)":note)" "first
more"

    # One that is a script in the tree is the model's, and changes no settings.
    isolated
    git config filter.x.clean ./clean && printf 'cat\n' >clean && chmod +x clean && echo 'note filter=x' >.gitattributes
    git add . && git commit -qm three && before=$(sums)
    bash_in $setting 'cat >clean <<E
G=\$(git rev-parse --git-common-dir); echo x | tee -a \$G/config \$G/hooks/pre-commit \$G/info/attributes; echo cleaned
E
echo more >>note' --store :memory:
    same "$setting: a filter of the model" "$status $(git show "$(git for-each-ref --format='%(refname:short)' refs/heads/rondo)":note | tail -1)" "0 cleaned"
    same "$setting: all is as it was" "$(sums)" "$before"

    # Neither links, nor the branch that is checked out there, lead to what is the user's.
    isolated
    git branch dev && before=$(sums)
    bash_in $setting 'git checkout -q dev; D=$(git rev-parse --git-dir); ln -sf ../../config $D/COMMIT_EDITMSG
rm -rf $D/logs; mkdir $D/logs; ln -s ../../../hooks/pre-commit $D/logs/HEAD; echo more >>note' --store :memory:
    same "$setting: what is kept" "$status $(git show "$(git for-each-ref --format='%(refname:short)' refs/heads/rondo)":note | tail -1)" "0 more"
    same "$setting: the settings" "$(sums)" "$before"
    same "$setting: the user's branch" "$(git log -1 --format=%s dev)" two

    # The model works in the worktree.
    isolated
    tell_in $setting --store :memory: < <(calls c1 write '{"path":"made","content":"by a tool"}' c2 bash "$(command_of 'pwd; ls -A
git add made && git -c user.name=t -c user.email=t@t commit -qm mine && git log -1 --format=said:%s; echo late >late
( git config a.b c; echo x >.git; mv .git x; echo x >>"$(git rev-parse --git-dir)/config.worktree"
  echo x >"$(git rev-parse --git-dir)/commondir"; echo x >"$(git rev-parse --git-common-dir)/HEAD"
  git branch -f master; rm -r "$(git rev-parse --git-common-dir)/refs" ) 2>&1 | grep -c .; echo tried')"; then_; text "Done.")
    like "$setting: in a worktree: a tool" "^made"
    like "$setting: in a worktree: not in the folder" "^/.*-tree$"
    branch=$(git for-each-ref --format='%(refname:short)' refs/heads/rondo)
    like "$setting: in a worktree: a commit" "^said:mine"
    same "$setting: in a worktree: what is kept" "$(git log --format=%s "$branch" | tr '\n' ' ')$(git show "$branch:made" "$branch:late")" \
        "first mine two one by a toollate"
    same "$setting: in a worktree: the folder of the user" "$(git status --porcelain; ls made late 2>/dev/null)" "?? r"
    same "$setting: in a worktree: its repository" "$(git log -1 --format=%s master; git worktree list | wc -l)" "two
1"
done
# One that waits for somebody goes on in another process with what it had changed.
isolated
cd "$scratch" && serve < <(calls c1 write '{"path":"made","content":"half"}'; then_; calls c2 bash "$(command_of 'cat made; echo >more')"; then_
    text "Done.") && cd p || exit 1
"$RONDO" run --allow write -q flow.yaml --store "$scratch/data/y.db" >"$scratch/out" 2>"$scratch/err" </dev/null
same "it waits" $? 5
branch=$(git for-each-ref --format='%(refname:short)' refs/heads/rondo)
same "what it had changed meanwhile" "$(git show "$branch:made")" half
"$RONDO" resume --allow write,bash -q "$(cut -d / -f 2 <<<"$branch")" --store "$scratch/data/y.db" >"$scratch/out" 2>"$scratch/err" </dev/null
same "it goes on" $? 0
got=$(cd "$scratch" && asked 2 '.messages[-1].content')
like "what it sees then" "^half"
same "what it has changed then" "$(git for-each-ref refs/heads/rondo | wc -l) $(git ls-tree --name-only "$branch" | tr '\n' ' ')" \
    "1 flow.yaml made more note "

isolated
sed -i 's/agent: m,/agent: none,/' flow.yaml
git add flow.yaml && git commit -qm three && rm -rf .git
cd "$scratch" && serve < <(text "Done.") && cd p || exit 1
sed -i 's/^  - { id: second.*//' flow.yaml
check "a model without tools for files needs no worktree" 0 "Done." "$RONDO" run -q flow.yaml --store :memory:

sum() { echo "$passed passed, $failed failed"; [ "$failed" = 0 ]; }
sum
