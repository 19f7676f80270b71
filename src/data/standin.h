/* standin.h - what libyaml is shown in place of characters that it takes for line ends.

   For YAML 1.1, and so for libyaml, a line also ends at U+0085, U+2028 and U+2029.  For YAML 1.2, and for us, they
   are characters like any other.  So libyaml reads a copy of the text in which each of them has become a letter that
   is nowhere else in it, of as many bytes: places in the copy are places in the text.  What libyaml makes of the copy
   gets the real characters back. */
#ifndef RONDO_STANDIN_H
#define RONDO_STANDIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STANDIN_KINDS 3

/* All zero is empty. */
struct standins {
    char *text;                      // the copy; NULL: there is nothing to replace
    char letters[STANDIN_KINDS][4];  // what stands for each of the characters
};

/* The first such character in a text; NULL: there is none, as nearly always. */
const char *standins_find(const char *text, uint32_t *ret_code);

/* Makes the copy, if one is needed, of a text that is valid UTF-8 without NUL.  False: the text uses up all letters. */
bool standins_init(struct standins *standins, const char *text, size_t len);
void standins_undo(const struct standins *standins, char *text);   // in place
void standins_clear(struct standins *standins);

#endif
