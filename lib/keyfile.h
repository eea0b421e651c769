/* keyfile.h - a strict reader of files made of [group] and "key = value" lines
 *
 * Stricter than GKeyFile on purpose: a group or key that stands twice, text after a value that
 * looks like a comment, or a line of no known form is an error, because each of them means
 * that the admin believes something else than the program (XF10). A comment is a line of its
 * own that starts with
 * #. Errors: ERROR_CONFIG with file, line, what was found and what was expected. */
#pragma once

#include <glib.h>

typedef struct {
    char *key;
    char *text; /* never empty, no control characters */
    guint line;
} KeyLine;

typedef struct {
    char *name; /* what stands between the brackets */
    guint line;
    GPtrArray *lines; /* of KeyLine * */
} KeyGroup;

typedef struct {
    char *path;
    GPtrArray *groups; /* of KeyGroup *, in the order of the file */
} KeyFile;

/* keyfile_read takes the text from a trusted file (trusted.h); path is kept for messages. */
KeyFile *keyfile_parse(const char *text, const char *path, GError **error);
KeyFile *keyfile_read(const char *path, GError **error);
void keyfile_free(KeyFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KeyFile, keyfile_free)

/* The group of that name, the line of that key; NULL when there is none. Borrowed. */
const KeyGroup *keyfile_group(const KeyFile *file, const char *name);
const KeyLine *keygroup_line(const KeyGroup *group, const char *key);

/* Refuses a key that is not in known (NULL-terminated), and names the one perhaps meant. */
gboolean keygroup_check(const KeyFile *file, const KeyGroup *group, const char *const *known,
                        GError **error);

/* Refuses a key that begins with key and a hyphen: without that key it has no meaning. */
gboolean keygroup_forbid_parts(const KeyFile *file, const KeyGroup *group, const char *key,
                               GError **error);

/* Sets "FILE:LINE: found “…”, expected …" and returns FALSE. A long found text is cut. */
gboolean keyfile_fail(GError **error, const KeyFile *file, guint line, const char *found,
                      const char *expected, ...) G_GNUC_PRINTF(5, 6);
