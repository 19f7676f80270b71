/* overload.c - the families of functions, and finding a row by name. */
#include "cel/overload.h"

#include <string.h>

static const struct overload_family *const families[] = {
    &overload_operators, &overload_conversions, &overload_times, &overload_strings, &overload_formats,
    &overload_lists,     &overload_numbers,     &overload_nets,  &overload_data,    &overload_optionals,
};

#define FAMILY_BITS 16

/* *at packs the family and the row to look at next. */
const struct overload *overload_next(const char *name, size_t len, uint32_t *at)
{
    for (uint32_t family = *at >> FAMILY_BITS; family < COUNT(families); family++) {
        uint32_t row = *at & ((1u << FAMILY_BITS) - 1);
        for (; row < families[family]->count; row++) {
            const struct overload *found = &families[family]->rows[row];
            if (memcmp(found->name, name, 1) != 0 || strlen(found->name) != len || memcmp(found->name, name, len) != 0)
                continue;
            *at = family << FAMILY_BITS | (row + 1);
            return found;
        }
        *at = (family + 1) << FAMILY_BITS;
    }
    return NULL;
}

uint32_t overload_arity(const struct overload *row)
{
    uint32_t count = 0;
    while (count < OVERLOAD_ARGS_MAX && row->params[count])
        count++;
    return count;
}

static const uint32_t masks[] = {
    [TYPE_DYN] = UINT32_MAX,          [TYPE_NULL] = 1u << CEL_NULL,       [TYPE_BOOL] = 1u << CEL_BOOL,
    [TYPE_INT] = 1u << CEL_INT,       [TYPE_UINT] = 1u << CEL_UINT,       [TYPE_DOUBLE] = 1u << CEL_DOUBLE,
    [TYPE_STRING] = 1u << CEL_STRING, [TYPE_BYTES] = 1u << CEL_BYTES,     [TYPE_TIMESTAMP] = 1u << CEL_TIMESTAMP,
    [TYPE_DURATION] = 1u << CEL_DURATION, [TYPE_LIST] = 1u << CEL_LIST,   [TYPE_MAP] = 1u << CEL_MAP,
    [TYPE_TYPE] = 1u << CEL_TYPE,     [TYPE_WRAPPER] = UINT32_MAX,        [TYPE_ABSTRACT] = UINT32_MAX,
    [TYPE_PARAM] = UINT32_MAX,        [TYPE_VAR] = UINT32_MAX,
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
    if (param->kind == TYPE_ABSTRACT)
        for (size_t i = 0; i < COUNT(abstracts); i++)
            if (strcmp(param->name, abstracts[i].name) == 0)
                return 1u << abstracts[i].kind;
    return masks[param->kind];
}
