type == "iteration_start" && field("pass") > 0 { print "enough? no" }
type == "iteration_end" {
    printf "loop %s: pass %d of at most %d took %d ms and gave %s\n", field("path"), field("pass") + 1,
           field("cap"), field("duration"), field("output")
}
type == "loop_end" && field("reason") == "until" { print "enough? yes" }
type == "workflow_end" { print "result: " field("output") }
