/* foreign.h - words that people bring from other systems and languages, and what says the same here.

   One table has them all (foreign.c).  Whoever refuses a word asks it for a hint, and nobody else does: a file that is
   right never gets here.  A capital, - or _ makes no other word: max_iter, maxIter and MAX-ITER are one. */
#ifndef RONDO_FOREIGN_H
#define RONDO_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

struct fields;

enum foreign_sort {
    FOREIGN_KEY,      // of a map in the file
    FOREIGN_VALUE,    // one of the words that a key can have
    FOREIGN_STATUS,   // of a step or a pass
    FOREIGN_NAME,     // which an expression begins with
    FOREIGN_FIELD,    // of a step, in an expression
    FOREIGN_FUNCTION, // in an expression
    FOREIGN_WORD,     // a constant or an operator of other languages, in an expression
};

struct foreign {
    uint8_t sort;      // enum foreign_sort
    const char *of;    // FOREIGN_KEY: the name of the only table (struct fields), FOREIGN_VALUE: our key; NULL: any
    const char *words; // theirs, with blanks between them
    const char *ours;  // NULL: there is no such thing, which `note` says
    const char *note;  // how to say it, where another word alone would not do; NULL
};

/* The row for a key that a table of a dialect does not know; NULL.  Its `ours`, if any, is a key of that table. */
const struct foreign *foreign_key(const struct fields *table, const char *key, uint8_t dialect);

/* The row for a word of another sort; of as above, len: of the word.  NULL. */
const struct foreign *foreign_word(enum foreign_sort sort, const char *of, const char *word, size_t len);

/* All of them, for tests. */
const struct foreign *foreign_rows(size_t *ret_count);

#endif
