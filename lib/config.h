/* config.h - exeat.conf
 *
 * Immutable once read, reference counted. All or nothing, and strict (keyfile.h). Errors:
 * ERROR_CONFIG, naming file, line, what was found and what was expected; POLICY_ERROR as it
 * is; ERROR_TEMP when the user database cannot be asked. Keys: exeat.conf(5). */
#pragma once

#include "lib/aliases.h"
#include "lib/draftbox.h"
#include "lib/nexthop.h"
#include "lib/passwords.h"
#include "lib/people.h"
#include "policy/rules.h"

typedef struct {
    char *name;
    char **addresses;      /* the human's own, normal forms */
    char **human_logins;   /* lower case */
    char **agent_logins;   /* lower case */
    char **reply_logins;   /* those of them that may only answer (D26), lower case */
    char **senders;        /* what the agent may send as, normal forms; default: addresses */
    char **internal;       /* domains, normal forms, exact names */
    char **lists;          /* addresses declared to be lists, normal forms */
    char **stop_addresses; /* where the human may mail stop to, normal forms */
    People agent_users;    /* may withdraw, may never decide */
    People approvers;
    gboolean confirm;        /* an approver must give the own password, too */
    gboolean answer_later;   /* what is kept gets a 451 until its end is known; default no */
    gboolean mark_automatic; /* what leaves by a rule says so (RFC 3834); default no */
    Mode mode;               /* default draft (A37) */
    char *policy_file;       /* absolute, as all names of files are */
    Policy *policy;
    char *notices_to;      /* where the agent hears what became of its messages, or "" */
    char **notify;         /* addresses that hear that something is held */
    char **notify_command; /* program and arguments that hear it instead, or none */
    gboolean heartbeat;    /* they hear daily how many wait, be it none */
    char *digest_to;       /* who hears daily what left without a person, or "" */
    NextHop hop;           /* its target is "" when the account has none of its own */
    DraftBox drafts;       /* where the human sees what waits */
} Account;

typedef struct {
    char *path;  /* of the file itself */
    char *state; /* the relay's folder */
    char *relay_socket;
    char *milter_socket; /* as smfi_setconn takes it: unix:/path, inet:port@host */
    uid_t milter_user;
    char *spool;           /* folder for the milter's unlinked files */
    NextHop hop;           /* of accounts that have none of their own, and of notices */
    char **inside;         /* networks as written: 127.0.0.0/8, ::1/128, … */
    People admins;         /* root is always one */
    gint64 expire;         /* seconds a draft or held item waits; default 14 days */
    gint64 approval_life;  /* seconds; default 900 (E21) */
    char **anchor;         /* program and arguments that get the newest audit entry, or none */
    char **reconcile;      /* program and arguments that look what became of a message */
    char *notices_from;    /* sender of what the gate writes itself; default exeat@host */
    guint64 size_limit;    /* bytes of a message kept; default 50 MiB */
    guint64 header_limit;  /* bytes of a header read by the milter; default 4 MiB (XF7) */
    guint recipient_limit; /* of a message; default 1000 (XF7) */
    guint hour_limit;      /* messages of a login in an hour; default 300 (XF22) */
    guint day_limit;       /* the same in a day; default 1000 */
    guint64 record_limit;  /* bytes of their records, in a day; default 32 MiB */
    guint refusal_limit;   /* refusals of a local user recorded in an hour; default 300 */
    guint waiting_limit;   /* waiting items per account; default 200 (XC14) */
    gint64 keep;          /* seconds that a finished item's message is kept; default 30 days */
    guint64 store_limit;  /* bytes of messages kept per account; default 1 GiB */
    guint hold_target;    /* held messages a week and account (A33); default 2 */
    gint64 received_keep; /* seconds; default 90 days: what received mail taught */
    guint received_limit; /* how much of each kind per account; default 100000 (XE18) */
    char **alias_files;   /* as aliases_read takes them */
    Aliases *aliases;     /* NULL when read without policies */
    char *floor_file;     /* "" when there is none */
    Policy *floor;        /* what no account's policy can loosen; NULL when there is none */
    char *password_file;  /* "" when there is none */
    GArray *passwords;    /* passwords.h; NULL without file, or when read without policies */
    GPtrArray *accounts;  /* of Account * */
} Config;

/* Reads the file and every policy and alias file it names. Refuses a file that its group or
 * others may write or that another user than root or the caller owns (XF16), an agent's user
 * as approver (unless each approval takes a password) or admin, a login or address in two
 * accounts, an account without addresses or internal domains (XA20, XB29). with_policies FALSE
 * skips the policies and the mail server's aliases: the milter has no business with them. */
Config *config_read(const char *path, gboolean with_policies, GError **error);

Config *config_ref(Config *config);
void config_unref(Config *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Config, config_unref)

typedef enum { ROLE_NONE, ROLE_HUMAN, ROLE_AGENT } Role;

/* The account a login belongs to and its role there; case does not matter (case H5). The
 * account is borrowed; NULL with ROLE_NONE. */
const Account *config_login(const Config *config, const char *login, Role *role_out);

/* Whether that login of the agent may only answer (D26). */
gboolean config_only_replies(const Account *account, const char *login);

/* Where the account's mail is handed on; for a name of no account where all others' is.
 * Borrowed. */
const NextHop *config_next_hop(const Config *config, const char *account);

/* By name; NULL when there is none. Borrowed. */
const Account *config_account(const Config *config, const char *name);

/* The account that a sender address or a human's address belongs to; NULL when none. Borrowed.
 */
const Account *config_address(const Config *config, const char *normal);

/* TRUE when the user is an agent's, in any account: such a user decides nothing (XC1). */
gboolean config_is_agent_user(const Config *config, uid_t uid, gid_t gid);

/* TRUE when an IP address in text form lies in an inside network; 127.0.0.1 and ::1 always do.
 */
gboolean config_is_inside(const Config *config, const char *ip);
