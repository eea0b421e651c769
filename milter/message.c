#include "milter/message.h"

#include <string.h>

#include "lib/claims.h"
#include "lib/compose.h"
#include "lib/error.h"

/* Thousands of fields to delete are more than Postfix bears. */
enum {
    STRIPPED_MOST = 100,
    CLAIM_MOST = 4096,
    CLAIMS_MOST = 32,
    ITEM_MOST = 64,
    MAILBOXES_MOST = 20
};

Message *
message_new(MessageKind kind, const MessageLimits *limits)
{
    Message *message = g_new0(Message, 1);

    message->kind = kind;
    message->envelope = envelope_new();
    message->limits = *limits;
    message->spool = spool_new(limits->memory, limits->spool);
    message->claims = claims_new();
    message->taken_out = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    message->mailboxes = g_ptr_array_new_with_free_func(g_free);
    message->head = g_string_new(NULL);
    message->raw_head = g_string_new(NULL);
    return message;
}

void
message_free(Message *message)
{
    if (message == NULL)
        return;
    g_free(message->login);
    envelope_free(message->envelope);
    spool_free(message->spool);
    g_clear_error(&message->trouble);
    g_hash_table_destroy(message->claims);
    g_hash_table_destroy(message->taken_out);
    g_free(message->ticket);
    g_ptr_array_unref(message->mailboxes);
    g_free(message->item);
    g_free(message->added_id);
    g_free(message->added_date);
    if (message->came != NULL)
        g_checksum_free(message->came);
    g_string_free(message->head, TRUE);
    g_string_free(message->raw_head, TRUE);
    g_free(message);
}

/* The fault of an agent's message. Of others, what is beyond a limit is not learned from; at
 * the door it makes another message of it, which no ticket is for. */
static void
exceed(Message *message, const char *fault)
{
    if (message->kind == MESSAGE_OF_AGENT)
        message->refusal = fault;
}

void
message_add_recipient(Message *message, const char *const *words, const char *resolved)
{
    if (message->envelope->recipients->len < message->limits.recipients)
        envelope_add_recipient(message->envelope, words, resolved);
    else
        exceed(message, "it has too many recipients");
}

static void
append_field(GString *head, const char *name, const char *value)
{
    g_string_append(head, name);
    g_string_append_c(head, ':');
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '\n' && (c == value || c[-1] != '\r'))
            g_string_append_c(head, '\r');
        g_string_append_c(head, *c);
    }
    g_string_append(head, "\r\n");
}

static void
keep_claim(Message *message, const char *lower, const char *value)
{
    if (g_hash_table_size(message->claims) >= CLAIMS_MOST ||
        g_hash_table_contains(message->claims, lower))
        return;

    g_autofree char *cut = g_strndup(value, CLAIM_MOST);
    char *text = g_utf8_make_valid(cut, -1);
    g_hash_table_insert(message->claims, g_strdup(lower), g_strstrip(text));
}

/* Fields that never leave: the agent's claims, and whatever looks like one of ours. */
static gboolean
take_out(Message *message, const char *name, const char *value)
{
    g_autofree char *lower = g_ascii_strdown(name, -1);
    gboolean claim = g_str_has_prefix(lower, "agent-");

    if (!claim && !g_str_has_prefix(lower, "x-exeat-"))
        return FALSE;
    if (claim)
        keep_claim(message, lower, value);
    if (g_str_equal(lower, "x-exeat-ticket")) {
        g_free(message->ticket);
        message->ticket =
            ++message->tickets == 1 ? g_strstrip(g_utf8_make_valid(value, -1)) : NULL;
    }
    if (g_str_equal(lower, MESSAGE_ITEM) && message->item == NULL)
        message->item =
            g_strstrip(g_utf8_make_valid(value, (gssize)strnlen(value, ITEM_MOST)));
    if (++message->stripped > STRIPPED_MOST)
        message->refusal = "too many fields named Agent- or X-Exeat-";
    guint count = GPOINTER_TO_UINT(g_hash_table_lookup(message->taken_out, lower));
    g_hash_table_insert(message->taken_out, g_steal_pointer(&lower),
                        GUINT_TO_POINTER(count + 1));
    return TRUE;
}

/* Whose rule sends a notice, as RFC 5436 (2.7.1) has it told in Auto-Submitted; NULL when it
 * does not say. The caller frees. */
static char *
read_owner(const char *value)
{
    static const char parameter[] = "owner-email";

    for (const char *p = value; (p = strchr(p, ';')) != NULL;) {
        p++;
        p += strspn(p, " \t\r\n");
        if (g_ascii_strncasecmp(p, parameter, strlen(parameter)) != 0)
            continue;
        p += strlen(parameter);
        p += strspn(p, " \t\r\n=\"");
        return g_strndup(p, strcspn(p, "\"; \t\r\n"));
    }
    return NULL;
}

/* Keeps whose mailbox a message has been in, or comes from. New fields are written above old
 * ones. */
static void
keep_mailbox(Message *message, const char *name, const char *value)
{
    static const char *const fields[] = {"delivered-to", "x-original-to", "envelope-to",
                                         "x-sieve-redirected-from", NULL};
    g_autofree char *lower = g_ascii_strdown(name, -1);
    g_autofree char *mailbox = NULL;

    if (g_strv_contains(fields, lower))
        mailbox = g_strstrip(g_strdup(value));
    else if (g_str_equal(lower, "auto-submitted"))
        mailbox = read_owner(value);
    if (mailbox != NULL && message->mailboxes->len < MAILBOXES_MOST)
        g_ptr_array_add(message->mailboxes, g_steal_pointer(&mailbox));
}

void
message_add_field(Message *message, const char *name, const char *value)
{
    if (message->trouble != NULL || message->refusal != NULL)
        return;
    if (message->raw_head->len + strlen(name) + strlen(value) > message->limits.header) {
        message->refusal = "the header is too large";
        return;
    }
    append_field(message->raw_head, name, value);
    if (take_out(message, name, value))
        return;
    if (message->kind == MESSAGE_INSIDE)
        keep_mailbox(message, name, value);
    message->froms += g_ascii_strcasecmp(name, "From") == 0;
    message->has_id |= g_ascii_strcasecmp(name, "Message-ID") == 0;
    message->has_date |= g_ascii_strcasecmp(name, "Date") == 0;
    message->automatic += g_ascii_strcasecmp(name, "Auto-Submitted") == 0;
    append_field(message->head, name, value);
}

static void
add_what_is_missing(Message *message, const char *host, gint64 now)
{
    if (message->has_id && message->has_date)
        return;
    message->came = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(message->came, (const guchar *)message->raw_head->str,
                      (gssize)message->raw_head->len);
    if (!message->has_id) {
        g_autofree char *id = compose_message_id(host);

        message->added_id = g_strconcat(" ", id, NULL);
        append_field(message->head, "Message-ID", message->added_id);
    }
    if (!message->has_date) {
        g_autofree char *date = compose_date(now);

        message->added_date = g_strconcat(" ", date, NULL);
        append_field(message->head, "Date", message->added_date);
    }
}

void
message_end_header(Message *message, const char *host, gint64 now)
{
    if (message->trouble != NULL)
        return;
    if (message->kind == MESSAGE_OF_AGENT)
        add_what_is_missing(message, host, now);
    g_string_append(message->head, "\r\n");
    spool_append(message->spool, message->head->str, message->head->len, &message->trouble);
}

void
message_add_body(Message *message, const void *bytes, gsize length)
{
    if (message->trouble != NULL || message->kind == MESSAGE_OF_HUMAN)
        return;
    if (message->came != NULL)
        g_checksum_update(message->came, bytes, (gssize)length);
    if (spool_size(message->spool) + length > message->limits.size) {
        exceed(message, "the message is too large");
        return;
    }
    spool_append(message->spool, bytes, length, &message->trouble);
}

const char *
message_key(Message *message)
{
    return message->came ? g_checksum_get_string(message->came) : "";
}
