/* envelope.h - who sends to whom, as the client said it
 *
 * Addresses as written between < and >; parameters as "NOTIFY=NEVER" (RFC 1870, 3461, 6152,
 * 6531). SIZE and AUTH are left out: they describe one hop. */
#pragma once

#include <glib.h>

typedef struct {
    char *address;     /* as written, without the brackets */
    char *resolved;    /* what the mail server makes of it, NULL when it did not say */
    char **parameters; /* NULL-terminated, sorted in byte order */
} EnvelopeRecipient;

typedef struct {
    char *sender; /* "" is the null sender */
    char **parameters;
    GPtrArray *recipients; /* of EnvelopeRecipient *, in the client's order */
} Envelope;

Envelope *envelope_new(void);
void envelope_free(Envelope *envelope);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Envelope, envelope_free)

/* Sets the sender from the words of MAIL FROM: the path, then parameters; NULL-terminated, at
 * least the path. */
void envelope_set_sender(Envelope *envelope, const char *const *words);

/* Adds a recipient from the words of RCPT TO. resolved may be NULL. */
void envelope_add_recipient(Envelope *envelope, const char *const *words,
                            const char *resolved);

/* The same with those recipients only for which wanted is TRUE, in the client's order. */
Envelope *envelope_part(const Envelope *envelope, const gboolean *wanted);

/* FALSE when a control character stands in an address or parameter, which makes the message
 * one to refuse (cases/README, row 2). */
gboolean envelope_is_clean(const Envelope *envelope);

/* "(ayaaya(ayayaay))": sender, its parameters, then address, resolved ("" for NULL) and
 * parameters of each recipient. Byte strings, because an address may hold bytes that are not
 * UTF-8. The variant is floating. envelope_from_variant checks the type and that it is
 * clean: ERROR_PROTOCOL. */
GVariant *envelope_to_variant(const Envelope *envelope);
Envelope *envelope_from_variant(GVariant *variant, GError **error);
