/* mail-head.h - the header of a message in somebody's mailbox
 *
 * For imports, where most messages are read no further: no file, no MIME. Marks, doubled
 * fields and the like say nothing here; what cannot be read is left out. */
#pragma once

#include "lib/extract.h"

typedef struct {
    Extract *extract; /* ids, from, to_cc, lists, automatic; no text, no parts */
    char **bcc;       /* normal forms */
    char *labels;     /* X-Gmail-Labels, decoded; "" when none */
    gboolean removed; /* by a program that marks messages in an mbox: deleted, or a draft */
    gint64 date;      /* 0: none, or none that can be read */
} MailHead;

/* bytes: a header in any line ends. NULL when there is not a single field. The caller frees.
 */
MailHead *mail_head_read(const char *bytes, gsize length);
void mail_head_free(MailHead *head);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MailHead, mail_head_free)
