#include "lib/mail-private.h"

#include <string.h>

/* From U+00A0 on, in order. */
static const char *const latin[] = {
    "nbsp",   "iexcl",  "cent",   "pound",  "curren", "yen",    "brvbar", "sect",   "uml",
    "copy",   "ordf",   "laquo",  "not",    "shy",    "reg",    "macr",   "deg",    "plusmn",
    "sup2",   "sup3",   "acute",  "micro",  "para",   "middot", "cedil",  "sup1",   "ordm",
    "raquo",  "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc",  "Atilde",
    "Auml",   "Aring",  "AElig",  "Ccedil", "Egrave", "Eacute", "Ecirc",  "Euml",   "Igrave",
    "Iacute", "Icirc",  "Iuml",   "ETH",    "Ntilde", "Ograve", "Oacute", "Ocirc",  "Otilde",
    "Ouml",   "times",  "Oslash", "Ugrave", "Uacute", "Ucirc",  "Uuml",   "Yacute", "THORN",
    "szlig",  "agrave", "aacute", "acirc",  "atilde", "auml",   "aring",  "aelig",  "ccedil",
    "egrave", "eacute", "ecirc",  "euml",   "igrave", "iacute", "icirc",  "iuml",   "eth",
    "ntilde", "ograve", "oacute", "ocirc",  "otilde", "ouml",   "divide", "oslash", "ugrave",
    "uacute", "ucirc",  "uuml",   "yacute", "thorn",  "yuml",
};

/* Signs that matter to a reader, and those an address or a marker could hide behind. */
static const struct {
    const char *name;
    gunichar c;
} signs[] = {
    {"amp", '&'},
    {"lt", '<'},
    {"gt", '>'},
    {"quot", '"'},
    {"apos", '\''},
    {"commat", '@'},
    {"period", '.'},
    {"colon", ':'},
    {"comma", ','},
    {"semi", ';'},
    {"sol", '/'},
    {"lowbar", '_'},
    {"hyphen", 0x2010},
    {"dash", 0x2010},
    {"ndash", 0x2013},
    {"mdash", 0x2014},
    {"lsquo", 0x2018},
    {"rsquo", 0x2019},
    {"sbquo", 0x201a},
    {"ldquo", 0x201c},
    {"rdquo", 0x201d},
    {"bdquo", 0x201e},
    {"bull", 0x2022},
    {"hellip", 0x2026},
    {"euro", 0x20ac},
    {"trade", 0x2122},
    {"ensp", 0x2002},
    {"emsp", 0x2003},
    {"thinsp", 0x2009},
    {"zwnj", 0x200c},
    {"zwj", 0x200d},
    {"lrm", 0x200e},
    {"rlm", 0x200f},
    {"lpar", '('},
    {"rpar", ')'},
    {"plus", '+'},
    {"num", '#'},
    {"percnt", '%'},
    {"equals", '='},
    {"excl", '!'},
    {"quest", '?'},
    {"ast", '*'},
    {"vert", '|'},
    {"bsol", '\\'},
    {"Tab", '\t'},
    {"NewLine", '\n'},
    {"lsaquo", 0x2039},
    {"rsaquo", 0x203a},
    {"ZeroWidthSpace", 0x200b},
};

/* The value of &#64; or &#x40;, the semicolon optional as in browsers; 0 when it is none. */
static gunichar
read_number(const char *p, const char **end_out)
{
    gboolean hex = p[2] == 'x' || p[2] == 'X';
    const char *digits = p + (hex ? 3 : 2);
    char *end = NULL;

    if (hex ? !g_ascii_isxdigit(*digits) : !g_ascii_isdigit(*digits))
        return 0;
    guint64 value = g_ascii_strtoull(digits, &end, hex ? 16 : 10);
    *end_out = *end == ';' ? end + 1 : end;
    if (value >= 0x80 && value < 0xa0) { /* browsers read these as windows-1252 */
        char byte = (char)value;
        g_autofree char *decoded = mail_decode(&byte, 1, "WINDOWS-1252");
        return g_utf8_get_char(decoded);
    }
    return value != 0 && value <= 0x10ffff && g_unichar_validate((gunichar)value)
               ? (gunichar)value
               : 0xfffd;
}

static gunichar
read_name(const char *p, const char **end_out)
{
    gsize length = 1;

    while (length < 24 && g_ascii_isalnum(p[length]))
        length++;
    g_autofree char *name = g_strndup(p + 1, length - 1);
    *end_out = p + length + (p[length] == ';');
    for (gsize i = 0; i < G_N_ELEMENTS(latin); i++)
        if (strcmp(latin[i], name) == 0)
            return 0xa0 + (gunichar)i;
    for (gsize i = 0; i < G_N_ELEMENTS(signs); i++)
        if (strcmp(signs[i].name, name) == 0)
            return signs[i].c;
    return 0;
}

gunichar
mail_entity(const char *p, const char **end_out)
{
    return p[1] == '#' ? read_number(p, end_out) : read_name(p, end_out);
}
