/* test_talk.c - children that are talked with: their input stays open, and they end when it is closed. */
#include "test.h"

#include "base/buf.h"
#include "io/alarm.h"
#include "io/process.h"

#include <signal.h>
#include <string.h>

static struct loop *loop;

struct child {
    struct process *process;
    struct buf heard;
    int ended, status, signal;
};

static void on_data(struct process *process, const char *bytes, size_t len, void *user)
{
    struct child *child = user;
    CHECK(!child->ended);
    buf_put(&child->heard, bytes, len);
}

static void on_end(struct process *process, void *user)
{
    struct child *child = user;
    child->status = process_status(process);
    child->signal = process_signal(process);
    child->ended++;
}

static void start(struct child *child, const char *text)
{
    rondo_error err;
    const char *const argv[] = { "/bin/sh", "-c", text, NULL };
    const char *const env[] = { "PATH=/usr/bin:/bin", NULL };
    *child = (struct child){ 0 };
    if (!loop)
        CHECK(loop_open(&loop, &err) == 0);
    struct process_spec spec = { .argv = argv, .env = env, .on_data = on_data, .on_end = on_end, .user = child,
                                 .grace_ms = 200, .farewell_ms = 1000 };
    CHECK(process_start(loop, &spec, &child->process, &err) == 0);
}

static void say(struct child *child, const char *text)
{
    rondo_error err;
    CHECK(process_send(child->process, text, strlen(text), &err) == 0);
}

static void wait_for_bytes(struct child *child, size_t len)
{
    while (child->heard.len < len && !child->ended)
        loop_wait(loop, INT64_MAX);
    CHECK_UINT(child->heard.len, len);
}

static void wait_for_end(struct child *child)
{
    while (!child->ended)
        loop_wait(loop, INT64_MAX);
    CHECK_INT(child->ended, 1);
    buf_free(&child->heard);
}

TEST(question_and_answer_again_and_again)
{
    struct child child;
    start(&child, "while read -r line; do echo \"<$line>\"; done; exit 7");
    for (int i = 0; i < 20; i++) {
        buf_clear(&child.heard);
        say(&child, "hello\n");
        wait_for_bytes(&child, 8);
        CHECK_STR(buf_text(&child.heard), "<hello>\n");
    }
    process_finish(child.process, 60000);
    wait_for_end(&child);
    CHECK_INT(child.status, 7); // it ended by itself
    loop_close(loop);
}

TEST(more_than_a_pipe_holds_is_kept_until_it_is_read)
{
    struct child child;
    auto_buf struct buf much = { 0 };
    while (much.len < 3 << 20)
        buf_puts(&much, "some more bytes\n");
    start(&child, "sleep 0.2; cat");
    for (int i = 0; i < 3; i++) {
        say(&child, buf_text(&much));
        loop_wait(loop, 0);
    }
    process_finish(child.process, 60000);
    wait_for_bytes(&child, 3 * much.len);
    CHECK_MEM(child.heard.data + 2 * much.len, much.data, much.len);
    wait_for_end(&child);
    CHECK_INT(child.status, 0);
    loop_close(loop);
}

TEST(there_is_a_limit_to_what_waits)
{
    struct child child;
    rondo_error err;
    auto_buf struct buf much = { 0 };
    buf_reserve(&much, 16 << 20);
    memset(much.data, 'x', 16 << 20);
    start(&child, "exec sleep 1000");
    int rc = 0, times = 0;
    while (rc == 0 && times++ < 10)
        rc = process_send(child.process, much.data, 16 << 20, &err);
    CHECK_INT(rc, RONDO_ELIMIT);
    CHECK_INT(times, 5);
    process_cancel(child.process, 0);
    wait_for_end(&child);
    loop_close(loop);
}

TEST(who_does_not_end_by_itself_is_ended)
{
    struct child polite, rude;
    start(&polite, "exec sleep 1000");
    start(&rude, "trap '' TERM; while :; do sleep 1; done");
    process_finish(polite.process, 50);
    process_finish(rude.process, 50);
    wait_for_end(&polite);
    wait_for_end(&rude);
    CHECK_INT(polite.signal, SIGTERM);
    CHECK_INT(rude.signal, SIGKILL);
    loop_close(loop);
}

TEST(a_child_that_closes_its_input_costs_nothing)
{
    struct child child;
    rondo_error err;
    start(&child, "exec <&-; echo closed; exec sleep 1000");
    wait_for_bytes(&child, 7);
    CHECK_INT(process_send(child.process, "x", 1, &err), 0); // nobody can know yet
    CHECK_INT(process_send(child.process, "x", 1, &err), RONDO_ESTATE);
    int turns = 0;
    for (int64_t end = alarm_now_ms() + 200; alarm_now_ms() < end; turns++)
        loop_wait(loop, loop_now_ns(loop) + 50 * 1000000ll);
    CHECK(turns < 20);
    process_cancel(child.process, 0);
    wait_for_end(&child);
    loop_close(loop);
}

TEST(closing_the_loop_says_goodbye_first)
{
    struct child child;
    start(&child, "cat >/dev/null; exit 3");
    say(&child, "x\n");
    loop_close(loop);
    CHECK_INT(child.ended, 1);
    CHECK_INT(child.status, 3);
}

static void on_ring(void *user)
{
    ++*(int *)user;
}

TEST(an_alarm_rings_once_for_each_time_it_is_set)
{
    rondo_error err;
    int rings = 0, never = 0;
    CHECK(loop_open(&loop, &err) == 0);
    struct alarm *alarm = alarm_new(loop, on_ring, &rings), *other = alarm_new(loop, on_ring, &never);
    int64_t before = alarm_now_ms();
    alarm_set(alarm, 100000);
    alarm_set(alarm, 30);
    alarm_set(other, 10);
    alarm_stop(other);
    while (!rings)
        loop_wait(loop, INT64_MAX);
    CHECK(alarm_now_ms() - before >= 29);
    loop_wait(loop, loop_now_ns(loop) + 50 * 1000000ll);
    CHECK_INT(rings, 1);
    CHECK_INT(never, 0);
    alarm_set(alarm, 0);
    alarm_free(alarm);
    alarm_free(other);
    loop_close(loop);
    CHECK_INT(rings, 1);
}
