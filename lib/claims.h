/* claims.h - what an agent says of its message in Agent-* fields, and nobody has checked
 *
 * A table of char * to char *: the name of a field to its value, both the table's. */
#pragma once

#include <glib.h>

GHashTable *claims_new(void);

/* a{ss}, floating; empty for NULL. What is no UTF-8 is made so (g_utf8_make_valid). */
GVariant *claims_to_variant(GHashTable *claims);

/* Adds those of a variant. FALSE, and nothing is added: it is none that claims_to_variant
 * makes. */
gboolean claims_from_variant(GVariant *variant, GHashTable *claims);
