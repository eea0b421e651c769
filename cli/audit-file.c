#include "cli/audit-file.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "cli/audit-faults.h"
#include "cli/command.h"
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

/* Whether the file was read to its end. */
static gboolean
check_lines(const Seal *seal, FILE *file, AuditFaults *faults, ChainHead *head)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;

    for (guint number = 1; (length = getline(&line, &size, file)) >= 0; number++) {
        g_autofree char *place = g_strdup_printf("line %u", number);
        g_autofree char *fault = NULL;

        if (strlen(line) != (gsize)length || !check_line(seal, head, line, &fault))
            fault = g_strdup("this is no audit entry");
        if (fault != NULL)
            audit_faults_add(faults, place, fault);
    }
    free(line);
    return ferror(file) == 0;
}

int
audit_file_verify(const Session *session, const char *path, const char *key_path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Seal) seal = seal_open(key_path, &error);
    g_auto(AuditFaults) faults;
    ChainHead head = {0};

    audit_faults_init(&faults, session);
    if (seal == NULL) {
        g_autofree char *safe = escape_line(error->message);
        fprintf(stderr, "exeat: %s\n", safe);
        return EX_NOINPUT;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return command_fail_file(path, EX_NOINPUT);
    int status = check_lines(seal, file, &faults, &head)
                     ? audit_faults_end(&faults, head.seq, head.seal)
                     : command_fail_file(path, EX_NOINPUT);
    fclose(file);
    return status;
}
