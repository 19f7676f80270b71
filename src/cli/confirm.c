/* confirm.c - see confirm.h. */
#include "cli/confirm.h"

#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

int confirm(const char *question)
{
    char line[80];
    tcflush(STDIN_FILENO, TCIFLUSH); // nothing is an answer that was typed before
    do {
        fprintf(stderr, "%s [y/n] ", question);
        if (!fgets(line, sizeof line, stdin))
            return CONFIRM_NOBODY;
    } while (!strchr("yYnN", line[0]));
    return line[0] == 'y' || line[0] == 'Y' ? CONFIRM_YES : CONFIRM_NO;
}
