/* curl.h - libcurl, found at run time.

   The program does not link it: who never makes a request does not pay for loading it, and a machine without
   it runs everything else.  The types and constants are those of the header; the functions are in a table. */
#ifndef RONDO_CURL_H
#define RONDO_CURL_H

#include "base/error.h"

#define CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

/* A row per function that is used: its result, its name without curl_, its arguments. */
#define CURL_FUNCTIONS(X)                                                                       \
    X(CURLcode, global_init, (long flags))                                                      \
    X(CURL *, easy_init, (void))                                                                \
    X(void, easy_cleanup, (CURL * easy))                                                        \
    X(CURLcode, easy_setopt, (CURL * easy, CURLoption option, ...))                             \
    X(CURLcode, easy_getinfo, (CURL * easy, CURLINFO info, ...))                                \
    X(CURLcode, easy_pause, (CURL * easy, int what))                                            \
    X(const char *, easy_strerror, (CURLcode code))                                             \
    X(CURLM *, multi_init, (void))                                                              \
    X(CURLMcode, multi_cleanup, (CURLM * multi))                                                \
    X(CURLMcode, multi_setopt, (CURLM * multi, CURLMoption option, ...))                        \
    X(CURLMcode, multi_add_handle, (CURLM * multi, CURL * easy))                                \
    X(CURLMcode, multi_remove_handle, (CURLM * multi, CURL * easy))                             \
    X(CURLMcode, multi_assign, (CURLM * multi, curl_socket_t fd, void *user))                   \
    X(CURLMcode, multi_socket_action, (CURLM * multi, curl_socket_t fd, int events, int *left)) \
    X(CURLMsg *, multi_info_read, (CURLM * multi, int *left))                                   \
    X(struct curl_slist *, slist_append, (struct curl_slist * list, const char *text))          \
    X(void, slist_free_all, (struct curl_slist * list))                                         \
    X(CURLU *, url, (void))                                                                     \
    X(void, url_cleanup, (CURLU * url))                                                         \
    X(CURLUcode, url_set, (CURLU * url, CURLUPart part, const char *text, unsigned flags))      \
    X(CURLUcode, url_get, (const CURLU *url, CURLUPart part, char **ret, unsigned flags))       \
    X(void, free, (void *p))                                                                    \
    X(curl_version_info_data *, version_info, (CURLversion age))

struct curl {
#define CURL_FUNCTION(result, name, arguments) result(*name) arguments;
    CURL_FUNCTIONS(CURL_FUNCTION)
#undef CURL_FUNCTION
};

/* From any thread.  NULL with RONDO_ENOTFOUND when there is none, or none that is new enough: err says
   what to install. */
const struct curl *curl_find(rondo_error *err);

/* "7.88.1, OpenSSL/3.0.20, HTTP/2"; for doctor. */
const char *curl_describe(const struct curl *curl, char *out, size_t size);

#endif
