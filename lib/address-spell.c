#include <string.h>

#include "lib/address.h"

#define QUOTES_MAX 3 /* brackets or other signs on each side of a word */

/* How people spell @ and the dot so that programs do not see them, and what it takes for the
 * spelling to count: signs around it, spaces or signs, one space before it, or nothing. Of two
 * that begin alike the longer stands first. */
typedef enum { IN_SIGNS, BETWEEN_SPACES, AFTER_SPACE, ANYWHERE } Needs;

static const struct {
    char sign;
    Needs needs;
    const char *words;
} spellings[] = {
    {'@', BETWEEN_SPACES,
     "at sign|at-sign|at symbol|at-symbol|at|ät|Ät|ÄT|ätt|ät-merkki|arroba|arobase|arobas|"
     "klammeraffe|affenschwanz|chiocciola|a commerciale|apenstaartje|apestaartje|"
     "snabel-a|snabela|krøllalfa|alfakrøll|kissanhäntä|miukumauku|zavináč|zavinac|małpa|"
     "malpa|kukac|afna|majmun|arond|a rond|kuyruklu a|παπάκι|собака|собачка|эт|"
     "кльомба|маймунско а|равлик|мајмун|шкембе|שטרודל|כרוכית|آت|ات|a còng|a móc|แอท|แอด|"
     "ऐट|एट|アット|あっと|艾特|圈a|小老鼠|골뱅이|앳"},
    {'@', IN_SIGNS, "a|ä|et|ет"},
    {'@', ANYWHERE, "@|＠|﹫|\\@|&#64;|&#x40;|&commat;|=40|アットマーク|あっとまーく"},
    {'.', BETWEEN_SPACES,
     "dot|d0t|period|punktum|punkts|punkt|punto|punt|punct|ponto|point|pont|kropka|tečka|"
     "tecka|bodka|pika|piika|piste|prick|nokta|taškas|tačka|točka|titik|chấm|τελεία|точка|"
     "крапка|кропка|тачка|נקודה|نقطة|نقطه|จุด|ดอท|डॉट|बिंदु|ドット|どっと|点|點|점|닷"},
    {'.', AFTER_SPACE, "."},
    {'.', ANYWHERE, "．|․|﹒|。|｡|&#46;|&#x2e;|&period;"},
};

typedef struct {
    char *word;
    gsize length;
    char sign;
    Needs needs;
} Spelling;

/* All words, by the byte they begin with. Built once, for all threads; it lives as long as the
 * process. */
static GArray *const *
by_initial(void)
{
    static GArray *table[256];
    static gsize ready;

    if (!g_once_init_enter(&ready))
        return table;
    for (gsize i = 0; i < G_N_ELEMENTS(spellings); i++) {
        g_autofree char **words = g_strsplit(spellings[i].words, "|", -1);
        for (char **word = words; *word != NULL; word++) {
            Spelling row = {*word, strlen(*word), spellings[i].sign, spellings[i].needs};
            guchar initial = (guchar) * *word;
            if (table[initial] == NULL)
                table[initial] = g_array_new(FALSE, FALSE, sizeof(Spelling));
            g_array_append_val(table[initial], row);
        }
    }
    g_once_init_leave(&ready, 1);
    return table;
}

static const char *
skip_spaces(const char *p)
{
    while (g_ascii_isspace(*p))
        p++;
    return p;
}

/* The sign that closes what this one opens; 0 when it opens nothing. Many close themselves. */
static char
closing_sign(char open)
{
    static const char pairs[] = "()[]{}<>__--||**\"\"''//##~~``^^==++::";

    for (const char *pair = pairs; *pair != 0; pair += 2)
        if (*pair == open)
            return pair[1];
    return 0;
}

/* Where the text goes on after count closing signs, as far as they all are there. */
static const char *
skip_closing(const char *p, char closing, guint count)
{
    for (; count > 0 && *p == closing; count--)
        p++;
    return count == 0 ? skip_spaces(p) : NULL;
}

/* The word at p for a sign: where the text goes on, or NULL. */
static const char *
read_word(const Spelling *row, const char *word, gboolean spaces, char closing, guint count)
{
    if ((closing == 0 && !spaces && row->needs != ANYWHERE) ||
        g_ascii_strncasecmp(word, row->word, row->length) != 0)
        return NULL;
    const char *behind = word + row->length;
    const char *end = skip_spaces(behind);
    if (closing != 0)
        return skip_closing(end, closing, count);
    if (row->needs == IN_SIGNS || (row->needs == BETWEEN_SPACES && end == behind))
        return NULL;
    return end;
}

/* What stands for a sign at word; spaces and the signs around it are known. */
static char
read_spelling(const char *word, gboolean spaces, char closing, guint count,
              const char **end_out)
{
    const GArray *rows = by_initial()[(guchar)g_ascii_tolower(*word)];

    for (guint i = 0; rows != NULL && i < rows->len; i++) {
        const Spelling *row = &g_array_index(rows, Spelling, i);
        const char *end = read_word(row, word, spaces, closing, count);
        if (end != NULL) {
            *end_out = end;
            return row->sign;
        }
    }
    return 0;
}

/* What stands for a sign at p, spaces and signs around it included: the sign, and where the
 * text goes on. 0 when there is none, as nearly everywhere in a text. */
static char
read_sign(const char *p, const char **end_out)
{
    const char *word = skip_spaces(p);
    char closing = closing_sign(*word);
    guint count = 0;

    if (*word == 0)
        return 0;
    char sign = read_spelling(word, word > p, 0, 0, end_out);
    if (sign != 0 || closing == 0)
        return sign;
    while (count < QUOTES_MAX && word[count] == *word)
        count++;
    return read_spelling(skip_spaces(word + count), FALSE, closing, count, end_out);
}

char *
address_respell(const char *text)
{
    g_autoptr(GString) plain = NULL;
    const char *copied = text; /* up to here */

    for (const char *p = text; *p != 0;) {
        const char *end = p;
        char sign = g_ascii_isalnum(*p) ? 0 : read_sign(p, &end);
        if (sign != 0) {
            if (plain == NULL)
                plain = g_string_sized_new(strlen(text));
            g_string_append_len(plain, copied, p - copied);
            g_string_append_c(plain, sign);
            copied = end;
        } else {
            end = g_ascii_isspace(*p) ? skip_spaces(p) : p + 1;
        }
        p = end;
    }
    if (plain == NULL)
        return NULL;
    g_string_append(plain, copied);
    return g_string_free(g_steal_pointer(&plain), FALSE);
}
