type == "step_end" && field("path") == "project.planner" { plan = field("output") }
type == "iteration_end" {
    printf "%2d ms  %-15s pass %d: %s, %s\n", time, field("path"), field("pass") + 1, plan, field("output")
}
type == "loop_end" { printf "%2d ms  %-15s ended\n", time, field("path") }
