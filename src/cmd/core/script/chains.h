// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses and call chains as text. The lines of (dso, address) that come again are kept, and a small table in front
// tells which line a kernel address was last, so that most frames are neither resolved nor rendered. Most lines of a large
// program come once, so there are not more of them than the processor's caches hold.
// (Keeping the text of whole stacks costs more: it is several times as large, so it misses the caches.)
#pragma once
#include "base/out.h"
#include "cmd/core/script/fields.h"
#include "sym/source.h"
#include "sym/sym.h"

struct chains_options {
	uint32_t max_stack;	      // frames that are printed
	const struct words_set *stop; // no frames behind a symbol of these (--stop-bt), or NULL
	bool full_kernel_path;	      // --show-kernel-path
	bool escape;		      // control characters in names as \xNN
	bool inlines;		      // inlined functions are frames
	bool whole_paths;	      // of source files
};

// The line of an address in a dso, the text beside its key: one cache miss, not two.
struct line_slot {
	uint64_t addr;
	uint32_t dso_style; // dso id << 6 | how << 4 | style, + 1; 0: empty
	uint16_t n;	    // when larger than text: it has a pointer to the text
	bool again;	    // was met since it was put here, or since its place was wanted
	char text[112];
} __attribute__((aligned(128)));

// What a kernel address was printed as last.
struct seen_line {
	uint64_t ip;
	uint32_t generation; // of the kernel's space
	uint32_t slot;	     // in lines
	uint32_t dso_style;  // of the line that lies there; 0: empty
};

struct chains {
	struct sym *sym;
	struct sources *sources;
	struct chains_options options;
	VEC(uint64_t) styles;	 // the combinations of ip fields that were asked for
	struct line_slot *lines; // LINES of them, two for each hash
	struct seen_line *seen;	 // direct-mapped
	struct arena texts;	 // of lines that are longer than a slot
	struct out scratch;
	uint64_t frames_n, frames_resolved;
};

struct words_set {
	VEC(const char *) words;
	char *text;
};
void words_set_init(struct words_set *set, const char *commas);
void words_set_done(struct words_set *set);

void chains_init(struct chains *chains, struct sym *sym, const struct chains_options *options);
void chains_done(struct chains *chains);
// A number for a combination of FIELD_IP, SYM, ... to give to the functions below.
uint32_t chains_style(struct chains *chains, uint64_t ip_fields);
// Where to, whose addresses, and how.
struct chains_print {
	struct chains *chains;
	struct out *out;
	struct task *task;
	uint32_t style;
};
// The frames, each "\tip symbol+offset (dso)\n".
void chains_print(const struct chains_print *print, const struct sample *sample);
// "ip symbol+offset (dso)" of the sample's own ip.
void chains_print_ip(const struct chains_print *print, const struct sample *sample);
// Calls with each frame that chains_print would print, innermost first.
// is_return: the address is where a call returns to, not where it stands.
typedef void chain_frame(void *arg, uint64_t ip, uint8_t cpumode, bool is_return);
void chains_each(const struct sample *sample, uint32_t max_stack, chain_frame *call, void *arg);

// A name that strangers chose, as options.escape says.
void put_name(struct out *out, const struct chains *chains, const char *name);
// "symbol+0xoffset" or "[unknown]"; without the offset when !offset.
void put_symbol(struct out *out, const struct chains *chains, const struct location *location,
		bool offset);
// The dso's name as perf prints it, or "[unknown]".
void put_dso(struct out *out, const struct chains *chains, const struct location *location);
const char *dso_print_name(const struct dso *dso, bool full_kernel_path);
// 8 hexadecimal digits of 32 bits, the first in the lowest byte.
static inline uint64_t hex8(uint32_t v)
{
	uint64_t x = v, above_9;

	x = (x << 16 | x) & 0x0000ffff0000ffff;
	x = (x << 8 | x) & 0x00ff00ff00ff00ff;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0f;
	above_9 = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
	return __builtin_bswap64(x + 0x3030303030303030 + above_9 * ('a' - '9' - 1));
}

// Eight digits with spaces in place of the first n, which are '0'; n <= 8.
static inline uint64_t blank_zeros(uint64_t digits, int n)
{
	return n ? digits ^ (uint64_t)0x1010101010101010 >> (64 - 8 * n) : digits;
}

// "%16llx" at p.
static inline void hex16(char *p, uint64_t v)
{
	uint64_t high = hex8((uint32_t)(v >> 32)), low = hex8((uint32_t)v);
	int zeros = v ? __builtin_clzll(v) / 4 : 15;

	high = blank_zeros(high, MIN(zeros, 8));
	low = blank_zeros(low, MAX(zeros, 8) - 8);
	memcpy(p, &high, 8);
	memcpy(p + 8, &low, 8);
}
void put_hex16(struct out *out, uint64_t v);
