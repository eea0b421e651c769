/* network.h - whether an IP address lies in a network
 *
 * Networks are written as address or address/bits, IPv4 or IPv6. An IPv4 address inside IPv6
 * (::ffff:192.0.2.1) counts as the IPv4 address. */
#pragma once

#include <glib.h>

/* FALSE when it is no network, or has bits set behind its length: 127.0.0.1/8 means either
 * less or more than it says. */
gboolean network_is_valid(const char *network);

/* ip: as a mail server writes it, also with the prefix "IPv6:" (RFC 5321, 4.1.3). FALSE too
 * when either is not to be read. */
gboolean network_includes(const char *network, const char *ip);
