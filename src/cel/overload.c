/* overload.c - the families of functions, and finding a row by name. */
#include "cel/overload.h"

#include "cel/cel.h"
#include "cel/macro.h"

#include <ctype.h>
#include <string.h>

static const struct overload_family *const families[] = {
    &overload_operators, &overload_conversions, &overload_times,   &overload_strings,
    &overload_formats,   &overload_lists,       &overload_numbers, &overload_nets,
    &overload_data,      &overload_optionals,
};

uint32_t overload_find_in(const struct overload_family *family, const char *name,
                          const struct overload **rows, uint32_t max)
{
    uint32_t count = 0;
    for (const struct overload *row = family->rows, *end = row + family->count; row < end; row++)
        if (row->name[0] == name[0] && row->name[1] == name[1] && strcmp(row->name, name) == 0 && count < max)
            rows[count++] = row;
    return count;
}

/* Operators are all in the first family, and their names begin with no letter. */
uint32_t overload_find(const char *name, const struct overload **rows, uint32_t max)
{
    uint32_t count = 0;
    size_t last = isalpha((unsigned char)name[0]) ? COUNT(families) : 1;
    for (size_t i = 0; i < last; i++)
        count += overload_find_in(families[i], name, rows + count, max - count);
    return count;
}

/* Operators have rows like functions, and names that nobody writes. */
size_t cel_function_names(const char **names, size_t max)
{
    size_t count = macro_names(names, max);
    for (size_t i = 0; i < COUNT(families); i++)
        for (size_t k = 0; k < families[i]->count && count < max; k++) {
            const char *name = families[i]->rows[k].name;
            if (isalpha((unsigned char)name[0]) && (!k || strcmp(name, families[i]->rows[k - 1].name) != 0))
                names[count++] = name;
        }
    return count;
}

static const struct {
    const char *name, *spoken;
} operators[] = {
    { "_+_", "+" },   { "_-_", "-" },   { "_*_", "*" }, { "_/_", "/" },   { "_%_", "%" },
    { "_==_", "==" }, { "_!=_", "!=" }, { "_<_", "<" }, { "_<=_", "<=" }, { "_>_", ">" },
    { "_>=_", ">=" }, { "@in", "in" },  { "!_", "!" },  { "-_", "-" },    { "_[_]", "[]" },
};

const char *overload_spoken(const char *name)
{
    for (size_t i = 0; i < COUNT(operators); i++)
        if (strcmp(operators[i].name, name) == 0)
            return operators[i].spoken;
    return name;
}

uint32_t overload_arity(const struct overload *row)
{
    uint32_t count = 0;
    while (count < OVERLOAD_ARGS_MAX && row->params[count])
        count++;
    return count;
}

static const uint32_t masks[] = {
    [TYPE_DYN] = UINT32_MAX,
    [TYPE_NULL] = 1u << CEL_NULL,
    [TYPE_BOOL] = 1u << CEL_BOOL,
    [TYPE_INT] = 1u << CEL_INT,
    [TYPE_UINT] = 1u << CEL_UINT,
    [TYPE_DOUBLE] = 1u << CEL_DOUBLE,
    [TYPE_STRING] = 1u << CEL_STRING,
    [TYPE_BYTES] = 1u << CEL_BYTES,
    [TYPE_TIMESTAMP] = 1u << CEL_TIMESTAMP,
    [TYPE_DURATION] = 1u << CEL_DURATION,
    [TYPE_LIST] = 1u << CEL_LIST,
    [TYPE_MAP] = 1u << CEL_MAP,
    [TYPE_TYPE] = 1u << CEL_TYPE,
    [TYPE_WRAPPER] = UINT32_MAX,
    [TYPE_ABSTRACT] = UINT32_MAX,
    [TYPE_PARAM] = UINT32_MAX,
    [TYPE_VAR] = UINT32_MAX,
};

static const struct {
    const char *name;
    enum cel_kind kind;
} abstracts[] = {
    { "optional_type", CEL_OPTIONAL },
    { "net.IP", CEL_IP },
    { "net.CIDR", CEL_CIDR },
};

uint32_t overload_mask(const struct cel_type *param)
{
    if (param->kind == TYPE_KNOWN)
        return param->kinds;
    if (param->kind == TYPE_ABSTRACT)
        for (size_t i = 0; i < COUNT(abstracts); i++)
            if (strcmp(param->name, abstracts[i].name) == 0)
                return 1u << abstracts[i].kind;
    return masks[param->kind];
}
