/* audit-faults.h - what is wrong with an audit record: a line for each fault, or JSON
 *
 * In the order of the calls: audit_faults_init, audit_faults_add for each fault,
 * audit_faults_end once, unless the command gives up; audit_faults_clear at any rate. */
#pragma once

#include "cli/request.h"

typedef struct {
    gboolean json;
    guint count;
    GVariantBuilder found; /* with json: of a{sv}, place and fault */
} AuditFaults;

void audit_faults_init(AuditFaults *faults, const Session *session);

/* place: such as "entry 7". Without json a line is printed at once. Both are escaped here. */
void audit_faults_add(AuditFaults *faults, const char *place, const char *fault);

/* Prints number and seal of the last entry. Returns an exit status: EX_OK, or EX_DATAERR when
 * there are faults. */
int audit_faults_end(AuditFaults *faults, gint64 head, const char *seal);
void audit_faults_clear(AuditFaults *faults);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AuditFaults, audit_faults_clear)
