/* permit.h - may this tool be called now?

   One decision per call, by the first row that applies:

     1. yolo                              allow
     2. on the deny list                  refuse
     3. on the ask list                   ask
     4. on the allow list                 allow
     5. strict or sandbox                 refuse
     6. answered "always" before          allow
     7. somebody can be asked             ask
     8. nobody can                        refuse

   The sandbox has read, write, edit, glob and grep on its allow list, and no bash at all.

   Entries of the lists are names of tools, with * (`files__*`), optionally with a pattern for their main
   argument: `bash(git *)`, `write(docs*)`, `fetch(https://example.org*)`.  A refusal is a result that the
   model sees; its step goes on. */
#ifndef RONDO_PERMIT_H
#define RONDO_PERMIT_H

#include "tool/tool.h"

enum permit_verdict { PERMIT_ALLOW, PERMIT_REFUSE, PERMIT_ASK };

/* Lists are separated by commas, commas inside brackets do not count.  Texts are copied. */
struct permit_spec {
    const char *allow, *deny, *ask; // NULL: none
    bool yolo, strict, sandbox;
    bool can_ask; // there is a person, or may be later
};

struct permit;

/* Conflicts (yolo with anything else, denying what the sandbox needs), names of no tool and brackets without the
   other one are RONDO_EINVAL. */
int permit_open(const struct permit_spec *spec, struct permit **ret, rondo_error *err);
void permit_close(struct permit *permit); // NULL is fine

int permit_judge(const struct permit *permit, const struct tool *tool, const json_t *arguments,
                 char why[160]); // enum permit_verdict; why: for the model, when refused
void permit_remember(struct permit *permit, const char *tool); // "always"; again is the same

#endif
