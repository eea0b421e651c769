/* report.h - what became of a message, told to the agent as mail (RFC 3464)
 *
 * A multipart/report of ASCII: a sentence, the same for programs, and the Message-ID instead
 * of the message, whatever RET wants: the agent has it. What waits is told in the same words
 * whatever it waits for (XF21). The agent's own words stand in no field unless they are plain,
 * and nothing in it helps to approve. */
#pragma once

#include "store/queue.h"

typedef struct {
    const char *from, *to;  /* addresses of ASCII */
    const char *host;       /* who reports */
    const char *message_id; /* in angle brackets */
    gint64 now;
} ReportHead;

/* The report that an item became this; NULL when NOTIFY (RFC 3461, 4.1) asks for it for none
 * of the recipients. Recipients without NOTIFY get every report. The caller frees. */
GString *report_compose(const Item *item, State told, const ReportHead *head);

/* Why an item will not be sent, in one line for an SMTP reply; NULL when it was, or waits.
 * *status_out: RFC 3463. Not escaped. The caller frees both. */
char *report_reply(const Item *item, char **status_out);

/* What an agent may know of why an item ended so: the reviewer's sentence, the next hop's
 * reply or the reason of a refusal; else "". Not escaped. Borrowed from the item. */
const char *report_reason(const Item *item);
