/* Text of postconf(1) and the kernel, and what the doctor finds in it. */
#include "cli/doctor.h"

#include <string.h>

#define GATE "unix:/var/spool/postfix/exeat/milter"
#define DOOR "unix:/var/spool/postfix/public/exeat"

#define SERVICES                                                                              \
    "smtp       inet  n       -       y       -       -       smtpd\n"                        \
    "pickup     unix  n       -       y       60      1       pickup\n"                       \
    "cleanup    unix  n       -       y       -       0       cleanup\n"                      \
    "smtp       unix  -       -       y       -       -       smtp\n"                         \
    "exeat      unix  n       -       y       -       -       smtpd "                         \
    "-o receive_override_options=no_header_body_checks\n"

#define OVERRIDES "exeat/unix/receive_override_options = no_header_body_checks\n"

#define SETTINGS                                                                              \
    "smtpd_milters = unix:exeat/milter\n"                                                     \
    "non_smtpd_milters = unix:exeat/milter\n"                                                 \
    "milter_default_action = tempfail\n"                                                      \
    "milter_protocol = 6\n"                                                                   \
    "receive_override_options =\n"                                                            \
    "local_header_rewrite_clients =\n"                                                        \
    "queue_directory = /var/spool/postfix\n"                                                  \
    "compatibility_level = 3.6\n"                                                             \
    "smtpd_forbid_bare_newline = normalize\n"                                                 \
    "smtpd_milter_maps =\n"                                                                   \
    "smtpd_proxy_filter =\n"                                                                  \
    "content_filter =\n"                                                                      \
    "smtpd_authorized_xclient_hosts =\n"                                                      \
    "smtpd_authorized_xforward_hosts =\n"                                                     \
    "smtpd_forbid_bare_newline_exclusions =\n"                                                \
    "message_reject_characters = \\0\n"

/* Whatever is added comes last and so counts. faults: a word of each, and of nothing else. */
static const struct {
    const char *name;
    const char *services, *overrides, *settings; /* added to those above */
    const char *gate;
    const char *vouched;
    const char *faults; /* "word|word" */
    const char *unknown;
} ROWS[] = {
    {"as shipped", "", "", "", GATE, "", "", ""},
    {"a listener without it (XA5)", "10025 inet n - n - - smtpd -o smtpd_milters=\n",
     "10025/inet/smtpd_milters =\n", "", GATE, "", "listener 10025/inet: mail does not pass",
     ""},
    {"one the admin answers for", "10025 inet n - n - - smtpd -o smtpd_milters=\n",
     "10025/inet/smtpd_milters =\n", "", GATE, "587,10025", "",
     "listener 10025/inet: not|master.cf: --except names “587”"},
    {"behind postscreen, by its path (XA5)",
     "smtp inet n - y - 1 postscreen\nsmtpd pass - - y - - /usr/lib/postfix/sbin/smtpd\n",
     "smtpd/pass/smtpd_milters =\n", "", GATE, "", "listener smtpd/pass: mail does not pass",
     ""},
    {"a second Postfix (XA5)", "", "", "multi_instance_directories = /etc/postfix-out\n", GATE,
     "", "", "main.cf: there is more"},
    {"a copy for somebody (XB33)", "", "", "always_bcc = archive@example.org\n", GATE, "", "",
     "main.cf: always_bcc"},
    {"another program listens", "628 inet n - y - - spawn\n", "", "", GATE, "", "",
     "listener 628/inet: it runs spawn"},
    {"milters taken from main.cf (XF17)", "", "", "smtpd_milters =\n", GATE, "",
     "listener smtp/inet: mail does not|listener exeat/unix: mail does not", ""},
    {"local mail past it (XA10)", "", "", "non_smtpd_milters =\n", GATE, "",
     "local mail cleanup/unix: mail does not", ""},
    {"another milter of a like name", "", "", "smtpd_milters = unix:exeat/milter2\n", GATE, "",
     "listener smtp/inet: mail|listener exeat/unix: mail", ""},
    {"accepts without it (XF1)", "", "smtp/inet/milter_default_action = accept\n", "", GATE,
     "", "listener smtp/inet: without the gate", ""},
    {"quarantines without it (XF1)", "", "smtp/inet/milter_default_action = quarantine\n", "",
     GATE, "", "listener smtp/inet: without the gate", ""},
    {"this milter refuses, whatever others do", "", "",
     "milter_default_action = accept\nsmtpd_milters = inet:127.0.0.1:1 "
     "{ unix:exeat/milter, connect_timeout=10s, default_action=reject }\n"
     "non_smtpd_milters = {unix:exeat/milter, default_action = tempfail}\n",
     GATE, "", "", ""},
    {"this milter accepts (XF1)", "", "",
     "non_smtpd_milters = { unix:exeat/milter default_action=accept }\n", GATE, "",
     "local mail cleanup/unix: without the gate", ""},
    {"old protocol (XA13)", "", "exeat/unix/milter_protocol = 4\n", "", GATE, "",
     "listener exeat/unix: milter_protocol", ""},
    {"a milter after it (XB33)", "",
     "smtp/inet/smtpd_milters = inet:a:1, unix:exeat/milter, "
     "inet:localhost:8891\n",
     "", GATE, "", "", "listener smtp/inet: after the gate comes inet:localhost:8891"},
    {"the whole path, where there is no jail", "10026 inet n - n - - smtpd\n",
     "10026/inet/smtpd_milters = unix:/var/spool/postfix/exeat/milter\n", "", GATE, "", "",
     ""},
    {"the whole path, from inside a jail", "",
     "smtp/inet/smtpd_milters = unix:/var/spool/postfix/exeat/milter\n", "", GATE, "",
     "listener smtp/inet: mail does not", ""},
    {"a port", "", "",
     "smtpd_milters = inet:localhost:8890\nnon_smtpd_milters = "
     "inet:[127.0.0.1]:8890\n",
     "inet:8890@127.0.0.1", "", "", ""},
    {"another port", "", "smtp/inet/smtpd_milters = inet:localhost:8891\n",
     "smtpd_milters = inet:localhost:8890\nnon_smtpd_milters = inet:localhost:8890\n",
     "inet:8890@127.0.0.1", "", "listener smtp/inet: mail does not", ""},
    {"milters switched off", "",
     "smtp/inet/receive_override_options = "
     "no_address_mappings, no_milters\n",
     "", GATE, "", "listener smtp/inet: receive_override", ""},
    {"milters switched off for local mail", "",
     "pickup/unix/receive_override_options = no_milters\n", "", GATE, "",
     "local mail pickup/unix: receive_override", ""},
    {"clients that are exempt", "", "", "smtpd_milter_maps = cidr:/etc/postfix/x\n", GATE, "",
     "listener smtp/inet: smtpd_milter_maps|listener exeat/unix: smtpd_milter_maps", ""},
    {"a filter behind it", "", "", "content_filter = scan:localhost:10024\n", GATE, "",
     "listener smtp/inet: content_f|local mail pickup/unix: content_f|listener exeat/unix: "
     "content_f",
     ""},
    {"a filter before it", "", "smtp/inet/smtpd_proxy_filter = 127.0.0.1:10025\n", "", GATE,
     "", "listener smtp/inet: smtpd_proxy_filter", ""},
    {"who may be another (XA18)", "",
     "smtp/inet/smtpd_authorized_xclient_hosts = 10.0.0.1\n"
     "smtp/inet/smtpd_authorized_xforward_hosts = 10.0.0.1\n",
     "", GATE, "",
     "listener smtp/inet: smtpd_authorized_xclient|listener smtp/inet: "
     "smtpd_authorized_xforward",
     ""},
    {"line feeds (XA14)", "", "smtp/inet/smtpd_forbid_bare_newline = no\n", "", GATE, "",
     "listener smtp/inet: smtpd_forbid_bare_newline is", ""},
    {"zero bytes", "", "smtp/inet/message_reject_characters = \\1\n", "", GATE, "",
     "listener smtp/inet: message_reject_characters", ""},
    {"the door changes mail", "",
     "exeat/unix/receive_override_options =\n"
     "exeat/unix/local_header_rewrite_clients = permit_inet_interfaces\n",
     "", GATE, "", "door " DOOR ": local_header|door " DOOR ": receive_override", ""},
    {"the door is elsewhere", "", "", "queue_directory = /var/spool/postfix2\n",
     "unix:/var/spool/postfix2/exeat/milter", "", "door " DOOR ": no smtpd", ""},
};

static char *
list_of(const GPtrArray *findings, FindingState state)
{
    g_autoptr(GString) list = g_string_new("");

    for (guint i = 0; i < findings->len; i++) {
        const Finding *finding = findings->pdata[i];
        if (finding->state == state)
            g_string_append_printf(list, "%s%s: %s", list->len > 0 ? "\n" : "", finding->place,
                                   finding->text);
    }
    return g_string_free(g_steal_pointer(&list), FALSE);
}

/* Each line begins with its word, and there are no more. */
static void
assert_lines(const char *list, const char *expected)
{
    g_auto(GStrv) lines = g_strsplit(list, "\n", -1);
    g_auto(GStrv) words = g_strsplit(expected, "|", -1);

    if (g_strv_length(lines) != g_strv_length(words))
        g_error("expected “%s”, found:\n%s", expected, list);
    for (guint i = 0; words[i] != NULL; i++)
        if (!g_str_has_prefix(lines[i], words[i]))
            g_error("expected “%s”, found “%s”", words[i], lines[i]);
}

static void
test_postfix(gconstpointer data)
{
    guint row = GPOINTER_TO_UINT(data);
    g_autoptr(GPtrArray) findings = findings_new();
    g_auto(GStrv) vouched = g_strsplit(ROWS[row].vouched, ",", -1);
    g_autofree char *services = g_strconcat(SERVICES, ROWS[row].services, NULL);
    g_autofree char *overrides = g_strconcat(OVERRIDES, ROWS[row].overrides, NULL);
    g_autofree char *settings = g_strconcat(SETTINGS, ROWS[row].settings, NULL);
    const char *const hops[] = {DOOR, NULL};
    const PostfixLook look = {services,       overrides, settings,
                              ROWS[row].gate, hops,      (const char *const *)vouched};

    doctor_postfix(&look, findings);
    g_autofree char *faults = list_of(findings, FINDING_FAULT);
    g_autofree char *unknown = list_of(findings, FINDING_UNKNOWN);
    assert_lines(faults, ROWS[row].faults);
    assert_lines(unknown, ROWS[row].unknown);
}

/* Nothing seen is not nothing found. */
static void
test_nothing(void)
{
    g_autoptr(GPtrArray) findings = findings_new();
    const char *const none[] = {NULL};
    const PostfixLook look = {"", "", "", GATE, none, none};

    doctor_postfix(&look, findings);
    g_autofree char *faults = list_of(findings, FINDING_FAULT);
    assert_lines(faults, "master.cf: no smtpd");
}

static void
test_ports(void)
{
    static const char TABLE[] =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
        "   0: 00000000:03E1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n"
        "   1: 0100007F:0050 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0\n"
        "   2: 0100007F:0019 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n"
        "   0: 00000000000000000000000000000000:105E "
        "00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000\n";
    g_autoptr(GPtrArray) findings = findings_new();

    doctor_ports(TABLE, findings);
    g_autofree char *unknown = list_of(findings, FINDING_UNKNOWN);
    assert_lines(unknown, "port 993: look at it|port 4190: look at it");
    g_assert_cmpuint(findings->len, ==, 2);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_autofree char *path = g_strdup_printf("/doctor/postfix/%s", ROWS[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_postfix);
    }
    g_test_add_func("/doctor/nothing", test_nothing);
    g_test_add_func("/doctor/ports (XA9)", test_ports);
    return g_test_run();
}
