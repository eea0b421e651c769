/* error.h - the four kinds of trouble
 *
 * An outcome that is no trouble ("not there", "refused") is an enum, never one of these. */
#pragma once

#include <glib.h>

#define EXEAT_ERROR (exeat_error_quark())
GQuark exeat_error_quark(void);

typedef enum {
    ERROR_TEMP,      /* could not look or could not write: try later, answer 451 */
    ERROR_CONFIG,    /* the admin's to mend: file, line, found, expected */
    ERROR_INTEGRITY, /* bytes or a seal differ from what was recorded: stop */
    ERROR_PROTOCOL   /* the peer's fault: end its connection */
} ExeatError;
