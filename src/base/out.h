// SPDX-License-Identifier: GPL-2.0-or-later
// The buffered writer of all results. It never fails in the middle: errors stick and out_close reports
// them; a closed pipe makes all later output vanish (out_broken tells, so that loops can end early).
#pragma once
#include "base/num.h"
#include "base/replace.h"
#include "base/str.h"
#include <stdint.h>

struct out {
	char *buf;
	size_t n, capacity;
	int fd;	   // -1: memory only, buf holds all
	int error; // first -errno
	bool borrowed; // buf is somebody else's, and left for memory of its own where that needs more room
	bool is_terminal; // text from strangers is escaped (out_safe)
	uint64_t written_bytes;
	struct replacing *replacing; // of out_open
};

// A writer on a descriptor that stays the caller's.
void out_init_fd(struct out *out, int fd);
// A writer into memory: out->buf, out->n.
void out_init_memory(struct out *out);
// Creates a file that takes its name at out_close, when all went well; until then what was there stays. Its mode is 0666 less the
// umask. -errno with a sentence.
int out_open(struct out *out, const char *path);
int out_open_mode(struct out *out, const char *path, mode_t mode);
// For what is read while it is written: the file is emptied now, and what a writer into memory holds is its beginning.
int out_open_late(struct out *out, const char *path);
// For files that are moved away (logs): what comes goes to the file that has the path now, behind what is in it.
int out_reopen(struct out *out, const char *path, bool *ret_empty);
// Writes what is left, closes if out_open opened it; 0, -EPIPE (quietly), or -errno with a sentence.
int out_close(struct out *out, const char *name_for_errors);
// The same where something before went wrong (err < 0): what would take a file's place is thrown away. err, or what out_close says.
int out_end(struct out *out, const char *name_for_errors, int err);
void out_done(struct out *out); // frees only
int out_flush(struct out *out);
static inline bool out_broken(const struct out *out)
{
	return out->error != 0;
}

void out_make_room(struct out *out, size_t n);
// n bytes to write into; the caller then adds to out->n what it used.
static inline char *out_room(struct out *out, size_t n)
{
	if (out->capacity - out->n < n)
		out_make_room(out, n);
	return out->buf + out->n;
}
static inline void out_bytes(struct out *out, const void *p, size_t n)
{
	if (!n)
		return;
	memcpy(out_room(out, n), p, n);
	out->n += n;
}
static inline void out_str(struct out *out, struct str s)
{
	out_bytes(out, s.p, s.n);
}
static inline void out_text(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}
static inline void out_char(struct out *out, char c)
{
	*out_room(out, 1) = c;
	out->n++;
}
void out_fill(struct out *out, char c, size_t n);
static inline void out_u64(struct out *out, uint64_t v)
{
	out->n += num_put_u64(out_room(out, 20), v);
}
void out_i64(struct out *out, int64_t v);
static inline void out_hex(struct out *out, uint64_t v)
{
	out->n += num_put_hex(out_room(out, 16), v);
}
// As "%*s", "%-*s", "%*llu", "%*llx", "%0*llu", "%0*llx".
void out_text_right(struct out *out, const char *text, int width);
void out_text_left(struct out *out, const char *text, int width);
void out_u64_right(struct out *out, uint64_t v, int width);
void out_hex_right(struct out *out, uint64_t v, int width);
void out_u64_zeros(struct out *out, uint64_t v, int width);
void out_hex_zeros(struct out *out, uint64_t v, int width);
// "%*u.%06u" seconds and microseconds (digits 6) or nanoseconds (digits 9); truncates like perf.
void out_time(struct out *out, uint64_t ns, int width_sec, int digits);
// For what is not hot.
void out_printf(struct out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// Text from strangers: control characters (C0, DEL, C1) and what is no UTF-8 as \xNN when the writer's fd is a terminal, else as is.
void out_safe(struct out *out, const char *text);
// Likewise a line, whose tabs stay, and its end; lines in memory that each end with NUL.
void out_safe_line(struct out *out, struct str line);
void out_safe_lines(struct out *out, const struct out *lines);
// Likewise whatever the writer goes to: where a newline would tear a row.
void out_escaped(struct out *out, const char *text);
void out_escaped_str(struct out *out, struct str text);
// Likewise, but line ends and tabs stay: for texts that other programs read.
void out_clean(struct out *out, struct str text);
// The bytes of the first character, when it does nothing but show itself. 0: it is a control (also one of 0x80 to 0x9f, which
// terminals in 8-bit mode obey, or one that turns the direction of writing) or no UTF-8 (RFC 3629).
size_t out_shown_bytes(struct str text);
// A field of CSV as of RFC 4180: what holds a comma, a quote or a line end stands in quotes, and is out_clean otherwise (on a terminal
// out_escaped). What a spreadsheet would take for a formula (=, +, -, @ first, and no number) begins with ' in quotes.
void out_csv(struct out *out, struct str text);
