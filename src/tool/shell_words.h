/* shell_words.h - the words of a command, when it is nothing but words.

   Blanks and tabs are between words.  '...' and "..." are taken away, and may be a part of a word.  A command is
   *plain* when a shell makes the same words of it.  It is not when it has anything else that a shell reads:

     anywhere but in quotes      $ ` \ ; & | < > ( ) { } [ ] * ? and control characters, line breaks among them
     where a word begins         ~ # !, also behind = and :
     in "..."                    $ ` \
     in the first word           =
     as the first word           those with which the shell itself runs what follows: time, eval, exec, ...
     at the end                  a quote that is still open */
#ifndef RONDO_SHELL_WORDS_H
#define RONDO_SHELL_WORDS_H

#include "base/buf.h"

/* In the caller's storage. */
struct shell_words {
    char **list;
    uint32_t count, cap;
    bool is_plain; // else the list is as if what the shell reads were letters
};

#define auto_words __attribute__((cleanup(shell_words_clear)))

void shell_words_split(struct shell_words *words, const char *text); // into one that is cleared
void shell_words_clear(struct shell_words *words);
void shell_words_put(const struct shell_words *words, struct buf *out); // with a blank between them
void shell_words_cut_folders(struct shell_words *words);                 // the first word: /bin/rm becomes rm

#endif
