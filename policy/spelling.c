#include "policy/spelling.h"

#include <string.h>

enum { SHORTEST = 3, FAR = 3 }; /* letters of a word, and that differ */

/* How many letters must be put in, taken out or replaced to make one word of the other. */
static guint
distance(const char *a, const char *b)
{
    gsize width = strlen(b) + 1;
    g_autofree guint *row = g_new(guint, width);

    for (guint j = 0; j < width; j++)
        row[j] = j;
    for (guint i = 0; a[i] != '\0'; i++) {
        guint diagonal = row[0];
        row[0] = i + 1;
        for (guint j = 1; j < width; j++) {
            guint replaced = diagonal + (g_ascii_tolower(a[i]) != b[j - 1]);
            diagonal = row[j];
            row[j] = MIN(replaced, MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[width - 1];
}

const char *
spelling_guess(const char *word, const char *const *known)
{
    gsize length = strlen(word);
    guint least = MIN(length - MIN(length, 1), FAR);
    const char *best = NULL;

    if (length < SHORTEST)
        return NULL;
    for (; *known != NULL; known++) {
        guint differ = distance(word, *known);
        if (differ < least) {
            best = *known;
            least = differ;
        }
    }
    return best;
}
