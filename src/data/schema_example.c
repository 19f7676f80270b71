/* schema_example.c - a value that fits. */
#include "data/schema_tree.h"

json_t *schema_example(const struct schema *schema, uint64_t seed)
{
    return NULL;
}
