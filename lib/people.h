/* people.h - users and groups of this machine
 *
 * Names are resolved to numbers once, when the configuration is read. Membership is asked of
 * the user database when it matters, so that a group's change counts at once. "Could not look"
 * is ERROR_TEMP, never "not there". */
#pragma once

#include <glib.h>
#include <sys/types.h>

typedef struct {
    GArray *uids; /* of uid_t */
    GArray *gids; /* of gid_t; given as @group */
} People;

void people_init(People *people);
void people_clear(People *people);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(People, people_clear)

typedef enum {
    PEOPLE_UNKNOWN, /* there is no such name */
    PEOPLE_TWICE,   /* it was there before, perhaps by another name */
    PEOPLE_ADDED
} PeopleFound;

/* Adds a user or @group, by name or number. */
gboolean people_add(People *people, const char *written, PeopleFound *found_out,
                    GError **error);

/* Finds a user by name or number. *known_out FALSE: there is no such name. */
gboolean people_find_user(const char *written, uid_t *uid_out, gboolean *known_out,
                          GError **error);

/* TRUE when the user or one of its groups is listed. Groups come from the user database, plus
 * gid; a user whose groups cannot be looked up has none. */
gboolean people_include(const People *people, uid_t uid, gid_t gid);

/* Looks for somebody in both lists, directly, through a group, or through a group's member
 * list. *who_out: "user 1001" or "group 100"; NULL when there is nobody. The caller frees. */
gboolean people_overlap(const People *a, const People *b, char **who_out, GError **error);
