/* The envelope and the digest over it: XC9 (every element counts) and XC10 (no two actions
 * share a digest). */
#include "lib/digest.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "lib/error.h"

/* An action as text: words are parted by spaces, recipients by line feeds. */
typedef struct {
    const char *account, *sender, *recipients, *message;
} Action;

#define SENDER     "<agent@example.com> RET=HDRS ENVID=x1"
#define RECIPIENTS "<a@example.org> NOTIFY=NEVER\n<b@example.net>"
#define MESSAGE    "Subject: x\r\n\r\nHello\r\n"

static const Action base = {"owner", SENDER, RECIPIENTS, MESSAGE};

static Envelope *
parse_envelope(const char *sender, const char *recipients)
{
    Envelope *envelope = envelope_new();
    g_auto(GStrv) words = g_strsplit(sender, " ", -1);
    g_auto(GStrv) lines = g_strsplit(recipients, "\n", -1);

    envelope_set_sender(envelope, (const char *const *)words);
    for (char **line = lines; *line != NULL; line++) {
        g_auto(GStrv) parts = g_strsplit(*line, " ", -1);
        envelope_add_recipient(envelope, (const char *const *)parts, NULL);
    }
    return envelope;
}

static int
message_open(const char *bytes, gsize length)
{
    int fd = memfd_create("digest-test", MFD_CLOEXEC);

    g_assert_cmpint(write(fd, bytes, length), ==, (gssize)length);
    return fd;
}

static char *
digest(const Action *action)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Envelope) envelope = parse_envelope(action->sender, action->recipients);
    int fd = message_open(action->message, strlen(action->message));
    char *hex = digest_action(action->account, envelope, fd, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(strlen(hex), ==, DIGEST_LENGTH);
    g_assert_cmpint(lseek(fd, 0, SEEK_CUR), ==, (gssize)strlen(action->message));
    close(fd);
    return hex;
}

/* Fixed for ever: stored approvals depend on them. */
static void
test_vectors(void)
{
    static const struct {
        Action action;
        const char *hex;
    } rows[] = {
        {{"owner", "<>", "<a@example.org>", ""},
         "3c24dae7de137c6d93f0cea70e32bf07160e62b637198f5ef0aca97073b69b46"},
        {{"owner", SENDER, RECIPIENTS, MESSAGE},
         "87468695b5ad36d698c5b92857b2d9583ff81c5cf734710f28de687d249c46ee"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *hex = digest(&rows[i].action);
        g_assert_cmpstr(hex, ==, rows[i].hex);
    }
}

static void
test_same(void)
{
    static const struct {
        const char *name;
        Action action;
    } rows[] = {
        {"order of recipients",
         {"owner", SENDER, "<b@example.net>\n<a@example.org> NOTIFY=NEVER", MESSAGE}},
        {"a recipient twice", {"owner", SENDER, RECIPIENTS "\n<b@example.net>", MESSAGE}},
        {"order of parameters, and those of one hop",
         {"owner", "<agent@example.com> SIZE=20 ENVID=x1 auth=<> RET=HDRS", RECIPIENTS,
          MESSAGE}},
    };
    g_autofree char *expected = digest(&base);

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *hex = digest(&rows[i].action);
        g_test_message("%s", rows[i].name);
        g_assert_cmpstr(hex, ==, expected);
    }
}

/* Each row differs from base and from every other row in what would be done. */
static void
test_different(void)
{
    static const Action rows[] = {
        {"owner", SENDER, RECIPIENTS, MESSAGE},
        {"other", SENDER, RECIPIENTS, MESSAGE},
        {"owne", "r<agent@example.com> RET=HDRS ENVID=x1", RECIPIENTS, MESSAGE},
        {"owner", "<Agent@example.com> RET=HDRS ENVID=x1", RECIPIENTS, MESSAGE},
        {"owner", "<> RET=HDRS ENVID=x1", RECIPIENTS, MESSAGE},
        {"owner", "<agent@example.com> RET=FULL ENVID=x1", RECIPIENTS, MESSAGE},
        {"owner", "<agent@example.com> RET=HDRS ENVID=x2", RECIPIENTS, MESSAGE},
        {"owner", "<agent@example.com> RET=HDRS", RECIPIENTS, MESSAGE},
        {"owner", "<agent@example.com>", RECIPIENTS, MESSAGE},
        {"owner", SENDER, "<a@example.org> NOTIFY=NEVER\n<b@example.ne>", MESSAGE},
        {"owner", SENDER, "<a@example.org> NOTIFY=NEVER\n<B@example.net>", MESSAGE},
        {"owner", SENDER, "<a@example.org> NOTIFY=NEVER", MESSAGE},
        {"owner", SENDER, "<a@example.org>\n<b@example.net>", MESSAGE},
        {"owner", SENDER, "<a@example.org>\n<b@example.net> NOTIFY=NEVER", MESSAGE},
        {"owner", SENDER, RECIPIENTS "\n<c@example.net>", MESSAGE},
        {"owner", SENDER, RECIPIENTS "\n<a@example.org>", MESSAGE},
        {"owner", SENDER, "<a@example.org,b@example.net>", MESSAGE},
        {"owner", SENDER, "<a@example.org>", MESSAGE},
        {"owner", SENDER, RECIPIENTS, "Subject: x\n\nHello\n"},
        {"owner", SENDER, RECIPIENTS, "Subject:  x\r\n\r\nHello\r\n"},
        {"owner", SENDER, RECIPIENTS, "Subject: x\r\n\r\nHello\r\n\r\n"},
        {"owner", SENDER, RECIPIENTS, "Subject: x\r\n\r\nHell\xc3\xb6\r\n"},
        {"owner", SENDER, RECIPIENTS, "Subject: x\r\n\r\nHello\xcc\x88\r\n"},
        {"owner", SENDER, RECIPIENTS, ""},
    };
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_test_message("row %" G_GSIZE_FORMAT, i);
        g_assert_true(g_hash_table_add(seen, digest(&rows[i])));
    }
}

/* Changes one byte anywhere: another digest (XC9). */
static void
test_every_byte(void)
{
    g_autofree char *before = digest(&base);

    for (gsize i = 0; base.message[i] != '\0'; i++) {
        g_autofree char *message = g_strdup(base.message);
        message[i] ^= 0x20;
        Action changed = base;
        changed.message = message;
        g_autofree char *after = digest(&changed);
        g_assert_cmpstr(before, !=, after);
    }
}

static void
test_unreadable(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Envelope) envelope = parse_envelope("<>", "<a@example.org>");

    g_assert_null(digest_action("owner", envelope, -1, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
}

/* A second implementation, from the words of digest.h alone. It reads actions, one a line,
 * each a JSON list of account, sender, parameters, recipients and message in hex. */
static const char second[] =
    "import sys, json, hashlib, struct\n"
    "def field(b): return struct.pack('>Q', len(b)) + b\n"
    "def number(n): return field(struct.pack('>Q', n))\n"
    "def party(p):\n"
    "    words = sorted(bytes.fromhex(w) for w in p[1:])\n"
    "    return field(bytes.fromhex(p[0])) + number(len(words)) + b''.join(map(field, "
    "words))\n"
    "for line in open(sys.argv[1]):\n"
    "    account, sender, recipients, message = json.loads(line)\n"
    "    parties = sorted(set(map(party, recipients)))\n"
    "    data = field(b'exeat-action-1') + field(bytes.fromhex(account)) + "
    "field(b'smtp.send')\n"
    "    data += party(sender) + number(len(parties)) + b''.join(parties)\n"
    "    data += field(bytes.fromhex(message))\n"
    "    print(hashlib.sha256(data).hexdigest())\n";

static char *
random_bytes(guint limit, gsize *length_out)
{
    gsize length = g_test_rand_int_range(0, limit);
    char *bytes = g_malloc0(length + 1);

    for (gsize i = 0; i < length; i++)
        bytes[i] = g_test_rand_int_range(1, 256);
    *length_out = length;
    return bytes;
}

static void
append_hex(GString *json, const char *bytes, gsize length)
{
    g_string_append_c(json, '"');
    for (gsize i = 0; i < length; i++)
        g_string_append_printf(json, "%02x", (guint8)bytes[i]);
    g_string_append_c(json, '"');
}

/* A random address and parameters, as words for the envelope and in JSON. Short strings over
 * few letters, so that recipients collide. */
static char **
random_words(GString *json)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    guint count = g_test_rand_int_range(1, 5);

    g_string_append_c(json, '[');
    for (guint i = 0; i < count; i++) {
        g_autofree char *word =
            g_strdup_printf("%s%c", i == 0 ? "" : "X=", g_test_rand_int_range(0xe0, 0xe4));
        g_strv_builder_add(builder, word);
        if (i > 0)
            g_string_append_c(json, ',');
        append_hex(json, word, strlen(word));
    }
    g_string_append_c(json, ']');
    return g_strv_builder_end(builder);
}

/* Writes one random action to input and our digest of it to expected. */
static void
add_random_action(GString *input, GString *expected)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Envelope) envelope = envelope_new();
    gsize account_length, message_length;
    g_autofree char *account = random_bytes(20, &account_length);
    g_autofree char *message = random_bytes(2000, &message_length);
    guint recipients = g_test_rand_int_range(0, 12);

    g_string_append_c(input, '[');
    append_hex(input, account, account_length);
    g_string_append_c(input, ',');
    g_auto(GStrv) sender = random_words(input);
    envelope_set_sender(envelope, (const char *const *)sender);
    g_string_append(input, ",[");
    for (guint i = 0; i < recipients; i++) {
        if (i > 0)
            g_string_append_c(input, ',');
        g_auto(GStrv) words = random_words(input);
        envelope_add_recipient(envelope, (const char *const *)words, "ignored");
    }
    g_string_append(input, "],");
    append_hex(input, message, message_length);
    g_string_append(input, "]\n");

    int fd = message_open(message, message_length);
    g_autofree char *hex = digest_action(account, envelope, fd, &error);
    g_assert_no_error(error);
    close(fd);
    g_string_append_printf(expected, "%s\n", hex);
}

static void
test_second_implementation(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) input = g_string_new(NULL);
    g_autoptr(GString) expected = g_string_new(NULL);
    g_autofree char *folder = g_dir_make_tmp("exeat-digest-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "actions", NULL);
    g_autofree char *output = NULL;
    const char *argv[] = {"/usr/bin/env", "python3", "-c", second, path, NULL};

    for (guint i = 0; i < 200; i++)
        add_random_action(input, expected);
    g_assert_true(g_file_set_contents(path, input->str, input->len, NULL));
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output,
                               NULL, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpstr(output, ==, expected->str);
    g_unlink(path);
    g_rmdir(folder);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/digest/vectors", test_vectors);
    g_test_add_func("/digest/same", test_same);
    g_test_add_func("/digest/different-XC9-XC10", test_different);
    g_test_add_func("/digest/every-byte-XC9", test_every_byte);
    g_test_add_func("/digest/unreadable", test_unreadable);
    g_test_add_func("/digest/second-implementation-XC10", test_second_implementation);
    return g_test_run();
}
