type == "iteration_start" { printf "pass %d\n", field("pass") + 1 }
type == "output" { printf "  partial: \"%s\" by %s\n", field("content"), field("author") }
type == "message" { printf "  stored:  \"%s\" by %s\n", field("content"), field("author") }
type == "step_end" && field("agent") { printf "  output:  \"%s\"\n", field("output") }
type == "workflow_end" { sub(/.*"output":/, ""); sub(/[}][}]$/, ""); print "state: " $0 }
