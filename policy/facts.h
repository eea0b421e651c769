/* facts.h - what a rule may mention
 *
 * One row per fact (table in facts.c): its name in the policy language and its kind. A value
 * is known or unknown; a zeroed Facts knows nothing, and an unknown fact never helps a message
 * to a laxer tier (B9). Pure values, no I/O. Which facts can occur together: possible.h. */
#pragma once

#include <glib.h>

typedef enum {
    FACT_RECIPIENTS,
    FACT_EXTERNAL,
    FACT_NOVEL,
    FACT_EXTERNAL_NOVEL,
    FACT_KNOWN,
    FACT_FROM_BODY,
    FACT_LISTS,
    FACT_IN_THREAD,
    FACT_MINE,
    FACT_OUTSIDE_THREAD,
    FACT_THREAD_DAYS,
    FACT_CONTACT_DAYS,
    FACT_AUTO_SENDS,
    FACT_AUTO_RECIPIENT,
    FACT_SENT_HOUR,
    FACT_SENT_DAY,
    FACT_FANOUT_DAY,
    FACT_ATTACHMENTS,
    FACT_ATTACHMENT_BYTES,
    FACT_FORWARD,
    FACT_OPAQUE,
    FACT_SIZE,
    FACT_DIVERTED,
    FACT_HIDDEN,
    FACT_HEADER_ONLY,
    FACT_LOOKALIKE,
    FACT_PENDING,
    FACT_LOCKED,
    FACT_LOOP,
    FACT_COUNT
} Fact;

typedef enum {
    FACT_KIND_NUMBER, /* a count, bytes, or days */
    FACT_KIND_FLAG    /* yes or no, stored as 1 or 0 */
} FactKind;

typedef struct {
    gboolean known;
    gint64 number;
} FactValue;

typedef struct {
    FactValue values[FACT_COUNT];
    char declared[65]; /* the class in Agent-Action, "" when none: an unverified claim */
    /* What text and list conditions look at. Borrowed, and not part of facts_format; NULL is
     * unknown. */
    const char *subject;
    const char *text;              /* the plain text */
    const char *html;              /* HTML parts as text; "" when none */
    const char *const *recipients; /* normal forms; NULL-terminated */
} Facts;

/* As many days as an age can have: that long ago, longer, or never (A29). */
#define FACT_DAYS_MAX 9999

/* The fact's name in policy files and output. Static. */
const char *fact_name(Fact fact);

FactKind fact_kind(Fact fact);

/* 1 when more of it is more risk, -1 when more of it is less (B6). */
int fact_risk(Fact fact);

/* FALSE when no fact has that name. */
gboolean fact_find(const char *name, Fact *fact_out);

/* Makes one fact known. */
void facts_set(Facts *facts, Fact fact, gint64 number);

/* "recipients=1 forward=no lookalike=?": every fact in table order, then declared when set,
 * with percent signs as in a URI. The caller frees. facts_parse reads it back; FALSE when the
 * text is not of that form; a fact missing from the text stays unknown, so texts of older
 * versions still read. */
char *facts_format(const Facts *facts);
gboolean facts_parse(const char *text, Facts *facts_out);
