// SPDX-License-Identifier: GPL-2.0-or-later
// A relocatable image made here: which relocations count, and that made up ones do no harm.
#include "obj/relocate.h"
#include "base/alloc.h"
#include "base/test.h"

enum {
	NO_SECTION,
	TEXT,
	COLD,
	INFO,
	SYMBOLS,
	STRINGS,
	TABLE,
	OTHER_TABLES, // name the same bytes
	MOST_TABLES = 1000,
	SECTIONS = OTHER_TABLES + MOST_TABLES,
	INFO_BYTES = 64,
	TEXT_BYTES = 100,
	COLD_BASE = 128, // behind .text, aligned to 64
	MOST_ENTRIES = 64,
};

struct image {
	Elf64_Ehdr header;
	char names[64];
	Elf64_Sym symbols[4];
	Elf64_Rela table[MOST_ENTRIES];
	uint8_t info[INFO_BYTES];
	Elf64_Shdr sections[SECTIONS];
};

static const char texts[] = "\0.text\0.cold\0.info\0";
enum { NAME_TEXT = 1, NAME_COLD = 7, NAME_INFO = 13 };

static void put_section(struct image *image, unsigned at, Elf64_Shdr section)
{
	image->sections[at] = section;
}

static void make(struct image *image, unsigned entries_n, unsigned tables_n)
{
	memset(image, 0, sizeof(*image));
	memcpy(image->header.e_ident, ELFMAG, SELFMAG);
	image->header.e_ident[EI_CLASS] = ELFCLASS64;
	image->header.e_ident[EI_DATA] =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	image->header.e_type = ET_REL;
	image->header.e_machine = EM_X86_64;
	image->header.e_shoff = offsetof(struct image, sections);
	image->header.e_shentsize = sizeof(Elf64_Shdr);
	image->header.e_shnum = (Elf64_Half)(TABLE + tables_n);
	image->header.e_shstrndx = STRINGS;
	memcpy(image->names, texts, sizeof(texts));
	image->symbols[1] = (Elf64_Sym){.st_shndx = TEXT, .st_value = 5};
	image->symbols[2] = (Elf64_Sym){.st_shndx = COLD, .st_value = 7};
	image->symbols[3] = (Elf64_Sym){.st_shndx = SHN_UNDEF};
	put_section(image, TEXT,
		    (Elf64_Shdr){.sh_name = NAME_TEXT,
				 .sh_type = SHT_NOBITS,
				 .sh_flags = SHF_ALLOC,
				 .sh_size = TEXT_BYTES});
	put_section(image, COLD,
		    (Elf64_Shdr){.sh_name = NAME_COLD,
				 .sh_type = SHT_NOBITS,
				 .sh_flags = SHF_ALLOC,
				 .sh_size = TEXT_BYTES});
	put_section(image, INFO,
		    (Elf64_Shdr){.sh_name = NAME_INFO,
				 .sh_type = SHT_PROGBITS,
				 .sh_offset = offsetof(struct image, info),
				 .sh_size = INFO_BYTES});
	put_section(image, SYMBOLS,
		    (Elf64_Shdr){.sh_type = SHT_SYMTAB,
				 .sh_offset = offsetof(struct image, symbols),
				 .sh_size = sizeof(image->symbols),
				 .sh_entsize = sizeof(Elf64_Sym),
				 .sh_link = STRINGS});
	put_section(image, STRINGS,
		    (Elf64_Shdr){.sh_type = SHT_STRTAB,
				 .sh_offset = offsetof(struct image, names),
				 .sh_size = sizeof(image->names)});
	for (unsigned i = 0; i < tables_n; i++)
		put_section(image, TABLE + i,
			    (Elf64_Shdr){.sh_type = SHT_RELA,
					 .sh_offset = offsetof(struct image, table),
					 .sh_size = entries_n * sizeof(Elf64_Rela),
					 .sh_entsize = sizeof(Elf64_Rela),
					 .sh_link = SYMBOLS,
					 .sh_info = INFO});
}

static struct elf elf_of(const struct image *image)
{
	struct elf elf;

	assert_int_equal(elf_init(&elf, (const uint8_t *)image, sizeof(*image)), 0);
	return elf;
}

struct entry {
	const char *name;
	uint32_t type, symbol;
	int64_t addend;
	uint64_t offset;
	uint64_t expected; // the 8 bytes at 16, which were all 0xee
};

static const struct entry entries[] = {
	{"address", R_X86_64_64, 1, 3, 16, 8},
	{"behind .text", R_X86_64_64, 2, 3, 16, COLD_BASE + 10},
	{"four bytes", R_X86_64_32, 2, 0, 16, 0xeeeeeeee00000000 | (COLD_BASE + 7)},
	{"distance", R_X86_64_PC32, 1, 0, 16, 0xeeeeeeee00000000 | (uint32_t)(5 - 16)},
	{"no symbol", R_X86_64_64, 0, -1, 16, ~0ull},
	{"symbol of another file", R_X86_64_64, 3, 9, 16, 0xeeeeeeeeeeeeeeee},
	{"symbol that isn't there", R_X86_64_64, 4, 9, 16, 0xeeeeeeeeeeeeeeee},
	{"unknown kind", R_X86_64_GOTPCREL, 1, 9, 16, 0xeeeeeeeeeeeeeeee},
	{"last bytes", R_X86_64_64, 1, 9, INFO_BYTES - 8, 0xeeeeeeeeeeeeeeee},
	{"beyond the end", R_X86_64_64, 1, 9, INFO_BYTES - 7, 0xeeeeeeeeeeeeeeee},
	{"far beyond the end", R_X86_64_64, 1, 9, UINT64_MAX - 3, 0xeeeeeeeeeeeeeeee},
};

static void each_kind(void **state)
{
	static struct image image;

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		const struct entry *entry = &entries[i];
		uint8_t bytes[INFO_BYTES];
		struct relocate relocate;
		uint64_t found;
		struct elf elf;

		make(&image, 1, 1);
		image.table[0] =
			(Elf64_Rela){.r_offset = entry->offset,
				     .r_info = ELF64_R_INFO((uint64_t)entry->symbol, entry->type),
				     .r_addend = entry->addend};
		memset(bytes, 0xee, sizeof(bytes));
		elf = elf_of(&image);
		relocate_init(&relocate, &elf);
		assert_true(relocate_wanted(&relocate, INFO));
		assert_false(relocate_wanted(&relocate, TEXT));
		relocate_apply(&relocate, &elf, &(struct relocate_bytes){INFO, bytes, sizeof(bytes)});
		memcpy(&found, bytes + 16, 8);
		if (found != entry->expected)
			fail_msg("%s: %#llx", entry->name, (unsigned long long)found);
		memcpy(&found, bytes + INFO_BYTES - 8, 8);
		assert_int_equal(found, entry->offset == INFO_BYTES - 8 ? 14 : 0xeeeeeeeeeeeeeeee);
		relocate_done(&relocate);
	}
}

struct pair {
	const char *name;
	uint32_t first, second;	   // kinds of relocations of the same place
	uint64_t before, expected; // of the 8 bytes at 16, lowest byte first
};

// Of the address COLD_BASE + 7 + 3 and 5 + 2: their distance is COLD_BASE + 3 = 0x83.
static const struct pair pairs[] = {
	{"ADD64", R_RISCV_ADD64, R_RISCV_SUB64, 0x100000000, 0x100000083},
	{"ADD32", R_RISCV_ADD32, R_RISCV_SUB32, 0xeeeeeeee00000000, 0xeeeeeeee00000083},
	{"ADD16", R_RISCV_ADD16, R_RISCV_SUB16, 0xeeeeee001, 0xeeeeee084},
	{"ADD8", R_RISCV_ADD8, R_RISCV_SUB8, 0xee01, 0xee84},
	{"SET32", R_RISCV_SET32, R_RISCV_SUB32, 0x11eeeeeeee, 0x1100000083},
	{"SET16", R_RISCV_SET16, R_RISCV_SUB16, 0x11eeee, 0x110083},
	{"SET8", R_RISCV_SET8, R_RISCV_SUB8, 0x11ee, 0x1183},
	{"six bits of a byte", R_RISCV_SET6, R_RISCV_SUB6, 0x117f, 0x1143},
	{"two bytes of ULEB128", 60, 61, 0x117fff, 0x110183},
	{"ULEB128 with more bytes than it needs", 60, 61, 0x11008080, 0x11008183},
	{"ULEB128 in one byte, which has no place for it", 60, 61, 0x1100, 0x1103},
	{"ULEB128 without an end", 60, 61, 0xffffffffffffffff, 0xffffffffffffffff},
};

static void distances(void **state)
{
	static struct image image;

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		const struct pair *pair = &pairs[i];
		uint8_t bytes[INFO_BYTES];
		struct relocate relocate;
		uint64_t found = 0;
		struct elf elf;

		make(&image, 2, 1);
		image.header.e_machine = EM_RISCV;
		image.table[0] = (Elf64_Rela){16, ELF64_R_INFO(2ull, pair->first), 3};
		image.table[1] = (Elf64_Rela){16, ELF64_R_INFO(1ull, pair->second), 2};
		memset(bytes, 0xff, sizeof(bytes));
		for (unsigned k = 0; k < 8; k++)
			bytes[16 + k] = (uint8_t)(pair->before >> 8 * k);
		elf = elf_of(&image);
		relocate_init(&relocate, &elf);
		relocate_apply(&relocate, &elf, &(struct relocate_bytes){INFO, bytes, sizeof(bytes)});
		for (unsigned k = 0; k < 8; k++)
			found |= (uint64_t)bytes[16 + k] << 8 * k;
		if (found != pair->expected)
			fail_msg("%s: %#llx", pair->name, (unsigned long long)found);
		relocate_done(&relocate);
	}
}

static void addresses_of_sections(void **state)
{
	static struct image image;
	struct relocate relocate;
	uint64_t addr;
	struct elf elf;

	make(&image, 0, 1);
	elf = elf_of(&image);
	relocate_init(&relocate, &elf);
	addr = 9;
	assert_true(relocate_address(&relocate, &elf, TEXT, &addr));
	assert_int_equal(addr, 9);
	addr = 9;
	assert_true(relocate_address(&relocate, &elf, COLD, &addr));
	assert_int_equal(addr, COLD_BASE + 9);
	addr = 9;
	assert_false(relocate_address(&relocate, &elf, INFO, &addr));
	addr = 9;
	assert_false(relocate_address(&relocate, &elf, UINT32_MAX, &addr));
	relocate_done(&relocate);

	image.header.e_type = ET_EXEC;
	elf = elf_of(&image);
	relocate_init(&relocate, &elf);
	assert_false(relocate_wanted(&relocate, INFO));
	addr = 9;
	assert_false(relocate_address(&relocate, &elf, TEXT, &addr));
	relocate_done(&relocate);
}

// A thousand tables that are the same bytes are not a thousand times the work.
static void work_is_bounded(void **state)
{
	static struct image image;
	uint8_t bytes[INFO_BYTES] = {0};
	struct relocate relocate;
	struct elf elf;

	make(&image, MOST_ENTRIES, MOST_TABLES);
	elf = elf_of(&image);
	relocate_init(&relocate, &elf);
	assert_true(relocate.budget < (uint64_t)MOST_ENTRIES * MOST_TABLES);
	relocate_apply(&relocate, &elf, &(struct relocate_bytes){INFO, bytes, sizeof(bytes)});
	assert_int_equal(relocate.budget, 0);
	relocate_done(&relocate);
}

RUN_TESTS(TEST(each_kind), TEST(distances), TEST(addresses_of_sections), TEST(work_is_bounded))
