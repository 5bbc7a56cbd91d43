// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/out.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

enum { FLUSH_AT = 1 << 17 };

void out_init_fd(struct out *out, int fd)
{
	*out = (struct out){.fd = fd, .is_terminal = isatty(fd)};
}

void out_init_memory(struct out *out)
{
	*out = (struct out){.fd = -1};
}

int out_open_late(struct out *out, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		return fail(errno, "can't create %s: %s", path, strerror(errno));
	out->fd = fd;
	out->is_terminal = isatty(fd);
	return 0;
}

int out_reopen(struct out *out, const char *path, bool *ret_empty)
{
	int err = out_flush(out), fd;
	struct stat st;

	if (err < 0)
		return err;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return fail(errno, "can't create %s: %s", path, strerror(errno));
	*ret_empty = fstat(fd, &st) == 0 && st.st_size == 0;
	if (out->fd >= 0)
		close(out->fd);
	out->fd = fd;
	out->is_terminal = isatty(fd);
	return 0;
}

int out_open_mode(struct out *out, const char *path, mode_t mode)
{
	struct replacing file;
	int err = replacing_open(&file, path, mode);

	if (err < 0)
		return err;
	*out = (struct out){.fd = file.fd,
			    .is_terminal = isatty(file.fd),
			    .replacing = NEW(struct replacing)};
	*out->replacing = file;
	return 0;
}

int out_open(struct out *out, const char *path)
{
	return out_open_mode(out, path, 0666);
}

int out_flush(struct out *out)
{
	int err;

	if (out->fd < 0 || !out->n)
		return out->error;
	if (!out->error) {
		err = write_all(out->fd, out->buf, out->n);
		if (err)
			out->error = err;
		else
			out->written_bytes += out->n;
	}
	out->n = 0;
	return out->error;
}

int out_close(struct out *out, const char *name)
{
	int err = out_flush(out);

	if (out->replacing)
		err = replacing_close(out->replacing, err);
	else if (out->fd > 2 && close(out->fd) < 0 && !err)
		err = -errno;
	out_done(out);
	if (err && err != -EPIPE)
		return fail(-err, "can't write %s: %s", name, strerror(-err));
	return err;
}

int out_end(struct out *out, const char *name, int err)
{
	if (err < 0 && out->replacing) {
		replacing_close(out->replacing, err);
		out_done(out);
		return err;
	}
	int closed = out_close(out, name);
	return err < 0 ? err : closed;
}

void out_done(struct out *out)
{
	free(out->replacing);
	if (!out->borrowed)
		free(out->buf);
	*out = (struct out){.fd = -1};
}

void out_make_room(struct out *out, size_t n)
{
	if (out->fd >= 0 && out->n >= FLUSH_AT)
		out_flush(out);
	if (out->capacity - out->n >= n)
		return;
	size_t capacity = MAX(out->capacity * 2, (size_t)(out->fd >= 0 ? FLUSH_AT * 2 : 1024));
	if (capacity < out->n + n)
		capacity = out->n + n;
	if (out->borrowed) {
		const char *borrowed = out->buf;

		out->buf = memcpy(xmalloc(capacity), borrowed, out->n);
		out->borrowed = false;
	} else {
		out->buf = xrealloc(out->buf, capacity);
	}
	out->capacity = capacity;
}

void out_fill(struct out *out, char c, size_t n)
{
	if (!n)
		return;
	memset(out_room(out, n), c, n);
	out->n += n;
}

void out_i64(struct out *out, int64_t v)
{
	if (v < 0) {
		out_char(out, '-');
		out_u64(out, 0 - (uint64_t)v);
	} else {
		out_u64(out, (uint64_t)v);
	}
}

static void pad(struct out *out, char c, size_t have, int width)
{
	if (width > 0 && (size_t)width > have)
		out_fill(out, c, (size_t)width - have);
}

void out_text_right(struct out *out, const char *text, int width)
{
	size_t n = strlen(text);

	pad(out, ' ', n, width);
	out_bytes(out, text, n);
}

void out_text_left(struct out *out, const char *text, int width)
{
	size_t n = strlen(text);

	out_bytes(out, text, n);
	pad(out, ' ', n, width);
}

static void decimal(struct out *out, uint64_t v, char fill, int width)
{
	char digits[20];
	unsigned n = num_put_u64(digits, v);

	pad(out, fill, n, width);
	out_bytes(out, digits, n);
}

static void hexadecimal(struct out *out, uint64_t v, char fill, int width)
{
	char digits[20];
	unsigned n = num_put_hex(digits, v);

	pad(out, fill, n, width);
	out_bytes(out, digits, n);
}

void out_u64_right(struct out *out, uint64_t v, int width)
{
	decimal(out, v, ' ', width);
}

void out_hex_right(struct out *out, uint64_t v, int width)
{
	hexadecimal(out, v, ' ', width);
}

void out_u64_zeros(struct out *out, uint64_t v, int width)
{
	decimal(out, v, '0', width);
}

void out_hex_zeros(struct out *out, uint64_t v, int width)
{
	hexadecimal(out, v, '0', width);
}

void out_time(struct out *out, uint64_t ns, int width_sec, int digits)
{
	uint64_t sec = ns / 1000000000u, fraction = ns % 1000000000u;

	out_u64_right(out, sec, width_sec);
	out_char(out, '.');
	out_u64_zeros(out, digits == 9 ? fraction : fraction / 1000, digits);
}

void out_printf(struct out *out, const char *fmt, ...)
{
	va_list args;
	char *at = out_room(out, 256);
	int n;

	va_start(args, fmt);
	n = vsnprintf(at, 256, fmt, args);
	va_end(args);
	if (n >= 256) {
		at = out_room(out, (size_t)n + 1);
		va_start(args, fmt);
		vsnprintf(at, (size_t)n + 1, fmt, args);
		va_end(args);
	}
	if (n > 0)
		out->n += (size_t)n;
}

static inline bool is_printable_ascii(char c)
{
	return c >= 32 && c < 127;
}

// Makes what follows run in another direction: a name could look like another one.
static bool turns(uint32_t code)
{
	return code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

size_t out_shown_bytes(struct str text)
{
	const uint8_t *p = (const uint8_t *)text.p;
	uint32_t code, low;
	size_t n;

	if (!text.n)
		return 0;
	if (p[0] < 0x80)
		return is_printable_ascii(text.p[0]);
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (n > text.n)
		return 0;
	code = p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	low = n == 2 ? 0xa0 : n == 3 ? 0x800 : 0x10000;
	return code < low || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || turns(code) ? 0
												 : n;
}

static bool is_shown(struct str text)
{
	while (text.n) {
		size_t n = is_printable_ascii(*text.p) ? 1 : out_shown_bytes(text);

		if (!n)
			return false;
		text.p += n;
		text.n -= n;
	}
	return true;
}

void out_safe(struct out *out, const char *text)
{
	struct str all = str_of(text);

	if (!out->is_terminal || is_shown(all))
		out_str(out, all);
	else
		out_escaped_str(out, all);
}

void out_escaped(struct out *out, const char *text)
{
	out_escaped_str(out, str_of(text));
}

static void put_shown(struct out *out, struct str text, struct str kept)
{
	while (text.n) {
		size_t n = out_shown_bytes(text);

		if (!n && kept.n && memchr(kept.p, *text.p, kept.n))
			n = 1;
		if (n)
			out_bytes(out, text.p, n);
		else
			out_printf(out, "\\x%02x", (unsigned char)*text.p);
		n += !n;
		text.p += n;
		text.n -= n;
	}
}

void out_escaped_str(struct out *out, struct str text)
{
	put_shown(out, text, STR(""));
}

void out_clean(struct out *out, struct str text)
{
	put_shown(out, text, STR("\t\n\r"));
}

void out_safe_line(struct out *out, struct str line)
{
	if (out->is_terminal)
		put_shown(out, line, STR("\t"));
	else
		out_str(out, line);
	out_char(out, '\n');
}

void out_safe_lines(struct out *out, const struct out *lines)
{
	for (struct str rest = {lines->buf, lines->n}; rest.n;)
		out_safe_line(out, str_cut(&rest, '\0'));
}

// What a spreadsheet would compute. Numbers are what they say.
static bool is_formula(struct str text)
{
	size_t i = 1;

	if (!text.n || !memchr("=+-@\t\r", *text.p, 6))
		return false;
	if (*text.p != '+' && *text.p != '-')
		return true;
	while (i < text.n && (isdigit((unsigned char)text.p[i]) || text.p[i] == '.'))
		i++;
	return text.n == 1 || !isdigit((unsigned char)text.p[1]) ||
	       (i < text.n && !(i + 1 == text.n && text.p[i] == '%'));
}

static void put_field(struct out *out, struct str text, bool formula)
{
	bool quote = formula;

	for (size_t i = 0; i < text.n && !quote; i++)
		quote = text.p[i] == ',' || text.p[i] == '"' || (unsigned char)text.p[i] < ' ';
	if (!quote) {
		out_str(out, text);
		return;
	}
	out_text(out, formula ? "\"'" : "\"");
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '"')
			out_char(out, '"');
		out_char(out, text.p[i]);
	}
	out_char(out, '"');
}

void out_csv(struct out *out, struct str text)
{
	struct out cleaned;

	if (is_shown(text)) {
		put_field(out, text, is_formula(text));
		return;
	}
	out_init_memory(&cleaned);
	if (out->is_terminal)
		out_escaped_str(&cleaned, text);
	else
		out_clean(&cleaned, text);
	put_field(out, (struct str){cleaned.buf, cleaned.n}, is_formula(text));
	out_done(&cleaned);
}
