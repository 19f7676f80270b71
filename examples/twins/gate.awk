type == "gate_waiting" { printf "%s asks: %s\n", field("path"), field("value") }
type == "message" && match($0, /got \\"[^"]*"/) { # expected object, got \"maybe\"
    answer = substr($0, RSTART + 4, RLENGTH - 4)
    gsub(/\\/, "", answer)
    print answer " was refused"
}
type == "gate_answered" { printf "%s was answered\n", field("path") }
type == "workflow_end" { printf "result: \"%s\"\n", field("output") }
