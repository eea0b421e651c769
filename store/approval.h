/* approval.h - approvals and tickets: authority that is used once
 *
 * An approval says: this approver, this item, this digest, until then (E22-E29). A ticket
 * says: these bytes to these recipients may pass the door now; it is minted when sending
 * starts and redeemed, with the approval, where the mail leaves. Both are consumed by a
 * conditional UPDATE, so of many who try one wins (C14). Writer's thread only. Errors:
 * ERROR_TEMP. */
#pragma once

#include "store/db.h"

/* Records an approval; the caller frees the id (128 random bits, hex). */
gboolean approval_grant(Db *db, const char *item, const char *account, const char *digest,
                        const char *approver, gint64 now, gint64 expires, char **id_out,
                        GError **error);

/* Whether an unused, unexpired approval of exactly this digest exists: looking, not using. A
 * clock that stands before its creation makes it void (XC11). */
gboolean approval_stands(Db *db, const char *item, const char *digest, gint64 now,
                         gboolean *stands_out, GError **error);

/* Uses it up: TRUE in *used_out for exactly one caller. */
gboolean approval_consume(Db *db, const char *item, const char *account, const char *digest,
                          gint64 now, gboolean *used_out, GError **error);

/* Makes every unused approval of the item void. */
gboolean approval_void(Db *db, const char *item, gint64 now, GError **error);

/* Mints a ticket; the caller frees it (128 random bits, hex). Earlier tickets of the item that
 * were never used are void from now on. */
gboolean ticket_mint(Db *db, const char *item, const char *digest, gint64 now, gint64 expires,
                     char **ticket_out, GError **error);

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
