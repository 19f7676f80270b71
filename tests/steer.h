/* steer.h - turns an example into tests.  The compiler reads it before the example's source.

   The example's main program becomes the body of two tests.  What it defines and starts goes
   through test_examples.c, which tries every run out on engines of its own before it lets the
   example go on, undisturbed. */
#ifndef STEER_H
#define STEER_H

#include "test.h"

#include <rondo.h>

enum steer { STEER_CANCEL, STEER_RECOVER, STEER_TEAR, STEER_DRIVE };

/* Runs an example's main; every run in it is cancelled at each of its events, or recovered from
   there, or from a damaged log, or driven in all the ways there are. */
void steer_example(const char *name, int (*main_of)(void), enum steer how);

int steer_engine_new(const rondo_config *config, rondo_engine **ret, rondo_error *err);
rondo_node *steer_agent_node(const rondo_agent *agent);
int steer_run_start(rondo_engine *engine, rondo_node *node, const rondo_value *input,
                    const rondo_run_options *options, rondo_run **ret, rondo_error *err);
int steer_call(rondo_engine *engine, rondo_node *node, const rondo_value *input,
               rondo_value **ret, rondo_error *err);

#ifdef EXAMPLE // its name, as a string
#define main example_main
static int main(void);

static void cancelled(void)
{
    steer_example(EXAMPLE, main, STEER_CANCEL);
}

static void recovered(void)
{
    steer_example(EXAMPLE, main, STEER_RECOVER);
}

static void torn(void)
{
    steer_example(EXAMPLE, main, STEER_TEAR);
}

static void driven(void)
{
    steer_example(EXAMPLE, main, STEER_DRIVE);
}

__attribute__((constructor)) static void register_example(void)
{
    static struct test tests[] = {
        { EXAMPLE "_ends_in_order_when_cancelled_at_any_event", __FILE__, cancelled, NULL },
        { EXAMPLE "_goes_on_from_any_prefix_of_its_log", __FILE__, recovered, NULL },
        { EXAMPLE "_is_never_misled_by_a_torn_log", __FILE__, torn, NULL },
        { EXAMPLE "_comes_to_the_same_however_it_is_driven", __FILE__, driven, NULL },
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        test_add(&tests[i]);
}

#define rondo_engine_new steer_engine_new
#define rondo_agent_node steer_agent_node
#define rondo_run_start steer_run_start
#define rondo_call steer_call
#endif

#endif
