#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/reason.h"
#include "lib/escape.h"
#include "lib/extract.h"
#include "policy/facts.h"

enum {
    FIELD_CHARACTERS = 200,
    NAME_CHARACTERS = 1000,
    DIGEST_SHOWN = 16,
    POLICY_COLUMNS = 13,
    FACTS_COLUMNS = 80
};

#define INDENT       "               "
#define MARKS_INDENT "                              "

/* One field. The label is ours, the text may be a stranger's. */
static void
print_field(const char *label, const char *text)
{
    g_autofree char *cut = output_cut(text, FIELD_CHARACTERS);
    g_autofree char *first = g_strdup_printf("%-*s", (int)strlen(INDENT), label);

    output_print(first, INDENT, cut);
}

/* A list in one field; nothing when it is empty. */
static void
print_list(const char *label, GVariant *item, const char *key)
{
    g_auto(GStrv) list = answer_list(item, key);

    for (guint i = 0; list[i] != NULL; i++)
        print_field(i == 0 ? label : "", list[i]);
}

/* FALSE when the message is known to be in no conversation: nobody is outside of it then. */
static gboolean
is_in_thread(GVariant *item)
{
    g_autoptr(GVariant) facts = answer_array(item, "facts", "a{sv}");
    gboolean in_thread = TRUE;

    g_variant_lookup(facts, "in_thread", "b", &in_thread);
    return in_thread;
}

/* What is to be known of a recipient besides its address and its history; "" when nothing is.
 */
static char *
describe_details(GVariant *recipient, const char *const *hidden, gboolean in_thread)
{
    const char *normal = answer_text(recipient, "normal");
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    g_auto(GStrv) parameters = answer_list(recipient, "parameters");

    if (in_thread && answer_flag(recipient, "outside", FALSE))
        g_strv_builder_add(builder, "not in this conversation");
    if (g_strv_contains(hidden, normal))
        g_strv_builder_add(builder, "not named in To or Cc");
    g_strv_builder_addv(builder, (const char **)parameters);
    g_auto(GStrv) details = g_strv_builder_end(builder);
    return g_strjoinv(", ", details);
}

/* The marks stand before the address: a quoted local part can hold any words, also ours. */
static void
print_recipient(GVariant *recipient, const char *const *hidden, gboolean in_thread)
{
    const char *address = answer_text(recipient, "address");
    const char *normal = answer_text(recipient, "normal");
    const char *external = answer_flag(recipient, "external", TRUE) ? ", external" : "";
    const char *standing = reason_standing_name(reason_standing(recipient));
    g_autofree char *marks = g_strconcat("  ", standing, external, NULL);
    g_autofree char *first = g_strdup_printf("%-*s", (int)strlen(MARKS_INDENT), marks);
    g_autofree char *details = describe_details(recipient, hidden, in_thread);
    g_auto(GStrv) reasons = reason_lines(recipient, !answer_flag(recipient, "known", FALSE));

    output_print(first, MARKS_INDENT, address);
    if (!g_str_equal(address, normal) && *normal != '\0') {
        g_autofree char *is = g_strconcat("is ", normal, NULL);
        output_print(MARKS_INDENT, MARKS_INDENT, is);
    }
    for (guint i = 0; reasons[i] != NULL; i++)
        output_print(MARKS_INDENT, MARKS_INDENT, reasons[i]);
    if (*details != '\0')
        output_print(MARKS_INDENT, MARKS_INDENT, details);
    if (*answer_text(recipient, "outcome") != '\0') {
        g_autofree char *fate = g_strdup_printf("%s: %s", answer_text(recipient, "outcome"),
                                                answer_text(recipient, "answer"));
        output_print(MARKS_INDENT, MARKS_INDENT, fate);
    }
}

static void
print_standing(Standing standing, gsize count)
{
    printf("%" G_GSIZE_FORMAT " %s, ", count, reason_standing_name(standing));
}

/* Every one, those that deserve most attention first, as the relay sorts them (XD7, E16). */
static void
print_recipients(GVariant *item)
{
    g_autoptr(GVariant) recipients = answer_array(item, "recipients", "aa{sv}");
    g_auto(GStrv) hidden = answer_list(item, "hidden");
    gsize count = g_variant_n_children(recipients);
    gsize standing[STANDING_COUNT] = {0};
    gsize external = 0;

    for (gsize i = 0; i < count; i++) {
        g_autoptr(GVariant) recipient = g_variant_get_child_value(recipients, i);
        standing[reason_standing(recipient)]++;
        external += answer_flag(recipient, "external", TRUE);
    }
    printf("Recipients: %" G_GSIZE_FORMAT " (", count);
    print_standing(STANDING_NOVEL, standing[STANDING_NOVEL]);
    if (standing[STANDING_NAMED] > 0)
        print_standing(STANDING_NAMED, standing[STANDING_NAMED]);
    if (standing[STANDING_FORGOTTEN] > 0)
        print_standing(STANDING_FORGOTTEN, standing[STANDING_FORGOTTEN]);
    printf("%" G_GSIZE_FORMAT " external)\n", external);
    for (gsize i = 0; i < count; i++) {
        g_autoptr(GVariant) recipient = g_variant_get_child_value(recipients, i);
        print_recipient(recipient, (const char *const *)hidden, is_in_thread(item));
    }
    print_list("Gets nothing:", item, "header_only");
    putchar('\n');
}

static void
print_attachments(GVariant *item)
{
    g_autoptr(GVariant) parts = answer_array(item, "parts", "aa{sv}");
    gsize count = g_variant_n_children(parts);

    gboolean capped = answer_flag(item, "capped", FALSE);

    if (count == 0)
        print_field("Attachments:", capped ? "unknown" : "none");
    if (capped)
        print_field("", "There may be more: the message was not read to its end.");
    for (gsize i = 0; i < count; i++) {
        g_autoptr(GVariant) part = g_variant_get_child_value(parts, i);
        const char *written = answer_text(part, "name");
        g_autofree char *name =
            output_cut(*written != '\0' ? written : "(no name)", NAME_CHARACTERS);
        g_autofree char *type = output_cut(answer_text(part, "type"), FIELD_CHARACTERS);
        g_autofree char *text =
            g_strdup_printf("%s, %s, %" G_GINT64_FORMAT " bytes, sha256 %s", name, type,
                            answer_number(part, "size"), answer_text(part, "sha256"));
        output_print(i == 0 ? "Attachments:   " : INDENT, INDENT, text);
    }
}

/* What recipients see of From, a name for one: text of the message, below its address (XD8).
 */
static void
print_from_field(GVariant *item)
{
    g_auto(GStrv) from = answer_list(item, "from");
    const char *written = answer_text(item, "from_field");

    if (*written != '\0' && (from[0] == NULL || !g_str_equal(written, from[0])))
        print_field("From field:", written);
}

/* Who acts, and what the message says of itself (E14, E15, E17, E19). */
static void
print_message(GVariant *item)
{
    g_auto(GStrv) parameters = answer_list(item, "sender_parameters");
    g_autofree char *joined = g_strjoinv(" ", parameters);
    g_autofree char *account = g_strdup_printf("%s (login %s)", answer_text(item, "account"),
                                               answer_text(item, "login"));
    g_autofree char *sender = g_strdup_printf("<%s> %s", answer_text(item, "sender"), joined);

    print_field("Action:", "send mail");
    print_field("Account:", account);
    if (*answer_text(item, "author") != '\0')
        print_field("Written by:", answer_text(item, "author"));
    print_list("From:", item, "from");
    print_from_field(item);
    print_field("Sender:", g_strchomp(sender));
    print_field("Subject:", answer_text(item, "subject"));
    print_attachments(item);
    print_list("Unreadable:", item, "opaque");
    print_list("Answers go to:", item, "diverted");
    print_list("Invites:", item, "attendees");
    print_field("Message-ID:", answer_text(item, "message_id"));
}

/* "forward no" */
static char *
describe_fact(GVariant *facts, Fact fact)
{
    g_autoptr(GVariant) value = g_variant_lookup_value(facts, fact_name(fact), NULL);
    g_autofree char *text = value == NULL ? g_strdup("unknown")
                            : g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN)
                                ? g_strdup(g_variant_get_boolean(value) ? "yes" : "no")
                                : g_variant_print(value, FALSE);

    return g_strdup_printf("%s %s%s", fact_name(fact), text, fact + 1 < FACT_COUNT ? "," : "");
}

/* Every fact, in the order of facts.h, none of them broken. */
static void
print_facts(GVariant *item)
{
    g_autoptr(GVariant) facts = answer_array(item, "facts", "a{sv}");
    guint columns = output_columns(), at = 0;
    guint most = columns > 0 ? columns : FACTS_COLUMNS;

    for (Fact fact = 0; fact < FACT_COUNT; fact++) {
        g_autofree char *text = describe_fact(facts, fact);
        gboolean fits = at > 0 && at + 1 + strlen(text) < most;

        printf("%s%s", fits ? " " : at == 0 ? "Facts:         " : "\n" INDENT, text);
        at = (fits ? at + 1 : strlen(INDENT)) + strlen(text);
    }
    putchar('\n');
}

static void
print_verdict(GVariant *item)
{
    gint64 line = answer_number(item, "line");
    g_autofree char *file = g_path_get_basename(answer_text(item, "file"));
    g_autofree char *where = line > 0
                                 ? g_strdup_printf("%s, line %" G_GINT64_FORMAT, file, line)
                                 : g_strdup("no line");
    g_autofree char *policy = output_fit(answer_text(item, "policy"), POLICY_COLUMNS);
    g_autofree char *verdict =
        g_strdup_printf("%s: %s (%s of policy %s)", answer_text(item, "tier"),
                        answer_text(item, "reason"), where, policy);

    putchar('\n');
    print_field("Verdict:", verdict);
    print_facts(item);
}

/* What the agent says of its mail proves nothing (A23, C1): it stands apart and says so. */
static void
print_claims(GVariant *item)
{
    g_autoptr(GVariant) claims = answer_array(item, "claims", "a{ss}");
    GVariantIter iter;
    const char *name, *value;

    if (g_variant_n_children(claims) == 0)
        return;
    puts("\nThe agent claims, and nobody has checked:");
    g_variant_iter_init(&iter, claims);
    while (g_variant_iter_next(&iter, "{&s&s}", &name, &value)) {
        g_autofree char *claim = g_strdup_printf("%s: %s", name, value);
        g_autofree char *cut = output_cut(claim, FIELD_CHARACTERS);
        output_print("  ", "    ", cut);
    }
}

/* Of the item that the agent names in Agent-Supersedes, this is the gate's own word. */
static void
print_instead(GVariant *item)
{
    const char *old = answer_text(item, "instead_of");
    const char *why = answer_text(item, "instead_why");

    if (*old == '\0')
        return;
    g_autofree char *text = g_strdup_printf(
        "%s, %s%s%s", old, answer_text(item, "instead_state"), *why != '\0' ? ": " : "", why);
    putchar('\n');
    print_field("In place of:", text);
}

static void
print_moves(GVariant *item, gint64 now)
{
    g_autoptr(GVariant) moves = answer_array(item, "moves", "aa{sv}");

    for (gsize i = 0; i < g_variant_n_children(moves); i++) {
        g_autoptr(GVariant) move = g_variant_get_child_value(moves, i);
        g_autofree char *when = output_time(answer_number(move, "when"), now);
        const char *from = answer_text(move, "from");
        g_autofree char *text = g_strdup_printf(
            "%s: %s%s%s by %s, %s", when, from, *from != '\0' ? " to " : "",
            answer_text(move, "to"), answer_text(move, "who"), answer_text(move, "why"));
        print_field(i == 0 ? "Moves:" : "", text);
    }
}

/* Who has approved it already, when one person is not enough. */
static void
print_approvals(GVariant *item)
{
    g_autoptr(GVariant) approvals = answer_array(item, "approvals", "aa{sv}");
    gsize count = g_variant_n_children(approvals);
    gint64 needed = answer_number(item, "approvals_needed");

    if (needed < 2)
        return;
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(text, "%" G_GSIZE_FORMAT " of %" G_GINT64_FORMAT " different people",
                    count, needed);
    for (gsize i = 0; i < count; i++) {
        g_autoptr(GVariant) approval = g_variant_get_child_value(approvals, i);
        g_string_append_printf(text, ", %s", answer_text(approval, "who"));
    }
    print_field("Approved by:", text->str);
}

/* The copy in the human's mailbox. */
static void
print_draft(GVariant *item, gint64 now)
{
    const char *trouble = answer_text(item, "draft_trouble");
    gint64 since = answer_number(item, "draft_since");

    if (since != 0) {
        g_autofree char *when = output_time(since, now);
        g_autofree char *text =
            g_strdup_printf("in %s since %s", answer_text(item, "draft_place"), when);
        print_field("Draft:", text);
    }
    if (*trouble != '\0') {
        g_autofree char *text = g_strdup_printf("the mailbox cannot be used: %s", trouble);
        print_field(since != 0 ? "" : "Draft:", text);
    }
}

/* What became of it, and what an approval would be bound to (E20, E21, E26). */
static void
print_state(GVariant *item)
{
    gint64 now = time(NULL);
    gint64 due = answer_number(item, "due"), expires = answer_number(item, "expires");
    g_autofree char *created = output_time(answer_number(item, "created"), now);
    g_autofree char *due_time = output_time(due, now);
    g_autofree char *expiry = output_time(expires, now);
    g_autofree char *size =
        g_strdup_printf("%" G_GINT64_FORMAT " bytes", answer_number(item, "size"));

    putchar('\n');
    print_field("Item:", answer_text(item, "id"));
    print_field("State:", answer_text(item, "state"));
    if (*answer_text(item, "why") != '\0')
        print_field("Because:", answer_text(item, "why"));
    if (*answer_text(item, "answer") != '\0')
        print_field("Next hop said:", answer_text(item, "answer"));
    print_draft(item, now);
    print_field("Submitted:", created);
    if (due != 0)
        print_field("Leaves:", due_time);
    if (expires != 0)
        print_field("Expires:", expiry);
    print_moves(item, now);
    print_approvals(item);
    print_field("Size:", size);
    print_field("Digest:", answer_text(item, "digest"));
    print_field("Reversible:", "no. Delivered mail cannot be recalled.");
}

static void
print_quoted(const char *heading, const char *text)
{
    g_autofree char *safe = escape_text(text);
    g_autofree char *quoted = output_quote(safe, output_terminal_columns());

    guint lines = output_lines(safe);
    printf("\n%s: %u line%s\n%s", heading, lines, lines == 1 ? "" : "s", quoted);
}

/* Text that was too long to keep must not look whole (E18, XD5). */
static void
print_cut(GVariant *item)
{
    g_auto(GStrv) opaque = answer_list(item, "opaque");

    if (g_strv_contains((const char *const *)opaque, EXTRACT_TEXT_CUT))
        puts("\nThis is not all: " EXTRACT_TEXT_CUT ". The rest is not shown.");
}

/* All of the text (E18), and the HTML when a reader of it would read something else (XD1). */
static void
print_content(GVariant *item)
{
    const char *text = answer_text(item, "text"), *html = answer_text(item, "html");

    if (*text != '\0' || *html == '\0')
        print_quoted("Text", text);
    if (*html != '\0' && *text == '\0')
        print_quoted("The message is HTML; as text it says", html);
    else if (*html != '\0' && answer_flag(item, "differs", TRUE))
        print_quoted("The HTML part says something else than the text", html);
    print_cut(item);
}

/* The commands that the item's state allows, ready to be copied. */
static void
print_commands(GVariant *item)
{
    const char *state = answer_text(item, "state");
    g_autofree char *id = escape_line(answer_text(item, "id"));
    g_autofree char *digest = escape_line(answer_text(item, "digest"));

    if (g_str_equal(state, "held") || g_str_equal(state, "draft"))
        printf("\nexeat approve %s %.*s\nexeat reject %s 'REASON, in one sentence'\n", id,
               DIGEST_SHOWN, digest, id);
    else if (g_str_equal(state, "delayed") || g_str_equal(state, "approved"))
        printf("\nexeat veto %s\n", id);
}

int
cmd_show(const Session *session, char **words)
{
    GVariantDict arguments;
    int status;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", words[0]);
    g_autoptr(GVariant) item =
        request_ask(session, "show", g_variant_dict_end(&arguments), &status);
    if (item == NULL)
        return status;
    if (session->json)
        return command_print_json(item);
    print_recipients(item);
    print_message(item);
    print_verdict(item);
    print_claims(item);
    print_instead(item);
    print_state(item);
    print_content(item);
    print_commands(item);
    return EX_OK;
}
