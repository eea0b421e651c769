#include "lib/nexthop.h"

#include "lib/trusted.h"

static const char *const AUTHS[SMTP_AUTH_COUNT] = {
    [SMTP_AUTH_ANY] = "automatic",
    [SMTP_AUTH_SCRAM_SHA_256] = "SCRAM-SHA-256",
    [SMTP_AUTH_SCRAM_SHA_1] = "SCRAM-SHA-1",
    [SMTP_AUTH_PLAIN] = "PLAIN",
    [SMTP_AUTH_LOGIN] = "LOGIN",
    [SMTP_AUTH_OAUTHBEARER] = "OAUTHBEARER",
    [SMTP_AUTH_XOAUTH2] = "XOAUTH2",
};

const char *
smtp_auth_name(SmtpAuth auth)
{
    return AUTHS[auth];
}

gboolean
smtp_auth_is_token(SmtpAuth auth)
{
    return auth == SMTP_AUTH_OAUTHBEARER || auth == SMTP_AUTH_XOAUTH2;
}

gboolean
nexthop_read_target(const SettingPlace *place, const char *text, gpointer member,
                    GError **error)
{
    if (*text != '\0')
        return setting_next_hop(place, text, member, error);
    *(char **)member = g_strdup("");
    return TRUE;
}

gboolean
nexthop_read_tls(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    static const char *const names[] = {
        [SMTP_TLS_NONE] = "none",
        [SMTP_TLS_STARTTLS] = "starttls",
        [SMTP_TLS_IMPLICIT] = "implicit",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_str_equal(text, names[i])) {
            *(SmtpTls *)member = (SmtpTls)i;
            return TRUE;
        }
    return keyfile_fail(error, place->file, place->line, text, "none, starttls or implicit");
}

gboolean
nexthop_read_auth(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    for (guint i = 0; i < SMTP_AUTH_COUNT; i++)
        if (g_ascii_strcasecmp(text, AUTHS[i]) == 0) {
            *(SmtpAuth *)member = (SmtpAuth)i;
            return TRUE;
        }
    return keyfile_fail(error, place->file, place->line, text,
                        "automatic, SCRAM-SHA-256, SCRAM-SHA-1, PLAIN, LOGIN, OAUTHBEARER or "
                        "XOAUTH2");
}

static gboolean
is_set(const char *text)
{
    return *text != '\0';
}

/* A key that makes no sense beside the others. */
typedef struct {
    const char *key;
    gboolean wrong;
    const char *expected;
} Sense;

static gboolean
make_sense(const Sense *senses, gsize count, const KeyFile *file, const KeyGroup *group,
           GError **error)
{
    for (gsize i = 0; i < count; i++) {
        const KeyLine *line = keygroup_line(group, senses[i].key);

        if (senses[i].wrong)
            return keyfile_fail(error, file, line != NULL ? line->line : group->line,
                                senses[i].key, "%s", senses[i].expected);
    }
    return TRUE;
}

static gboolean
check_keys(const NextHop *hop, const KeyFile *file, const KeyGroup *group, GError **error)
{
    const Secret *secret = &hop->secret;
    gboolean tls = hop->tls != SMTP_TLS_NONE;
    gboolean local = g_str_has_prefix(hop->target, "unix:");
    gboolean named = hop->auth != SMTP_AUTH_ANY;
    const Sense senses[] = {
        {"next-hop-tls", tls && local, "none for a unix socket: no name could be verified"},
        {"next-hop-ca", !tls && is_set(hop->ca_file),
         "the key “next-hop-tls” in this group, too"},
        {"next-hop-certificate", !tls && is_set(hop->certificate_file),
         "the key “next-hop-tls” in this group, too"},
        {"next-hop-certificate", is_set(hop->certificate_file) && !is_set(hop->key_file),
         "the key “next-hop-key” in this group, too"},
        {"next-hop-key", is_set(hop->key_file) && !is_set(hop->certificate_file),
         "the key “next-hop-certificate” in this group, too"},
        {"next-hop-user", is_set(hop->user) && secret_count(secret) != 1,
         SECRET_EXPECTED("next-hop")},
        {"next-hop-password-file", is_set(secret->password_file) && !is_set(hop->user),
         "the key “next-hop-user” in this group, too"},
        {"next-hop-token-file", is_set(secret->token_file) && !is_set(hop->user),
         "the key “next-hop-user” in this group, too"},
        {"next-hop-token-command", secret->token_command[0] != NULL && !is_set(hop->user),
         "the key “next-hop-user” in this group, too"},
        {"next-hop-user", is_set(hop->user) && !tls && !local,
         "the key “next-hop-tls” in this group, too: no password and no token goes over a "
         "network in the clear"},
        {"next-hop-auth", named && !is_set(hop->user),
         "the key “next-hop-user” in this group, too"},
        {"next-hop-auth",
         named && is_set(hop->user) &&
             smtp_auth_is_token(hop->auth) != secret_is_token(secret),
         "OAUTHBEARER or XOAUTH2 with a token, another with a password"},
    };

    return make_sense(senses, G_N_ELEMENTS(senses), file, group, error);
}

gboolean
nexthop_check(NextHop *hop, const char *folder, const KeyFile *file, const KeyGroup *group,
              GError **error)
{
    if (!is_set(hop->target))
        return keygroup_forbid_parts(file, group, "next-hop", error);
    setting_place_file(&hop->ca_file, folder);
    setting_place_file(&hop->certificate_file, folder);
    setting_place_file(&hop->key_file, folder);
    secret_place(&hop->secret, folder);
    return check_keys(hop, file, group, error);
}

gboolean
nexthop_check_files(const NextHop *hop, GError **error)
{
    return trusted_check(hop->ca_file, error) && trusted_check(hop->certificate_file, error) &&
           trusted_check_secret(hop->key_file, error) &&
           secret_check_files(&hop->secret, error);
}

void
nexthop_clear(NextHop *hop)
{
    g_free(hop->target);
    g_free(hop->ca_file);
    g_free(hop->certificate_file);
    g_free(hop->key_file);
    g_free(hop->user);
    secret_clear(&hop->secret);
}
