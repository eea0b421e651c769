/* extract.h - what the milter read in a message, for those who may not read MIME
 *
 * Filled by mail.c from hostile bytes, sent over the wire, kept with the item. Everything in
 * it is untrusted text of bounded length; whoever shows it escapes it. */
#pragma once

#include <glib.h>

#define EXTRACT_TEXT_LIMIT      (2 * 1024 * 1024) /* bytes of text, and as many of HTML */
#define EXTRACT_TEXT_CUT        "text longer than 2 MiB" /* in opaque, when one was cut */
#define EXTRACT_LIST_LIMIT      5000                     /* entries of any list but one */
#define EXTRACT_MENTIONED_LIMIT 20000 /* whoever names so many names them all */
#define EXTRACT_PART_LIMIT      2000

typedef struct {
    char *name;   /* file name as decoded, "" when none */
    char *type;   /* "application/pdf", lower case */
    guint64 size; /* bytes after transfer decoding */
    char *sha256; /* of those bytes, hex */
} ExtractPart;

typedef struct {
    char *message_id; /* "<a@b>", "" when none or unusable */
    char **parents;   /* ids in angle brackets from In-Reply-To and References, each once */
    char **from;      /* mailboxes as normal forms (address.h); a word that is no address is
                         left out, and with one that could be one, all are */
    char **to_cc;     /* of To and Cc */
    char **diverted;  /* of Reply-To, Mail-Followup-To, Mail-Reply-To, Errors-To,
                         Disposition-Notification-To, Return-Receipt-To */
    char **attendees; /* whom a calendar part names: ATTENDEE, ORGANIZER and the like */
    char **lists;     /* of List-Post, and of List-Id as far as it can be an address */
    char **mentioned; /* addresses found in the text, plain and HTML */
    char **doubled;   /* names of fields that may stand once but stand twice (RFC 5322, 3.6) */
    char **opaque;    /* why something cannot be shown: "encrypted", "TNEF container", … */
    char **bounced;   /* to whom it was not delivered, as a report in it says (RFC 3464) */
    char **returned;  /* Message-IDs of the messages attached, or of their headers */
    char *subject;    /* decoded, one line */
    char *from_field; /* the same of From: what recipients see as the sender's name (XD8) */
    char *text;       /* the plain text, decoded to UTF-8, all of it up to the limit */
    char *html;       /* the HTML parts as text with nothing hidden; "" when none */
    gboolean malformed; /* a bare CR, a bare LF or a NUL (RFC 5322, 2.3) */
    gboolean forward;   /* carries another message: attached, marked or resent */
    gboolean quoted;    /* quotes another message: a forward once it reaches an outsider */
    gboolean differs;   /* the HTML has other words than the text */
    gboolean capped;    /* beyond a cap it was not read: what it holds is not known */
    gboolean automatic; /* a program wrote it, by its own marks (RFC 3834) */
    GPtrArray *parts;   /* of ExtractPart *: every attachment, in order */
} Extract;

Extract *extract_new(void); /* all strings "", all lists empty */
void extract_free(Extract *extract);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Extract, extract_free)

/* Bytes of text and html together. */
guint64 extract_texts_size(const Extract *extract);

/* Empties text and html: what the message says, as against what it is. */
void extract_drop_texts(Extract *extract);

/* Adds a part; all strings are copied. */
void extract_add_part(Extract *extract, const char *name, const char *type, guint64 size,
                      const char *sha256);

/* A floating "a{sv}" with those of the members above as keys that are not empty. Reading
 * checks every type and count: ERROR_PROTOCOL; a missing key keeps its empty value. */
GVariant *extract_to_variant(const Extract *extract);
Extract *extract_from_variant(GVariant *variant, GError **error);
