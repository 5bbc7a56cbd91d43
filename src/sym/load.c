// SPDX-License-Identifier: GPL-2.0-or-later
// Where the bytes of a file are looked for: sym/seen.c answers for what the process saw (containers, replaced files),
// sym/load.c for the build-id cache and the archive beside the recording (flow/archive.c unpacks it once into sonde's cache, or
// into a folder that goes at the end where there is none). A build-id that the recording has is always compared; where it has
// none, sym/identity says whether a file can be the one that ran (inode, times, a hash of its content that record notes). Live,
// sym/held opens files when they are mapped, as their names may lead elsewhere later; the oldest of 1024 is closed for a new
// one. What no process has mapped for three seconds is closed (held_age), so that no watcher keeps a file system from being
// unmounted (record --archive and --overwrite do, as they need it at the end). record has an event without samples for that,
// whose rings wake up at each map (cmd/core/record/early): the other rings wake up when they are half full. A program's text
// that it maps over with anonymous memory of the same bytes (huge pages) is followed by a record of the file (flow/moved_text),
// so each reader of the recording knows whose it is. Before the first debuginfod server is asked, flow/fetch counts samples by
// file and asks for the files with the most first, as the wait is bounded. JIT code is a map of its jitdump, from the time when
// it was made (sym/jit.c), so addresses that are used again are told apart.
#include "sym/load.h"
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include "base/err.h"
#include "obj/unpack.h"

bool same_build_id(const struct build_id *recorded, const uint8_t *id, size_t n)
{
	// Old recorders filled shorter ones up with zeros.
	for (size_t i = n; i < recorded->n; i++) {
		if (recorded->n != 20 || recorded->bytes[i])
			return false;
	}
	return n <= recorded->n && memcmp(recorded->bytes, id, n) == 0;
}

void cache_folder(const struct sym *sym, char ret[4096])
{
	const char *symfs = sym->options.symfs, *home = getenv("HOME");

	if (sym->options.debug_dir)
		snprintf(ret, 4096, "%s", sym->options.debug_dir);
	else
		snprintf(ret, 4096, "%s/.debug", symfs && *symfs ? symfs : home ? home : "");
}

bool cache_path(const struct sym *sym, const struct dso *dso, const char *kind, char ret[PATH_MAX])
{
	enum { SIZE = PATH_MAX };
	char folder[4096], id[41];
	struct stat st;

	if (!dso->build_id.n || sym->options.no_cache_dir)
		return false;
	build_id_text(&dso->build_id, id);
	if (sym->options.archive_dir &&
	    (size_t)snprintf(ret, SIZE, "%s/.build-id/%.2s/%s/%s", sym->options.archive_dir, id,
			     id + 2, kind) < SIZE &&
	    access(ret, R_OK) == 0)
		return true;
	cache_folder(sym, folder);
	if ((size_t)snprintf(ret, SIZE, "%s/.build-id/%.2s/%s", folder, id, id + 2) >= SIZE)
		return false;
	// Caches of old perfs have the file itself there.
	if (stat(ret, &st) == 0 && S_ISREG(st.st_mode))
		return true;
	return (size_t)snprintf(ret, SIZE, "%s/.build-id/%.2s/%s/%s", folder, id, id + 2, kind) <
	       SIZE;
}

void load_done(struct sym *sym, struct dso *dso, char origin, const char *path)
{
	dso->state = dso->symtab->symbols.n ? DSO_LOADED : DSO_NO_SYMBOLS;
	dso->origin = origin;
	if (path && !(dso->kind == DSO_USER && text_starts(path, HELD_FOLDER)))
		dso->symbols_path = intern_get(&sym->strings, intern_text(&sym->strings, path));
	symtab_ready(dso->symtab);
}

void load_failed(struct sym *sym, struct dso *dso, const char *why, ...)
{
	char text[512];
	va_list args;

	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	dso->state = DSO_NO_SYMBOLS;
	dso->note = intern_get(&sym->strings, intern_text(&sym->strings, text));
}

void dso_load(struct sym *sym, struct dso *dso, const struct mapping *map)
{
	char *sentence = xstrdup(err_sentence());

	dso->state = DSO_NO_SYMBOLS;
	dso->symtab->parameters = sym->options.demangle_parameters;
	if (dso_private_of(dso)->module)
		load_module(sym, dso, map);
	else if (dso->kind == DSO_KERNEL)
		load_kernel(sym, dso);
	else if (dso->kind == DSO_USER || dso->kind == DSO_ANON)
		text_starts(dso->name, "/tmp/perf-") ? load_perfmap(sym, dso) : load_user(sym, dso);
	else if (dso->kind == DSO_VDSO)
		load_vdso(sym, dso);
	// That symbols are not found is no error.
	err_clear();
	if (*sentence)
		fail_again(-EIO, sentence);
	free(sentence);
}

int source_of_bytes(const struct sym *sym, const struct dso *dso, struct elf_source *source)
{
	const uint8_t *p = source->unpacked ? source->unpacked : source->file.p;
	uint8_t id[20];
	size_t n;

	if (elf_init(&source->elf, p, source->file.n) < 0)
		return SOURCE_NOT_ELF;
	if (dso->build_id.n && !sym->options.ignore_build_ids) {
		n = elf_build_id(&source->elf, id);
		if (!n || !same_build_id(&dso->build_id, id, n))
			return SOURCE_WRONG_BUILD_ID;
	}
	source->has_symtab = elf_find_section(&source->elf, ".symtab", &source->symtab) &&
			     source->symtab.type == SHT_SYMTAB;
	source->has_dynsym = elf_find_section(&source->elf, ".dynsym", &source->dynsym) &&
			     source->dynsym.type == SHT_DYNSYM;
	return SOURCE_OK;
}

int source_open(const struct sym *sym, const struct dso *dso, const char *path, struct elf_source *ret)
{
	struct elf_source source = {0};
	struct stat st;
	int state;

	// Not files of /proc (without a size), which are texts.
	if (stat(path, &st) < 0 || !st.st_size || file_map_plain(&source.file, path) < 0)
		return SOURCE_ABSENT;
	if (source.file.n > 4 && memcmp(source.file.p, ELFMAG, SELFMAG)) {
		size_t n;

		if (unpack((struct str){(const char *)source.file.p, source.file.n},
			   &source.unpacked, &n) == 0) {
			file_unmap(&source.file);
			source.file = (struct mapped){.n = n};
		}
	}
	state = source_of_bytes(sym, dso, &source);
	if (state != SOURCE_OK) {
		source_done(&source);
		return state;
	}
	source.path = xstrdup(path);
	*ret = source;
	return SOURCE_OK;
}

void source_done(struct elf_source *source)
{
	if (source->file.p)
		file_unmap(&source->file);
	free(source->unpacked);
	free(source->path);
	*source = (struct elf_source){0};
}
