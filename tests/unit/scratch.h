/* scratch.h - a database of its own for a test, in a folder that goes away with it */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>

#include "store/db.h"

typedef struct {
    char *folder;
    char *path;
    Db *db;
} Scratch;

/* Opens the database, with a key that every test has. */
static inline void
scratch_reopen(Scratch *scratch)
{
    static const guint8 key[SEAL_KEY_BYTES] = "the key of every test";
    g_autoptr(GError) error = NULL;

    db_close(scratch->db);
    scratch->db = db_open(scratch->path, &error);
    g_assert_no_error(error);
    db_set_seal(scratch->db, seal_new(key));
}

static inline void
scratch_open(Scratch *scratch)
{
    g_autoptr(GError) error = NULL;

    scratch->folder = g_dir_make_tmp("exeat-test-XXXXXX", &error);
    g_assert_no_error(error);
    scratch->path = g_build_filename(scratch->folder, "db", NULL);
    scratch->db = NULL;
    scratch_reopen(scratch);
}

/* For a test that gave the database away: scratch->db is NULL then. */
static inline void
scratch_close(Scratch *scratch)
{
    g_autoptr(GDir) folder = NULL;
    const char *name = NULL;

    db_close(scratch->db);
    folder = g_dir_open(scratch->folder, 0, NULL);
    g_assert_nonnull(folder);
    while ((name = g_dir_read_name(folder)) != NULL) {
        g_autofree char *path = g_build_filename(scratch->folder, name, NULL);

        g_assert_cmpint(g_unlink(path), ==, 0);
    }
    g_assert_cmpint(g_rmdir(scratch->folder), ==, 0);
    g_free(scratch->path);
    g_free(scratch->folder);
}

/* Of the table "list", which tests of the database itself fill. */
static inline gint64
scratch_count_rows(Db *db)
{
    static const Sql count_all = {"count_all", "SELECT COUNT(*) FROM list"};
    g_autoptr(GError) error = NULL;
    gint64 count = -1;

    g_assert_true(db_integer(db, &count_all, 0, &count, &error, ""));
    g_assert_no_error(error);
    return count;
}
