#include "lib/aliases.h"

#include <string.h>

#include "lib/address.h"
#include "lib/error.h"
#include "lib/keyfile.h"
#include "lib/trusted.h"

#define FOLLOW_MAX 1000 /* addresses behind one */
#define UNTOLD     "?"  /* a target that nobody can tell; no name has a ? in our normal form */

/* Of each name "nora@example.com", "@example.com" or "nora": what it leads to, as GPtrArray of
 * char *. A target is such a name, "\nora" for a mailbox that is no alias any more, or UNTOLD.
 */
struct _Aliases {
    GHashTable *virtual_maps;
    GHashTable *local_maps;
};

typedef struct {
    const char *path;
    gboolean local; /* aliases(5), else virtual(5) */
    Aliases *aliases;
} Source;

static gboolean
fail(const Source *source, guint line, const char *found, const char *expected, GError **error)
{
    const KeyFile file = {.path = (char *)source->path};

    return keyfile_fail(error, &file, line, found, "%s", expected);
}

/* A name as it is compared; NULL when it is none. */
static char *
normalise_name(const char *written)
{
    if (written[0] == '@') {
        g_autofree char *domain = address_domain_normalise(written + 1);
        return domain != NULL ? g_strconcat("@", domain, NULL) : NULL;
    }
    if (written[0] == '/' || written[0] == '|' || strchr(written, '?') != NULL)
        return NULL;
    if (strchr(written, '@') != NULL)
        return address_normalise(written, NULL);

    g_autofree char *address = g_strconcat(written, "@localhost", NULL);
    char *normal = address_normalise(address, NULL);
    if (normal != NULL)
        *strrchr(normal, '@') = '\0';
    return normal;
}

/* The word at *text, up to a space, a comma or one of stops outside quotes; the quotes around
 * a whole word are taken off. NULL at the end. */
static char *
take_word(const char **text, const char *stops)
{
    const char *start = *text + strspn(*text, ", \t");
    const char *end = start;
    gboolean quoted = FALSE;

    for (; *end != '\0' && (quoted || strchr(stops, *end) == NULL); end++) {
        quoted ^= *end == '"';
        if (quoted && *end == '\\' && end[1] != '\0')
            end++;
    }
    *text = end;
    gsize length = (gsize)(end - start);
    if (length == 0)
        return NULL;
    if (length > 2 && start[0] == '"' && end[-1] == '"')
        return g_strndup(start + 1, length - 2);
    return g_strndup(start, length);
}

static void add_targets(GPtrArray *targets, const char *text, gboolean include);

/* Each line of the file is a list of targets. One that cannot be trusted cannot be told. */
static void
add_included(GPtrArray *targets, const char *path)
{
    g_autofree char *text = trusted_read_table(path, NULL);
    g_auto(GStrv) lines = g_strsplit(text != NULL ? text : UNTOLD, "\n", -1);

    for (char **line = lines; *line != NULL; line++)
        if (*g_strstrip(*line) != '#')
            add_targets(targets, *line, FALSE);
}

static void
add_target(GPtrArray *targets, const char *word, gboolean include)
{
    const char *name = word + (word[0] == '\\');
    char *normal = normalise_name(name);

    if (word[0] == '/') {
        g_free(normal); /* a file of this machine: nobody receives it */
    } else if (include && g_str_has_prefix(word, ":include:")) {
        g_free(normal);
        add_included(targets, word + strlen(":include:"));
    } else if (normal != NULL && name != word) {
        g_ptr_array_add(targets, g_strconcat("\\", normal, NULL));
        g_free(normal);
    } else {
        g_ptr_array_add(targets, normal != NULL ? normal : g_strdup(UNTOLD));
    }
}

/* include: whether an :include: file may be named. */
static void
add_targets(GPtrArray *targets, const char *text, gboolean include)
{
    g_autofree char *word = NULL;

    while ((word = take_word(&text, ", \t")) != NULL) {
        add_target(targets, word, include);
        g_clear_pointer(&word, g_free);
    }
}

/* A name that stands twice leads to both: which one holds is the mail server's business. */
static GPtrArray *
targets_of(GHashTable *maps, char *name)
{
    GPtrArray *targets = g_hash_table_lookup(maps, name);

    if (targets == NULL) {
        targets = g_ptr_array_new_with_free_func(g_free);
        g_hash_table_insert(maps, name, targets);
    } else {
        g_free(name);
    }
    return targets;
}

/* One logical line. */
static gboolean
read_entry(const Source *source, guint number, const char *text, GError **error)
{
    const char *rest = text;
    g_autofree char *word = take_word(&rest, source->local ? ": \t" : " \t");
    g_autofree char *name = word != NULL ? normalise_name(word) : NULL;

    rest += strspn(rest, " \t");
    if (source->local && (name == NULL || strchr(name, '@') != NULL || *rest != ':'))
        return fail(source, number, text, "a name, a colon and where it leads", error);
    rest += source->local ? 1 : 0;
    rest += strspn(rest, ", \t");
    if (name == NULL || *rest == '\0')
        return fail(source, number, text, "an address, a name or @domain, and where it leads",
                    error);
    GHashTable *maps =
        source->local ? source->aliases->local_maps : source->aliases->virtual_maps;
    add_targets(targets_of(maps, g_steal_pointer(&name)), rest, TRUE);
    return TRUE;
}

/* Lines that begin with a space go on with the one before; empty lines and comments do not end
 * it (virtual(5), aliases(5)). */
static gboolean
read_text(const Source *source, const char *text, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autoptr(GString) entry = g_string_new(NULL);
    guint first = 0;

    for (guint i = 0; lines[i] != NULL; i++) {
        gboolean goes_on = g_ascii_isspace(lines[i][0]);
        const char *line = g_strstrip(lines[i]);
        if (*line == '\0' || *line == '#')
            continue;
        if (goes_on && first == 0)
            return fail(source, i + 1, line, "a line that does not begin with a space", error);
        if (!goes_on && first != 0 && !read_entry(source, first, entry->str, error))
            return FALSE;
        if (!goes_on) {
            g_string_truncate(entry, 0);
            first = i + 1;
        }
        g_string_append_printf(entry, "%s%s", entry->len > 0 ? " " : "", line);
    }
    return first == 0 || read_entry(source, first, entry->str, error);
}

static GHashTable *
new_maps(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                 (GDestroyNotify)g_ptr_array_unref);
}

Aliases *
aliases_read(char *const *files, GError **error)
{
    g_autoptr(Aliases) aliases = g_new0(Aliases, 1);

    aliases->virtual_maps = new_maps();
    aliases->local_maps = new_maps();
    for (; *files != NULL; files++) {
        const Source source = {strchr(*files, ':') + 1, g_str_has_prefix(*files, "aliases:"),
                               aliases};
        g_autofree char *text = trusted_read_table(source.path, error);
        if (text == NULL || !read_text(&source, text, error))
            return NULL;
    }
    return g_steal_pointer(&aliases);
}

void
aliases_free(Aliases *aliases)
{
    g_hash_table_unref(aliases->virtual_maps);
    g_hash_table_unref(aliases->local_maps);
    g_free(aliases);
}

typedef struct {
    const Aliases *aliases;
    char *const *internal;
    GHashTable *seen;      /* addresses that were followed */
    GHashTable *receivers; /* names of mailboxes inside, addresses outside */
    gboolean outside;
    gboolean untold;
} Walk;

static char *
local_part(const char *normal)
{
    return g_strndup(normal, (gsize)(address_domain(normal) - 1 - normal));
}

static void
append(GPtrArray *found, const GPtrArray *targets)
{
    for (guint i = 0; targets != NULL && i < targets->len; i++)
        g_ptr_array_add(found, g_ptr_array_index(targets, i));
}

/* What a map says of exactly this address, or of its name in any domain. */
static gboolean
look_up(GHashTable *maps, const char *local, const char *domain, GPtrArray *found)
{
    g_autofree char *address = g_strconcat(local, "@", domain, NULL);
    const GPtrArray *targets = g_hash_table_lookup(maps, address);

    if (targets == NULL)
        targets = g_hash_table_lookup(maps, local);
    append(found, targets);
    return targets != NULL;
}

/* The same, in the mail server's order: the address, then it without extension, then the whole
 * domain. Whether there is an extension is not known, so what comes after it counts, too. */
static gboolean
look_up_all(GHashTable *maps, const char *normal, GPtrArray *found)
{
    const char *domain = address_domain(normal);
    g_autofree char *local = local_part(normal);
    g_autofree char *whole = g_strconcat("@", domain, NULL);
    gboolean any = FALSE;

    if (look_up(maps, local, domain, found))
        return TRUE;
    for (const char *delimiter = "+-"; *delimiter != '\0'; delimiter++) {
        const char *end = strchr(local, *delimiter);
        if (end == NULL || end == local)
            continue;
        g_autofree char *plain = g_strndup(local, (gsize)(end - local));
        any |= look_up(maps, plain, domain, found);
    }
    const GPtrArray *targets = g_hash_table_lookup(maps, whole);
    append(found, targets);
    return any || targets != NULL;
}

/* Takes the address itself out of what it leads to; FALSE when it is not there. */
static gboolean
remove_itself(GPtrArray *found, const char *normal)
{
    g_autofree char *local = local_part(normal);
    gboolean any = FALSE;

    for (guint i = found->len; i-- > 0;) {
        const char *target = g_ptr_array_index(found, i);
        if (!g_str_equal(target, normal) && !g_str_equal(target, local))
            continue;
        g_ptr_array_remove_index(found, i);
        any = TRUE;
    }
    return any;
}

/* Where an address leads next; FALSE when it is no alias. local(8) goes on where virtual(5)
 * has nothing to say, or leads to the address itself. */
static gboolean
look_up_next(const Walk *walk, const char *normal, GPtrArray *found)
{
    g_autoptr(GPtrArray) local = g_ptr_array_new();
    gboolean any = look_up_all(walk->aliases->virtual_maps, normal, found);

    if (!look_up_all(walk->aliases->local_maps, normal, local))
        return any;
    if (!any || remove_itself(found, normal))
        append(found, local);
    return TRUE;
}

/* Names are counted without domain: which one the mail server adds is not known. */
static void
receive(Walk *walk, const char *name)
{
    g_hash_table_add(walk->receivers,
                     strchr(name, '@') != NULL ? local_part(name) : g_strdup(name));
}

static void follow_target(Walk *walk, const char *target, const char *parent);

static void
follow_address(Walk *walk, const char *normal)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new();

    if (!g_hash_table_add(walk->seen, g_strdup(normal)))
        return;
    if (!look_up_next(walk, normal, found))
        receive(walk, normal);
    for (guint i = 0; i < found->len && !walk->untold; i++)
        follow_target(walk, g_ptr_array_index(found, i), normal);
}

/* A name without domain is one in whichever internal domain knows it; else a mailbox. */
static void
follow_name(Walk *walk, const char *name, const char *parent)
{
    for (char *const *domain = walk->internal; *domain != NULL; domain++) {
        g_autofree char *normal = g_strconcat(name, "@", *domain, NULL);
        if (g_str_equal(normal, parent))
            receive(walk, name);
        else
            follow_address(walk, normal);
    }
}

static void
follow_target(Walk *walk, const char *target, const char *parent)
{
    if (target[0] == '@') { /* the same name in another domain */
        g_autofree char *local = local_part(parent);
        g_autofree char *moved = g_strconcat(local, target, NULL);
        follow_target(walk, moved, parent);
    } else if (g_str_equal(target, UNTOLD) || g_hash_table_size(walk->seen) > FOLLOW_MAX) {
        walk->untold = TRUE;
    } else if (target[0] == '\\' || g_str_equal(target, parent)) {
        receive(walk, target + (target[0] == '\\'));
    } else if (strchr(target, '@') == NULL) {
        follow_name(walk, target, parent);
    } else if (g_strv_contains((const char *const *)walk->internal, address_domain(target))) {
        follow_address(walk, target);
    } else {
        walk->outside = TRUE;
        g_hash_table_add(walk->receivers, g_strdup(target));
    }
}

void
aliases_follow(const Aliases *aliases, const char *normal, char *const *internal,
               AliasLead *lead_out)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) receivers =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Walk walk = {aliases, internal, seen, receivers, FALSE, FALSE};

    follow_address(&walk, normal);
    lead_out->outside = walk.outside || walk.untold;
    lead_out->many = walk.untold || g_hash_table_size(receivers) > 1;
}
