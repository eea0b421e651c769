#include "lib/keyfile.h"

#include <string.h>

#include "lib/error.h"
#include "lib/trusted.h"
#include "policy/spelling.h"

#define FOUND_LIMIT 60 /* bytes of a line that a message repeats */

gboolean
keyfile_fail(GError **error, const KeyFile *file, guint line, const char *found,
             const char *expected, ...)
{
    gboolean cut = strlen(found) > FOUND_LIMIT;
    const char *end =
        cut ? g_utf8_find_prev_char(found, found + FOUND_LIMIT) : found + strlen(found);
    va_list arguments;

    va_start(arguments, expected);
    g_autofree char *wish = g_strdup_vprintf(expected, arguments);
    va_end(arguments);
    g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "%s:%u: found “%.*s%s”, expected %s",
                file->path, line, (int)(end - found), found, cut ? "…" : "", wish);
    return FALSE;
}

static void
line_free(KeyLine *line)
{
    g_free(line->key);
    g_free(line->text);
    g_free(line);
}

static void
group_free(KeyGroup *group)
{
    g_free(group->name);
    g_ptr_array_unref(group->lines);
    g_free(group);
}

void
keyfile_free(KeyFile *file)
{
    g_free(file->path);
    g_ptr_array_unref(file->groups);
    g_free(file);
}

const KeyGroup *
keyfile_group(const KeyFile *file, const char *name)
{
    for (guint i = 0; i < file->groups->len; i++) {
        const KeyGroup *group = g_ptr_array_index(file->groups, i);
        if (g_str_equal(group->name, name))
            return group;
    }
    return NULL;
}

const KeyLine *
keygroup_line(const KeyGroup *group, const char *key)
{
    for (guint i = 0; i < group->lines->len; i++) {
        const KeyLine *line = g_ptr_array_index(group->lines, i);
        if (g_str_equal(line->key, key))
            return line;
    }
    return NULL;
}

/* A "[group]" line. */
static gboolean
add_group(KeyFile *file, const char *written, guint number, GError **error)
{
    gsize length = strlen(written);

    if (length < 3 || written[length - 1] != ']' || strcspn(written + 1, "[]") != length - 2)
        return keyfile_fail(error, file, number, written, "[group] and nothing after it");

    g_autofree char *name = g_strndup(written + 1, length - 2);
    const KeyGroup *earlier = keyfile_group(file, name);
    if (earlier != NULL)
        return keyfile_fail(error, file, number, written,
                            "each group once: it began in line %u", earlier->line);

    KeyGroup *group = g_new0(KeyGroup, 1);
    group->name = g_steal_pointer(&name);
    group->line = number;
    group->lines = g_ptr_array_new_with_free_func((GDestroyNotify)line_free);
    g_ptr_array_add(file->groups, group);
    return TRUE;
}

/* Text that other file formats take for a comment and this one would take for the value. */
static gboolean
has_comment(const char *text)
{
    return text[0] == '#' || strchr(text, ';') != NULL || strstr(text, " #") != NULL ||
           strstr(text, "\t#") != NULL;
}

/* A "key = value" line. */
static gboolean
add_line(KeyFile *file, const char *written, guint number, GError **error)
{
    const char *sign = strchr(written, '=');

    if (sign == NULL || sign == written)
        return keyfile_fail(error, file, number, written,
                            "[group], key = value, or a comment line that starts with #");
    if (file->groups->len == 0)
        return keyfile_fail(error, file, number, written, "a [group] before the first key");

    KeyGroup *group = g_ptr_array_index(file->groups, file->groups->len - 1);
    g_autofree char *key = g_strchomp(g_strndup(written, (gsize)(sign - written)));
    g_autofree char *text = g_strstrip(g_strdup(sign + 1));
    const KeyLine *earlier = keygroup_line(group, key);
    if (earlier != NULL)
        return keyfile_fail(error, file, number, key,
                            "each key once in a group: it stands in line %u", earlier->line);
    if (*text == '\0')
        return keyfile_fail(error, file, number, written, "a value after the =");
    if (has_comment(text))
        return keyfile_fail(error, file, number, text,
                            "the value alone: a comment is a line of its own");

    KeyLine *line = g_new0(KeyLine, 1);
    line->key = g_steal_pointer(&key);
    line->text = g_steal_pointer(&text);
    line->line = number;
    g_ptr_array_add(group->lines, line);
    return TRUE;
}

static gboolean
has_control(const char *text)
{
    for (; *text != '\0'; text = g_utf8_next_char(text))
        if (*text != '\t' && g_unichar_iscntrl(g_utf8_get_char(text)))
            return TRUE;
    return FALSE;
}

static gboolean
add_written(KeyFile *file, char *written, guint number, GError **error)
{
    if (has_control(written))
        return keyfile_fail(error, file, number, written,
                            "a line without control characters (also no carriage return)");
    g_strstrip(written);
    if (*written == '\0' || *written == '#')
        return TRUE;
    return *written == '[' ? add_group(file, written, number, error)
                           : add_line(file, written, number, error);
}

KeyFile *
keyfile_parse(const char *text, const char *path, GError **error)
{
    g_autoptr(KeyFile) file = g_new0(KeyFile, 1);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    file->path = g_strdup(path);
    file->groups = g_ptr_array_new_with_free_func((GDestroyNotify)group_free);
    for (guint i = 0; lines[i] != NULL; i++)
        if (!add_written(file, lines[i], i + 1, error))
            return NULL;
    return g_steal_pointer(&file);
}

KeyFile *
keyfile_read(const char *path, GError **error)
{
    g_autofree char *text = trusted_read(path, error);

    return text != NULL ? keyfile_parse(text, path, error) : NULL;
}

gboolean
keygroup_check(const KeyFile *file, const KeyGroup *group, const char *const *known,
               GError **error)
{
    for (guint i = 0; i < group->lines->len; i++) {
        const KeyLine *line = g_ptr_array_index(group->lines, i);
        if (g_strv_contains(known, line->key))
            continue;
        const char *meant = spelling_guess(line->key, known);
        g_autofree char *hint =
            meant != NULL ? g_strdup_printf(" (did you mean “%s”?)", meant) : g_strdup("");
        return keyfile_fail(error, file, line->line, line->key, "a key of [%s]%s", group->name,
                            hint);
    }
    return TRUE;
}

gboolean
keygroup_forbid_parts(const KeyFile *file, const KeyGroup *group, const char *key,
                      GError **error)
{
    g_autofree char *prefix = g_strconcat(key, "-", NULL);

    for (guint i = 0; i < group->lines->len; i++) {
        const KeyLine *line = g_ptr_array_index(group->lines, i);
        if (g_str_has_prefix(line->key, prefix))
            return keyfile_fail(error, file, line->line, line->key,
                                "the key “%s” in this group, too", key);
    }
    return TRUE;
}
