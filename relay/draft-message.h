/* draft-message.h - what a person sees in the mailbox of an item that waits
 *
 * The message as it was judged, with two marks of ours and with what its sending by hand
 * needs. The relay reads no MIME: all that is looked at are the names of fields. */
#pragma once

#include "store/queue.h"

#define DRAFT_ITEM "X-Exeat-Item"
#define DRAFT_DUE  "X-Exeat-Due"

/* X-Exeat-Item; X-Exeat-Due when it leaves by itself; Bcc with the recipients that To and Cc
 * do not name, whom a mail program would leave out; and the message without Bcc fields, whose
 * addresses may be no recipients, and without any X-Exeat-*. The caller frees. */
GString *draft_compose(const Item *item, const char *bytes, gsize length);

/* Whether these are the bytes of that draft, whenever it was put: X-Exeat-Due may differ. */
gboolean draft_is_same(const GString *draft, const char *bytes, gsize length);
