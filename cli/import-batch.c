#include <sysexits.h>

#include "cli/import.h"

/* Enough to share the writes of one commit; few enough that mail, which waits for it, waits a
 * tenth of a second. Below WIRE_LIMIT_MILTER with the largest message on top. */
#define MESSAGES_MAX 2000
#define BYTES_MAX    (4 * 1024 * 1024)

/* The first batch is small, and each twice the one before, so that the relay has something to
 * do from the beginning. */
#define MESSAGES_FIRST 125

void
import_batch_init(ImportBatch *batch, const Session *session, const char *account)
{
    *batch =
        (ImportBatch){.session = session, .account = account, .messages_max = MESSAGES_FIRST};
    batch->lessons = g_string_new(NULL);
}

void
import_batch_clear(ImportBatch *batch)
{
    wire_free(batch->asked);
    g_string_free(batch->lessons, TRUE);
    g_free(batch->path);
}

void
import_batch_begin(ImportBatch *batch, const char *path, gboolean begins)
{
    g_free(batch->path);
    batch->path = g_utf8_make_valid(path, -1);
    batch->begins = begins;
}

/* Waits for the answer to the batch before. */
static int
hear(ImportBatch *batch)
{
    int status = EX_OK;

    if (batch->asked == NULL)
        return EX_OK;
    g_autoptr(GVariant) answer = request_answer(batch->asked, &status);
    batch->asked = NULL;
    if (answer != NULL) {
        batch->correspondents += (guint64)answer_number(answer, "correspondents");
        batch->conversations += (guint64)answer_number(answer, "conversations");
    }
    return status;
}

static int
ask(ImportBatch *batch, GVariant *summary)
{
    GVariantDict arguments;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "account", "s", batch->account);
    g_variant_dict_insert(&arguments, "path", "s", batch->path);
    g_variant_dict_insert(&arguments, "begins", "b", batch->begins);
    g_variant_dict_insert(&arguments, "lessons", "s", batch->lessons->str);
    if (summary != NULL)
        g_variant_dict_insert_value(&arguments, "summary", summary);
    GVariant *asked = g_variant_ref_sink(g_variant_dict_end(&arguments));
    int status = hear(batch);
    if (status == EX_OK)
        batch->asked = request_send(batch->session, "import", asked, &status);
    g_variant_unref(asked);
    batch->begins = FALSE;
    g_string_truncate(batch->lessons, 0);
    batch->count = 0;
    batch->messages_max = MIN(batch->messages_max * 2, MESSAGES_MAX);
    return status;
}

int
import_batch_add(ImportBatch *batch, const Lesson *lesson)
{
    lesson_add(batch->lessons, lesson);
    batch->count++;
    return batch->count < batch->messages_max && batch->lessons->len < BYTES_MAX
               ? EX_OK
               : ask(batch, NULL);
}

int
import_batch_pause(ImportBatch *batch)
{
    int status = ask(batch, NULL);

    return status == EX_OK ? hear(batch) : status;
}

int
import_batch_end(ImportBatch *batch, GVariant *summary)
{
    return ask(batch, summary);
}

int
import_batch_wait(ImportBatch *batch)
{
    return hear(batch);
}
