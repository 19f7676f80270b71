/* test_tzfile.c - zone files are read once, and only from their folder. */
#include "test.h"

#include "io/tzfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder with Area/Town (the bytes "TZif") and, beside it, a file that is out of reach. */
static void make_zones(char *folder)
{
    char path[256];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/Area", folder);
    CHECK(mkdir(path, 0700) == 0);
    snprintf(path, sizeof path, "%s/Area/Town", folder);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fputs("TZif", file);
    fclose(file);
}

static void remove_zones(const char *folder)
{
    char path[256];
    snprintf(path, sizeof path, "%s/Area/Town", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/Area", folder);
    rmdir(path);
    rmdir(folder);
}

TEST(tzfile_gives_the_bytes_of_a_zone_and_keeps_them)
{
    char folder[] = "/tmp/tzfile-XXXXXX";
    size_t len = 0;
    make_zones(folder);
    struct tzfile *files = tzfile_new(folder);
    const void *bytes = tzfile_get(files, "Area/Town", &len);
    CHECK(bytes && len == 4 && memcmp(bytes, "TZif", 4) == 0);
    remove_zones(folder);
    CHECK_PTR(tzfile_get(files, "Area/Town", &len), bytes);
    tzfile_free(files);
}

TEST(tzfile_does_not_leave_its_folder)
{
    static const char *const names[] = { "../Town", "Area/../../x", "/etc/passwd", "Area//Town",
                                         "Area/",   "",             ".",           "Area/Town\n",
                                         "Nowhere", "Area" };
    char folder[] = "/tmp/tzfile-XXXXXX";
    size_t len;
    make_zones(folder);
    struct tzfile *files = tzfile_new(folder);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK_NULL(tzfile_get(files, names[i], &len));
    tzfile_free(files);
    remove_zones(folder);
}
