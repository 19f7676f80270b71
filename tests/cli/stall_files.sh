# stall_files.sh - `stall: { files: [...] }`: a loop stalls when its agents change no file any more.
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
cd "$(mktemp -d)" || exit 1
scratch=$PWD
trap 'cd /; rm -rf "$scratch"' EXIT
. "$ROOT/tests/cli/checks"
export HOME=$scratch XDG_DATA_HOME=$scratch/data NO_COLOR=1 GIT_CONFIG_NOSYSTEM=1 GIT_CEILING_DIRECTORIES=$scratch
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE XDG_CONFIG_HOME
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t

# The agent: its Nth call carries out line N of the file `work`, and prints $said.
cat >coder <<'F'
n=$(($(cat .n 2>/dev/null || echo 0) + 1))
echo $n >.n
said=same
eval "$(sed -n "${n}p" work)"
echo "$said"
F
coder() { # LOOP MORE
    flow w.yaml <<F
name: w
agents:
  coder: { run: [sh, $scratch/coder], env: [HOME, GIT_CONFIG_NOSYSTEM, GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_COMMITTER_NAME, GIT_COMMITTER_EMAIL] }
steps: [ { id: code, agent: coder, loop: { maxIterations: 20, $1 } $2 } ]
F
}
folder() { cd "$scratch" && rm -rf "$1" && mkdir -p "$1/src" && cd "$1" || exit 1; }

# story: what the passes changed (+ something, - nothing, ? not known, a comma after each pass), and how the loop ended
story() {
    jq -rs '[.[] | if .type == "files_seen" and .data.changed then
                 .data.changed | map(if . == true then "+" elif . == false then "-" else "?" end) | join("")
             elif .type == "iteration_end" then "," elif .type == "loop_end" then " " + .data.why else empty end] | join("")' "$1"
}
run() { # NAME STORY: runs w.yaml, and replays it
    "$RONDO" run --store "$scratch/s.db" --json w.yaml >out 2>err </dev/null
    same "$1" "$(story out)" "$2"
    "$RONDO" replay --store "$scratch/s.db" "$(jq -r 'select(.type == "workflow_start").runId' out)" >replayed 2>&1 ||
        bad "$1 does not replay: $(cat replayed)"
}
still="stalled: no file changed in 3 passes in a row (stall.repeats: 3)"

# ---- what counts ------------------------------------------------------------------------------------------------
folder plain
coder 'stall: { files: ["src/**"] }'
printf '%s\n' 'echo a >src/a' 'echo b >src/a' 'mkdir -p src/deep; echo x >src/deep/.x' 'rm src/a' 'mv src/deep src/d' \
    'chmod +x src/d/.x' 'ln -s d src/link' >work
run "a folder" "+,+,+,+,+,+,+,-,-,-, $still"
folder quiet
coder 'stall: { files: ["src/**"] }'
echo a >src/a
mkdir .rondo src/.git src/.rondo
printf '%s\n' 'echo b >src/a' 'touch src/a' 'echo x >other; echo >src/.git/HEAD; echo >src/.rondo/x' 'cp src/a src/b; rm src/a; mv src/b src/a' >work
run "what was only touched, lies elsewhere, or is git's or rondo's own" "+,-,-,-, $still"
same "the same size and time, another content" "$(folder racy
    coder 'stall: { files: [src/a] }'
    printf '%s\n' 'echo 1 >src/a; touch -d @1000000000 src/a' 'echo 2 >src/a; touch -d @1000000000 src/a' >work
    "$RONDO" run --store "$scratch/s.db" --json w.yaml 2>err | story /dev/stdin)" "+,+,-,-,-, $still"

if command -v git >/dev/null && "$RONDO" doctor 2>/dev/null | grep -qi 'sandbox.*landlock\|landlock'; then
    folder repo
    git init -q .
    printf '*.o\n.n\nwork\n' >.gitignore
    echo a >src/a
    coder 'stall: { files: ["src/**"] }'
    git add . && git commit -qm one
    printf '%s\n' 'echo b >>src/a' 'git add src/a' 'git commit -qm two' 'echo new >src/new' 'rm src/new' 'chmod +x src/a' \
        'echo >src/x.o' 'touch src/a' 'git commit -q --allow-empty -m three' >work
    run "working tree, index, HEAD, new files; not what is ignored" "+,+,+,+,+,+,-,-,-, $still"
    folder repo/sub
    git -C .. init -q
    coder 'stall: { files: ["src/**"], repeats: 2 }'
    printf '%s\n' 'echo b >src/a' 'echo x >../x; git add ../x; git commit -qm x' >work
    run "a folder in a repository" "+,-,-, stalled: no file changed in 2 passes in a row (stall.repeats: 2)"
    folder empty
    git init -q .
    coder 'stall: { files: ["src/**"], repeats: 2 }'
    echo 'echo b >src/a' >work
    run "a repository without a commit" "+,-,-, stalled: no file changed in 2 passes in a row (stall.repeats: 2)"
    folder trees
    git init -q .
    echo a >src/a
    coder 'stall: { files: ["src/**"], repeats: 2 }'
    echo 'options: { isolation: worktree-per-step }' >>w.yaml
    sed "s|\.n|$PWD/.n|g; s|work)|$PWD/work)|" ../coder >its
    sed -i "s|$scratch/coder|$PWD/its|" w.yaml
    printf '%s\n' 'echo b >src/a' 'echo >other' 'true' >work
    git add src && git commit -qm one
    run "worktrees: what is on the branch" "+,-,-, stalled: no file changed in 2 passes in a row (stall.repeats: 2)"
fi

# ---- files and words ----------------------------------------------------------------------------------------------
folder words
coder 'stall: { files: ["src/**"] }'
printf '%s\n' 'said=1' 'said=2' 'said=3' 'said=4' >work
touch src/a
run "before the first change the words count" "-,-,-,-,-,-,-, $still"
printf '%s\n' 'said=1; echo >>src/a' 'said=2' 'said=3' 'said=4' >work
rm -f .n
run "after it they do not" "+,-,-,-, $still"
coder 'stall: { files: ["src/**"], words: true }'
rm -f .n
run "files and words" "+,-,-,-,-,-,-, stalled: no file changed, and the output was the same, in 3 passes in a row (stall.repeats: 3)"
printf '%s\n' 'echo 1 >src/a' 'echo 2 >src/a' 'echo 3 >src/a' 'echo 4 >src/a' >work
rm -f .n
run "the same words while files change" "+,+,+,+,-,-,-, stalled: no file changed, and the output was the same, in 3 passes in a row (stall.repeats: 3)"
coder 'stall: { files: ["src/**"], repeats: 2 }'
printf '%s\n' 'echo 1 >src/a; said=a' 'echo 2 >src/a; said=b' 'echo 3 >src/a; said=a' 'echo 4 >src/a; said=b' >work
rm -f .n
run "words that take turns" "+,+,+,+,-,-, stalled: no file changed in 2 passes in a row (stall.repeats: 2)"
flow w.yaml <<'F'
name: w
agents: { w: { script: [same] } }
steps: [ { id: l, agent: w, loop: { maxIterations: 9, stall: { files: ["src/**"] } } } ]
F
run "scripts change nothing" ",,, $still"

# ---- failed passes, several agents, loops in loops ------------------------------------------------------------------
folder fails
coder 'onError: continue, delay: 1ms, stall: { files: ["src/**"] }'
printf '%s\n' 'echo 1 >src/a; exit 1' 'exit 1' 'echo 2 >src/a; kill -9 $$' 'exit 1' >work
run "passes that fail" "+,-,+,-,-,-, $still"
folder many
flow w.yaml <<'F'
name: w
agents:
  once: { run: [sh, -c, "test -e src/x || echo >src/x"] }
  nothing: { run: ["true"] }
steps:
  - id: outer
    loop:
      maxIterations: 9
      stall: { files: ["src/**"], repeats: 2 }
      steps:
        - { id: first, agent: nothing }
        - { id: inner, agent: once, dependsOn: [first], loop: { maxIterations: 9, stall: { files: ["src/[0-9]"], repeats: 2 } } }
F
two="stalled: no file changed in 2 passes in a row (stall.repeats: 2)"
run "loops in loops" "--+,-?, $two,---,--, $two,---,--, $two, $two"

# ---- recordings -----------------------------------------------------------------------------------------------------
folder records
coder 'onError: continue, stall: { files: ["src/**"] }'
printf '%s\n' 'echo 1 >src/a' 'true' 'echo 2 >src/a; exit 1' 'echo 3 >src/b' >work
"$RONDO" run --store "$scratch/s.db" --json w.yaml --record src/rec >out 2>err </dev/null
same "a recording that grows among the files is no change" "$(story out)" "+,-,+,+,-,-,-, $still"
mv src elsewhere
for i in 1 2; do
    "$RONDO" run --store :memory: --json w.yaml --replay elsewhere/rec --record "rec.$i" >played 2>err </dev/null
    [ -s "rec.$i" ] || bad "a replay: $(cat err)"
    same "what was recorded is told again" "$(story played)" "+,-,+,+,-,-,-, $still"
    same "as it was" "$(jq -c 'select(.type == "files_seen") | [.path, .data]' played)" "$(jq -c 'select(.type == "files_seen") | [.path, .data]' out)"
    mv "rec.$i" elsewhere/rec
done

# ---- kill -9 in the middle of a pass ----------------------------------------------------------------------------------
# The pass had changed something before its process died, and changes nothing when it is done again.
killed() { # NAME: of a folder whose work is there
    "$RONDO" run --store "$scratch/s.db" w.yaml >out 2>err </dev/null &
    local rondo=$! id
    wait_for half .
    kill -9 $rondo
    wait $rondo 2>/dev/null
    id=$(run_id err)
    "$RONDO" resume --store "$scratch/s.db" --quiet "$id" >out 2>err </dev/null
    "$RONDO" events --store "$scratch/s.db" --json "$id" >events
    "$RONDO" replay --store "$scratch/s.db" "$id" >replayed 2>&1 || bad "$1 does not replay: $(cat replayed)"
}
folder kill
coder 'stall: { files: ["src/**"] }'
printf '%s\n' 'echo 1 >src/a' 'echo 2 >src/a; echo x >half; sleep 20' >work
killed "a pass that is killed"
same "a pass that is killed" "$(story events)" "+,+,-,-,-, $still"
folder kill-still
coder 'stall: { files: ["src/**"] }'
printf '%s\n' 'echo 1 >src/a' 'echo x >half; sleep 20' >work
killed "one that had changed nothing"
same "one that had changed nothing" "$(story events)" "+,-,-,-, $still"
same "it was seen once before each beginning" "$(jq -r 'select(.type == "files_seen" and .data.marks) | .path' events | tr '\n' ' ')" \
    "code.0 code.1 code.2 code.3 "

# An agent that is cancelled is compared when it has ended.
folder cancel
coder 'stall: { files: ["src/**"] }'
printf '%s\n' 'echo 1 >src/a' 'echo 2 >src/a; echo x >half; sleep 20' >work
"$RONDO" run --store "$scratch/s.db" w.yaml >out 2>err </dev/null &
rondo=$!
wait_for half .
kill -TERM $rondo
wait $rondo
"$RONDO" resume --store "$scratch/s.db" --quiet "$(run_id err)" >out 2>said </dev/null
"$RONDO" events --store "$scratch/s.db" --json "$(run_id err)" >events
[[ $SAN == *thread* ]] || # it gives signals late
    same "a run that was stopped" "$(story events)" "+,+ cancelled: while pass 2 was at work,-,-,-, $still"

# ---- what is there, and what is not -----------------------------------------------------------------------------------
folder nothing
coder 'stall: { files: [scr/**, "src/*.c"] }'
touch src/a.c
"$RONDO" run --store "$scratch/s.db" w.yaml >out 2>err </dev/null
same "a pattern that nothing fits is said once" "$(grep -c "no file in $PWD fits 'scr/\*\*'\$" err)" 1
"$RONDO" run --store "$scratch/s.db" --json w.yaml >out 2>err </dev/null
same "and the words count" "$(story out)" "-,-,-, $still"

"$RONDO" check w.yaml >out 2>&1
same "and rondo check warns of it" "$? $(grep -o "warning.*" out) $(grep -o "= .*" out)" "0 warning[file]: no file in '$PWD' fits 'scr/**' = until there is one, the loop stalls by its words"
coder 'stall: { files: ["src/[0-9", "{a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n}"] }'
"$RONDO" check w.yaml >out 2>&1
same "what is no pattern" "$(grep -c warning out)" 2
"$RONDO" run --store "$scratch/s.db" w.yaml >out 2>err </dev/null
same "is told, and no pass counts" "$? $(grep -o "stall.files: .*" err | sort -u) $(grep -o "loop_end.*" err)" "0 stall.files: the braces of the pattern stand for more than 64 others loop_end code cap: it was reached after pass 20 (maxIterations: 20)"

folder large
mkdir -p src/d && (cd src/d && seq 100000 | xargs touch)
coder 'stall: { files: ["src/**"] }'
printf '%s\n' 'echo 1 >src/d/77777' >work
run "a folder of 100,000 files" "+,-,-,-, $still"

# ---- what cannot be ---------------------------------------------------------------------------------------------------
folder wrong
for bad in 'files: []' 'files: [/etc/*]' 'files: [../x]' 'files: [a/../../b]' 'files: [""]' 'words: true' 'files: src'; do
    coder "stall: { $bad }"
    "$RONDO" check w.yaml >out 2>&1
    printf '%s: ' "$bad"
    grep -o 'error\[.*' out | head -1
done >said
same "what cannot be" "$(cat said)" "$(cat <<'F'
files: []: error[validation]: `files` is an empty list: name the files to look at
files: [/etc/*]: error[validation]: expected a pattern for files below the working folder, such as src/**, got '/etc/*'
files: [../x]: error[validation]: expected a pattern for files below the working folder, such as src/**, got '../x'
files: [a/../../b]: error[validation]: expected a pattern for files below the working folder, such as src/**, got 'a/../../b'
files: [""]: error[validation]: expected a pattern for files below the working folder, such as src/**, got ''
words: true: error[validation]: `words` goes with `files`: without them a stall is always about the words
files: src: error[validation]: `files` has to be a list, not the text 'src'
F
)"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
