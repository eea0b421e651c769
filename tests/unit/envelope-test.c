/* What is kept of the words of MAIL and RCPT, and what may come back over the wire. */
#include "lib/envelope.h"

#include <string.h>

#include "lib/error.h"

/* Words parted by spaces; what is kept of them, written the same way. */
static void
test_words(void)
{
    static const struct {
        const char *name, *words, *kept;
    } rows[] = {
        {"brackets go", "<a@example.org>", "a@example.org"},
        {"no brackets to go", "a@example.org", "a@example.org"},
        {"null sender", "<>", ""},
        {"one bracket stays", "<a@example.org", "<a@example.org"},
        {"inner brackets stay", "<<a@example.org>>", "<a@example.org>"},
        {"a bracket alone", "<", "<"},
        {"case, dots and tags stay (XB10)", "<A.b+c@Example.ORG.>", "A.b+c@Example.ORG."},
        {"source route stays (XB10)", "<@x,@y:a@example.org>", "@x,@y:a@example.org"},
        {"bytes that are not UTF-8 stay", "<\xe4@example.org>", "\xe4@example.org"},
        {"parameters are sorted (S3)", "<a@example.org> RET=HDRS BODY=8BITMIME ENVID=x",
         "a@example.org BODY=8BITMIME ENVID=x RET=HDRS"},
        {"byte order, not the alphabet's", "<a> b=1 B=1 \xff=1", "a B=1 b=1 \xff=1"},
        {"those of one hop go", "<a> SIZE=200 size=1 AUTH=<> Auth=x SMTPUTF8", "a SMTPUTF8"},
        {"their likes stay", "<a> SIZED=1 XAUTH=2", "a SIZED=1 XAUTH=2"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(Envelope) envelope = envelope_new();
        g_auto(GStrv) words = g_strsplit(rows[i].words, " ", -1);
        const char *const *said = (const char *const *)words;

        g_test_message("%s", rows[i].name);
        envelope_set_sender(envelope, said);
        envelope_add_recipient(envelope, said, NULL);
        const EnvelopeRecipient *recipient = g_ptr_array_index(envelope->recipients, 0);
        g_autofree char *tail = g_strjoinv(" ", envelope->parameters);
        g_autofree char *kept =
            g_strconcat(envelope->sender, tail[0] != '\0' ? " " : "", tail, NULL);
        g_assert_cmpstr(kept, ==, rows[i].kept);
        g_assert_cmpstr(recipient->address, ==, envelope->sender);
        g_assert_cmpstrv(recipient->parameters, envelope->parameters);
        g_assert_null(recipient->resolved);
    }
}

static Envelope *
sample(void)
{
    Envelope *envelope = envelope_new();
    const char *sender[] = {"<agent@example.com>", "RET=HDRS", "BODY=8BITMIME", NULL};
    const char *first[] = {"<\xe4@example.org>", "NOTIFY=NEVER", NULL};
    const char *other[] = {"<b@example.net>", NULL};

    envelope_set_sender(envelope, sender);
    envelope_add_recipient(envelope, first, "\xe4@resolved.example");
    envelope_add_recipient(envelope, other, NULL);
    return envelope;
}

static void
test_round_trip(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Envelope) before = sample();
    g_autoptr(GVariant) variant = g_variant_ref_sink(envelope_to_variant(before));
    g_autoptr(Envelope) after = envelope_from_variant(variant, &error);

    g_assert_no_error(error);
    g_assert_cmpstr(after->sender, ==, before->sender);
    g_assert_cmpstrv(after->parameters, before->parameters);
    g_assert_cmpuint(after->recipients->len, ==, 2);
    for (guint i = 0; i < after->recipients->len; i++) {
        const EnvelopeRecipient *x = g_ptr_array_index(before->recipients, i);
        const EnvelopeRecipient *y = g_ptr_array_index(after->recipients, i);
        g_assert_cmpstr(x->address, ==, y->address);
        g_assert_cmpstr(x->resolved, ==, y->resolved);
        g_assert_cmpstrv(x->parameters, y->parameters);
    }
}

/* A peer may say anything: an envelope or ERROR_PROTOCOL (XC10: no string of two readings). */
static void
test_refused(void)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"another type", "('a', ['b'])"},
        {"strings for bytes", "('', @as [], @a(ssas) [])"},
        {"CR LF in the sender", "(b'a\\r\\nRCPT TO:<b>', @aay [], @a(ayayaay) [])"},
        {"LF in a parameter", "(b'', [b'X=\\n'], @a(ayayaay) [])"},
        {"LF in a recipient", "(b'', @aay [], [(b'a\\n', b'', @aay [])])"},
        {"DEL in a recipient", "(b'', @aay [], [(b'a\\177', b'', @aay [])])"},
        {"escape in what the server made of it",
         "(b'', @aay [], [(b'a', b'\\033', @aay [])])"},
        {"tab in a parameter", "(b'', @aay [], [(b'a', b'', [b'X=\\t'])])"},
        {"NUL within", "([byte 0x61, 0x00, 0x62, 0x00], @aay [], @a(ayayaay) [])"},
        {"no NUL at the end", "([byte 0x61, 0x62], @aay [], @a(ayayaay) [])"},
        {"no bytes at all", "(@ay [], @aay [], @a(ayayaay) [])"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) variant = g_variant_ref_sink(g_variant_new_parsed(rows[i].text));
        g_autoptr(Envelope) envelope = envelope_from_variant(variant, &error);

        g_test_message("%s", rows[i].name);
        g_assert_null(envelope);
        g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
    }
}

/* C11: oddness of the message is told before it is an error of the wire. */
static void
test_clean(void)
{
    static const char *const odd[] = {"<d\001ana@example.com>", "<\"dana\t\"@example.com>",
                                      "<dana\177@example.com>"};
    const char *const good[] = {"<\"dana x\"@ex\303\244mple.com>", "NOTIFY=NEVER", NULL};

    for (gsize i = 0; i < G_N_ELEMENTS(odd); i++) {
        const char *const path[] = {odd[i], NULL};
        const char *const parameter[] = {"<a@example.com>", odd[i], NULL};
        g_autoptr(Envelope) sender = envelope_new();
        g_autoptr(Envelope) recipient = envelope_new();
        g_autoptr(Envelope) parameters = envelope_new();
        g_autoptr(Envelope) resolved = envelope_new();

        envelope_set_sender(sender, path);
        envelope_add_recipient(recipient, path, NULL);
        envelope_add_recipient(parameters, parameter, NULL);
        envelope_add_recipient(resolved, good, odd[i]);
        g_assert_false(envelope_is_clean(sender) || envelope_is_clean(recipient) ||
                       envelope_is_clean(parameters) || envelope_is_clean(resolved));
    }
    g_autoptr(Envelope) clean = envelope_new();
    envelope_set_sender(clean, good);
    envelope_add_recipient(clean, good, NULL);
    g_assert_true(envelope_is_clean(clean));
}

/* The order of parameters is ours, whatever the peer says: the digest counts on it. */
static void
test_sorted_again(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GVariant) variant = g_variant_ref_sink(
        g_variant_new_parsed("(b'', [b'Z', b'A'], [(b'a', b'', [b'Y', b'B'])])"));
    g_autoptr(Envelope) envelope = envelope_from_variant(variant, &error);

    g_assert_no_error(error);
    const EnvelopeRecipient *recipient = g_ptr_array_index(envelope->recipients, 0);
    g_assert_cmpstr(envelope->parameters[0], ==, "A");
    g_assert_cmpstr(recipient->parameters[0], ==, "B");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/envelope/words-XB10", test_words);
    g_test_add_func("/envelope/round-trip", test_round_trip);
    g_test_add_func("/envelope/refused-XC10", test_refused);
    g_test_add_func("/envelope/clean C11", test_clean);
    g_test_add_func("/envelope/sorted-again", test_sorted_again);
    return g_test_run();
}
