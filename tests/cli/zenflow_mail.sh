#!/bin/bash
# zenflow_mail.sh - Zenflow's workflows whose steps talk with a coordinator, rehearsed with scripted answers: who hears what from
# whom, under which id.  Those in tests/zenflow are like the examples of the specification, which are used too where they are
# at hand ($CONFORMANCE, else beside the source tree).
[ -x "$RONDO" ] || { echo "rondo was not built"; exit 77; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export LC_ALL=C.UTF-8 NO_COLOR=1
. "$ROOT/tests/cli/checks"
examples=${CONFORMANCE:-$ROOT/../shared/conformance}/zenflow/examples

# heard: "ID<FROM: TEXT" of what steps were given, without what is told to the coordinator about steps
heard() {
    jq -r 'select(.type == "agent_inbox_drain") | select(.data.text | test("^(step|pass|the workflow) ") | not) | "\(.stepId)<\(.data.from): \(.data.text)"' events
}
summary() { jq -r 'select(.type == "workflow_end") | "\(.data.status) \(.data.summary)"' events; }
narrated() { jq -r 'select(.type == "coordinator_narration").message' events | tr '\n' ';'; }
dropped() { jq -r 'select(.type == "message_dropped") | "\(.stepId) \(.data.reason)"' events | tr '\n' ';'; }
of_steps() { jq -r "select(.type == \"$1\" and .stepId and .stepId != \"coordinator\").stepId" events | tr '\n' ';'; }

# rehearse OWN EXAMPLE CHECK <SCRIPT: ours, and theirs where it is there
rehearse() {
    local file
    cat >script.json
    for file in "$ROOT/tests/zenflow/$1" "$examples/$2"; do
        [ -f "$file" ] || continue
        "$RONDO" rehearse -q --json --coordinator x/y --script script.json "$file" >events 2>err </dev/null || bad "$file: $(cat err)"
        same "$file: every message has one end" "$(jq -r 'select(.type | test("^message_sent$|^coordinator_inbox_message$")).type' events | wc -l)" \
            "$(jq -r 'select(.type | test("^agent_inbox_drain$|^message_dropped$")).type' events | wc -l)"
        same "$file: workflow_end is last" "$(tail -1 events | jq -r .type)" workflow_end
        "$3"
    done
}

# ---- ZF-E18: questions and answers, three rounds -------------------------------------------------------------------
questions() {
    same "each hears what the other has asked or answered" "$(heard)" "coordinator<asker-1: QUESTION_1: the capital?
expert-1<coordinator: QUESTION_1: the capital?
coordinator<expert-1: ANSWER_1: Paris
asker-2<coordinator: ANSWER_1: Paris
coordinator<asker-2: QUESTION_2: how many live there?
expert-2<coordinator: QUESTION_2: how many live there?
coordinator<expert-2: ANSWER_2: two million
asker-3<coordinator: ANSWER_2: two million
coordinator<asker-3: QUESTION_3: a landmark?
expert-3<coordinator: QUESTION_3: a landmark?
coordinator<expert-3: ANSWER_3: a tower"
    same "the summary" "$(summary)" "completed three questions, three answers"
    same "nothing is lost" "$(dropped)" ""
    same "the coordinator narrates" "$(narrated)" "three rounds are over;"
}
rehearse questions.yaml messaging-demo.yaml questions <<'S'
{ "asker-1": { "content": "SENT_1", "delay": "1s", "messages": [ { "to": "coordinator", "text": "QUESTION_1: the capital?" } ] },
  "expert-1": { "content": "REPLIED_1", "delay": "1s", "messages": [ { "to": "coordinator", "text": "ANSWER_1: Paris" } ] },
  "asker-2": { "content": "SENT_2", "delay": "1s", "messages": [ { "to": "coordinator", "text": "QUESTION_2: how many live there?" } ] },
  "expert-2": { "content": "REPLIED_2", "delay": "1s", "messages": [ { "to": "coordinator", "text": "ANSWER_2: two million" } ] },
  "asker-3": { "content": "SENT_3", "delay": "1s", "messages": [ { "to": "coordinator", "text": "QUESTION_3: a landmark?" } ] },
  "expert-3": { "content": "REPLIED_3", "delay": "1s", "messages": [ { "to": "coordinator", "text": "ANSWER_3: a tower" } ] },
  "coordinator": [ {}, { "messages": [ { "to": "expert-1", "text": "QUESTION_1: the capital?" } ] },
                   { "messages": [ { "to": "asker-2", "text": "ANSWER_1: Paris" } ] },
                   { "messages": [ { "to": "expert-2", "text": "QUESTION_2: how many live there?" } ] },
                   { "messages": [ { "to": "asker-3", "text": "ANSWER_2: two million" } ] },
                   { "messages": [ { "to": "expert-3", "text": "QUESTION_3: a landmark?" } ] },
                   { "narrate": "three rounds are over" }, { "finalize": "three questions, three answers" } ] }
S

# ---- ZF-E16: a debate in rounds, narrated ---------------------------------------------------------------------------
debate() {
    same "what is argued reaches the coordinator under the ids of its round" "$(heard)" "coordinator<debate-rounds.0.pro-argue: for 1
coordinator<debate-rounds.0.con-argue: against 1
debate-rounds.1.con-argue<coordinator: come to the point
coordinator<debate-rounds.1.pro-argue: for 2
coordinator<debate-rounds.1.con-argue: against 2
coordinator<debate-rounds.2.pro-argue: for 3
coordinator<debate-rounds.2.con-argue: against 3"
    same "three rounds, and the judge" "$(jq -r 'select(.type == "loop_end").data | "\(.reason) \(.passes)"' events)" "judge 3"
    same "the summary" "$(summary)" "completed tea has won"
    same "passes are told" "$(jq -r 'select(.type == "coordinator_inbox_message").data.text | select(test("^pass"))' events | tr '\n' ';')" \
        "pass 0 of debate-rounds ended;pass 1 of debate-rounds ended;pass 2 of debate-rounds ended;"
}
rehearse dispute.yaml debate-until.yaml debate <<'S'
{ "judge": [ { "result": { "done": false } }, { "result": { "done": false } }, { "result": { "done": true } } ],
  "pro-argue": [ { "content": "for 1", "delay": "1s", "messages": [ { "to": "coordinator", "text": "for 1" } ] },
                 { "content": "for 2", "delay": "1s", "messages": [ { "to": "coordinator", "text": "for 2" } ] },
                 { "content": "for 3", "delay": "1s", "messages": [ { "to": "coordinator", "text": "for 3" } ] } ],
  "con-argue": [ { "content": "against 1", "delay": "1s", "messages": [ { "to": "coordinator", "text": "against 1" } ] },
                 { "content": "against 2", "delay": "1s", "messages": [ { "to": "coordinator", "text": "against 2" } ] },
                 { "content": "against 3", "delay": "1s", "messages": [ { "to": "coordinator", "text": "against 3" } ] } ],
  "coordinator": [ { "messages": [ { "to": "debate-rounds.1.con-argue", "text": "come to the point" } ] }, { "finalize": "tea has won" } ] }
S

# ---- ZF-E08: side by side, each by its number ------------------------------------------------------------------------
errands() {
    same "each errand is told its own" "$(heard | sort)" "coordinator<loop-stages[0].worker: TASK_DONE: bread
coordinator<loop-stages[1].worker: TASK_DONE: milk
coordinator<loop-stages[2].worker: TASK_DONE: eggs
loop-stages[0].worker<coordinator: at the corner
loop-stages[2].worker<coordinator: a dozen"
    same "a name that three have means nobody" "$(dropped)" "worker unknown-step;"
    same "and says who could be meant" "$(jq -r 'select(.type == "message_dropped").data.why' events)" \
        "several work under that name: loop-stages[0].worker, loop-stages[1].worker, loop-stages[2].worker"
    same "the summary" "$(summary)" "completed all bought"
}
rehearse errands.yaml loop-parallel-bidirectional.yaml errands <<'S'
{ "plan": { "result": { "tasks": [ { "name": "bread" }, { "name": "milk" }, { "name": "eggs" } ] }, "delay": "1s" },
  "loop-stages[0].worker": { "content": "OK", "delay": "1s", "messages": [ { "to": "coordinator", "text": "TASK_DONE: bread" } ] },
  "loop-stages[1].worker": { "content": "OK", "delay": "2s", "messages": [ { "to": "coordinator", "text": "TASK_DONE: milk" } ] },
  "loop-stages[2].worker": { "content": "OK", "delay": "3s", "messages": [ { "to": "coordinator", "text": "TASK_DONE: eggs" } ] },
  "coordinator": [ {}, { "messages": [ { "to": "loop-stages[0].worker", "text": "at the corner" }, { "to": "loop-stages[2].worker", "text": "a dozen" },
                                       { "to": "worker", "text": "hurry" } ] }, {}, {}, { "finalize": "all bought" } ] }
S

# ---- ZF-E07: stages, by name and by path -------------------------------------------------------------------------------
stages() {
    same "by name whoever is at work, by path that very pass" "$(heard)" "loop-stages.0.worker<coordinator: by name
coordinator<loop-stages.0.worker: STAGE_1: done
coordinator<loop-stages.1.worker: STAGE_2: done
loop-stages.2.worker<coordinator: by path
coordinator<loop-stages.2.worker: STAGE_3: done"
    same "three stages" "$(of_steps step_end)" \
        "setup;loop-stages.0.worker;loop-stages.0.judge;loop-stages.1.worker;loop-stages.1.judge;loop-stages.2.worker;loop-stages.2.judge;loop-stages;report;"
    same "the judge says so" "$(jq -r 'select(.type == "loop_end").data | "\(.reason) \(.passes)"' events)" "judge 3"
    same "nothing is lost" "$(dropped)" ""
}
rehearse stages.yaml loop-bidirectional.yaml stages <<'S'
{ "setup": { "content": "READY", "delay": "1s" },
  "judge": [ { "result": { "done": false } }, { "result": { "done": false } }, { "result": { "done": true } } ],
  "loop-stages.0.worker": { "content": "STAGE_1_DONE", "delay": "1s", "messages": [ { "to": "coordinator", "text": "STAGE_1: done" } ] },
  "loop-stages.1.worker": { "content": "STAGE_2_DONE", "delay": "1s", "messages": [ { "to": "coordinator", "text": "STAGE_2: done" } ] },
  "loop-stages.2.worker": { "content": "STAGE_3_DONE", "delay": "1s", "messages": [ { "to": "coordinator", "text": "STAGE_3: done" } ] },
  "coordinator": [ {}, { "messages": [ { "to": "worker", "text": "by name" }, { "to": "loop-stages.2.worker", "text": "by path" } ] }, {}, { "finalize": "done" } ] }
S
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
