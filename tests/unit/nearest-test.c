/* The smallest change of one fact that gives another tier. */
#include "policy/nearest.h"

#define RULES                                                                                 \
    "hold \"strangers\" if novel > 0\n"                                                       \
    "hold \"crowd\" if recipients > 10\n"                                                     \
    "release \"colleagues\" if external = 0 and recipients <= 5\n"                            \
    "delay 2h \"answers\" if mine and size < 20000\n"                                         \
    "draft \"rest\"\n"                                                                        \
    "limit 2 automatic per conversation else draft\n"

/* result: "fact from->to tier", "" for none. */
static const struct {
    const char *name;
    const char *policy;
    const char *facts;
    Mode mode;
    const char *stricter;
    const char *laxer;
} ROWS[] = {
    {"release", RULES, "recipients=1 external=0 novel=0 mine=no size=1 auto_sends=0",
     MODE_HYBRID, "external 0->1 draft", ""},
    {"draft", RULES, "recipients=1 external=1 novel=0 mine=no size=1 auto_sends=0",
     MODE_HYBRID, "novel 0->1 hold", "external 1->0 release"},
    {"far", RULES, "recipients=9 external=3 novel=0 mine=yes size=20500 auto_sends=0",
     MODE_HYBRID, "novel 0->1 hold", "size 20500->19999 delay"},
    {"limit", RULES, "recipients=1 external=0 novel=0 mine=no size=1 auto_sends=4",
     MODE_HYBRID, "novel 0->1 hold", "auto_sends 4->1 release"},
    {"two facts at once", RULES, "recipients=1 external=1 novel=1 mine=no size=1 auto_sends=2",
     MODE_HYBRID, "", "novel 1->0 draft"},
    {"mode", RULES, "recipients=1 external=0 novel=0 mine=no size=1 auto_sends=0", MODE_REVIEW,
     "", ""},
    {"unknown", RULES, "recipients=1 external=0 novel=? mine=no size=1 auto_sends=0",
     MODE_HYBRID, "", "novel ?->0 release"},
    {"locked without a rule", RULES,
     "recipients=1 external=0 novel=0 mine=no size=1 auto_sends=0 locked=yes", MODE_HYBRID,
     "novel 0->1 hold", "locked 1->0 release"},
    {"no rules", "", "recipients=1", MODE_HYBRID, "", ""},
};

static char *
describe(const Policy *policy, const Facts *facts, Mode mode, gboolean stricter)
{
    g_autoptr(Nearest) nearest = nearest_find(policy, facts, mode, stricter);

    if (nearest == NULL)
        return g_strdup("");
    g_autofree char *from = nearest->from.known
                                ? g_strdup_printf("%" G_GINT64_FORMAT, nearest->from.number)
                                : g_strdup("?");
    return g_strdup_printf("%s %s->%" G_GINT64_FORMAT " %s", fact_name(nearest->fact), from,
                           nearest->to, tier_name(nearest->verdict->tier));
}

static void
test_row(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    g_autoptr(GError) error = NULL;
    g_autoptr(Policy) policy = policy_parse(ROWS[i].policy, "p", NULL, &error);
    Facts facts;

    g_assert_no_error(error);
    g_assert_true(facts_parse(ROWS[i].facts, &facts));
    if (!facts.values[FACT_LOCKED].known)
        facts_set(&facts, FACT_LOCKED, 0);
    g_autofree char *stricter = describe(policy, &facts, ROWS[i].mode, TRUE);
    g_autofree char *laxer = describe(policy, &facts, ROWS[i].mode, FALSE);
    g_assert_cmpstr(stricter, ==, ROWS[i].stricter);
    g_assert_cmpstr(laxer, ==, ROWS[i].laxer);
}

/* What only the floor asks about counts, too. */
static void
test_floor(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Policy) policy = policy_parse("release \"open\"\n", "p", NULL, &error);
    g_autoptr(Policy) floor =
        policy_parse("hold \"files\" if attachments > 2\nrelease \"r\"\n", "f", NULL, &error);
    Facts facts;

    g_assert_no_error(error);
    policy_set_floor(policy, floor);
    g_assert_true(facts_parse("attachments=1", &facts));
    g_autofree char *stricter = describe(policy, &facts, MODE_HYBRID, TRUE);
    g_assert_cmpstr(stricter, ==, "attachments 1->3 hold");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_autofree char *path = g_strdup_printf("/nearest/%s/D23", ROWS[i].name);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_row);
    }
    g_test_add_func("/nearest/floor", test_floor);
    return g_test_run();
}
