#include "relay/courier.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/digest.h"
#include "lib/log.h"
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

/* A notice on its way. */
typedef struct {
    char *ticket; /* NULL for a next hop without the gate */
    int fd;
} Trip;

/* The ticket is for exactly these recipients; the last one it was for is forgotten. */
static gboolean
admit(const Envelope *envelope, gpointer data)
{
    const Trip *trip = data;
    g_autoptr(GError) error = NULL;

    if (trip->ticket == NULL)
        return TRUE;
    g_autofree char *digest = digest_action("", envelope, trip->fd, &error);
    if (digest == NULL) {
        log_error("a notice cannot be read: %s", error->message);
        return FALSE;
    }
    keep_ticket(trip->ticket, digest);
    return TRUE;
}

/* One address that is no more keeps nobody else from hearing it. */
static gboolean
send_to_some(const Envelope *accepted, gpointer data)
{
    log_warning("the next hop refuses some of those who should hear of what waits; %u hear it",
                accepted->recipients->len);
    return admit(accepted, data);
}

static SmtpResult *
send_from(Config *config, const Envelope *envelope, int fd)
{
    g_autoptr(Connection) connection = connection_new(config, &config->hop);
    g_autofree char *ticket = config->hop.gated ? make_ticket() : NULL;
    g_autofree char *head =
        ticket != NULL ? g_strdup_printf("X-Exeat-Ticket: %s\r\n", ticket) : g_strdup("");
    Trip trip = {ticket, fd};
    const SmtpHooks hooks = {.some = send_to_some, .data = &trip};

    if (!admit(envelope, &trip))
        return not_sent("it cannot be read");
    SmtpResult *result = smtp_send(connection_client(connection), envelope, head, fd, &hooks);
    if (ticket != NULL)
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
