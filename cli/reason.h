/* reason.h - why an address is known or not, in sentences
 *
 * From the members that the relay's answers have for a recipient and for an entry of the
 * history. A line may end in a stranger's words, never begin with them or have ours after
 * them: escape it before showing. */
#pragma once

#include <glib.h>

/* What an address is. Forgotten is who was written to before an admin made a stranger of them;
 * a conversation keeps who took part. */
typedef enum {
    STANDING_KNOWN,
    STANDING_NAMED, /* in a received text */
    STANDING_FORGOTTEN,
    STANDING_NOVEL, /* never written to */
    STANDING_COUNT
} Standing;

Standing reason_standing(GVariant *entry);

/* In a word or three, for people. Static. */
const char *reason_standing_name(Standing standing);

/* texts: also where received texts named it. The caller frees. */
char **reason_lines(GVariant *entry, gboolean texts);

/* "2026-11-29", local time. The caller frees. */
char *reason_date(gint64 when);
