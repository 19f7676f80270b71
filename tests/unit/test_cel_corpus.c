/* test_cel_corpus.c - the corpora of the fuzz targets, replayed. */
#include "test.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

int fuzz_cel_parse(const uint8_t *data, size_t size);
int fuzz_cel_check(const uint8_t *data, size_t size);
int fuzz_cel_eval(const uint8_t *data, size_t size);

#define LLVMFuzzerTestOneInput fuzz_cel_parse
#include "fuzz/fuzz_cel_parse.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_cel_check
#include "fuzz/fuzz_cel_check.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_cel_eval
#include "fuzz/fuzz_cel_eval.c"
#undef LLVMFuzzerTestOneInput

static void replay(const char *folder, int (*target)(const uint8_t *data, size_t size))
{
    static uint8_t data[65536];
    char path[512];
    int count = 0;
    DIR *dir = opendir(folder);
    CHECK(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "rb");
        CHECK(file != NULL);
        size_t len = fread(data, 1, sizeof data, file);
        fclose(file);
        target(data, len);
        count++;
    }
    closedir(dir);
    CHECK(count > 0);
}

TEST(cel_parse_survives_its_corpus)
{
    replay("tests/fuzz/corpus/cel_parse", fuzz_cel_parse);
}

TEST(cel_check_survives_its_corpus)
{
    replay("tests/fuzz/corpus/cel_check", fuzz_cel_check);
}

TEST(cel_eval_survives_its_corpus)
{
    replay("tests/fuzz/corpus/cel_eval", fuzz_cel_eval);
}
