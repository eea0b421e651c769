/* The local socket, seen by a peer that behaves and by peers that do not. */
#include "lib/wire.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "lib/error.h"

#define PATIENCE 5000
#define SHORT    20

/* A wire and the bare other end of it. */
typedef struct {
    Wire *wire;
    int peer;
} Pair;

static Pair
pair_new(void)
{
    int fds[2];

    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
    return (Pair){wire_new(fds[0]), fds[1]};
}

static void
pair_end(Pair *pair)
{
    wire_free(pair->wire);
    if (pair->peer >= 0)
        close(pair->peer);
}

static guint
count_descriptors(void)
{
    g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
    guint count = 0;

    while (g_dir_read_name(dir) != NULL)
        count++;
    return count;
}

static void
write_all(int fd, const void *bytes, gsize length)
{
    g_assert_cmpint(write(fd, bytes, length), ==, (gssize)length);
}

/* Writes bytes with some copies of our standard error riding along. */
static void
write_with_descriptors(int fd, const void *bytes, gsize length, guint n)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(64 * sizeof(int))];
    } control = {.bytes = {0}};
    int passed[64];
    struct iovec part = {(void *)bytes, length};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_SPACE(n * sizeof(int))};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    g_assert_cmpuint(n, <=, G_N_ELEMENTS(passed));
    for (guint i = 0; i < n; i++)
        passed[i] = STDERR_FILENO;
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(n * sizeof(int));
    memcpy(CMSG_DATA(header), passed, n * sizeof(int));
    g_assert_cmpint(sendmsg(fd, &message, 0), ==, (gssize)length);
}

/* A frame as it stands on the wire. */
static GByteArray *
frame_bytes(const char *verb, GVariant *arguments)
{
    g_autoptr(GVariant) frame =
        g_variant_ref_sink(g_variant_new("(s@a{sv})", verb, arguments));
    guint32 prefix = GUINT32_TO_BE((guint32)g_variant_get_size(frame));
    GByteArray *bytes = g_byte_array_new();

    g_byte_array_append(bytes, (const guint8 *)&prefix, sizeof prefix);
    g_byte_array_append(bytes, g_variant_get_data(frame), g_variant_get_size(frame));
    return bytes;
}

static GByteArray *
small_frame(void)
{
    return frame_bytes("status", g_variant_new_parsed("{'id': <'7'>}"));
}

/* Receives, and expects an error of this code. No descriptor may be left over. */
static void
expect_error(Wire *wire, gsize limit, guint timeout_ms, gint code)
{
    g_autoptr(GError) error = NULL;
    char *verb = NULL;
    GVariant *arguments = NULL;
    int fd = -1;

    g_assert_false(wire_receive(wire, limit, timeout_ms, &verb, &arguments, &fd, &error));
    g_assert_error(error, EXEAT_ERROR, code);
    g_assert_null(verb);
    g_assert_null(arguments);
    g_assert_cmpint(fd, ==, -1);
}

static void
test_round_trip(void)
{
    Pair pair = pair_new();
    g_autoptr(Wire) other = wire_new(pair.peer);
    g_autoptr(GError) error = NULL;

    for (guint i = 0; i < 3; i++) {
        g_autofree char *verb = NULL;
        g_autoptr(GVariant) arguments = NULL;
        g_autoptr(GVariant) expected =
            g_variant_ref_sink(g_variant_new_parsed("{'id': <'7'>, 'size': <uint64 5>}"));
        int fd = 99;

        g_assert_true(
            wire_send(pair.wire, "status", i == 0 ? NULL : expected, -1, PATIENCE, &error));
        g_assert_true(wire_receive(other, WIRE_LIMIT_PEOPLE, PATIENCE, &verb, &arguments,
                                   i == 1 ? NULL : &fd, &error));
        g_assert_no_error(error);
        g_assert_cmpstr(verb, ==, "status");
        g_assert_cmpstr(g_variant_get_type_string(arguments), ==, "a{sv}");
        g_assert_true(i == 0 ? g_variant_n_children(arguments) == 0
                             : g_variant_equal(arguments, expected));
        g_assert_cmpint(fd, ==, i == 1 ? 99 : -1);
    }
    wire_free(pair.wire);
}

static void
test_descriptor(void)
{
    Pair pair = pair_new();
    g_autoptr(Wire) other = wire_new(pair.peer);
    g_autoptr(GError) error = NULL;
    g_autofree char *verb = NULL;
    g_autoptr(GVariant) arguments = NULL;
    int memory = memfd_create("wire-test", MFD_CLOEXEC);
    int fd = -1;
    char text[6] = "";

    write_all(memory, "hello", 5);
    g_assert_true(wire_send(pair.wire, "submit", NULL, memory, PATIENCE, &error));
    close(memory);
    g_assert_true(
        wire_receive(other, WIRE_LIMIT_PEOPLE, PATIENCE, &verb, &arguments, &fd, &error));
    g_assert_cmpint(pread(fd, text, 5, 0), ==, 5);
    g_assert_cmpstr(text, ==, "hello");
    g_assert_cmpint(fcntl(fd, F_GETFD) & FD_CLOEXEC, !=, 0);
    close(fd);
    wire_free(pair.wire);
}

/* Descriptors that nobody asked for are closed, and the connection ends (XF6). */
static void
test_descriptors_refused(void)
{
    static const struct {
        const char *name;
        guint with_prefix, with_body;
    } rows[] = {{"two", 2, 0}, {"many", 64, 0}, {"late", 0, 1}, {"one and one late", 1, 1}};
    guint before = count_descriptors();

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        Pair pair = pair_new();
        g_autoptr(GByteArray) frame = small_frame();

        g_test_message("%s", rows[i].name);
        if (rows[i].with_prefix > 0)
            write_with_descriptors(pair.peer, frame->data, 4, rows[i].with_prefix);
        else
            write_all(pair.peer, frame->data, 4);
        if (rows[i].with_body > 0)
            write_with_descriptors(pair.peer, frame->data + 4, frame->len - 4,
                                   rows[i].with_body);
        else
            write_all(pair.peer, frame->data + 4, frame->len - 4);
        expect_error(pair.wire, WIRE_LIMIT_PEOPLE, PATIENCE, ERROR_PROTOCOL);
        pair_end(&pair);
        g_assert_cmpuint(count_descriptors(), ==, before);
    }
}

static void
test_descriptor_unwanted(void)
{
    Pair pair = pair_new();
    g_autoptr(GByteArray) frame = small_frame();
    g_autoptr(GError) error = NULL;
    g_autofree char *verb = NULL;
    g_autoptr(GVariant) arguments = NULL;
    guint before = count_descriptors();

    write_with_descriptors(pair.peer, frame->data, frame->len, 1);
    g_assert_false(
        wire_receive(pair.wire, WIRE_LIMIT_PEOPLE, PATIENCE, &verb, &arguments, NULL, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
    g_assert_cmpuint(count_descriptors(), ==, before);
    pair_end(&pair);
}

/* What a peer writes before it closes, and what that is taken for. */
static void
test_broken_frames(void)
{
    static const struct {
        const char *name, *bytes;
        gsize length;
    } rows[] = {
        {"half a prefix", "\0\0", 2},
        {"prefix alone", "\0\0\0\x10", 4},
        {"half a body", "\0\0\0\x10status", 10},
        {"empty frame", "\0\0\0\0", 4},
        {"one byte over the limit", "\0\1\0\1x", 5},
        {"four gigabytes", "\xff\xff\xff\xffx", 5},
        {"garbage", "\0\0\0\4\xde\xad\xbe\xef", 8},
        {"verb without an end", "\0\0\0\6status", 10},
        {"verb that is not UTF-8", "\0\0\0\4\xff\0\2\2", 8},
        {"a request of another protocol", "GET / HTTP/1.1\r\n\r\n", 18},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        Pair pair = pair_new();

        g_test_message("%s", rows[i].name);
        write_all(pair.peer, rows[i].bytes, rows[i].length);
        close(pair.peer);
        pair.peer = -1;
        expect_error(pair.wire, WIRE_LIMIT_PEOPLE, PATIENCE, ERROR_PROTOCOL);
        pair_end(&pair);
    }
}

static void
test_over_limit_is_not_sent(void)
{
    Pair pair = pair_new();
    g_autoptr(GError) error = NULL;
    g_autofree char *text = g_strnfill(WIRE_LIMIT_MILTER, 'x');
    GVariant *arguments = g_variant_new_parsed("{'text': <%s>}", text);

    g_assert_false(wire_send(pair.wire, "submit", arguments, -1, PATIENCE, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    pair_end(&pair);
}

static void
test_peer_closed(void)
{
    Pair pair = pair_new();
    g_autoptr(GError) error = NULL;
    char *verb = NULL;
    GVariant *arguments = NULL;

    g_assert_true(wire_idle(pair.wire));
    close(pair.peer);
    pair.peer = -1;
    g_assert_false(wire_idle(pair.wire));
    g_assert_true(
        wire_receive(pair.wire, WIRE_LIMIT_PEOPLE, PATIENCE, &verb, &arguments, NULL, &error));
    g_assert_no_error(error);
    g_assert_null(verb);
    g_assert_null(arguments);

    /* Writing to nobody is an error, not a signal. */
    g_assert_false(wire_send(pair.wire, "status", NULL, -1, PATIENCE, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    pair_end(&pair);
}

static void
test_stray_bytes(void)
{
    Pair pair = pair_new();

    write_all(pair.peer, "x", 1);
    g_assert_false(wire_idle(pair.wire));
    pair_end(&pair);
}

/* Who does not wait for the answer to one gets none to two. */
static void
test_two_at_once(void)
{
    Pair pair = pair_new();
    g_autoptr(GByteArray) frame = small_frame(), next = small_frame();
    g_autoptr(GError) error = NULL;
    g_autofree char *verb = NULL;
    g_autoptr(GVariant) arguments = NULL;

    g_byte_array_append(frame, next->data, next->len);
    write_all(pair.peer, frame->data, frame->len);
    g_assert_false(
        wire_receive(pair.wire, WIRE_LIMIT_PEOPLE, PATIENCE, &verb, &arguments, NULL, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
    pair_end(&pair);
}

/* Gives away a byte each millisecond until the other side has enough of it. */
static gpointer
drip(gpointer data)
{
    int fd = GPOINTER_TO_INT(data);
    struct pollfd item = {fd, POLLRDHUP, 0};
    const char prefix[] = {0, 0, 64, 0};

    write_all(fd, prefix, sizeof prefix);
    while (poll(&item, 1, 1) == 0)
        send(fd, "x", 1, MSG_NOSIGNAL);
    return NULL;
}

static void
test_dripping_peer(void)
{
    Pair pair = pair_new();
    gint64 start = g_get_monotonic_time();
    GThread *thread = g_thread_new("drip", drip, GINT_TO_POINTER(pair.peer));

    expect_error(pair.wire, WIRE_LIMIT_PEOPLE, SHORT, ERROR_TEMP);
    g_assert_cmpint(g_get_monotonic_time() - start, >=, SHORT * 1000);
    wire_free(pair.wire);
    g_thread_join(thread);
    close(pair.peer);
}

static void
test_silent_peer(void)
{
    Pair pair = pair_new();
    g_autoptr(GError) error = NULL;
    g_autofree char *text = g_strnfill(WIRE_LIMIT_MILTER / 2, 'x');
    GVariant *arguments = g_variant_new_parsed("{'text': <%s>}", text);

    expect_error(pair.wire, WIRE_LIMIT_PEOPLE, SHORT, ERROR_TEMP);
    /* Nobody reads: the socket's buffer fills, and the deadline ends it. */
    g_assert_false(wire_send(pair.wire, "submit", arguments, -1, SHORT, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    pair_end(&pair);
}

/* C5: the kernel says who it is. */
static void
test_peer_identity(void)
{
    Pair pair = pair_new();
    g_autoptr(GError) error = NULL;
    uid_t uid = (uid_t)-1;
    gid_t gid = (gid_t)-1;

    g_assert_true(wire_peer(pair.wire, &uid, &gid, &error));
    g_assert_cmpuint(uid, ==, geteuid());
    g_assert_cmpuint(gid, ==, getegid());
    pair_end(&pair);
}

/* Random bytes, and good frames with a few bytes changed: a frame or ERROR_PROTOCOL, nothing
 * else, and never a crash. */
static void
test_fuzz(void)
{
    Pair pair = pair_new();
    g_autoptr(GByteArray) good = small_frame();
    guint taken = 0;

    for (guint i = 0; i < 20000; i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *verb = NULL;
        g_autoptr(GVariant) arguments = NULL;
        guint8 frame[256] = {0};
        gsize length = i % 2 == 0 ? good->len : (gsize)g_test_rand_int_range(5, sizeof frame);

        memcpy(frame, good->data, good->len);
        frame[3] = length - 4;
        guint changes = i % 2 == 0 ? (guint)g_test_rand_int_range(0, 4) : length;
        for (guint j = 0; j < changes; j++)
            frame[g_test_rand_int_range(4, length)] = g_test_rand_int_range(0, 256);
        write_all(pair.peer, frame, length);
        if (wire_receive(pair.wire, WIRE_LIMIT_PEOPLE, PATIENCE, &verb, &arguments, NULL,
                         &error))
            taken++;
        else
            g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
    }
    g_assert_cmpuint(taken, >, 0);
    g_assert_true(wire_idle(pair.wire));
    pair_end(&pair);
}

static void
make_dead_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    g_assert_cmpuint(strlen(path), <, sizeof address.sun_path);
    strcpy(address.sun_path, path);
    g_assert_cmpint(bind(fd, (struct sockaddr *)&address, sizeof address), ==, 0);
    close(fd);
}

static void
test_listen(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("exeat-wire-XXXXXX", &error);
    g_autofree char *path = g_build_filename(folder, "socket", NULL);
    g_autofree char *lock = g_strconcat(path, ".lock", NULL);
    struct stat status;

    /* Nobody there yet; then a socket whose owner died. */
    g_assert_null(wire_connect(path, PATIENCE, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_clear_error(&error);
    make_dead_socket(path);
    g_assert_null(wire_connect(path, PATIENCE, &error));
    g_clear_error(&error);

    int fd = wire_listen(path, 0660, &error);
    g_assert_no_error(error);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(stat(path, &status), ==, 0);
    g_assert_cmpuint(status.st_mode & 07777, ==, 0660);
    g_autoptr(Wire) client = wire_connect(path, PATIENCE, &error);
    g_assert_no_error(error);
    g_assert_nonnull(client);

    /* XF11: the second one is refused and the first goes on. */
    g_assert_cmpint(wire_listen(path, 0660, &error), ==, -1);
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_autoptr(Wire) again = wire_connect(path, PATIENCE, NULL);
    g_assert_nonnull(again);

    close(fd);
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(g_unlink(lock), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

static void
test_listen_refused(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("exeat-wire-XXXXXX", &error);
    g_autofree char *file = g_build_filename(folder, "file", NULL);
    g_autofree char *lock = g_strconcat(file, ".lock", NULL);
    g_autofree char *missing = g_build_filename(folder, "missing", "socket", NULL);
    g_autofree char *filler = g_strnfill(120, 'x');
    g_autofree char *long_path = g_build_filename(folder, filler, NULL);
    g_autofree char *long_lock = g_strconcat(long_path, ".lock", NULL);

    g_assert_true(g_file_set_contents(file, "keep me", -1, NULL));
    const char *paths[] = {file, missing, long_path};
    for (gsize i = 0; i < G_N_ELEMENTS(paths); i++) {
        g_assert_cmpint(wire_listen(paths[i], 0600, &error), ==, -1);
        g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
        g_clear_error(&error);
    }
    g_assert_null(wire_connect(long_path, PATIENCE, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_assert_true(g_file_test(file, G_FILE_TEST_IS_REGULAR));

    g_unlink(file);
    g_unlink(lock);
    g_unlink(long_lock);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* as the daemons do: a peer that drips outlives its reader */
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/round-trip", test_round_trip);
    g_test_add_func("/wire/descriptor", test_descriptor);
    g_test_add_func("/wire/descriptors-refused", test_descriptors_refused);
    g_test_add_func("/wire/descriptor-unwanted", test_descriptor_unwanted);
    g_test_add_func("/wire/broken-frames", test_broken_frames);
    g_test_add_func("/wire/over-limit-is-not-sent", test_over_limit_is_not_sent);
    g_test_add_func("/wire/peer-closed", test_peer_closed);
    g_test_add_func("/wire/stray-bytes", test_stray_bytes);
    g_test_add_func("/wire/two-at-once", test_two_at_once);
    g_test_add_func("/wire/dripping-peer", test_dripping_peer);
    g_test_add_func("/wire/silent-peer", test_silent_peer);
    g_test_add_func("/wire/peer-identity-C5", test_peer_identity);
    g_test_add_func("/wire/fuzz", test_fuzz);
    g_test_add_func("/wire/listen-XF11", test_listen);
    g_test_add_func("/wire/listen-refused", test_listen_refused);
    return g_test_run();
}
