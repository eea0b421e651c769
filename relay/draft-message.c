#include "relay/draft-message.h"

#include <string.h>

#include "lib/address.h"
#include "lib/compose.h"

static gboolean
is_hidden(const Item *item, const char *written)
{
    g_autofree char *normal = address_normalise(written, NULL);

    return normal != NULL &&
           !g_strv_contains((const char *const *)item->extract->to_cc, normal);
}

static void
add_hidden(GString *draft, const Item *item)
{
    const char *before = "Bcc: ";

    for (guint i = 0; i < item->envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = item->envelope->recipients->pdata[i];

        if (!is_hidden(item, recipient->address))
            continue;
        g_string_append(draft, before);
        g_string_append(draft, recipient->address);
        before = ",\r\n ";
    }
    if (*before == ',')
        g_string_append(draft, "\r\n");
}

static gboolean
is_named(const char *line, gsize length, const char *prefix)
{
    return length >= strlen(prefix) && g_ascii_strncasecmp(line, prefix, strlen(prefix)) == 0;
}

/* The name may be followed by white space (RFC 5322, 4.5). */
static gboolean
is_bcc(const char *line, gsize length, const char *name)
{
    gsize at = strlen(name);

    if (!is_named(line, length, name))
        return FALSE;
    while (at < length && (line[at] == ' ' || line[at] == '\t'))
        at++;
    return at < length && line[at] == ':';
}

static gboolean
is_left_out(const char *line, gsize length)
{
    return is_bcc(line, length, "Bcc") || is_bcc(line, length, "Resent-Bcc") ||
           is_named(line, length, "X-Exeat-");
}

/* The header's lines but those left out; returns where the rest begins. */
static const char *
add_fields(GString *draft, const char *at, const char *end)
{
    gboolean left_out = FALSE;

    while (at < end) {
        const char *feed = memchr(at, '\n', (gsize)(end - at));
        const char *next = feed != NULL ? feed + 1 : end;

        if (*at == '\n' || (*at == '\r' && next - at == 2))
            break;
        if (*at != ' ' && *at != '\t')
            left_out = is_left_out(at, (gsize)(next - at));
        if (!left_out)
            g_string_append_len(draft, at, next - at);
        at = next;
    }
    return at;
}

GString *
draft_compose(const Item *item, const char *bytes, gsize length)
{
    GString *draft = g_string_sized_new(length + 256);
    const char *end = bytes + length;

    g_string_append_printf(draft, DRAFT_ITEM ": %s\r\n", item->id);
    if (item->state == STATE_DELAYED) {
        g_autofree char *due = compose_date(item->due);
        g_string_append_printf(draft, DRAFT_DUE ": %s\r\n", due);
    }
    add_hidden(draft, item);
    const char *rest = add_fields(draft, bytes, end);
    g_string_append_len(draft, rest, end - rest);
    return draft;
}

/* Behind the fields that are ours and may differ: the second line, when it is X-Exeat-Due. */
static const char *
skip_due(const char *at, const char *end)
{
    const char *feed = memchr(at, '\n', (gsize)(end - at));

    if (feed == NULL || !is_named(feed + 1, (gsize)(end - feed - 1), DRAFT_DUE ":"))
        return feed != NULL ? feed + 1 : end;
    feed = memchr(feed + 1, '\n', (gsize)(end - feed - 1));
    return feed != NULL ? feed + 1 : end;
}

gboolean
draft_is_same(const GString *draft, const char *bytes, gsize length)
{
    const char *end = draft->str + draft->len, *other_end = bytes + length;
    const char *rest = skip_due(draft->str, end), *other = skip_due(bytes, other_end);
    gsize first = strcspn(draft->str, "\n");

    return length > first && memcmp(draft->str, bytes, first) == 0 &&
           end - rest == other_end - other && memcmp(rest, other, (gsize)(end - rest)) == 0;
}
