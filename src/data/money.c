/* money.c - see money.h. */
#include "data/money.h"

/* Of cents and less four digits, of less than a dollar three. */
static int digits_shown(int64_t nano)
{
    return !nano ? 0 : nano < MONEY_NANO / 100 ? 4 : nano < MONEY_NANO ? 3 : 2;
}

static int digits_said(int64_t nano)
{
    int digits = 4;
    for (int64_t least = MONEY_NANO / 100; digits < 9 && nano && nano < least; least /= 10)
        digits++;
    return digits;
}

static void drop_zeros(struct buf *out)
{
    while (out->data[out->len - 1] == '0')
        out->len--;
    out->len -= out->data[out->len - 1] == '.';
}

void money_put(struct buf *out, int64_t nano, enum money form)
{
    int digits = form == MONEY_SHOWN ? digits_shown(nano) : digits_said(nano);
    if (form == MONEY_EXACT) // a double has not so many digits
        buf_printf(out, "%lld.%09lld", (long long)(nano / MONEY_NANO), (long long)(nano % MONEY_NANO));
    else
        buf_printf(out, "$%.*f", digits, (double)nano / MONEY_NANO);
    if (form != MONEY_SHOWN)
        drop_zeros(out);
}
