/* macro.h - calls that are not calls: has(), all(), map(), cel.bind() and the others. */
#ifndef RONDO_CEL_MACRO_H
#define RONDO_CEL_MACRO_H

#include "cel/parser.h"

/* What a call stands for: the call itself when it names no macro.  NULL with the parser's err
   filled in when it names one and is wrong. */
struct ast *macro_expand(struct parser *parser, struct ast *call);

/* The names of those that are called by a name alone; how many. */
size_t macro_names(const char **names, size_t max);

#endif
