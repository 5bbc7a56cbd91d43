// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/num.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

static int parse_base(struct str s, unsigned base, uint64_t *ret)
{
	uint64_t v = 0;

	if (!s.n)
		return -EINVAL;
	for (size_t i = 0; i < s.n; i++) {
		unsigned d = (unsigned)digit_of(s.p[i]);

		if (d >= base)
			return -EINVAL;
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v))
			return -ERANGE;
	}
	*ret = v;
	return 0;
}

int num_parse_hex(struct str s, uint64_t *ret)
{
	if (str_starts(s, "0x") || str_starts(s, "0X"))
		s = (struct str){s.p + 2, s.n - 2};
	return parse_base(s, 16, ret);
}

int num_parse_u64(struct str s, uint64_t *ret)
{
	if (s.n > 2 && (str_starts(s, "0x") || str_starts(s, "0X")))
		return num_parse_hex(s, ret);
	if (s.n > 1 && s.p[0] == '0')
		return parse_base((struct str){s.p + 1, s.n - 1}, 8, ret);
	return parse_base(s, 10, ret);
}

int num_parse_i64(struct str s, int64_t *ret)
{
	bool negative = s.n && s.p[0] == '-';
	uint64_t v;
	int err;

	if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
		s = (struct str){s.p + 1, s.n - 1};
	err = num_parse_u64(s, &v);
	if (err)
		return err;
	if (v > (uint64_t)INT64_MAX + negative)
		return -ERANGE;
	*ret = negative ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

int num_parse_double(struct str s, double *ret)
{
	char text[64], *end;

	if (!s.n || s.n >= sizeof(text) || isspace((unsigned char)s.p[0]))
		return -EINVAL;
	memcpy(text, s.p, s.n);
	text[s.n] = 0;
	double v = strtod(text, &end);
	if (*end || !isfinite(v))
		return -EINVAL;
	*ret = v;
	return 0;
}

int num_parse_size(struct str s, uint64_t *ret)
{
	static const char units[] = "BKMGT";
	unsigned shift = 0;
	uint64_t v;
	int err;

	if (s.n > 1 && toupper((unsigned char)s.p[s.n - 1]) == 'B' &&
	    !isdigit((unsigned char)s.p[s.n - 2]))
		s.n--;
	if (s.n) {
		const char *unit = strchr(units, toupper((unsigned char)s.p[s.n - 1]));

		if (unit && *unit) {
			shift = (unsigned)(unit - units) * 10;
			s.n--;
		}
	}
	err = num_parse_u64(s, &v);
	if (err)
		return err;
	if (shift && v >> (64 - shift))
		return -ERANGE;
	*ret = v << shift;
	return 0;
}

int num_parse_duration(struct str s, uint64_t unit_ns, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ns", 1},
		     {"us", 1000},
		     {"ms", 1000000},
		     {"s", 1000000000},
		     {"m", 60000000000ull},
		     {"h", 3600000000000ull},
		     {"d", 86400000000000ull}};
	size_t digits = 0;
	double v;
	int err;

	while (digits < s.n && (isdigit((unsigned char)s.p[digits]) || s.p[digits] == '.'))
		digits++;
	struct str unit = {s.p + digits, s.n - digits};
	err = num_parse_double((struct str){s.p, digits}, &v);
	if (err)
		return err;
	for (size_t i = 0; unit.n; i++) {
		if (i == sizeof(units) / sizeof(*units))
			return -EINVAL;
		if (str_is(unit, units[i].name)) {
			unit_ns = units[i].ns;
			break;
		}
	}
	if (v * (double)unit_ns >= 1.8e19)
		return -ERANGE;
	*ret_ns = (uint64_t)(v * (double)unit_ns + 0.5);
	return 0;
}

int num_parse_list(struct str s, uint32_t max, void (*add)(void *arg, uint32_t n), void *arg)
{
	while (s.p) {
		struct str range = str_trim(str_cut(&s, ','));
		struct str last = range, first = str_cut(&last, '-');
		uint64_t from, to;
		int err = num_parse_u64(first, &from);

		if (err)
			return err;
		to = from;
		if (last.p && (err = num_parse_u64(last, &to)))
			return err;
		if (to < from)
			return -EINVAL;
		if (to > max)
			return -ERANGE;
		for (; from <= to; from++)
			add(arg, (uint32_t)from);
	}
	return 0;
}

static const char two_digits[] = "0001020304050607080910111213141516171819"
				 "2021222324252627282930313233343536373839"
				 "4041424344454647484950515253545556575859"
				 "6061626364656667686970717273747576777879"
				 "8081828384858687888990919293949596979899";

static unsigned digits_of(uint64_t v)
{
	static const uint64_t powers[] = {
		1,
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
		1000000000000000000,
		10000000000000000000ull,
	};
	// bits * log10(2), rounded down; one more when v reaches that power.
	unsigned n = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12;

	return n + (v >= powers[n] || !v);
}

unsigned num_put_u64(char *p, uint64_t v)
{
	unsigned n = digits_of(v);
	char *at = p + n;

	while (v >= 100) {
		at -= 2;
		memcpy(at, two_digits + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10)
		memcpy(at - 2, two_digits + v * 2, 2);
	else
		at[-1] = (char)('0' + v);
	return n;
}

unsigned num_put_hex(char *p, uint64_t v)
{
	unsigned n = v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;

	for (unsigned i = n; i--; v >>= 4)
		p[i] = "0123456789abcdef"[v & 15];
	return n;
}

void num_put_bytes(char *p, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*p++ = "0123456789abcdef"[bytes[i] >> 4];
		*p++ = "0123456789abcdef"[bytes[i] & 15];
	}
	*p = '\0';
}

char *num_size_text(uint64_t bytes, char ret[NUM_SIZE_TEXT])
{
	bool is_mb = bytes >= 1 << 20, is_kb = bytes >= 1 << 10;

	snprintf(ret, NUM_SIZE_TEXT, "%llu %s",
		 (unsigned long long)(is_mb   ? bytes >> 20
				      : is_kb ? bytes >> 10
					      : bytes),
		 is_mb	      ? "MB"
		 : is_kb      ? "KB"
		 : bytes == 1 ? "byte"
			      : "bytes");
	return ret;
}
