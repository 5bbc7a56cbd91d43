// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/elf.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/test.h"

// A made up image: null, .text, .symtab, .strtab, .shstrtab, a build-id note, .gnu_debuglink.
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr load;
	Elf64_Shdr sections[7];
	Elf64_Sym symbols[3];
	char strings[16], names[80], link[16];
	struct {
		Elf64_Nhdr head;
		char name[4];
		uint8_t id[20];
	} note;
};

static void make(struct image *image)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab\0.note.gnu.build-id\0"
				    ".gnu_debuglink";

	memset(image, 0, sizeof(*image));
	memcpy(image->header.e_ident, ELFMAG, SELFMAG);
	image->header.e_ident[EI_CLASS] = ELFCLASS64;
	image->header.e_ident[EI_DATA] = ELFDATA2LSB;
	image->header.e_type = ET_DYN;
	image->header.e_machine = EM_X86_64;
	image->header.e_phoff = offsetof(struct image, load);
	image->header.e_phnum = 1;
	image->header.e_phentsize = sizeof(Elf64_Phdr);
	image->header.e_shoff = offsetof(struct image, sections);
	image->header.e_shnum = 7;
	image->header.e_shentsize = sizeof(Elf64_Shdr);
	image->header.e_shstrndx = 4;
	image->load = (Elf64_Phdr){.p_type = PT_LOAD,
				   .p_offset = 0x1000,
				   .p_vaddr = 0x401000,
				   .p_memsz = 0x1000};
	memcpy(image->names, names, sizeof(names));
	memcpy(image->strings, "\0main\0data", 10);
	memcpy(image->link, "x.debug", 8);
	image->sections[1] = (Elf64_Shdr){.sh_name = 1,
					  .sh_type = SHT_NOBITS,
					  .sh_flags = SHF_ALLOC,
					  .sh_addr = 0x401000,
					  .sh_offset = 0x1000,
					  .sh_size = 0x100};
	image->sections[2] = (Elf64_Shdr){.sh_name = 7,
					  .sh_type = SHT_SYMTAB,
					  .sh_offset = offsetof(struct image, symbols),
					  .sh_size = sizeof(image->symbols),
					  .sh_entsize = sizeof(Elf64_Sym),
					  .sh_link = 3};
	image->sections[3] = (Elf64_Shdr){.sh_name = 15,
					  .sh_type = SHT_STRTAB,
					  .sh_offset = offsetof(struct image, strings),
					  .sh_size = sizeof(image->strings)};
	image->sections[4] = (Elf64_Shdr){.sh_name = 23,
					  .sh_type = SHT_STRTAB,
					  .sh_offset = offsetof(struct image, names),
					  .sh_size = sizeof(image->names)};
	image->sections[5] = (Elf64_Shdr){.sh_name = 33,
					  .sh_type = SHT_NOTE,
					  .sh_offset = offsetof(struct image, note),
					  .sh_size = sizeof(image->note)};
	image->sections[6] = (Elf64_Shdr){.sh_name = 52,
					  .sh_type = SHT_PROGBITS,
					  .sh_offset = offsetof(struct image, link),
					  .sh_size = sizeof(image->link)};
	image->symbols[1] = (Elf64_Sym){.st_name = 1,
					.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					.st_value = 0x401010,
					.st_size = 16,
					.st_shndx = 1};
	image->note.head = (Elf64_Nhdr){4, 20, NT_GNU_BUILD_ID};
	memcpy(image->note.name, "GNU", 4);
	memset(image->note.id, 0xab, 20);
}

static void reads_tables(void **state)
{
	struct image image;
	struct elf elf;
	struct elf_section section;
	struct elf_symbols table;
	struct elf_symbol symbol;
	struct elf_segment segment;
	uint8_t id[20];

	make(&image);
	assert_int_equal(elf_init(&elf, (const uint8_t *)&image, sizeof(image)), 0);
	assert_int_equal(elf.sections_n, 7);
	assert_true(elf_find_section(&elf, ".symtab", &section));
	assert_true(elf_symbols_init(&table, &elf, &section));
	assert_int_equal(table.n, 3);
	elf_symbol(&table, 1, &symbol);
	assert_string_equal(symbol.name, "main");
	assert_int_equal(symbol.value, 0x401010);
	assert_int_equal(symbol.binding, STB_GLOBAL);
	assert_int_equal(symbol.type, STT_FUNC);
	assert_true(elf_segment_of(&elf, symbol.value, &segment));
	assert_int_equal(segment.offset, 0x1000);
	assert_false(elf_segment_of(&elf, 0x402000, &segment));
	assert_int_equal(elf_build_id(&elf, id), 20);
	assert_int_equal(id[19], 0xab);
	assert_string_equal(elf_debuglink(&elf, &(uint32_t){0}), "x.debug");
	assert_true(elf_find_section(&elf, ".text", &section));
	assert_int_equal(elf_content(&elf, &section).n, 0);
	assert_false(elf_find_section(&elf, ".nothing", &section));
}

static void finds_functions(void **state)
{
	struct image image;
	struct elf elf;
	struct elf_section section;
	uint64_t addr = 0;

	make(&image);
	// Of two versions the second one is what programs get.
	memcpy(image.strings, "\0f@1\0f@@2\0data", 15);
	image.symbols[2] = image.symbols[1];
	image.symbols[2].st_name = 5;
	image.symbols[2].st_value = 0x401020;
	assert_int_equal(elf_init(&elf, (const uint8_t *)&image, sizeof(image)), 0);
	assert_true(elf_find_section(&elf, ".symtab", &section));
	assert_true(elf_find_function(&elf, &section, STR("f"), &addr));
	assert_int_equal(addr, 0x401020);
	assert_false(elf_find_function(&elf, &section, STR(""), &addr));
	image.symbols[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	assert_true(elf_find_function(&elf, &section, STR("f"), &addr));
	assert_int_equal(addr, 0x401010);
	image.symbols[1].st_shndx = SHN_UNDEF;
	assert_false(elf_find_function(&elf, &section, STR("f"), &addr));
}

static void refuses_what_lies_outside(void **state)
{
	struct image image;
	struct elf_section section;
	struct elf_symbols table;
	struct elf elf;
	uint8_t id[20];

	make(&image);
	assert_int_equal(elf_init(&elf, (const uint8_t *)&image, 10), -EINVAL);
	assert_int_equal(elf_init(&elf, (const uint8_t *)"\177ELF", 4), -EINVAL);
	image.header.e_shnum = 60000;
	assert_int_equal(elf_init(&elf, (const uint8_t *)&image, sizeof(image)), 0);
	assert_int_equal(elf.sections_n, 0);
	make(&image);
	image.sections[2].sh_size = 1 << 30;
	image.note.head.n_descsz = UINT32_MAX;
	assert_int_equal(elf_init(&elf, (const uint8_t *)&image, sizeof(image)), 0);
	assert_true(elf_find_section(&elf, ".symtab", &section));
	assert_false(elf_symbols_init(&table, &elf, &section));
	assert_int_equal(elf_build_id(&elf, id), 0);
}

static void every_cut_is_safe(void **state)
{
	struct image image;

	make(&image);
	for (size_t n = 0; n <= sizeof(image); n++) {
		uint8_t *copy = xmemdup(&image, n ? n : 1), id[20];
		struct elf_section section;
		struct elf elf;

		if (elf_init(&elf, copy, n) == 0) {
			elf_find_section(&elf, ".symtab", &section);
			elf_build_id(&elf, id);
			elf_debuglink(&elf, &(uint32_t){0});
		}
		free(copy);
	}
}

RUN_TESTS(TEST(reads_tables), TEST(finds_functions), TEST(refuses_what_lies_outside),
	  TEST(every_cut_is_safe))
