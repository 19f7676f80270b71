/* curl.c - see curl.h. */
#include "io/curl.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#define OLDEST 0x075000 // 7.80: the callback before a request is sent

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct curl table;
static rondo_error problem; // a code of 0: the table is filled in

static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };

static const struct {
    const char *name;
    size_t at;
} rows[] = {
#define CURL_ROW(result, name, arguments) { "curl_" #name, offsetof(struct curl, name) },
    CURL_FUNCTIONS(CURL_ROW)
#undef CURL_ROW
};

static void *open_library(void)
{
    for (size_t i = 0; i < COUNT(names); i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    return NULL;
}

static int fill(void *library)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        void *function = dlsym(library, rows[i].name);
        if (!function)
            return err_set(&problem, RONDO_ENOTFOUND, "expected libcurl 7.80 or newer, this one has no %s()",
                           rows[i].name);
        *(void **)((char *)&table + rows[i].at) = function;
    }
    return 0;
}

static void load(void)
{
    void *library = open_library();
    if (!library) {
        err_set(&problem, RONDO_ENOTFOUND,
                "no HTTP without libcurl, and %s is not there: install it (Debian: apt install libcurl4)", names[0]);
        return;
    }
    if (fill(library) < 0)
        return;
    const curl_version_info_data *info = table.version_info(CURLVERSION_NOW);
    if (info->version_num < OLDEST)
        err_set(&problem, RONDO_ENOTFOUND, "expected libcurl 7.80 or newer, got %s", info->version);
    else if (table.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        err_set(&problem, RONDO_ENOTFOUND, "libcurl could not be initialised");
}

const struct curl *curl_find(rondo_error *err)
{
    pthread_once(&once, load);
    if (!problem.code)
        return &table;
    *err = problem;
    return NULL;
}

const char *curl_describe(const struct curl *curl, char *out, size_t size)
{
    const curl_version_info_data *info = curl->version_info(CURLVERSION_NOW);
    snprintf(out, size, "%s, %s%s", info->version, info->ssl_version ? info->ssl_version : "no TLS",
             info->features & CURL_VERSION_HTTP2 ? ", HTTP/2" : "");
    return out;
}
