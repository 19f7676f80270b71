# Zenflow's example workflows, rehearsed: how many calls there are, and what their agents are shown.
examples=$ROOT/../shared/conformance/zenflow/examples
if [ ! -d "$examples" ] || ! "$RONDO" help rehearse >/dev/null 2>&1; then
    echo "Zenflow's examples are not here"
    exit 77
fi
passed=0 failed=0

check() { # WHAT COMMAND...
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $what"
    fi
}

# calls NAME COUNT: the rehearsal completes with that many calls
calls() {
    "$RONDO" rehearse -q --prompts "$1" "$examples/$1.yaml" >"$1.out" 2>"$1.err"
    check "$1: $(cat "$1.err")" [ $? = 0 ]
    check "$1: $(ls "$1" | wc -l) calls, wanted $2" [ "$(ls "$1" | wc -l)" = "$2" ]
}

shows() { # FLOW STEP TEXT
    check "$1: $2 is not shown '$3'" grep -qF -- "$3" "$1/$2.txt"
}

calls minimal 1
calls simple-chain 3
shows simple-chain review '### draft (completed)'
calls parallel-fan-out 5
calls code-review 4
calls research-team 5
calls product-launch 5
calls debate 4
calls debate-soak 2
calls messaging-demo 7

# Two services are found, each is deployed and verified.
calls loop-foreach 6
shows loop-foreach 'deploy_each[1].verify' '## forEach Item (index: 1)'
shows loop-foreach summary '### deploy_each result'

# The first pass is judged, the second says LGTM, so that no judge is asked.
calls loop-repeat-until 6
shows loop-repeat-until dev_cycle.0.implement '### design (completed)'
shows loop-repeat-until dev_cycle.1.implement '## Judge Feedback (Iteration 1)'
shows loop-repeat-until dev_cycle.1.implement '## Revision Instructions'
check "a judge after LGTM" [ ! -e loop-repeat-until/dev_cycle.1.judge.txt ]

# The report sees all tasks.
calls loop-parallel-bidirectional 4
shows loop-parallel-bidirectional report '"id":"loop-stages[0]"'
shows loop-parallel-bidirectional report '"id":"loop-stages[1]"'

# The verdict sees both sides of all rounds.
calls debate-until 8
for text in '## Iteration 1' '## Iteration 2' '### pro-argue' '### con-argue' '## Judge Feedback (Iteration 2)'; do
    shows debate-until verdict "$text"
done

# Included steps see what the include waits for.
calls include-reuse 6
shows include-reuse deploy-staging.run-deploy '## Parent Context'
shows include-reuse deploy-staging.verify-deploy '### run-deploy (completed)'

calls context-files 4
shows context-files analyze-image '(attached as multimodal content)'
shows context-files analyze-pdf '(attached as multimodal content)'
check "a picture in analyze-text" sh -c '! grep -q multimodal context-files/analyze-text.txt'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
