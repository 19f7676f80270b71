/* bundle.h - a workflow with every file that it was made of, as one text.

   A run keeps the definition that it was started with, so that an edit cannot change what it does: the
   loader notes what it reads (bundle_fetch()), bundle_put() writes it down, and bundle_load() makes the
   same flow of it without looking at a disk.

   The text is JSON and the same for the same files:

       {"v":1,"main":"flow.yaml","folder":"/home/me","files":[
         {"name":"flow.yaml","text":"rondo: 1\n..."},
         {"name":"parts/polish.yaml","at":"parts","text":"..."},
         {"name":"tone.md","from":"parts","at":"parts","text":"..."},
         {"name":"gone.md","missing":"gone.md: No such file or directory"}]}

   The first file is the workflow itself.  `name` is the path as it was written, `from` the folder of the
   file that it was written in and `at` the folder that it led to, both within `folder` and left out when
   they are that.  Bytes that are no text are in `base64` instead.  `json` says that the workflow is JSON,
   `lenient` that it was only checked, `alone` that nothing beside it could be read, `coordinator` which model
   coordinates though the file does not say so.

   Files that agents are shown while they work (contextFiles) are only named: they may change. */
#ifndef RONDO_BUNDLE_H
#define RONDO_BUNDLE_H

#include "flow/flow.h"

#define BUNDLE_BYTES_MAX (64 * 1024 * 1024) // of all files together
#define BUNDLE_FILES_MAX 5000

struct bundle;

/* What was read for a flow; the main text is the flow's own.  NULL is fine for free. */
struct bundle *bundle_new(const struct flow_load *how);
void bundle_free(struct bundle *bundle);

/* Reads like files->read(), and notes it.  A file that was read before is not read again: it is the same
   wherever the workflow names it.  RONDO_ELIMIT also when all files together are too much. */
int bundle_fetch(struct bundle *bundle, const struct flow_files *files, const char *folder,
                 const char *path, size_t max, struct buf *out, char **ret_folder, rondo_error *err);

/* Who was said to coordinate; NULL. */
const char *bundle_coordinator(const struct bundle *bundle);

/* The text of an outermost flow. */
void bundle_put(struct buf *out, const struct flow *flow);

/* The flow that such a text was made of, as flow_load() gives it; a text that is damaged or from a newer
   version is one diagnostic about no source. */
struct flow *bundle_load(const char *text, size_t len, struct diags *diags);

#endif
