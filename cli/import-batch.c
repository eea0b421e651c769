#include <sysexits.h>

#include "cli/import.h"

/* Enough to share the writes of one commit; few enough that mail, which waits for it, waits a
 * tenth of a second. Below WIRE_LIMIT_MILTER with the largest message on top. */
#define MESSAGES_MAX 2000
#define BYTES_MAX    (4 * 1024 * 1024)

/* The first batch is small, and each twice the one before, so that the relay has something to
 * do from the beginning. */
#define MESSAGES_FIRST 125

/* What the human sent takes the relay longer than exeat, what he received the other way round:
 * so much may wait for the relay, and so often exeat looks whether it is ready. */
#define AHEAD_BYTES (2 * 1024 * 1024)
#define LOOK_EVERY  50

void
import_batch_init(ImportBatch *batch, const Session *session, const char *account)
{
    *batch =
        (ImportBatch){.session = session, .account = account, .count_max = MESSAGES_FIRST};
    batch->lessons = g_string_new(NULL);
    g_queue_init(&batch->requests);
}

static void
drop_requests(ImportBatch *batch)
{
    g_queue_clear_full(&batch->requests, (GDestroyNotify)g_variant_unref);
    batch->requests_size = 0;
}

void
import_batch_clear(ImportBatch *batch)
{
    wire_free(batch->wire);
    drop_requests(batch);
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

    if (!batch->asked)
        return EX_OK;
    g_autoptr(GVariant) answer = request_answer(batch->wire, &status);
    batch->asked = FALSE;
    if (answer != NULL) {
        batch->correspondents += (guint64)answer_number(answer, "correspondents");
        batch->conversations += (guint64)answer_number(answer, "conversations");
    }
    return status;
}

/* Goes on with what the relay is ready for, and waits for it while more than so many bytes are
 * left to be sent. -1: until all of it is kept. After a failure nothing more is sent: what was
 * kept has no holes, and the reason is told once. */
static int
pump(ImportBatch *batch, gssize most)
{
    int status = EX_OK;

    while (status == EX_OK && (batch->asked || !g_queue_is_empty(&batch->requests))) {
        if (batch->asked && (gssize)batch->requests_size <= most && wire_idle(batch->wire))
            return EX_OK;
        status = hear(batch);
        g_autoptr(GVariant) next = status == EX_OK ? g_queue_pop_head(&batch->requests) : NULL;
        if (next == NULL)
            continue;
        batch->requests_size -= g_variant_get_size(next);
        batch->wire = request_send(batch->session, batch->wire, "import", next, &status);
        batch->asked = batch->wire != NULL;
    }
    if (status != EX_OK)
        drop_requests(batch);
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
    GVariant *request = g_variant_ref_sink(g_variant_dict_end(&arguments));
    g_queue_push_tail(&batch->requests, request);
    batch->requests_size += g_variant_get_size(request);
    batch->begins = FALSE;
    g_string_truncate(batch->lessons, 0);
    batch->count = 0;
    batch->count_max = MIN(batch->count_max * 2, MESSAGES_MAX);
    return pump(batch, AHEAD_BYTES);
}

int
import_batch_add(ImportBatch *batch, const Lesson *lesson)
{
    lesson_add(batch->lessons, lesson);
    batch->count++;
    if (batch->count >= batch->count_max || batch->lessons->len >= BYTES_MAX)
        return ask(batch, NULL);
    return batch->count % LOOK_EVERY == 0 ? pump(batch, AHEAD_BYTES) : EX_OK;
}

int
import_batch_pause(ImportBatch *batch)
{
    int status = ask(batch, NULL);

    return status == EX_OK ? import_batch_wait(batch) : status;
}

int
import_batch_end(ImportBatch *batch, GVariant *summary)
{
    return ask(batch, summary);
}

int
import_batch_wait(ImportBatch *batch)
{
    return pump(batch, -1);
}
