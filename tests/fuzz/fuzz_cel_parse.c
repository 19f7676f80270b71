/* fuzz_cel_parse.c - any bytes are read without harm, and refused with a position. */
#include "fuzz.h"

#include "cel/parser.h"
#include "cel/runes.h"

#include <stdlib.h>
#include <string.h>

static size_t some_hyphens(void *user, const struct cel_name *path, size_t count,
                           const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && ((text[n] | 32) >= 'a' && (text[n] | 32) <= 'z' ? 1 : text[n] == '-'))
        n++;
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cel_options options = { .max_nodes = 2000, .hyphen = some_hyphens };
    rondo_error err = { 0 };
    auto_arena struct arena arena = { 0 };
    if (size > 4096 || !runes_is_valid((const char *)data, size))
        return 0;
    struct ast *root = parser_run((const char *)data, size, &options, &arena, &err);
    if (!root) {
        if (err.code >= 0 || err.line < 1 || err.column < 1 || !err.message[0])
            abort();
        mem_free(cel_caret((const char *)data, size, &err));
    }
    return 0;
}
