/* How long the judge takes with histories of several sizes: facts-bench POLICY SIZE...
 *
 * A size is a number of correspondents. The histories are made by what makes them in service,
 * history_observe: the human wrote to three people in each conversation, and one answered.
 * What is judged is an answer to three, whose conversation is drawn anew for every message,
 * and the same with a stranger among them, who is compared with everybody. Rounds go through
 * all sizes in an order drawn anew, so that what else the machine does falls on all of them.
 *
 * Prints a line for each size and kind: times in microseconds of the wall clock, ratios to the
 * first size as minimum, median and maximum of the rounds. */
#include "relay/judge.h"

#include <stdio.h>
#include <time.h>

#include "store/history.h"
#include "tests/unit/items.h"
#include "tests/unit/scratch.h"

#define OWNER "owner@example.com"
#define BEGUN 1700000000 /* of the history */
#define TODAY 1790000000

enum {
    NAME_LETTERS = 8,
    PEOPLE = 3, /* of a conversation */
    PER_DOMAIN = 100,
    PER_COMMIT = 20000,
    AUTOMATIC = 30, /* messages that left today without a person */
    ROUNDS = 30,
    MESSAGES = 500, /* of a round, each kind */
    WARM_UP = 2000
};

typedef enum { KIND_ANSWER, KIND_STRANGER, KIND_COUNT } Kind;

static const char *const kind_names[] = {
    [KIND_ANSWER] = "answer", [KIND_STRANGER] = "stranger"};

typedef struct {
    guint64 correspondents;
    Scratch scratch;
    double build_seconds;
    GArray *times[KIND_COUNT];   /* of double: every message */
    GArray *medians[KIND_COUNT]; /* of double: every round */
} History;

/* A name of its own for every number, in letters that look like no others. */
static char *
make_name(guint64 number)
{
    static const char letters[] = "abdefghkmpstuxyz";
    char name[NAME_LETTERS + 1] = "";

    for (guint i = 0; i < NAME_LETTERS; i++, number /= 16)
        name[NAME_LETTERS - 1 - i] = letters[number % 16];
    return g_strdup(name);
}

static char *
make_address(guint64 person)
{
    g_autofree char *local = make_name(person);
    g_autofree char *domain = make_name(person / PER_DOMAIN);

    return g_strdup_printf("%s@%s.example.org", local, domain);
}

static void
make_people(const History *history, guint64 conversation, char **people_out)
{
    for (guint i = 0; i < PEOPLE; i++)
        people_out[i] = make_address(conversation + i * (history->correspondents / PEOPLE));
    people_out[PEOPLE] = NULL;
}

static char *
make_id(const char *kind, guint64 conversation)
{
    g_autofree char *name = make_name(conversation);

    return g_strdup_printf("<%s.%s@mail.example.org>", name, kind);
}

static void
observe(Db *db, const Observation *observation, gint64 when)
{
    g_autoptr(GError) error = NULL;

    history_observe(db, observation, when, &error);
    g_assert_no_error(error);
}

static void
hold_conversation(const History *history, guint64 conversation, Warrant *warrant)
{
    char *people[PEOPLE + 1];
    g_autofree char *sent = make_id("sent", conversation);
    g_autofree char *received = make_id("received", conversation);
    gint64 when = BEGUN + (gint64)conversation;

    make_people(history, conversation, people);
    observe(history->scratch.db,
            &(Observation){.kind = OBSERVED_HUMAN,
                           .account = "owner",
                           .message_id = sent,
                           .recipients = (const char *const *)people,
                           .warrant = warrant},
            when);
    observe(history->scratch.db,
            &(Observation){.kind = OBSERVED_RECEIVED,
                           .account = "owner",
                           .message_id = received,
                           .parents = (const char *const[]){sent, NULL},
                           .sender = people[0],
                           .correspondents = (const char *const[]){people[0], OWNER, NULL}},
            when + 1);
    for (guint i = 0; i < PEOPLE; i++)
        g_free(people[i]);
}

static void
begin(Db *db)
{
    g_autoptr(GError) error = NULL;

    db_begin(db, &error);
    g_assert_no_error(error);
}

static void
commit(Db *db)
{
    g_autoptr(GError) error = NULL;

    db_commit(db, &error);
    g_assert_no_error(error);
}

/* Of as many lessons as an import gives at once. */
static void
record(Db *db, Warrant *warrant)
{
    g_autoptr(GError) error = NULL;

    warrant_record(db, "owner", warrant, "user 0", NULL, TODAY, &error);
    g_assert_no_error(error);
    *warrant = (Warrant){0};
}

static void
send_automatically(const History *history, guint number)
{
    g_autofree char *id = g_strdup_printf("automatic%03u", number);
    g_autoptr(Item) item = make_item(id, "owner", STATE_RELEASED);
    char *people[PEOPLE + 1];

    make_people(history, number, people);
    item->automatic = TRUE;
    item->created = TODAY - 60 * (gint64)number;
    for (guint i = 0; i < PEOPLE; i++) {
        add_recipient(item, people[i]);
        g_free(people[i]);
    }
    add(history->scratch.db, item);
}

static double
read_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void
build(History *history)
{
    guint64 conversations = history->correspondents / PEOPLE;
    double begun = read_clock();
    Warrant warrant = {0};

    scratch_open(&history->scratch);
    begin(history->scratch.db);
    for (guint64 i = 0; i < conversations; i++) {
        hold_conversation(history, i, &warrant);
        if (i % PER_COMMIT == PER_COMMIT - 1) {
            record(history->scratch.db, &warrant);
            commit(history->scratch.db);
            begin(history->scratch.db);
        }
    }
    record(history->scratch.db, &warrant);
    for (guint i = 0; i < AUTOMATIC; i++)
        send_automatically(history, i);
    commit(history->scratch.db);
    scratch_reopen(&history->scratch); /* nothing is left that waits to be written */
    history->build_seconds = (read_clock() - begun) / 1e6;
}

static Item *
make_answer(const History *history, Kind kind, GRand *dice)
{
    guint64 conversation =
        (guint64)(g_rand_double(dice) * (double)(history->correspondents / PEOPLE));
    Item *item = make_item("judged", "owner", STATE_HELD);
    Extract *extract = item->extract;
    g_auto(GStrv) people = g_new0(char *, PEOPLE + 1);

    make_people(history, conversation, people);
    if (kind == KIND_STRANGER) {
        g_autofree char *name = make_name(g_rand_int(dice));
        g_free(people[0]);
        people[0] = g_strdup_printf("%s@%s-news.example.net", name, name);
    }
    set(&item->envelope->sender, OWNER);
    for (guint i = 0; i < PEOPLE; i++)
        envelope_add_recipient(item->envelope, (const char *const[]){people[i], NULL}, NULL);
    extract->from = g_strsplit(OWNER, " ", -1);
    extract->to_cc = g_steal_pointer(&people);
    extract->parents = g_new0(char *, 3);
    extract->parents[0] = make_id("sent", conversation);
    extract->parents[1] = make_id("received", conversation);
    set(&extract->subject, "Re: the meeting");
    set(&extract->text, "Tuesday is fine with me.\r\n");
    item->size = 1000;
    return item;
}

/* How long one message takes. */
static double
measure(const History *history, const Config *config, Kind kind, GRand *dice)
{
    g_autoptr(Item) item = make_answer(history, kind, dice);
    g_autoptr(GError) error = NULL;
    double begun = read_clock();

    judge_item(history->scratch.db, config, config_account(config, "owner"), item, TODAY,
               &error);
    double time = read_clock() - begun;
    g_assert_no_error(error);
    g_assert_cmpint(item->facts.values[FACT_MINE].number, ==, 1);
    g_assert_cmpint(item->facts.values[FACT_NOVEL].number, ==, kind == KIND_STRANGER);
    g_assert_cmpint(item->facts.values[FACT_OUTSIDE_THREAD].number, ==, kind == KIND_STRANGER);
    g_assert_cmpint(item->facts.values[FACT_SENT_DAY].number, ==, AUTOMATIC);
    return time;
}

static gint
compare_times(gconstpointer a, gconstpointer b)
{
    double first = *(const double *)a, second = *(const double *)b;

    return (first > second) - (first < second);
}

/* Sorts. */
static double
quantile(GArray *times, double part)
{
    g_array_sort(times, compare_times);
    return g_array_index(times, double, (guint)(part * (double)(times->len - 1)));
}

static void
run_round(History *history, const Config *config, Kind kind, GRand *dice)
{
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(double));

    begin(history->scratch.db);
    for (guint i = 0; i < MESSAGES; i++) {
        double time = measure(history, config, kind, dice);
        g_array_append_val(times, time);
    }
    commit(history->scratch.db);
    double median = quantile(times, 0.5);
    g_array_append_val(history->medians[kind], median);
    g_array_append_vals(history->times[kind], times->data, times->len);
}

static void
warm_up(const History *history, const Config *config, GRand *dice)
{
    for (guint i = 0; i < WARM_UP; i++)
        measure(history, config, i % KIND_COUNT, dice);
}

static void
shuffle(guint *order, guint count, GRand *dice)
{
    for (guint i = count - 1; i > 0; i--) {
        guint other = (guint)g_rand_int_range(dice, 0, (gint32)i + 1), kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
}

static void
run_rounds(GPtrArray *histories, const Config *config)
{
    g_autoptr(GRand) dice = g_rand_new();
    guint count = histories->len * KIND_COUNT;
    g_autofree guint *order = g_new(guint, count);

    for (guint i = 0; i < histories->len; i++)
        warm_up(histories->pdata[i], config, dice);
    for (guint i = 0; i < count; i++)
        order[i] = i;
    for (guint round = 0; round < ROUNDS; round++) {
        shuffle(order, count, dice);
        for (guint i = 0; i < count; i++)
            run_round(histories->pdata[order[i] / KIND_COUNT], config, order[i] % KIND_COUNT,
                      dice);
    }
}

static gint64
count_bytes(const History *history)
{
    GStatBuf status;

    g_assert_cmpint(g_stat(history->scratch.path, &status), ==, 0);
    return status.st_size;
}

static void
report(const History *history, const History *first, Kind kind)
{
    g_autoptr(GArray) ratios = g_array_new(FALSE, FALSE, sizeof(double));

    for (guint i = 0; i < ROUNDS; i++) {
        double ratio = g_array_index(history->medians[kind], double, i) /
                       g_array_index(first->medians[kind], double, i);
        g_array_append_val(ratios, ratio);
    }
    printf("kind=%s correspondents=%" G_GUINT64_FORMAT " median=%.1f p99=%.1f ratio_min=%.2f "
           "ratio=%.2f ratio_max=%.2f bytes_each=%.0f build_seconds=%.0f\n",
           kind_names[kind], history->correspondents, quantile(history->times[kind], 0.5),
           quantile(history->times[kind], 0.99), quantile(ratios, 0), quantile(ratios, 0.5),
           quantile(ratios, 1), (double)count_bytes(history) / (double)history->correspondents,
           history->build_seconds);
}

static Config *
make_config(const char *policy)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("exeat-bench-XXXXXX", &error);
    g_autofree char *path = g_build_filename(folder, "exeat.conf", NULL);
    g_autofree char *file = g_canonicalize_filename(policy, NULL);
    g_autofree char *text =
        g_strdup_printf("[exeat]\nmilter-user = 61002\nnext-hop = inet:127.0.0.1:25\n"
                        "[account owner]\naddresses = " OWNER "\nhuman-logins = " OWNER
                        "\nagent-logins = agent\nagent-users = 61005\nsenders = " OWNER
                        "\ninternal-domains = example.com\napprovers = 0\nmode = hybrid\n"
                        "policy = %s\n",
                        file);

    g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, &error);
    g_assert_no_error(error);
    Config *config = config_read(path, TRUE, &error);
    g_assert_no_error(error);
    g_unlink(path);
    g_rmdir(folder);
    return config;
}

static History *
make_history(const char *size)
{
    History *history = g_new0(History, 1);

    g_assert_true(g_ascii_string_to_unsigned(size, 10, PEOPLE, 100000000,
                                             &history->correspondents, NULL));
    history->correspondents -= history->correspondents % PEOPLE;
    for (Kind kind = 0; kind < KIND_COUNT; kind++) {
        history->times[kind] = g_array_new(FALSE, FALSE, sizeof(double));
        history->medians[kind] = g_array_new(FALSE, FALSE, sizeof(double));
    }
    build(history);
    return history;
}

static void
history_free(gpointer data)
{
    History *history = data;

    scratch_close(&history->scratch);
    for (Kind kind = 0; kind < KIND_COUNT; kind++) {
        g_array_unref(history->times[kind]);
        g_array_unref(history->medians[kind]);
    }
    g_free(history);
}

int
main(int count, char **words)
{
    g_autoptr(GPtrArray) histories = g_ptr_array_new_with_free_func(history_free);

    if (count < 3) {
        fputs("usage: facts-bench POLICY SIZE...\n", stderr);
        return 64;
    }
    g_autoptr(Config) config = make_config(words[1]);
    for (int i = 2; i < count; i++)
        g_ptr_array_add(histories, make_history(words[i]));
    run_rounds(histories, config);
    for (Kind kind = 0; kind < KIND_COUNT; kind++)
        for (guint i = 0; i < histories->len; i++)
            report(histories->pdata[i], histories->pdata[0], kind);
    return 0;
}
