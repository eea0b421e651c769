/* address.h - one spelling for one mailbox
 *
 * The normal form of cases/README: the domain is what follows the last @ outside quotes, lower
 * case, no trailing dot, in its xn-- spelling (IDNA 2008, libidn2); the local part without
 * needless quotes, ASCII letters in lower case. Dots and plus tags stay: only the other host
 * knows what they mean. An IP address in brackets may stand in place of the domain. */
#pragma once

#include <glib.h>

#define ADDRESS_DOMAIN_MAX 253 /* RFC 1035, 2.3.4, without the final dot */

typedef enum {
    ADDRESS_OK,
    ADDRESS_EMPTY,        /* nothing between the brackets */
    ADDRESS_SOURCE_ROUTE, /* @a,@b:user@c (RFC 5321, appendix F.2) */
    ADDRESS_ROUTED,       /* %, ! or @ in the local part: another host could read a route */
    ADDRESS_CONTROL,      /* a control character, a space or a bracket outside quotes */
    ADDRESS_NO_DOMAIN,
    ADDRESS_BAD_DOMAIN /* neither host name (empty label, over 253 bytes, not IDNA) nor IP
                          address */
} AddressProblem;

/* The normal form of an address as written between < and >, brackets allowed. The caller
 * frees. NULL when it is none, with the problem. UTF-8 in, ASCII domain out; a local part
 * keeps its UTF-8. problem_out may be NULL. */
char *address_normalise(const char *written, AddressProblem *problem_out);

/* What is wrong, as a sentence part for a reply: "a source route". Static. */
const char *address_problem_text(AddressProblem problem);

/* The part after the @ of a normal form: a domain, or an IP address in brackets. Borrowed. */
const char *address_domain(const char *normal);

/* The normal form of a domain alone; NULL when it is none, as an IP address. The caller
 * frees. */
char *address_domain_normalise(const char *written);

/* What RFC 5322 (3.2.3) allows in an atom. Bytes of UTF-8 count as letters (RFC 6532). */
gboolean address_is_atom(char c);

/* Appends to addresses (array of char *) the normal form of every address that occurs in a
 * text, each once: user@host and mailto: spellings first, then those made for people only, as
 * in "user (at) host dot org". What a sentence may mean otherwise is found, too: a finding
 * grants nothing. text: valid UTF-8. At most limit entries. */
void address_scan(const char *text, GPtrArray *addresses, guint limit);

/* The text with the spellings of @ and the dot in many languages as these signs; NULL when it
 * has none. For address_scan. */
char *address_respell(const char *text);
