/* edit.h - an approver writes a message anew (E36, XC15)
 *
 * The relay makes the new message itself, from the approver's words (compose.h). So nobody has
 * to be believed about what is in it, no byte of the old one is copied, and the relay still
 * parses no MIME. The new one is an item of its own that waits; the old one stays, superseded.
 * Writer jobs over a Request. */
#pragma once

#include "relay/request.h"

/* {id s} answers digest, from, subject, text (s), to and blind (as): what may be changed of
 * an item that waits for a person. REQUEST_CONFLICT when it is more than plain text. */
gboolean edit_letter(Request *request, GError **error);

/* {id s, digest s, subject s, text s, to as, blind as} answers id, state and digest (s) of the
 * new item. The digest is the old one's, as shown, or its beginning. */
gboolean edit_item(Request *request, GError **error);
