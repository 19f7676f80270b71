# events.awk - reading the events of a run (rondo ... --json), one in a line, with awk.
#
# Each twin whose C sample tells a story by its events has an awk script that tells it with these.

# The value of the first "key" in the line: a text without its quotes, or a number or word.
function field(key,    at, value) {
    at = index($0, "\"" key "\":")
    if (!at)
        return ""
    value = substr($0, at + length(key) + 3)
    if (value ~ /^"/) {
        sub(/^"/, "", value)
        gsub(/\\"/, "\001", value)
        sub(/".*/, "", value)
        gsub(/\001/, "\"", value)
    } else {
        sub(/[,}].*/, "", value)
    }
    return value
}

# Milliseconds since the first event.
function ms(    time, now) {
    time = field("timestamp")
    now = (substr(time, 12, 2) * 60 + substr(time, 15, 2)) * 60000 + substr(time, 18, 6) * 1000
    if (start == "")
        start = now
    return now - start
}

{ type = field("type"); time = ms() }
