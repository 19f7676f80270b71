/* rondo_schema.c - prints the JSON Schema of workflow files: docs/rondo.schema.json is made by this. */
#include "flow/fields.h"

#include <stdio.h>

int main(void)
{
    json_t *schema = fields_schema();
    json_dumpf(schema, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(schema);
    return 0;
}
