#include "lib/fields.h"

#include <string.h>

void
fields_add(GByteArray *bytes, const void *field, gsize length)
{
    guint64 prefix = GUINT64_TO_BE((guint64)length);

    g_byte_array_append(bytes, (const guint8 *)&prefix, sizeof prefix);
    g_byte_array_append(bytes, field, length);
}

void
fields_add_text(GByteArray *bytes, const char *text)
{
    fields_add(bytes, text, strlen(text));
}

void
fields_add_number(GByteArray *bytes, guint64 number)
{
    guint64 field = GUINT64_TO_BE(number);

    fields_add(bytes, &field, sizeof field);
}
