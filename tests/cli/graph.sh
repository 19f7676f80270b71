#!/bin/bash
# graph.sh - pictures of workflows: as expected to the last character, and right in each language.  AE-158
#
# tests/graph/NAME.yaml has its pictures beside it: NAME.boxes, .tree, .dot, .mermaid.  Pictures
# that are meant to change: UPDATE=1 RONDO=build/rondo ROOT=$PWD bash tests/cli/graph.sh
[ -x "$RONDO" ] || { echo "no program"; exit 77; }
export LC_ALL=C.UTF-8 COLUMNS=90
unset NO_COLOR CLICOLOR_FORCE
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

for flow in "$ROOT"/tests/graph/*.yaml; do
    name=$(basename "$flow" .yaml)
    for format in boxes tree dot mermaid; do
        want=${flow%.yaml}.$format
        "$RONDO" graph "$flow" --format $format >"$tmp/out" 2>"$tmp/err" || bad "$name $format: $(cat "$tmp/err")"
        [ -n "${UPDATE:-}" ] && cp "$tmp/out" "$want"
        diff -u "$want" "$tmp/out" && ok || bad "$name as $format"
    done
done

# --- whatever the width, no line is longer ----------------------------------------------------
for flow in "$ROOT"/tests/graph/*.yaml "$ROOT"/examples/*.yaml; do
    for width in 20 35 50 80 120; do
        "$RONDO" graph "$flow" --width $width >"$tmp/out" 2>"$tmp/err" || continue # files that need more
        longest=$(sed 1d "$tmp/out" | wc -L)
        [ "$longest" -le $width ] && ok || bad "$flow at $width columns: $longest"
    done
done
"$RONDO" graph "$ROOT/tests/graph/shapes.yaml" --width 25 | grep -q '^├─ plan (a)$' && ok || bad "too narrow: a tree"

# --- plain and coloured -----------------------------------------------------------------------
LC_ALL=C "$RONDO" graph "$ROOT/tests/graph/shapes.yaml" >"$tmp/out"
LC_ALL=C grep -q '[^ -~]' "$tmp/out" && bad "not ASCII in the C locale" || ok
grep -q '^ *v  *v  *v  *|$' "$tmp/out" && ok || bad "arrows in ASCII"
CLICOLOR_FORCE=1 "$RONDO" graph "$ROOT/tests/graph/shapes.yaml" >"$tmp/colour"
"$RONDO" graph "$ROOT/tests/graph/shapes.yaml" >"$tmp/plain"
[ "$(sed 's/\x1b\[[0-9]*m//g' "$tmp/colour")" = "$(cat "$tmp/plain")" ] && ok || bad "colours change the picture"
cmp -s "$tmp/colour" "$tmp/plain" && bad "no colours" || ok
CLICOLOR_FORCE=1 "$RONDO" graph --no-color "$ROOT/tests/graph/shapes.yaml" | cmp -s - "$tmp/plain" && ok || bad "--no-color"

# --- included files ---------------------------------------------------------------------------
"$RONDO" graph "$ROOT/tests/graph/containers.yaml" --format tree --open >"$tmp/out"
grep -q '^   └─ two (a) ← one$' "$tmp/out" && ok || bad "--open: $(tail -3 "$tmp/out")"

# --- standard input, and files that are wrong -------------------------------------------------
"$RONDO" graph - -f tree <"$ROOT/tests/graph/shapes.yaml" | grep -q '^├─ plan' && ok || bad "standard input"
printf 'rondo: 1\nname: x\nsteps:\n  - { id: a, agnt: b }\n' >"$tmp/wrong.yaml"
"$RONDO" graph "$tmp/wrong.yaml" >"$tmp/out" 2>"$tmp/err"
[ $? = 2 ] && [ ! -s "$tmp/out" ] && grep -q "wrong.yaml:4:" "$tmp/err" && ok || bad "a wrong file: $(cat "$tmp/err")"
"$RONDO" graph "$tmp/none.yaml" >"$tmp/out" 2>"$tmp/err"
[ $? = 2 ] && [ -s "$tmp/err" ] && ok || bad "a file that is not there: $(cat "$tmp/err")"
"$RONDO" graph --format gif x.yaml 2>"$tmp/err"
[ $? = 3 ] && grep -q 'boxes|tree|dot|mermaid|svg' "$tmp/err" && ok || bad "an unknown format"

# --- large ones -------------------------------------------------------------------------------
{
    printf 'rondo: 1\nname: large\nagents: { a: { description: d, script: [x] } }\nsteps:\n'
    for i in $(seq 2000); do
        printf -- '  - { id: s%d, agent: a, instructions: i%s }\n' $i "$([ $i -gt 1 ] && echo ", dependsOn: [s1, s$((i / 2 + 1 == i ? 1 : i / 2 + 1))]")"
    done
} | sed 's/\[s1, s1\]/[s1]/' >"$tmp/large.yaml"
"$RONDO" graph "$tmp/large.yaml" >"$tmp/out" && [ "$(wc -l <"$tmp/out")" = 2001 ] && ok || bad "2000 steps: $(wc -l <"$tmp/out") lines"

# --- Graphviz ---------------------------------------------------------------------------------
if command -v dot >/dev/null; then
    for flow in "$ROOT"/tests/graph/*.yaml; do
        dot -Tsvg "${flow%.yaml}.dot" >"$tmp/svg" 2>"$tmp/err" && [ ! -s "$tmp/err" ] && ok || bad "dot: $flow: $(cat "$tmp/err")"
        "$RONDO" graph "$flow" --format svg >"$tmp/svg" && grep -q '</svg>' "$tmp/svg" && ok || bad "svg of $flow"
    done
fi
mkdir "$tmp/empty"
PATH=$tmp/empty "$RONDO" graph "$ROOT/tests/graph/shapes.yaml" --format svg >"$tmp/out" 2>"$tmp/err"
[ $? = 3 ] && grep -q "needs 'dot' of Graphviz" "$tmp/err" && [ ! -s "$tmp/out" ] && ok || bad "no Graphviz: $(cat "$tmp/err")"
printf '#!/bin/sh\ncat >/dev/null; exit 5\n' >"$tmp/empty/dot"
chmod +x "$tmp/empty/dot"
PATH=$tmp/empty:$PATH "$RONDO" graph "$ROOT/tests/graph/shapes.yaml" --format svg >/dev/null 2>"$tmp/err"
[ $? = 1 ] && grep -q 'dot failed (5)' "$tmp/err" && ok || bad "a dot that fails: $(cat "$tmp/err")"

# What Graphviz would read as HTML is drawn as it is.
cat >"$tmp/and.yaml" <<'F'
{ rondo: 1, name: and, agents: { w: { script: [x] } }, steps: [{ id: a, agent: w, condition: "'&lt;&#65;' == 'x'" }] }
F
"$RONDO" graph "$tmp/and.yaml" --format dot | grep -qF "&amp;lt;&amp;#65;" && ok || bad "an ampersand in dot"
if command -v dot >/dev/null && [ -e /dev/full ]; then
    "$RONDO" graph "$tmp/and.yaml" --format svg >/dev/full 2>"$tmp/err"
    [ $? = 1 ] && grep -q "standard output: No space" "$tmp/err" && ok || bad "svg on a full disk: $(cat "$tmp/err")"
fi
[ "$("$RONDO" graph "$tmp/and.yaml" --width 12 --format tree | wc -L)" = 12 ] && ok || bad "a tree is not cut"
[ "$("$RONDO" graph "$tmp/and.yaml" --format tree | wc -L)" -gt 30 ] && ok || bad "a file gets a tree in full"
"$RONDO" graph "$tmp/and.yaml" --width 0 >"$tmp/out" 2>"$tmp/err"
[ $? = 3 ] && grep -q "expected 1 or more" "$tmp/err" && ok || bad "no width: $(cat "$tmp/err")"

# --- a pipe that does not wait ------------------------------------------------------------------
if command -v python3 >/dev/null; then
    { echo "{ rondo: 1, name: big, agents: { w: { script: [x] } }, steps: ["; for i in $(seq 4000); do echo "{ id: s$i, agent: w },"; done; echo "] }"; } >"$tmp/big.yaml"
    "$RONDO" graph "$tmp/big.yaml" --format dot >"$tmp/out"
    python3 - "$RONDO" graph "$tmp/big.yaml" --format dot >"$tmp/slow" <<'P'
import os, subprocess, sys, time
r, w = os.pipe()
os.set_blocking(w, False)
p = subprocess.Popen(sys.argv[1:], stdout=w)
os.close(w)
time.sleep(0.2)
while True:
    piece = os.read(r, 65536)
    if not piece:
        break
    sys.stdout.buffer.write(piece)
sys.exit(p.wait())
P
    [ $? = 0 ] && [ "$(wc -c <"$tmp/out")" -gt 65536 ] && cmp -s "$tmp/out" "$tmp/slow" && ok || bad "a pipe that does not wait"
fi

# --- Mermaid: every line has one of four shapes, and quotes are closed ------------------------
for flow in "$ROOT"/tests/graph/*.mermaid; do
    odd=$(sed 1d "$flow" | grep -vE '^ *(n[0-9]+(\["|\{"|\[/"|\[\["|\(\[")[^"]*("\]|"\}|"/\]|"\]\]|"\]\))|subgraph n[0-9]+\["[^"]*"\]|end|n[0-9]+ (-->|-\.->)(\|"[^"]*"\|)? n[0-9]+)$')
    [ -z "$odd" ] && [ "$(head -1 "$flow")" = "flowchart TD" ] && ok || bad "Mermaid: $flow: $odd"
    [ "$(grep -c '^ *subgraph' "$flow")" = "$(grep -c '^ *end$' "$flow")" ] && ok || bad "Mermaid: subgraphs in $flow"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
