#include "cli/reason.h"

#include <string.h>

#include "cli/request.h"

char *
reason_date(gint64 when)
{
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_local(when);

    return time != NULL ? g_date_time_format(time, "%Y-%m-%d") : g_strdup("an unknown day");
}

/* Our words follow, so a name that is more than a plain one keeps only its domain. */
static char *
name_sender(const char *sender)
{
    const char *at = strrchr(sender, '@');
    gsize plain = strspn(sender, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._+-@");

    if (sender[plain] == '\0' && at != NULL)
        return g_strdup(sender);
    if (at == NULL || at[1 + strspn(at + 1, G_CSET_a_2_z G_CSET_DIGITS ".-")] != '\0')
        return g_strdup("somebody");
    return g_strdup_printf("somebody at %s", at + 1);
}

static void
add_writing(GStrvBuilder *lines, GVariant *entry)
{
    gint64 times = answer_number(entry, "times");
    g_autofree char *first = reason_date(answer_number(entry, "first"));

    if (times > 0) {
        g_autofree char *line =
            times == 1 ? g_strdup_printf("written to once, on %s", first)
                       : g_strdup_printf("written to %" G_GINT64_FORMAT " times since %s",
                                         times, first);
        g_strv_builder_add(lines, line);
    }
}

static void
add_vouching(GStrvBuilder *lines, GVariant *entry)
{
    gint64 vouched = answer_number(entry, "vouched");

    if (vouched > 0) {
        g_autofree char *day = reason_date(vouched);
        g_autofree char *line =
            g_strdup_printf("vouched for by %s on %s", answer_text(entry, "voucher"), day);
        g_strv_builder_add(lines, line);
    }
}

static void
add_sighting(GStrvBuilder *lines, const char *which, GVariant *sighting)
{
    g_autofree char *sender = name_sender(answer_text(sighting, "sender"));
    g_autofree char *day = reason_date(answer_number(sighting, "when"));
    g_autofree char *line =
        g_strdup_printf("%s seen in a message from %s on %s, in the text", which, sender, day);

    g_strv_builder_add(lines, line);
}

static void
add_sightings(GStrvBuilder *lines, GVariant *entry)
{
    g_autoptr(GVariant) first = answer_array(entry, "first_named", "a{sv}");
    g_autoptr(GVariant) last = answer_array(entry, "last_named", "a{sv}");

    if (g_variant_n_children(first) == 0)
        return;
    add_sighting(lines, "first", first);
    if (!g_variant_equal(first, last))
        add_sighting(lines, "last", last);
}

static void
add_likeness(GStrvBuilder *lines, GVariant *entry)
{
    const char *like = answer_text(entry, "looks_like");
    g_autofree char *line =
        g_strdup_printf("looks like %s%s", strchr(like, '@') ? "" : "the domain ", like);

    if (*like != '\0')
        g_strv_builder_add(lines, line);
}

Standing
reason_standing(GVariant *entry)
{
    return answer_flag(entry, "mentioned", FALSE)   ? STANDING_NAMED
           : answer_flag(entry, "known", FALSE)     ? STANDING_KNOWN
           : answer_flag(entry, "forgotten", FALSE) ? STANDING_FORGOTTEN
                                                    : STANDING_NOVEL;
}

const char *
reason_standing_name(Standing standing)
{
    static const char *const names[] = {[STANDING_KNOWN] = "known",
                                        [STANDING_NAMED] = "named in a text",
                                        [STANDING_FORGOTTEN] = "forgotten",
                                        [STANDING_NOVEL] = "never written to"};

    return names[standing];
}

char **
reason_lines(GVariant *entry, gboolean texts)
{
    g_autoptr(GStrvBuilder) lines = g_strv_builder_new();

    add_writing(lines, entry);
    add_vouching(lines, entry);
    if (texts)
        add_sightings(lines, entry);
    if (answer_flag(entry, "list", FALSE))
        g_strv_builder_add(lines, "mailing list");
    add_likeness(lines, entry);
    return g_strv_builder_end(lines);
}
