/* B6: more risk never gets a laxer tier, and what the proof says where it does. */
#include "policy/proof.h"

#include <string.h>

#include "policy/check.h"
#include "policy/possible.h"
#include "policy/verdict.h"

/* message NULL: the policy is monotone. */
static const struct {
    const char *name, *text, *message;
} proved[] = {
    {"empty", "", NULL},
    {"one tier", "draft \"d\"", NULL},
    {"risk holds", "hold \"h\" if novel > 0\nrelease \"r\"", NULL},
    {"safety releases", "release \"r\" if mine\ndraft \"d\"", NULL},
    {"knowing releases", "release \"r\" if known >= 2\nhold \"h\" if novel > 0\nrelease \"s\"",
     "p:1: found release (line 1) for recipients=3 novel=1 known=2"},
    {"the wrong way round", "release \"r\" if novel > 0\nhold \"h\"",
     "p:1: found release (line 1) for novel=1, expected nothing laxer than hold (line 2) for "
     "novel=0, which is less risk; if it is meant, end the line with unsafe \"reason\""},
    {"a hole", "hold \"h\" if attachments = 1\nrelease \"r\"",
     "p:2: found release (line 2) for attachments=2, expected nothing laxer than hold (line "
     "1) "
     "for attachments=1"},
    {"a hole by unequal", "release \"r\" if attachments != 1\nhold \"h\"",
     "p:1: found release (line 1) for attachments=2, expected nothing laxer than hold"},
    {"a flag", "release \"r\" if forward\ndraft \"d\"", "for forward=yes, expected nothing"},
    {"a flag that is safe", "release \"r\" if not mine\ndraft \"d\"",
     "p:1: found release (line 1) for mine=no, expected nothing laxer than draft (line 2) for "
     "mine=yes"},
    {"draft is laxer than hold", "draft \"d\" if size > 10K\nhold \"h\"",
     "p:1: found draft (line 1) for size=10241, expected nothing laxer than hold (line 2) for "
     "size=10240"},
    {"delay is stricter than release", "delay 1h \"d\" if lists = 0\nrelease \"r\"",
     "p:2: found release (line 2) for lists=1"},
    {"hold is laxer than refuse", "refuse \"n\" if opaque\nhold \"h\"", NULL},
    {"no line", "refuse \"n\" if diverted = 1",
     "p:1: found hold (no line) for diverted=2, expected nothing laxer than refuse (line 1) "
     "for "
     "diverted=1, which is less risk"},
    {"shadowed",
     "hold \"h\" if novel > 0\nrelease \"r\" if novel = 0\nrelease \"x\" if novel > 3", NULL},
    {"two facts",
     "release \"a\" if external = 0 and size < 9\nhold \"h\" if external = 0\n"
     "draft \"d\"",
     "p:3: found draft (line 3) for external=1 size=9, expected nothing laxer than hold"},
    {"one more known recipient is risk", "release \"r\" if known = 2\nhold \"h\"",
     "p:1: found release (line 1) for recipients=2 known=2, expected nothing laxer than hold "
     "(line 2) for recipients=1 known=1"},

    /* Facts that hang together. */
    {"one recipient counts once",
     "hold \"h\" if external_novel > 0\n"
     "release \"r\" if recipients = 1 and external = 1 and novel = 1\nhold \"i\"",
     NULL},
    {"two recipients may be one of each",
     "hold \"h\" if external_novel > 0\n"
     "release \"r\" if recipients = 2 and external = 1 and novel = 1\nhold \"i\"",
     "p:2: found release (line 2) for recipients=2 external=1 novel=1"},
    {"an external one becomes novel",
     "release \"a\" if external_novel > 0\nhold \"h\" if recipients = 1\nhold \"i\"",
     "p:1: found release (line 1) for recipients=1 external=1 external_novel=1, expected "
     "nothing "
     "laxer than hold (line 2) for recipients=1 external=0 external_novel=0"},
    {"from a text is novel",
     "hold \"h\" if novel > 0\nrelease \"r\" if from_body > 0\n"
     "release \"s\"",
     NULL},
    {"the day is as long as the hour",
     "hold \"h\" if sent_day > 3\nrelease \"r\" if sent_hour > 3\nrelease \"s\"", NULL},
    {"mine is in a thread", "release \"r\" if mine\ndraft \"d\" if in_thread\nhold \"h\"",
     NULL},
    {"bytes belong to files",
     "hold \"h\" if attachments > 0\n"
     "release \"r\" if attachment_bytes > 5\nrelease \"s\"",
     NULL},
    {"the audience of a day has this one's",
     "draft \"d\" if recipients > 5 and fanout_day <= 5\nhold \"h\" if recipients > 5\n"
     "release \"r\"",
     NULL},

    /* Limits, never automatic, the agent's words. */
    {"limits stop",
     "release \"r\" if novel = 0\ndraft \"d\"\n"
     "limit 2 automatic per day else hold",
     NULL},
    {"never stops", "release \"r\" if novel = 0\ndraft \"d\"\nnever automatic if size > 5K",
     NULL},
    {"never with a hole", "release \"r\"\nnever automatic if lists = 1",
     "p:1: found release (line 1) for lists=2, expected nothing laxer than hold (line 2) for "
     "lists=1"},
    {"class", "release \"r\"\nhold \"c\" if declared = q", NULL},
    {"class and a hole", "release \"r\"\nhold \"c\" if declared = q and novel = 0",
     "p:1: found release (line 1) for novel=1, expected nothing laxer than hold (line 2)"},
    {"text and a hole", "release \"r\"\nhold \"c\" if text contains \"q\" and not forward",
     "p:1: found release (line 1) for forward=yes"},
    {"approvals", "hold \"h\"\napprovals 2 if external > 0\napprovals 3 if external > 4",
     NULL},
    {"approvals with a hole", "hold \"h\"\napprovals 2 if external = 1",
     "p:2: found 1 approval for external=2, expected nothing laxer than 2 approvals (line 2) "
     "for external=1, which is less risk"},

    /* Unsafe. */
    {"unsafe", "release \"r\" if novel > 0 unsafe \"a trial\"\nhold \"h\"", NULL},
    {"unsafe on the wrong line", "release \"r\" if novel > 0\nhold \"h\" unsafe \"a trial\"",
     "p:1: found release"},
    {"unsafe does not excuse others",
     "release \"r\" if novel > 5 unsafe \"a trial\"\nrelease \"s\" if novel = 3\nhold \"h\"",
     "p:2: found release (line 2) for novel=3"},
};

static void
test_proved(gconstpointer data)
{
    guint row = GPOINTER_TO_UINT(data);
    const char *message = proved[row].message;
    g_autoptr(GError) error = NULL;
    g_autoptr(Policy) policy = policy_parse(proved[row].text, "p", NULL, &error);
    gboolean good = policy && proof_monotony(policy, &error);

    if (good != (message == NULL))
        g_test_fail_printf("%s", good ? "proved" : error->message);
    if (!good && message && !strstr(error->message, message))
        g_test_fail_printf("expected “%s”, found “%s”", message, error->message);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(proved); i++) {
        g_autofree char *path = g_strconcat("/proof/", proved[i].name, NULL);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_proved);
    }
    return g_test_run();
}
