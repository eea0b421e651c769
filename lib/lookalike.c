#include "lib/lookalike.h"

#include <idn2.h>
#include <string.h>

#include "lib/address.h"

#define EDIT_LEAST 6  /* letters: shorter names are all one edit apart */
#define EDIT_MOST  64 /* the keys of a name are as many as its letters */
#define PARTS_MOST 12 /* between dots and hyphens; nobody reads on from there */

/* Small letters that look like Latin ones, without those that decomposition finds. From the
 * confusables of Unicode Technical Standard 39, as far as a domain may hold them. */
static const struct {
    gunichar letter;
    char latin;
} confusables[] = {
    {0x0131, 'i'}, {0x0142, 'l'}, {0x00f8, 'o'}, {0x0111, 'd'}, {0x0127, 'h'}, {0x0167, 't'},
    {0x0180, 'b'}, {0x0251, 'a'}, {0x0261, 'g'}, {0x0269, 'i'}, {0x026a, 'i'}, {0x028b, 'u'},
    {0x03b1, 'a'}, {0x03b3, 'y'}, {0x03b5, 'e'}, {0x03b7, 'n'}, {0x03b9, 'i'}, {0x03ba, 'k'},
    {0x03bd, 'v'}, {0x03bf, 'o'}, {0x03c1, 'p'}, {0x03c3, 'o'}, {0x03c4, 't'}, {0x03c5, 'u'},
    {0x03c7, 'x'}, {0x03c9, 'w'}, {0x0430, 'a'}, {0x0432, 'b'}, {0x0433, 'r'}, {0x0435, 'e'},
    {0x043a, 'k'}, {0x043c, 'm'}, {0x043d, 'h'}, {0x043e, 'o'}, {0x043f, 'n'}, {0x0440, 'p'},
    {0x0441, 'c'}, {0x0442, 't'}, {0x0443, 'y'}, {0x0445, 'x'}, {0x044c, 'b'}, {0x0455, 's'},
    {0x0456, 'i'}, {0x0458, 'j'}, {0x0461, 'w'}, {0x0475, 'v'}, {0x04af, 'y'}, {0x04bb, 'h'},
    {0x04bd, 'e'}, {0x04cf, 'l'}, {0x0501, 'd'}, {0x051b, 'q'}, {0x051d, 'w'}, {0x0563, 'q'},
    {0x0566, 'q'}, {0x0570, 'h'}, {0x0578, 'n'}, {0x057c, 'n'}, {0x057d, 'u'}, {0x0581, 'g'},
    {0x0584, 'f'}, {0x0585, 'o'}, {0x05d5, 'l'}, {0x05d8, 'v'}, {0x05df, 'l'}, {0x05e1, 'o'},
    {0x0665, 'o'}, {0x0966, 'o'}, {0x0e50, 'o'}, {0x13a5, 'i'}, {0x1d04, 'c'}, {0x1d0f, 'o'},
    {0x1d20, 'v'}, {0x1d21, 'w'}, {0x1d22, 'z'},
};

static gunichar
latin_of(gunichar letter)
{
    for (gsize i = 0; letter >= 0x80 && i < G_N_ELEMENTS(confusables); i++)
        if (confusables[i].letter == letter)
            return (guchar)confusables[i].latin;
    return letter;
}

/* What fonts hide; a pair is seen once its second letter has come. */
static void
append_folded(GString *folded, gunichar letter)
{
    char last = folded->len > 0 ? folded->str[folded->len - 1] : '\0';

    if (letter == '0')
        letter = 'o';
    else if (letter == '1' || letter == 'i' || letter == '|')
        letter = 'l';
    if ((letter == 'n' && last == 'r') || (letter == 'v' && last == 'v')) {
        g_string_truncate(folded, folded->len - 1);
        letter = letter == 'n' ? 'm' : 'w';
    }
    g_string_append_unichar(folded, letter);
}

/* What the text looks like, without the letters left out. */
static char *
fold(const char *text, const char *without)
{
    g_autofree char *apart = g_utf8_normalize(text, -1, G_NORMALIZE_ALL);
    g_autoptr(GString) folded = g_string_new(NULL);

    for (const char *p = apart ? apart : ""; *p != '\0'; p = g_utf8_next_char(p)) {
        gunichar letter = latin_of(g_unichar_tolower(g_utf8_get_char(p)));

        if (g_unichar_ismark(letter) || g_unichar_iszerowidth(letter) ||
            (letter < 0x80 && strchr(without, (char)letter) != NULL))
            continue;
        append_folded(folded, letter);
    }
    return g_string_free(g_steal_pointer(&folded), FALSE);
}

static char *
fold_domain(const char *domain)
{
    char *unicode = NULL;

    if (idn2_to_unicode_8z8z(domain, &unicode, 0) != IDN2_OK)
        return fold(domain, "");
    char *folded = fold(unicode, "");
    idn2_free(unicode);
    return folded;
}

char *
lookalike_address(const char *normal)
{
    const char *domain = address_domain(normal);
    g_autofree char *local = g_strndup(normal, strlen(normal) - strlen(domain));
    g_autofree char *name = fold_domain(domain);

    g_strdelimit(local, "@", '\0');
    char *tag = strchr(local, '+');
    if (tag != NULL && tag > local)
        *tag = '\0';
    g_autofree char *looks = fold(local, ".-_\"\\");
    return g_strconcat(looks, "@", name, NULL);
}

/* One letter more, less or another, or two neighbours swapped. longer has as many letters or
 * one more. */
static gboolean
is_one_edit(const gunichar *longer, glong length, const gunichar *other, glong other_length)
{
    glong same = 0;

    while (same < other_length && longer[same] == other[same])
        same++;
    glong left = length - same, other_left = other_length - same;
    const gunichar *rest = longer + same, *other_rest = other + same;
    if (left > other_left)
        return memcmp(rest + 1, other_rest, (gsize)other_left * sizeof *rest) == 0;
    if (left == 0 || memcmp(rest + 1, other_rest + 1, (gsize)(left - 1) * sizeof *rest) == 0)
        return left > 0;
    return rest[0] == other_rest[1] && rest[1] == other_rest[0] &&
           memcmp(rest + 2, other_rest + 2, (gsize)(left - 2) * sizeof *rest) == 0;
}

static gboolean
may_be_edited(const char *looks)
{
    glong length = g_utf8_strlen(looks, -1);

    return length >= EDIT_LEAST && length <= EDIT_MOST;
}

static gboolean
are_close(const char *looks, const char *other)
{
    glong length = 0, other_length = 0;

    if (g_str_equal(looks, other))
        return TRUE;
    if (!may_be_edited(looks) || !may_be_edited(other))
        return FALSE;
    g_autofree gunichar *letters = g_utf8_to_ucs4_fast(looks, -1, &length);
    g_autofree gunichar *other_letters = g_utf8_to_ucs4_fast(other, -1, &other_length);
    if (length == other_length || length == other_length + 1)
        return is_one_edit(letters, length, other_letters, other_length);
    return other_length == length + 1 &&
           is_one_edit(other_letters, other_length, letters, length);
}

/* Whole runs of parts of a domain, with hyphens for the dots: "example-com-evil",
 * "example-com", "com-evil". */
static void
add_runs(GPtrArray *runs, const char *prefix, const char *looks)
{
    g_auto(GStrv) parts = g_strsplit_set(looks, ".-", PARTS_MOST + 1);

    for (guint first = 0; parts[first] != NULL && first < PARTS_MOST; first++) {
        g_autoptr(GString) run = g_string_new(parts[first]);

        for (guint next = first + 1; parts[next] != NULL && next < PARTS_MOST; next++) {
            g_string_append_printf(run, "-%s", parts[next]);
            g_ptr_array_add(runs, g_strconcat(prefix, run->str, NULL));
        }
    }
}

static gboolean
holds(const char *looks, const char *other)
{
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *whole = g_strdelimit(g_strdup(other), ".", '-');

    add_runs(runs, "", looks);
    return g_ptr_array_find_with_equal_func(runs, whole, g_str_equal, NULL);
}

static gboolean
is_below(const char *domain, const char *other)
{
    g_autofree char *suffix = g_strconcat(".", other, NULL);

    return g_str_has_suffix(domain, suffix);
}

gboolean
lookalike_domain(const char *domain, const char *other)
{
    if (g_str_equal(domain, other) || is_below(domain, other))
        return FALSE;
    g_autofree char *looks = fold_domain(domain);
    g_autofree char *other_looks = fold_domain(other);
    return are_close(looks, other_looks) || holds(looks, other_looks);
}

/* The skeleton, and it with each of its letters left out: names one edit apart share one. */
static void
add_edit_keys(GPtrArray *keys, const char *looks)
{
    g_ptr_array_add(keys, g_strconcat("~", looks, NULL));
    for (const char *p = looks; may_be_edited(looks) && *p != '\0'; p = g_utf8_next_char(p))
        g_ptr_array_add(
            keys, g_strdup_printf("~%.*s%s", (int)(p - looks), looks, g_utf8_next_char(p)));
}

GPtrArray *
lookalike_file_keys(const char *domain)
{
    GPtrArray *keys = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *looks = fold_domain(domain);

    add_edit_keys(keys, looks);
    g_strdelimit(looks, ".", '-');
    g_ptr_array_add(keys, g_strconcat("=", looks, NULL));
    return keys;
}

GPtrArray *
lookalike_find_keys(const char *domain)
{
    GPtrArray *keys = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *looks = fold_domain(domain);

    add_edit_keys(keys, looks);
    add_runs(keys, "=", looks);
    return keys;
}
