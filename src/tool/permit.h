/* permit.h - may this tool be called now?

   One decision per call, by the first row that applies:

     1. on the deny list                  refuse
     2. on the ask list                   ask
     3. on the allow list                 allow
     4. strict or sandbox                 refuse
     5. yolo, or answered "always" before allow
     6. somebody can be asked             ask
     7. nobody can                        refuse

   The sandbox has read, write, edit, glob and grep on its allow list, and no bash at all.  So all of them combine, and
   what permits less wins: yolo only answers the questions that nobody else has an answer to.

   Entries of the lists are names of tools, with * (`files__*`), optionally with a pattern for their main
   argument: `bash(git *)`, `write(docs*)`, `fetch(https://example.org*)`.  Commands are compared word by word
   (tool/shell_words.h).  One that is not plain fits no pattern on the allow list but `*`.  It fits every pattern on the
   deny list and on the ask list.  A refusal is a result that the model sees; its step goes on. */
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

/* Names of no tool and brackets without the other one are RONDO_EINVAL. */
int permit_open(const struct permit_spec *spec, struct permit **ret, rondo_error *err);
void permit_close(struct permit *permit); // NULL is fine

/* enum permit_verdict; why: for the model, when refused.  Without arguments: for calls that the lists favour. */
int permit_judge(const struct permit *permit, const struct tool *tool, const json_t *arguments, char why[160]);
bool permit_is_narrow(const struct permit *permit, const char *tool); // does it depend on the arguments?
void permit_remember(struct permit *permit, const char *tool); // "always"; again is the same

#endif
