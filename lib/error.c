#include "lib/error.h"

GQuark
exeat_error_quark(void)
{
    return g_quark_from_static_string("exeat-error");
}
