# The live view of rondo run, in a real terminal (tmux): widths, resizing, many steps, the summary.
. "$ROOT/tests/cli/terminal"

flow nested.yaml <<'END'
name: nested
agents:
  a: { script: [ { content: "日本語の文章はとても広いので行の終わりで切られなければなりません、そうでしょう、ええ、そうです", delay: 150ms } ] }
  b: { script: [ { content: "a\u001b[2J\u001b]0;stolen\u0007\u001b[31mnd then", events: [ { content: "half of a li", partial: true } ], delay: 150ms } ] }
steps:
  - id: outer
    loop:
      maxIterations: 2
      until: "false"
      onMaxIterations: returnLast
      steps:
        - id: inner
          loop:
            maxIterations: 3
            until: "false"
            onMaxIterations: returnLast
            steps:
              - { id: draft, agent: a, instructions: x }
              - { id: critique, agent: b, instructions: x, dependsOn: [draft] }
  - { id: publish, agent: a, instructions: x, dependsOn: [outer] }
END

for columns in 80 40; do
    term $columns 24 "'$RONDO' run --store :memory: nested.yaml 2>&1 >answer"
    wait_for "pass 2/3"
    has "$columns columns" "pass 2/3 [#..]"
    until [ -e done ]; do fits "$columns columns, live"; sleep 0.1; done
    finish
    fits "$columns columns, at the end"
    has "$columns columns" "status 0"
    once "$columns columns: what was there before" "before"
    once "$columns columns: one summary" "nested  completed"
    once "$columns columns: one line a step" "critique"
    if all | grep -q '[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]'; then bad "a frame was left behind:"; all; else ok; fi
    if [ "$(tm display-message -p '#{pane_title}')" != stolen ]; then ok; else bad "the title was changed"; fi
done

term 12 10 "'$RONDO' run --store :memory: nested.yaml 2>&1 >answer"
wait_for "outer"
fits "12 columns, live"
finish
fits "12 columns, at the end"

# The last frame is the summary: the same text that is written where there is no terminal.
for columns in 80 40; do
    term $columns 24 "'$RONDO' rehearse nested.yaml >/dev/null"
    finish
    screen | sed -n '/nested/,/^status/p' | sed '$d; s/ r[0-9a-f]*…\{0,1\}$/ ID/' >last
    COLUMNS=$columns "$RONDO" rehearse nested.yaml 2>&1 >/dev/null </dev/null |
        sed '1,/workflow_end/d; s/ r[0-9a-f]*…\{0,1\}$/ ID/' >summary
    if [ -s summary ] && diff last summary >diffs; then ok; else bad "the last frame is not the summary:"; cat diffs; fi
done

# Resizing while it runs: the old frame goes, nothing is wider than the new width.
term 100 24 "'$RONDO' run nested.yaml 2>&1 >answer"
wait_for "pass 2/3"
tm resize-window -x 50 -y 20
sleep 0.3
fits "narrower"
if [ "$(screen | grep -c "nested")" = 1 ]; then ok; else bad "after a resize:"; screen; fi
tm resize-window -x 120 -y 30
sleep 0.3
fits "wider"
if [ "$(screen | grep -c "nested")" = 1 ]; then ok; else bad "after a second resize:"; screen; fi
finish
once "one summary after resizing" "nested  completed"

# 200 steps: what matters is there, the rest is counted, nothing scrolls away.
{
    printf 'rondo: 1\nname: many\norder: sequence\nagents: { a: { script: [ { content: x, delay: 10ms } ] } }\nsteps:\n'
    for i in $(seq 200); do echo "  - { id: step$i, agent: a, instructions: x }"; done
} >many.yaml
term 80 20 "'$RONDO' run many.yaml 2>&1 >answer"
wait_for "more:"
fits "200 steps"
has "200 steps: what runs" "⠋
⠙
⠹
⠸
⠼
⠴
⠦
⠧
⠇
⠏"
has "200 steps: what comes" "to come"
finish
has "200 steps" "status 0"
has "200 steps" "200/200 steps"
once "200 steps: what was there before" "before"
if [ "$(all | grep -c "more:")" = 1 ]; then ok; else bad "200 steps: frames left behind:"; all; fi
lines=$(screen | grep -c "✓ step")
if [ "$lines" -lt 20 ] && [ "$lines" -gt 5 ]; then ok; else bad "200 steps: $lines are shown"; fi

# A loop at work: its scores, its budget, and a line for each pass that has ended.
flow scores.yaml <<'END'
name: scores
agents:
  w: { script: [ { content: "the first draft", delay: 300ms, usage: { prompt: 300, cost: 0.02 } }, { content: "the second draft", delay: 300ms, usage: { prompt: 300, cost: 0.02 } },
                 { fail: "no ink", delay: 300ms }, { content: "the last draft", delay: 1500ms } ] }
  c: { script: [ { result: { score: 4 } }, { result: { score: 8.5 } }, { result: { score: 7 } } ] }
steps:
  - id: refine
    loop:
      maxIterations: 4
      onError: continue
      delay: 10ms
      outputMode: best
      output: draft
      score: steps.rate.result.score
      budget: { cost: 0.10 }
      steps:
        - { id: draft, agent: w, instructions: x }
        - { id: rate, agent: c, instructions: x, dependsOn: [draft] }
END
for columns in 120 80; do
    term $columns 24 "'$RONDO' run --store '$PWD/scores.db' scores.yaml 2>&1 >answer"
    wait_for "pass 4/4"
    has "$columns columns: scores and the best pass" "▁█x 8.5 ★p2"
    has "$columns columns: the budget" "] \$0.040 of \$0.100"
    has "$columns columns: the pass that failed" "✗ pass 3"
    has "$columns columns: why" "no ink"
    has "$columns columns: a gain" "8.5 ★ +4.5"
    fits "$columns columns: a loop at work"
    finish
    has "$columns columns: the pass whose answer is given" "✓ pass 2"
    if [ "$(screen | grep -c 'the second draft')" = 2 ] && ! screen | grep -q 'the last draft'; then ok; else bad "another pass is shown:"; screen; fi
    has "$columns columns: where to look" "each pass: rondo history "
    once "$columns columns: one line a step" "✓ draft"
    if [ "$(cat answer)" = "the second draft" ]; then ok; else bad "the answer is $(cat answer)"; fi
done
term 120 24 "export LC_ALL=C; '$RONDO' run --store '$PWD/scores.db' scores.yaml 2>&1 >answer"
wait_for "pass 4/4"
has "no UTF-8" "_#x 8.5 *p2"
finish

# Of 1,000 items at work one ends: little is written.
flow thousand.yaml <<'END'
name: thousand
agents: { w: { script: [ { content: "quick", delay: 1500ms }, { fail: "no luck", delay: 2500ms }, { content: "slow", delay: 3700ms } ] } }
steps: [ { id: all, agent: w, instructions: x, loop: { forEach: "lists.range(1000).map(i, 'in/file' + string(i * 7919 % 1000) + '.txt')", maxConcurrency: 1000, onItemFailure: continue } } ]
END
if command -v script >/dev/null; then
    for rows in 24 50; do
        script -q -e --log-out said --log-timing when -c "stty rows $rows cols 120; '$RONDO' run --store :memory: --max-concurrency 1000 thousand.yaml" \
            </dev/null >/dev/null 2>&1
        # what comes within 30 ms is one write; the first second is for the beginning, and all of them end at 3.7 s
        most=$(awk '{ t += $1; if ($1 > 0.03) n = 0; n += $2; if (t > 1 && t < 3.5 && n > most) most = n } END { print most + 0 }' when)
        if [ "$most" -gt 20 ] && [ "$most" -le 1024 ]; then ok; else bad "$rows rows: $most bytes for a change of one"; fi
    done
fi
term 120 24 "'$RONDO' run --store :memory: --max-concurrency 1000 thousand.yaml"
wait_for "items 2/1000"
has "how many items failed and run" "items 2/1000 [..........]  1 failed  998 running"
has "an item by its value" "[3] in/file838.txt"
fits "1,000 items"
finish

# Ctrl-C
flow slow.yaml <<'END'
name: slow
agents: { s: { run: [sleep, "100"] }, t: { run: [echo, tidy] } }
steps:
  - { id: one, agent: s, instructions: x }
  - { id: clean, agent: t, instructions: x, dependsOn: [one], runOn: always }
END
term 80 24 "'$RONDO' run slow.yaml"
wait_for "one"
sleep 0.2
tm send-keys C-c
finish
has "Ctrl-C" "status 130"
has "Ctrl-C" "stopped by SIGINT"
has "Ctrl-C: what runs always" "✓ clean"

# A gate asks, refuses what does not fit, and goes on.
flow gate.yaml <<'END'
name: gate
agents: { say: { run: [echo, "it was ${steps.ok.result.go}"] } }
steps:
  - id: ok
    gate: { ask: "Shall it go on?", schema: { type: object, required: [go], properties: { go: { type: boolean }, why: { enum: [a, b] } } } }
  - { id: after, dependsOn: [ok], agent: say, instructions: x }
END
term 80 24 "'$RONDO' run gate.yaml"
wait_for "›"
has "a gate" "Shall it go on?"
has "a gate's shape" "{ go: yes or no, why?: one of a, b }"
tm send-keys "maybe" Enter
wait_for "expected object"
tm send-keys '{"go": true}' Enter
finish
has "a gate" "it was true"
has "a gate" "status 0"
term 80 24 "'$RONDO' run gate.yaml"
wait_for "›"
tm send-keys C-d
finish
has "a gate that nobody answers" "status 5"
apart "a gate that nobody answers"

# What is written while a question is open begins a line of its own, and an open question is asked again.
flow gates.yaml <<'END'
name: gates
agents: { w: { run: "while [ ! -e go ]; do sleep 0.05; done; echo worked" } }
steps:
  - { id: a, gate: { ask: "one?" } }
  - { id: b, gate: { ask: "two?" } }
  - { id: w, agent: w, instructions: x }
END
rm -f go
for kind in screen dumb; do
    rm -f go gates.db*
    term 80 24 "TERM=$kind '$RONDO' run --store '$PWD/gates.db' gates.yaml"
    wait_for "? a: one?"
    has "$kind: the other question" "  later: b: two?"
    id=$("$RONDO" runs --store "$PWD/gates.db" --json | sed 's/.*"id":"\([^"]*\)".*/\1/')
    "$RONDO" answer -q --store "$PWD/gates.db" "$id" a yes
    wait_for "? b: two?"
    has "$kind: who was quicker" "a: answered by "
    apart "$kind: somebody else answers"
    touch go
    if [ $kind = dumb ]; then
        wait_for "step_end w"
        sleep 0.2
        apart "$kind: a step ends"
        if [ "$(screen | grep -v '^$' | tail -n 1 | sed 's/ *$//')" = "  ›" ]; then ok; else bad "$kind: not asked again:"; screen; fi
    fi
    tm send-keys "yes" Enter
    finish
    has "$kind: both are answered" "status 0"
done

# Tools that somebody has to permit are asked for in the same way, and somebody else may be quicker.
coproc MODEL { "$ROOT/$B/tests/server" "tape $ROOT/tests/kill/flows/permit.tape"$'\n'; }
read -r port <&"${MODEL[0]}"
term 120 30 "COMPAT_BASE_URL=http://127.0.0.1:$port/v1 '$RONDO' run --store '$PWD/permit.db' --workdir '$PWD' '$ROOT/tests/kill/flows/permit.yaml'"
wait_for "›"
has "a tool" 'look, permit-1: may this tool be called?'
has "what is to be called" 'glob {"pattern":"*.none"}'
has "what may be answered" "one of y, n, a"
tm send-keys "perhaps" Enter
wait_for "expected one of"
tm send-keys "y" Enter
wait_for "look, permit-2"
id=$("$RONDO" runs --store "$PWD/permit.db" --json | sed 's/.*"id":"\([^"]*\)".*/\1/')
"$RONDO" answer -q --store "$PWD/permit.db" --by somebody "$id" look.permit-2 n
wait_for "look, permit-3"
tm send-keys "y" Enter
finish
has "permitted" "There is nothing."
has "permitted" "status 0"
if [ "$("$RONDO" show --store "$PWD/permit.db" "$id" | sed -n 's/^answered look.permit-\(.\): \(.*\)  by \([a-z]*\),.*/\1 \2 \3/p' | tr '\n' ';')" = "1 y terminal;2 n somebody;3 y terminal;" ]; then ok
else bad "who has permitted it: $("$RONDO" show --store "$PWD/permit.db" "$id")"; fi
eval "exec ${MODEL[1]}>&-"

# Where the locale is not UTF-8 bytes of it may be control characters; what goes elsewhere stays as it is.
flow wide.yaml <<'END'
name: wide
agents: { a: { script: [ "caf\u00e9 \u65e5\u672c" ] } }
steps: [ { id: one, agent: a, instructions: x } ]
END
term 80 24 "export LC_ALL=C; '$RONDO' run --store '$PWD/wide.db' wide.yaml; '$RONDO' run -q --store :memory: wide.yaml >answer"
finish
if [ "$(screen | grep -c 'caf? ??')" = 2 ] && ! screen | LC_ALL=C grep -q '[^ -~]'; then ok; else bad "LC_ALL=C:"; screen; fi
if [ "$(cat answer)" = "café 日本" ]; then ok; else bad "LC_ALL=C, in a file: $(cat answer)"; fi

# Colours, and none.
term 80 24 "'$RONDO' run nested.yaml 2>&1 >answer"
finish
if tm capture-pane -p -e | grep -q "$(printf '\033')\[32m"; then ok; else bad "no colours"; fi
for how in "NO_COLOR=1 '$RONDO' run" "'$RONDO' run --no-color"; do
    term 80 24 "$how nested.yaml 2>&1 >answer"
    finish
    if tm capture-pane -p -e | grep -q "$(printf '\033')\[3"; then bad "colours with $how"; else ok; fi
done
term 80 24 "'$RONDO' run --quiet nested.yaml >answer"
finish
if [ "$(screen | sed '/^$/d')" = "before
status 0" ]; then ok; else bad "--quiet in a terminal:"; screen; fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
