/* lookalike.h - what one name could be taken for
 *
 * Pure functions over normal forms (address.h). The skeleton of a name is what it looks like:
 * letters of other scripts become the Latin ones they resemble (xn-- labels are read as people
 * read them), accents go, and so do differences that fonts hide: 0 and o, 1, i and l, rn and
 * m, vv and w. Names with one skeleton look the same (XB9, XD9).
 *
 * A domain looks like another one when the skeletons are equal or one edit apart (a letter
 * more, less or another, or two neighbours swapped), or when it holds the other one whole
 * between dots and hyphens: example.com.evil.net, example-com.net, my-example.com. A name
 * below the other one belongs to the same owner and is no look-alike. */
#pragma once

#include <glib.h>

/* The skeleton of an address. Dots, hyphens and underscores of its local part are left out,
 * and so is a plus tag. The caller frees. */
char *lookalike_address(const char *normal);

/* A text in small letters in which words of Latin letters have no others that look like them.
 * Words of another script alone stay. The caller frees. */
char *lookalike_text(const char *text);

/* TRUE when the domain could be taken for the other one and is not that one. */
gboolean lookalike_domain(const char *domain, const char *other);

/* How an index finds look-alikes: of two domains that look alike, one of lookalike_find_keys()
 * of the first is among lookalike_file_keys() of the other. The converse does not hold: ask
 * lookalike_domain() about what was found. The caller frees the array (free function set). */
GPtrArray *lookalike_file_keys(const char *domain);
GPtrArray *lookalike_find_keys(const char *domain);
