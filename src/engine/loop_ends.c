/* loop_ends.c - why a loop ended, from what its reader has counted (run/end_text.h). */
#include "engine/shell.h"

#include "run/budget.h"
#include "run/end_text.h"
#include "run/limits.h"

/* What it was like when the loop ended. */
struct past_end {
    struct loop_end end;
    rondo_node node, around; // when it has changed since
    rondo_budget budget;
};

static bool is_used_up(const struct reader *reader, uint32_t slot, const rondo_budget *budget, int reason)
{
    const rondo_usage *spent = reader_usage(reader, slot);
    int64_t used = !spent                         ? 0
                   : reason == RONDO_REASON_TOKENS ? spent->input_tokens + spent->output_tokens
                   : reason == RONDO_REASON_COST   ? spent->cost_nano
                                                   : spent->calls;
    return reason == RONDO_REASON_TIME || reader->refused.act == slot || used >= budget_limit(budget, reason);
}

/* The budget that was used up is the loop's own, or that of something around it.  That of the whole run is told by
   itself: here it stands only for a loop without any other. */
static void find_budget(const struct reader *reader, const struct rondo_event *ev, struct past_end *past)
{
    const struct run *run = ev->run;
    struct loop_end *end = &past->end;
    const rondo_node *node = end->node;
    uint32_t slot = ev->act;
    bool is_found = false;
    while (!is_found) {
        const rondo_budget *budget = slot ? &node->opts.budget : limits_budget_at(run, ev->seq);
        bool has_limit = budget_limit(budget, end->reason) != 0;
        is_found = slot && has_limit && is_used_up(reader, slot, budget, end->reason);
        if (is_found || !end->budget || (has_limit && !budget_limit(end->budget, end->reason))) {
            past->budget = *budget;
            end->budget = &past->budget;
            end->spent = reader_usage(reader, slot);
            end->asked = reader->refused.act == slot ? &reader->refused.most : NULL;
        }
        if (!slot)
            return;
        slot = reader->places[slot].parent;
        node = slot ? limits_at(run, reader->places[slot].node, ev->seq, &past->around) : NULL;
    }
}

static void find_end(const struct rondo_event *ev, struct past_end *past)
{
    const struct reader *reader = &run_of(ev->run)->reader;
    const struct loop_seen *loop = reader_loop(reader, ev->act);
    struct loop_end *end = &past->end;
    *end = (struct loop_end){ .node = limits_at(ev->run, reader->places[ev->act].node, ev->seq, &past->node),
                              .reason = ev->code, .passes = ev->ordinal, .best = -1 };
    bool has_passed = node_is_loop(end->node) && loop && ev->ordinal;
    if (has_passed) {
        end->failures = loop->failures;
        end->best = loop->best;
        end->score = loop->score;
        end->gain_from = loop->gain_from;
    }
    end->error = json_string_value(json_object_get(ev->value, "message"));
    end->timeout_ms = end->node->opts.timeout_ms;
    find_budget(reader, ev, past);
}

const char *rondo_event_why(const rondo_event *ev)
{
    if (!ev)
        return "";
    struct buf *text = &run_of(ev->run)->text;
    buf_clear(text);
    if (ev->type == RONDO_EV_LOOP_END && rondo_event_node(ev)) {
        struct past_end past;
        find_end(ev, &past);
        end_put(text, &past.end);
    }
    return buf_text(text);
}

void loop_end_put_run(struct buf *out, rondo_run *run)
{
    struct loop_end end = { .node = run->core.holder, .reason = run->core.end_reason, .best = -1,
                            .timeout_ms = run->core.timeout_ns / 1000000, .budget = &run->core.budget,
                            .spent = reader_usage(&run->reader, 0) };
    end.asked = run->reader.refused.act ? NULL : &run->reader.refused.most;
    end_put(out, &end);
}

json_t *loop_end_value(const rondo_event *ev)
{
    json_t *value = json_object();
    if (!rondo_event_node(ev))
        return value;
    struct past_end past;
    find_end(ev, &past);
    const struct loop_end *end = &past.end;
    if (*end_rule(end))
        json_object_set_new(value, "rule", json_string(end_rule(end)));
    json_object_set_new(value, "bound", end_bound(end));
    if (end_waits(end))
        json_object_set_new(value, "held", json_boolean(!end_is_short(end)));
    json_object_set_new(value, "why", json_string(rondo_event_why(ev)));
    return value;
}
