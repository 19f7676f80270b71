/* test_money.c - amounts of dollars: exact ones, those that sentences have, and those that a terminal shows. */
#include "test.h"

#include "data/money.h"

#include <stdio.h>

static const char *text(int64_t nano, enum money form)
{
    static char texts[4][40];
    static int next;
    auto_buf struct buf out = { 0 };
    money_put(&out, nano, form);
    snprintf(texts[next % 4], sizeof *texts, "%s", buf_text(&out));
    return texts[next++ % 4];
}

TEST(exact_amounts_have_all_digits_and_no_zeros_behind)
{
    CHECK_STR(text(0, MONEY_EXACT), "0");
    CHECK_STR(text(1, MONEY_EXACT), "0.000000001");
    CHECK_STR(text(12300000, MONEY_EXACT), "0.0123");
    CHECK_STR(text(2000000000, MONEY_EXACT), "2");
    CHECK_STR(text(9000000000000000001, MONEY_EXACT), "9000000000.000000001");
}

TEST(sentences_have_four_digits_and_more_of_small_sums)
{
    CHECK_STR(text(0, MONEY_SAID), "$0");
    CHECK_STR(text(500000000, MONEY_SAID), "$0.5");
    CHECK_STR(text(20000000000, MONEY_SAID), "$20");
    CHECK_STR(text(12345678, MONEY_SAID), "$0.0123");
    CHECK_STR(text(9999999, MONEY_SAID), "$0.01");
    CHECK_STR(text(1234567, MONEY_SAID), "$0.00123");
    CHECK_STR(text(12, MONEY_SAID), "$0.000000012");
}

TEST(a_terminal_shows_as_many_digits_as_the_size_needs)
{
    CHECK_STR(text(0, MONEY_SHOWN), "$0");
    CHECK_STR(text(1234567, MONEY_SHOWN), "$0.0012");
    CHECK_STR(text(9999999, MONEY_SHOWN), "$0.0100");
    CHECK_STR(text(10000000, MONEY_SHOWN), "$0.010");
    CHECK_STR(text(999999999, MONEY_SHOWN), "$1.000");
    CHECK_STR(text(1000000000, MONEY_SHOWN), "$1.00");
    CHECK_STR(text(12340000000, MONEY_SHOWN), "$12.34");
}
