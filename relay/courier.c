#include "relay/courier.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/digest.h"
#include "relay/connections.h"

enum { TICKET_BYTES = 32 };

static GMutex lock;
static GHashTable *tickets; /* ticket to digest */

static char *
make_ticket(void)
{
    guint8 bytes[TICKET_BYTES];
    GString *ticket = g_string_new(NULL);

    /* So few bytes never come short once the system has started (getrandom(2)). */
    g_assert(getrandom(bytes, sizeof bytes, 0) == (gssize)sizeof bytes);
    for (gsize i = 0; i < sizeof bytes; i++)
        g_string_append_printf(ticket, "%02x", bytes[i]);
    return g_string_free(ticket, FALSE);
}

static void
keep_ticket(const char *ticket, const char *digest)
{
    g_mutex_lock(&lock);
    if (tickets == NULL)
        tickets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_hash_table_insert(tickets, g_strdup(ticket), g_strdup(digest));
    g_mutex_unlock(&lock);
}

static void
end_ticket(const char *ticket)
{
    g_mutex_lock(&lock);
    g_hash_table_remove(tickets, ticket);
    g_mutex_unlock(&lock);
}

gboolean
courier_redeem(const char *ticket, const char *digest)
{
    g_mutex_lock(&lock);
    const char *known = tickets != NULL ? g_hash_table_lookup(tickets, ticket) : NULL;
    gboolean good = g_strcmp0(known, digest) == 0;
    if (good)
        g_hash_table_remove(tickets, ticket);
    g_mutex_unlock(&lock);
    return good;
}

static Envelope *
make_envelope(const char *const *to)
{
    const char *const nobody[] = {"<>", NULL};
    Envelope *envelope = envelope_new();

    envelope_set_sender(envelope, nobody);
    for (; *to != NULL; to++) {
        g_autofree char *path = g_strdup_printf("<%s>", *to);
        const char *const words[] = {path, NULL};

        envelope_add_recipient(envelope, words, NULL);
    }
    return envelope;
}

static SmtpResult *
not_sent(const char *text)
{
    SmtpResult *result = g_new0(SmtpResult, 1);

    result->outcome = SMTP_NOT_SENT;
    result->text = g_strdup(text);
    result->replies = g_ptr_array_new();
    return result;
}

static SmtpResult *
send_from(Config *config, const Envelope *envelope, int fd)
{
    g_autoptr(Connection) connection = connection_new(config, &config->hop);
    SmtpClient *client = connection_client(connection);
    g_autofree char *ticket = make_ticket();
    g_autofree char *head = g_strdup_printf("X-Exeat-Ticket: %s\r\n", ticket);
    g_autoptr(GError) error = NULL;

    if (!config->hop.gated)
        return smtp_send(client, envelope, "", fd, NULL);
    g_autofree char *digest = digest_action("", envelope, fd, &error);
    if (digest == NULL)
        return not_sent(error->message);
    keep_ticket(ticket, digest);
    SmtpResult *result = smtp_send(client, envelope, head, fd, NULL);
    end_ticket(ticket);
    return result;
}

SmtpResult *
courier_send(Config *config, const char *const *to, const GString *message)
{
    g_autoptr(Envelope) envelope = make_envelope(to);
    int fd = memfd_create("notice", MFD_CLOEXEC);

    if (fd < 0)
        return not_sent(g_strerror(errno));
    SmtpResult *result = write(fd, message->str, message->len) == (gssize)message->len
                             ? send_from(config, envelope, fd)
                             : not_sent(g_strerror(errno));
    close(fd);
    return result;
}
