# prompt_limits.sh - 16 KiB of what another step said, and 120 KiB of the whole: everything else is shown as it is.
cd "$(mktemp -d)" || exit 1
scratch=$PWD
trap 'cd /; rm -rf "$scratch"' EXIT
. "$ROOT/tests/cli/checks"
export XDG_DATA_HOME=$scratch/data NO_COLOR=1

long() { head -c "$2" /dev/zero | tr '\0' "$1"; } # CHARACTER COUNT
flow long.yaml <<'F'
name: long
inputs: { text: { type: string } }
agents:
  big: { run: "head -c 30000 /dev/zero | tr '\\0' d" }
  own: { run: "head -c 30000 /dev/zero | tr '\\0' o", memory: notes }
  told: { script: [t] }
steps:
  - { id: big, agent: big }
  - { id: sees, agent: told, dependsOn: [big], with: { a: inputs.text } }
  - { id: twice, agent: own, loop: { maxIterations: 2, feedback: "${inputs.text}" } }
  - { id: next, agent: told, loop: { maxIterations: 2, next: inputs.text, onMaxIterations: returnLast } }
  - { id: items, agent: told, loop: { forEach: "[inputs.text]" } }
  - { id: remembers, agent: own, dependsOn: [twice] }
F
check "long texts" 0 "$(long o 30000)" "$RONDO" run --store :memory: --quiet --prompts p --context "$(long c 20000)" \
      --input text="$(long i 20000)" long.yaml
count() { tr -dc "$2" <"p/$1.txt" | wc -c; } # of one character, those of headings included
cut() { grep -c 'truncated for context limit' "p/$1.txt"; }
near() { if [ "$2" -ge "$3" ] && [ "$2" -lt $(($3 + 200)) ]; then ok; else bad "$1: $2, wanted about $3"; fi; }
near "what a step said" "$(count sees d)" 16300
same "is cut" "$(cut sees)" 1
near "what it is given is not" "$(count sees i)" 20000
near "nor what all are told" "$(count sees c)" 20000
near "nor what it said itself before" "$(count twice.1 o)" 60000
near "nor the words of a loop" "$(count twice.1 i)" 20000
same "which cuts nothing" "$(cut twice.1)" 0
near "nor the next input" "$(count next.1 i)" 20000
near "nor an item" "$(count 'items[0]' i)" 20000
near "nor what was kept in mind" "$(count remembers o)" 76300
check "all in all" 0 "t" "$RONDO" run --store :memory: --quiet --prompts p --context "$(long c 70000)" --input text="$(long i 60000)" \
      <(sed '/id: big/d; /id: twice/,$d; s/dependsOn: .big., //' long.yaml)
near "it is 120 KiB" "$(wc -c <p/sees.txt)" 122880
same "with a word about it" "$(cut sees)" 1

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
