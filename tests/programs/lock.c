/* lock.c - keeps an SQLite file locked for writing until its standard input ends: lock FILE. */
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    sqlite3 *db = NULL;
    char byte;
    if (argc != 2 || sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE, NULL) ||
        sqlite3_busy_timeout(db, 60000) || sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL)) {
        fprintf(stderr, "lock: %s\n", db ? sqlite3_errmsg(db) : "lock FILE");
        return 1;
    }
    puts("locked");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return sqlite3_close(db) != SQLITE_OK; // and its transaction is undone
}
