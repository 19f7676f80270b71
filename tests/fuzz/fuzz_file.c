/* fuzz_file.c - `rondo import` of any file, and then every command that reads a store.

   Built with -fsanitize=fuzzer it is a libFuzzer target; with -DFUZZ_REPLAY it has a main() that
   runs the files and folders it is given.  In both, checksums fit everything (sums.c): the input is a file that `rondo
   export` may have written, and its own sums are first made to fit. */
#include "fuzz.h"

#include "data/pack.h"
#include "fuzz/visit.h"

#include <stdlib.h>
#include <string.h>

#define HEAD  12 // the bytes before the first item: see store/transfer.c
#define END   6  // those of the last item
#define OTHER 7  // a prime: which command comes next is to depend on all bytes

static void put_sum(char *at)
{
    const uint32_t sum = VISIT_SUM;
    memcpy(at, &sum, sizeof sum);
}

/* The sums of all records, and of the whole. */
static void fit_sums(char *bytes, size_t size)
{
    const char *at = bytes + HEAD, *end = bytes + size - END;
    uint64_t len;
    if (size < HEAD + END)
        return;
    while (at < end) {
        bool is_record = *at++ == 'R';
        if (!varint_get(&at, end, &len) || len > (uint64_t)(end - at))
            break;
        if (is_record && len >= 4)
            put_sum((char *)at);
        at += len;
    }
    put_sum((char *)end + 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size + 1);
    uint32_t choice = 0;
    visit_begin();
    memcpy(bytes, data, size);
    fit_sums(bytes, size);
    for (size_t i = 0; i < size; i++)
        choice = OTHER * choice + data[i];
    visit_write(visit_file(), bytes, size);
    free(bytes);
    if (visit((const char *const[]){ "import", visit_file(), NULL }))
        visit_all(choice);
    visit_clear();
    return 0;
}
