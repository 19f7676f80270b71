/* test_cli_table.c - rows of cells in columns. */
#include "cli/table.h"
#include "test.h"

#include <string.h>

static const struct column columns[] = {
    { "pass", true }, { "gain", true, 1 }, { "words", true, 2 },
    { "time", true }, { "note", false },
};

static const char *table_text(size_t width, const char *note)
{
    static struct buf out;
    const char *cells[] = { "1", "+3.5", "+12 -3", "1.5s", note };
    struct term term = { .is_utf8 = true };
    struct table table = { .columns = columns, .column_count = 5 };
    buf_clear(&out);
    table_add(&table);
    for (uint32_t i = 0; i < 5; i++)
        table_set(&table, i, STYLE_NONE, cells[i]);
    table_put(&out, &table, &term, width);
    table_clear(&table);
    return buf_text(&out);
}

TEST(a_table_is_as_wide_as_it_is_where_nobody_says)
{
    CHECK_STR(table_text(0, "a sentence that is quite long"),
              "pass  gain   words  time  note\n"
              "   1  +3.5  +12 -3  1.5s  a sentence that is quite long\n");
}

TEST(the_last_column_is_cut_to_the_width)
{
    CHECK_STR(table_text(40, "a sentence that is quite long"),
              "pass  gain   words  time  note\n"
              "   1  +3.5  +12 -3  1.5s  a sentence th\u2026\n");
}

TEST(spare_columns_are_left_out_for_the_last_one)
{
    CHECK_STR(table_text(32, "a sentence that is quite long"),
              "pass  gain  time  note\n"
              "   1  +3.5  1.5s  a sentence th\u2026\n");
    CHECK_STR(table_text(26, "a sentence that is quite long"),
              "pass  time  note\n"
              "   1  1.5s  a sentence th\u2026\n");
    CHECK_STR(table_text(38, "short"), "pass  gain   words  time  note\n"
                                       "   1  +3.5  +12 -3  1.5s  short\n");
    CHECK_STR(table_text(10, "a sentence"), "pass  time  \u2026\n"
                                            "   1  1.5s  \u2026\n");
}
