/* nexthop.h - where mail is handed on, and what proves to that server who we are
 *
 * A part of exeat.conf: keys that begin with next-hop, for all accounts or for one. A password
 * or a token goes only over TLS, or over a unix socket, where nobody listens. The files are
 * looked at when the configuration is read and read when they are needed. */
#pragma once

#include <stddef.h>

#include "lib/secret.h"

typedef enum { SMTP_TLS_NONE, SMTP_TLS_STARTTLS, SMTP_TLS_IMPLICIT } SmtpTls;

/* Strongest first; SMTP_AUTH_ANY is the first of them that the server offers and that the
 * secret is for. */
typedef enum {
    SMTP_AUTH_ANY,
    SMTP_AUTH_SCRAM_SHA_256, /* RFC 7677 */
    SMTP_AUTH_SCRAM_SHA_1,   /* RFC 5802 */
    SMTP_AUTH_PLAIN,         /* RFC 4616 */
    SMTP_AUTH_LOGIN,         /* draft-murchison-sasl-login */
    SMTP_AUTH_OAUTHBEARER,   /* RFC 7628 */
    SMTP_AUTH_XOAUTH2,       /* what some providers had before it */
    SMTP_AUTH_COUNT
} SmtpAuth;

/* Its registered name; "automatic" for SMTP_AUTH_ANY. */
const char *smtp_auth_name(SmtpAuth auth);

/* Whether it takes a token, and not a password. */
gboolean smtp_auth_is_token(SmtpAuth auth);

/* Texts are "" when there is none, paths absolute once checked. */
typedef struct {
    char *target;   /* unix:/path or inet:host:port; "" in an account without its own */
    gboolean gated; /* a door with the milter attached */
    SmtpTls tls;
    char *ca_file; /* "": the system's */
    char *certificate_file;
    char *key_file;
    char *user; /* "": no AUTH */
    SmtpAuth auth;
    Secret secret;
} NextHop;

/* Rows of a table of settings for a NextHop that is a member of the struct. otherwise: of
 * next-hop itself. */
#define NEXTHOP_SETTINGS(type, member, otherwise)                                             \
    {"next-hop", nexthop_read_target, offsetof(type, member.target), otherwise},              \
        {"next-hop-gated", setting_switch, offsetof(type, member.gated), "yes"},              \
        {"next-hop-tls", nexthop_read_tls, offsetof(type, member.tls), "none"},               \
        {"next-hop-ca", setting_file, offsetof(type, member.ca_file), ""},                    \
        {"next-hop-certificate", setting_file, offsetof(type, member.certificate_file), ""},  \
        {"next-hop-key", setting_file, offsetof(type, member.key_file), ""},                  \
        {"next-hop-user", setting_file, offsetof(type, member.user), ""},                     \
        {"next-hop-auth", nexthop_read_auth, offsetof(type, member.auth), "automatic"},       \
        SECRET_SETTINGS("next-hop", type, member.secret)

gboolean nexthop_read_target(const SettingPlace *, const char *, gpointer, GError **);
gboolean nexthop_read_tls(const SettingPlace *, const char *, gpointer, GError **);
gboolean nexthop_read_auth(const SettingPlace *, const char *, gpointer, GError **);

/* What the keys of a group say together; makes paths absolute, below folder. ERROR_CONFIG. */
gboolean nexthop_check(NextHop *hop, const char *folder, const KeyFile *file,
                       const KeyGroup *group, GError **error);

/* Reads the files once, as trusted.h wants them, to tell a mistake early. */
gboolean nexthop_check_files(const NextHop *hop, GError **error);

/* Frees the texts. */
void nexthop_clear(NextHop *hop);
