/* test_session.c - what a store keeps for sessions: state by key, memory by scope, words to search for. */
#include "data/value.h"
#include "stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rondo_error err;

static struct store *open_new(void)
{
    struct store *store = test_store(STORE_CREATE);
    store_set_now(store, 1000000000000ll);
    return store;
}

static const char *text_of(json_t *taken)
{
    static char texts[8][4000];
    static int next;
    char *text = texts[next++ % 8], *json = taken ? rondo_value_text(taken) : NULL;
    snprintf(text, sizeof texts[0], "%s", json ? json : "none");
    rondo_text_free(json);
    json_decref(taken);
    return text;
}

static const char *state(struct store *store, const char *session)
{
    json_t *state = NULL;
    CHECK_INT(store_session_state(store, session, &state, &err), 0);
    return text_of(state);
}

static const char *memory(struct store *store, const char *session)
{
    json_t *memory = NULL;
    CHECK_INT(store_session_memory(store, session, &memory, &err), 0);
    return text_of(memory);
}

static void set(struct store *store, const char *session, const char *json)
{
    auto_json json_t *delta = rondo_value_parse(json, NULL);
    if (store_session_set(store, session, delta, &err) < 0)
        FAIL("%s", err.message);
}

static void remember_as(struct store *store, const char *session, const char *scope, const char *run,
                        uint64_t seq, const char *json)
{
    auto_json json_t *value = rondo_value_parse(json, NULL);
    CHECK(value != NULL);
    struct session_entry entry = { scope, value, run, seq, (int64_t)seq * 1000000 };
    if (store_session_remember(store, session, &entry, &err) < 0)
        FAIL("%s", err.message);
}

static void remember(struct store *store, const char *session, const char *scope, const char *text)
{
    static uint64_t seq;
    auto_json json_t *value = json_string(text);
    auto_free char *json = rondo_value_text(value);
    remember_as(store, session, scope, "r1", ++seq, json);
}

/* The entries that are found, as a list. */
static const char *found(struct store *store, const char *session, const char *scope, const char *query)
{
    json_t *hits = NULL, *list = json_array(), *hit;
    size_t i;
    if (store_session_search(store, session, scope, query, 0, &hits, &err) < 0)
        FAIL("'%s': %s", query, err.message);
    json_array_foreach(hits, i, hit)
        json_array_append(list, json_object_get(hit, "entry"));
    json_decref(hits);
    return text_of(list);
}

/* ---- names --------------------------------------------------------------------------------------------- */

TEST(names_of_sessions_are_plain_words)
{
    char name[SESSION_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[SESSION_NAME_MAX] = 0;
    CHECK_INT(session_check_name(name, &err), 0);
    CHECK_INT(session_check_name("team:ada@example.org_2-b", &err), 0);
    name[SESSION_NAME_MAX] = 'n', name[SESSION_NAME_MAX + 1] = 0;
    CHECK_INT(session_check_name(name, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "the name of a session has 1 to 100 characters, got 101");
    CHECK_INT(session_check_name("", &err), RONDO_EINVAL);
    static const char *const bad[] = { "a b", "a/b", "\xc3\xa9", "a\n", "'", "\x1b[31m" };
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK_INT(session_check_name(bad[i], &err), RONDO_EINVAL);
}

/* ---- state --------------------------------------------------------------------------------------------- */

TEST(state_is_kept_by_key_and_temp_keys_are_not)
{
    struct store *store = open_new();
    CHECK_STR(state(store, "s"), "{}");
    set(store, "s", "{\"n\": 1, \"user:name\": \"Ada\", \"app:x\": {\"y\": [1, null, 2.5]}, \"temp:t\": 1}");
    set(store, "s", "{\"n\": 2, \"gone\": true}");
    set(store, "s", "{\"gone\": null, \"never there\": null}");
    set(store, "other", "{\"n\": 9}");
    commit(store);
    store_close(store);
    store = open_new();
    CHECK_STR(state(store, "s"), "{\"app:x\":{\"y\":[1,null,2.5]},\"n\":2,\"user:name\":\"Ada\"}");
    CHECK_STR(state(store, "other"), "{\"n\":9}");
    store_close(store);
}

TEST(what_was_not_committed_is_not_there)
{
    struct store *store = open_new();
    set(store, "s", "{\"n\": 1}");
    remember(store, "s", "m", "kept");
    commit(store);
    set(store, "s", "{\"n\": 2}");
    remember(store, "s", "m", "lost");
    CHECK_STR(state(store, "s"), "{\"n\":2}"); // the batch sees itself
    store_close(store);
    store = open_new();
    CHECK_STR(state(store, "s"), "{\"n\":1}");
    CHECK_STR(memory(store, "s"), "{\"m\":[\"kept\"]}");
    CHECK_STR(found(store, NULL, NULL, "lost"), "[]");
    set(store, "s", "{\"n\": 3}");
    store_rollback(store);
    CHECK_STR(state(store, "s"), "{\"n\":1}");
    store_close(store);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

TEST(memory_is_kept_by_scope_oldest_first)
{
    struct store *store = open_new();
    CHECK_STR(memory(store, "s"), "{}");
    remember(store, "s", "b", "one");
    remember(store, "s", "a", "two");
    remember(store, "s", "b", "three");
    remember(store, "s", "", "a scope without a name");
    remember(store, "t", "b", "of another session");
    commit(store);
    CHECK_STR(memory(store, "s"), "{\"\":[\"a scope without a name\"],\"a\":[\"two\"],\"b\":[\"one\",\"three\"]}");
    CHECK_STR(memory(store, "t"), "{\"b\":[\"of another session\"]}");
    store_close(store);
}

TEST(any_value_can_be_remembered)
{
    static const char *const values[] = { "1", "null", "true", "[]", "{\"a\":{\"b\":[\"c\"]}}", "\"\"",
                                          "\"{\\\"no\\\": \\\"object\\\"}\"", "\"a\\u0000b\"", "2.5",
                                          "\"\xf0\x9f\x8e\xb5 \xc3\xa9\\n\\t\"" };
    struct store *store = open_new();
    for (size_t i = 0; i < COUNT(values); i++) {
        auto_json json_t *value = json_loads(values[i], JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL), *all = NULL;
        CHECK(value != NULL);
        struct session_entry entry = { "m", value, "r", i + 1, 0 };
        CHECK_INT(store_session_remember(store, "s", &entry, &err), 0);
        CHECK_INT(store_session_memory(store, "s", &all, &err), 0);
        CHECK(json_equal(json_array_get(json_object_get(all, "m"), i), value));
    }
    store_close(store);
}

TEST(an_entry_is_named_by_its_event_and_can_be_taken_back_by_it)
{
    struct store *store = open_new();
    remember_as(store, "s", "m", "r1", 5, "\"first\"");
    remember_as(store, "s", "m", "r1", 5, "\"again\""); // the same event: nothing new
    remember_as(store, "s", "m", "r2", 5, "\"another run\"");
    remember_as(store, "s", "n", "r1", 6, "\"another scope\"");
    commit(store);
    CHECK_STR(memory(store, "s"), "{\"m\":[\"first\",\"another run\"],\"n\":[\"another scope\"]}");
    CHECK_STR(found(store, "s", NULL, "again"), "[]");
    CHECK_INT(store_session_drop(store, "s", "r1", 5, &err), 0);
    CHECK_INT(store_session_drop(store, "s", "r1", 99, &err), 0);
    commit(store);
    CHECK_STR(memory(store, "s"), "{\"m\":[\"another run\"],\"n\":[\"another scope\"]}");
    CHECK_STR(found(store, "s", NULL, "first"), "[]");
    store_close(store);
}

TEST(a_run_begins_with_the_newest_entries_only)
{
    struct store *store = open_new();
    auto_json json_t *all = NULL;
    char text[32];
    for (int i = 1; i <= SESSION_READ_MAX + 50; i++) {
        snprintf(text, sizeof text, "entry %d", i);
        remember(store, "s", "m", text);
    }
    commit(store);
    CHECK_INT(store_session_memory(store, "s", &all, &err), 0);
    json_t *list = json_object_get(all, "m");
    CHECK_INT(json_array_size(list), SESSION_READ_MAX);
    CHECK_STR(json_string_value(json_array_get(list, 0)), "entry 51");
    CHECK_STR(json_string_value(json_array_get(list, SESSION_READ_MAX - 1)), "entry 150");
    CHECK_STR(found(store, "s", NULL, "\"entry 7\""), "[\"entry 7\"]"); // the others are not lost
    store_close(store);
}

TEST(large_entries_are_read_until_there_is_enough)
{
    struct store *store = open_new();
    auto_json json_t *all = NULL;
    char *text = malloc(SESSION_READ_BYTES / 4 + 1);
    memset(text, 'x', SESSION_READ_BYTES / 4);
    text[SESSION_READ_BYTES / 4] = 0;
    for (int i = 0; i < 9; i++)
        remember(store, "s", "m", text);
    CHECK_INT(store_session_memory(store, "s", &all, &err), 0);
    CHECK_INT(json_array_size(json_object_get(all, "m")), 4);
    free(text);
    store_close(store);
}

/* They would stand inside the first event of the next run, which has to be readable. */
TEST(what_is_nested_too_deep_is_not_handed_on)
{
    struct store *store = open_new();
    for (int depth = SESSION_DEPTH_MAX; depth <= SESSION_DEPTH_MAX + 1; depth++) {
        json_t *value = json_integer(1), *inside;
        for (int i = 1; i < depth; i++) {
            inside = value;
            value = i % 2 ? json_pack("[o]", inside) : json_pack("{s:o}", "x", inside);
        }
        auto_json json_t *delta = json_pack("{s:o, s:i}", "deep", value, "n", depth);
        CHECK_INT(store_session_set(store, "s", delta, &err), 0);
        struct session_entry entry = { "m", value, "r", (uint64_t)depth, 0 };
        CHECK_INT(store_session_remember(store, "s", &entry, &err), 0);
        auto_json json_t *state = NULL, *memory = NULL;
        CHECK_INT(store_session_state(store, "s", &state, &err), 0);
        CHECK_INT(store_session_memory(store, "s", &memory, &err), 0);
        CHECK_INT(json_equal(json_object_get(state, "deep"), value), depth == SESSION_DEPTH_MAX);
        CHECK_INT(json_integer_value(json_object_get(state, "n")), depth);
        CHECK_INT(json_array_size(json_object_get(memory, "m")), 1);
    }
    store_close(store);
}

TEST(members_keep_their_order)
{
    struct store *store = open_new();
    auto_json json_t *delta = rondo_value_parse("{\"k\": {\"b\": 1, \"a\": {\"d\": 0.5, \"c\": 3}}}", NULL);
    auto_json json_t *state = NULL;
    auto_buf struct buf text = { 0 };
    CHECK_INT(store_session_set(store, "s", delta, &err), 0);
    CHECK_INT(store_session_state(store, "s", &state, &err), 0);
    value_put_json(&text, state);
    CHECK_STR(buf_text(&text), "{\"k\":{\"b\":1,\"a\":{\"d\":0.5,\"c\":3}}}");
    store_close(store);
}

/* ---- searching ------------------------------------------------------------------------------------------- */

/* AE-123 */
TEST(every_word_has_to_begin_one_of_the_entry)
{
    struct store *store = open_new();
    remember(store, "s", "m", "The customer prefers invoices by mail");
    remember(store, "s", "n", "Caf\xc3\xa9 in K\xc3\xb6ln: no invoice yet");
    remember(store, "t", "m", "an invoice of another customer");
    remember_as(store, "s", "m", "r9", 1, "{\"topic\": \"shipping\", \"list\": [\"Invoice-12\", 7]}");
    static const struct {
        const char *session, *scope, *query, *found;
    } rows[] = {
        { "s", NULL, "customer", "[\"The customer prefers invoices by mail\"]" },
        { "s", NULL, "CUSTOM prefer", "[\"The customer prefers invoices by mail\"]" },
        { "s", NULL, "customer missing", "[]" },
        { "s", NULL, "\"by mail\"", "[\"The customer prefers invoices by mail\"]" },
        { "s", NULL, "\"mail by\"", "[]" },
        { "s", NULL, "\"by mai\"", "[]" },
        { "s", NULL, "koln cafe", "[\"Caf\xc3\xa9 in K\xc3\xb6ln: no invoice yet\"]" },
        { NULL, NULL, "another", "[\"an invoice of another customer\"]" },
        { "s", NULL, "another", "[]" },
        { "s", "n", "invoice", "[\"Caf\xc3\xa9 in K\xc3\xb6ln: no invoice yet\"]" },
        { "s", NULL, "shipping 12", "[{\"list\":[\"Invoice-12\",7],\"topic\":\"shipping\"}]" },
        { "s", NULL, "topic", "[]" }, // the names of members are no words of it
        { NULL, NULL, "", "[]" },
        { NULL, NULL, " \t ", "[]" },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_STR(found(store, rows[i].session, rows[i].scope, rows[i].query), rows[i].found);
    store_close(store);
}

TEST(no_text_is_a_wrong_query)
{
    static const char *const queries[] = {
        "\"", "\"\"", "\"\"\"", "a\"b", "\"a", "a\"", "*", "a*", "a OR b", "NOT a", "AND", "NEAR(a b)", "(", ")",
        "text:a", "-a", "+a", "^a", "{a}", "a'b", ";", "--", "a:b:c", "\\", "\xff\xfe", "\x01", "memory_text",
        "' OR 1=1 --", "%", "?1", ("\xe2\x80\x9c" "a\xe2\x80\x9d"),
    };
    struct store *store = open_new();
    remember(store, "s", "m", "a plain OR entry");
    for (size_t i = 0; i < COUNT(queries); i++)
        found(store, NULL, NULL, queries[i]);
    CHECK_STR(found(store, NULL, NULL, "a OR"), "[\"a plain OR entry\"]"); // a word like any other
    CHECK_STR(found(store, NULL, NULL, "plain NOT"), "[]");
    uint64_t n = 7;
    for (int i = 0; i < 3000; i++) { // and whatever else somebody types
        char query[12] = "";
        for (int k = 0; k < 11; k++) {
            n = n * 6364136223846793005u + 1442695040888963407u;
            query[k] = (char)(n >> 56 & 1 ? "\"*()-^:{}+ '\\,"[(n >> 40) % 14] : (char)(n >> 33 | 1));
        }
        found(store, NULL, NULL, query);
    }
    store_close(store);
}

TEST(a_search_is_bounded)
{
    struct store *store = open_new();
    json_t *hits = NULL;
    char query[SESSION_QUERY_MAX + 2];
    for (int i = 0; i < 30; i++)
        remember(store, "s", "m", i == 13 ? "word word word" : "a word among several others");
    CHECK_INT(store_session_search(store, "s", NULL, "word", 3, &hits, &err), 0);
    CHECK_INT(json_array_size(hits), 3);
    CHECK_STR(json_string_value(json_object_get(json_array_get(hits, 0), "entry")), "word word word");
    json_decref(hits);
    memset(query, 'z', sizeof query);
    query[sizeof query - 1] = 0;
    CHECK_INT(store_session_search(store, "s", NULL, query, 3, &hits, &err), RONDO_EINVAL);
    query[SESSION_QUERY_MAX] = 0;
    for (int i = 1; i < SESSION_QUERY_MAX; i += 2) // as many words as fit
        query[i] = ' ';
    CHECK_STR(found(store, NULL, NULL, query), "[]");
    store_close(store);
}

/* ---- all of them, forgetting ------------------------------------------------------------------------------- */

TEST(sessions_are_listed_the_last_one_first)
{
    struct store *store = open_new();
    json_t *all = NULL;
    CHECK_INT(store_sessions(store, &all, &err), 0);
    CHECK_STR(text_of(all), "[]");
    store_set_now(store, 3000000000);
    set(store, "a", "{\"k\": 1, \"l\": 2}");
    remember_as(store, "a", "m", "r", 1, "1");
    store_set_now(store, 5000000000);
    remember_as(store, "b", "m", "r", 7000, "1");
    commit(store);
    CHECK_INT(store_sessions(store, &all, &err), 0);
    CHECK_STR(text_of(all), "[{\"changed\":7000,\"entries\":1,\"keys\":0,\"name\":\"b\",\"runs\":0},"
                            "{\"changed\":3000,\"entries\":1,\"keys\":2,\"name\":\"a\",\"runs\":0}]");
    store_close(store);
}

TEST(an_export_has_everything)
{
    struct store *store = open_new();
    json_t *all = NULL;
    set(store, "s", "{\"k\": 1}");
    remember_as(store, "s", "m", "r1", 4, "\"x\"");
    CHECK_INT(store_session_export(store, "s", &all, &err), 0);
    CHECK_STR(text_of(all), "{\"memory\":{\"m\":[{\"entry\":\"x\",\"run\":\"r1\",\"time\":4}]},"
                            "\"name\":\"s\",\"state\":{\"k\":1}}");
    CHECK_INT(store_session_export(store, "none", &all, &err), RONDO_ENOTFOUND);
    CHECK_STR(err.message, "there is no session 'none'");
    store_close(store);
}

TEST(forgetting_removes_a_scope_or_all_of_a_session_and_nothing_else)
{
    struct store *store = open_new();
    set(store, "s", "{\"k\": 1}");
    set(store, "t", "{\"k\": 2}");
    remember(store, "s", "m", "secret one");
    remember(store, "s", "n", "secret two");
    remember(store, "t", "m", "secret three");
    commit(store);
    CHECK_INT(store_session_forget(store, "s", "m", &err), 0);
    CHECK_STR(memory(store, "s"), "{\"n\":[\"secret two\"]}");
    CHECK_STR(state(store, "s"), "{\"k\":1}");
    CHECK_INT(store_session_forget(store, "s", "m", &err), RONDO_ENOTFOUND);
    CHECK_STR(err.message, "session 's' has no memory 'm'");
    CHECK_INT(store_session_forget(store, "s", NULL, &err), 0);
    store_close(store); // forgetting has committed
    store = open_new();
    CHECK_STR(memory(store, "s"), "{}");
    CHECK_STR(state(store, "s"), "{}");
    CHECK_STR(found(store, NULL, NULL, "secret"), "[\"secret three\"]");
    CHECK_STR(state(store, "t"), "{\"k\":2}");
    CHECK_INT(store_session_forget(store, "s", NULL, &err), RONDO_ENOTFOUND);
    store_close(store);
}

TEST(a_store_without_sessions_is_asked_like_any_other_until_somebody_writes_one)
{
    struct store *first = open_new(), *second = open_new();
    json_t *all = NULL;
    int64_t bytes = -1;
    CHECK_STR(state(first, "s"), "{}");
    CHECK_STR(memory(first, "s"), "{}");
    CHECK_STR(found(first, NULL, NULL, "word"), "[]");
    CHECK_INT(store_sessions(first, &all, &err), 0);
    CHECK_STR(text_of(all), "[]");
    CHECK_INT(store_sessions_bytes(first, &bytes, &err), 0);
    CHECK_INT(bytes, 0);
    CHECK_INT(store_session_forget(first, "s", NULL, &err), RONDO_ENOTFOUND);
    CHECK_INT(store_session_export(first, "s", &all, &err), RONDO_ENOTFOUND);
    set(second, "s", "{\"k\": 1}");
    remember(second, "s", "m", "a word");
    commit(second);
    CHECK_STR(state(first, "s"), "{\"k\":1}"); // which had looked before
    CHECK_STR(found(first, NULL, NULL, "word"), "[\"a word\"]");
    set(first, "s", "{\"k\": 2}");
    commit(first);
    CHECK_STR(state(second, "s"), "{\"k\":2}");
    store_close(first);
    store_close(second);
}

TEST(what_was_undone_has_left_no_tables)
{
    struct store *store = open_new();
    set(store, "s", "{\"k\": 1}");
    store_rollback(store);
    CHECK_STR(state(store, "s"), "{}");
    set(store, "s", "{\"k\": 2}");
    commit(store);
    CHECK_STR(state(store, "s"), "{\"k\":2}");
    store_close(store);
}
