/* vardict.h - an a{sv} member by member, for what is built or read for every message
 *
 * GVariantDict hashes and copies every key, and formats ("{sv}") are read anew for every
 * member: together that takes longer than what a message is asked. Ask for keys that may be
 * missing, or in no order, with g_variant_lookup(). */
#pragma once

#include <glib.h>

/* Adds a member. builder: of type a{sv}. value: a floating reference is taken. */
void vardict_add(GVariantBuilder *builder, const char *key, GVariant *value);

/* The same for a text, which must be UTF-8; "" is left out. */
void vardict_add_text(GVariantBuilder *builder, const char *key, const char *text);

/* Sets *text_out, which value owns, if it is a text. */
void vardict_get_text(GVariant *value, const char **text_out);

/* The member at an index below g_variant_n_children(): its value, a new reference, and its
 * key, which dict owns. */
GVariant *vardict_member(GVariant *dict, gsize index, const char **key_out);

/* What g_variant_print(dict, TRUE) would write, member by member, without the variant and
 * without its look at every character. print: empty at first. A text that is no UTF-8 is made
 * so, NULL is ""; value: a floating reference is taken. */
void vardict_print_text(GString *print, const char *key, const char *text);
void vardict_print_value(GString *print, const char *key, GVariant *value);

/* Ends it, and frees print. The caller frees the text. */
char *vardict_print_end(GString *print);

/* All of it. The caller frees. */
char *vardict_print(GVariant *dict);
