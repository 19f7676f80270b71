type == "step_start" && field("path") ~ /deploy$/ { printf "begin %-20s %d open\n", field("path"), ++open }
type == "step_end" && field("path") ~ /verify$/ { printf "end   %-20s %d open\n", field("path"), --open }
type == "workflow_end" { sub(/.*"output":/, ""); sub(/[}][}]$/, ""); print "result: " $0 }
