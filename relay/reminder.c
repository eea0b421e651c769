#include "relay/reminder.h"

#include "lib/error.h"
#include "lib/escape.h"

enum { PAUSE = 15 * 60, DAY = 24 * 60 * 60 };
enum { NOTICES_MOST = 1000, LINES_MOST = 50, LEFT_MOST = 1000, NAMES_MOST = 5 };
enum { DIGEST_DIGITS = 12 };

#define PLURAL(number, one, many) ((number) == 1 ? (one) : (many))

void
reminder_free(Reminder *reminder)
{
    if (reminder == NULL)
        return;
    g_free(reminder->subject);
    g_free(reminder->text);
    g_free(reminder);
}

/* Whether so many seconds have passed; a clock that went back puts nothing off. */
static gboolean
is_time(gint64 last, gint64 pause, gint64 now)
{
    return now < last || now - last >= pause;
}

static char *
describe_age(gint64 seconds)
{
    gint64 minutes = MAX(seconds, 0) / 60, hours = minutes / 60, days = hours / 24;

    if (days >= 2)
        return g_strdup_printf("%" G_GINT64_FORMAT " days", days);
    if (hours >= 2)
        return g_strdup_printf("%" G_GINT64_FORMAT " hours", hours);
    return g_strdup_printf("%" G_GINT64_FORMAT " min", minutes);
}

static char *
waiting_subject(const Account *account, guint waiting)
{
    if (waiting == 0)
        return g_strdup_printf("Exeat: nothing waits for you (account %s)", account->name);
    return g_strdup_printf("Exeat: %u %s for you (account %s)", waiting,
                           PLURAL(waiting, "message waits", "messages wait"), account->name);
}

static void
add_item(GString *text, const Item *item, gint64 now)
{
    g_autofree char *age = describe_age(now - item->created);
    guint recipients = item->recipients->len;

    g_string_append_printf(text, "    %s  digest %.*s  %u %s  %s\n", item->id, DIGEST_DIGITS,
                           item->digest, recipients,
                           PLURAL(recipients, "recipient", "recipients"), age);
}

/* The item, if it still is in that state; what cannot be read is told of by nobody. */
static gboolean
load_if(Db *db, const char *id, State state, Item **item_out, GError **error)
{
    g_autoptr(Item) item = NULL;
    g_autoptr(GError) trouble = NULL;

    if (!queue_load(db, id, &item, &trouble) && trouble->code != ERROR_INTEGRITY) {
        g_propagate_error(error, g_steal_pointer(&trouble));
        return FALSE;
    }
    gboolean still = item != NULL && item->state == state;
    *item_out = still ? g_steal_pointer(&item) : NULL;
    return TRUE;
}

/* A title, and a line for each item that still is in that state; nothing when there is none.
 * *count_out: how many. */
static gboolean
list_items(Db *db, const GPtrArray *notices, State state, const char *title, gint64 now,
           GString *text, guint *count_out, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    guint count = 0;

    for (guint i = 0; i < notices->len; i++) {
        const Notice *notice = notices->pdata[i];
        g_autoptr(Item) item = NULL;

        if (notice->state != state || !g_hash_table_add(seen, notice->item))
            continue;
        if (!load_if(db, notice->item, state, &item, error))
            return FALSE;
        if (item == NULL)
            continue;
        if (count == 0)
            g_string_append(text, title);
        if (++count <= LINES_MOST)
            add_item(text, item, now);
    }
    if (count > LINES_MOST)
        g_string_append_printf(text, "    and %u more\n", count - LINES_MOST);
    if (count > 0)
        g_string_append_c(text, '\n');
    *count_out = count;
    return TRUE;
}

/* How many items only a person can end. */
static gboolean
count_waiting(Db *db, const Account *account, guint *waiting_out, GError **error)
{
    guint counts[STATE_COUNT];

    if (!queue_count(db, account->name, counts, error))
        return FALSE;
    *waiting_out = counts[STATE_HELD] + counts[STATE_UNCERTAIN];
    return TRUE;
}

gboolean
reminder_of_waiting(Db *db, const Config *config G_GNUC_UNUSED, const Account *account,
                    gint64 now, Reminder **reminder_out, GError **error)
{
    gint64 last;
    guint held, uncertain, waiting;

    g_autoptr(GPtrArray) notices =
        notice_list(db, account->name, NOTICE_APPROVER, NOTICES_MOST, error);
    if (notices == NULL)
        return FALSE;
    if (notices->len == 0)
        return TRUE;
    if (!told_load(db, account->name, "notify", &last, error))
        return FALSE;
    if (!is_time(last, PAUSE, now))
        return TRUE;
    gint64 taken = ((const Notice *)notices->pdata[notices->len - 1])->number;
    g_autoptr(GString) text = g_string_new(NULL);
    if (!list_items(db, notices, STATE_HELD, "Held since you heard last:\n\n", now, text,
                    &held, error) ||
        !list_items(db, notices, STATE_UNCERTAIN,
                    "Nobody knows whether these left. Look, and say so with \"exeat "
                    "resolve\":\n\n",
                    now, text, &uncertain, error) ||
        !count_waiting(db, account, &waiting, error))
        return FALSE;
    if (held + uncertain == 0)
        return notice_drop_up_to(db, account->name, NOTICE_APPROVER, taken, error);
    g_string_append(text, "\"exeat list\" lists what waits, \"exeat show\" shows it.\n");

    Reminder *reminder = g_new0(Reminder, 1);
    reminder->kind = "notify";
    reminder->at = now;
    reminder->mark = reminder->taken = taken;
    reminder->subject = waiting_subject(account, waiting);
    reminder->text = g_strdup(text->str);
    *reminder_out = reminder;
    return TRUE;
}

gboolean
reminder_of_life(Db *db, const Config *config G_GNUC_UNUSED, const Account *account,
                 gint64 now, Reminder **reminder_out, GError **error)
{
    gint64 last;
    guint waiting;

    if (!account->heartbeat)
        return TRUE;
    if (!told_load(db, account->name, "notify-heartbeat", &last, error))
        return FALSE;
    if (!is_time(last, DAY, now))
        return TRUE;
    if (!count_waiting(db, account, &waiting, error))
        return FALSE;

    Reminder *reminder = g_new0(Reminder, 1);
    reminder->kind = "notify-heartbeat";
    reminder->at = now;
    reminder->mark = last;
    reminder->subject = waiting_subject(account, waiting);
    reminder->text = g_strdup("The gate is up. This comes once a day, whether something waits "
                              "or not.\n");
    *reminder_out = reminder;
    return TRUE;
}

static char *
list_recipients(const Item *item)
{
    g_autoptr(GString) names = g_string_new(NULL);
    guint count = item->recipients->len;

    for (guint i = 0; i < count && i < NAMES_MOST; i++) {
        const ItemRecipient *recipient = item->recipients->pdata[i];
        g_autofree char *safe = escape_line(recipient->normal);

        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", safe);
    }
    if (count > NAMES_MOST)
        g_string_append_printf(names, " and %u more", count - NAMES_MOST);
    return g_strdup(names->str);
}

static gboolean
add_left(Db *db, const Notice *left, GString *text, GError **error)
{
    g_autoptr(GDateTime) when = g_date_time_new_from_unix_local(left->at);
    g_autofree char *time = g_date_time_format(when, "%Y-%m-%d %H:%M");
    g_autoptr(GError) trouble = NULL;
    g_autoptr(Item) item = NULL;

    if (!queue_load(db, left->item, &item, &trouble) && trouble->code != ERROR_INTEGRITY) {
        g_propagate_error(error, g_steal_pointer(&trouble));
        return FALSE;
    }
    g_autofree char *to = item != NULL ? list_recipients(item) : g_strdup("(damaged)");
    g_string_append_printf(text, "    %s  %s  to %s\n", time, left->item, to);
    return TRUE;
}

/* Words for what left since a time; *reminder_out stays NULL when nothing did. */
static gboolean
tell_left(Db *db, const Config *config, const Account *account, gint64 since, gint64 now,
          Reminder **reminder_out, GError **error)
{
    g_autoptr(GPtrArray) left =
        notice_left(db, account->name, since, now, config->expire, LEFT_MOST + 1, error);
    g_autoptr(GString) text = g_string_new("Left without a person's decision:\n\n");

    if (left == NULL)
        return FALSE;
    if (left->len == 0)
        return told_set(db, account->name, "digest-to", now, error);
    for (guint i = 0; i < left->len && i < LEFT_MOST; i++)
        if (!add_left(db, left->pdata[i], text, error))
            return FALSE;
    if (left->len > LEFT_MOST)
        g_string_append(text, "    and more: see \"exeat list --all\"\n");

    Reminder *reminder = g_new0(Reminder, 1);
    reminder->kind = "digest-to";
    reminder->at = now;
    reminder->mark = since;
    reminder->subject =
        g_strdup_printf("Exeat: %u%s %s by %s (account %s)", MIN(left->len, LEFT_MOST),
                        left->len > LEFT_MOST ? " and more" : "",
                        PLURAL(left->len, "message left", "messages left"),
                        PLURAL(left->len, "itself", "themselves"), account->name);
    reminder->text = g_strdup(text->str);
    *reminder_out = reminder;
    return TRUE;
}

gboolean
reminder_of_leaving(Db *db, const Config *config, const Account *account, gint64 now,
                    Reminder **reminder_out, GError **error)
{
    gint64 last;

    if (*account->digest_to == '\0')
        return TRUE;
    if (!told_load(db, account->name, "digest-to", &last, error))
        return FALSE;
    if (last == 0 || now < last) /* days are counted from here on */
        return told_set(db, account->name, "digest-to", now, error);
    return !is_time(last, DAY, now) ||
           tell_left(db, config, account, last, now, reminder_out, error);
}
