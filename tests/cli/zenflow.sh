#!/bin/bash
# zenflow.sh - runs of Zenflow v1 workflows, rehearsed with scripted answers: who is called and how
# often, in which order and beside whom, what everybody is shown, how it ends.
#
# The workflows of the Zenflow specification are used where they are at hand ($CONFORMANCE, else beside
# the source tree).  Those in tests/zenflow, in tests/zenflow/like (the same steps as the former) and the ones written
# here always run.
ndjson=$ROOT/${B:-build}/tests/ndjson_suite
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
[ -x "$ndjson" ] || { echo "no $ndjson"; exit 77; }
export LC_ALL=C.UTF-8 NO_COLOR=1
specification=${CONFORMANCE:-$ROOT/../shared/conformance}/zenflow/examples
own=$ROOT/tests/zenflow
passed=0 failed=0 skipped=0 now=

# ---- what a test says --------------------------------------------------------------------------

ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    printf 'FAIL %s: %s\n' "$now" "$*"
}
same() { if [ "$2" = "$3" ]; then ok; else bad "$1 is '$2', wanted '$3'"; fi; } # WHAT IS WANTED

# That workflow_end comes last, ZF-B33, and more about the lines is checked every time.
# play NAME STATUS FILE [OPTION...] <ANSWERS: rehearses, and keeps events, prompts and stderr.  Everything
# else looks at what was kept.
play() {
    local status=$2 file=$3 rc
    now=$1
    shift 3
    rm -rf prompts
    cat >answers
    set -- "$@" $([ -s answers ] && echo --script answers)
    "$RONDO" rehearse --json --prompts prompts "$@" "$file" >events 2>err </dev/null
    rc=$?
    same "the exit status" "$rc" "$status"
    [ "$rc" = "$status" ] || sed 's/^/  /' err
    : >told
    [ "$status" = 2 ] && return
    "$ndjson" <events >told 2>wrong || bad "$(cat wrong)"
    "$ndjson" path= type path data.status <events | awk '
        { gsub(/"/, "") }
        $1 == "step_end" { is[$2] = "completed" }
        $1 == "error" { is[$2] = "failed" }
        $1 == "step_skipped" { is[$2] = $3 == "-" ? "skipped" : $3 }
        $1 == "step_cancelled" { is[$2] = "cancelled" }
        END { for (path in is) print path, is[path] }' >ends
}

# flow FILE <TEXT: a workflow
flow() { mkdir -p "$(dirname "$1")" && cat >"$1"; }

calls() { same "the number of calls" "$(find prompts -type f 2>/dev/null | wc -l)" "$1"; }
of() { # KEY WANTED: of workflow_end
    same "$1" "$("$ndjson" "data.$1" <events)" "$2"
}
ends() { # PATH STATUS...: how steps ended
    while [ $# -gt 1 ]; do
        same "$1" "$(awk -v p="$1" '$1 == p { print $2 }' ends)" "$2"
        shift 2
    done
}
gives() { # PATH VALUE: the output of a step, as JSON
    same "the output of $1" "$("$ndjson" type=step_end path="$1" data.output <events | tail -n 1)" "$2"
}
says() { # PATH TEXT: the content of a step, as JSON, has it
    if "$ndjson" type=step_end path="$1" data.content data.output <events | tail -n 1 | grep -qF -- "$2"; then
        ok
    else
        bad "the content of $1 has no '$2'"
    fi
}
fails() { # PATH TEXT: a step failed, and its error has it
    if "$ndjson" type=error path="$1" error <events | grep -qF -- "$2"; then ok; else
        bad "no error of $1 has '$2': $("$ndjson" type=error path= path error <events)"
    fi
}
order() { # LINE...: these lines in this order, whatever is between them
    if printf '%s\n' "$@" | awk 'NR == FNR { want[++n] = $0; next } i < n && $0 == want[i + 1] { i++ }
                                 END { exit i < n }' - told; then ok; else bad "not in this order: $*"; fi
}
overlap() { # PATH...: all have begun before any has ended
    if printf '%s\n' "$@" | awk '
        NR == FNR { n += !($0 in of); of[$0] = 1; next }
        $1 == "step_start" && $2 in of { begun++ }
        $1 == "step_end" && $2 in of { if (begun < n) early = 1; done++ }
        END { exit early || done < n }' - told; then ok; else bad "not at the same time: $*"; fi
}
most() { # PATTERN N: of the steps whose paths match, so many were at work at the same time
    same "how many at a time" "$(awk -v like="$1" '
        $2 ~ like && $1 == "step_start" { if (++now > most) most = now }
        $2 ~ like && ($1 == "step_end" || $1 == "error" || $1 == "step_cancelled") { now-- }
        END { print most + 0 }' told)" "$2"
}
at() { # TYPE PATH SECONDS: when, from the beginning of the run
    same "the time of $1 $2" "$("$ndjson" type="$1" path="$2" timestamp <events | tail -n 1 |
        awk -F'[T:.Z]' '{ print ($2 * 60 + $3) * 60 + $4 - 6400 }')" "$3"
}
never() { if grep -qxF -- "$1" told; then bad "there is a '$1'"; else ok; fi; }
shows() { # PATH TEXT: a prompt has it
    if [ -f "prompts/$1.txt" ] && grep -qF -- "$2" "prompts/$1.txt"; then ok; else
        bad "the prompt of $1 has no '$2'"
    fi
}
hides() { # PATH TEXT: a prompt is there and has it not
    if [ -f "prompts/$1.txt" ] && ! grep -qF -- "$2" "prompts/$1.txt"; then ok; else
        bad "the prompt of $1 has '$2'"
    fi
}
lists() { # PATH LINE...: of the prompt's lines, these are there in this order
    local prompt=prompts/$1.txt
    shift
    if printf '%s\n' "$@" | awk 'NR == FNR { want[++n] = $0; next } i < n && $0 == want[i + 1] { i++ }
                                 END { exit i < n }' - "$prompt"; then ok; else bad "$prompt: not in this order: $*"; fi
}
warns() { if grep -qF -- "$1" err; then ok; else bad "stderr has no '$1': $(cat err)"; fi; }
refused() { # NAME TEXT FILE: it is invalid, and why
    play "$1" 2 "$3" </dev/null
    warns "$2"
}
example() { # FILE: is it at hand?
    [ -f "$examples/$1" ] && return
    skipped=$((skipped + 1))
    return 1
}
checked() { # FILE ORDER: it is valid, and its steps are in this order
    now=$1
    same "the order" "$("$RONDO" check --json "$1" 2>/dev/null | sed 's/.*"order":\[\([^]]*\)\].*/\1/; s/"//g; s/,/ /g')" "$2"
}
xs() { awk -v n="$1" -v x="${2:-x}" 'BEGIN { for (i = 0; i < n; i++) printf "%s", x }'; } # COUNT [TEXT]

# ---- the examples of the specification, and others like them --------------------------------------

examples_of() { # FOLDER
local examples=$1 f
if example minimal.yaml; then # ZF-E01
    f=$examples/minimal.yaml
    checked $f "greet"
    play minimal 0 $f <<<'{ "greet": "hello" }'
    calls 1; of status '"completed"'; of output '"hello"'
fi
if example simple-chain.yaml; then # ZF-E02
    f=$examples/simple-chain.yaml
    checked $f "draft review publish"
    play simple-chain 0 $f <<<'{ "draft": "a draft of mine" }'
    calls 3
    order "step_start draft" "step_end draft" "step_start review" "step_end review" "step_start publish"
    lists review "## Previous Step Results" "### draft (completed)" "a draft of mine"
    hides publish "### draft (completed)"
fi
if example parallel-fan-out.yaml; then # ZF-E03
    f=$examples/parallel-fan-out.yaml
    checked $f "design api-server database ui-components integrate"
    play parallel-fan-out 0 $f <<<'{ "api-server": { "content": "a", "delay": "3s" }, "database": { "content": "b", "delay": "1s" } }'
    calls 5
    overlap api-server database ui-components
    order "step_end design" "step_start api-server" "step_end api-server" "step_start integrate"
    lists integrate "### api-server (completed)" "### database (completed)" "### ui-components (completed)"
fi
if example condition.yaml; then # ZF-E04
    f=$examples/condition.yaml
    checked $f "design implement security_audit test optimize finalize"
    play condition 0 $f <<<'{ "design": { "result": { "features": ["authentication", "search"] } }, "test": { "result": { "passed": true } } }'
    calls 6; of status '"completed"'
    play condition-without 0 $f <<<'{ "design": { "result": { "features": ["search"] } }, "test": { "result": { "passed": false } } }'
    calls 4; ends security_audit skipped optimize skipped finalize completed
fi
if example loop-foreach.yaml; then # ZF-E05
    f=$examples/loop-foreach.yaml
    checked $f "list_services deploy_each summary"
    play loop-foreach 0 $f <<<'{ "list_services": { "result": { "services": [ { "name": "a" }, { "name": "b" }, { "name": "c" }, { "name": "d" } ] } } }'
    calls 10
    ends "deploy_each[0].deploy" completed "deploy_each[1].verify" completed "deploy_each[3].verify" completed
    most '^deploy_each\[[0-9]\]\.' 3
    shows "deploy_each[1].deploy" '{"name":"b"}'
    shows "deploy_each[1].verify" '## forEach Item (index: 1)'
    play loop-foreach-none 0 $f <<<'{ "list_services": { "result": { "services": [] } } }'
    calls 2; of status '"completed"'; ends deploy_each completed
fi
if example loop-repeat-until.yaml; then # ZF-E06
    f=$examples/loop-repeat-until.yaml
    checked $f "design dev_cycle"
    play loop-repeat-until 0 $f <<<'{ "review": ["no", "no", "LGTM"], "judge": { "result": { "done": false } } }'
    calls 9
    ends dev_cycle.0.implement completed dev_cycle.2.review completed dev_cycle.1.judge completed
    never "step_start dev_cycle.2.judge"
    at step_start dev_cycle.1.implement 10; at step_start dev_cycle.2.implement 20; at step_end dev_cycle 20
    play loop-repeat-until-never 1 $f <<<'{ "review": "no", "judge": { "result": { "done": false } } }'
    calls 16; of status '"partial"'; of exitCode 1; ends design completed dev_cycle failed
    at error dev_cycle 40
fi
if example loop-bidirectional.yaml; then # ZF-E07
    f=$examples/loop-bidirectional.yaml
    checked $f "setup loop-stages"
    play loop-bidirectional 0 $f </dev/null
    ends loop-stages.0.worker completed loop-stages completed
    says loop-stages "## Iteration 2"
fi
if example loop-parallel-bidirectional.yaml; then # ZF-E08
    f=$examples/loop-parallel-bidirectional.yaml
    checked $f "plan loop-stages report"
    play loop-parallel-bidirectional 0 $f <<<'{ "plan": { "result": { "tasks": [ { "name": "a" }, { "name": "b" }, { "name": "c" } ] } },
        "loop-stages[0].worker": "sang", "loop-stages[1].worker": "danced", "loop-stages[2].worker": "slept" }'
    calls 5; overlap "loop-stages[0].worker" "loop-stages[1].worker" "loop-stages[2].worker"
    lists report "sang" "danced" "slept"
fi
if example include-reuse.yaml; then # ZF-E09
    f=$examples/include-reuse.yaml
    checked $f "design build deploy-staging deploy-production"
    play include-reuse 0 $f <<<'{ "deploy-staging.run-deploy": "staged", "verify-deploy": "fine" }'
    calls 6
    ends deploy-staging.run-deploy completed deploy-production.verify-deploy completed
    gives deploy-staging '{"innerSteps":{"deploy-staging.run-deploy":{"content":"staged","status":"completed"},"deploy-staging.verify-deploy":{"content":"fine","status":"completed"}}}'
    lists deploy-staging.run-deploy "## Parent Context" "### build (completed)"
fi
if example full-featured.yaml; then # ZF-E10
    f=$examples/full-featured.yaml
    checked $f "plan implement code_review test fix_issues deploy_staging"
    play full-featured 0 $f <<<'{ "code_review": "fine" }'
    ends fix_issues skipped deploy_staging completed
    play full-featured-changes 0 $f <<<'{ "code_review": "CHANGES_REQUESTED" }'
    ends fix_issues completed deploy_staging completed
fi
if example code-review.yaml; then # ZF-E11
    f=$examples/code-review.yaml
    checked $f "implement security-review perf-review final-report"
    play code-review 0 $f </dev/null
    calls 4; overlap security-review perf-review
fi
if example research-team.yaml; then # ZF-E12
    f=$examples/research-team.yaml
    checked $f "research write-draft fact-check suggest-visuals final-edit"
    play research-team 0 $f </dev/null
    calls 5; overlap write-draft fact-check suggest-visuals
fi
if example product-launch.yaml; then # ZF-E13
    f=$examples/product-launch.yaml
    checked $f "market-research pricing-strategy marketing-copy legal-review launch-plan"
    play product-launch 0 $f </dev/null
    calls 5; overlap pricing-strategy marketing-copy legal-review
fi
if example debate.yaml; then # ZF-E14
    f=$examples/debate.yaml
    checked $f "setup team-pro team-con verdict"
    play debate 0 $f </dev/null
    calls 4; overlap team-pro team-con
fi
if example debate-soak.yaml; then # ZF-E15
    f=$examples/debate-soak.yaml
    checked $f "argue verdict"
    play debate-soak 0 $f </dev/null
    calls 2
fi
if example debate-until.yaml; then # ZF-E16
    f=$examples/debate-until.yaml
    checked $f "setup debate-rounds verdict"
    play debate-until 0 $f <<END
{ "judge": [{ "result": { "done": false } }, { "result": { "done": false } }, { "result": { "done": true } }],
  "pro-argue": ["$(xs 20000 p) one", "$(xs 20000 p) two", "three for"], "con-argue": ["$(xs 20000 c) one", "against two", "against three"] }
END
    calls 11
    lists verdict "$(xs 20000 p) one" "$(xs 20000 c) one" "$(xs 20000 p) two" "against two" "three for" "against three"
    hides verdict "truncated"
fi
if example workflows/deploy.yaml; then # ZF-E20
    f=$examples/workflows/deploy.yaml
    checked $f "run-deploy verify-deploy"
    play deploy 0 $f </dev/null
    calls 2
fi
if example coordinator-output.json; then # ZF-E21
    f=$examples/coordinator-output.json
    checked $f "analyze plan refactor_each_file integration_test"
    play coordinator-output 0 $f <<<'{ "analyze": { "result": { "files": ["x.go", "y.go", "z.go"] } } }'
    calls 9
    ends "refactor_each_file[2].test" completed integration_test completed
    shows "refactor_each_file[2].refactor" '"z.go"'
fi
}
examples_of "$own/like"
skipped=0 # three have no file there, but one of the same idea: dinner, practice, house
examples_of "$specification"
. "$ROOT/tests/zenflow/runs.sh"
. "$ROOT/tests/zenflow/loops.sh"
. "$ROOT/tests/zenflow/files.sh"

printf '%s passed, %s failed' $passed $failed
[ $skipped = 0 ] || printf ', %s skipped' $skipped
echo
[ $failed = 0 ]
