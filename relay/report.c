#include "relay/report.h"

#include <string.h>

#include "lib/compose.h"
#include "lib/escape.h"

/* What fits on a line (RFC 5322, 2.1.1) with a name before it; of a reply, enough to know. */
enum { VALUE_MOST = 900, REPLY_MOST = 400 };

typedef struct {
    const char *notify; /* the value of NOTIFY that asks for it */
    const char *action; /* RFC 3464, 2.3.3 */
    const char *status; /* RFC 3463 */
    const char *subject;
    const char *sentence;
} Kind;

static const Kind WAITS = {"DELAY", "delayed", "4.7.0", "Held, not sent",
                           "Your message is held, not sent. What becomes of it will be told."};
static const Kind SENT = {"SUCCESS", "relayed", "2.0.0", "Sent",
                          "Your message was handed on to the mail server."};
static const Kind BY_HUMAN = {"SUCCESS", "relayed", "2.0.0", "Sent",
                              "A person sent your message with their own mail program."};
static const Kind PARTLY = {"SUCCESS", "relayed", "2.0.0", "Sent, but not to all",
                            "Your message was handed on to the mail server. It refused some "
                            "of the recipients; they do not get it."};
static const Kind FAILED = {"FAILURE", "failed", "5.0.0", "Not sent",
                            "Your message was not sent: the mail server refused it."};
static const Kind REJECTED = {"FAILURE", "failed", "5.7.1", "Not sent",
                              "Your message was rejected by a reviewer and not sent."};
static const Kind EXPIRED = {"FAILURE", "failed", "5.4.7", "Not sent",
                             "Nobody decided on your message in time. It was not sent."};
static const Kind WITHDRAWN = {"FAILURE", "failed", "5.7.1", "Not sent",
                               "Your message was withdrawn and not sent."};
static const Kind SUPERSEDED = {
    "FAILURE", "failed", "5.7.1", "Not sent",
    "Another message took the place of yours, which was not sent."};

static const Kind *
kind_of(State told)
{
    switch (told) {
    case STATE_HELD:
    case STATE_DRAFT:
    case STATE_DELAYED:
    case STATE_APPROVED:
    case STATE_SENDING:
    case STATE_COMMITTING:
    case STATE_UNCERTAIN:
    case STATE_COUNT:
        break;
    case STATE_RELEASED:
    case STATE_SENT:
        return &SENT;
    case STATE_BY_HUMAN:
        return &BY_HUMAN;
    case STATE_FAILED:
    case STATE_REFUSED:
        return &FAILED;
    case STATE_REJECTED:
    case STATE_VETOED: /* in the same words: which of the two it is would tell what it was */
        return &REJECTED;
    case STATE_EXPIRED:
        return &EXPIRED;
    case STATE_WITHDRAWN:
        return &WITHDRAWN;
    case STATE_SUPERSEDED:
        return &SUPERSEDED;
    }
    return &WAITS;
}

const char *
report_reason(const Item *item)
{
    if (item->state == STATE_REJECTED || item->state == STATE_VETOED)
        return item->why;
    if (item->state == STATE_FAILED)
        return item->answer;
    return item->state == STATE_REFUSED ? item->reason : "";
}

/* The value of an ESMTP parameter; NULL when it was not given. */
static const char *
find_parameter(char *const *parameters, const char *name)
{
    gsize length = strlen(name);

    for (; *parameters != NULL; parameters++)
        if (g_ascii_strncasecmp(*parameters, name, length) == 0 &&
            (*parameters)[length] == '=')
            return *parameters + length + 1;
    return NULL;
}

static gboolean
wants(const EnvelopeRecipient *recipient, const Kind *kind)
{
    const char *notify = find_parameter(recipient->parameters, "NOTIFY");

    if (notify == NULL)
        return TRUE;
    g_auto(GStrv) wanted = g_strsplit(notify, ",", -1);
    for (char **word = wanted; *word != NULL; word++)
        if (g_ascii_strcasecmp(*word, kind->notify) == 0)
            return TRUE;
    return FALSE;
}

static gboolean
is_plain(const char *value)
{
    for (const char *c = value; *c != '\0'; c++)
        if (!g_ascii_isprint(*c))
            return FALSE;
    return *value != '\0' && strlen(value) <= VALUE_MOST;
}

/* A field with a value of the agent's, or none when it would be more than a value. */
static void
add_field(GString *report, const char *name, const char *value)
{
    if (is_plain(value))
        g_string_append_printf(report, "%s: %s\r\n", name, value);
}

/* Takes xtext apart (RFC 3461, 4); NULL when it is none, or hides a zero byte, behind which
 * nobody would see the rest. */
static char *
decode_xtext(const char *text)
{
    GString *decoded = g_string_new(NULL);

    for (const char *c = text; *c != '\0'; c++) {
        if (*c != '+') {
            g_string_append_c(decoded, *c);
        } else if (g_ascii_isxdigit(c[1]) && g_ascii_isxdigit(c[2]) &&
                   strncmp(c + 1, "00", 2) != 0) {
            g_string_append_c(
                decoded, (char)(g_ascii_xdigit_value(c[1]) * 16 + g_ascii_xdigit_value(c[2])));
            c += 2;
        } else {
            g_string_free(decoded, TRUE);
            return NULL;
        }
    }
    return g_string_free(decoded, FALSE);
}

static void
add_xtext(GString *report, const char *name, const char *value)
{
    g_autofree char *decoded = value != NULL ? decode_xtext(value) : NULL;

    if (decoded != NULL)
        add_field(report, name, decoded);
}

/* An address with its type: what is no ASCII as utf-8-addr-xtext (RFC 6533, 3). */
static char *
typed_address(const char *address)
{
    if (g_str_is_ascii(address))
        return g_strdup_printf("rfc822; %s", address);
    g_autofree char *valid = g_utf8_make_valid(address, -1);
    g_autoptr(GString) typed = g_string_new("utf-8; ");
    for (const char *c = valid; *c != '\0'; c = g_utf8_next_char(c)) {
        gunichar letter = g_utf8_get_char(c);

        if (letter > ' ' && letter < 0x7f && strchr("+=\\", (int)letter) == NULL)
            g_string_append_c(typed, (char)letter);
        else
            g_string_append_printf(typed, "\\x{%02X}", letter);
    }
    return g_strdup(typed->str);
}

/* The reply itself: the client puts the recipient it was for in front. */
static const char *
without_recipient(const char *answer)
{
    const char *end = *answer == '<' ? strstr(answer, ">: ") : NULL;

    return end != NULL ? end + strlen(">: ") : answer;
}

/* The next hop's own status, when its reply has one behind the code: "550 5.1.1 no user". */
static char *
status_of(const Kind *kind, const char *reply)
{
    const char *status = strlen(reply) > 4 ? reply + 4 : "";
    gsize length = strspn(status, "0123456789.");
    g_autofree char *number = g_strndup(status, length);
    g_auto(GStrv) parts = g_strsplit(number, ".", -1);

    if (kind != &FAILED || parts[0] == NULL || !g_str_equal(parts[0], "5") ||
        g_strv_length(parts) != 3 || length > 9 || *parts[1] == '\0' || *parts[2] == '\0')
        return g_strdup(kind->status);
    return g_steal_pointer(&number);
}

/* What is told of one recipient, and the next hop's reply for it. Of a message that was sent
 * some may have been refused; of one that was not, others than the one that it failed for. */
static const Kind *
kind_for(const Item *item, guint place, const Kind *kind, const char **reply_out)
{
    const char *own;
    guint code = item_reply(item, place, &own);

    *reply_out = "";
    if (kind == &SENT && code / 100 != 5)
        return &SENT;
    if (kind != &SENT && kind != &FAILED)
        return kind;
    *reply_out = code / 100 == 5 ? own : without_recipient(report_reason(item));
    return &FAILED;
}

static gboolean
is_partly(const Item *item)
{
    const char *reply;

    for (guint i = 0; i < item->envelope->recipients->len; i++)
        if (kind_for(item, i, &SENT, &reply) == &FAILED)
            return TRUE;
    return FALSE;
}

static void
add_recipient(GString *report, const EnvelopeRecipient *recipient, const Kind *kind,
              const char *reply)
{
    g_autofree char *final = typed_address(recipient->address);
    g_autofree char *plain = escape_ascii(reply, REPLY_MOST);
    g_autofree char *diagnostic = g_strdup_printf("smtp; %s", plain);
    g_autofree char *status = status_of(kind, reply);

    g_string_append(report, "\r\n");
    add_xtext(report, "Original-Recipient", find_parameter(recipient->parameters, "ORCPT"));
    add_field(report, "Final-Recipient", final);
    g_string_append_printf(report, "Action: %s\r\nStatus: %s\r\n", kind->action, status);
    if (*plain != '\0')
        add_field(report, "Diagnostic-Code", diagnostic);
}

static const char *
reason_of(const Kind *kind, const Item *item)
{
    return kind == &FAILED || kind == &REJECTED ? report_reason(item) : "";
}

static const char *
who_says(const Kind *kind)
{
    return kind == &FAILED ? "The answer was:" : "The reviewer says:";
}

char *
report_reply(const Item *item, char **status_out)
{
    const Kind *kind = kind_of(item->state);
    const char *reason = reason_of(kind, item);

    if (!g_str_equal(kind->action, "failed"))
        return NULL;
    g_autoptr(GString) reply = g_string_new(kind->sentence);

    if (*reason != '\0')
        g_string_append_printf(reply, " %s %s", who_says(kind), reason);
    *status_out = status_of(kind, kind == &FAILED ? without_recipient(reason) : "");
    return g_string_free(g_steal_pointer(&reply), FALSE);
}

/* For people, and for agents that read. */
static void
add_sentence(GString *report, const Kind *kind, const Item *item)
{
    const char *reason = reason_of(kind, item);
    g_autofree char *safe = escape_line(reason);
    g_autoptr(GString) text = g_string_new(kind->sentence);

    g_string_append_printf(text, "\n\nItem: %s\n", item->id);
    if (*safe != '\0')
        g_string_append_printf(text, "%s\n\n    %s\n", who_says(kind), safe);
    if (kind == &REJECTED)
        g_string_append_printf(text,
                               "\nA better one may be sent with this field in its head:\n\n"
                               "    Agent-Supersedes: %s\n",
                               item->id);
    compose_add_text(report, text->str);
}

static void
add_head(GString *report, const Kind *kind, const Item *item, const ReportHead *head,
         const char *boundary)
{
    g_autofree char *date = compose_date(head->now);

    g_string_append_printf(report,
                           "From: Exeat <%s>\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\n"
                           "Message-ID: %s\r\n",
                           head->from, head->to, kind->subject, date, head->message_id);
    add_field(report, "In-Reply-To", item->message_id);
    g_string_append_printf(report,
                           "Auto-Submitted: auto-replied\r\nMIME-Version: 1.0\r\n"
                           "Content-Type: multipart/report; report-type=delivery-status;\r\n"
                           " boundary=\"%s\"\r\n",
                           boundary);
}

/* The part for programs. FALSE: nobody wants it. */
static gboolean
add_status(GString *report, const Kind *kind, const Item *item, const ReportHead *head)
{
    g_autofree char *arrival = compose_date(item->created);
    gboolean wanted = FALSE;

    g_string_append_printf(report,
                           "Content-Type: message/delivery-status\r\n\r\n"
                           "Reporting-MTA: dns; %s\r\n",
                           head->host);
    add_xtext(report, "Original-Envelope-Id",
              find_parameter(item->envelope->parameters, "ENVID"));
    g_string_append_printf(report, "Arrival-Date: %s\r\nX-Exeat-Item: %s\r\n", arrival,
                           item->id);
    for (guint i = 0; i < item->envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = item->envelope->recipients->pdata[i];
        const char *reply;

        const Kind *own = kind_for(item, i, kind, &reply);
        if (!wants(recipient, own))
            continue;
        add_recipient(report, recipient, own, reply);
        wanted = TRUE;
    }
    return wanted;
}

GString *
report_compose(const Item *item, State told, const ReportHead *head)
{
    const Kind *kind = kind_of(told);
    const Kind *title = kind == &SENT && is_partly(item) ? &PARTLY : kind;
    /* The item's id is random, and no line of ours begins with "--". */
    g_autofree char *boundary = g_strdup_printf("=_%s", item->id);
    g_autoptr(GString) report = g_string_new(NULL);

    add_head(report, title, item, head, boundary);
    g_string_append_printf(report, "\r\n--%s\r\n", boundary);
    add_sentence(report, title, item);
    g_string_append_printf(report, "\r\n--%s\r\n", boundary);
    if (!add_status(report, kind, item, head))
        return NULL;
    g_string_append_printf(report, "\r\n--%s\r\nContent-Type: text/rfc822-headers\r\n\r\n",
                           boundary);
    add_field(report, "Message-ID", item->message_id);
    g_string_append_printf(report, "\r\n--%s--\r\n", boundary);
    return g_steal_pointer(&report);
}
