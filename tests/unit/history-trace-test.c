/* Where an id leads, and whether a machine wrote its message (RFC 3834). */
#include "tests/unit/observe.h"

#define ID "<m1@x>"

typedef struct {
    ObservedKind kind;
    gboolean automatic;
    const char *parent; /* that it names; NULL: it has the id ID itself */
} Event;

static const struct {
    const char *name;
    Event events[2]; /* in the order in which they are seen */
    guint count;
    gboolean seen, automatic;
} rows[] = {
    {"never seen", {{0}}, 0, FALSE, FALSE},
    {"a person's", {{OBSERVED_RECEIVED, FALSE, NULL}}, 1, TRUE, FALSE},
    {"a machine's", {{OBSERVED_RECEIVED, TRUE, NULL}}, 1, TRUE, TRUE},
    {"a machine's, then one of the same id",
     {{OBSERVED_RECEIVED, TRUE, NULL}, {OBSERVED_RECEIVED, FALSE, NULL}},
     2,
     TRUE,
     TRUE},
    {"one of the same id, then a machine's",
     {{OBSERVED_RECEIVED, FALSE, NULL}, {OBSERVED_RECEIVED, TRUE, NULL}},
     2,
     TRUE,
     TRUE},
    {"the human's own comes back through a list",
     {{OBSERVED_HUMAN, FALSE, NULL}, {OBSERVED_RECEIVED, TRUE, NULL}},
     2,
     TRUE,
     FALSE},
    {"named by the human before it was seen",
     {{OBSERVED_HUMAN, FALSE, ID}, {OBSERVED_RECEIVED, TRUE, NULL}},
     2,
     TRUE,
     TRUE},
    {"named by the human alone", {{OBSERVED_HUMAN, FALSE, ID}}, 1, TRUE, FALSE},
};

static void
observe(Db *db, const Event *event)
{
    g_autoptr(GError) error = NULL;
    const char *const parents[] = {event->parent, NULL};
    const Observation observation = {.kind = event->kind,
                                     .account = ME,
                                     .message_id = event->parent != NULL ? "<other@x>" : ID,
                                     .parents = parents,
                                     .automatic = event->automatic};

    history_observe(db, &observation, 1000, &error);
    g_assert_no_error(error);
}

static void
test_row(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    g_autoptr(GError) error = NULL;
    gint64 conversation = 0;
    gboolean automatic = FALSE;
    Scratch scratch;

    scratch_open(&scratch);
    for (guint n = 0; n < rows[i].count; n++)
        observe(scratch.db, &rows[i].events[n]);
    history_trace(scratch.db, ME, ID, &conversation, &automatic, &error);
    g_assert_no_error(error);
    g_assert_cmpint(conversation != 0, ==, rows[i].seen);
    g_assert_cmpint(automatic, ==, rows[i].automatic);
    history_trace(scratch.db, "other", ID, &conversation, &automatic, &error);
    g_assert_no_error(error);
    g_assert_cmpint(conversation, ==, 0);
    g_assert_false(automatic);
    scratch_close(&scratch);
}

/* Since a time, in the account, and by the human: what others wrote with that id is not. */
static void
test_of_human(void)
{
    static const struct {
        const char *account, *id;
        gint64 since;
        gboolean is;
    } CASES[] = {
        {ME, "<mine@x>", 1000, TRUE},    {ME, "<mine@x>", 1001, FALSE},
        {ME, "<hers@x>", 0, FALSE},      {ME, "<parent@x>", 0, FALSE},
        {"other", "<mine@x>", 0, FALSE}, {ME, "", 0, FALSE},
    };
    Scratch scratch;

    scratch_open(&scratch);
    observe_human(scratch.db, "<mine@x>", "<parent@x>", NORA, 1000);
    observe_received(scratch.db, "<hers@x>", NULL, NORA, NULL, 1000);
    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autoptr(GError) error = NULL;
        gboolean is = !CASES[i].is;

        g_test_message("%s in %s", CASES[i].id, CASES[i].account);
        history_is_of_human(scratch.db, CASES[i].account, CASES[i].id, CASES[i].since, &is,
                            &error);
        g_assert_no_error(error);
        g_assert_cmpint(is, ==, CASES[i].is);
    }
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/history-trace/%s", rows[i].name);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_row);
    }
    g_test_add_func("/history-trace/of-human", test_of_human);
    return g_test_run();
}
