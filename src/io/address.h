/* address.h - which addresses the whole world can reach, and which are somebody's own.

   For requests that a model asks for: what it names must not lead to this machine, its network, or the services
   that clouds offer to their hosts.  IPv6 addresses that carry an IPv4 one are judged by that; of all others only
   the part that is given out globally is public. */
#ifndef RONDO_ADDRESS_H
#define RONDO_ADDRESS_H

#include <stddef.h>

struct sockaddr;

/* NULL: it is public.  Otherwise what it is: "a loopback address". */
const char *address_kind(const struct sockaddr *address);

/* The same for a host as it stands in a URL.  NULL too for names, whose addresses nobody has looked up yet; but
   "localhost" and what ends in it is known. */
const char *address_kind_of_host(const char *host);

void address_put(const struct sockaddr *address, char *out, size_t size); // as text, without the port

#define ADDRESS_TEXT_MAX 64

#endif
