# daily.sh - what saves typing: `last`, runs of this folder, workflows by their names, and what --quiet says of a failure.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
export NO_COLOR=1 RONDO_STORE=$PWD/runs.db TZ=UTC LC_ALL=C.UTF-8
unset XDG_DATA_HOME
. "$ROOT/tests/cli/checks"

top=$PWD
mkdir -p home/work empty away
export HOME=$top/home
flow once.yaml <<'E'
name: once
agents: { a: { run: "echo hello; exit ${CODE:-0}", env: [CODE] } }
steps:
  - { id: one, agent: a, instructions: x }
  - { id: rounds, dependsOn: [one], loop: { maxIterations: 2, steps: [ { id: again, agent: a, instructions: x } ] } }
E

started() { # FOLDER [OPTION...]: the id of a new run
    (cd "$1" && "$RONDO" run -q "${@:2}" "$top/once.yaml" >/dev/null 2>&1 </dev/null)
    "$RONDO" runs -n 1 --json | jq -r .id
}
# at NAME STATUS STDOUT FOLDER ARGS...: check of rondo in that folder
at() { check "$1" "$2" "$3" env -C "$4" "$RONDO" "${@:5}"; }

# ---- nothing is there ---------------------------------------------------------------------------------------

check "no store" 3 "" "$RONDO" show last
says "there is no such file"
gone=$(started home)
"$RONDO" rm "$gone"
check "no runs" 3 "" "$RONDO" show last
says "there are no runs in '$RONDO_STORE'"

# ---- last ---------------------------------------------------------------------------------------------------

first=$(started home/work)
second=$(started home/work)
other=$(started away)
for words in "show last --json" "events last --json" "history last rounds" "graph --run last" "eval --run last 1+1" "du last" \
    "replay last" "answer last --json --quiet"; do
    wanted=$(cd home/work && "$RONDO" ${words/last/$second} 2>&1)
    at "$words: the newest of this folder" 0 "$wanted" home/work $words
    same "$words: and no word about it" "$(cat err)" ""
    wanted=$(cd empty && "$RONDO" ${words/last/$other} 2>/dev/null)
    at "$words: the newest of all" 0 "$wanted" empty $words
    case $words in *quiet) same "$words: and no word" "$(cat err)" ""; continue ;; esac
    says "rondo ${words%% *}: no run was started in this folder; the newest of all is $other, started in $top/away"
done
for words in "resume last" "cancel last" "fork last --at one" "send last one hey" "answer last one x" "rm last"; do
    at "$words: only of this folder" 3 "" empty $words
    says "rondo ${words%% *}: no run was started in this folder: there is no 'last' here; 'rondo runs' lists all"
done
same "nothing was changed" "$("$RONDO" runs --json | wc -l)" 3
at "the same for those that are there" 3 "" home/work cancel last
says "run $second has ended"
fork=$(cd empty && "$RONDO" fork -q "$second" --at one)
same "a fork was started where it was forked" "$("$RONDO" show --json "$fork" | jq -r .about.folder)" "$top/empty"
same "which can be gone on with" "$(cd empty && "$RONDO" resume -q last && "$RONDO" show last --json | jq -r '.id + " " + .status')" \
    "hello
$fork completed"

for words in lst Last las list; do
    check "$words is nearly it" 3 "" "$RONDO" show $words
    says "there is no run '$words'; did you mean 'last'?"
done
check "another word is not" 3 "" "$RONDO" show lately
says "there is no run 'lately'"

at "export is called like the run" 0 "" home/work export last
[ -s "home/work/$second.rondo" ] && ok || bad "no $second.rondo"
at "rm says which one it was" 0 "" home/work rm last
says "rondo rm: removed $second"
same "the one before is the last now" "$(cd home/work && "$RONDO" show last --json | jq -r .id)" "$first"
RONDO_STORE=$top/imported.db check "an exported run keeps its folder" 0 "$second" "$RONDO" import "home/work/$second.rondo"
same "and is the last where it was started" "$(cd home/work && "$RONDO" show last --json --store "$top/imported.db" | jq -r .id)" "$second"

# A run that really has this id comes first; as the beginning of one the word is no id.
rename() { sqlite3 named.db "UPDATE run SET id = '$2' WHERE id = '$1'"; }
if command -v sqlite3 >/dev/null; then
    cp runs.db named.db
    [ -e runs.db-wal ] && cp runs.db-wal named.db-wal
    rename "$other" last
    same "an id that is just that" "$(cd home/work && "$RONDO" show last --json --store "$top/named.db" | jq -r .id)" last
    rename last laster
    same "the beginning of an id is not" "$(cd home/work && "$RONDO" show last --json --store "$top/named.db" | jq -r .id)" "$first"
fi

# ---- folders ------------------------------------------------------------------------------------------------

same "runs name them" "$("$RONDO" runs | sed -n "s/.*completed  once  //p" | tr '\n' ' ')" "$top/empty $top/away ~/work "
same "in JSON in full" "$("$RONDO" runs --json | jq -r .folder | tail -n 1)" "$top/home/work"
same "--here" "$(cd home/work && "$RONDO" runs --here --json | jq -r .id)" "$first"
same "without the folder, which is known" "$(cd home/work && "$RONDO" runs --here | grep -c "~/work")" 0
third=$(started home/work)
same "--here with a limit: the newest" "$(started away >/dev/null; cd home/work && "$RONDO" runs --here -n 1 --json | jq -r .id)" "$third"
at "none" 0 "" home runs --here
says "rondo runs: there are none like that"
"$RONDO" show "$first" >out
has "once.yaml in ~/work"
ln -s home/work linked
same "a link to a folder is the folder" "$(cd linked && "$RONDO" show last --json | jq -r .id)" "$third"

odd=$'odd\e[31m\n"x" \u202etxt'
mkdir "$odd" "$(printf 'bytes\377')" "$(printf 'bytes\376')"
id=$(started "$odd")
same "an odd name is kept" "$("$RONDO" show --json "$id" | jq -r .about.folder)" "$top/$odd"
same "and found" "$(cd "$odd" && "$RONDO" runs --here --json | jq -r .id)" "$id"
"$RONDO" runs -n 1 >out
same "in one line, without what it would do" "$(wc -l <out) $(grep -c "$(printf '\033\|\u202e')" out)" "1 0"
has "$top/odd \"x\" txt"
id=$(started "$(printf 'bytes\377')")
same "no UTF-8" "$("$RONDO" show --json "$id" | jq -r .about.folder)" "file://$top/bytes%FF"
same "is found" "$(cd "$(printf 'bytes\377')" && "$RONDO" runs --here --json | jq -r .id)" "$id"
same "and no other" "$(cd "$(printf 'bytes\376')" && "$RONDO" runs --here --json)" ""

mkdir "$top/removed"
nowhere() { cd "$top/removed" && rmdir "$top/removed" && "$RONDO" "$@"; rc=$?; mkdir -p "$top/removed"; cd "$top" || exit; return $rc; }
check "show" 0 "$("$RONDO" show "$id")" nowhere show last
says "this folder is gone; the newest of all is $id"
check "resume" 3 "" nowhere resume last
says "this folder is gone: there is no 'last' here"
check "runs --here" 3 "" nowhere runs --here
says "--here: this folder is gone"
check "a run that was started there" 0 hello nowhere run -q "$top/once.yaml"
same "has no folder" "$("$RONDO" runs -n 1 --json | jq -r 'has("folder")')" false
fork=$(nowhere fork -q "$first" --at one)
same "nor has a fork, not even its parent's" "$("$RONDO" show --json "$fork" | jq '.about | has("folder")')" false

# ---- stores of 0.1.0 ------------------------------------------------------------------------------------------

mkdir old && tar --no-same-owner -xzf "$ROOT/tests/golden/0.1.0.tar.gz" -C old
export RONDO_STORE=$top/old/golden.db
chmod a-w old/golden.db
newest=$("$RONDO" runs -n 1 --json | jq -r .id)
check "runs of 0.1.0 were started nowhere" 0 "" "$RONDO" runs --here
check "but one is the newest" 0 "$("$RONDO" show "$newest")" "$RONDO" show last
same "which is said" "$(cat err)" "rondo show: no run was started in this folder; the newest of all is $newest"
chmod u+w old/golden.db
export RONDO_STORE=$top/runs.db

# ---- workflows by their names -------------------------------------------------------------------------------------

mkdir -p project/.rondo/texts project/sub && cd project || exit
named() { printf '{ "rondo": 1, "name": "x", "agents": { "a": { "script": [ "%s" ] } }, "steps": [ { "id": "a", "agent": "a", "instructions": "x" } ] }\n' "$2" >"$1"; }
named one.yaml "one here"
named two.yml "two here"
named three.json "three here"
named .rondo/one.yaml "one of the project"
named .rondo/four.yaml "four of the project"
mkdir two
for name in one two three; do
    check "$name" 0 "$name here" "$RONDO" run -q $name
    check "$name, rehearsed" 0 "$name here" "$RONDO" rehearse -q $name
    check "$name, checked" 0 "" "$RONDO" check $name
    check "$name, drawn" 0 "$("$RONDO" graph $name.*)" "$RONDO" graph $name
done
same "what is noted is the file" "$("$RONDO" runs --json -n 1 | jq -r .file)" three.json
check "in the project" 0 "four of the project" "$RONDO" run -q four
same "which is noted" "$("$RONDO" runs --json -n 1 | jq -r .file)" .rondo/four.yaml
check "with its ending" 0 "four of the project" "$RONDO" run -q four.yaml
cd sub || exit
check "from a folder in it" 0 "four of the project" "$RONDO" run -q four
check "that has none itself" 0 "one of the project" "$RONDO" run -q one
cd ..
named one "a file of just that name"
check "a file that is called so comes first" 0 "a file of just that name" "$RONDO" run -q one
rm one
named one.json "another one"
for command in run rehearse check graph; do
    check "two endings: $command" 2 "" "$RONDO" $command one
    says "one: error[file]: it may be one.yaml or one.json: say which"
done
check "one of them" 0 "another one" "$RONDO" run -q one.json
rm one.json
check "nearly one of them" 2 "" "$RONDO" run fuor
says "No such file or directory, and no fuor.yaml, .yml or .json here or in .rondo"
says "did you mean 'four'?"
check "with an ending" 2 "" "$RONDO" run fuor.yaml
says "No such file or directory, here or in .rondo"
says "did you mean 'four.yaml'?"
check "a path is a path" 2 "" "$RONDO" run ./one
says "did you mean './one.yaml'?"
check "and another one, too" 2 "" "$RONDO" run nowhere/one
says "No such file or directory"
check "a folder that has no file of its name" 2 "" "$RONDO" run sub
says "Is a directory"
check "nothing" 2 "" "$RONDO" run ''
check "in JSON" 2 "fuor did you mean 'four'?" sh -c '"$RONDO" check --json fuor >check.json; rc=$?
    jq -r ".file + \" \" + .errors[0].hint" check.json; exit $rc'
check "a workflow is no command" 3 "" "$RONDO" four
says "unknown command 'four'; did you mean 'rondo run four'?"
(cd "$top/empty" && "$RONDO" run four >/dev/null 2>"$top/err")
cp "$top/err" err
says "and no four.yaml, .yml or .json here"
ln -s "$top/project/.rondo" "$top/empty/.rondo"
(cd "$top/empty" && "$RONDO" run four >/dev/null 2>"$top/project/err")
same "a .rondo that is a link is no project's" $? 2

# What is beside the file is found there; where it works is the project.
echo "say it" >.rondo/texts/say.md
echo "seen" >notes.txt
flow .rondo/works.yaml <<'E'
name: works
agents:
  a: { run: "pwd; ./tool", description: a }
  b: { run: "pwd", cwd: sub }
steps:
  - { id: one, agent: a, instructions: "@texts/say.md", contextFiles: [notes.txt] }
  - { id: two, include: part.yaml, dependsOn: [one] }
  - { id: three, agent: b, instructions: x, dependsOn: [two] }
output: 'steps.one.content + "," + steps.two.content + "," + steps.three.content'
E
flow .rondo/part.yaml <<'E'
name: part
agents: { a: { run: "pwd" } }
steps: [ { id: in, agent: a, instructions: x } ]
E
printf '#!/bin/sh\necho tool\n' >tool && chmod +x tool
wanted="$PWD
tool,$PWD,$PWD/sub"
for path in works .rondo/works.yaml; do
    check "$path is in order" 0 "" "$RONDO" check "$path"
    same "$path: without a warning" "$(cat err)" ""
    check "$path works in the project" 0 "$wanted" "$RONDO" run -q "$path"
done
"$RONDO" run -q works --prompts prompts >/dev/null 2>&1
same "what it shows is the project's" "$(cat prompts/* | grep -c '^seen$')" 1
cd sub || exit
check "from wherever it is started" 0 "$wanted" "$RONDO" run -q works
check "but where the command line says" 0 "$top/away,$top/away,$top/away/sub" sh -c 'mkdir -p "$1/sub"; ln -sf /bin/true "$1/tool"
    "$RONDO" run -q works --workdir "$1"' - "$top/away"
cd "$top" || exit

# ---- --quiet --------------------------------------------------------------------------------------------------------

CODE=3 "$RONDO" run -q once.yaml >out 2>err </dev/null
same "a failure says which run it was" "$? $(cat err)" "1 rondo run: failed: one: exit status 3: hello
rondo run: it was run $("$RONDO" runs -n 1 --json | jq -r .id)
go on with: rondo resume $("$RONDO" runs -n 1 --json | jq -r .id)"
line=$(sed -n 's/^go on with: rondo //p' err)
same "and the line goes on with it" "$("$RONDO" $line -q)" hello
CODE=3 "$RONDO" run -q once.yaml --store "else where.db" >out 2>err </dev/null
same "in whatever store" "$(eval "\"\$RONDO\" $(sed -n 's/^go on with: rondo //p' err) -q")" hello
CODE=3 "$RONDO" run -q once.yaml --store :memory: >out 2>err </dev/null
same "one in memory is gone" "$? $(cat err)" "1 rondo run: failed: one: exit status 3: hello"
CODE=3 "$RONDO" run -q once.yaml --json >out 2>err </dev/null
says "go on with: rondo resume"
"$RONDO" run -q once.yaml >out 2>err </dev/null
same "who completes says nothing" "$? $(cat err)" "0 "
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
