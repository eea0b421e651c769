/* fields.h - fields joined so that no two lists of them give the same bytes (XC10)
 *
 * Each field is preceded by its length as 8 bytes, big endian. A number is a field of 8 bytes,
 * big endian. What is hashed or sealed is written like this. */
#pragma once

#include <glib.h>

void fields_add(GByteArray *bytes, const void *field, gsize length);

/* Without the final NUL. */
void fields_add_text(GByteArray *bytes, const char *text);
void fields_add_number(GByteArray *bytes, guint64 number);
