/* lesson.h - what one message of a mailbox teaches, from exeat to exeat-relay
 *
 * Addresses are normal forms (address.h), ids stand in angle brackets. An admin's command made
 * it: what it says is taken as is, for who may import may vouch. */
#pragma once

#include <glib.h>

#define LESSON_TYPE "(bxssasasasasas)"

/* Strings and lists are borrowed; lists end with NULL. */
typedef struct {
    gboolean sent; /* by the human; otherwise received */
    gint64 when;
    const char *message_id;      /* "" when none */
    const char *sender;          /* "" when it cannot be told */
    const char **parents;        /* ids it names */
    const char **recipients;     /* whom it was sent to */
    const char **correspondents; /* its own From, To, Cc */
    const char **mentioned;      /* addresses in its text */
    const char **lists;
} Lesson;

/* A floating variant of LESSON_TYPE. */
GVariant *lesson_to_variant(const Lesson *lesson);

/* Strings are the variant's, lists are freed by lesson_clear. */
void lesson_from_variant(GVariant *variant, Lesson *lesson_out);
void lesson_clear(Lesson *lesson);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Lesson, lesson_clear)
