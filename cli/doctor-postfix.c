#include <string.h>

#include "cli/doctor.h"
#include "cli/postconf.h"

typedef struct {
    const PostfixLook *look;
    const Postconf *conf;
    const char *gate; /* its place */
} Postfix;

/* What must hold at every listener. */
static const struct {
    const char *name;
    const char *expected; /* the only value that is good, or a word that must be among it */
    gboolean among;
    const char *danger;
} LISTENER[] = {
    {"smtpd_milter_maps", "", FALSE, "some clients may be exempt from the gate"},
    {"smtpd_proxy_filter", "", FALSE, "another program takes the mail and gives it back"},
    {"content_filter", "", FALSE, "mail is changed or sent elsewhere after it was judged"},
    {"smtpd_authorized_xclient_hosts", "", FALSE,
     "these hosts may say that they are another client or login (XA18)"},
    {"smtpd_authorized_xforward_hosts", "", FALSE,
     "these hosts may say that they are another client (XA18)"},
    {"smtpd_forbid_bare_newline_exclusions", "", FALSE,
     "these hosts may hide a second message in one (XA14)"},
    {"message_reject_characters", "\\0", TRUE,
     "text behind a zero byte would leave unseen by the gate"},
};

static const char *const SETTINGS[] = {"smtpd_milters",
                                       "non_smtpd_milters",
                                       "milter_default_action",
                                       "milter_protocol",
                                       "receive_override_options",
                                       "local_header_rewrite_clients",
                                       "queue_directory",
                                       "compatibility_level",
                                       "multi_instance_directories",
                                       "always_bcc",
                                       "sender_bcc_maps",
                                       "recipient_bcc_maps",
                                       "smtpd_forbid_bare_newline",
                                       "smtpd_milter_maps",
                                       "smtpd_proxy_filter",
                                       "content_filter",
                                       "smtpd_authorized_xclient_hosts",
                                       "smtpd_authorized_xforward_hosts",
                                       "smtpd_forbid_bare_newline_exclusions",
                                       "message_reject_characters",
                                       NULL};

const char *const *
doctor_settings(void)
{
    return SETTINGS;
}

/* What Postfix does with mail when the gate is gone (XF1). */
static gboolean
is_closed_action(const char *action)
{
    return g_str_equal(action, "tempfail") || g_str_equal(action, "reject") ||
           g_str_equal(action, "shutdown");
}

/* Whether the gate is in the list, what happens without it, and what comes after it. */
static gboolean
check_milters(const Postfix *postfix, const Service *service, const char *setting,
              const char *place, GPtrArray *findings)
{
    const char *value = postconf_value(postfix->conf, service, setting);
    g_autoptr(GPtrArray) milters = postconf_milters(value != NULL ? value : "");
    const Milter *gate = NULL;

    for (guint i = 0; i < milters->len; i++) {
        const Milter *milter = milters->pdata[i];
        g_autofree char *found =
            postconf_place_of_milter(postfix->conf, service, milter->endpoint);
        if (gate != NULL)
            findings_add(findings, FINDING_UNKNOWN, place,
                         "after the gate comes %s: well if it only signs, it may change "
                         "nothing else (XB33)",
                         milter->endpoint);
        else if (g_str_equal(found, postfix->gate))
            gate = milter;
    }
    if (gate == NULL) {
        findings_add(findings, FINDING_FAULT, place,
                     "mail does not pass the gate: %s is “%s”, without milter-socket = %s of "
                     "exeat.conf (XA5, XF17)",
                     setting, value != NULL ? value : "", postfix->look->gate);
        return FALSE;
    }
    const char *usual = postconf_value(postfix->conf, service, "milter_default_action");
    const char *action = gate->action != NULL ? gate->action : usual != NULL ? usual : "";
    const char *protocol = postconf_value(postfix->conf, service, "milter_protocol");
    gboolean closed = is_closed_action(action);
    gboolean new = protocol != NULL &&g_ascii_strtoull(protocol, NULL, 10) >= 6;
    if (!closed)
        findings_add(findings, FINDING_FAULT, place,
                     "without the gate mail is not refused: milter_default_action is “%s”, "
                     "make it tempfail (XF1)",
                     action);
    if (!new)
        findings_add(findings, FINDING_FAULT, place,
                     "milter_protocol is “%s”, make it 6: the gate does not see all of MAIL "
                     "and RCPT (XA13)",
                     protocol != NULL ? protocol : "");
    return closed && new;
}

/* That no option switches the milters off. */
static gboolean
check_override(const Postfix *postfix, const Service *service, const char *place,
               GPtrArray *findings)
{
    const char *options = postconf_value(postfix->conf, service, "receive_override_options");

    if (options == NULL || !postconf_has_word(options, "no_milters"))
        return TRUE;
    findings_add(findings, FINDING_FAULT, place,
                 "receive_override_options has no_milters: take it out, mail goes past the "
                 "gate (XA5)");
    return FALSE;
}

static gboolean
check_setting(const Postfix *postfix, const Service *service, guint row, const char *place,
              GPtrArray *findings)
{
    const char *name = LISTENER[row].name;
    const char *expected = LISTENER[row].expected;
    const char *value = postconf_value(postfix->conf, service, name);

    if (value == NULL) {
        findings_add(findings, FINDING_UNKNOWN, place, "this Postfix does not know %s", name);
        return TRUE;
    }
    if (LISTENER[row].among ? strstr(value, expected) != NULL : g_str_equal(value, expected))
        return TRUE;
    findings_add(findings, FINDING_FAULT, place, "%s is “%s”: %s; %s “%s”", name, value,
                 LISTENER[row].danger, LISTENER[row].among ? "add" : "make it", expected);
    return FALSE;
}

static gboolean
check_newline(const Postfix *postfix, const Service *service, const char *place,
              GPtrArray *findings)
{
    const char *value = postconf_value(postfix->conf, service, "smtpd_forbid_bare_newline");

    if (value != NULL && *value != '\0' && !g_str_equal(value, "no"))
        return TRUE;
    findings_add(findings, FINDING_FAULT, place,
                 "smtpd_forbid_bare_newline is “%s”: one message may hide a second; make it "
                 "normalize (XA14)",
                 value != NULL ? value : "");
    return FALSE;
}

/* --except names a listener by its name or name/type. */
static gboolean
is_vouched(const char *const *names, const Service *service)
{
    return g_strv_contains(names, service->name) || g_strv_contains(names, service->key);
}

static void
check_listener(const Postfix *postfix, const Service *service, GPtrArray *findings)
{
    g_autofree char *place = g_strdup_printf("listener %s", service->key);

    if (is_vouched(postfix->look->vouched, service)) {
        findings_add(findings, FINDING_UNKNOWN, place, "not looked at: --except");
        return;
    }
    gboolean good = check_milters(postfix, service, "smtpd_milters", place, findings);
    good = check_override(postfix, service, place, findings) && good;
    good = check_newline(postfix, service, place, findings) && good;
    for (guint i = 0; i < G_N_ELEMENTS(LISTENER); i++)
        good = check_setting(postfix, service, i, place, findings) && good;
    if (good)
        findings_add(findings, FINDING_OK, place, "all of its mail passes the gate");
}

/* Mail of local programs comes in through pickup or qmqpd, and its milters run in cleanup. */
static void
check_local(const Postfix *postfix, const Service *service, GPtrArray *findings)
{
    g_autofree char *place = g_strdup_printf("local mail %s", service->key);
    gboolean good = g_str_equal(service->program, "cleanup")
                        ? check_milters(postfix, service, "non_smtpd_milters", place, findings)
                        : check_override(postfix, service, place, findings);

    if (!g_str_equal(service->program, "cleanup")) {
        const char *filter = postconf_value(postfix->conf, service, "content_filter");
        gboolean none = filter == NULL || *filter == '\0';
        if (!none)
            findings_add(findings, FINDING_FAULT, place,
                         "content_filter is “%s”: mail is changed or sent elsewhere after it "
                         "was judged; take it out",
                         filter);
        good = good && none;
    }
    if (good)
        findings_add(findings, FINDING_OK, place, "mail of local programs passes the gate");
}

static void
check_service(const Postfix *postfix, const Service *service, GPtrArray *findings)
{
    const char *program = service->program;
    g_autofree char *place = g_strdup_printf("listener %s", service->key);

    if (g_str_equal(program, "smtpd"))
        check_listener(postfix, service, findings);
    else if (g_str_equal(program, "cleanup") || g_str_equal(program, "pickup") ||
             g_str_equal(program, "qmqpd"))
        check_local(postfix, service, findings);
    /* postscreen hands over to an smtpd that is on the list itself. */
    else if (service->inet && !g_str_equal(program, "postscreen"))
        findings_add(findings, FINDING_UNKNOWN, place,
                     "it runs %s: see that nobody submits mail through it", program);
}

/* The listener behind a unix socket; NULL when it is none of this Postfix. */
static const Service *
find_door(const Postfix *postfix, const char *path)
{
    for (guint i = 0; i < postfix->conf->services->len; i++) {
        const Service *service = postfix->conf->services->pdata[i];
        g_autofree char *own =
            g_build_filename(postconf_queue(postfix->conf),
                             service->closed ? "private" : "public", service->name, NULL);
        if (!service->inet && g_str_equal(service->program, "smtpd") && g_str_equal(own, path))
            return service;
    }
    return NULL;
}

/* What was approved has to arrive byte for byte (contrib/postfix/README.md). */
static void
check_door(const Postfix *postfix, const char *hop, GPtrArray *findings)
{
    g_autofree char *place = g_strdup_printf("door %s", hop);
    gboolean local = g_str_has_prefix(hop, "unix:");
    g_autofree char *path = local ? g_canonicalize_filename(hop + strlen("unix:"), "/") : NULL;
    const Service *door = local ? find_door(postfix, path) : NULL;

    if (!local) {
        findings_add(findings, FINDING_UNKNOWN, place,
                     "not looked at: no unix socket of this Postfix");
        return;
    }
    if (door == NULL) {
        findings_add(findings, FINDING_FAULT, place,
                     "no smtpd of this Postfix is there: compare next-hop of exeat.conf with "
                     "master.cf, nothing can leave");
        return;
    }
    const char *rewrite = postconf_value(postfix->conf, door, "local_header_rewrite_clients");
    const char *options = postconf_value(postfix->conf, door, "receive_override_options");
    gboolean rewrites = rewrite == NULL || *rewrite != '\0';
    gboolean checks = options == NULL || !postconf_has_word(options, "no_header_body_checks");
    if (rewrites)
        findings_add(findings, FINDING_FAULT, place,
                     "local_header_rewrite_clients is “%s”: Postfix changes what was "
                     "approved; make it empty for %s",
                     rewrite != NULL ? rewrite : "", door->name);
    if (checks)
        findings_add(findings, FINDING_FAULT, place,
                     "receive_override_options has no no_header_body_checks: header_checks "
                     "may change what was approved; add it to %s",
                     door->name);
    if (!rewrites && !checks)
        findings_add(findings, FINDING_OK, place, "approved mail arrives unchanged");
}

static gboolean
has_program(const Postfix *postfix, const char *program)
{
    for (guint i = 0; i < postfix->conf->services->len; i++) {
        const Service *service = postfix->conf->services->pdata[i];
        if (g_str_equal(service->program, program))
            return TRUE;
    }
    return FALSE;
}

/* A word of --except that is no listener may be misspelt, or of one that is gone. */
static void
check_vouched(const Postfix *postfix, GPtrArray *findings)
{
    for (const char *const *name = postfix->look->vouched; *name != NULL; name++) {
        const char *const one[] = {*name, NULL};
        gboolean found = FALSE;

        for (guint i = 0; i < postfix->conf->services->len; i++)
            found = found || is_vouched(one, postfix->conf->services->pdata[i]);
        if (!found && **name != '\0')
            findings_add(findings, FINDING_UNKNOWN, "master.cf",
                         "--except names “%s”, and there is no such listener", *name);
    }
}

/* Copies that are made after the gate has judged who receives a message (XB33). */
static void
check_copies(const Postfix *postfix, GPtrArray *findings)
{
    static const char *const COPIES[] = {"always_bcc", "sender_bcc_maps",
                                         "recipient_bcc_maps"};

    for (guint i = 0; i < G_N_ELEMENTS(COPIES); i++) {
        const char *value = g_hash_table_lookup(postfix->conf->settings, COPIES[i]);
        if (value != NULL && *value != '\0')
            findings_add(findings, FINDING_UNKNOWN, "main.cf",
                         "%s is “%s”: who stands there receives what nobody approved for "
                         "them (XB33)",
                         COPIES[i], value);
    }
}

static void
check_instances(const Postfix *postfix, GPtrArray *findings)
{
    const char *others =
        g_hash_table_lookup(postfix->conf->settings, "multi_instance_directories");

    if (others != NULL && *others != '\0')
        findings_add(findings, FINDING_UNKNOWN, "main.cf",
                     "there is more than this Postfix: look at each of %s with "
                     "--postfix-config (XA5)",
                     others);
}

void
doctor_postfix(const PostfixLook *look, GPtrArray *findings)
{
    g_autoptr(Postconf) conf = postconf_read(look->services, look->overrides, look->settings);
    g_autofree char *gate = postconf_place_of_gate(look->gate);
    const Postfix postfix = {look, conf, gate};

    /* Without them this is no list of a Postfix that takes mail: nothing was seen. */
    if (!has_program(&postfix, "smtpd") || !has_program(&postfix, "cleanup"))
        findings_add(findings, FINDING_FAULT, "master.cf",
                     "no smtpd or no cleanup is in it: is this the right --postfix-config?");
    for (guint i = 0; i < conf->services->len; i++)
        check_service(&postfix, conf->services->pdata[i], findings);
    check_vouched(&postfix, findings);
    check_instances(&postfix, findings);
    check_copies(&postfix, findings);
    for (guint i = 0; look->hops[i] != NULL; i++)
        check_door(&postfix, look->hops[i], findings);
}
