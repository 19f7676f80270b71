/* dialogs.h - an API tried with texts: what it sends, and what it makes of an answer.

   All JSON here, given and shown, has ' in the place of ", so that it can be written down in C.  An answer is shown as

       {'message': {...}, 'stop': 'end', 'tokens': [input, output, cache read, cache write, reasoning]}

   or "trouble THROTTLE: the server's words", or "error CODE: message".  Streams are fed whole, byte by byte, and cut in
   two at every place; all of it has to come to the same. */
#ifndef DIALOGS_H
#define DIALOGS_H

#include "model/api.h"

/* A user with an image and a file, two calls (one of them garbled), their results (an image, an error), a user. */
#define DIALOG_TALK                                                                                           \
    "[{'role':'user','content':[{'text':'See'},{'image':{'type':'image/png','data':'iVBO'}},"                 \
    "{'file':{'type':'application/pdf','name':'a.pdf','data':'JVBE'}}]},"                                     \
    "{'role':'assistant','content':'','calls':[{'id':'call_1','name':'look','arguments':{'at':'x'}},"         \
    "{'id':'call_2','name':'go','raw':'far'}]},"                                                              \
    "{'role':'tool','call':'call_1','name':'look','content':[{'text':'a cat'},"                               \
    "{'image':{'type':'image/png','data':'iVBP'}}]},"                                                         \
    "{'role':'tool','call':'call_2','name':'go','content':'no','error':true},"                                \
    "{'role':'user','content':'And?'}]"

/* Two tools, of which strict mode takes the first. */
#define DIALOG_TOOLS                                                                                          \
    "[{'name':'look','description':'Looks.','parameters':{'type':'object','properties':{'at':{'type':'string'}}," \
    "'required':['at'],'additionalProperties':false}},"                                                       \
    "{'name':'go','description':'Goes.','parameters':{'type':'object','properties':{'far':{'type':'number'}}}}]"

/* An inquiry of nothing but messages. */
struct inquiry dialog_about(const char *messages);
json_t *dialog_json(const char *text); // need not be given back

const char *dialog_sent(const struct api *api, const struct inquiry *inquiry); // the body, keys sorted
const char *dialog_path(const struct api *api, const struct inquiry *inquiry);
const char *dialog_headers(const struct api *api, const struct inquiry *inquiry);

const char *dialog_heard(const struct api *api, const char *stream);
const char *dialog_read(const struct api *api, const char *body);
const char *dialog_refused(const struct api *api, int status, const char *body); // "MONEY -1 0: words"; NULL: no body

/* The answer to a stream as a message, for what comes next. */
json_t *dialog_message(const struct api *api, const char *stream);

#endif
