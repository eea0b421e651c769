/* doctor.h - the parts of "exeat doctor"
 *
 * doctor-postfix judges what postconf(1) says, doctor-host looks at this machine, doctor-agent
 * does as the agent's user what that user must not be able to do; cmd-doctor runs and prints
 * them. Nothing is changed anywhere. What cannot be judged is told as unknown, never as well.
 */
#pragma once

#include "lib/config.h"

typedef enum { FINDING_FAULT, FINDING_UNKNOWN, FINDING_OK } FindingState;

typedef struct {
    FindingState state;
    char *place; /* "listener submission" */
    char *text;  /* what was found, and for a fault what to do */
} Finding;

/* Array of Finding *. */
GPtrArray *findings_new(void);
void findings_add(GPtrArray *findings, FindingState state, const char *place,
                  const char *format, ...) G_GNUC_PRINTF(4, 5);

typedef struct {
    const char *services;       /* postconf -M */
    const char *overrides;      /* postconf -Px */
    const char *settings;       /* postconf -x, with the names of doctor_settings */
    const char *gate;           /* milter-socket of exeat.conf */
    const char *const *hops;    /* next-hop of exeat.conf that are gated */
    const char *const *vouched; /* listeners that the admin answers for */
} PostfixLook;

/* Names of the settings of main.cf that are judged. Static. */
const char *const *doctor_settings(void);

/* Whether everything that comes into Postfix passes the gate and stays as it was judged (XA4,
 * XA5, XA18, XB33, XF1, XF17). */
void doctor_postfix(const PostfixLook *look, GPtrArray *findings);

/* What listens on the ports of other ways to submit (XA9). table: text of /proc/net/tcp. */
void doctor_ports(const char *table, GPtrArray *findings);

/* Whether both daemons answer. */
void doctor_daemons(const Config *config, GPtrArray *findings);

/* Where the gate writes mail itself: whether its sender is one that servers elsewhere take
 * (A19). */
void doctor_sender(const Config *config, GPtrArray *findings);

/* Whether each user of the agent is kept from what is not its own: the relay's folder and
 * keys, the files of the rules, the sockets and the doors (XE13, XF11, XF16). postfix: the
 * folder with main.cf. outside: "host" or "host:port,port" that it must not reach (XA1), or
 * NULL. Without root only the caller is looked at. FALSE: outside is no such thing. */
gboolean doctor_agents(const Config *config, const char *postfix, const char *outside,
                       GPtrArray *findings);
