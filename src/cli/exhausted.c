/* exhausted.c - what the program says when there is no more memory.

   The sentence is made while there is some.  Nothing is lost by ending at once: what was shown is in the store. */
#include "cli/exhausted.h"

#include "base/mem.h"
#include "cli/keyboard.h"
#include "engine/exit.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char short_words[] = "rondo: out of memory\n";
static char words[1200];

static void give_up(size_t size)
{
    const char *text = *words ? words : short_words;
    keyboard_restore();
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        (void)size; // there is nobody to tell
    _exit(EXIT_FAILED);
}

void exhausted_start(void)
{
    mem_on_exhausted(give_up);
    json_set_alloc_funcs(mem_alloc, mem_free);
}

void exhausted_set_next(const char *next)
{
    *words = '\0';
    if (*next)
        snprintf(words, sizeof words, "rondo: out of memory\n%s\n", next);
}
