/* History cases: events as the relay observes them, then what the history says of one address
 * and of the ids a new message names. Names are those of cases/README and of the attack
 * matrix. */
#include "store/history.h"

#include "tests/unit/scratch.h"

#define ME     "owner"
#define NORA   "nora@example.org"
#define LEE    "lee@example.net"
#define EVIL   "mallory@example.net"
#define EVENTS 8
#define LIST   5 /* the last stays NULL */

typedef struct {
    ObservedKind kind;
    const char *id;
    const char *parents[LIST];
    const char *recipients[LIST];
    const char *correspondents[LIST];
    const char *mentioned[LIST];
    const char *lists[LIST];
    const char *account; /* NULL: ME */
} Event;

#define RECEIVED(ID, ...)                                                                     \
    {                                                                                         \
        OBSERVED_RECEIVED, ID, __VA_ARGS__                                                    \
    }
#define HUMAN(ID, ...)                                                                        \
    {                                                                                         \
        OBSERVED_HUMAN, ID, __VA_ARGS__                                                       \
    }
#define AGENT(ID, ...)                                                                        \
    {                                                                                         \
        OBSERVED_AGENT, ID, __VA_ARGS__                                                       \
    }

/* She wrote, the human answered, she wrote again. */
#define NORAS_THREAD                                                                          \
    RECEIVED("<n1@x>", .correspondents = {NORA}),                                             \
        HUMAN("<o1@x>", .parents = {"<n1@x>"}, .recipients = {NORA}),                         \
        RECEIVED("<n2@x>", .parents = {"<o1@x>", "<n1@x>"}, .correspondents = {NORA})

typedef struct {
    const char *name;
    Event events[EVENTS];
    const char *parents[LIST]; /* of the new message */
    const char *address;       /* its recipient */
    gboolean in_thread;
    gboolean takes_part;
    gboolean known;
    gboolean mentioned;
    gboolean list;
} Case;

/* clang-format off */
static const Case cases[] = {
    {"nothing seen", {{0}}, {"<n2@x>"}, .address = NORA},
    {"T1 reply in thread", {NORAS_THREAD}, {"<n2@x>"}, .address = NORA,
     .in_thread = TRUE, .takes_part = TRUE, .known = TRUE},
    {"T2 T3 no ids", {NORAS_THREAD}, {NULL}, .address = NORA, .known = TRUE},
    {"T4 any id of the thread", {NORAS_THREAD}, {"<n1@x>", "<o1@x>"}, .address = NORA,
     .in_thread = TRUE, .takes_part = TRUE, .known = TRUE},
    {"T5 XB1 genuine parent, newcomer", {NORAS_THREAD}, {"<n2@x>"},
     .address = "archive@example.net",
     .in_thread = TRUE},
    {"T6 after two sends of the agent",
     {NORAS_THREAD, AGENT("<a1@x>", .parents = {"<n2@x>"}, .recipients = {NORA}),
      RECEIVED("<n3@x>", .parents = {"<a1@x>"}, .correspondents = {NORA})},
     {"<n3@x>"}, .address = NORA, .in_thread = TRUE, .takes_part = TRUE, .known = TRUE},
    {"an answer seen before what it answers",
     {HUMAN("<o2@x>", .parents = {"<o1@x>", "<n1@x>"}, .recipients = {NORA}),
      RECEIVED("<n1@x>", .parents = {"<o1@x>"}), HUMAN("<o1@x>", .recipients = {NORA})},
     {"<n1@x>", "<o1@x>", "<o2@x>"}, .address = NORA,
     .in_thread = TRUE, .takes_part = TRUE, .known = TRUE},
    {"XB4 an id that only an outsider names leads nowhere",
     {RECEIVED("<e1@x>", .parents = {"<o1@x>"}), HUMAN("<o1@x>", .recipients = {NORA})},
     {"<e1@x>"}, .address = NORA, .known = TRUE},
    {"T7 XB6 two conversations",
     {NORAS_THREAD, RECEIVED("<x1@x>", .correspondents = {LEE}),
      HUMAN("<x2@x>", .parents = {"<x1@x>"}, .recipients = {LEE})},
     {"<n2@x>", "<x2@x>"}, .address = NORA, .known = TRUE},
    {"T7 two conversations, one of them the human's",
     {NORAS_THREAD, RECEIVED("<x1@x>", .correspondents = {LEE})},
     {"<n2@x>", "<x1@x>"}, .address = NORA, .known = TRUE},
    {"T7 three ids of two conversations",
     {NORAS_THREAD, RECEIVED("<x1@x>", .correspondents = {LEE})},
     {"<x1@x>", "<n2@x>", "<n1@x>"}, .address = NORA, .known = TRUE},
    {"T7 a message that names two conversations starts its own",
     {NORAS_THREAD, RECEIVED("<x1@x>", .correspondents = {LEE}),
      RECEIVED("<x2@x>", .parents = {"<x1@x>", "<n1@x>"}, .correspondents = {LEE})},
     {"<x2@x>"}, .address = NORA, .known = TRUE},
    {"unknown ids do not count", {NORAS_THREAD}, {"<never@x>", "<n2@x>", "", "<no@x>"},
     .address = NORA,
     .in_thread = TRUE, .takes_part = TRUE, .known = TRUE},
    {"T8 first contact", {RECEIVED("<c1@x>", .correspondents = {NORA})}, {"<c1@x>"},
     .address = NORA},
    {"T9 id without brackets", {NORAS_THREAD}, {"n2@x"}, .address = NORA, .known = TRUE},
    {"A7 plus tag", {NORAS_THREAD}, {"<n2@x>"},
     .address = "nora+invoices@example.org", .in_thread = TRUE},
    {"A11 mailing list",
     {HUMAN("<l1@x>", .recipients = {"dev@lists.example.org"}),
      RECEIVED("<l2@x>", .parents = {"<l1@x>"}, .lists = {"dev@lists.example.org"})},
     {"<l2@x>"}, .address = "dev@lists.example.org",
     .in_thread = TRUE, .takes_part = TRUE, .known = TRUE, .list = TRUE},
    {"A12 XB28 internal address from a text",
     {NORAS_THREAD, RECEIVED("<n3@x>", .correspondents = {NORA},
                             .mentioned = {"payroll@example.com"})},
     {NULL}, .address = "payroll@example.com", .mentioned = TRUE},
    {"A17 known, then named in a text",
     {HUMAN("<k1@x>", .recipients = {NORA}),
      RECEIVED("<m1@x>", .correspondents = {EVIL}, .mentioned = {NORA})},
     {NULL}, .address = NORA, .known = TRUE, .mentioned = TRUE},
    {"A17 named before the human wrote to another",
     {RECEIVED("<m1@x>", .correspondents = {EVIL}, .mentioned = {NORA}),
      HUMAN("<k1@x>", .recipients = {LEE})},
     {NULL}, .address = NORA, .mentioned = TRUE},
    {"A18 her own signature",
     {HUMAN("<k1@x>", .recipients = {NORA}),
      RECEIVED("<n2@x>", .parents = {"<k1@x>"}, .correspondents = {ME, NORA},
               .mentioned = {NORA})},
     {"<n2@x>"}, .address = NORA, .in_thread = TRUE, .takes_part = TRUE, .known = TRUE},
    {"A18 her signature excuses nobody else",
     {RECEIVED("<n2@x>", .correspondents = {NORA}, .mentioned = {NORA, LEE})},
     {NULL}, .address = LEE, .mentioned = TRUE},
    {"A19 written to again",
     {HUMAN("<k1@x>", .recipients = {NORA}),
      RECEIVED("<m1@x>", .correspondents = {EVIL}, .mentioned = {NORA}),
      HUMAN("<k2@x>", .recipients = {NORA})},
     {"<k2@x>"}, .address = NORA, .in_thread = TRUE, .takes_part = TRUE, .known = TRUE},
    {"A19 the same message twice is not written again",
     {HUMAN("<k1@x>", .recipients = {NORA}),
      RECEIVED("<m1@x>", .correspondents = {EVIL}, .mentioned = {NORA}),
      HUMAN("<k1@x>", .recipients = {NORA})},
     {"<k1@x>"},
     .address = NORA, .in_thread = TRUE, .takes_part = TRUE, .known = TRUE, .mentioned = TRUE},
    {"A19 the agent's writing does not count",
     {HUMAN("<k1@x>", .recipients = {NORA}),
      RECEIVED("<m1@x>", .correspondents = {EVIL}, .mentioned = {NORA}),
      AGENT("<a1@x>", .recipients = {NORA})},
     {NULL}, .address = NORA, .known = TRUE, .mentioned = TRUE},
    {"a text of an id seen before still names",
     {NORAS_THREAD, RECEIVED("<n1@x>", .correspondents = {EVIL}, .mentioned = {LEE})},
     {NULL}, .address = LEE, .mentioned = TRUE},
    {"XB2 known from elsewhere",
     {NORAS_THREAD, HUMAN("<x2@x>", .recipients = {LEE})},
     {"<n2@x>"}, .address = LEE, .in_thread = TRUE, .known = TRUE},
    {"XB3 outsider names the human's id",
     {NORAS_THREAD, RECEIVED("<m1@x>", .parents = {"<o1@x>"}, .recipients = {EVIL},
                             .correspondents = {EVIL})},
     {"<m1@x>"}, .address = EVIL, .in_thread = TRUE},
    {"XB4 received with the human's id",
     {NORAS_THREAD, RECEIVED("<o1@x>", .correspondents = {EVIL})},
     {"<o1@x>"}, .address = EVIL, .in_thread = TRUE},
    {"XB4 the human's id leads where it led",
     {NORAS_THREAD, RECEIVED("<x1@x>", .correspondents = {EVIL}),
      RECEIVED("<o1@x>", .parents = {"<x1@x>"}, .correspondents = {EVIL})},
     {"<o1@x>", "<n2@x>"},
     .address = NORA, .in_thread = TRUE, .takes_part = TRUE, .known = TRUE},
    {"XB4 the agent's with the human's id",
     {NORAS_THREAD, RECEIVED("<x1@x>", .correspondents = {EVIL}),
      AGENT("<o1@x>", .parents = {"<x1@x>"}, .recipients = {EVIL})},
     {"<o1@x>", "<n2@x>"},
     .address = NORA, .in_thread = TRUE, .takes_part = TRUE, .known = TRUE},
    {"XB4 the human's own id, used before by an outsider",
     {RECEIVED("<x1@x>", .correspondents = {EVIL}),
      RECEIVED("<k1@x>", .parents = {"<x1@x>"}, .correspondents = {EVIL}),
      HUMAN("<k1@x>", .recipients = {NORA})},
     {"<k1@x>"}, .address = NORA, .in_thread = TRUE, .takes_part = TRUE, .known = TRUE},
    {"XB4 and the outsider's conversation stays a stranger's",
     {RECEIVED("<x1@x>", .correspondents = {EVIL}),
      RECEIVED("<k1@x>", .parents = {"<x1@x>"}, .correspondents = {EVIL}),
      HUMAN("<k1@x>", .recipients = {NORA})},
     {"<x1@x>"}, .address = NORA, .known = TRUE},
    {"XB4 received twice: the first stays",
     {NORAS_THREAD, RECEIVED("<x1@x>", .correspondents = {EVIL}),
      RECEIVED("<x1@x>", .parents = {"<o1@x>"}, .correspondents = {EVIL})},
     {"<x1@x>"}, .address = EVIL},
    {"XB16 an older message of the same conversation",
     {NORAS_THREAD, AGENT("<a1@x>", .parents = {"<n2@x>"}, .recipients = {NORA})},
     {"<n1@x>"}, .address = NORA, .in_thread = TRUE, .takes_part = TRUE, .known = TRUE},
    {"XB25 the agent's recipient stays unknown",
     {AGENT("<a1@x>", .recipients = {EVIL}),
      RECEIVED("<m1@x>", .parents = {"<a1@x>"}, .correspondents = {EVIL})},
     {"<m1@x>"}, .address = EVIL},
    {"XB25 and takes no part in the human's conversation",
     {NORAS_THREAD, AGENT("<a1@x>", .parents = {"<n2@x>"}, .recipients = {NORA, EVIL})},
     {"<a1@x>"}, .address = EVIL, .in_thread = TRUE},
    {"XB30 another account's address",
     {HUMAN("<k1@x>", .recipients = {NORA}, .account = "second")}, {NULL}, .address = NORA},
    {"XB30 another account's conversation",
     {HUMAN("<k1@x>", .recipients = {NORA}, .account = "second"),
      HUMAN("<k2@x>", .recipients = {NORA})},
     {"<k1@x>"}, .address = NORA, .known = TRUE},
    {"XB30 the same id in both accounts",
     {HUMAN("<k1@x>", .recipients = {NORA}, .account = "second"),
      RECEIVED("<k1@x>", .correspondents = {EVIL})},
     {"<k1@x>"}, .address = NORA},
    {"XB30 another account's texts and lists",
     {RECEIVED("<m1@x>", .correspondents = {EVIL}, .mentioned = {NORA}, .lists = {NORA},
               .account = "second")},
     {NULL}, .address = NORA},
    {"the human's message without an id",
     {HUMAN(NULL, .parents = {NULL}, .recipients = {NORA})}, {""},
     .address = NORA, .known = TRUE},
    {"the human's answer without an id",
     {RECEIVED("<n1@x>", .correspondents = {NORA}),
      HUMAN("", .parents = {"<n1@x>"}, .recipients = {NORA})},
     {"<n1@x>"}, .address = NORA, .in_thread = TRUE, .takes_part = TRUE, .known = TRUE},
    {"one message in two envelopes",
     {HUMAN("<k1@x>", .recipients = {NORA}), HUMAN("<k1@x>", .recipients = {LEE})},
     {"<k1@x>"}, .address = LEE, .in_thread = TRUE, .takes_part = TRUE, .known = TRUE},
    {"the human is observed to receive no lists and no texts",
     {HUMAN("<k1@x>", .recipients = {NORA}, .mentioned = {LEE}, .lists = {LEE})},
     {NULL}, .address = LEE},
};
/* clang-format on */

static void
observe(Db *db, const Event *event, gint64 now)
{
    g_autoptr(GError) error = NULL;
    Observation observation = {.kind = event->kind,
                               .account = event->account != NULL ? event->account : ME,
                               .message_id = event->id,
                               .parents = event->parents,
                               .recipients = event->recipients,
                               .correspondents = event->correspondents,
                               .mentioned = event->mentioned,
                               .lists = event->lists};

    history_observe(db, &observation, now, &error);
    g_assert_no_error(error);
}

static HistoryAddress
look_up(Db *db, const char *address)
{
    g_autoptr(GError) error = NULL;
    HistoryAddress found = {0};

    history_look_up(db, ME, address, 0, &found, &error);
    g_assert_no_error(error);
    return found;
}

static gint64
conversation_of(Db *db, const char *const *parents)
{
    g_autoptr(GError) error = NULL;
    gint64 conversation = -1;
    gboolean mine = FALSE;

    history_conversation(db, ME, parents, &conversation, &mine, NULL, &error);
    g_assert_no_error(error);
    return mine ? conversation : 0;
}

static gboolean
takes_part(Db *db, gint64 conversation, const char *address)
{
    g_autoptr(GError) error = NULL;
    HistoryAddress found = {0};

    history_look_up(db, ME, address, conversation, &found, &error);
    g_assert_no_error(error);
    return found.takes_part;
}

/* All events happen within one second: their order is not the clock's to tell. */
static void
test_case(gconstpointer data)
{
    const Case *row = data;
    HistoryAddress found = {0};
    gint64 conversation = 0;
    Scratch scratch;

    scratch_open(&scratch);
    for (guint i = 0; i < EVENTS; i++) {
        if (row->events[i].id != NULL || row->events[i].recipients[0] != NULL)
            observe(scratch.db, &row->events[i], 1000);
    }
    scratch_reopen(&scratch);
    conversation = conversation_of(scratch.db, row->parents);
    g_assert_cmpint(conversation != 0, ==, row->in_thread);
    g_assert_cmpint(takes_part(scratch.db, conversation, row->address), ==, row->takes_part);
    found = look_up(scratch.db, row->address);
    g_assert_cmpint(found.known, ==, row->known);
    g_assert_cmpint(found.mentioned, ==, row->mentioned);
    g_assert_cmpint(found.list, ==, row->list);
    scratch_close(&scratch);
}

/* First, last and times, whatever the order in which old mail is read; the same again changes
 * nothing (XE17). */
static void
test_times(void)
{
    static const Event events[] = {HUMAN("<k2@x>", .recipients = {NORA}),
                                   HUMAN("<k1@x>", .recipients = {NORA}),
                                   HUMAN("<k3@x>", .recipients = {NORA})};
    static const gint64 when[] = {200, 100, 300};
    HistoryAddress found = {0};
    Scratch scratch;

    scratch_open(&scratch);
    for (guint round = 0; round < 2; round++) {
        for (gsize i = 0; i < G_N_ELEMENTS(events); i++)
            observe(scratch.db, &events[i], when[i] + 1000 * round);
        found = look_up(scratch.db, NORA);
        g_assert_cmpint(found.times, ==, 3);
        g_assert_cmpint(found.first, ==, 100);
        g_assert_cmpint(found.last, ==, 300);
    }
    scratch_close(&scratch);
}

/* A conversation in which the human never wrote is one all the same, and his once he does
 * (B12).
 */
static void
test_not_mine(void)
{
    static const Event events[] = {
        RECEIVED("<d1@x>", .correspondents = {NORA}), AGENT("<a1@x>", .parents = {"<d1@x>"}),
        HUMAN("<h1@x>", .parents = {"<a1@x>"}, .recipients = {NORA})};
    const char *const ids[] = {"<a1@x>", NULL};
    gint64 before = 0, conversation = 0;
    gboolean mine = TRUE;
    Scratch scratch;

    scratch_open(&scratch);
    observe(scratch.db, &events[0], 1000);
    observe(scratch.db, &events[1], 1000);
    g_assert_true(history_conversation(scratch.db, ME, ids, &before, &mine, NULL, NULL));
    g_assert_cmpint(before, !=, 0);
    g_assert_false(mine);
    observe(scratch.db, &events[2], 1000);
    g_assert_true(history_conversation(scratch.db, ME, ids, &conversation, &mine, NULL, NULL));
    g_assert_cmpint(conversation, ==, before);
    g_assert_true(mine);
    scratch_close(&scratch);
}

static char **
make_names(const char *format, guint count)
{
    char **names = g_new0(char *, count + 1);

    for (guint i = 0; i < count; i++)
        names[i] = g_strdup_printf("%s%u@x>", format, i);
    return names;
}

/* What a stranger can make us store and look for in one message has an end (XE18). */
static void
test_limits(void)
{
    static const Event human = HUMAN("<k1@x>", .recipients = {NORA});
    g_auto(GStrv) names = make_names("<", 2000);
    g_autofree char *long_id = g_strnfill(2000, 'i');
    g_autoptr(GError) error = NULL;
    Observation flood = {.kind = OBSERVED_RECEIVED,
                         .account = ME,
                         .message_id = long_id,
                         .parents = (const char *const *)names,
                         .mentioned = (const char *const *)names,
                         .lists = (const char *const *)names};
    const char *const long_parents[] = {long_id, NULL};
    Scratch scratch;

    scratch_open(&scratch);
    history_observe(scratch.db, &flood, 1000, &error);
    g_assert_no_error(error);
    g_assert_true(look_up(scratch.db, names[999]).mentioned);
    g_assert_false(look_up(scratch.db, names[1000]).mentioned);
    g_assert_true(look_up(scratch.db, names[19]).list);
    g_assert_false(look_up(scratch.db, names[20]).list);
    g_assert_cmpint(conversation_of(scratch.db, long_parents), ==, 0);

    observe(scratch.db, &human, 1000);
    g_free(names[99]);
    names[99] = g_strdup("<k1@x>");
    g_assert_cmpint(conversation_of(scratch.db, (const char *const *)names), !=, 0);
    g_free(names[99]);
    names[99] = g_strdup("<other@x>");
    g_free(names[100]);
    names[100] = g_strdup("<k1@x>");
    g_assert_cmpint(conversation_of(scratch.db, (const char *const *)names), !=, 0);
    scratch_close(&scratch);
}

/* No lists at all are empty lists. */
static void
test_null_lists(void)
{
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    for (ObservedKind kind = OBSERVED_RECEIVED; kind <= OBSERVED_HUMAN; kind++) {
        Observation bare = {.kind = kind, .account = ME};

        history_observe(scratch.db, &bare, 1000, &error);
        g_assert_no_error(error);
    }
    g_assert_cmpint(conversation_of(scratch.db, NULL), ==, 0);
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/history/%s", cases[i].name);

        g_test_add_data_func(path, &cases[i], test_case);
    }
    g_test_add_func("/history/times XE17", test_times);
    g_test_add_func("/history/not mine B12", test_not_mine);
    g_test_add_func("/history/limits XE18", test_limits);
    g_test_add_func("/history/null-lists", test_null_lists);
    return g_test_run();
}
