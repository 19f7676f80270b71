/* api.h - the languages that model servers speak: one row and one file each.

   An API only translates: a request to the bytes that are sent, and what comes back to an answer.  It
   does no I/O, so that all of it can be tested with texts.  Who is asked and with which key is said by
   provider.h; sending, waiting and trying again is chat.c's. */
#ifndef RONDO_API_H
#define RONDO_API_H

#include "model/answer.h"
#include "model/message.h"

/* How a server wants to be asked, where servers of one API differ.  A provider's row has what is known
   of it (provider.h); what else it does not take is learnt from its refusals. */
enum manner {
    MANNER_OLD_LIMIT = 1,       // max_tokens, not max_completion_tokens
    MANNER_NO_STREAM_OPTIONS = 2,
    MANNER_NO_STRICT = 4,       // schemas are not marked as strict
    MANNER_NO_SCHEMA = 8,       // answers in JSON, but not of a schema: it goes into the system text
    MANNER_NO_NAMED_CHOICE = 16, // one tool is forced by giving no other
    MANNER_SHORT_IDS = 32,      // ids of calls have nine letters and digits
    MANNER_NO_SAMPLING = 64,    // temperature and topP are left out
    MANNER_NO_EFFORT = 128,
};

enum choice { CHOICE_AUTO, CHOICE_NONE, CHOICE_ANY, CHOICE_TOOL }; // which tools the model has to call

/* One request, borrowed. */
struct inquiry {
    const char *model;      // its name at the server
    const char *system;     // "" for none
    const json_t *messages; // message.h
    const json_t *tools;    // [ { name, description, parameters: SCHEMA } ]; NULL
    int choice;             // enum choice
    const char *tool;       // CHOICE_TOOL: its name
    const json_t *schema;   // the answer is to be JSON of this schema; NULL
    double temperature, top_p; // NaN: not given
    int64_t max_tokens;     // 0: not given
    const char *effort;     // none, minimal, low, medium, high, xhigh, max; NULL
    bool stream;
    uint32_t manners;       // enum manner
};

/* What to send.  All zero, then filled by put(); wire_clear() when done. */
struct wire {
    struct buf path;    // behind the base URL, with query: "/chat/completions"
    struct buf body;    // JSON
    struct buf headers; // lines "Name: value\n" beyond content type and key
};
void wire_clear(struct wire *wire);

/* How an error of the server is meant. */
enum trouble {
    TROUBLE_NONE,
    TROUBLE_REQUEST,  // the request is wrong: trying again is useless
    TROUBLE_KEY,      // the key is missing, wrong or may not do this
    TROUBLE_MONEY,    // no credit, spend limit: never tried again
    TROUBLE_QUOTA,    // used up for a long time (a day): wait for the reset or give up
    TROUBLE_THROTTLE, // too much at a time: try again after a while
    TROUBLE_SERVER,   // down, overloaded, timed out there: try again
    TROUBLE_NETWORK,  // not reached, cut, silent: try again
    TROUBLE_ANSWER,   // what came makes no sense: try again
    TROUBLE_TOO_LONG, // the conversation does not fit the model
    TROUBLE_MODEL,    // there is no such model there, or not with this key
};

struct refusal {
    int trouble;      // enum trouble
    int64_t delay_ms; // what the body asks for; -1: nothing
    uint32_t manners; // not 0: the same request with these (enum manner) the other way round may be taken
    char message[400]; // the server's own words, one line
    const struct secrets *secrets; // that are taken out of them; the caller's
};

struct api {
    const char *name;   // "openai-chat"
    bool is_ndjson;     // streams are lines of JSON, not SSE
    const char *accept; // of a stream

    void (*put)(const struct inquiry *inquiry, struct wire *wire);

    /* One event of a stream (event is "" where there are no names), or one line.  0, or a code: the
       stream makes no sense (RONDO_EPARSE), is too long (RONDO_ELIMIT), or the server says in it that it
       failed (RONDO_EFAILED; then refusal is filled in). */
    int (*hear)(struct answer *answer, const char *event, const char *data, size_t len,
                struct refusal *refusal, rondo_error *err);

    /* The whole answer at once. */
    int (*read)(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err);

    /* What an error's body means (NULL when it was no JSON), with this HTTP status. */
    void (*refuse)(int status, const json_t *body, struct refusal *ret);
};

extern const struct api api_openai_chat, api_openai_responses, api_anthropic, api_gemini, api_ollama;

/* ---- for the APIs --------------------------------------------------------------------------------------- */

/* What came, as an object: new.  Characters that are none become U+FFFD.  NULL: RONDO_EPARSE, with its first words and
   without secrets. */
json_t *api_parse(const struct secrets *secrets, const char *text, size_t len, rondo_error *err);

/* The words of a text as one line that fits `size` bytes, for people, without secrets.  is_end says that the text is
   whole.  Else a part of a secret at its end is left out, too.  With has_tags tags of HTML are left out. */
void api_show(const struct secrets *secrets, const char *text, size_t len, bool is_end, bool has_tags, char *ret,
              size_t size);

const char *api_text(const json_t *object, const char *key);  // "" when it is not there, or no text
int64_t api_count(const json_t *object, const char *key);     // -1 likewise, and for what is no amount
json_t *api_list(const json_t *object, const char *key);      // borrowed; NULL likewise
int api_add_text(struct answer *answer, const json_t *value, rondo_error *err);     // if it is a text
int api_add_thinking(struct answer *answer, const json_t *value, rondo_error *err); // likewise
void api_put_data_url(struct buf *out, const json_t *media);  // data:image/png;base64,...

/* Objects and lists that are being made take what they are given; a key whose value is NULL is left out. */
void api_set(json_t *object, const char *key, json_t *value);
void api_set_text(json_t *object, const char *key, const char *text); // not for ""
void api_set_number(json_t *object, const char *key, double number);  // not for NaN

/* Tools in this API's form, { name, description, KEY: schema } each: a list; new. */
json_t *api_tools(const struct inquiry *inquiry, const char *schema_key);

/* The system text, and behind it, where the server cannot be held to the schema, what the answer has to be. */
void api_put_system(struct buf *out, const struct inquiry *inquiry, bool with_schema);

/* The request is made: to the wire.  Takes body. */
void api_send(struct wire *wire, json_t *body);

/* For errors of all servers: what is meant by a status (0: it came in a stream that had begun well), and what
   they call it and say.  Any text may be "". */
void refusal_judge(struct refusal *ret, int status, const char *code, const char *type, const char *message);

/* The same from a body in one of the usual shapes: { error: { message, type, code, param } }, { error: TEXT },
   { message }, { detail }, or a list of such; NULL: there is none. */
void refusal_read(struct refusal *ret, int status, const json_t *body);
int refusal_fail(const struct refusal *refusal, rondo_error *err); // RONDO_EFAILED, with the server's words

#endif
