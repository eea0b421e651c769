/* audit.h - one entry for everything that was decided or done (A20-A24)
 *
 * Append-only, numbered without gaps, written in the transaction of what it records: no entry,
 * no release (A40). No message text (XE16): digests, addresses, names of rules. Writer's
 * thread only. */
#pragma once

#include "store/db.h"

typedef struct {
    const char *kind;    /* "submitted", "moved", "approval", "observed", "started", … */
    const char *account; /* NULL when none */
    const char *item;    /* NULL when none */
    const char *who;     /* "agent login X", "user alice (1001)", "relay" */
    GVariant *details;   /* a{sv} of what belongs to the kind; floating is taken; NULL: none */
} AuditEntry;

gboolean audit_append(Db *db, const AuditEntry *entry, gint64 now, GError **error);
