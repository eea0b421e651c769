/* Feeds libFuzzer's bytes to the policy language; see run. The first line of the input is what
 * every file named in the policy holds. */
#include "tests/fuzz/fuzz.h"

#include "policy/check.h"
#include "policy/classes.h"
#include "policy/proof.h"
#include "policy/trace.h"

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_begin();
    return 0;
}

static char *
read_file(G_GNUC_UNUSED const char *path, gpointer data, G_GNUC_UNUSED GError **error)
{
    return g_strdup(data);
}

static char *
normalise(const char *entry, G_GNUC_UNUSED gpointer data)
{
    return strchr(entry, '@') ? g_ascii_strdown(entry, -1) : NULL;
}

/* What was read can be checked, judged by and explained. */
static void
use(Policy *policy, const char *text)
{
    static const char *const recipients[] = {"ann@example.org", "bob@example.net", NULL};
    Facts facts = {.subject = text, .text = text, .html = "", .recipients = recipients};
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) classes = policy_classes(policy);
    g_autoptr(GPtrArray) unreachable = proof_unreachable(policy);

    g_assert(classes != NULL && unreachable != NULL);
    g_assert((gboolean)check_policy(policy, &error) == (error == NULL));
    for (guint i = 0; i < FACT_COUNT; i += 2)
        facts_set(&facts, i, i % 3);
    g_autoptr(Trace) open = policy_explain(policy, &facts, MODE_HYBRID, 7);
    for (guint i = 0; i < FACT_COUNT; i++)
        facts_set(&facts, i, i % 3);
    g_autoptr(Trace) known = policy_explain(policy, &facts, MODE_HYBRID, 7);
    /* B9: knowing more is not stricter than not knowing. */
    g_assert(tier_strictness(known->verdict->tier) <= tier_strictness(open->verdict->tier));
    g_assert(known->verdict->approvals <= open->verdict->approvals);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autofree char *input = g_strndup((const char *)data, size);
    g_auto(GStrv) parts = g_strsplit(input, "\n", 2);
    const char *file = parts[0] ? parts[0] : "";
    const char *text = parts[0] && parts[1] ? parts[1] : "";
    const PolicyReader reader = {read_file, normalise, (gpointer)file};
    g_autoptr(GError) error = NULL;
    g_autoptr(Policy) policy = policy_parse(text, "/p", &reader, &error);

    g_assert((policy == NULL) == (error != NULL));
    if (policy)
        use(policy, text);
    else
        g_assert(g_utf8_validate(error->message, -1, NULL));
    return 0;
}
