/* trace.h - whose work ours is part of: what W3C Trace Context calls the parent. */
#ifndef RONDO_TRACE_H
#define RONDO_TRACE_H

/* $TRACEPARENT, when it is one; else NULL.  For servers that work for us: models and tools, not the web at large. */
const char *trace_parent(void);

#endif
