type == "state" && match($0, /"judge":"[{].*[}]"/) {
    told = substr($0, RSTART + 9, RLENGTH - 10)
    gsub(/\\"/, "\"", told)
    print "           the judge said " told
}
type == "iteration_end" { sub(/"outputs":[{][^}]*[}]/, ""); printf "%6d ms  the service is %s\n", time, field("output") }
type == "delay" { printf "%6d ms  wait\n", time }
type == "loop_end" { printf "%6d ms  end, reason: %s\n", time, field("reason") }
