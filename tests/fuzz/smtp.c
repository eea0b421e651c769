/* A mail server's replies. An input is what the server says, a NUL before each time that it
 * waits for the client. */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "relay/smtp.h"

static const char *next, *end; /* what is still to be said */
static int server = -1;

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_begin();
    return 0;
}

static void
end_server(void)
{
    if (server >= 0)
        close(server);
    server = -1;
}

/* In place of a server's socket one end of a pair. */
int
__wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    int ends[2];

    (void)address, (void)length;
    end_server();
    g_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    g_assert(dup3(ends[0], fd, O_CLOEXEC) == fd);
    close(ends[0]);
    server = ends[1];
    return 0;
}

/* The server reads all that came, then says its next words, or goes. */
static void
let_server_speak(void)
{
    char heard[4096];

    while (recv(server, heard, sizeof heard, 0) > 0)
        continue;
    if (next == end) {
        shutdown(server, SHUT_WR);
        return;
    }
    const char *stop = memchr(next, '\0', end - next);
    gsize length = (stop ? stop : end) - next;

    g_assert(send(server, next, length, MSG_NOSIGNAL) == (ssize_t)length);
    next = stop ? stop + 1 : end;
}

int
__wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
    int ready;

    while ((ready = __real_poll(fds, count, 0)) == 0 && timeout != 0)
        let_server_speak();
    return ready;
}

static gboolean
say_yes(gpointer data)
{
    *(gboolean *)data = TRUE;
    return TRUE;
}

static gboolean
take_some(const Envelope *accepted, gpointer data)
{
    (void)data;
    g_assert(accepted->recipients->len == 1);
    return TRUE;
}

static void
send_one(SmtpClient *client, int fd)
{
    static const char *const from[] = {"ann@example.org", "BODY=8BITMIME", NULL};
    static const char *const to[] = {"bob@example.net", "NOTIFY=NEVER", NULL};
    static const char *const also[] = {"eve@example.net", NULL};
    g_autoptr(Envelope) envelope = envelope_new();
    gboolean asked = FALSE;
    const SmtpHooks hooks = {.some = take_some, .before_dot = say_yes, .data = &asked};

    envelope_set_sender(envelope, from);
    envelope_add_recipient(envelope, to, NULL);
    envelope_add_recipient(envelope, also, NULL);
    g_autoptr(SmtpResult) result = smtp_send(client, envelope, "X-Head: 1\r\n", fd, &hooks);
    g_assert(g_utf8_validate(result->text, -1, NULL));
    /* Nothing is taken for sent, or perhaps sent, before the last step. */
    g_assert(asked || result->outcome == SMTP_NOT_SENT || result->outcome == SMTP_REFUSED);
    g_assert(result->outcome != SMTP_ACCEPTED || result->code / 100 == 2);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    static const char message[] = "Subject: x\r\n\r\n.\r\nsch\xc3\xb6n\r\n";
    const SmtpServer target = {.target = "unix:/s", .helo = "h", .timeout_ms = 60000};
    int fd = fuzz_memory((const guint8 *)message, sizeof message - 1);

    next = (const char *)data;
    end = next + size;
    SmtpClient *client = smtp_new(&target);
    for (guint i = 0; i < 3 && next != end; i++)
        send_one(client, fd);
    smtp_free(client);
    end_server();
    close(fd);
    return 0;
}
