/* means.c - see means.h. */
#include "cli/means.h"

#include "io/file.h"
#include "store/places.h"
#include "tool/permit.h"

#include <stdlib.h>
#include <string.h>

#define PRICES_MAX (4 * 1024 * 1024)

static const char *get_variable(void *user, const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int open_prices(struct means *means, const char *path, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    if (path && file_read(path, PRICES_MAX, &text, err) < 0)
        return err->code;
    if (price_table_open(path ? buf_text(&text) : NULL, text.len, &means->prices, err) < 0)
        return path ? err_in(err, "%s", path) : err->code;
    return 0;
}

/* Each by itself: a bracket that one of them opens is not closed by the next. */
static int check_lists(const struct texts *lists, rondo_error *err)
{
    for (uint32_t i = 0; i < lists->count; i++) {
        struct permit *permit;
        if (permit_open(&(struct permit_spec){ .allow = lists->list[i] }, &permit, err) < 0)
            return err->code;
        permit_close(permit);
    }
    return 0;
}

/* All that was given for one option as one list; NULL without. */
static const char *join(struct buf *out, const struct texts *lists)
{
    for (uint32_t i = 0; i < lists->count; i++)
        buf_printf(out, "%s%s", i ? "," : "", lists->list[i]);
    return lists->count ? buf_text(out) : NULL;
}

static int open_permit(struct means *means, const struct means_args *args, bool can_ask, rondo_error *err)
{
    auto_buf struct buf allow = { 0 }, deny = { 0 }, ask = { 0 };
    if (check_lists(&args->allow, err) < 0 || check_lists(&args->deny, err) < 0 || check_lists(&args->ask, err) < 0)
        return err->code;
    return permit_open(&(struct permit_spec){ .allow = join(&allow, &args->allow), .deny = join(&deny, &args->deny),
                                              .ask = join(&ask, &args->ask), .yolo = args->yolo,
                                              .strict = args->strict, .sandbox = args->sandbox, .can_ask = can_ask },
                       &means->permit, err);
}

/* Beside the runs: what is known of servers' tools, and answers that may be used again. */
static void find_files(struct means *means)
{
    auto_buf struct buf folder = { 0 };
    rondo_error err;
    if (places_home(&folder, &err) < 0)
        return;
    size_t len = folder.len;
    buf_puts(&folder, "/pins.json");
    means->pins = mem_strdup(buf_text(&folder));
    folder.len = len;
    buf_puts(&folder, "/cache");
    means->cache = mem_strdup(buf_text(&folder));
}

int means_open(struct means *means, const struct means_args *args, const struct cmd *command, bool can_ask,
               struct call_env *env)
{
    rondo_error err;
    if (open_permit(means, args, can_ask, &err) < 0)
        return usage_error(command, "%s", err.message);
    if (open_prices(means, args->prices, &err) < 0)
        return command_fail(command, "--prices %s", err.message);
    find_files(means);
    env->model = args->model;
    env->permit = means->permit;
    env->network = args->network || (args->yolo && !args->strict && !args->sandbox);
    env->local = args->local;
    env->require_prices = args->require_prices;
    env->approve_tools = args->approve_tools;
    env->effort = args->thinking && strcmp(args->thinking, "off") == 0 ? "none" : args->thinking;
    env->pins_path = means->pins;
    env->cache_path = means->cache;
    env->world = (struct model_world){ .get_variable = get_variable, .prices = means->prices };
    return EXIT_OK;
}

void means_clear(struct means *means)
{
    permit_close(means->permit);
    price_table_close(means->prices);
    mem_free(means->pins);
    mem_free(means->cache);
    *means = (struct means){ 0 };
}
