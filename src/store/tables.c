/* tables.c - the tables of a store.

   Events come into `log`, one row for each record of any run, in the order in which they happened: that
   is the quickest thing that SQLite can write.  From time to time the log is gathered: each run's records
   go to the end of its own `chunk` rows, and the log is empty again but for one row that only says where
   it begins.  A run is its chunks and what the log has of it behind them.

   at      numbers of rows of the log: without gaps, and never used again
   first   the number of a record's (chunk's) first event
   sum     64 bits: above, a checksum of the row's other numbers; below, in `log`, that of the run's
           records up to this one, in `chunk`, that of the run's records before it, in `run` (chunk_sum) that of
           all its records in chunks

   A run without an id has been removed or rewritten, but forks still need its records.  A new version is a
   new script behind those that are there, which are never changed. */
#include "store/tables.h"

const char *const tables_scripts[TABLES_VERSION] = {
    "CREATE TABLE log ("
    "  at INTEGER PRIMARY KEY, run INTEGER NOT NULL, first INTEGER NOT NULL, sum INTEGER NOT NULL,"
    "  record BLOB NOT NULL);"
    "INSERT INTO log VALUES (1, 0, 0, 6186903950415888384, x'');" // what chunk_begin_log() writes

    "CREATE TABLE chunk ("
    "  run INTEGER NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL, sum INTEGER NOT NULL,"
    "  bytes BLOB NOT NULL, PRIMARY KEY (run, first));"

    /* The summary of a run, how far its chunks go, and who drives it. */
    "CREATE TABLE run ("
    "  num INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, name TEXT NOT NULL, session TEXT NOT NULL,"
    "  status INTEGER NOT NULL, waiting INTEGER NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,"
    "  hash INTEGER NOT NULL, last_seq INTEGER NOT NULL, about TEXT, definition INTEGER,"
    "  parent INTEGER NOT NULL, fork_seq INTEGER NOT NULL,"
    "  chunk_seq INTEGER NOT NULL, chunk_sum INTEGER NOT NULL,"
    "  driver INTEGER NOT NULL, fence INTEGER NOT NULL, since_ns INTEGER NOT NULL);"
    "CREATE INDEX run_start ON run (start_ns);"
    "CREATE INDEX run_parent ON run (parent) WHERE parent <> 0;"

    /* Processes that drive runs.  place: where its pid means something (boot, namespace of pids). */
    "CREATE TABLE driver ("
    "  num INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, place TEXT NOT NULL, pid INTEGER NOT NULL,"
    "  started INTEGER NOT NULL, expires_ns INTEGER NOT NULL);"

    "CREATE TABLE definition ("
    "  num INTEGER PRIMARY KEY, hash INTEGER NOT NULL, text BLOB NOT NULL);"
    "CREATE INDEX definition_hash ON definition (hash);"

    /* Pieces of records: see kept.h. */
    "CREATE TABLE blob (num INTEGER PRIMARY KEY, hash INTEGER NOT NULL, bytes BLOB NOT NULL);"
    "CREATE INDEX blob_hash ON blob (hash);"

    "CREATE TABLE inbox (num INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, what TEXT NOT NULL);"
    "CREATE INDEX inbox_run ON inbox (run);",
};

/* Sessions come when they are first written to: every process that opens a store reads all of its tables' definitions,
   and most stores never have one. */
const char tables_sessions[] =
    "CREATE TABLE session_state ("
    "  session TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, changed_ns INTEGER NOT NULL,"
    "  PRIMARY KEY (session, key)) WITHOUT ROWID;"
    /* An entry is named by the event that brought it.  text: all that it says, or, when value has it as JSON,
       the texts in it.  The index over its words has no copy of them. */
    "CREATE TABLE session_memory ("
    "  num INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, scope TEXT NOT NULL, run TEXT NOT NULL,"
    "  seq INTEGER NOT NULL, time_ns INTEGER NOT NULL, text TEXT NOT NULL, value TEXT);"
    "CREATE INDEX session_memory_scope ON session_memory (session, scope, num);"
    "CREATE UNIQUE INDEX session_memory_event ON session_memory (session, run, seq);"
    "CREATE VIRTUAL TABLE memory_text USING fts5 (text, content = 'session_memory', content_rowid = 'num',"
    "  tokenize = 'unicode61 remove_diacritics 2');";
