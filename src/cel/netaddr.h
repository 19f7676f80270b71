/* netaddr.h - IP addresses and networks as text, and back. */
#ifndef RONDO_CEL_NETADDR_H
#define RONDO_CEL_NETADDR_H

#include "cel/cel_val.h"

#define NETADDR_TEXT_MAX 64

/* Reads an address: no zones, and no IPv4 address written inside an IPv6 one.  NULL, or what is
   wrong with the text. */
const char *netaddr_read(const char *text, size_t len, struct cel_net *ret);
const char *netaddr_read_cidr(const char *text, size_t len,
                              struct cel_net *ret);           // "10.0.0.0/8"
size_t netaddr_write(char *out, const struct cel_net *net);   // by RFC 5952; without the prefix

#endif
