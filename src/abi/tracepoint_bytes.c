// SPDX-License-Identifier: GPL-2.0-or-later
// What print fmts show by %pM, %pI4, %pI6, %pIS, %pU and %*ph: addresses, UUIDs and bytes, as libtraceevent writes them.
#include "abi/tracepoint_program.h"
#include <netinet/in.h>
#include <sys/socket.h>

// The bytes of a field, NULL when the data ends before.
static const uint8_t *bytes_at(const struct tp_run *r, uint32_t offset, uint32_t n)
{
	return offset <= r->size && n <= r->size - offset ? r->raw + offset : NULL;
}

static void put_mac(const struct tp_run *r, const struct step *step)
{
	const uint8_t *p = bytes_at(r, step->offset, 6);

	for (int i = 0; p && i < 6; i++) {
		if (i && step->letter)
			out_char(r->out, step->letter);
		out_hex_zeros(r->out, p[step->reversed ? 5 - i : i], 2);
	}
}

static void put_ipv4(const struct tp_run *r, const struct step *step, const uint8_t *p)
{
	for (int i = 0; i < 4; i++) {
		uint8_t byte = p[step->reversed ? 3 - i : i];

		if (i)
			out_char(r->out, '.');
		if (step->zero_padded)
			out_u64_zeros(r->out, byte, 3);
		else
			out_u64(r->out, byte);
	}
}

static void put_ipv6_compressed(const struct tp_run *r, const uint8_t *p)
{
	static const struct step plain = {0};
	uint16_t words[8];
	int best = -1, best_n = 1, range = 8;
	bool colon = false;

	for (int i = 0; i < 8; i++)
		words[i] = (uint16_t)(p[2 * i] << 8 | p[2 * i + 1]);
	// addresses that hold an IPv4 one: mapped, ISATAP
	if ((!words[0] && !words[1] && !words[2] && !words[3] && !words[4] && words[5] == 0xffff) ||
	    ((words[4] | 0x0200) == 0x0200 && words[5] == 0x5efe))
		range = 6;
	for (int i = 0; i < range; i++) {
		int n = 0;

		while (i + n < range && !words[i + n])
			n++;
		if (n > best_n) {
			best_n = n;
			best = i;
		}
	}
	for (int i = 0; i < range; i++) {
		if (i == best) {
			out_text(r->out, colon || i == 0 ? "::" : ":");
			colon = false;
			i += best_n - 1;
			continue;
		}
		if (colon)
			out_char(r->out, ':');
		out_hex(r->out, words[i]);
		colon = true;
	}
	if (range == 6) {
		if (colon)
			out_char(r->out, ':');
		put_ipv4(r, &plain, p + 12);
	}
}

static void put_ipv6(const struct tp_run *r, const struct step *step, const uint8_t *p)
{
	if (step->compressed) {
		put_ipv6_compressed(r, p);
		return;
	}
	for (int i = 0; i < 16; i += 2) {
		if (i && !step->zero_padded)
			out_char(r->out, ':');
		out_hex_zeros(r->out, (uint64_t)(p[i] << 8 | p[i + 1]), 4);
	}
}

static void put_socket_address(const struct tp_run *r, const struct step *step)
{
	struct tp_extent at = {step->offset, step->length};
	const uint8_t *p;
	uint16_t family;

	if (step->field)
		at = tp_dynamic_extent(step->field, r->raw, r->size);
	p = bytes_at(r, at.offset, sizeof(family));
	if (!p)
		return;
	memcpy(&family, p, sizeof(family));
	if (family == AF_INET) {
		if (at.size < sizeof(struct sockaddr_in) ||
		    !bytes_at(r, at.offset, sizeof(struct sockaddr_in))) {
			out_text(r->out, "INVALIDIPv4");
			return;
		}
		put_ipv4(r, step, p + offsetof(struct sockaddr_in, sin_addr));
		if (step->with_port) {
			out_char(r->out, ':');
			out_u64(r->out, (uint64_t)(p[2] << 8 | p[3]));
		}
	} else if (family == AF_INET6) {
		if (at.size < sizeof(struct sockaddr_in6) ||
		    !bytes_at(r, at.offset, sizeof(struct sockaddr_in6))) {
			out_text(r->out, "INVALIDIPv6");
			return;
		}
		if (step->with_port)
			out_char(r->out, '[');
		put_ipv6(r, step, p + offsetof(struct sockaddr_in6, sin6_addr));
		if (step->with_port) {
			out_text(r->out, "]:");
			out_u64(r->out, (uint64_t)(p[2] << 8 | p[3]));
		}
	}
}

static void put_uuid(const struct tp_run *r, const struct step *step)
{
	static const uint8_t little[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	const uint8_t *p = bytes_at(r, step->offset, 16);

	for (int i = 0; p && i < 16; i++) {
		uint8_t byte = p[step->reversed ? little[i] : i];

		if (i == 4 || i == 6 || i == 8 || i == 10)
			out_char(r->out, '-');
		out_printf(r->out, step->upper ? "%02X" : "%02x", byte);
	}
}

static void put_hex(const struct tp_run *r, const struct step *step, int32_t length)
{
	struct tp_extent at = tp_dynamic_extent(step->field, r->raw, r->size);
	uint32_t n = step->length_arg ? (uint32_t)length : 1;

	if (length < 0 && step->length_arg)
		n = 0;
	if (n > at.size)
		n = at.size;
	for (uint32_t i = 0; i < n; i++) {
		if (i && step->letter)
			out_char(r->out, step->letter);
		out_hex_zeros(r->out, r->raw[at.offset + i], 2);
	}
}

void tp_put_bytes(const struct tp_run *r, const struct step *step, int32_t length)
{
	const uint8_t *p;

	switch (step->kind) {
	case S_MAC:
		put_mac(r, step);
		break;
	case S_IPV4:
		p = bytes_at(r, step->offset, 4);
		if (p)
			put_ipv4(r, step, p);
		break;
	case S_IPV6:
		p = bytes_at(r, step->offset, 16);
		if (p)
			put_ipv6(r, step, p);
		break;
	case S_SOCKET_ADDRESS:
		put_socket_address(r, step);
		break;
	case S_UUID:
		put_uuid(r, step);
		break;
	default:
		put_hex(r, step, length);
	}
}
