#include "lib/lookalike.h"

#include <idn2.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"

#define EDIT_LEAST 6  /* letters: shorter names are all one edit apart */
#define EDIT_MOST  64 /* the keys of a name are as many as its letters */
#define PARTS_MOST 12 /* between dots and hyphens; nobody reads on from there */

/* Letters that look like Latin ones, without those that decomposition finds: from the
 * confusables of Unicode Technical Standard 39, as far as a domain may hold them, small
 * capitals and letters with a hook, and the Greek capitals whose small letter looks otherwise.
 * What looks like a slash, a dash or a dot in the middle parts names as a hyphen does. In
 * order. */
typedef struct {
    gunichar letter;
    char latin;
} Confusable;

static const Confusable confusables[] = {
    {0x00b7, '-'}, {0x00f0, 'd'}, {0x00f8, 'o'}, {0x00fe, 'p'}, {0x0111, 'd'}, {0x0127, 'h'},
    {0x0131, 'i'}, {0x0138, 'k'}, {0x0142, 'l'}, {0x014b, 'n'}, {0x0167, 't'}, {0x017f, 's'},
    {0x0180, 'b'}, {0x0183, 'b'}, {0x0188, 'c'}, {0x018c, 'd'}, {0x018d, 'g'}, {0x0192, 'f'},
    {0x0199, 'k'}, {0x019a, 'l'}, {0x019e, 'n'}, {0x01a5, 'p'}, {0x01ab, 't'}, {0x01ad, 't'},
    {0x01b4, 'y'}, {0x01b6, 'z'}, {0x01bb, '2'}, {0x01bd, 's'}, {0x01c0, 'l'}, {0x01dd, 'e'},
    {0x01e5, 'g'}, {0x0221, 'd'}, {0x0223, '8'}, {0x0225, 'z'}, {0x0234, 'l'}, {0x0235, 'n'},
    {0x0236, 't'}, {0x0237, 'j'}, {0x023c, 'c'}, {0x023f, 's'}, {0x0240, 'z'}, {0x0247, 'e'},
    {0x0249, 'j'}, {0x024d, 'r'}, {0x024f, 'y'}, {0x0251, 'a'}, {0x0253, 'b'}, {0x0255, 'c'},
    {0x0256, 'd'}, {0x0257, 'd'}, {0x0259, 'e'}, {0x0260, 'g'}, {0x0261, 'g'}, {0x0262, 'g'},
    {0x0263, 'y'}, {0x0266, 'h'}, {0x0268, 'i'}, {0x0269, 'i'}, {0x026a, 'i'}, {0x026b, 'l'},
    {0x026d, 'l'}, {0x026f, 'w'}, {0x0271, 'm'}, {0x0272, 'n'}, {0x0273, 'n'}, {0x0274, 'n'},
    {0x0275, 'o'}, {0x027c, 'r'}, {0x027d, 'r'}, {0x0280, 'r'}, {0x0282, 's'}, {0x0288, 't'},
    {0x028b, 'u'}, {0x028f, 'y'}, {0x0290, 'z'}, {0x0299, 'b'}, {0x029c, 'h'}, {0x029f, 'l'},
    {0x02a0, 'q'}, {0x0392, 'b'}, {0x0395, 'e'}, {0x0396, 'z'}, {0x0397, 'h'}, {0x039c, 'm'},
    {0x039d, 'n'}, {0x03a5, 'y'}, {0x03b1, 'a'}, {0x03b2, 'b'}, {0x03b3, 'y'}, {0x03b5, 'e'},
    {0x03b7, 'n'}, {0x03b8, 'o'}, {0x03b9, 'i'}, {0x03ba, 'k'}, {0x03bc, 'u'}, {0x03bd, 'v'},
    {0x03bf, 'o'}, {0x03c1, 'p'}, {0x03c2, 'c'}, {0x03c3, 'o'}, {0x03c4, 't'}, {0x03c5, 'u'},
    {0x03c7, 'x'}, {0x03c9, 'w'}, {0x03f3, 'j'}, {0x0430, 'a'}, {0x0431, '6'}, {0x0432, 'b'},
    {0x0433, 'r'}, {0x0435, 'e'}, {0x043a, 'k'}, {0x043c, 'm'}, {0x043d, 'h'}, {0x043e, 'o'},
    {0x043f, 'n'}, {0x0440, 'p'}, {0x0441, 'c'}, {0x0442, 't'}, {0x0443, 'y'}, {0x0445, 'x'},
    {0x0448, 'w'}, {0x044c, 'b'}, {0x0454, 'e'}, {0x0455, 's'}, {0x0456, 'i'}, {0x0458, 'j'},
    {0x045a, 'h'}, {0x045b, 'h'}, {0x0461, 'w'}, {0x0463, 'b'}, {0x0473, 'o'}, {0x0475, 'v'},
    {0x047d, 'w'}, {0x048d, 'b'}, {0x0493, 'r'}, {0x049b, 'k'}, {0x049d, 'k'}, {0x049f, 'k'},
    {0x04a3, 'h'}, {0x04ab, 'c'}, {0x04ad, 't'}, {0x04af, 'y'}, {0x04b1, 'y'}, {0x04b3, 'x'},
    {0x04bb, 'h'}, {0x04bd, 'e'}, {0x04bf, 'e'}, {0x04cf, 'l'}, {0x04d9, 'e'}, {0x04e9, 'o'},
    {0x0501, 'd'}, {0x051b, 'q'}, {0x051d, 'w'}, {0x0561, 'w'}, {0x0563, 'q'}, {0x0566, 'q'},
    {0x056c, 'l'}, {0x0570, 'h'}, {0x0575, 'j'}, {0x0578, 'n'}, {0x057c, 'n'}, {0x057d, 'u'},
    {0x0581, 'g'}, {0x0584, 'f'}, {0x0585, 'o'}, {0x05d5, 'l'}, {0x05d8, 'v'}, {0x05df, 'l'},
    {0x05e1, 'o'}, {0x0665, 'o'}, {0x06f1, 'l'}, {0x06f5, 'o'}, {0x0966, 'o'}, {0x09e6, 'o'},
    {0x0a66, 'o'}, {0x0ae6, 'o'}, {0x0b66, 'o'}, {0x0be6, 'o'}, {0x0c66, 'o'}, {0x0ce6, 'o'},
    {0x0d20, 'o'}, {0x0d66, 'o'}, {0x0e50, 'o'}, {0x0ed0, 'o'}, {0x1010, 'o'}, {0x101d, 'o'},
    {0x1040, 'o'}, {0x10e7, 'y'}, {0x10ff, 'o'}, {0x13a5, 'i'}, {0x146f, 'd'}, {0x1541, 'x'},
    {0x157d, 'x'}, {0x15af, 'b'}, {0x1d00, 'a'}, {0x1d04, 'c'}, {0x1d05, 'd'}, {0x1d07, 'e'},
    {0x1d0a, 'j'}, {0x1d0b, 'k'}, {0x1d0d, 'm'}, {0x1d0f, 'o'}, {0x1d11, 'o'}, {0x1d18, 'p'},
    {0x1d1b, 't'}, {0x1d1c, 'u'}, {0x1d20, 'v'}, {0x1d21, 'w'}, {0x1d22, 'z'}, {0x1d26, 'r'},
    {0x1d6e, 'f'}, {0x1d6f, 'm'}, {0x1d70, 'n'}, {0x1d72, 'r'}, {0x1d74, 's'}, {0x1d75, 't'},
    {0x1d76, 'z'}, {0x1d7b, 'i'}, {0x1d7c, 'i'}, {0x1d7d, 'p'}, {0x1d7e, 'u'}, {0x1d83, 'g'},
    {0x1d8c, 'y'}, {0x1e9d, 'f'}, {0x1eff, 'y'}, {0x2c85, 'r'}, {0x2c9f, 'o'}, {0x2ca3, 'p'},
    {0x2ca5, 'c'}, {0x2d4f, 'l'}, {0x2d54, 'o'}, {0x3007, 'o'}, {0x30ce, '-'}, {0x30fb, '-'},
    {0x30fc, '-'}, {0x3127, '-'}, {0x4e00, '-'}, {0x4e36, '-'}, {0x4e3f, '-'}, {0xa647, 'i'},
    {0xa695, 'h'}, {0xa731, 's'}, {0xa74b, 'o'}, {0xa761, 'w'}, {0xa799, 'f'}, {0xa79f, 'u'},
    {0xab32, 'e'}, {0xab35, 'f'}, {0xab3d, 'o'}, {0xab3e, 'o'}, {0xab47, 'r'}, {0xab48, 'r'},
    {0xab4e, 'u'}, {0xab52, 'u'}, {0xab5a, 'y'}, {0xab74, 'o'}, {0xab75, 'i'}, {0xab81, 'r'},
    {0xab83, 'w'}, {0xab8e, 'o'}, {0xab93, 'z'}, {0xab9c, 'u'}, {0xaba9, 'v'}, {0xabaa, 's'},
    {0xabaf, 'c'}, {0xabbb, 'o'},
};

static int
by_letter(const void *key, const void *entry)
{
    const gunichar letter = *(const gunichar *)key;
    const gunichar other = ((const Confusable *)entry)->letter;

    return letter < other ? -1 : letter > other;
}

/* 0: it looks like no other. */
static gunichar
latin_of(gunichar letter)
{
    const Confusable *found = letter < 0x80
                                  ? NULL
                                  : bsearch(&letter, confusables, G_N_ELEMENTS(confusables),
                                            sizeof confusables[0], by_letter);

    return found != NULL ? (guchar)found->latin : 0;
}

/* A capital may look like another letter than its small form, which comes second. */
static gunichar
seen_as(gunichar letter)
{
    gunichar small = g_unichar_tolower(letter);
    gunichar latin = latin_of(letter);

    if (latin == 0)
        latin = latin_of(small);
    return latin != 0 ? latin : small;
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
        gunichar letter = seen_as(g_utf8_get_char(p));

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

/* The length of the word at text in bytes; whether some of its letters are Latin ones. */
static gsize
measure_word(const char *text, gboolean *latin_out)
{
    const char *p = text;

    for (*latin_out = FALSE; g_unichar_isalpha(g_utf8_get_char(p)); p = g_utf8_next_char(p))
        *latin_out = *latin_out || g_ascii_isalpha(*p);
    return (gsize)(p - text);
}

static void
append_latin(GString *plain, gunichar letter)
{
    const gunichar latin =
        g_unichar_get_script(letter) != G_UNICODE_SCRIPT_LATIN ? latin_of(letter) : 0;

    g_string_append_unichar(plain,
                            latin < 0x80 && g_ascii_isalpha((char)latin) ? latin : letter);
}

char *
lookalike_text(const char *text)
{
    g_autoptr(GString) plain = g_string_sized_new(strlen(text));
    gboolean latin = FALSE;

    for (const char *p = text; *p != '\0';) {
        const char *end = p + measure_word(p, &latin);
        for (; latin && p < end; p = g_utf8_next_char(p))
            append_latin(plain, g_utf8_get_char(p));
        end = end == p && !latin ? g_utf8_next_char(p) : end;
        g_string_append_len(plain, p, end - p);
        p = end;
    }
    return g_string_free(g_steal_pointer(&plain), FALSE);
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
