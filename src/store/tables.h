/* tables.h - the tables of a store, as scripts from one version to the next. */
#ifndef RONDO_TABLES_H
#define RONDO_TABLES_H

#define TABLES_APPLICATION 0x726e646f // "rndo", in the header of the file
#define TABLES_VERSION     1

/* Turns a store of version i into one of version i + 1. */
extern const char *const tables_scripts[TABLES_VERSION];

/* What sessions need beside that. */
extern const char tables_sessions[];

#endif
