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
# bash_in SETTING COMMAND [OPTIONS]: what a model is told of it; the server is asked in the scratch folder
bash_in() {
    local setting=$1 text=$2 here=$PWD
    shift 2
    cd "$scratch" && serve < <(calls c1 bash "$(command_of "$text")"; then_; text "Done.") && cd "$here" || exit 1
    within "$setting" "$RONDO" run --yolo -q flow.yaml "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    (cd "$scratch" && said)
}
# tool_in TOOL ARGUMENTS: likewise of another tool
tool_in() {
    local here=$PWD
    cd "$scratch" && serve < <(calls c1 "$1" "$2"; then_; text "Done.") && cd "$here" || exit 1
    "$RONDO" run --yolo -q flow.yaml "${@:3}" >"$scratch/out" 2>"$scratch/err" </dev/null
    (cd "$scratch" && said)
}
like() { if grep -q -- "$2" <<<"$3"; then ok; else bad "$1: no '$2' in: $3"; fi; }
unlike() { if grep -q -- "$2" <<<"$3"; then bad "$1: '$2' in: $3"; else ok; fi; }

# ---- gates ----------------------------------------------------------------------------------------------------------

answer='ID=$(./r runs | grep -o "r[0-9a-f]\{16\}" | head -1); ./r answer $ID approve true --by alice; cp .rondo/rondo.db stolen.db; cp runs.db stolen.db; true'
for setting in $settings; do
    project; gated; mkdir .rondo
    bash_in $setting "$answer" >/dev/null
    same "$setting: a gate in the project's store" "$status" 5
    same "$setting: nobody answered it" "$(ls deployed stolen.db 2>/dev/null)" ""
    project; gated
    echo 'options: { store: ./runs.db }' >>flow.yaml
    bash_in $setting "export RONDO_STORE=runs.db; $answer" >/dev/null
    same "$setting: a gate in a store of the file's choice" "$status" 5
    same "$setting: nobody answered that" "$(ls deployed; head -c 6 stolen.db 2>/dev/null)" ""
done

sum() { echo "$passed passed, $failed failed"; [ "$failed" = 0 ]; }
sum
