/* audit.h - one entry for everything that was decided or done (A20-A24)
 *
 * Append-only, numbered without gaps, each sealed with the one before (chain.h), written in
 * the transaction of what it records: no entry, no release (A40). No message text (XE16):
 * digests, addresses, names of rules. Times may stand still or jitter by seconds, since
 * requests wait for the writer; a clock that went back further is an entry of its own (XE12).
 * Writer's thread only. Errors: ERROR_TEMP. */
#pragma once

#include "lib/chain.h"
#include "store/db.h"

/* Seconds by which a clock may go back without being called changed. */
#define AUDIT_JITTER 60

typedef struct {
    const char *kind;    /* "submitted", "moved", "approval", "history", "started", … */
    const char *account; /* NULL when none */
    const char *item;    /* NULL when none */
    const char *who;     /* "agent login X", "user alice (1001)", "relay" */
    GVariant *details;   /* a{sv} of what belongs to the kind; floating is taken; NULL: none */
    const char *printed; /* or such details as text already (vardict.h), where it is set */
} AuditEntry;

gboolean audit_append(Db *db, const AuditEntry *entry, gint64 now, GError **error);

/* The same after a head that the table does not reach: the gap stays to be seen. */
gboolean audit_append_after(Db *db, const ChainHead *head, const AuditEntry *entry, gint64 now,
                            GError **error);

/* The newest entry, and when it was made (0 when there is none). */
gboolean audit_head(Db *db, ChainHead *head_out, gint64 *at_out, GError **error);

/* Fills in the seal of the entry numbered head->seq; ERROR_TEMP when there is none. */
gboolean audit_seal(Db *db, ChainHead *head, GError **error);

/* Whether the table has the head's entry, with its seal. An empty head is always there. */
gboolean audit_has(Db *db, const ChainHead *head, gboolean *has_out, GError **error);

/* Called with each entry; the texts are borrowed. FALSE ends the walk. */
typedef gboolean (*AuditVisit)(const ChainEntry *entry, const char *seal, gpointer data);

/* Walks at most limit entries: those after a number, or those of an item. */
gboolean audit_walk(Db *db, gint64 after, guint limit, AuditVisit visit, gpointer data,
                    GError **error);
gboolean audit_walk_item(Db *db, const char *item, guint limit, AuditVisit visit,
                         gpointer data, GError **error);
