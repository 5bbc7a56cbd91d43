// SPDX-License-Identifier: GPL-2.0-or-later
// Static probes that a program has (SystemTap's sys/sdt.h): the notes in .note.stapsdt. Layout:
// https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
#pragma once
#include "obj/elf.h"

struct sdt_note {
	const char *provider, *name, *arguments; // inside the image, arguments "" when there are none
	uint64_t location;			 // offset in the file of the probe's nop
	uint64_t semaphore; // offset in the file of its counter of users, 0: none
};

struct sdt_notes {
	const struct elf *elf;
	struct str rest;
	struct elf_section base, probes; // index 0: not there
};

// False when the image has none.
bool sdt_notes_init(struct sdt_notes *ret, const struct elf *elf);
// The next one that makes sense; false at the end.
bool sdt_notes_next(struct sdt_notes *notes, struct sdt_note *ret);

// One argument ("-4@%edi", "8@16(%rsp)") as the kernel's uprobe events take it ("%di:s32", "+16(%sp):u64"); false for
// those that they can't fetch. x86-64 and arm64 (EM_*). `ret` keeps its NUL.
bool sdt_argument(uint16_t machine, struct str argument, char *ret, size_t ret_size);
