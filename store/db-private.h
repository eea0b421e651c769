/* db-private.h - what the files of db share: beside them, nobody sees sqlite3 */
#pragma once

#include <sqlite3.h>
#include <sys/types.h>

#include "store/db.h"

/* The database, its log, and the index of that, as SQLite names them. */
enum { DB_FILES = 3 };

struct _Db {
    sqlite3 *handle;
    Seal *seal;
    GHashTable *idle; /* Sql * to its prepared statement, while nobody uses it */
    gboolean begun;   /* we opened a transaction and did not end it */
    gboolean doomed;  /* it holds what should be undone, so it must not be committed */
    gboolean reader;
    gboolean opening; /* its files are not noted yet */
    guint rewritten;
    char *paths[DB_FILES];
    struct {
        dev_t device;
        ino_t number;
    } seen[DB_FILES]; /* the files that are open */
};

/* Sets an error from what SQLite said last; returns FALSE. */
gboolean db_fail(Db *db, const char *what, GError **error);

/* Whether the files are still the ones that are open. What was removed is written anew; a
 * reader goes on with that. */
gboolean db_follow(Db *db, GError **error);
