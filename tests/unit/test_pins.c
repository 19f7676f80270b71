/* test_pins.c - accepted definitions of tools: remembered, compared, merged, and never lost by accident. */
#include "test.h"

#include "base/buf.h"
#include "io/tempdir.h"
#include "tool/pins.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder;
static char path[300];

static struct pins *open_pins(void)
{
    rondo_error err;
    struct pins *pins;
    if (!folder) {
        folder = tempdir_make(&err);
        CHECK(folder);
        snprintf(path, sizeof path, "%s/data/pins.json", folder);
    }
    if (pins_open(path, &pins, &err) < 0)
        FAIL("%s", err.message);
    return pins;
}

static void save(struct pins *pins)
{
    rondo_error err;
    if (pins_save(pins, &err) < 0)
        FAIL("%s", err.message);
    pins_close(pins);
}

static struct pin pin_of(const char *description, const char *parameters)
{
    struct pin pin;
    json_t *value = json_loads(parameters, 0, NULL);
    CHECK(value);
    pin_make(&pin, description, value);
    json_decref(value);
    return pin;
}

static int judge(struct pins *pins, const char *tool, const char *description, const char *parameters,
                 const char *wanted)
{
    char what[64];
    struct pin pin = pin_of(description, parameters);
    int verdict = pins_judge(pins, "server", tool, &pin, what);
    CHECK_STR(what, wanted);
    return verdict;
}

TEST(what_was_accepted_is_remembered)
{
    struct pins *pins = open_pins();
    struct pin pin = pin_of("Reads.", "{\"a\": 1, \"b\": [2.5]}");
    CHECK(!pins_knows(pins, "server"));
    CHECK_INT(judge(pins, "read", "Reads.", "{\"a\": 1, \"b\": [2.5]}", ""), PIN_NEW);
    pins_set(pins, "server", "files", "read", &pin);
    save(pins);
    pins = open_pins();
    CHECK_INT(judge(pins, "read", "Reads.", "{\"b\": [2.5], \"a\": 1}", ""), PIN_SAME); // keys in any order
    CHECK_INT(judge(pins, "read", "Reads!", "{\"a\": 1, \"b\": [2.5]}", "its description"), PIN_CHANGED);
    CHECK_INT(judge(pins, "read", "Reads.", "{\"a\": 2, \"b\": [2.5]}", "its parameters"), PIN_CHANGED);
    CHECK_INT(judge(pins, "read", "", "{}", "its description and its parameters"), PIN_CHANGED);
    CHECK_INT(judge(pins, "read2", "Reads.", "{\"a\": 1}", ""), PIN_NEW);
    pins_close(pins);
    tempdir_remove(folder);
}

TEST(the_file_is_for_its_owner_alone)
{
    struct stat st;
    struct pins *pins = open_pins();
    pins_know(pins, "server", "files");
    save(pins);
    CHECK(stat(path, &st) == 0);
    CHECK_UINT(st.st_mode & 0777, 0600);
    pins = open_pins();
    CHECK(pins_knows(pins, "server")); // though it had no tools
    CHECK_INT(judge(pins, "read", "", "{}", ""), PIN_NEW);
    pins_close(pins);
    tempdir_remove(folder);
}

TEST(what_others_have_saved_meanwhile_is_kept)
{
    struct pins *one = open_pins(), *two = open_pins();
    struct pin pin = pin_of("x", "{}");
    pins_set(one, "server", "files", "a", &pin);
    pins_set(two, "server", "files", "b", &pin);
    save(one);
    save(two);
    one = open_pins();
    CHECK_INT(judge(one, "a", "x", "{}", ""), PIN_SAME);
    CHECK_INT(judge(one, "b", "x", "{}", ""), PIN_SAME);
    pins_close(one);
    tempdir_remove(folder);
}

TEST(processes_that_save_at_a_time_lose_nothing)
{
    pins_close(open_pins());
    for (int i = 0; i < 10; i++)
        if (fork() == 0) {
            char name[20];
            struct pins *pins = open_pins();
            struct pin pin = pin_of("x", "{}");
            snprintf(name, sizeof name, "tool%d", i);
            pins_set(pins, "server", "files", name, &pin);
            save(pins);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    struct pins *pins = open_pins();
    for (int i = 0; i < 10; i++) {
        char name[20];
        snprintf(name, sizeof name, "tool%d", i);
        CHECK_INT(judge(pins, name, "x", "{}", ""), PIN_SAME);
    }
    pins_close(pins);
    tempdir_remove(folder);
}

TEST(a_damaged_file_accepts_nothing)
{
    static const char *const texts[] = {
        "", "{", "[]", "{\"rondo-pins\": 2, \"servers\": {}}", "{\"rondo-pins\": 1}",
        "{\"rondo-pins\": 1, \"servers\": {\"x\": {}}}",
        "{\"rondo-pins\": 1, \"servers\": {\"x\": {\"tools\": {\"t\": {\"description\": \"a\"}}}}}",
    };
    rondo_error err;
    struct pins *pins = open_pins();
    pins_know(pins, "server", "files");
    save(pins);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tempdir_unlink(path);
        CHECK(tempdir_write(path, texts[i], strlen(texts[i]), &err) == 0);
        if (pins_open(path, &pins, &err) != RONDO_EPARSE)
            FAIL("accepted: %s", texts[i]);
    }
    tempdir_remove(folder);
}

TEST(without_a_file_they_are_kept_in_memory)
{
    rondo_error err;
    struct pins *pins;
    CHECK(pins_open(NULL, &pins, &err) == 0);
    struct pin pin = pin_of("x", "{}");
    pins_set(pins, "server", "files", "a", &pin);
    CHECK_INT(judge(pins, "a", "x", "{}", ""), PIN_SAME);
    save(pins);
}

static void identity(const char *text, char ret[SHA256_TEXT])
{
    json_t *server = json_loads(text, 0, NULL);
    CHECK(server);
    pins_identity(server, ret);
    json_decref(server);
}

TEST(servers_are_known_by_how_they_are_reached)
{
    char a[SHA256_TEXT], b[SHA256_TEXT];
    identity("{\"command\": \"npx\", \"args\": [\"-y\", \"x\"], \"env\": {\"A\": \"1\"}}", a);
    identity("{\"args\": [\"-y\", \"x\"], \"command\": \"npx\", \"cwd\": \"y\"}", b);
    CHECK_STR(a, b);
    identity("{\"command\": \"npx\", \"args\": [\"-yx\"]}", b);
    CHECK(strcmp(a, b) != 0);
    identity("{\"url\": \"npx\", \"args\": [\"-y\", \"x\"]}", b);
    CHECK(strcmp(a, b) != 0);
}
