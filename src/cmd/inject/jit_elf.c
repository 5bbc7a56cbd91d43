// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/inject/jit_elf.h"
#include <elf.h>
#include "base/file.h"
#include "base/hash.h"
#include "base/out.h"

enum section {
	NONE,
	TEXT,
	EH_FRAME,
	EH_FRAME_HDR,
	SHSTRTAB,
	SYMTAB,
	STRTAB,
	BUILD_ID,
	DEBUG_LINE,
	DEBUG_INFO,
	DEBUG_ABBREV,
	SECTIONS
};

static const char *const names[SECTIONS] = {
	[NONE] = "",
	[TEXT] = ".text",
	[EH_FRAME] = ".eh_frame",
	[EH_FRAME_HDR] = ".eh_frame_hdr",
	[SHSTRTAB] = ".shstrtab",
	[SYMTAB] = ".symtab",
	[STRTAB] = ".strtab",
	[BUILD_ID] = ".note.gnu.build-id",
	[DEBUG_LINE] = ".debug_line",
	[DEBUG_INFO] = ".debug_info",
	[DEBUG_ABBREV] = ".debug_abbrev",
};

struct image {
	struct out out;
	Elf64_Shdr sections[SECTIONS];
};

static void align(struct image *image, size_t to)
{
	out_fill(&image->out, 0, (to - image->out.n % to) % to);
}

static const struct {
	uint32_t type, flags, align;
} kinds[SECTIONS] = {
	[TEXT] = {SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 1},
	[EH_FRAME] = {SHT_PROGBITS, SHF_ALLOC, 8},
	[EH_FRAME_HDR] = {SHT_PROGBITS, SHF_ALLOC, 4},
	[SHSTRTAB] = {SHT_STRTAB, 0, 1},
	[SYMTAB] = {SHT_SYMTAB, 0, 8},
	[STRTAB] = {SHT_STRTAB, 0, 1},
	[BUILD_ID] = {SHT_NOTE, SHF_ALLOC, 4},
	[DEBUG_LINE] = {SHT_PROGBITS, 0, 1},
	[DEBUG_INFO] = {SHT_PROGBITS, 0, 1},
	[DEBUG_ABBREV] = {SHT_PROGBITS, 0, 1},
};

static void start(struct image *image, enum section section)
{
	Elf64_Shdr *s = &image->sections[section];

	align(image, kinds[section].align);
	s->sh_type = kinds[section].type;
	s->sh_flags = kinds[section].flags;
	s->sh_addralign = kinds[section].align;
	s->sh_offset = image->out.n;
	s->sh_addr = s->sh_flags & SHF_ALLOC ? image->out.n : 0;
}

static void end(struct image *image, enum section section)
{
	image->sections[section].sh_size = image->out.n - image->sections[section].sh_offset;
}

static void put_u16(struct out *out, uint16_t v)
{
	out_bytes(out, &v, 2);
}

static void put_u32(struct out *out, uint32_t v)
{
	out_bytes(out, &v, 4);
}

static void put_u64(struct out *out, uint64_t v)
{
	out_bytes(out, &v, 8);
}

static void put_uleb(struct out *out, uint64_t v)
{
	do {
		out_char(out, (char)((v & 127) | (v > 127 ? 128 : 0)));
		v >>= 7;
	} while (v);
}

static void put_sleb(struct out *out, int64_t v)
{
	for (bool more = true; more; v >>= 7) {
		uint8_t byte = v & 127;

		more = !((v >> 7 == 0 && !(byte & 64)) || (v >> 7 == -1 && (byte & 64)));
		out_char(out, (char)(byte | (more ? 128 : 0)));
	}
}

// Line entries with their files by number. Compilers mostly stay in one file, some repeat it as "\xff".
struct lines {
	VEC(struct jit_line) lines;
	VEC(uint32_t) files_of; // per line: from 1
	VEC(const char *) files;
};

static void read_lines(const struct jitdump *dump, const struct jit_code *code, struct lines *ret)
{
	enum { MOST_FILES = 1000 };
	struct str rest = code->lines;
	struct jit_line line;

	while (jit_line_next(dump, &rest, &line)) {
		size_t file = 0;

		if (line.addr < code->addr || line.addr - code->addr > code->size)
			continue;
		if (strcmp(line.file, "\xff") == 0) {
			file = ret->files_of.n ? vec_last(&ret->files_of) : 0;
		} else {
			while (file < ret->files.n && strcmp(ret->files.v[file], line.file))
				file++;
			if (file == ret->files.n && file < MOST_FILES)
				vec_push(&ret->files, line.file);
			file++;
		}
		if (!file || file > ret->files.n)
			continue;
		vec_push(&ret->lines, line);
		vec_push(&ret->files_of, (uint32_t)file);
	}
}

static void patch_u32(struct out *out, size_t at, size_t v)
{
	const uint32_t value = (uint32_t)v;

	memcpy(out->buf + at, &value, 4);
}

// DWARF 3: standard opcodes only, which every reader knows.
static void put_line_table(struct image *image, const struct jit_code *code, const struct lines *lines)
{
	enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN };
	enum { END_SEQUENCE = 1, SET_ADDRESS };
	static const char opcodes[] = {0, 1, 1, 1, 1, 0, 0, 0, 1};
	struct out *out = &image->out;
	size_t length_at = out->n, header_at;
	uint64_t at = 0;
	uint32_t line = 1, file = 1, column = 0;

	put_u32(out, 0);
	put_u16(out, 3);
	header_at = out->n;
	put_u32(out, 0);
	out_bytes(out, "\1\1\xfb\16\12", 5); // instruction size, is_stmt, line base and range, opcodes
	out_bytes(out, opcodes, sizeof(opcodes));
	out_char(out, 0); // no folders
	for (size_t i = 0; i < lines->files.n; i++) {
		out_bytes(out, lines->files.v[i], strlen(lines->files.v[i]) + 1);
		out_bytes(out, "\0\0\0", 3);
	}
	out_char(out, 0);
	patch_u32(out, header_at, out->n - header_at - 4);
	out_char(out, 0);
	out_char(out, 9);
	out_char(out, SET_ADDRESS);
	put_u64(out, JIT_ELF_TEXT);
	for (size_t i = 0; i < lines->lines.n; i++) {
		const struct jit_line *entry = &lines->lines.v[i];
		uint64_t to = entry->addr - code->addr;

		if (to < at)
			continue;
		if (lines->files_of.v[i] != file) {
			file = lines->files_of.v[i];
			out_char(out, SET_FILE);
			put_uleb(out, file);
		}
		if (entry->column != column) {
			column = entry->column;
			out_char(out, SET_COLUMN);
			put_uleb(out, column);
		}
		out_char(out, ADVANCE_LINE);
		put_sleb(out, (int64_t)entry->line - (int64_t)line);
		line = entry->line;
		out_char(out, ADVANCE_PC);
		put_uleb(out, to - at);
		at = to;
		out_char(out, COPY);
	}
	out_char(out, ADVANCE_PC);
	put_uleb(out, code->size - at);
	out_bytes(out, "\0\1", 2);
	out_char(out, END_SEQUENCE);
	patch_u32(out, length_at, out->n - length_at - 4);
}

static void put_debug(struct image *image, const struct jit_code *code, const struct lines *lines)
{
	// One compile unit without children: name, low_pc, high_pc, stmt_list.
	static const char abbrev[] = "\1\x11\0\x03\x08\x11\1\x12\1\x10\x06\0\0";
	struct out *out = &image->out;
	size_t length_at;

	start(image, DEBUG_LINE);
	put_line_table(image, code, lines);
	end(image, DEBUG_LINE);
	start(image, DEBUG_INFO);
	length_at = out->n;
	put_u32(out, 0);
	put_u16(out, 3);
	put_u32(out, 0);
	out_char(out, 8);
	put_uleb(out, 1);
	out_bytes(out, lines->files.v[0], strlen(lines->files.v[0]) + 1);
	put_u64(out, JIT_ELF_TEXT);
	put_u64(out, JIT_ELF_TEXT + code->size);
	put_u32(out, 0);
	patch_u32(out, length_at, out->n - length_at - 4);
	end(image, DEBUG_INFO);
	start(image, DEBUG_ABBREV);
	out_bytes(out, abbrev, sizeof(abbrev));
	end(image, DEBUG_ABBREV);
}

static void put_symbols(struct image *image, const struct jit_code *code)
{
	const Elf64_Sym symbols[2] = {
		{0},
		{.st_name = 1,
		 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		 .st_shndx = TEXT,
		 .st_value = JIT_ELF_TEXT,
		 .st_size = code->size},
	};

	start(image, SYMTAB);
	out_bytes(&image->out, symbols, sizeof(symbols));
	end(image, SYMTAB);
	image->sections[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	image->sections[SYMTAB].sh_link = STRTAB;
	image->sections[SYMTAB].sh_info = 1; // the first global one
	start(image, STRTAB);
	out_char(&image->out, 0);
	out_bytes(&image->out, code->name, strlen(code->name) + 1);
	end(image, STRTAB);
}

// Of code and name: the same code made twice has the same id.
static void put_build_id(struct image *image, const struct jit_code *code)
{
	uint64_t hash[3] = {hash_bytes(code->code.p, code->code.n),
			    hash_bytes(code->name, strlen(code->name)), code->index};

	hash[1] = hash_mix(hash[0], hash[1]);
	hash[2] = hash_mix(hash[1], hash[2]);
	start(image, BUILD_ID);
	put_u32(&image->out, 4);
	put_u32(&image->out, 20);
	put_u32(&image->out, NT_GNU_BUILD_ID);
	out_bytes(&image->out, "GNU", 4);
	out_bytes(&image->out, hash, 20);
	end(image, BUILD_ID);
}

static void put_names(struct image *image)
{
	start(image, SHSTRTAB);
	for (size_t i = 0; i < SECTIONS; i++) {
		image->sections[i].sh_name =
			(uint32_t)(image->out.n - image->sections[SHSTRTAB].sh_offset);
		out_bytes(&image->out, names[i], strlen(names[i]) + 1);
	}
	end(image, SHSTRTAB);
}

static void put_heads(struct image *image, const struct jitdump *dump, const struct jit_code *code)
{
	Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = (uint16_t)dump->machine,
		.e_version = EV_CURRENT,
		.e_entry = JIT_ELF_TEXT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = SHSTRTAB,
	};
	const uint64_t mapped = code->size + code->eh_frame.n + code->eh_frame_hdr.n;
	const Elf64_Phdr segment = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = JIT_ELF_TEXT,
		.p_vaddr = JIT_ELF_TEXT,
		.p_paddr = JIT_ELF_TEXT,
		.p_filesz = mapped,
		.p_memsz = mapped,
		.p_align = 8,
	};

	align(image, 8);
	head.e_shoff = image->out.n;
	out_bytes(&image->out, image->sections, sizeof(image->sections));
	memcpy(image->out.buf, &head, sizeof(head));
	memcpy(image->out.buf + sizeof(head), &segment, sizeof(segment));
}

int jit_elf_write(const char *path, const struct jitdump *dump, const struct jit_code *code,
		  uint64_t *ret_size)
{
	struct image image = {0};
	struct lines lines = {0};
	int err;

	_Static_assert(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) <= JIT_ELF_TEXT, "heads before code");
	out_init_memory(&image.out);
	out_fill(&image.out, 0, JIT_ELF_TEXT);
	start(&image, TEXT);
	out_bytes(&image.out, code->code.p, code->code.n);
	end(&image, TEXT);
	// .eh_frame_hdr points to .eh_frame by their distance: header behind frames, as the compilers assume.
	if (code->eh_frame.n) {
		start(&image, EH_FRAME);
		out_bytes(&image.out, code->eh_frame.p, code->eh_frame.n);
		end(&image, EH_FRAME);
		start(&image, EH_FRAME_HDR);
		out_bytes(&image.out, code->eh_frame_hdr.p, code->eh_frame_hdr.n);
		end(&image, EH_FRAME_HDR);
	}
	*ret_size = image.out.n - JIT_ELF_TEXT;
	put_symbols(&image, code);
	put_build_id(&image, code);
	read_lines(dump, code, &lines);
	if (lines.lines.n)
		put_debug(&image, code, &lines);
	put_names(&image);
	put_heads(&image, dump, code);
	err = file_write(path, image.out.buf, image.out.n);
	vec_done(&lines.lines);
	vec_done(&lines.files_of);
	vec_done(&lines.files);
	out_done(&image.out);
	return err;
}
