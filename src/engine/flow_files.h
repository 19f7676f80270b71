/* flow_files.h - workflow files from the disk. */
#ifndef RONDO_FLOW_FILES_H
#define RONDO_FLOW_FILES_H

#include "flow/flow.h"

/* Files beside a workflow, read from the disk (io/file.h) within its folder. */
extern const struct flow_files flows_disk;

/* Reads and checks a workflow from a file ("-": standard input); NULL when there are errors. */
struct flow *flows_open(const char *path, bool is_lenient, const char *coordinator, struct diags *diags);

#endif
