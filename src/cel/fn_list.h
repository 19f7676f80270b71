/* fn_list.h - sorting, which sortBy() needs too. */
#ifndef RONDO_CEL_FN_LIST_H
#define RONDO_CEL_FN_LIST_H

#include "cel/cel_val.h"

/* Items in the order of their keys, equal ones as they were.  A fault when the keys have no
   order among themselves. */
struct cel_val list_sort(struct cel_frame *f, struct cel_val items, struct cel_val keys);

#endif
