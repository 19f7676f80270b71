/* number.h - numbers as text, and back. */
#ifndef RONDO_CEL_NUMBER_H
#define RONDO_CEL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_COST 10        // steps: the text of a double is found by trying
#define NUMBER_TEXT_MAX 352   // the longest plain decimal of a double has fewer characters

/* All of them write to a buffer of NUMBER_TEXT_MAX and return the length; no NUL is promised. */
size_t number_put_int(char *out, int64_t n);
size_t number_put_uint(char *out, uint64_t n);
size_t number_put_double(
    char *out, double d);   // shortest that reads back; 1e+21 and 1e-05 and beyond by exponent
size_t number_put_plain(char *out,
                        double d);   // shortest that reads back, never with an exponent

/* The whole text has to be the number. */
bool number_read_int(const char *text, size_t len, int64_t *ret);
bool number_read_uint(const char *text, size_t len, uint64_t *ret);
bool number_read_double(const char *text, size_t len, double *ret);

#endif
