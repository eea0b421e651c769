/* authority.h - whether an item may leave
 *
 * An item leaves by its rule, judged again with today's facts, or by the approvals of as many
 * different people as its verdict asked for. Neither replaces the ordinary rights: account,
 * mode, login and rules are looked at again each time (C12, C16, E38, XC13). Runs inside a
 * writer job. Errors: ERROR_TEMP. */
#pragma once

#include "lib/config.h"
#include "store/queue.h"

/* Whether the item may leave now. why_out names what is in the way and is NULL when valid; the
 * caller frees. For a rule's item tier_out tells what the rules say now. Checked when sending
 * begins and again, in the transaction that uses the approvals up, where the mail leaves. */
gboolean authority_check(Db *db, const Config *config, const Item *item, gint64 now,
                         gboolean *valid_out, Tier *tier_out, char **why_out, GError **error);

/* What a person has to know before deciding on an item. */
typedef struct {
    GPtrArray *approvals; /* of Approval *: those that count, one for each person */
    guint needed;
    char *refused; /* why the item would be refused today; NULL: it would not */
} Standing;

void standing_clear(Standing *standing);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Standing, standing_clear)

/* An approval counts while it is unused, unexpired and whole, its approver still is one for
 * the account, and the policy did not get stricter since. Fills in standing, zeroed before. */
gboolean authority_standing(Db *db, const Config *config, const Account *account,
                            const Item *item, gint64 now, Standing *standing, GError **error);
