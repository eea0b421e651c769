/* halt.h - what was switched off: everything, or one account
 *
 * A halt stands from its commit until somebody lifts it, across restarts. Setting and lifting
 * one are audit entries (XF9). Writer's thread only. Errors: ERROR_TEMP. */
#pragma once

#include "store/db.h"

/* In order of strictness. */
typedef enum {
    HALT_STOPPED,   /* nothing leaves; what is delayed or approved stays where it is */
    HALT_SUSPENDED, /* nothing leaves, and what had leave to go has lost it */
    HALT_REVOKED    /* the same, and the agent is refused */
} HaltKind;

typedef struct {
    HaltKind kind;
    char *account; /* "": everything */
    char *why;
    char *who;
    gint64 since;
} Halt;

void halt_free(Halt *halt);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Halt, halt_free)

/* "stopped" and so on. */
const char *halt_kind_name(HaltKind kind);

/* "stopped: WHY", the reason of what is kept because of it. The caller frees. */
char *halt_describe(const Halt *halt);

/* *set_out FALSE: one of that kind stands already, and stays as it is. */
gboolean halt_set(Db *db, const Halt *halt, gboolean *set_out, GError **error);

/* *lifted_out FALSE: there was none of that kind. */
gboolean halt_lift(Db *db, HaltKind kind, const char *account, const char *who, gint64 now,
                   gboolean *lifted_out, GError **error);

/* The strictest one that the account is under; *halt_out NULL when there is none. The caller
 * frees. */
gboolean halt_find(Db *db, const char *account, Halt **halt_out, GError **error);

/* All, those of everything first. Array of Halt *, its free function set. */
GPtrArray *halt_list(Db *db, GError **error);
