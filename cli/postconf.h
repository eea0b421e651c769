/* postconf.h - Postfix's configuration as postconf(1) prints it
 *
 * Pure functions over text. */
#pragma once

#include <glib.h>

typedef struct {
    char *name;    /* as in master.cf */
    char *key;     /* "name/type" */
    char *program; /* without its folder */
    gboolean inet, closed, jailed;
} Service;

typedef struct {
    GHashTable *settings;  /* of main.cf: name to value */
    GHashTable *overrides; /* "name/type/setting" to value */
    GPtrArray *services;   /* of Service * */
} Postconf;

typedef struct {
    char *endpoint;
    char *action; /* NULL: as milter_default_action says */
} Milter;

/* services: of -M, overrides: of -Px, settings: of -x. */
Postconf *postconf_read(const char *services, const char *overrides, const char *settings);
void postconf_free(Postconf *postconf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Postconf, postconf_free)

/* A service's own setting, else that of main.cf; NULL when Postfix does not know it. */
const char *postconf_value(const Postconf *postconf, const Service *service, const char *name);

/* The folder of the queue. */
const char *postconf_queue(const Postconf *postconf);

/* Array of Milter *, of a value as that of smtpd_milters (postconf(5)): entries divided by
 * commas and blanks, braces around some. */
GPtrArray *postconf_milters(const char *value);

/* Whether a list has the word. */
gboolean postconf_has_word(const char *list, const char *word);

/* One text for one socket, however it is written: by exeat.conf as unix:/path or
 * inet:port@host; by Postfix, as the service finds it, as unix:path, which is below the queue
 * folder if it is relative or the service is locked in there, or inet:host:port. */
char *postconf_place_of_gate(const char *socket);
char *postconf_place_of_milter(const Postconf *postconf, const Service *service,
                               const char *endpoint);
