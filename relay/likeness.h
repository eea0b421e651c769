/* likeness.h - whom an address could be taken for
 *
 * The one definition behind the fact "lookalike" and behind what people are shown: another
 * address that looks like one of the human's own; a domain that looks like an internal one;
 * and what the history finds among correspondents (history_find_like). Who is inside is taken
 * for nobody: the house hands out those names. In the writer. Errors: ERROR_TEMP. */
#pragma once

#include "lib/config.h"
#include "store/db.h"

/* What the recipients of one message have in common: each domain is looked up once. */
typedef struct _Likeness Likeness;

/* db and account must outlive it. */
Likeness *likeness_new(Db *db, const Account *account);
void likeness_free(Likeness *likeness);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Likeness, likeness_free)

/* address: a normal form. *like_out: an address or a domain, NULL when there is none; the
 * caller frees. */
gboolean likeness_find(Likeness *likeness, const char *address, char **like_out,
                       GError **error);
