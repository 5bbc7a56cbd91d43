// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: ELF images with frame information, made by hand. Code lies at file offset 0x1000 and is mapped at 0x401000.
#pragma once
#include <elf.h>
#include <stdint.h>
#include <string.h>

enum {
	SAMPLE_SIZE = 0x2000,
	SAMPLE_FRAMES_AT = 0x200, // .eh_frame
	SAMPLE_FRAMES_MAX = 0xc00,
	SAMPLE_BASE = 0x400000,
};

// .eh_frame while it is written.
struct sample_frames {
	uint8_t bytes[SAMPLE_FRAMES_MAX];
	uint32_t n, cie;
};

static inline void sample_put(struct sample_frames *f, const void *bytes, uint32_t n)
{
	memcpy(f->bytes + f->n, bytes, n);
	f->n += n;
}

static inline void sample_u32(struct sample_frames *f, uint32_t v)
{
	sample_put(f, &v, 4);
}

static inline void sample_end(struct sample_frames *f, uint32_t start)
{
	uint32_t n;

	while ((f->n - start) % 4)
		f->bytes[f->n++] = 0;
	n = f->n - start - 4;
	memcpy(f->bytes + start, &n, 4);
}

// `augmentation` "zR" or "zRS"; code alignment 1, data alignment -8.
static inline void sample_cie(struct sample_frames *f, const char *augmentation, uint8_t ra,
			      const void *code, uint32_t n)
{
	const uint8_t rest[] = {1, 0x78, ra, 1, 0x1b};

	f->cie = f->n;
	sample_u32(f, 0);
	sample_u32(f, 0);
	sample_put(f, "\1", 1);
	sample_put(f, augmentation, (uint32_t)strlen(augmentation) + 1);
	sample_put(f, rest, sizeof(rest));
	sample_put(f, code, n);
	sample_end(f, f->cie);
}

// Of the code from `at` (offset in the file) on.
static inline void sample_fde(struct sample_frames *f, uint32_t at, uint32_t size, const void *code,
			      uint32_t n)
{
	uint32_t start = f->n;

	sample_u32(f, 0);
	sample_u32(f, f->n - f->cie);
	sample_u32(f, at - (SAMPLE_FRAMES_AT + f->n));
	sample_u32(f, size);
	sample_put(f, "\0", 1);
	sample_put(f, code, n);
	sample_end(f, start);
}

static inline void sample_elf(uint8_t ret[SAMPLE_SIZE], uint16_t machine,
			      const struct sample_frames *frames)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = machine,
			   .e_version = EV_CURRENT,
			   .e_phoff = 0x40,
			   .e_shoff = 0x80,
			   .e_ehsize = sizeof(head),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 1,
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = 3,
			   .e_shstrndx = 2};
	Elf64_Phdr load = {.p_type = PT_LOAD,
			   .p_flags = PF_R | PF_X,
			   .p_vaddr = SAMPLE_BASE,
			   .p_filesz = SAMPLE_SIZE,
			   .p_memsz = SAMPLE_SIZE};
	Elf64_Shdr sections[3] = {
		{0},
		{.sh_name = 1,
		 .sh_type = SHT_PROGBITS,
		 .sh_addr = SAMPLE_BASE + SAMPLE_FRAMES_AT,
		 .sh_offset = SAMPLE_FRAMES_AT,
		 .sh_size = frames->n},
		{.sh_name = 11, .sh_type = SHT_STRTAB, .sh_offset = 0xf00, .sh_size = sizeof(names)},
	};

	memset(ret, 0, SAMPLE_SIZE);
	memcpy(ret, &head, sizeof(head));
	memcpy(ret + 0x40, &load, sizeof(load));
	memcpy(ret + 0x80, sections, sizeof(sections));
	memcpy(ret + SAMPLE_FRAMES_AT, frames->bytes, frames->n);
	memcpy(ret + 0xf00, names, sizeof(names));
}
