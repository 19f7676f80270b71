# The examples of docs/models.md, run against aimock: what stands below a command is what it says.  And its table of
# providers is the one that the program has.
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
. "$ROOT/tests/cli/checks"
. "$ROOT/tests/peers/servers"
export NO_COLOR=1 RONDO_STORE=$PWD/store/rondo.db
mkdir bin && ln -s "$RONDO" bin/rondo && PATH=$PWD/bin:$PATH

# ---- the table -----------------------------------------------------------------------------------------

# Rows of the page and of the source, in one form: name url variables keys.
sed -n 's/^| \(`.*`\) | [^|]* | `\(.*\)` | \([^|]*\) | \([^|]*\) |$/\1 \2 \3 \4/p' "$ROOT/docs/models.md" |
    sed 's/, if any//; s/[`,]//g; s/  */ /g; s/ $//' | sort >page
tr -d '\n' <"$ROOT/src/model/provider.c" | grep -oE '(CHAT|LOCAL)\( *"[^)]*' |
    sed -E 's/^[A-Z]*\( *"([^"]*)", *"[^"]*", *"([^"]*)", *"([^"]*)", *"([^"]*)".*/\1 \2 \3 \4/; s/  +/ /g; s/ $//' | sort >source
if [ "$(wc -l <source)" -gt 20 ]; then ok; else bad "where is the table of src/model/provider.c?"; fi
grep -vE '^(anthropic|azure|gemini|ollama|openai-responses) ' page >chat.page
grep -v '^openai-responses ' source >chat.source
if diff -u chat.source chat.page >difference; then ok; else bad "docs/models.md has other providers than src/model/provider.c:"; cat difference; fi

# ---- the examples ----------------------------------------------------------------------------------------

npm_packages
aimock
script docs
export OPENAI_API_KEY=k OPENAI_BASE_URL=$aimock/v1 ANTHROPIC_API_KEY=k ANTHROPIC_BASE_URL=$aimock GEMINI_API_KEY=k \
    GEMINI_BASE_URL=$aimock OLLAMA_HOST=$aimock GROQ_API_KEY=k GROQ_BASE_URL=$aimock/v1 LLAMACPP_BASE_URL=$aimock/v1 HOUSE_KEY=k
awk '
    /^```yaml$/ { name = above; gsub(/`/, "", name); kind = "yaml"; next }
    /^```console$/ { kind = "console"; next }
    /^```$/ { kind = "" }
    kind == "yaml" { print > name }
    kind == "console" && /^\$ export / { next }
    kind == "console" && /^\$ / { n++; sub(/^\$ /, ""); print > ("command." n); printf "" > ("out." n); next }
    kind == "console" { print > ("out." n) }
    { above = $0 }' "$ROOT/docs/models.md"
for f in *.yaml; do check "$f is a good file" 0 "" "$RONDO" check "$f"; done
for ((n = 1; ; n++)); do
    [ -f command.$n ] || break
    if diff -u out.$n <(bash command.$n 2>err) >difference; then ok; else bad "docs/models.md: $(cat command.$n)"; cat difference err; fi
done
if [ $n -gt 4 ]; then ok; else bad "docs/models.md: where are the examples?"; fi

# One workflow, every API.
for m in openai/gpt-5-mini openai-responses/gpt-5-mini anthropic/claude-haiku-4-5 gemini/gemini-2.5-flash ollama/qwen3:8b llamacpp/any; do
    check "haiku.yaml with $m" 0 "$(cat out.1)" "$RONDO" run -q haiku.yaml --model "$m"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
