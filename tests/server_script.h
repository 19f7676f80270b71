/* server_script.h - what the scripted server is to answer, as read from its script; server.h tells the language. */
#ifndef SERVER_SCRIPT_H
#define SERVER_SCRIPT_H

#include "base/buf.h"

#include <jansson.h>

enum part_kind { SEND, FILL, FILE_BYTES, ECHO_REQUEST, WAIT, EVERY, DRIP, CUT, RESET, HANG, RAW, HEAD };
enum framing { BY_ITSELF, BY_LENGTH, BY_CHUNKS, BY_CLOSE };

struct part {
    enum part_kind kind;
    long n, ms;
    char *text; // unescaped, holes still in it
    size_t len;
};

struct answer {
    struct part *parts;
    uint32_t count, cap;
    char *status;
    struct buf headers; // whole lines, holes still in them
    enum framing framing;
    long length; // -1: the true one
    bool has_type;
};

struct route {
    char *method, *path, *has; // has: only with this in its body; NULL
    json_t *body; // the request has this body; NULL: any
    struct answer *answers;
    uint32_t count, cap;
    size_t requests;
};

struct routes {
    struct route *list;
    uint32_t count, cap;
};

/* What is wrong with a script ends the process. */
void script_read(struct routes *routes, const char *script);
void script_free(struct routes *routes);
void script_die(const char *what, const char *which) __attribute__((noreturn));

#endif
