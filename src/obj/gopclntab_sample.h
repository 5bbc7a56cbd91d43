// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: ELF images with a table of Go functions, made by hand. Code lies at file offset 0x1000 and is mapped at 0x401000.
#pragma once
#include <elf.h>
#include <stdint.h>
#include <string.h>

enum {
	GO_SAMPLE_SIZE = 0x2000,
	GO_SAMPLE_TABLE_AT = 0x200,
	GO_SAMPLE_TABLE_MAX = 0xc00,
	GO_SAMPLE_TEXT = 0x401000,
};

static inline void go_sample_elf(uint8_t ret[GO_SAMPLE_SIZE], uint16_t machine, const void *table,
				 uint32_t table_n)
{
	static const char names[] = "\0.text\0.gopclntab\0.shstrtab";
	const Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
				 .e_type = ET_EXEC,
				 .e_machine = machine,
				 .e_version = EV_CURRENT,
				 .e_phoff = 0x40,
				 .e_shoff = 0x80,
				 .e_ehsize = sizeof(head),
				 .e_phentsize = sizeof(Elf64_Phdr),
				 .e_phnum = 1,
				 .e_shentsize = sizeof(Elf64_Shdr),
				 .e_shnum = 4,
				 .e_shstrndx = 3};
	const Elf64_Phdr load = {.p_type = PT_LOAD,
				 .p_flags = PF_R | PF_X,
				 .p_vaddr = 0x400000,
				 .p_filesz = GO_SAMPLE_SIZE,
				 .p_memsz = GO_SAMPLE_SIZE};
	const Elf64_Shdr sections[4] = {
		{0},
		{.sh_name = 1,
		 .sh_type = SHT_PROGBITS,
		 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		 .sh_addr = GO_SAMPLE_TEXT,
		 .sh_offset = 0x1000,
		 .sh_size = 0x1000},
		{.sh_name = 7,
		 .sh_type = SHT_PROGBITS,
		 .sh_flags = SHF_ALLOC,
		 .sh_addr = 0x400000 + GO_SAMPLE_TABLE_AT,
		 .sh_offset = GO_SAMPLE_TABLE_AT,
		 .sh_size = table_n},
		{.sh_name = 18, .sh_type = SHT_STRTAB, .sh_offset = 0xf00, .sh_size = sizeof(names)},
	};

	memset(ret, 0, GO_SAMPLE_SIZE);
	memcpy(ret, &head, sizeof(head));
	memcpy(ret + 0x40, &load, sizeof(load));
	memcpy(ret + 0x80, sections, sizeof(sections));
	memcpy(ret + GO_SAMPLE_TABLE_AT, table, table_n);
	memcpy(ret + 0xf00, names, sizeof(names));
}
