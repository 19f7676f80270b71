/* file_marks.h - a short text that stands for what is in files: another one when something in them has changed.

   What is read once is not read again as long as its size, its times and its inode stay the same. */
#ifndef RONDO_FILE_MARKS_H
#define RONDO_FILE_MARKS_H

#include "base/error.h"
#include "base/mem.h"
#include "io/protected.h"

#include <stdatomic.h>

struct glob;

/* Texts, owned. */
struct file_lines {
    char **list;
    uint32_t count, cap;
};

void file_lines_add(struct file_lines *lines, char *line); // taken
void file_lines_clear(struct file_lines *lines);

struct file_cache; // what was read

void file_cache_free(struct file_cache *cache); // NULL is fine

/* A folder and patterns for files below it. */
struct file_patterns {
    char *folder;
    struct glob **globs;
    char **texts;    // as the workflow has them
    char **prefixes; // the folders that a pattern names without any choice: "src/lib" of "src/lib/**"; ""
    uint32_t count;
};

/* The patterns are relative to the folder: RONDO_EINVAL. */
int file_patterns_init(struct file_patterns *ret, const char *folder, const char *const *texts, uint32_t count,
                       rondo_error *err);
void file_patterns_clear(struct file_patterns *patterns);

/* Is there a file in the folder that fits?  0, RONDO_ENOTFOUND, or what is wrong with the pattern or the folder. */
int file_is_a_match(const char *folder, const char *pattern, rondo_error *err);

/* Does one of them fit?  hits, if given, counts for each of them. */
bool file_patterns_fit(const struct file_patterns *patterns, const char *path, uint32_t *hits);

struct file_job {
    const struct file_patterns *patterns;
    const struct protected_stores *stores; // what is rondo's own
    struct file_cache **cache; // of earlier jobs with these patterns
    struct file_lines paths;   // to be read; they are found first when `walks`
    struct file_lines lines;   // what the mark stands for, with what the caller had put there
    uint32_t *hits;            // of each pattern
    bool walks;
    atomic_bool stop; // from any thread: nobody waits for it any more
    char mark[33];
};

/* Reads the files; for a thread of its own.  RONDO_ELIMIT: there are too many, RONDO_ECANCELLED: it was stopped. */
int file_job_run(struct file_job *job, rondo_error *err);
void file_job_clear(struct file_job *job);

#endif
