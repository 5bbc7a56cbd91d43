// SPDX-License-Identifier: GPL-2.0-or-later
// jit-PID.dump, in which JIT compilers tell what code they made, when and where, with the code itself. Both byte orders.
// Layout: tools/perf/Documentation/jitdump-specification.txt in the kernel's source.
#pragma once
#include "base/str.h"
#include "base/vec.h"
#include <stdint.h>

enum jit_kind { JIT_LOAD, JIT_MOVE };

// Code that came to lie somewhere. Pointers are into the dump.
struct jit_code {
	enum jit_kind kind;
	uint64_t time; // on the dump's clock, CLOCK_MONOTONIC as a rule
	uint64_t addr, size;
	uint64_t index;	 // the compiler's number for it, the same when it is moved
	uint64_t offset; // of the code in the dump; MOVE: of what was loaded
	uint32_t pid, tid;
	const char *name;
	struct str code;     // empty: the dump has none
	struct str lines;    // of LOAD: what jit_line_next reads
	struct str eh_frame; // of LOAD: as if it stood behind the code, filled up to a multiple of 8
	struct str eh_frame_hdr;
};

struct jitdump {
	bool swap, own_clock;	    // own_clock: times are of the processor's counter
	uint32_t machine;	    // ELF's e_machine
	uint32_t pid;		    // as the compiler sees itself: in its pid namespace
	VEC(struct jit_code) codes; // as they stand
	bool damaged; // ends in the middle of a record, or made no sense from there on
};

// -EINVAL, no sentence, when it is no jitdump. The bytes must stay as long as `ret` does.
int jitdump_read(struct jitdump *ret, const uint8_t *p, size_t n);
void jitdump_done(struct jitdump *dump);

struct jit_line {
	uint64_t addr;
	uint32_t line, column;
	const char *file;
};
// The next line entry of a LOAD; false at the end. Compilers write "\xff" for the file of the entry before.
bool jit_line_next(const struct jitdump *dump, struct str *rest, struct jit_line *ret);

// Is it the path of a jitdump, ".../jit-123.dump"? *ret_pid: the number.
bool jitdump_is_path(const char *path, uint32_t *ret_pid);
