/* cmd_eval.h - rondo eval. */
#ifndef RONDO_CMD_EVAL_H
#define RONDO_CMD_EVAL_H

/* rondo eval EXPR [--data FILE|-]: argv[0] is "eval".  0, 1 for an error of the evaluation, 2 for
   an expression or a command line that is wrong. */
int cmd_eval(int argc, char **argv);

#endif
