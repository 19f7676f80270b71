/* test_cache.c - answers that are kept by what was asked: found again, bounded, never wrong. */

#include "model/cache.h"
#include "test.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    char folder[40], path[80];
};

static struct place place_new(void)
{
    struct place place = { .folder = "/tmp/rondo-test-XXXXXX" };
    CHECK(mkdtemp(place.folder) != NULL);
    snprintf(place.path, sizeof place.path, "%s/answers.db", place.folder);
    return place;
}

static void place_remove(const struct place *place)
{
    static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
    for (size_t i = 0; i < COUNT(ends); i++) {
        char path[120];
        snprintf(path, sizeof path, "%s%s", place->path, ends[i]);
        unlink(path);
    }
    rmdir(place->folder);
}

static struct cache *open_cache(const struct place *place)
{
    struct cache *cache = NULL;
    rondo_error err = { 0 };
    if (cache_open(place->path, &cache, &err) < 0)
        FAIL("%s", err.message);
    return cache;
}

static struct cache_key key_of(const char *body)
{
    return cache_key("https://example.org/v1/chat/completions", body, strlen(body));
}

static struct cache_key key_number(int n)
{
    char body[40];
    snprintf(body, sizeof body, "{\"n\": %d}", n);
    return key_of(body);
}

/* An answer with a text of so many letters. */
static void fill(struct answer *answer, size_t len, char letter)
{
    rondo_error err;
    answer_init(answer);
    for (size_t i = 0; i < len; i++)
        CHECK_INT(answer_add_text(answer, &letter, 1, &err), 0);
    answer->stop = STOP_END;
    answer->is_done = true;
    answer->tokens = (struct token_count){ 10, 20, 5, 0, 3 };
}

static bool knows(struct cache *cache, struct cache_key key)
{
    struct answer answer;
    answer_init(&answer);
    bool is_there = cache_find(cache, &key, 1, &answer);
    answer_clear(&answer);
    return is_there;
}

static void keep(struct cache *cache, struct cache_key key, int64_t now_ms, size_t len)
{
    struct answer answer;
    fill(&answer, len, 'x');
    cache_keep(cache, &key, now_ms, &answer);
    answer_clear(&answer);
}

TEST(an_answer_comes_back_as_it_was)
{
    struct place place = place_new();
    struct cache *cache = open_cache(&place);
    struct cache_key key = key_of("{\"a\": 1}");
    struct answer answer, back;
    rondo_error err;
    fill(&answer, 3, 'y');
    CHECK_INT(answer_add_text(&answer, "\0\n\"\xc3\xa4", 5, &err), 0);
    CHECK_INT(answer_add_thinking(&answer, "hm", 2, &err), 0);
    struct answer_call *call = answer_call_at(&answer, 7, &err);
    call->id = mem_strdup("id-1");
    call->name = mem_strdup("read");
    CHECK_INT(answer_add_arguments(&answer, call, "{\"path\":", 8, &err), 0);
    call = answer_call_at(&answer, 8, &err);
    call->name = mem_strdup("write");
    call->value = json_pack("{s:i}", "n", 1);
    answer.echo = json_pack("{s:s}", "signature", "abc");
    answer.model = mem_strdup("m-2");
    answer.stop = STOP_CALLS;
    cache_keep(cache, &key, 1, &answer);
    cache_close(cache);

    cache = open_cache(&place); // another process
    answer_init(&back);
    CHECK(cache_find(cache, &key, 2, &back));
    CHECK_UINT(back.text.len, answer.text.len);
    CHECK_MEM(back.text.data, answer.text.data, back.text.len);
    CHECK_UINT(back.thinking.len, 2);
    CHECK_UINT(back.call_count, 2);
    CHECK_STR(back.calls[0].id, "id-1");
    CHECK_STR(back.calls[0].name, "read");
    CHECK_STR(buf_text(&back.calls[0].arguments), "{\"path\":");
    CHECK_NULL(back.calls[1].id);
    CHECK(json_equal(back.calls[1].value, answer.calls[1].value));
    CHECK(json_equal(back.echo, answer.echo));
    CHECK_STR(back.model, "m-2");
    CHECK_NULL(back.id);
    CHECK_INT(back.stop, STOP_CALLS);
    CHECK(back.is_done);
    CHECK_INT(back.tokens.input + back.tokens.output + back.tokens.cache_read + back.tokens.reasoning, 0);
    answer_clear(&answer);
    answer_clear(&back);
    cache_close(cache);
    place_remove(&place);
}

TEST(what_changes_nothing_is_no_part_of_the_question)
{
    static const char *const same[] = {
        "{\"model\":\"m\",\"messages\":[1,2]}",
        "{\"messages\": [1, 2], \"model\": \"m\"}",
        "{\"model\":\"m\",\"messages\":[1,2],\"stream\":true,\"stream_options\":{\"include_usage\":true}}",
        "{\"model\":\"m\",\"messages\":[1,2],\"user\":\"u1\",\"metadata\":{}}",
    };
    static const char *const others[] = {
        "{\"model\":\"m\",\"messages\":[2,1]}", "{\"model\":\"n\",\"messages\":[1,2]}",
        "{\"model\":\"m\",\"messages\":[1,2],\"temperature\":0.5}", "{\"model\":\"m\"}", "", "nonsense", "nonsense2",
    };
    struct cache_key first = key_of(same[0]);
    for (size_t i = 1; i < COUNT(same); i++) {
        struct cache_key key = key_of(same[i]);
        CHECK_MEM(key.bytes, first.bytes, sizeof key.bytes);
    }
    for (size_t i = 0; i < COUNT(others); i++)
        for (size_t k = 0; k < i; k++) {
            struct cache_key a = key_of(others[i]), b = key_of(others[k]);
            CHECK(memcmp(a.bytes, b.bytes, sizeof a.bytes) != 0 && memcmp(a.bytes, first.bytes, sizeof a.bytes) != 0);
        }
    struct cache_key elsewhere = cache_key("https://example.com/v1/chat/completions", same[0], strlen(same[0]));
    CHECK(memcmp(elsewhere.bytes, first.bytes, sizeof first.bytes) != 0);
}

TEST(what_was_used_longest_ago_goes_first)
{
    struct place place = place_new();
    struct cache *cache = open_cache(&place);
    cache_set_bytes(cache, 100 * 1000);
    for (int i = 0; i < 300; i++) {
        struct answer answer;
        struct cache_key first = key_number(0);
        keep(cache, key_number(i), 1000 + i, 2000);
        answer_init(&answer);
        CHECK(cache_find(cache, &first, 1000 + i, &answer)); // in use all the time
        answer_clear(&answer);
    }
    int known = 0;
    for (int i = 0; i < 300; i++)
        known += knows(cache, key_number(i));
    CHECK(known >= 30 && known <= 50);
    CHECK(knows(cache, key_number(299)));
    CHECK(!knows(cache, key_number(1)));
    cache_close(cache);
    place_remove(&place);
}

TEST(one_answer_does_not_fill_the_cache)
{
    struct place place = place_new();
    struct cache *cache = open_cache(&place);
    cache_set_bytes(cache, 10000);
    keep(cache, key_number(1), 1, 100);
    keep(cache, key_number(2), 2, 5000);
    CHECK(knows(cache, key_number(1)));
    CHECK(!knows(cache, key_number(2)));
    cache_close(cache);
    place_remove(&place);
}

/* Any byte of an entry that is not what was written makes it unknown, and can be written anew. */
TEST(damaged_entries_are_unknown)
{
    static const char *const damages[] = {
        "UPDATE answer SET answer = replace(answer, 'xxx', 'yyy')", "UPDATE answer SET crc = crc + 1",
        "UPDATE answer SET answer = x''",                           "UPDATE answer SET answer = 'null'",
        "UPDATE answer SET answer = NULL",                          "UPDATE answer SET key = x'00'",
        "DELETE FROM answer",
    };
    struct place place = place_new();
    for (size_t i = 0; i < COUNT(damages); i++) {
        struct cache *cache = open_cache(&place);
        keep(cache, key_number(1), 1, 100);
        CHECK(knows(cache, key_number(1)));
        sqlite3 *db = NULL;
        CHECK_INT(sqlite3_open(place.path, &db), SQLITE_OK);
        sqlite3_exec(db, damages[i], NULL, NULL, NULL); // a NULL is refused, and changes nothing
        sqlite3_close(db);
        CHECK(knows(cache, key_number(1)) == (strstr(damages[i], "NULL") != NULL));
        keep(cache, key_number(1), 2, 100);
        CHECK(knows(cache, key_number(1)));
        cache_close(cache);
    }
    place_remove(&place);
}

TEST(a_file_of_another_program_is_left_alone)
{
    struct place place = place_new();
    sqlite3 *db = NULL;
    struct cache *cache = NULL;
    rondo_error err = { 0 };
    CHECK_INT(sqlite3_open(place.path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "CREATE TABLE mine (x)", NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(cache_open(place.path, &cache, &err), RONDO_ESTORE);
    CHECK_NULL(cache);
    CHECK(strstr(err.message, "it is another program's file"));
    CHECK_INT(sqlite3_exec(db, "SELECT * FROM answer", NULL, NULL, NULL), SQLITE_ERROR);
    sqlite3_close(db);
    place_remove(&place);
}

TEST(only_its_owner_can_read_it)
{
    struct place place = place_new();
    struct stat st;
    umask(0);
    cache_close(open_cache(&place));
    CHECK_INT(stat(place.path, &st), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    place_remove(&place);
}

TEST(two_can_use_it_at_once)
{
    struct place place = place_new();
    struct cache *a = open_cache(&place), *b = open_cache(&place);
    keep(a, key_number(1), 1, 10);
    CHECK(knows(b, key_number(1)));
    keep(b, key_number(2), 1, 10);
    CHECK(knows(a, key_number(2)));
    cache_close(a);
    cache_close(b);
    place_remove(&place);
}

TEST(folders_around_a_cache_are_made_for_its_user_only)
{
    struct place place = place_new(), deep = place;
    struct stat st;
    snprintf(deep.path, sizeof deep.path, "%.25s/data/rondo/cache", place.folder);
    cache_close(open_cache(&deep));
    snprintf(deep.folder, sizeof deep.folder, "%.25s/data", place.folder);
    CHECK(stat(deep.folder, &st) == 0 && (st.st_mode & 0777) == 0700);
    snprintf(deep.folder, sizeof deep.folder, "%.25s/data/rondo", place.folder);
    place_remove(&deep);
    snprintf(deep.folder, sizeof deep.folder, "%.25s/data", place.folder);
    rmdir(deep.folder);
    place_remove(&place);
}
