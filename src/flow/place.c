// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/place.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/num.h"
#include <stdio.h>
#include <sys/socket.h>

int place_parse(struct place *ret, const char *text)
{
	struct str all = str_of(text), host = STR("127.0.0.1"), port = all;
	const char *colon;
	uint64_t number;

	while (all.n > 1 && all.p[all.n - 1] == '/')
		all.n--;
	if (!all.n)
		return fail(EINVAL, "push= and pull= want a port, a device or a file");
	colon = memrchr(all.p, ':', all.n);
	if (colon) {
		host = (struct str){all.p, (size_t)(colon - all.p)};
		port = (struct str){colon + 1, all.n - host.n - 1};
		if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
			host = (struct str){host.p + 1, host.n - 2};
	}
	*ret = (struct place){.text = str_dup(all)};
	if (memchr(all.p, '/', all.n) || num_parse_u64(port, &number) || !host.n)
		return 0;
	if (!number || number > 65535) {
		place_done(ret);
		return fail(EINVAL, "%s: ports are 1 to 65535; a file of that name is ./%s", text,
			    text);
	}
	ret->host = str_dup(host);
	ret->port = text_dup_fmt("%u", (unsigned)number);
	return 0;
}

void place_done(struct place *place)
{
	free(place->text);
	free(place->host);
	free(place->port);
	*place = (struct place){0};
}

int place_addresses(const struct place *place, bool listen, struct addrinfo **ret)
{
	struct addrinfo wanted = {.ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_NUMERICSERV | (listen ? AI_PASSIVE : 0)};
	int err = getaddrinfo(place->host, place->port, &wanted, ret);

	if (err == EAI_SYSTEM)
		return fail(errno, "%s: %s", place->text, strerror(errno));
	return err ? fail(EINVAL, "%s: %s: %s", place->text, place->host, gai_strerror(err)) : 0;
}
