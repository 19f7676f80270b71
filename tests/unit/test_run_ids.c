/* test_run_ids.c - which ids runs may have, and that each is the id of one run. */
#include "agents.h"
#include "stores.h"

#include "engine/shell.h"

#include <string.h>

static struct bot echo = { "echo" };

static rondo_node *asking(void)
{
    return rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "ok", .ask = "Go on?" });
}

static rondo_engine *engine_in(struct store *store)
{
    rondo_engine *engine;
    rondo_config config = { RONDO_CONFIG, .store = (rondo_store *)store, .seed = 7, .virtual_time = true };
    CHECK_INT(rondo_engine_new(&config, &engine, NULL), 0);
    return engine;
}

static int start(rondo_engine *engine, rondo_node *node, const char *id, rondo_run **ret, rondo_error *err)
{
    return rondo_run_start(engine, node, NULL, &(rondo_run_options){ RONDO_RUN, .id = id }, ret, err);
}

static rondo_run *must_start(rondo_engine *engine, rondo_node *node, const char *id)
{
    rondo_error err;
    rondo_run *run = NULL;
    if (start(engine, node, id, &run, &err) < 0)
        FAIL("%s", err.message);
    return run;
}

/* Until nothing is ready any more: somebody may answer the gate. */
static void drain(rondo_run *run)
{
    while (shell_next(run, 0))
        ;
}

/* ---- which ids there are ------------------------------------------------------------------------------- */

static const struct {
    const char *id, *why;
} bad[] = {
    { "", "the id of a run has 1 to 200 characters, got 0" },
    { "\033[31mred", "the id of a run is made of letters, digits and - _ . : @, got '\033[31mred'" },
    { "x\ny", "the id of a run is made of letters, digits and - _ . : @, got 'x\ny'" },
    { "../../tmp/evil", "the id of a run is made of letters, digits and - _ . : @, got '../../tmp/evil'" },
    { "a b", "the id of a run is made of letters, digits and - _ . : @, got 'a b'" },
    { "\xc3\xa4", "the id of a run is made of letters, digits and - _ . : @, got '\xc3\xa4'" },
    { "..", "the id of a run begins with a letter or a digit, got '..'" },
    { "-rf", "the id of a run begins with a letter or a digit, got '-rf'" },
    { "_x", "the id of a run begins with a letter or a digit, got '_x'" },
    { "last", "'last' names the newest run: it is the id of none" },
};
static const char *const good[] = { "a", "7", "last2", "Last", "team:ada@example.org_2-b.c" };

/* A run is started, forked and recovered under that id; in a store or in memory. */
static void check_all(rondo_engine *engine, const char *id, int code, const char *why)
{
    rondo_error err = { 0 };
    rondo_run *run = NULL;
    char *log, *forked = NULL;
    size_t len;
    rondo_node *node = bot_node(&echo);
    CHECK_INT(start(engine, node, id, &run, &err), code);
    CHECK_STR(err.message, why);
    if (run)
        drain(run);
    rondo_run_close(run);

    rondo_run *other = must_start(engine, node, NULL);
    drain(other);
    log = rondo_run_save(other, &len);
    rondo_run_close(other);
    rondo_fork fork = { RONDO_FORK, .id = id };
    size_t forked_len;
    err = (rondo_error){ 0 };
    CHECK_INT(rondo_run_fork(engine, node, log, len, "echo", &fork, &forked, &forked_len, &err), code);
    CHECK_STR(err.message, why);
    rondo_text_free(forked);

    rondo_run_options options = { RONDO_RUN, .id = id };
    run = NULL;
    err = (rondo_error){ 0 };
    CHECK_INT(rondo_run_recover(engine, node, log, len, &options, &run, &err), code);
    CHECK_STR(err.message, why);
    rondo_run_close(run);
    rondo_text_free(log);
    rondo_node_unref(node);
}

TEST(an_id_is_made_of_few_signs_wherever_it_comes_from)
{
    struct store *store = test_store(STORE_CREATE);
    rondo_engine *engines[] = { engine_in(NULL), engine_in(store) };
    for (size_t e = 0; e < COUNT(engines); e++) {
        for (size_t i = 0; i < COUNT(bad); i++)
            check_all(engines[e], bad[i].id, RONDO_EINVAL, bad[i].why);
        for (size_t i = 0; i < COUNT(good); i++)
            check_all(engines[e], good[i], 0, "");
        rondo_engine_free(engines[e]);
    }
    store_close(store);
}

TEST(an_id_has_at_most_200_characters)
{
    char id[202];
    memset(id, 'x', 201);
    id[201] = '\0';
    rondo_engine *engine = engine_in(NULL);
    check_all(engine, id, RONDO_EINVAL, "the id of a run has 1 to 200 characters, got 201");
    id[200] = '\0';
    check_all(engine, id, 0, "");
    rondo_engine_free(engine);
}

TEST(a_run_with_an_id_of_an_older_version_goes_on_and_is_no_file_of_its_own_choice)
{
    rondo_error err;
    auto_buf struct buf name = { 0 };
    struct store *store = test_store(STORE_CREATE);
    rondo_engine *engine = engine_in(store);
    rondo_node *node = asking();
    rondo_run *run = must_start(engine, node, "old");
    drain(run);
    rondo_run_close(run);
    test_sql("UPDATE run SET id = '../e' || char(10, 27) || 'vil'");
    CHECK_INT(rondo_run_look(engine, node, "../e\n\033vil", &run, &err), 0);
    CHECK_STR(rondo_run_id(run), "../e\n\033vil");
    rondo_run_close(run);
    CHECK_INT(rondo_run_resume(engine, node, "../e", NULL, &run, &err), 0);
    CHECK_INT(rondo_engine_signal(engine, rondo_run_id(run), "ok", json_true(), "ada"), 0);
    drain(run);
    CHECK_INT(rondo_run_status(run), RONDO_STATUS_COMPLETED);
    size_t len;
    char *log = rondo_run_save(run, &len);
    rondo_run_close(run);
    CHECK_INT(rondo_run_recover(engine, node, log, len, NULL, &run, &err), 0);
    CHECK_STR(rondo_run_id(run), "../e\n\033vil");
    rondo_run_close(run);
    rondo_text_free(log);
    store_put_file_name(&name, "../e\n\033vil");
    CHECK_STR(buf_text(&name), "_._e__vil");
    buf_clear(&name);
    store_put_file_name(&name, "team:ada@example.org_2-b");
    CHECK_STR(buf_text(&name), "team:ada@example.org_2-b");
    rondo_engine_free(engine);
    rondo_node_unref(node);
    store_close(store);
}

/* ---- each is the id of one run --------------------------------------------------------------------------- */

TEST(a_second_run_of_one_id_is_refused_in_an_engine)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    rondo_engine *engines[] = { engine_in(NULL), engine_in(store) };
    for (size_t e = 0; e < COUNT(engines); e++) {
        rondo_node *node = asking();
        rondo_run *one = must_start(engines[e], node, "same"), *other = NULL;
        CHECK_INT(start(engines[e], node, "same", &other, &err), RONDO_EEXISTS);
        CHECK_STR(err.message, "there is a run 'same' in this engine already");
        rondo_run_options options = { RONDO_RUN, .id = "same", .in_memory = true };
        CHECK_INT(rondo_run_start(engines[e], node, NULL, &options, &other, &err), RONDO_EEXISTS);
        CHECK_NULL(other);
        drain(one);
        size_t len;
        char *log = rondo_run_save(one, &len);
        CHECK_INT(rondo_run_recover(engines[e], node, log, len, NULL, &other, &err), RONDO_EEXISTS);
        options = (rondo_run_options){ RONDO_RUN, .id = "another" };
        CHECK_INT(rondo_run_recover(engines[e], node, log, len, &options, &other, &err), 0);
        CHECK_INT(rondo_engine_signal(engines[e], "same", "ok", json_true(), NULL), 0);
        drain(one);
        drain(other);
        CHECK_INT(rondo_run_status(one), RONDO_STATUS_COMPLETED);
        CHECK_INT(rondo_run_status(other), RONDO_STATUS_WAITING);
        rondo_run_close(other);
        CHECK_INT(rondo_run_recover(engines[e], node, log, len, NULL, &other, &err), 0); // the first one has ended
        rondo_run_close(other);
        rondo_run_close(one);
        rondo_text_free(log);
        rondo_node_unref(node);
        rondo_engine_free(engines[e]);
    }
    store_close(store);
}

TEST(a_second_run_of_one_id_is_refused_in_a_store)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE), *again = test_store(0);
    rondo_engine *engine = engine_in(store), *other = engine_in(again);
    rondo_node *node = bot_node(&echo);
    rondo_run *run = must_start(engine, node, "same");
    drain(run);
    CHECK_INT(start(engine, node, "same", &run, &err), RONDO_EEXISTS);
    CHECK_STR(err.message, "there is a run 'same' already");
    CHECK_INT(start(other, node, "same", &run, &err), RONDO_EEXISTS);
    rondo_engine_free(engine);
    rondo_engine_free(other);
    CHECK_STR(rondo_strerror(RONDO_EEXISTS), "there is one of this id already");
    rondo_node_unref(node);
    store_close(store);
    store_close(again);
}

/* An engine begins its ids as another one of the same seed did. */
TEST(an_id_that_is_made_is_free)
{
    rondo_error err;
    rondo_node *node = asking();
    rondo_engine *engine = engine_in(NULL), *next = engine_in(NULL);
    rondo_run *first = must_start(engine, node, NULL), *second = must_start(engine, node, NULL);
    drain(second);
    size_t len;
    char *log = rondo_run_save(second, &len);
    rondo_run *recovered, *made;
    CHECK_INT(rondo_run_recover(next, node, log, len, NULL, &recovered, &err), 0);
    made = must_start(next, node, NULL);
    CHECK(strcmp(rondo_run_id(made), rondo_run_id(recovered)) != 0);
    CHECK(strcmp(rondo_run_id(first), rondo_run_id(second)) != 0);
    rondo_text_free(log);
    rondo_engine_free(engine);
    rondo_engine_free(next);
    rondo_node_unref(node);
}

TEST(many_runs_are_each_found_by_their_ids)
{
    enum { MANY = 3000 };
    static rondo_run *runs[MANY];
    rondo_error err;
    char id[20];
    rondo_node *node = asking();
    rondo_engine *engine = engine_in(NULL);
    for (int i = 0; i < MANY; i++) {
        snprintf(id, sizeof id, "run-%d", i);
        runs[i] = must_start(engine, node, id);
    }
    for (int i = 0; i < MANY; i += 2)
        rondo_run_close(runs[i]);
    for (int i = 0; i < MANY; i++) {
        snprintf(id, sizeof id, "run-%d", i);
        rondo_run *again = NULL;
        CHECK_INT(start(engine, node, id, &again, &err), i % 2 ? RONDO_EEXISTS : 0);
        rondo_run_close(again);
    }
    for (int i = 1; i < MANY; i += 2) {
        drain(runs[i]);
        CHECK_INT(rondo_engine_signal(engine, rondo_run_id(runs[i]), "ok", json_true(), NULL), 0);
        drain(runs[i]);
        CHECK_INT(rondo_run_status(runs[i]), RONDO_STATUS_COMPLETED);
    }
    rondo_engine_free(engine);
    rondo_node_unref(node);
}
