/* approval.h - approvals and tickets: authority that is used once
 *
 * An approval says: this approver, this item, this digest, until then (E22-E29). It is sealed
 * over all its fields (seal.h), so that one made or changed by anybody but the relay is void;
 * that is an entry in the audit record. A ticket says: these bytes to these recipients may
 * pass the door now; it is minted when sending starts and redeemed, with the approvals, where
 * the mail leaves. Both are consumed by a conditional UPDATE, so of many who try one wins
 * (C14). Writer's thread only. Errors: ERROR_TEMP. */
#pragma once

#include "store/db.h"

typedef struct {
    char *id; /* 128 random bits, hex */
    char *item;
    char *account;
    char *digest;
    char *approver; /* "user alice (1001)" */
    gint64 uid;     /* the approver's, and the group of the process that asked */
    gint64 gid;
    char *policy; /* version in force when it was granted */
    gint64 created;
    gint64 expires;
} Approval;

void approval_free(Approval *approval);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Approval, approval_free)

/* Records an approval, whose id is drawn here, and its audit entry. */
gboolean approval_grant(Db *db, const Approval *approval, GError **error);

/* The approvals of exactly this item, account and digest that are neither used, void nor
 * expired; none used up by looking. One whose seal is wrong, or that is younger than now,
 * since the clock went back (XC11), becomes void. Array of Approval *, its free function set.
 */
GPtrArray *approval_find(Db *db, const char *item, const char *account, const char *digest,
                         gint64 now, GError **error);

/* Uses up those that approval_find gives: TRUE in *used_out for exactly one caller. */
gboolean approval_consume(Db *db, const char *item, const char *account, const char *digest,
                          gint64 now, gboolean *used_out, GError **error);

/* Makes every unused approval of the item void; NULL: of all items. */
gboolean approval_void(Db *db, const char *item, gint64 now, GError **error);

/* Mints a ticket; the caller frees it (128 random bits, hex). Earlier tickets of the item that
 * were never used are void from now on. */
gboolean ticket_mint(Db *db, const char *item, const char *digest, gint64 now, gint64 expires,
                     char **ticket_out, GError **error);

/* From now on the ticket is for another digest: that of the same message to fewer recipients.
 * *done_out FALSE: it was used or is void. */
gboolean ticket_narrow(Db *db, const char *ticket, const char *digest, gboolean *done_out,
                       GError **error);

typedef enum {
    TICKET_UNKNOWN, /* made up, void, expired, or of another digest */
    TICKET_GOOD,
    TICKET_USED /* redeemed before, by these very bytes */
} TicketState;

/* What a ticket is worth for this digest; *item_out names its item (the caller frees), NULL
 * for UNKNOWN. */
gboolean ticket_look_up(Db *db, const char *ticket, const char *digest, gint64 now,
                        TicketState *state_out, char **item_out, GError **error);

/* Uses it: TRUE in *used_out for exactly one caller. */
gboolean ticket_redeem(Db *db, const char *ticket, const char *digest, gint64 now,
                       gboolean *used_out, GError **error);

/* Voids the unused tickets of an item; *used_out tells whether one was used before. */
gboolean ticket_end(Db *db, const char *item, gboolean *used_out, GError **error);
