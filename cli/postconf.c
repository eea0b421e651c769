#include "cli/postconf.h"

#include <string.h>

static void
service_free(gpointer data)
{
    Service *service = data;

    g_free(service->name);
    g_free(service->key);
    g_free(service->program);
    g_free(service);
}

static void
milter_free(gpointer data)
{
    Milter *milter = data;

    g_free(milter->endpoint);
    g_free(milter->action);
    g_free(milter);
}

/* Lines of "name = value". */
static GHashTable *
read_values(const char *text)
{
    GHashTable *values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    for (guint i = 0; lines[i] != NULL; i++) {
        const char *sign = strstr(lines[i], " =");
        if (sign != NULL)
            g_hash_table_insert(values, g_strndup(lines[i], (gsize)(sign - lines[i])),
                                g_strstrip(g_strdup(sign + 2)));
    }
    return values;
}

/* A service's own setting, else that of main.cf; NULL when Postfix does not know it. */
const char *
postconf_value(const Postconf *postconf, const Service *service, const char *name)
{
    g_autofree char *key = g_strdup_printf("%s/%s", service->key, name);
    const char *own = g_hash_table_lookup(postconf->overrides, key);

    return own != NULL ? own : g_hash_table_lookup(postconf->settings, name);
}

static const char *
main_value(const Postconf *postconf, const char *name)
{
    const char *value = g_hash_table_lookup(postconf->settings, name);

    return value != NULL ? value : "";
}

const char *
postconf_queue(const Postconf *postconf)
{
    return main_value(postconf, "queue_directory");
}

/* Words of a line; blanks in a row count as one. */
static char **
split_words(const char *text, const char *blanks)
{
    g_auto(GStrv) pieces = g_strsplit_set(text, blanks, -1);
    g_autoptr(GStrvBuilder) words = g_strv_builder_new();

    for (guint i = 0; pieces[i] != NULL; i++)
        if (*pieces[i] != '\0')
            g_strv_builder_add(words, pieces[i]);
    return g_strv_builder_end(words);
}

/* master(5): name, type, private, unprivileged, chroot, wakeup, limit, command. What is "-"
 * there: private is yes, chroot is no since the level 1 of compatibility. */
static void
read_services(Postconf *postconf, const char *services)
{
    g_auto(GStrv) lines = g_strsplit(services, "\n", -1);
    gboolean old = g_ascii_strtoull(main_value(postconf, "compatibility_level"), NULL, 10) < 1;

    for (guint i = 0; lines[i] != NULL; i++) {
        g_auto(GStrv) words = split_words(lines[i], " \t");
        if (g_strv_length(words) < 8)
            continue;
        Service *service = g_new0(Service, 1);
        service->name = g_strdup(words[0]);
        service->key = g_strdup_printf("%s/%s", words[0], words[1]);
        service->program = g_path_get_basename(words[7]);
        service->inet = g_str_equal(words[1], "inet");
        service->closed = !g_str_equal(words[2], "n");
        service->jailed = g_str_equal(words[4], "y") || (old && g_str_equal(words[4], "-"));
        g_ptr_array_add(postconf->services, service);
    }
}

/* One text for one socket, however it is written. */
static char *
place_of_host(const char *host, const char *port)
{
    g_autofree char *bare = g_strdup(host);

    g_strdelimit(bare, "[]", ' ');
    g_strstrip(bare);
    return g_strdup_printf(
        "inet:%s:%s", g_ascii_strcasecmp(bare, "localhost") == 0 ? "127.0.0.1" : bare, port);
}

/* milter-socket: unix:/path, inet:port@host. */
char *
postconf_place_of_gate(const char *socket)
{
    const char *host = strchr(socket, '@');
    const char *colon = strchr(socket, ':');

    if (g_str_has_prefix(socket, "unix:"))
        return g_canonicalize_filename(colon + 1, "/");
    if (host == NULL || colon == NULL)
        return g_strdup(socket);
    g_autofree char *port = g_strndup(colon + 1, (gsize)(host - colon - 1));
    return place_of_host(host + 1, port);
}

/* As Postfix writes it: unix:path, which is below the queue folder if it is relative or the
 * service is locked in there, or inet:host:port. */
char *
postconf_place_of_milter(const Postconf *postconf, const Service *service,
                         const char *endpoint)
{
    const char *path = strchr(endpoint, ':');
    const char *port = strrchr(endpoint, ':');

    if (path == NULL)
        return g_strdup(endpoint);
    path++;
    if (g_str_has_prefix(endpoint, "unix:") || g_str_has_prefix(endpoint, "local:")) {
        const char *queue = postconf_queue(postconf);
        g_autofree char *inner = service->jailed ? g_build_filename(queue, path, NULL) : NULL;
        return g_canonicalize_filename(inner != NULL ? inner : path, queue);
    }
    if (g_str_has_prefix(endpoint, "inet:") && port >= path) {
        g_autofree char *host = g_strndup(path, (gsize)(port - path));
        return place_of_host(host, port + 1);
    }
    return g_strdup(endpoint);
}

/* One entry: an endpoint, or { endpoint, name=value, ... }. */
static Milter *
read_milter(const char *text)
{
    g_auto(GStrv) words = split_words(text, ",{} \t");
    Milter *milter = g_new0(Milter, 1);

    milter->endpoint = g_strdup(words[0] != NULL ? words[0] : "");
    for (guint i = 1; words[0] != NULL && words[i] != NULL; i++) {
        const char *sign = strchr(words[i], '=');
        gboolean ours = g_str_has_prefix(words[i], "default_action");
        /* "default_action = accept" are three words. */
        if (!ours)
            continue;
        if (sign == NULL && words[i + 1] != NULL)
            sign = strchr(words[++i], '=');
        if (sign != NULL && sign[1] == '\0' && words[i + 1] != NULL)
            sign = words[++i] - 1;
        g_free(milter->action);
        milter->action = g_strdup(sign != NULL ? sign + 1 : "");
    }
    return milter;
}

/* postconf(5), smtpd_milters: entries divided by commas and blanks, braces around some. */
GPtrArray *
postconf_milters(const char *text)
{
    GPtrArray *milters = g_ptr_array_new_with_free_func(milter_free);
    g_autoptr(GString) entry = g_string_new("");
    int depth = 0;

    for (const char *at = text;; at++) {
        gboolean between = *at == '\0' || (depth == 0 && strchr(", \t", *at) != NULL);
        depth = MAX(depth + (*at == '{' ? 1 : *at == '}' ? -1 : 0), 0);
        if (!between) {
            g_string_append_c(entry, *at);
            continue;
        }
        if (entry->len > 0)
            g_ptr_array_add(milters, read_milter(entry->str));
        g_string_truncate(entry, 0);
        if (*at == '\0')
            return milters;
    }
}

gboolean
postconf_has_word(const char *text, const char *word)
{
    g_auto(GStrv) words = split_words(text, ", \t");

    return g_strv_contains((const char *const *)words, word);
}

Postconf *
postconf_read(const char *services, const char *overrides, const char *settings)
{
    Postconf *postconf = g_new(Postconf, 1);

    postconf->settings = read_values(settings);
    postconf->overrides = read_values(overrides);
    postconf->services = g_ptr_array_new_with_free_func(service_free);
    read_services(postconf, services);
    return postconf;
}

void
postconf_free(Postconf *postconf)
{
    g_hash_table_unref(postconf->settings);
    g_hash_table_unref(postconf->overrides);
    g_ptr_array_unref(postconf->services);
    g_free(postconf);
}
