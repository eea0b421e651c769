/* mail-content.h - one MIME part: what it says of itself, what it is to a reader, its content
 *
 * For mail-part.c and mail-leaf.c only: like them, a user of gmime. */
#pragma once

#include <gmime/gmime.h>

#include "lib/mail-private.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(GMimeFilter, g_object_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GMimeParser, g_object_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GMimeStream, g_object_unref)

/* A field of the part's header as written, lower case; NULL when it has none. */
char *mail_part_header(GMimeObject *object, const char *name);

/* TRUE when the field has a file name, in any of the spellings some reader takes for one. */
gboolean mail_part_is_named(GMimeObject *object, const char *field);

/* Every file name that some reader shows for the part, each once and as decoded, first the one
 * that most show (XD12). The caller frees. */
char **mail_part_names(GMimeObject *object);

/* FALSE when the content type is none and readers guess, each in its way. */
gboolean mail_part_type_is_clear(GMimeObject *object);

/* The transfer encoding as written, lower case, "" when there is none. */
char *mail_part_encoding(GMimeObject *object);

/* The decoded content, of which only the beginning is held. */
typedef struct {
    GChecksum *sum; /* SHA-256 of all of it; NULL when it was not wanted */
    guint64 size;
    GByteArray *kept; /* its beginning */
    GByteArray *last; /* what was read last, from a little before it */
    gboolean sealed;  /* something in it is encrypted (mail_sealed_within); only if summed */
    gboolean broken;  /* readers undo its transfer encoding in different ways */
} MailContent;

/* Decodes the content and keeps at most keep bytes. The caller frees. */
MailContent *mail_content_read(GMimePart *part, gsize keep, gboolean summed);

void mail_content_free(MailContent *content);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MailContent, mail_content_free)

/* Makes a text of another kind plain; the caller frees. */
typedef char *(*MailReader)(const char *text);

/* What a part without parts in it is to a reader. */
typedef struct {
    const char *type;  /* as given, lower case */
    gboolean body;     /* text that is no attachment */
    gboolean shown;    /* text that a reader shows in place */
    gboolean calendar; /* an invitation, shown or attached */
    gboolean message;  /* another message, or the head of one */
    gboolean nested;   /* a message that can be read */
    gboolean report;   /* tells of a delivery (mail_is_report) */
    gboolean card;     /* a visiting card, shown or attached */
    MailReader reader; /* of a text that only some readers show in place; NULL for others */
} MailLeaf;

/* Looks at a part and marks what is odd about it. type is borrowed. */
MailLeaf mail_leaf_look(MailReading *reading, GMimePart *part, const char *type);

#define MAIL_GLANCE 4096 /* bytes that tell what an attached file is */

/* Marks an attached file that is encrypted, or a container, by its name or its bytes (cases B9
 * and B16, XB20). content: the part's, borrowed, summed, of which at least MAIL_GLANCE bytes
 * were to be kept. */
void mail_leaf_glance(MailReading *reading, GMimePart *part, const MailContent *content);

/* Reads a text into the reading. counted: as for mail_read_text. Returns the text; the caller
 * frees. */
char *mail_leaf_read(MailReading *reading, GMimeObject *object, const MailLeaf *leaf,
                     const MailContent *content, gboolean counted);

/* Adds what a card, or a text with a reader, says to what is searched and looked over. */
void mail_leaf_search(MailReading *reading, GMimeObject *object, const MailLeaf *leaf,
                      const MailContent *content);
