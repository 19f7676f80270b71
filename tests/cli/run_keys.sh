# rondo run and the keyboard, in a shell in a real terminal: keys while the view is drawn, Ctrl-C, Ctrl-Z, the background.
. "$ROOT/tests/cli/terminal"
export RONDO_STORE=$PWD/keys.db
flow slow.yaml <<'END'
name: slow
agents: { s: { run: "trap '' TERM; while [ ! -e go ]; do sleep 0.05; done; echo worked", grace: 1500ms } }
steps:
  - { id: one, agent: s, instructions: x }
  - { id: two, agent: s, instructions: x }
END
flow gate.yaml <<'END'
name: gate
agents: { s: { run: "while [ ! -e go ]; do sleep 0.05; done; echo worked" } }
steps:
  - { id: before, agent: s, instructions: x }
  - { id: ok, gate: { ask: "Shall it go on?" }, dependsOn: [before] }
output: steps.ok.result
END
# echoes NAME: what is typed is seen again
echoes() { enter "stty -a | grep -ow -- '-*echo'"; wait_for_line "echo" || bad "$1: the terminal does not echo: $(screen)"; ok; }
wait_for_line() { for _ in $(seq 250); do screen | grep -qx -- "$1" && return 0; sleep 0.02; done; return 1; }
left() { for _ in $(seq 500); do screen | grep -q -- "^status" && return; sleep 0.02; done; bad "it does not end: $(screen)"; }
begin() { enter "clear; '$RONDO' run $*; echo \"status \$?\""; }

for columns in 80 40; do
    rm -f go
    shell $columns 24
    begin slow.yaml
    wait_for "two"
    sleep 0.2
    tm send-keys C-c
    wait_for "stopping... Ctrl-C again leaves"
    has "$columns: Ctrl-C is answered" "stopping... Ctrl-C again leaves at once"
    left
    has "$columns: Ctrl-C" "status 130"
    hasnt "$columns: Ctrl-C" "^C"
    once "$columns: one summary" "slow  cancelled"
    once "$columns: one line a step" "two"
    if screen | grep -q '^⊘ slow  cancelled'; then ok; else bad "$columns: the summary is shifted: $(screen)"; fi
    if all | grep -q '[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]'; then bad "$columns: a frame was left behind:"; all; else ok; fi
    echoes "after Ctrl-C"
done

# A second one leaves, and says how to go on.
begin slow.yaml
wait_for "⠋
⠙
⠹
⠸
⠼
⠴
⠦
⠧
⠇
⠏"
tm send-keys C-c
wait_for "stopping... Ctrl-C again leaves"
sleep 0.6 # sooner it would be the same request
tm send-keys C-c
left
has "twice" "left at once"
has "twice" "go on with: rondo resume r"
echoes "after leaving at once"

# Keys move nothing; what was typed is the shell's afterwards.
begin slow.yaml
wait_for "two"
tm send-keys Enter
tm send-keys -l "echo typed-ahead"
tm send-keys Enter
tm send-keys -l "abc"
sleep 0.3
hasnt "keys while it runs" "typed-ahead"
touch go
left
once "after keys: one summary" "slow  completed"
once "after keys: one line a step" "✓ two"
wait_for_line "typed-ahead" && ok || bad "what was typed is lost: $(screen)"
tm send-keys C-u
echoes "after keys"

# Ctrl-Z gives the terminal back as it was; with fg the view comes back.
rm -f go
begin slow.yaml
wait_for "two"
sleep 0.2
tm send-keys C-z
wait_for "Stopped"
echoes "while it is stopped"
enter "clear; bg"
sleep 0.4
enter "echo shell-is-here"
wait_for_line "shell-is-here" && ok || bad "in the background: $(screen)"
hasnt "in the background it draws nothing" "⠋ one"
if screen | grep -q '[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] slow'; then bad "in the background it is drawn:"; screen; else ok; fi
enter "clear; fg"
wait_for "two"
if screen | grep -q '[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] slow'; then ok; else bad "in the foreground it is not drawn:"; screen; fi
touch go
wait_for "slow  completed"
has "brought back" "slow  completed"
echoes "after fg"

# A gate in the background leaves the keys to the shell, and neither stops nor blocks the run.
touch go
enter "clear; '$RONDO' run gate.yaml &"
wait_for "gate 'ok' of run"
enter "echo keys-of-the-shell"
wait_for_line "keys-of-the-shell" && ok || bad "a gate in the background: $(screen)"
hasnt "a gate in the background asks nothing" "Shall it go on?"
hasnt "a gate in the background" "Stopped"
enter "clear; fg; echo \"status \$?\""
wait_for "›"
has "in the foreground it asks" "? ok: Shall it go on?"
tm send-keys C-c
left
has "and can be stopped" "status 130"
enter "clear; '$RONDO' run gate.yaml &"
wait_for "gate 'ok' of run"
enter "fg; echo \"status \$?\""
wait_for "›"
enter "surely"
left
has "or answered" "surely"
has "or answered" "status 0"

# What was typed before the question is no answer to it.
rm -f go
begin gate.yaml
wait_for "before"
sleep 0.2
tm send-keys Enter
tm send-keys -l "no"
tm send-keys Enter
sleep 0.1
touch go
wait_for "›"
sleep 0.2
enter "yes"
left
if screen | grep -qx "yes"; then ok; else bad "typed before the question: $(screen)"; fi
echoes "after a question"

# Lines that come while somebody types: the question is asked again, and what was typed is not counted in silence.
flow lines.yaml <<'END'
name: lines
agents: { s: { run: "while [ ! -e go ]; do sleep 0.05; done; echo worked" } }
steps:
  - { id: ok, gate: { ask: "Which?" } }
  - { id: other, agent: s, instructions: x }
output: steps.ok.result
END
rm -f go
begin -v lines.yaml
wait_for "›"
tm send-keys -l "some"
sleep 0.2
touch go
wait_for "what was typed so far is dropped"
has "dropped" "what was typed so far is dropped"
enter "thing"
left
if screen | grep -qx "thing"; then ok; else bad "what was dropped counts: $(screen)"; fi

# A question that is over says why.
flow late.yaml <<'END'
name: late
steps:
  - { id: one, gate: { ask: "First?", timeout: 300ms, onTimeout: { answer: x } } }
  - { id: two, gate: { ask: "Second?" }, dependsOn: [one] }
END
begin late.yaml
wait_for "Second?"
has "nobody answered" "one: nobody answered in time"
enter "y"
left
has "the next one is answered" "status 0"

# Where there is no room for a frame there are lines.
for size in "7 20" "60 2"; do
    touch go
    shell ${size% *} ${size#* }
    rm -f done
    enter "clear; '$RONDO' run slow.yaml; : >done"
    until [ -e done ]; do sleep 0.02; done
    tm resize-window -x 100 -y 50
    sleep 0.3
    if all | grep -q '[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]'; then bad "$size: frames:"; all; else ok; fi
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
