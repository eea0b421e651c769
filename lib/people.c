#include "lib/people.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>

#include "lib/error.h"

#define RECORD_LIMIT (1024 * 1024) /* bytes of one user or group, its members included */

void
people_init(People *people)
{
    people->uids = g_array_new(FALSE, FALSE, sizeof(uid_t));
    people->gids = g_array_new(FALSE, FALSE, sizeof(gid_t));
}

void
people_clear(People *people)
{
    g_clear_pointer(&people->uids, g_array_unref);
    g_clear_pointer(&people->gids, g_array_unref);
}

/* The calls of getpwnam_r(3) and its kin say "not there" in several ways. */
static gboolean
looked(int problem, const char *what, GError **error)
{
    if (problem == 0 || problem == ENOENT || problem == ESRCH)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "cannot look up %s: %s", what,
                g_strerror(problem));
    return FALSE;
}

static gboolean
parse_number(const char *written, guint32 *number_out)
{
    guint64 number;

    /* The largest number means "no change" to chown(2) and setuid(2). */
    if (!g_ascii_string_to_unsigned(written, 10, 0, G_MAXUINT32 - 1, &number, NULL))
        return FALSE;
    *number_out = (guint32)number;
    return TRUE;
}

gboolean
people_find_user(const char *written, uid_t *uid_out, gboolean *known_out, GError **error)
{
    g_autofree char *buffer = g_malloc(RECORD_LIMIT);
    struct passwd record, *found = NULL;

    if (parse_number(written, uid_out)) {
        *known_out = TRUE;
        return TRUE;
    }
    if (!looked(getpwnam_r(written, &record, buffer, RECORD_LIMIT, &found), written, error))
        return FALSE;
    *known_out = found != NULL;
    if (found != NULL)
        *uid_out = found->pw_uid;
    return TRUE;
}

static gboolean
find_group(const char *written, gid_t *gid_out, gboolean *known_out, GError **error)
{
    g_autofree char *buffer = g_malloc(RECORD_LIMIT);
    struct group record, *found = NULL;

    if (parse_number(written, gid_out)) {
        *known_out = TRUE;
        return TRUE;
    }
    if (!looked(getgrnam_r(written, &record, buffer, RECORD_LIMIT, &found), written, error))
        return FALSE;
    *known_out = found != NULL;
    if (found != NULL)
        *gid_out = found->gr_gid;
    return TRUE;
}

static gboolean
lists_uid(const People *people, uid_t uid)
{
    for (guint i = 0; i < people->uids->len; i++)
        if (g_array_index(people->uids, uid_t, i) == uid)
            return TRUE;
    return FALSE;
}

static gboolean
lists_gid(const People *people, gid_t gid)
{
    for (guint i = 0; i < people->gids->len; i++)
        if (g_array_index(people->gids, gid_t, i) == gid)
            return TRUE;
    return FALSE;
}

gboolean
people_add(People *people, const char *written, PeopleFound *found_out, GError **error)
{
    gboolean is_group = written[0] == '@', known, twice;
    uid_t uid = 0;
    gid_t gid = 0;

    if (is_group ? !find_group(written + 1, &gid, &known, error)
                 : !people_find_user(written, &uid, &known, error))
        return FALSE;
    twice = known && (is_group ? lists_gid(people, gid) : lists_uid(people, uid));
    *found_out = !known ? PEOPLE_UNKNOWN : twice ? PEOPLE_TWICE : PEOPLE_ADDED;
    if (*found_out == PEOPLE_ADDED && is_group)
        g_array_append_val(people->gids, gid);
    else if (*found_out == PEOPLE_ADDED)
        g_array_append_val(people->uids, uid);
    return TRUE;
}

/* Whether one of the groups that the user database gives the user is listed. */
static gboolean
lists_group_of(const People *people, uid_t uid, gboolean *listed_out, GError **error)
{
    g_autofree char *buffer = g_malloc(RECORD_LIMIT);
    g_autofree gid_t *groups = g_new(gid_t, NGROUPS_MAX);
    g_autofree char *what = g_strdup_printf("user %u", (guint)uid);
    struct passwd record, *found = NULL;
    int count = NGROUPS_MAX;
    gboolean listed = FALSE;

    if (!looked(getpwuid_r(uid, &record, buffer, RECORD_LIMIT, &found), what, error))
        return FALSE;
    if (found != NULL && getgrouplist(found->pw_name, found->pw_gid, groups, &count) < 0)
        return looked(E2BIG, what, error);
    for (int i = 0; found != NULL && i < count; i++)
        listed = listed || lists_gid(people, groups[i]);
    *listed_out = listed;
    return TRUE;
}

gboolean
people_include(const People *people, uid_t uid, gid_t gid)
{
    gboolean listed;

    if (lists_uid(people, uid) || lists_gid(people, gid))
        return TRUE;
    return people->gids->len > 0 && lists_group_of(people, uid, &listed, NULL) && listed;
}

/* Sets *who_out when the user is in people, directly or through a group. */
static gboolean
check_user(const People *people, uid_t uid, char **who_out, GError **error)
{
    gboolean listed = lists_uid(people, uid);

    if (!listed && people->gids->len > 0 && !lists_group_of(people, uid, &listed, error))
        return FALSE;
    if (listed)
        *who_out = g_strdup_printf("user %u", (guint)uid);
    return TRUE;
}

/* The same for every member of a group. Who has it as primary group only is not in its member
 * list, but is found from the other side, or has the group in common, which the caller looks
 * for. */
static gboolean
check_members(const People *people, gid_t gid, char **who_out, GError **error)
{
    g_autofree char *buffer = g_malloc(RECORD_LIMIT);
    g_autofree char *what = g_strdup_printf("group %u", (guint)gid);
    struct group record, *found = NULL;

    if (!looked(getgrgid_r(gid, &record, buffer, RECORD_LIMIT, &found), what, error))
        return FALSE;
    for (char **member = found != NULL ? found->gr_mem : NULL;
         member != NULL && *member != NULL && *who_out == NULL; member++) {
        uid_t uid;
        gboolean known;
        if (!people_find_user(*member, &uid, &known, error))
            return FALSE;
        if (known && !check_user(people, uid, who_out, error))
            return FALSE;
    }
    return TRUE;
}

/* Looks for those whom a lists in b. */
static gboolean
check_people(const People *a, const People *b, char **who_out, GError **error)
{
    for (guint i = 0; i < a->uids->len && *who_out == NULL; i++)
        if (!check_user(b, g_array_index(a->uids, uid_t, i), who_out, error))
            return FALSE;
    for (guint i = 0; i < a->gids->len && *who_out == NULL; i++) {
        gid_t gid = g_array_index(a->gids, gid_t, i);
        if (lists_gid(b, gid))
            *who_out = g_strdup_printf("group %u", (guint)gid);
        else if (!check_members(b, gid, who_out, error))
            return FALSE;
    }
    return TRUE;
}

gboolean
people_overlap(const People *a, const People *b, char **who_out, GError **error)
{
    g_autofree char *who = NULL;

    if (!check_people(a, b, &who, error))
        return FALSE;
    if (who == NULL && !check_people(b, a, &who, error))
        return FALSE;
    *who_out = g_steal_pointer(&who);
    return TRUE;
}
