/* stores.h - stores in a folder of their own, and records that are easy to tell apart.

   A *record* here is made of its first event's number: it holds `count` events and `len` bytes that nobody
   could mistake for another's.  put_record() appends it, check_records() reads a journal from end to end and makes
   sure that all of them are there. */
#ifndef STORES_H
#define STORES_H

#include "test.h"

#include "base/buf.h"
#include "store/store.h"

/* A folder for this test alone, gone when its process ends; and a store file in it. */
const char *test_folder(void);
const char *test_store_path(void);

/* Opens it (it is made with STORE_CREATE); the test fails when that does. */
struct store *test_store(unsigned flags);

/* A new run with this id, in the batch. */
struct journal *test_run(struct store *store, const char *id);

/* A record of `count` events, about len bytes long. */
void make_record(struct buf *ret, uint64_t first, uint32_t count, size_t len);
void put_record(struct journal *journal, uint64_t first, uint32_t count, size_t len);
void put_records(struct journal *journal, uint64_t first, uint64_t last, size_t len); // one event each

/* What a journal holds: "1-1 2-4 ...", each record checked. */
uint64_t check_records(struct journal *journal, uint64_t from, size_t len); // the event behind the last one

/* Takes and looks that have to succeed. */
struct journal *take_run(struct store *store, const char *id);
struct journal *look_run(struct store *store, const char *id);
void close_journal(struct journal *journal);
void commit(struct store *store);
void tidy(struct store *store);

/* An append that may fail, of one event in 30 bytes. */
int try_append(struct journal *journal, uint64_t first, rondo_error *err);

/* SQL on the file, past the store: one statement, nothing may fail. */
void test_sql(const char *sql);
int64_t test_sql_number(const char *sql);

#endif
