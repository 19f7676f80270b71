/* fuzz.h - what every fuzz target shares.

   With libFuzzer the library brings main(); without it (FUZZ_REPLAY) main() replays the files
   and folders it is given, so that a corpus is a regression test. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef FUZZ_REPLAY
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    size_t len = fread(data, 1, size > 0 ? (size_t)size : 0, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, len);
    free(data);
    return 0;
}

static int replay_folder(const char *path, int *count)
{
    DIR *dir = opendir(path);
    int wrong = dir == NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        wrong += replay_file(name);
        ++*count;
    }
    if (dir)
        closedir(dir);
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0, count = 0;
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
            wrong += replay_folder(argv[i], &count);
        else
            wrong += replay_file(argv[i]), count++;
    }
    printf("%d inputs replayed\n", count);
    return wrong != 0;
}
#endif

#endif
