/* test_store.c - runs that outlive their process: batches, rows, the inbox, forks. */
#include "stores.h"

#include "data/value.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- batches ----------------------------------------------------------------------------------------- */

TEST(what_was_not_committed_is_not_there)
{
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "run");
    put_records(journal, 1, 5, 30);
    CHECK(store_has_batch(store));
    commit(store);
    CHECK(!store_has_batch(store));
    put_records(journal, 6, 9, 30);
    CHECK(store_has_batch(store));
    store_close(store); // with its journals
    store = test_store(0);
    journal = look_run(store, "run");
    CHECK_UINT(check_records(journal, 1, 30), 6);
    store_close(store);
}

TEST(a_journal_whose_batch_was_lost_is_of_no_more_use)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    struct journal *a = test_run(store, "a"), *b = test_run(store, "b");
    put_records(a, 1, 2, 30);
    put_records(b, 1, 2, 30);
    commit(store);
    put_records(a, 3, 4, 30);
    store_rollback(store);
    CHECK_INT(try_append(a, 3, &err), RONDO_ESTORE);
    CHECK_STR(err.message, "run 'a' is no longer written here: it has to be taken again");
    put_records(b, 3, 4, 30); // had no part in it
    commit(store);
    close_journal(a);
    a = take_run(store, "a");
    CHECK_UINT(check_records(a, 1, 30), 3);
    put_records(a, 3, 3, 30);
    commit(store);
    CHECK_UINT(check_records(a, 1, 30), 4);
    store_close(store);
}

TEST(a_record_that_does_not_follow_is_refused)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "run");
    put_records(journal, 1, 2, 30);
    CHECK_INT(try_append(journal, 4, &err), RONDO_ESTORE);
    CHECK_STR(err.message, "event 4 of run 'run' is not the next one, which is 3");
    CHECK_INT(journal->ops->append(journal, "\2abc", 4, 3, 1, &err), RONDO_ESTORE);
    CHECK_STR(err.message, "a record of 1 events does not begin with their number");
    CHECK_INT(journal->ops->append(journal, "\0abc", 4, 3, 0, &err), RONDO_ESTORE);
    put_records(journal, 3, 3, 30); // nothing is lost by it
    commit(store);
    CHECK_UINT(check_records(journal, 1, 30), 4);
    store_close(store);
}

TEST(an_id_is_taken_once)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal;
    test_run(store, "run");
    CHECK_INT(store_add(store, &(struct store_run){ .id = "run" }, NULL, 0, &journal, &err), RONDO_EEXISTS);
    CHECK_STR(err.message, "there is a run 'run' already");
    CHECK_INT(store_add(store, &(struct store_run){ .id = "" }, NULL, 0, &journal, &err), RONDO_EINVAL);
    commit(store);
    CHECK_INT(test_sql_number("SELECT count(*) FROM run"), 1);
    store_close(store);
}

TEST(nothing_is_committed_when_nothing_was_written)
{
    struct store *store = test_store(STORE_CREATE), *other = test_store(0);
    store_has_news(other);
    commit(store);
    CHECK(!store_has_news(other));
    test_run(store, "run");
    CHECK(!store_has_news(other));
    commit(store);
    CHECK(store_has_news(other));
    CHECK(!store_has_news(other));
    CHECK(!store_has_batch(store));
    store_close(store);
    store_close(other);
}

TEST(ones_own_writing_is_no_news)
{
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "run");
    commit(store);
    store_has_news(store);
    put_records(journal, 1, 10, 30);
    commit(store);
    CHECK(!store_has_news(store));
    store_close(store);
}

/* ---- rows -------------------------------------------------------------------------------------------- */

TEST(a_run_is_found_by_the_beginning_of_its_id)
{
    rondo_error err;
    struct journal *journal;
    struct store *store = test_store(STORE_CREATE);
    test_run(store, "draft-1234");
    test_run(store, "draft-1267");
    test_run(store, "draft");
    test_run(store, "zebra");
    commit(store);
    CHECK_STR(store_about(look_run(store, "draft-123"))->id, "draft-1234");
    CHECK_STR(store_about(look_run(store, "draft"))->id, "draft");
    CHECK_STR(store_about(look_run(store, "z"))->id, "zebra");
    CHECK_INT(store_look(store, "draft-12", &journal, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "'draft-12' may be 'draft-1234' or 'draft-1267': say more of it");
    CHECK_INT(store_look(store, "zebre", &journal, &err), RONDO_ENOTFOUND);
    CHECK_STR(err.message, "there is no run 'zebre'; did you mean 'zebra'?");
    CHECK_INT(store_look(store, "", &journal, &err), RONDO_ENOTFOUND);
    CHECK_INT(store_look(store, "%", &journal, &err), RONDO_ENOTFOUND);
    store_close(store);
}

TEST(a_row_says_what_is_known_of_a_run)
{
    rondo_error err;
    size_t len;
    struct journal *journal;
    struct store *store = test_store(STORE_CREATE);
    json_t *about = json_pack("{s:i, s:s}", "tokens", 12, "text", "\xc3\xa4");
    struct store_run run = { .id = "r", .name = "refine", .session = "s", .status = 2, .start_ns = 5, .end_ns = 9,
                             .hash = UINT64_MAX - 3, .about = about };
    CHECK_INT(store_add(store, &run, "the text", 8, &journal, &err), 0);
    put_records(journal, 1, 3, 30);
    commit(store);
    run.status = 4;
    run.waiting = true;
    run.end_ns = 77;
    run.last_seq = 3;
    CHECK_INT(store_sum_up(journal, &run, &err), 0);
    commit(store);
    close_journal(journal);
    store_close(store);

    store = test_store(STORE_READ_ONLY);
    journal = look_run(store, "r");
    const struct store_run *row = store_about(journal);
    CHECK_STR(row->id, "r");
    CHECK_STR(row->name, "refine");
    CHECK_STR(row->session, "s");
    CHECK_STR(row->holder, "");
    CHECK_INT(row->status, 4);
    CHECK(row->waiting);
    CHECK_INT(row->start_ns, 5);
    CHECK_INT(row->end_ns, 77);
    CHECK(row->hash == UINT64_MAX - 3);
    CHECK_UINT(row->last_seq, 3);
    CHECK(json_equal(row->about, about));
    CHECK_STR(store_definition(journal, &len), "the text");
    CHECK_UINT(len, 8);
    json_decref(about);
    store_close(store);
}

TEST(a_definition_is_kept_once)
{
    rondo_error err;
    struct journal *journal;
    struct store *store = test_store(STORE_CREATE);
    for (int i = 0; i < 5; i++) {
        char id[] = { (char)('a' + i), 0 };
        struct store_run run = { .id = id };
        CHECK_INT(store_add(store, &run, i < 3 ? "same" : "other", 4 + (i >= 3), &journal, &err), 0);
    }
    CHECK_INT(store_add(store, &(struct store_run){ .id = "without" }, NULL, 0, &journal, &err), 0);
    commit(store);
    size_t len;
    CHECK_NULL(store_definition(journal, &len));
    CHECK_INT(test_sql_number("SELECT count(*) FROM definition"), 2);
    CHECK_STR(store_definition(look_run(store, "e"), &len), "other");
    store_close(store);
}

static void list_ids(const struct store_run *run, void *user)
{
    strcat(user, run->id);
    strcat(user, " ");
}

static const char *ids(struct store *store, struct store_filter filter)
{
    static char list[500];
    rondo_error err;
    *list = '\0';
    CHECK_INT(store_runs(store, &filter, list_ids, list, &err), 0);
    return list;
}

TEST(runs_are_listed_newest_first)
{
    rondo_error err;
    struct journal *journal;
    struct store *store = test_store(STORE_CREATE);
    static const struct store_run runs[] = {
        { .id = "a", .name = "x", .status = 1, .start_ns = 10 },
        { .id = "b", .name = "y", .status = 2, .start_ns = 30, .session = "s" },
        { .id = "c", .name = "x", .status = 3, .start_ns = 20, .session = "s" },
        { .id = "d", .name = "x", .status = 1, .start_ns = 30 },
    };
    for (size_t i = 0; i < COUNT(runs); i++)
        CHECK_INT(store_add(store, &runs[i], NULL, 0, &journal, &err), 0);
    CHECK_STR(ids(store, (struct store_filter){ 0 }), "d b c a ");
    CHECK_STR(ids(store, (struct store_filter){ .limit = 2 }), "d b ");
    CHECK_STR(ids(store, (struct store_filter){ .name = "x" }), "d c a ");
    CHECK_STR(ids(store, (struct store_filter){ .session = "s" }), "b c ");
    CHECK_STR(ids(store, (struct store_filter){ .status = 1 << 1 }), "d a ");
    CHECK_STR(ids(store, (struct store_filter){ .status = 1 << 2 | 1 << 3 }), "b c ");
    CHECK_STR(ids(store, (struct store_filter){ .since_ns = 20, .until_ns = 29 }), "c ");
    CHECK_STR(ids(store, (struct store_filter){ .name = "nothing" }), "");
    store_close(store);
}

TEST(runs_are_listed_by_the_folder_in_which_they_were_started)
{
    rondo_error err;
    struct journal *journal;
    struct store *store = test_store(STORE_CREATE);
    static const char *const abouts[] = { "{\"folder\":\"/a\"}", "{\"folder\":\"/a/b\"}", "{}", "[\"folder\"]", NULL,
                                          "{\"folder\":\"/a\"}", "{\"folder\":5}" };
    for (size_t i = 0; i < COUNT(abouts); i++) {
        auto_json json_t *about = abouts[i] ? json_loads(abouts[i], 0, NULL) : NULL;
        const struct store_run run = { .id = (char[]){ (char)('a' + i), 0 }, .start_ns = (int64_t)i, .about = about };
        CHECK_INT(store_add(store, &run, NULL, 0, &journal, &err), 0);
    }
    CHECK_STR(ids(store, (struct store_filter){ 0 }), "g f e d c b a ");
    CHECK_STR(ids(store, (struct store_filter){ .folder = "/a" }), "f a ");
    CHECK_STR(ids(store, (struct store_filter){ .folder = "/a", .limit = 1 }), "f ");
    CHECK_STR(ids(store, (struct store_filter){ .folder = "/a/b", .limit = 2 }), "b ");
    CHECK_STR(ids(store, (struct store_filter){ .folder = "/" }), "");
    store_close(store);
}

/* ---- the inbox --------------------------------------------------------------------------------------- */

static json_t *inbox_of(struct journal *journal)
{
    rondo_error err;
    json_t *list = NULL;
    CHECK_INT(store_inbox(journal, &list, &err), 0);
    return list;
}

TEST(a_request_reaches_the_driver)
{
    rondo_error err;
    struct store *driver = test_store(STORE_CREATE), *other = test_store(0);
    struct journal *journal = test_run(driver, "run"), *noise = test_run(driver, "noise");
    put_records(journal, 1, 1, 30);
    commit(driver);
    store_has_news(driver);
    json_t *list = inbox_of(journal);
    CHECK_UINT(json_array_size(list), 0);
    json_decref(list);
    json_t *cancel = json_pack("{s:s}", "kind", "cancel"), *answer = json_pack("{s:s, s:i}", "kind", "answer", "n", 7);
    CHECK_INT(store_send(other, "ru", cancel, &err), 0);
    CHECK_INT(store_send(other, "run", answer, &err), 0);
    CHECK_INT(store_send(other, "nobody", answer, &err), RONDO_ENOTFOUND);
    CHECK(!store_has_batch(other));
    CHECK(store_has_news(driver));
    list = inbox_of(noise);
    CHECK_UINT(json_array_size(list), 0);
    json_decref(list);
    list = inbox_of(journal);
    CHECK_UINT(json_array_size(list), 2);
    CHECK(json_equal(json_object_get(json_array_get(list, 0), "what"), cancel));
    CHECK(json_equal(json_object_get(json_array_get(list, 1), "what"), answer));
    int64_t num = json_integer_value(json_object_get(json_array_get(list, 0), "num"));
    CHECK_INT(store_inbox_done(journal, num, &err), 0);
    put_records(journal, 2, 2, 30);
    json_decref(list);
    commit(driver);
    list = inbox_of(journal);
    CHECK_UINT(json_array_size(list), 1);
    CHECK(json_equal(json_object_get(json_array_get(list, 0), "what"), answer));
    json_decref(list);
    CHECK_INT(store_sum_up(journal, &(struct store_run){ .status = RONDO_STATUS_FAILED, .last_seq = 2 }, &err), 0);
    commit(driver);
    CHECK_INT(store_send(other, "run", answer, &err), RONDO_ESTATE);
    CHECK_STR(err.message, "run run has ended: it is failed");
    json_decref(cancel);
    json_decref(answer);
    store_close(driver);
    store_close(other);
}

TEST(an_inbox_is_bounded)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "run");
    commit(store);
    json_t *what = json_pack("{s:s}", "kind", "cancel");
    for (int i = 0; i < 1000; i++)
        CHECK_INT(store_send(store, "run", what, &err), 0);
    CHECK_INT(store_send(store, "run", what, &err), RONDO_ELIMIT);
    char *text = mem_zalloc(2000001);
    memset(text, 'x', 2000000);
    json_t *long_one = json_pack("{s:s}", "kind", text);
    CHECK_INT(store_send(store, "run", long_one, &err), RONDO_ELIMIT);
    json_t *list = inbox_of(journal);
    CHECK_UINT(json_array_size(list), 1000);
    json_decref(list);
    json_decref(long_one);
    json_decref(what);
    mem_free(text);
    store_close(store);
}

/* ---- forks, rewriting -------------------------------------------------------------------------------- */

static struct journal *fork_run(struct journal *parent, uint64_t seq, const char *id)
{
    rondo_error err = { 0 };
    struct journal *journal = NULL;
    if (store_fork(parent, seq, &(struct store_run){ .id = id, .name = "flow" }, NULL, 0, &journal, &err) < 0)
        FAIL("%s", err.message);
    return journal;
}

TEST(a_fork_shares_the_past)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    struct journal *parent = test_run(store, "parent");
    put_records(parent, 1, 100, 300);
    commit(store);
    struct journal *kid = fork_run(parent, 60, "kid");
    put_records(parent, 101, 120, 300);
    put_records(kid, 61, 70, 300);
    struct journal *grandkid = fork_run(kid, 65, "grandkid"), *early = fork_run(kid, 20, "early");
    put_records(grandkid, 66, 66, 300);
    commit(store);
    for (int round = 0; round < 3; round++) {
        CHECK_UINT(check_records(parent, 1, 300), 121);
        CHECK_UINT(check_records(kid, 1, 300), 71);
        CHECK_UINT(check_records(grandkid, 1, 300), 67);
        CHECK_UINT(check_records(early, 1, 300), 21);
        CHECK_UINT(check_records(look_run(store, "early"), 1, 300), 21);
        CHECK_UINT(check_records(look_run(store, "grandkid"), 62, 300), 67);
        tidy(store);
    }
    CHECK_UINT(store_about(kid)->fork_seq, 60);
    CHECK_INT(store_about(kid)->parent, store_about(parent)->num);
    CHECK_INT(test_sql_number("SELECT count(*) FROM chunk WHERE run = (SELECT num FROM run WHERE id = 'early')"), 0);

    put_record(early, 21, 5, 300);
    CHECK_INT(store_fork(early, 23, &(struct store_run){ .id = "x" }, NULL, 0, &parent, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "event 23 of run 'early' does not end a turn");
    CHECK_INT(store_fork(early, 99, &(struct store_run){ .id = "x" }, NULL, 0, &parent, &err), RONDO_EINVAL);
    commit(store);
    store_close(store);
}

TEST(a_rewritten_run_has_another_log_in_the_same_place)
{
    rondo_error err;
    size_t len;
    struct store *store = test_store(STORE_CREATE), *other = test_store(0);
    struct journal *old = test_run(store, "run"), *journal;
    put_records(old, 1, 30, 300);
    commit(store);
    struct journal *kid = fork_run(old, 10, "kid");
    json_t *what = json_pack("{s:s}", "kind", "cancel");
    commit(store);
    CHECK_INT(store_send(other, "run", what, &err), 0);
    CHECK_INT(store_rewrite(old, "new text", 8, 99, &journal, &err), 0);
    put_records(journal, 1, 5, 77);
    CHECK_UINT(check_records(old, 1, 300), 31);
    CHECK_UINT(check_records(look_run(other, "run"), 1, 300), 31);
    commit(store);
    close_journal(old);
    CHECK_UINT(check_records(look_run(other, "run"), 1, 77), 6);
    CHECK(store_about(journal)->hash == 99);
    CHECK_STR(store_definition(journal, &len), "new text");
    CHECK_INT(store_take(other, "run", &old, &err), RONDO_EBUSY);
    json_t *list = inbox_of(journal);
    CHECK_UINT(json_array_size(list), 1);
    tidy(store);
    put_records(journal, 6, 7, 77);
    put_records(kid, 11, 12, 300);
    commit(store);
    tidy(store);
    CHECK_UINT(check_records(look_run(other, "run"), 1, 77), 8);
    CHECK_UINT(check_records(look_run(other, "kid"), 1, 300), 13);
    CHECK_INT(test_sql_number("SELECT count(*) FROM run"), 3); // the old one is still needed
    json_decref(list);
    json_decref(what);
    store_close(store);
    test_sql("UPDATE run SET id = NULL WHERE id = 'kid'");
    tidy(other);
    CHECK_INT(test_sql_number("SELECT count(*) FROM run"), 1);
    CHECK_INT(test_sql_number("SELECT count(DISTINCT run) FROM chunk"), 1);
    CHECK_UINT(check_records(look_run(other, "run"), 1, 77), 8);
    store_close(other);
}

TEST(a_run_whose_rewriting_was_given_up_is_as_before)
{
    rondo_error err;
    size_t len;
    struct store *store = test_store(STORE_CREATE);
    struct journal *old = test_run(store, "run"), *journal;
    put_records(old, 1, 3, 30);
    commit(store);
    CHECK_INT(store_rewrite(old, "new text", 8, 99, &journal, &err), 0);
    put_records(journal, 1, 5, 77);
    CHECK_INT(try_append(old, 4, &err), RONDO_ESTORE);
    store_rollback(store);
    close_journal(journal);
    close_journal(old);
    journal = take_run(store, "run");
    CHECK_STR(store_definition(journal, &len), "definition");
    CHECK_UINT(check_records(journal, 1, 30), 4);
    put_records(journal, 4, 4, 30);
    commit(store);
    store_close(store);
}
