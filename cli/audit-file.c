#include "cli/audit-file.h"

#include <errno.h>
#include <stdlib.h>
#include <sysexits.h>

#include "cli/request.h"
#include "lib/chain.h"
#include "lib/escape.h"

enum { FIELDS = 8 };

void
audit_file_write(FILE *file, GVariant *entry)
{
    static const char *const names[] = {"kind", "account", "item", "who", "details", "seal"};

    fprintf(file, "%" G_GINT64_FORMAT "\t%" G_GINT64_FORMAT, answer_number(entry, "seq"),
            answer_number(entry, "at"));
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *escaped = g_strescape(answer_text(entry, names[i]), NULL);
        fprintf(file, "\t%s", escaped);
    }
    putc('\n', file);
}

/* Takes the line apart in place; FALSE when it is no entry. */
static gboolean
check_line(const Seal *seal, ChainHead *head, char *line, char **fault_out)
{
    g_auto(GStrv) fields = g_strsplit(g_strchomp(line), "\t", -1);
    ChainEntry entry;

    if (g_strv_length(fields) != FIELDS ||
        !g_ascii_string_to_signed(fields[0], 10, 1, G_MAXINT64, &entry.seq, NULL) ||
        !g_ascii_string_to_signed(fields[1], 10, G_MININT64, G_MAXINT64, &entry.at, NULL))
        return FALSE;
    for (guint i = 2; i < FIELDS; i++) {
        char *plain = g_strcompress(fields[i]);

        g_free(fields[i]);
        fields[i] = plain;
    }
    entry.kind = fields[2];
    entry.account = fields[3];
    entry.item = fields[4];
    entry.who = fields[5];
    entry.details = fields[6];
    *fault_out = chain_follow(seal, head, &entry, fields[7]);
    return TRUE;
}

/* Returns how many lines are wrong. */
static guint
check_lines(const Seal *seal, FILE *file)
{
    ChainHead head = {0};
    char *line = NULL;
    size_t size = 0;
    guint faults = 0;

    for (guint number = 1; getline(&line, &size, file) >= 0; number++) {
        g_autofree char *fault = NULL;

        if (!check_line(seal, &head, line, &fault))
            fault = g_strdup("this is no audit entry");
        if (fault != NULL) {
            printf("line %u: %s\n", number, fault);
            faults++;
        }
    }
    free(line);
    printf("last entry: %" G_GINT64_FORMAT ", seal %s\n", head.seq, head.seal);
    return faults;
}

int
audit_file_verify(const char *path, const char *key_path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Seal) seal = seal_open(key_path, &error);
    FILE *file = seal != NULL ? fopen(path, "re") : NULL;

    if (file == NULL) {
        g_autofree char *safe = error ? escape_line(error->message)
                                      : g_strdup_printf("%s: %s", path, g_strerror(errno));
        fprintf(stderr, "exeat: %s\n", safe);
        return EX_NOINPUT;
    }
    guint faults = check_lines(seal, file);
    gboolean whole = ferror(file) == 0;
    fclose(file);
    if (!whole)
        return EX_NOINPUT;
    return faults == 0 ? EX_OK : EX_DATAERR;
}
