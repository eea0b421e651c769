#include "store/history.h"

#include "store/history-sql.h"

static void
letter_free(gpointer data)
{
    HistoryLetter *letter = data;

    g_free(letter->message);
    g_free(letter);
}

static HistoryStory *
story_new(void)
{
    HistoryStory *story = g_new0(HistoryStory, 1);

    story->letters = g_ptr_array_new_with_free_func(letter_free);
    return story;
}

void
history_story_free(HistoryStory *story)
{
    if (story == NULL)
        return;
    g_free(story->voucher);
    g_free(story->first.message);
    g_free(story->first.sender);
    g_free(story->last.message);
    g_free(story->last.sender);
    g_ptr_array_unref(story->letters);
    g_free(story);
}

static gboolean
tell_voucher(Db *db, const char *account, const char *address, HistoryStory *story,
             GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &correspondent_tell, error, "ss", account, address);
    gboolean found = FALSE;

    if (!rows_one(rows, &found, error))
        return FALSE;
    story->voucher = g_strdup(found ? rows_text(rows, 0) : "");
    return TRUE;
}

static void
read_sighting(Rows *rows, int column, HistorySighting *sighting)
{
    sighting->message = g_strdup(rows_text(rows, column));
    sighting->sender = g_strdup(rows_text(rows, column + 1));
    sighting->when = rows_integer(rows, column + 2);
}

static gboolean
tell_sightings(Db *db, const char *account, const char *address, HistoryStory *story,
               GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &mention_tell, error, "ss", account, address);
    gboolean found = FALSE;

    if (!rows_one(rows, &found, error))
        return FALSE;
    if (found) {
        read_sighting(rows, 0, &story->first);
        read_sighting(rows, 3, &story->last);
    }
    return TRUE;
}

static gboolean
tell_letters(Db *db, const char *account, const char *address, HistoryStory *story,
             GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &participant_letters, error, "ssi", account, address,
                                    (gint64)HISTORY_LETTERS);

    while (rows_next(rows)) {
        HistoryLetter *letter = g_new0(HistoryLetter, 1);

        letter->conversation = rows_integer(rows, 0);
        letter->message = g_strdup(rows_text(rows, 1));
        letter->when = rows_integer(rows, 2);
        g_ptr_array_add(story->letters, letter);
    }
    return rows_end(rows, error);
}

gboolean
history_tell(Db *db, const char *account, const char *address, HistoryStory **story_out,
             GError **error)
{
    g_autoptr(HistoryStory) story = story_new();

    if (!history_look_up(db, account, address, 0, &story->address, error) ||
        !tell_voucher(db, account, address, story, error) ||
        !tell_sightings(db, account, address, story, error) ||
        !tell_letters(db, account, address, story, error))
        return FALSE;
    *story_out = g_steal_pointer(&story);
    return TRUE;
}
