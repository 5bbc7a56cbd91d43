// SPDX-License-Identifier: GPL-2.0-or-later
// Where events go to or come from: "[IP:]PORT", or a path.
#pragma once
#include <netdb.h>
#include <stdbool.h>

struct place {
	char *text;	   // as typed, without slashes at its end
	char *host, *port; // NULL: a path. host is 127.0.0.1 where none is given
};

// "9900", "10.0.0.1:9900", "guest:9900", "[::1]:9900"; all else, or what has a slash, is a path. -EINVAL with a sentence.
int place_parse(struct place *ret, const char *text);
void place_done(struct place *place);
// Its addresses, to be freed with freeaddrinfo. `listen`: those to listen at. May wait for a name server. -errno with a sentence.
int place_addresses(const struct place *place, bool listen, struct addrinfo **ret);
