/* fuzz_cel_check.c - any expression is checked without harm; its type has a text that is one. */
#include "fuzz.h"

#include "cel/cel.h"
#include "cel/cel_type.h"

#include <stdlib.h>

static const struct cel_decl decls[] = {
    { "i", "int" },
    { "u", "uint" },
    { "d", "double" },
    { "s", "string" },
    { "b", "bool" },
    { "y", "bytes" },
    { "l", "list(int)" },
    { "m", "map(string, list(string))" },
    { "t", "timestamp" },
    { "n", "duration" },
    { "x", NULL },
    { "o", "optional_type(int)" },
    { "a.b.c", "int" },
    { "w", "wrapper(string)" },
    { "k", "list(map(int, dyn))" },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cel_options options = {
        .decls = decls, .decl_count = COUNT(decls), .container = "a.b", .max_nodes = 2000
    };
    rondo_error err = { 0 };
    if (size > 4096)
        return 0;
    auto_cel struct cel_program *program =
        cel_compile((const char *)data, size, &options, &err);
    if (!program) {
        if (err.code >= 0 || !err.message[0])
            abort();
        return 0;
    }
    auto_arena struct arena arena = { 0 };
    char *text = cel_type_text(cel_program_type(program));
    if (!cel_type_parse(&arena, text, &err))
        abort();
    mem_free(text);
    return 0;
}
