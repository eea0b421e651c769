/* Bare SQLite group commit, the yardstick for keeping:
 * group-commit FOLDER SECONDS BYTES MESSAGES-OF-A-COMMIT
 *
 * Rows of a key and so many bytes, as many to a commit as there would be connections waiting,
 * with the settings of the relay's database and nothing else. Prints rows and seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include <sqlite3.h>

enum { KEY_BYTES = 16, MOST = 64 * 1024 * 1024 };

static double
clock_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
must(sqlite3 *db, int result, int wanted)
{
    if (result == wanted)
        return;
    fprintf(stderr, "group-commit: %s\n", sqlite3_errmsg(db));
    exit(EXIT_FAILURE);
}

static void
run(sqlite3 *db, const char *sql)
{
    must(db, sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void
add(sqlite3 *db, sqlite3_stmt *statement, const char *bytes, int length)
{
    unsigned char key[KEY_BYTES];

    if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key)
        exit(EXIT_FAILURE);
    sqlite3_bind_blob(statement, 1, key, sizeof key, SQLITE_STATIC);
    sqlite3_bind_blob(statement, 2, bytes, length, SQLITE_STATIC);
    must(db, sqlite3_step(statement), SQLITE_DONE);
    sqlite3_reset(statement);
}

int
main(int argc, char **argv)
{
    char path[4096];
    sqlite3 *db;
    sqlite3_stmt *statement;
    long rows = 0;

    if (argc != 5) {
        fprintf(stderr, "usage: group-commit FOLDER SECONDS BYTES MESSAGES-OF-A-COMMIT\n");
        return EXIT_FAILURE;
    }
    double seconds = atof(argv[2]);
    int length = atoi(argv[3]), batch = atoi(argv[4]);
    char *bytes = length > 0 && length < MOST ? malloc((size_t)length) : NULL;

    if (bytes == NULL)
        return EXIT_FAILURE;
    for (int i = 0; i < length; i++)
        bytes[i] = (char)(' ' + i % 95);
    snprintf(path, sizeof path, "%s/bare.db", argv[1]);
    must(NULL, sqlite3_open(path, &db), SQLITE_OK);
    run(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -8192;"
            "PRAGMA wal_autocheckpoint = 1000;"
            "CREATE TABLE kept (key BLOB PRIMARY KEY, bytes BLOB NOT NULL)");
    must(db, sqlite3_prepare_v2(db, "INSERT INTO kept VALUES (?1, ?2)", -1, &statement, NULL),
         SQLITE_OK);

    double begun = clock_seconds(), now = begun;
    for (; now - begun < seconds; now = clock_seconds()) {
        run(db, "BEGIN IMMEDIATE");
        for (int i = 0; i < batch; i++)
            add(db, statement, bytes, length);
        run(db, "COMMIT");
        rows += batch;
    }
    printf("messages=%ld seconds=%.4f\n", rows, now - begun);
    return EXIT_SUCCESS;
}
