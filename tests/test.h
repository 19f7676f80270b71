/* test.h - what a test file needs.

   A test is a function that registers itself before main() and reads like the claim it
   checks.  Each one runs in a process of its own, so a crash or a hang fails that test
   alone, and nothing it leaves behind reaches the next.

       TEST(duration_rejects_a_negative_number)
       {
           int64_t ms = 7;
           CHECK(duration_parse("-1s", &ms, &err) < 0);
           CHECK_INT(ms, 7);
       }

   The first check that does not hold ends the test, from any function and any thread.
   What is found comes first, what is expected second. */
#ifndef TEST_H
#define TEST_H

#include <stddef.h>
#include <stdint.h>

struct test {
    const char *name, *file;
    void (*run)(void);
    struct test *next;
};

#define TEST(id)                                                                               \
    static void id(void);                                                                      \
    __attribute__((constructor)) static void id##_register(void)                               \
    {                                                                                          \
        static struct test self = { #id, __FILE__, id, NULL };                                 \
        test_add(&self);                                                                       \
    }                                                                                          \
    static void id(void)

#define CHECK(cond) ((cond) ? (void)0 : FAIL("does not hold: %s", #cond))
#define CHECK_INT(is, want) test_int(__FILE__, __LINE__, #is, (is), (want))
#define CHECK_UINT(is, want) test_uint(__FILE__, __LINE__, #is, (is), (want))
#define CHECK_STR(is, want) test_str(__FILE__, __LINE__, #is, (is), (want))
#define CHECK_PTR(is, want) test_ptr(__FILE__, __LINE__, #is, (is), (want))
#define CHECK_NULL(is) CHECK_PTR(is, NULL)
#define CHECK_MEM(is, want, len) test_mem(__FILE__, __LINE__, #is, (is), (want), (len))
#define CHECK_NEAR(is, want, off) test_near(__FILE__, __LINE__, #is, (is), (want), (off))
#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)

/* Ends the test as neither passed nor failed: something it needs is not here. */
#define SKIP(why) test_skip(__FILE__, __LINE__, (why))

void test_add(struct test *t);
void test_int(const char *file, int line, const char *text, intmax_t is, intmax_t want);
void test_uint(const char *file, int line, const char *text, uintmax_t is, uintmax_t want);
void test_str(const char *file, int line, const char *text, const char *is, const char *want);
void test_ptr(const char *file, int line, const char *text, const void *is, const void *want);
void test_mem(const char *file, int line, const char *text, const void *is, const void *want,
              size_t len);
void test_near(const char *file, int line, const char *text, double is, double want,
               double off);
void test_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
void test_skip(const char *file, int line, const char *why) __attribute__((noreturn));

#endif
