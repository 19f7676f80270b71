/* program.c - the program under test, called in a folder of its own, with a store of its own. */
#include "kill/program.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct said said, told;
const char *const ways[3] = { "before", "half", "after" };

static const char *rondo;
static char folder[4096];
static bool is_kept;

/* ---- the folder ---------------------------------------------------------------------------------------- */

void program_clean(void)
{
    DIR *dir = opendir(".");
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (*e->d_name != '.')
            unlink(e->d_name);
    if (dir)
        closedir(dir);
}

static void remove_folder(void)
{
    if (is_kept && getenv("KEEP"))
        return;
    program_clean();
    if (chdir("/") == 0)
        rmdir(folder);
}

void program_keep(void)
{
    is_kept = true;
}

/* In memory where that can be: what matters is that the bytes outlive the process, not the machine. */
static void make_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/rondo-kills.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : tmp ? tmp : "/tmp");
    if (!mkdtemp(folder) || chdir(folder) < 0)
        child_give_up("cannot make a folder like %s", folder);
    atexit(remove_folder);
}

const char *program_folder(void)
{
    return folder;
}

const char *program_path(void)
{
    return rondo;
}

const char *program_need(const char *name)
{
    const char *value = getenv(name);
    if (!value || !*value)
        child_give_up("%s is not set", name);
    return value;
}

void program_prepare(void)
{
    rondo = program_need("RONDO");
    child_prepare(program_need("KILLER"));
    make_folder();
}

/* ---- calling it ---------------------------------------------------------------------------------------- */

struct child_end program_call(struct said *ret, const char *const *args, const struct doom *doom)
{
    const char *argv[ARGS_MAX] = { rondo };
    for (uint32_t n = 1; *args && n < ARGS_MAX - 1; n++)
        argv[n] = *args++;
    struct child_end end = child_run(argv, doom, "out", "err");
    child_read("out", &ret->out);
    child_read("err", &ret->err);
    return end;
}

bool program_find_run(char *id, size_t size, const char **ret_wrong)
{
    *id = 0;
    if (access("s.db", F_OK) < 0)
        return false;
    struct child_end end = ASK("runs", "--json");
    json_t *run = json_loads(buf_text(&told.out), JSON_DISABLE_EOF_CHECK, NULL);
    if (end.code)
        *ret_wrong = buf_text(&told.err);
    else if (run)
        snprintf(id, size, "%s", json_string_value(json_object_get(run, "id")));
    json_decref(run);
    return *id;
}

/* ---- chance -------------------------------------------------------------------------------------------- */

uint64_t draw(uint64_t *chance)
{
    uint64_t z = *chance += 0x9e3779b97f4a7c15; // splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

long draw_below(uint64_t *chance, long n)
{
    return n > 0 ? (long)(draw(chance) % (uint64_t)n) : 0;
}

struct doom draw_doom(uint64_t *chance, long writes)
{
    struct doom doom = { .at = 1 + draw_below(chance, writes) };
    doom.how = ways[draw_below(chance, COUNT(ways))];
    return doom;
}
