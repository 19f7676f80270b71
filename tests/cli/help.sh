#!/bin/bash
# help.sh - help, wrong command lines, completion and the manual page: all from one table.
[ -x "$RONDO" ] || { echo "no program"; exit 77; }
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }

# expect NAME STATUS PATTERN ARGS...: exit status, and a line of the output that fits the pattern
expect() {
    local name=$1 status=$2 pattern=$3 out rc
    shift 3
    out=$("$RONDO" "$@" 2>&1)
    rc=$?
    if [ $rc = "$status" ] && grep -qE -- "$pattern" <<<"$out"; then ok; else bad "$name: exit status $rc, $out"; fi
}

commands=$("$RONDO" help | sed -n 's/^  \([a-z]*\) .*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 6 ] && ok || bad "the list of commands: $commands"
for c in $commands; do
    expect "help $c" 0 "^usage: rondo $c" help "$c"
    expect "$c --help" 0 "^usage: rondo $c" "$c" --help
    expect "$c -h" 0 '^ *-h, --help' "$c" -h
    [ "$("$RONDO" help "$c")" = "$("$RONDO" "$c" --help 2>/dev/null)" ] && ok || bad "$c: two helps"
    expect "$c: unknown option" 3 "unknown option '--helpp'; did you mean '--help'\?" "$c" --helpp
    expect "$c: usage line" 3 "^usage: rondo $c" "$c" --nonsense-option
    width=$(COLUMNS=40 "$RONDO" help "$c" | sed -n '/^Options/,$p' | wc -L)
    [ "$width" -le 60 ] && ok || bad "$c: options at 40 columns are $width wide"
done
expect "no arguments" 0 '^usage: rondo COMMAND'
expect "--help" 0 '^usage: rondo COMMAND' --help
expect "--version" 0 '^rondo [0-9]+\.' --version
expect "version" 0 '^rondo [0-9]+\.' version
expect "a command that is nearly one" 3 "did you mean 'eval'" evla
expect "a command that is none" 3 "unknown command 'elephants'" elephants
expect "an option first" 3 "options come after the command; 'rondo help run' lists" --json run
expect "help about nothing" 3 "unknown command 'elephants'" help elephants
expect "too many arguments" 3 "unexpected argument 'x'" version x
expect "a choice" 3 'expected bash.zsh.fish' help --completion tcsh
"$RONDO" help >/dev/full 2>err
[ $? = 1 ] && grep -q 'standard output' err && ok || bad "a full disk: $(cat err)"

# --- completion -------------------------------------------------------------------------------
for shell in bash zsh fish; do
    "$RONDO" help --completion $shell >complete.$shell || bad "completion for $shell"
    if command -v $shell >/dev/null; then $shell -n complete.$shell && ok || bad "$shell -n"; fi
done
complete_words() ( # what bash offers for these words
    source ./complete.bash
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _rondo
    echo "${COMPREPLY[*]}"
)
offers() { # wanted, words...
    local wanted=$1 is
    shift
    is=$(complete_words "$@")
    [ "$is" = "$wanted" ] && ok || bad "completing '$*': '$is'"
}
offers "eval" rondo eva
offers "--data" rondo eval --d
offers "bash" rondo help --completion b
offers "--completion" rondo help --comp
offers "eval events" rondo help ev
offers "mermaid" rondo graph -f m
offers "mermaid" rondo graph --format m
offers "mermaid" rondo graph --format = m
offers "--format=mermaid" rondo graph --format=m
offers "off low medium high max" rondo run --thinking =
expect "two things at once" 3 'only one can be told of' help --completion bash --man
expect "what may be an argument" 3 "unknown option '-a'; an argument that begins with a dash comes behind '--'" eval -a
expect "and is none" 3 "unknown option '-a'$" version -a
expect "an argument behind dashes" 0 '^-3$' eval -- '-size("abc")'
case " $(complete_words rondo run -) " in
*" -q "*) ok ;;
*) bad "short options are not offered" ;;
esac
grep -qF "'(-f --format)'{-f+,--format=}'[" complete.zsh && grep -qF "'*'{-i+,--input=}'[" complete.zsh &&
    grep -qF "'(-q --quiet)'{-q,--quiet}'[" complete.zsh && ok || bad "short options in zsh"
offers "version" rondo help vers
for c in $(for c in $commands; do "$RONDO" help "$c" | sed -n "s/^usage: rondo \($c\) \[*RUN.*/\1/p"; done); do
    offers "last" rondo "$c" la
    expect "help $c tells of last" 0 "'last' is" help "$c"
    grep -q -- "seen_subcommand_from $c' -a last " complete.fish && ok || bad "$c: no last in fish"
done
offers "last" rondo graph --run l
offers "--run=last" rondo eval --run=l
expect "help eval tells of last" 0 "'last' is" help eval
[ "$("$RONDO" help run | grep -c "'last'")" = 0 ] && ok || bad "help run tells of last"
[ "$(grep -c "'1:run:(last)'" complete.zsh)" = 12 ] && ok || bad "last in zsh"
offers "" rondo export last la
offers "" rondo eval fi
[ "$(complete_words rondo '')" = "$(echo $commands)" ] && ok || bad "all commands are offered"

# --- what is promised is told -----------------------------------------------------------------
for status in 1 2 3 4 5 6 7 75 124 129 130 141 143; do
    "$RONDO" help run | sed -n '/^Exit status/,/^$/p' | grep -qw "$status" && ok || bad "help run says nothing of $status"
    sed -n '/^.Sh EXIT STATUS/,/^.Sh EXAMPLES/p' "$ROOT/man/rondo.1" | grep -q "^.It .*\<$status\>" && ok || bad "the manual says nothing of $status"
    sed -n '/^## Exit status/,$p' "$ROOT/docs/workflow.md" | grep -qw "$status" && ok || bad "workflow.md says nothing of $status"
    sed -n '/^## Exit status/,/^## Rehearsing/p' "$ROOT/docs/running.md" | grep -qw "$status" && ok || bad "running.md says nothing of $status"
done
for name in RONDO_STORE RONDO_MODEL; do
    grep -q "^.It Ev $name" "$ROOT/man/rondo.1" && ok || bad "the manual says nothing of $name"
done
expect "how else to ask for the version" 0 '.rondo --version. and .rondo -V.' help version

# --- the manual page --------------------------------------------------------------------------
"$ROOT/tools/manual" --check "$RONDO" && ok || bad "man/rondo.1"
if command -v mandoc >/dev/null; then
    lint=$(mandoc -T lint -W warning "$ROOT/man/rondo.1")
    [ -z "$lint" ] && ok || bad "mandoc: $lint"
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
