/* cmd_check.h - rondo check. */
#ifndef RONDO_CMD_CHECK_H
#define RONDO_CMD_CHECK_H

/* Returns the exit status: 0 all is well, 2 something is wrong with a file, 3 wrong usage. */
int cmd_check(int argc, char **argv);

#endif
