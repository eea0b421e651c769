/* relay.h - what the relay's threads share
 *
 * The configuration is replaced as a whole by a reload; whoever needs it takes a reference and
 * keeps it for the work at hand. All database work runs as jobs of the writer. */
#pragma once

#include "lib/config.h"
#include "store/writer.h"

typedef struct _Drafts Drafts;
typedef struct _Guard Guard;
typedef struct _Notifier Notifier;
typedef struct _Reconciler Reconciler;
typedef struct _Record Record;
typedef struct _Schedule Schedule;
typedef struct _Sender Sender;

typedef struct {
    GMutex lock; /* for these three */
    Config *config;
    gint64 reload_failed; /* when the configuration could not be read again; 0: it could */
    char *reload_error;
    Db *db; /* touched in writer jobs only */
    Writer *writer;
    Record *record;
    Schedule *schedule;
    Sender *sender;
    Notifier *notifier;
    Drafts *drafts;
    Reconciler *reconciler;
    Guard *guard;
    gint64 started;
    GRWLock serving; /* read while a request is answered; written once, at the end */
    gint ending;     /* atomic: no request begins any more */
} Relay;

/* A new reference to the configuration in force. */
Config *relay_config(Relay *relay);

/* Epoch seconds by the wall clock. */
gint64 relay_now(void);
