// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/code.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include "base/err.h"
#include "obj/names.h"
#include "sym/load.h"

enum { MOST_CODE = 64 << 20, MOST_HEADERS = 1 << 20 };

struct code {
	struct sym *sym;
	struct dso *dso;
	struct elf_source source, debug;
	bool has_source, has_debug, has_names;
	struct names names;
	// the kernel's memory, in place of a file
	int kcore;
	struct elf kcore_elf; // only its headers lie in memory
	uint8_t *kcore_headers;
	char *kcore_path;
	VEC(uint8_t *) copies;
	// where the last code read lies, to turn addresses back
	uint64_t delta; // address of the file - address in symbol space
};

static bool has_symtab(const struct elf_source *source)
{
	return source->has_symtab;
}

static void no_kernel(const struct dso *dso)
{
	char id[41] = "";

	if (dso->build_id.n)
		build_id_text(&dso->build_id, id);
	fail(ENOENT,
	     "the kernel's code is not here (build-id %s): give its vmlinux with -k FILE, %sor record with --kcore",
	     *id ? id : "unknown", geteuid() ? "or run as root where /proc/kcore is, " : "");
}

static bool is_kallsyms(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && !strncmp(slash, "/kallsyms", 9);
}

// /proc/kcore for the running kernel's symbols; beside other kallsyms the copy that belongs to them.
static int open_kcore(struct code *code)
{
	const char *symbols = code->dso->symbols_path;
	const struct sym *sym = code->sym;
	ssize_t n;

	if (!symbols) {
		for (size_t i = 0; i < sym->dsos.n && !symbols; i++) {
			if (sym->dsos.v[i]->kind == DSO_KERNEL)
				symbols = sym->dsos.v[i]->symbols_path;
		}
	}
	if (!is_kallsyms(symbols)) {
		no_kernel(code->dso);
		return -ENOENT;
	}
	code->kcore_path =
		text_dup_fmt("%.*s/kcore", (int)(strrchr(symbols, '/') - symbols), symbols);
	code->kcore = open(code->kcore_path, O_RDONLY | O_CLOEXEC);
	if (code->kcore < 0) {
		no_kernel(code->dso);
		return -ENOENT;
	}
	code->kcore_headers = xmalloc(MOST_HEADERS);
	n = pread(code->kcore, code->kcore_headers, MOST_HEADERS, 0);
	if (n < 0 || elf_init(&code->kcore_elf, code->kcore_headers, (size_t)n) < 0)
		return fail(ENOENT, "%s can't be read as the kernel's memory", code->kcore_path);
	return 0;
}

static bool is_kernel(const struct dso *dso)
{
	return dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE;
}

static int open_file(struct code *code)
{
	struct dso *dso = code->dso;

	if (is_kernel(dso)) {
		if (!dso->symbols_path || is_kallsyms(dso->symbols_path))
			return open_kcore(code);
		code->has_source =
			source_open(code->sym, dso, dso->symbols_path, &code->source) == SOURCE_OK;
	} else if (dso->kind == DSO_USER || dso->kind == DSO_VDSO) {
		code->has_source = source_open_mapped(code->sym, dso, &code->source);
	} else {
		return fail(ENOENT,
			    "the code of %s is not in a file: it was made while the program ran",
			    dso->long_name);
	}
	if (!code->has_source)
		return fail(ENOENT,
			    "the file %s is not here as it was recorded: `sonde archive` where it was recorded takes it along",
			    dso->long_name);
	return 0;
}

int code_new(struct code **ret, struct sym *sym, struct dso *dso)
{
	struct code *code = NEW(struct code);
	int err;

	code->sym = sym;
	code->dso = dso;
	code->kcore = -1;
	(void)dso_find_symbol(sym, dso, 0); // loads its symbols
	err = open_file(code);
	if (err < 0) {
		code_free(code);
		return err;
	}
	*ret = code;
	return 0;
}

void code_free(struct code *code)
{
	if (!code)
		return;
	if (code->has_names)
		names_done(&code->names);
	source_done(&code->source);
	source_done(&code->debug);
	for (size_t i = 0; i < code->copies.n; i++)
		free(code->copies.v[i]);
	vec_done(&code->copies);
	if (code->kcore >= 0)
		close(code->kcore);
	free(code->kcore_headers);
	free(code->kcore_path);
	free(code);
}

const char *code_path(const struct code *code)
{
	if (code->has_source && text_starts(code->source.path, HELD_FOLDER))
		return code->dso->long_name;
	return code->has_source ? code->source.path : code->kcore_path;
}

// The names are read when they are first asked for.
static struct names *names_of(struct code *code)
{
	if (code->has_names || !code->has_source)
		return &code->names;
	code->has_names = true;
	if (!code->source.has_symtab)
		code->has_debug = dso_find_file(code->sym, code->dso, has_symtab, &code->debug);
	names_init(&code->names, &code->source.elf, code->has_debug ? &code->debug.elf : NULL);
	if (code->sym->options.functions)
		names_add_functions(&code->names, &code->source.elf, code->dso->short_name);
	code->names.no_demangle = code->sym->options.no_demangle;
	return &code->names;
}

static void describe(const struct elf *elf, struct code_bytes *ret)
{
	ret->machine = elf->machine;
	ret->is_64bit = elf->is_64bit;
	ret->big_endian = elf->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static int read_kcore(struct code *code, uint64_t start, uint64_t end, struct code_bytes *ret)
{
	const struct mapping *map = NULL;
	struct elf_segment segment = {0};
	uint64_t size;
	uint8_t *copy;
	ssize_t n;

	for (size_t i = 0; i < code->sym->kernel->maps.n && !map; i++) {
		if (code->sym->kernel->maps.v[i]->dso == code->dso)
			map = code->sym->kernel->maps.v[i];
	}
	code->delta = map && !map->identity ? map->start - map->pgoff : 0;
	start += code->delta;
	end += code->delta;
	for (uint32_t i = 0; elf_segment(&code->kcore_elf, i, &segment); i++) {
		if (segment.type == PT_LOAD && start - segment.vaddr < segment.file_size)
			break;
		segment.file_size = 0;
	}
	if (!segment.file_size || start - segment.vaddr >= segment.file_size)
		return fail(ENOENT, "%s has no code at %#llx", code->kcore_path,
			    (unsigned long long)start);
	// A function that goes on behind the segment ends with it.
	size = MIN(end - start, segment.file_size - (start - segment.vaddr));
	copy = xmalloc(size);
	vec_push(&code->copies, copy);
	n = pread(code->kcore, copy, size, (off_t)(segment.offset + (start - segment.vaddr)));
	if (n <= 0)
		return fail(ENOENT, "can't read the kernel's code from %s", code->kcore_path);
	*ret = (struct code_bytes){
		.bytes = {(const char *)copy, (size_t)n},
		.addr = start,
		.wanted = end - start,
		.section = "load0",
	};
	describe(&code->kcore_elf, ret);
	return 0;
}

static bool find_section(const struct elf *elf, uint64_t offset, struct elf_section *ret)
{
	for (uint32_t i = 1; elf_section(elf, i, ret); i++) {
		if (ret->type == SHT_PROGBITS && ret->flags & SHF_ALLOC && ret->offset <= offset &&
		    offset - ret->offset < ret->size)
			return true;
	}
	return false;
}

// Without section headers: by what is loaded.
static bool find_segment(const struct elf *elf, uint64_t offset, struct elf_section *ret)
{
	struct elf_segment segment;

	for (uint32_t i = 0; elf_segment(elf, i, &segment); i++) {
		if (segment.type == PT_LOAD && segment.offset <= offset &&
		    offset - segment.offset < segment.file_size) {
			*ret = (struct elf_section){.name = "",
						    .addr = segment.vaddr,
						    .offset = segment.offset,
						    .size = segment.file_size};
			return true;
		}
	}
	return false;
}

int code_read(struct code *code, uint64_t start, uint64_t end, struct code_bytes *ret)
{
	const struct elf *elf = &code->source.elf;
	struct elf_section section;
	uint64_t n;

	if (end <= start || end - start > MOST_CODE)
		return fail(ENOENT, "a function of %llu bytes in %s can't be",
			    (unsigned long long)(end - start), code->dso->long_name);
	if (!code->has_source)
		return read_kcore(code, start, end, ret);
	if ((!find_section(elf, start, &section) && !find_segment(elf, start, &section)) ||
	    section.offset >= elf->n)
		return fail(ENOENT, "%s has no code at %#llx", code->source.path,
			    (unsigned long long)start);
	n = MIN(end, section.offset + section.size) - start;
	n = start < elf->n ? MIN(n, elf->n - start) : 0;
	code->delta = section.addr - section.offset;
	*ret = (struct code_bytes){
		.bytes = {(const char *)elf->p + start, (size_t)n},
		.addr = start + code->delta,
		.wanted = end - start,
		.section = section.name,
		.section_index = section.index,
	};
	describe(elf, ret);
	return n ? 0
		 : fail(ENOENT, "%s ends before %#llx", code->source.path, (unsigned long long)start);
}

static const char *kernel_name(struct code *code, uint64_t addr, uint64_t *ret_offset)
{
	struct location location;

	location = sym_resolve(code->sym, NULL, PERF_RECORD_MISC_KERNEL, addr);
	if (!location.sym)
		return NULL;
	*ret_offset = location.addr - location.sym->start;
	return location.sym->name;
}

const char *code_name(struct code *code, uint64_t addr, uint64_t *ret_offset)
{
	return code->has_source ? names_find(names_of(code), addr, ret_offset)
				: kernel_name(code, addr, ret_offset);
}

bool code_next_name(const struct code *code, uint64_t addr, uint32_t section, uint64_t *ret)
{
	return code->has_names && names_next(&code->names, addr, section, ret);
}

const char *code_function(const struct code *code, uint64_t addr)
{
	return code->has_names ? names_function(&code->names, addr) : NULL;
}
