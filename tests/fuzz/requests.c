/* What the milter, people and agents ask of the relay: a whole relay, over its socket.
 *
 * Each line of an input is one request: a letter for who asks (m the milter, r root, p an
 * approver, a an agent's user), and verb and arguments as GVariant writes them. ITEM and
 * DIGEST in it stand for those of the last item that an answer named. */
#include "tests/fuzz/fuzz.h"

#include "lib/wire.h"
#include "relay/drafts.h"
#include "relay/notice.h"
#include "relay/reconcile.h"
#include "relay/record.h"
#include "relay/requests.h"
#include "relay/schedule.h"
#include "relay/send.h"

enum { WAIT_MS = 60000, MILTER = 1001, APPROVER = 1002, AGENT = 1003 };

static Relay relay;
static Wire *wires[4];
static gint asking; /* uid_t */
static char *item, *digest;

gboolean __wrap_wire_peer(Wire *wire, uid_t *uid_out, gid_t *gid_out, GError **error);

/* The peer is who the line says. */
gboolean
__wrap_wire_peer(Wire *wire, uid_t *uid_out, gid_t *gid_out, GError **error)
{
    (void)wire, (void)error;
    *uid_out = *gid_out = g_atomic_int_get(&asking);
    return TRUE;
}

static gpointer
serve(gpointer data)
{
    requests_serve(&relay, GPOINTER_TO_INT(data), -1);
    return NULL;
}

static void
write_configuration(const char *path, const char *policy)
{
    static const char rules[] =
        "hold \"n\" if external_novel > 0\n"
        "release \"r\" if novel = 0 and external = 0 and recipients <= 2\n"
        "delay 1h-2h \"d\" if novel = 0 and external = 0 and recipients <= 5\n";
    g_autofree char *state = fuzz_path("state"), *socket = fuzz_path("relay.sock");
    g_autofree char *text = g_strdup_printf(
        "[exeat]\nmilter-user = %d\nnext-hop = unix:/nowhere\nstate = %s\n"
        "relay-socket = %s\nwaiting-limit = 1000000\nrecord-limit = 100G\nhour-limit = "
        "1000000\nday-limit = 1000000\nstore-limit = 1000G\n"
        "[account owner]\naddresses = owner@example.com\n"
        "agent-logins = agent@example.com\nhuman-logins = owner@example.com\n"
        "agent-users = %d\napprovers = %d\ninternal-domains = example.com\n"
        "notices-to = owner@example.com\nmode = hybrid\npolicy = p\n",
        MILTER, state, socket, AGENT, APPROVER);

    g_assert(g_mkdir_with_parents(state, 0700) == 0);
    fuzz_write(path, text, strlen(text));
    fuzz_write(policy, rules, sizeof rules - 1);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    g_autofree char *path = fuzz_path("exeat.conf"), *policy = fuzz_path("p");
    g_autoptr(GError) error = NULL;

    (void)argc, (void)argv;
    fuzz_begin();
    umask(077);
    write_configuration(path, policy);
    g_mutex_init(&relay.lock);
    g_rw_lock_init(&relay.serving);
    relay.started = relay_now();
    relay.config = config_read(path, TRUE, &error);
    g_assert_no_error(error);
    record_start(&relay, &error);
    g_assert_no_error(error);
    int fd = wire_listen(relay.config->relay_socket, 0600, &error);
    g_assert_no_error(error);
    relay.sender = sender_start(&relay);
    relay.drafts = drafts_start(&relay);
    relay.reconciler = reconciler_start(&relay);
    relay.schedule = schedule_start(&relay);
    relay.notifier = notifier_start(&relay);
    g_thread_unref(g_thread_new("serve", serve, GINT_TO_POINTER(fd)));
    return 0;
}

static void
learn(GVariant *details, const char *name, char **text)
{
    const char *found;

    if (!g_variant_lookup(details, name, "&s", &found) || *found == '\0')
        return;
    g_free(*text);
    *text = g_strdup(found);
}

static Wire *
connect_as(char who)
{
    static const char kinds[] = "mrpa";
    static const uid_t users[] = {MILTER, 0, APPROVER, AGENT};
    const char *kind = strchr(kinds, who);

    if (who == '\0' || kind == NULL)
        return NULL;
    Wire **wire = &wires[kind - kinds];
    if (*wire != NULL && wire_idle(*wire))
        return *wire;
    g_clear_pointer(wire, wire_free);
    g_atomic_int_set(&asking, users[kind - kinds]);
    *wire = wire_connect(relay.config->relay_socket, WAIT_MS, NULL);
    return *wire;
}

static void
ask(char who, const char *text)
{
    static const char message[] = "From: owner@example.com\r\nSubject: x\r\n\r\nhello\r\n";
    g_auto(GStrv) around = g_strsplit(text, "ITEM", -1);
    g_autofree char *some = g_strjoinv(item ? item : "abcdefghijkl", around);
    g_auto(GStrv) pieces = g_strsplit(some, "DIGEST", -1);
    g_autofree char *all = g_strjoinv(digest ? digest : "", pieces);
    g_autoptr(GVariant) frame =
        g_variant_parse(G_VARIANT_TYPE("(sa{sv})"), all, NULL, NULL, NULL);
    Wire *wire = frame ? connect_as(who) : NULL;

    if (wire == NULL)
        return;
    g_autoptr(GVariant) arguments = g_variant_get_child_value(frame, 1), details = NULL;
    g_autofree char *answer = NULL;
    const char *verb;
    int fd = who == 'm' ? fuzz_memory((const guint8 *)message, sizeof message - 1) : -1;
    int file = -1;

    g_variant_get_child(frame, 0, "&s", &verb);
    gboolean heard =
        wire_send(wire, verb, arguments, fd, WAIT_MS, NULL) &&
        wire_receive(wire, WIRE_LIMIT_MILTER, WAIT_MS, &answer, &details, &file, NULL);
    if (fd >= 0)
        close(fd);
    if (file >= 0)
        close(file);
    if (!heard || answer == NULL)
        return;
    g_assert(g_str_equal(answer, "ok") || g_str_equal(answer, "error"));
    learn(details, "item", &item);
    learn(details, "digest", &digest);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autofree char *text = fuzz_text(data, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    for (char **line = lines; *line != NULL; line++)
        if ((*line)[0] != '\0')
            ask((*line)[0], *line + 1);
    return 0;
}
