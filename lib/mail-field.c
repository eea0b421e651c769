#include "lib/mail-private.h"

#include <string.h>

#include "lib/address.h"

#define ID_MAX    998           /* RFC 5322, 2.1.1: the longest line */
#define VAIN_MOST (1024 * 1024) /* bytes looked through for an end that never came */
#define FEW       16            /* entries that are compared one by one */

/* RFC 5322 (3.6) and RFC 2045 (3) let each of them stand once. */
static const char *const single[] = {
    "From",         "Sender",
    "Reply-To",     "To",
    "Cc",           "Bcc",
    "Subject",      "Date",
    "Message-ID",   "In-Reply-To",
    "References",   "MIME-Version",
    "Content-Type", "Content-Transfer-Encoding",
};

/* Whom readers' programs write to, for an answer or without asking. Sender is one of them:
 * some send there what cannot reach From. */
static const char *const diverting[] = {
    "Reply-To",          "Sender",         "Mail-Followup-To",
    "Mail-Reply-To",     "Errors-To",      "Disposition-Notification-To",
    "Return-Receipt-To", "Mail-Copies-To", "X-Confirm-Reading-To",
};

/* Most are told from another by their first letter. */
static gboolean
is_named(const MailField *field, const char *name)
{
    return ((field->name[0] ^ name[0]) & ~0x20) == 0 &&
           g_ascii_strcasecmp(field->name, name) == 0;
}

/* A list for the extract, each entry once and no more than it takes. */
typedef struct {
    MailReading *reading;
    GPtrArray *entries; /* NULL before the first */
    GHashTable *seen;   /* the same entries; NULL while they are few */
    gsize vain;         /* bytes */
    gboolean unread;    /* something with an @ is no address here, maybe one elsewhere */
} List;

static void
list_start(List *list, MailReading *reading)
{
    list->reading = reading;
    list->entries = NULL;
    list->seen = NULL;
    list->vain = 0;
    list->unread = FALSE;
}

static gboolean
list_has(List *list, const char *entry)
{
    char **entries = (char **)list->entries->pdata;

    if (list->seen == NULL && list->entries->len < FEW) {
        for (guint i = 0; i < list->entries->len; i++)
            if (strcmp(entries[i], entry) == 0)
                return TRUE;
        return FALSE;
    }
    if (list->seen == NULL) {
        list->seen = g_hash_table_new(g_str_hash, g_str_equal);
        for (guint i = 0; i < list->entries->len; i++)
            g_hash_table_add(list->seen, entries[i]);
    }
    return g_hash_table_contains(list->seen, entry);
}

/* Takes entry. */
static void
list_add(List *list, char *entry)
{
    if (list->entries == NULL)
        list->entries = g_ptr_array_new();
    const gboolean full = list->entries->len >= EXTRACT_LIST_LIMIT;
    if (full)
        mail_mark_capped(list->reading, "too many addresses or ids");
    if (full || list_has(list, entry)) {
        g_free(entry);
        return;
    }
    if (list->seen != NULL)
        g_hash_table_add(list->seen, entry);
    g_ptr_array_add(list->entries, entry);
}

static void
list_end(List *list, char ***strv_out)
{
    if (list->seen != NULL)
        g_hash_table_unref(list->seen);
    g_strfreev(*strv_out);
    if (list->entries == NULL) {
        *strv_out = g_new0(char *, 1);
        return;
    }
    g_ptr_array_add(list->entries, NULL);
    *strv_out = (char **)g_ptr_array_free(list->entries, FALSE);
}

/* The end of a quoted string or comment that begins at p, NULL when it never ends. A header of
 * nothing but beginnings must not take the square of its length. */
static const char *
end_of(List *list, const char *p)
{
    const char *start = p;
    gboolean comment = *p == '(';
    guint depth = 1;

    if (list->vain > VAIN_MOST)
        return NULL;
    for (p++; *p != 0; p++) {
        if (*p == '\\' && p[1] != 0)
            p++;
        else if (comment && *p == '(')
            depth++;
        else if (*p == (comment ? ')' : '"') && --depth == 0)
            return p;
    }
    list->vain += (gsize)(p - start);
    if (list->vain > VAIN_MOST)
        mail_mark_capped(list->reading, "a header too long to be read");
    return NULL;
}

/* Spaces may stand around the @ and the dots (RFC 5322, 4.4), quoted ones mean something. */
static char *
close_up(const char *bare)
{
    GString *closed = g_string_new(NULL);
    gboolean quoted = FALSE;

    for (const char *p = bare; *p != 0; p++) {
        quoted = quoted != (*p == '"');
        if (!quoted && (*p == '@' || *p == '.')) {
            while (closed->len > 0 && g_ascii_isspace(closed->str[closed->len - 1]))
                g_string_truncate(closed, closed->len - 1);
            g_string_append_c(closed, *p);
            while (g_ascii_isspace(p[1]))
                p++;
        } else {
            g_string_append_c(closed, *p);
        }
    }
    return g_string_free(closed, FALSE);
}

static void
add_address(List *list, const char *written, gsize length, gboolean *odd)
{
    while (length > 0 && g_ascii_isspace(*written)) {
        written++;
        length--;
    }
    while (length > 0 && g_ascii_isspace(written[length - 1]))
        length--;
    if (length == 0)
        return;
    g_autofree char *bare = g_strndup(written, length);
    char *normal = address_normalise(bare, NULL);
    if (normal == NULL) {
        g_autofree char *closed = close_up(bare);
        normal = address_normalise(closed, NULL);
    }
    if (normal != NULL)
        list_add(list, normal);
    else
        *odd = TRUE;
    list->unread |= normal == NULL && strchr(bare, '@') != NULL;
}

/* The address between < and >; p stands on the <. Returns where it ended. */
static const char *
read_angle(List *list, const char *p, gboolean *odd)
{
    const char *end = p + 1;

    while (*end != 0 && *end != '>') {
        const char *quote_end = *end == '"' ? end_of(list, end) : NULL;
        end = quote_end != NULL ? quote_end + 1 : end + 1;
    }
    *odd = *odd || *end == 0;
    add_address(list, p + 1, (gsize)(end - p - 1), odd);
    return *end != 0 ? end : end - 1;
}

/* What stands outside < and >: the address itself when there are none. After them nothing may
 * follow, but some readers find an address there, too. */
static void
add_rest(List *list, const GString *plain, gboolean named, gboolean *odd)
{
    if (!named || memchr(plain->str, '@', plain->len) != NULL)
        add_address(list, plain->str, plain->len, odd);
}

/* Reads an address list (RFC 5322, 3.4) as written: encoded words are names and are split off
 * before anybody decodes them (XB12). Returns FALSE when something in it is no address. */
static gboolean
read_addresses(List *list, const char *value)
{
    g_autoptr(GString) plain = g_string_new(NULL);
    gboolean odd = FALSE;
    gboolean named = FALSE; /* what is outside < and > is a name */

    for (const char *p = value; *p != 0; p++) {
        const char *end = *p == '"' || *p == '(' ? end_of(list, p) : NULL;
        if (end != NULL) {
            if (*p == '"')
                g_string_append_len(plain, p, end + 1 - p);
            p = end;
        } else if (*p == '<') {
            p = read_angle(list, p, &odd);
            named = TRUE;
            g_string_truncate(plain, 0);
        } else if (*p == ',' || *p == ';') {
            add_rest(list, plain, named, &odd);
            named = FALSE;
            g_string_truncate(plain, 0);
        } else if (*p == ':') {
            g_string_truncate(plain, 0); /* the name of a group */
        } else {
            g_string_append_c(plain, *p);
        }
    }
    add_rest(list, plain, named, &odd);
    return !odd;
}

static gboolean
is_id(const char *start, gsize length)
{
    gboolean quoted = FALSE, spaces = FALSE; /* <"n 2"@example.org> */

    if (length < 3 || length > ID_MAX || !g_utf8_validate(start, (gssize)length, NULL))
        return FALSE;
    for (gsize i = 1; i + 1 < length; i++) {
        guchar c = (guchar)start[i];
        if (c == '"')
            quoted = !quoted;
        if (c == ' ' && quoted)
            spaces = TRUE;
        else if (c <= ' ' || c == '<' || c == 0x7f)
            return FALSE;
    }
    return !spaces || !quoted;
}

/* Only ids in angle brackets count, outside comments and quoted strings (T9, XB5, XB6). */
static void
read_ids(List *list, const char *value)
{
    g_assert(value != NULL);
    for (const char *p = value; *p != 0; p++) {
        const char *end = *p == '"' || *p == '(' ? end_of(list, p) : NULL;
        if (end != NULL) {
            p = end;
            continue;
        }
        end = *p == '<' ? memchr(p, '>', strnlen(p, ID_MAX)) : NULL;
        if (end == NULL)
            continue;
        gsize length = (gsize)(end + 1 - p);
        if (!is_id(p, length))
            continue;
        list_add(list, g_strndup(p, length));
        p = end;
    }
}

const char *
mail_field(const MailReading *reading, const char *name)
{
    for (guint i = 0; i < reading->fields->len; i++) {
        const MailField *field = g_ptr_array_index(reading->fields, i);
        if (is_named(field, name))
            return field->value;
    }
    return NULL;
}

/* Addresses of every field with one of the names. FALSE when there may be one more, for a
 * reader that takes what we do not. */
static gboolean
collect_addresses(MailReading *reading, const char *const *names, gsize n_names,
                  char ***strv_out)
{
    List list;

    list_start(&list, reading);
    for (guint i = 0; i < reading->fields->len; i++) {
        const MailField *field = g_ptr_array_index(reading->fields, i);
        for (gsize n = 0; n < n_names; n++)
            if (is_named(field, names[n]))
                read_addresses(&list, field->value);
    }
    list_end(&list, strv_out);
    return !list.unread;
}

void
mail_read_addresses(MailReading *reading, const char *name, char ***strv_out)
{
    collect_addresses(reading, &name, 1, strv_out);
}

static void
read_message_ids(MailReading *reading)
{
    g_auto(GStrv) own = NULL;
    List list;

    list_start(&list, reading);
    const char *value = mail_field(reading, "Message-ID");
    if (value != NULL)
        read_ids(&list, value);
    list_end(&list, &own);
    if (own[0] != NULL && own[1] == NULL) {
        g_free(reading->extract->message_id);
        reading->extract->message_id = g_strdup(own[0]);
    }

    list_start(&list, reading);
    for (guint i = 0; i < reading->fields->len; i++) {
        const MailField *field = g_ptr_array_index(reading->fields, i);
        if (is_named(field, "In-Reply-To") || is_named(field, "References"))
            read_ids(&list, field->value);
    }
    list_end(&list, &reading->extract->parents);
}

static gboolean
read_encoded(List *list, const char *text)
{
    g_autofree char *decoded = g_uri_unescape_string(text, NULL);

    return decoded != NULL && read_addresses(list, decoded);
}

/* Whom the link that begins at p is written to, if it is one to write to: many, perhaps, and
 * some in the fields after the question mark (RFC 6068). FALSE when one cannot be read. */
static gboolean
add_link(List *list, const char *p)
{
    static const char *const names[] = {"to=", "cc=", "bcc="};
    g_autofree char *link = g_strstrip(g_strndup(p, strcspn(p, ">")));

    if (g_ascii_strncasecmp(link, "mailto:", 7) != 0)
        return TRUE;
    char *query = link + strcspn(link, "?");
    g_auto(GStrv) fields = g_strsplit_set(query, "?&;", -1); /* "&amp;", too */
    *query = 0;
    gboolean clean = read_encoded(list, link + 7);
    for (guint i = 0; fields[i] != NULL; i++)
        for (gsize n = 0; n < G_N_ELEMENTS(names); n++)
            if (g_ascii_strncasecmp(fields[i], names[n], strlen(names[n])) == 0)
                clean = read_encoded(list, fields[i] + strlen(names[n])) && clean;
    return clean;
}

/* <mailto:dev@lists.example.org?subject=x>, more than one allowed (RFC 2369, 3.4). Some write
 * one without brackets. FALSE when one cannot be read. */
static gboolean
read_list_post(List *list, const char *value)
{
    const char *open = strchr(value, '<');
    gboolean clean = open != NULL || add_link(list, value);

    for (; open != NULL; open = strchr(open + 1, '<'))
        clean = add_link(list, open + 1) && clean;
    return clean;
}

/* <dev.lists.example.org> mostly is dev@lists.example.org (RFC 2919, 2). */
static void
read_list_id(List *list, const char *value)
{
    const char *open = strrchr(value, '<');
    g_autofree char *id = g_strdup(open != NULL ? open + 1 : value);

    id[strcspn(id, ">")] = 0;
    g_strstrip(id);
    char *dot = strchr(id, '.');
    if (dot != NULL && strchr(id, '@') == NULL && strchr(dot + 1, '.') != NULL)
        *dot = '@';
    char *normal = address_normalise(id, NULL);
    if (normal != NULL)
        list_add(list, normal);
}

static void
read_lists(MailReading *reading)
{
    List list;

    list_start(&list, reading);
    for (guint i = 0; i < reading->fields->len; i++) {
        const MailField *field = g_ptr_array_index(reading->fields, i);
        if (is_named(field, "List-Post"))
            read_list_post(&list, field->value);
        else if (is_named(field, "List-Id"))
            read_list_id(&list, field->value);
    }
    list_end(&list, &reading->extract->lists);
}

/* Words of Mail-Copies-To that ask for no copy, or for one to the author. */
static gboolean
is_copy_word(const MailField *field)
{
    static const char *const words[] = {"nobody", "never", "poster", "always", NULL};

    if (!is_named(field, "Mail-Copies-To"))
        return FALSE;
    g_autofree char *word = g_strstrip(g_ascii_strdown(field->value, -1));
    return g_strv_contains(words, word);
}

static void
read_diverted(MailReading *reading)
{
    gboolean clean = TRUE;
    List list;

    list_start(&list, reading);
    for (guint i = 0; i < reading->fields->len; i++) {
        const MailField *field = g_ptr_array_index(reading->fields, i);
        for (gsize n = 0; n < G_N_ELEMENTS(diverting); n++)
            if (is_named(field, diverting[n]) && !is_copy_word(field) &&
                !read_addresses(&list, field->value))
                clean = FALSE;
        if (is_named(field, "List-Post") && !read_list_post(&list, field->value))
            clean = FALSE;
    }
    list_end(&list, &reading->extract->diverted);
    if (!clean)
        mail_mark(reading, "an address for answers that cannot be read");
}

static void
find_doubled(MailReading *reading)
{
    List list;

    list_start(&list, reading);
    for (gsize n = 0; n < G_N_ELEMENTS(single); n++) {
        guint times = 0;
        for (guint i = 0; i < reading->fields->len; i++) {
            const MailField *field = g_ptr_array_index(reading->fields, i);
            times += is_named(field, single[n]);
        }
        if (times > 1)
            list_add(&list, g_strdup(single[n]));
    }
    list_end(&list, &reading->extract->doubled);
}

/* RFC 3834, 5; Precedence is older than any RFC, some programs have a mark of their own, and
 * nobody writes a report (RFC 6522). */
static gboolean
is_automatic(const MailField *field)
{
    static const struct {
        const char *name;
        const char *words;
        gboolean tell; /* FALSE: all but these do */
    } marks[] = {
        {"Auto-Submitted", "|no|", FALSE}, {"Precedence", "|bulk|junk|list|auto_reply|", TRUE},
        {"Return-Path", "|<>|", TRUE},     {"Content-Type", "|multipart/report|", TRUE},
        {"X-Autoreply", "|no|", FALSE},    {"X-Autorespond", "|no|", FALSE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(marks); i++) {
        if (!is_named(field, marks[i].name))
            continue;
        g_autofree char *value = g_strstrip(g_ascii_strdown(field->value, -1));
        value[strcspn(value, " \t\r\n;(")] = 0;
        g_autofree char *word = g_strconcat("|", value, "|", NULL);
        return (strstr(marks[i].words, word) != NULL) == marks[i].tell;
    }
    return FALSE;
}

void
mail_read_origin(MailReading *reading)
{
    static const char *const from[] = {"From"};
    static const char *const to_cc[] = {"To", "Cc"};
    Extract *extract = reading->extract;

    read_message_ids(reading);
    read_lists(reading);
    if (!collect_addresses(reading, from, G_N_ELEMENTS(from), &extract->from)) {
        g_strfreev(extract->from);
        extract->from = g_new0(char *, 1); /* nobody's rather than half of it */
    }
    collect_addresses(reading, to_cc, G_N_ELEMENTS(to_cc), &extract->to_cc);
    for (guint i = 0; i < reading->fields->len; i++)
        if (is_automatic(g_ptr_array_index(reading->fields, i)))
            extract->automatic = TRUE;
}

void
mail_read_fields(MailReading *reading)
{
    find_doubled(reading);
    mail_read_origin(reading);
    read_diverted(reading);
    for (guint i = 0; i < reading->fields->len; i++) {
        const MailField *field = g_ptr_array_index(reading->fields, i);
        if (g_ascii_strncasecmp(field->name, "Resent-", 7) == 0 ||
            is_named(field, "X-Forwarded-Message-Id"))
            reading->extract->forward = TRUE;
    }
}
