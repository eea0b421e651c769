/* The mail server's alias files. The first line of an input is an address, the rest is both
 * kinds of file. */
#include "tests/fuzz/fuzz.h"

#include "lib/address.h"
#include "lib/aliases.h"

static char *path;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_begin();
    path = fuzz_path("aliases");
    return 0;
}

static void
follow(const char *kind, const char *normal)
{
    static char *const internal[] = {(char *)"example.org", (char *)"example.com", NULL};
    g_autofree char *entry = g_strconcat(kind, ":", path, NULL);
    char *const files[] = {entry, NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(Aliases) aliases = aliases_read(files, &error);
    AliasLead lead = {0};

    g_assert((aliases == NULL) == (error != NULL));
    if (aliases == NULL)
        return;
    aliases_follow(aliases, normal, internal, &lead);
    aliases_follow(aliases, "ann@example.org", internal, &lead);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    const guint8 *end = memchr(data, '\n', size);
    g_autofree char *line = g_strndup((const char *)data, end ? (gsize)(end - data) : size);
    g_autofree char *normal = address_normalise(line, NULL);

    fuzz_write(path, end ? end + 1 : data, end ? size - (gsize)(end + 1 - data) : size);
    follow("virtual", normal ? normal : "bob@example.com");
    follow("aliases", normal ? normal : "bob@example.com");
    return 0;
}
