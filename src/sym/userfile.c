// SPDX-License-Identifier: GPL-2.0-or-later
// Which files give the symbols of a program or library: the file itself and its debug files, in perf's order.
#include <libdeflate.h>
#include <limits.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/num.h"
#include "obj/unpack.h"
#include "sym/debuginfod.h"
#include "sym/load.h"
#include "sym/seen.h"
#include "sym/symtab_file.h"

struct place {
	char origin; // perf's letter
	// Puts the path into ret, or returns false when there is none.
	bool (*path)(const struct sym *sym, const struct dso *dso, char ret[PATH_MAX]);
	bool is_named; // by nothing but the name of the file it belongs to
};

static const char *symfs(const struct sym *sym)
{
	return sym->options.symfs ? sym->options.symfs : "";
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool fits(int n)
{
	return n > 0 && n < PATH_MAX;
}

// Without a build-id, what is in it tells whether a debug file belongs to a program.
static bool is_linked_file(const struct dso *dso, const char *path, uint32_t crc)
{
	struct mapped file;
	bool is_same;

	if (!is_file(path))
		return false;
	if (dso->build_id.n || !crc)
		return true;
	if (file_map_plain(&file, path) < 0) {
		err_clear();
		return false;
	}
	is_same = libdeflate_crc32(0, file.p, file.n) == crc;
	file_unmap(&file);
	return is_same;
}

static bool debuglink_path(const struct sym *sym, const struct dso *dso, char ret[PATH_MAX])
{
	char own[PATH_MAX], link[256];
	const struct dso unchecked = {0};
	struct elf_source source;
	uint32_t crc = 0;
	const char *name;
	int folder;

	if (!seen_own_path(sym, dso, own) || source_open(sym, &unchecked, own, &source) != SOURCE_OK)
		return false;
	name = elf_debuglink(&source.elf, &crc);
	snprintf(link, sizeof(link), "%s", name ? name : "");
	source_done(&source);
	if (!*link || strchr(link, '/'))
		return false;
	// An open file says nothing of where it lies.
	if (text_starts(own, HELD_FOLDER) &&
	    !fits(snprintf(own, sizeof(own), "%s%s", symfs(sym), dso->long_name)))
		return false;
	folder = (int)(strrchr(own, '/') ? strrchr(own, '/') - own : 0);
	if (fits(snprintf(ret, PATH_MAX, "%.*s/%s", folder, own, link)) &&
	    is_linked_file(dso, ret, crc))
		return true;
	if (fits(snprintf(ret, PATH_MAX, "%.*s/.debug/%s", folder, own, link)) &&
	    is_linked_file(dso, ret, crc))
		return true;
	folder -= (int)strlen(symfs(sym));
	return fits(snprintf(ret, PATH_MAX, "%s/usr/lib/debug%.*s/%s", symfs(sym),
			     folder < 0 ? 0 : folder, dso->long_name, link)) &&
	       is_linked_file(dso, ret, crc);
}

static bool cached_path(const struct sym *sym, const struct dso *dso, char ret[PATH_MAX])
{
	return cache_path(sym, dso, dso->kind == DSO_VDSO ? "vdso" : "elf", ret);
}

static bool cached_debug_path(const struct sym *sym, const struct dso *dso, char ret[PATH_MAX])
{
	return dso->kind != DSO_VDSO && cache_path(sym, dso, "debug", ret);
}

static bool fedora_path(const struct sym *sym, const struct dso *dso, char ret[PATH_MAX])
{
	return fits(snprintf(ret, PATH_MAX, "%s/usr/lib/debug%s.debug", symfs(sym), dso->long_name));
}

static bool ubuntu_path(const struct sym *sym, const struct dso *dso, char ret[PATH_MAX])
{
	return fits(snprintf(ret, PATH_MAX, "%s/usr/lib/debug%s", symfs(sym), dso->long_name));
}

static bool build_id_path(const struct sym *sym, const struct dso *dso, char ret[PATH_MAX])
{
	char id[41];

	if (!dso->build_id.n)
		return false;
	build_id_text(&dso->build_id, id);
	return fits(snprintf(ret, PATH_MAX, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", symfs(sym),
			     id, id + 2));
}

static bool embedded_path(const struct sym *sym, const struct dso *dso, char ret[PATH_MAX])
{
	const char *slash = strrchr(dso->long_name, '/');

	return slash && fits(snprintf(ret, PATH_MAX, "%s%.*s/.debug%s", symfs(sym),
				      (int)(slash - dso->long_name), dso->long_name, slash));
}

static bool mixed_path(const struct sym *sym, const struct dso *dso, char ret[PATH_MAX])
{
	return text_starts(dso->long_name, "/usr/lib/") &&
	       fits(snprintf(ret, PATH_MAX, "%s/usr/lib/debug%s", symfs(sym), dso->long_name + 4));
}

static const struct place places[] = {
	{'l', debuglink_path},	  {'B', cached_path},	      {'D', cached_debug_path},
	{'f', fedora_path, true}, {'u', ubuntu_path, true},   {'b', build_id_path},
	{'d', seen_own_path},	  {'o', embedded_path, true}, {'x', mixed_path, true},
};

static bool place_path(const struct place *place, const struct sym *sym, const struct dso *dso,
		       char ret[PATH_MAX])
{
	return !(place->is_named && dso->is_other_file && !dso->build_id.n) &&
	       place->path(sym, dso, ret);
}

bool dso_find_file(const struct sym *sym, const struct dso *dso,
		   bool (*wanted)(const struct elf_source *source), struct elf_source *ret)
{
	char path[PATH_MAX];

	if (dso->symbols_path && source_open(sym, dso, dso->symbols_path, ret) == SOURCE_OK) {
		if (wanted(ret))
			return true;
		source_done(ret);
	}
	if ((dso->kind != DSO_USER && dso->kind != DSO_MODULE) || dso->long_name[0] != '/')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (!place_path(&places[i], sym, dso, path) ||
		    source_open(sym, dso, path, ret) != SOURCE_OK)
			continue;
		if (wanted(ret))
			return true;
		source_done(ret);
	}
	return false;
}

bool dso_open_mapped(const struct sym *sym, const struct dso *dso, struct elf_source *ret)
{
	char path[PATH_MAX];

	// Of a module, where its symbols are from: their addresses are offsets in that file.
	if (dso->kind == DSO_MODULE)
		return dso->symbols_path &&
		       source_open(sym, dso, dso->symbols_path, ret) == SOURCE_OK;
	return dso->kind == DSO_USER && seen_own_path(sym, dso, path) &&
	       source_open(sym, dso, path, ret) == SOURCE_OK;
}

// .gnu_debugdata: an xz-packed ELF file with the symbols that were stripped.
static bool embedded_source(const struct sym *sym, const struct elf_source *runtime,
			    struct elf_source *ret)
{
	const struct dso unchecked = {0};
	struct elf_section section;
	struct str packed;
	size_t n;

	if (!elf_find_section(&runtime->elf, ".gnu_debugdata", &section))
		return false;
	packed = elf_content(&runtime->elf, &section);
	*ret = (struct elf_source){0};
	if (unpack(packed, &ret->unpacked, &n) < 0)
		return false;
	ret->file.n = n;
	if (source_of_bytes(sym, &unchecked, ret) == SOURCE_OK && ret->has_symtab)
		return true;
	source_done(ret);
	return false;
}

static void learn_build_id(const struct sym *sym, struct dso *dso)
{
	const struct dso unchecked = {0};
	struct elf_source source;
	char path[PATH_MAX];
	uint8_t id[20];
	size_t n;

	if (!seen_own_path(sym, dso, path) || dso->build_id.n ||
	    source_open(sym, &unchecked, path, &source) != SOURCE_OK)
		return;
	n = elf_build_id(&source.elf, id);
	if (n)
		dso_set_build_id(dso, id, n);
	source_done(&source);
}

struct choice {
	struct sym *sym;
	struct dso *dso; // whose files these are
	struct elf_source symbols, runtime;
	bool has_symbols, has_runtime;
	bool is_both;		// symbols is the runtime file as well
	char refused[PATH_MAX]; // the last file with another build-id
	bool own_exists;
};

// `origin`: perf's letter of the kind of place.
static void look_at_file(struct choice *choice, char origin, const char *path)
{
	struct elf_source source;
	int state = source_open(choice->sym, choice->dso, path, &source);

	if (origin == 'd')
		choice->own_exists = state != SOURCE_ABSENT;
	if (state == SOURCE_WRONG_BUILD_ID)
		snprintf(choice->refused, sizeof(choice->refused), "%s", path);
	if (state != SOURCE_OK)
		return;
	source.origin = origin;
	if (!choice->has_symbols && source.has_symtab) {
		choice->symbols = source;
		choice->has_symbols = true;
		if (!choice->has_runtime && source.has_dynsym)
			choice->has_runtime = choice->is_both = true;
	} else if (!choice->has_runtime && source.has_dynsym) {
		choice->runtime = source;
		choice->has_runtime = true;
	} else {
		source_done(&source);
	}
}

static void look_at(struct choice *choice, const struct place *place)
{
	char path[PATH_MAX];

	if (place_path(place, choice->sym, choice->dso, path))
		look_at_file(choice, place->origin, path);
}

// Asked only when nothing here has the names.
static void ask_server(struct choice *choice, enum fetched kind)
{
	struct sym *sym = choice->sym;
	struct dso *dso = choice->dso;
	const struct debuginfod_file file = {&dso->build_id, kind, dso->short_name};
	char path[PATH_MAX];

	if (!debuginfod_is_on() || !dso->build_id.n)
		return;
	if (sym->before_servers) {
		void (*before)(void *arg) = sym->before_servers;

		sym->before_servers = NULL;
		before(sym->before_servers_arg);
	}
	if (debuginfod_fetch(&sym->private->debuginfod, &file, path))
		look_at_file(choice, kind == FETCH_DEBUG ? 'D' : 'B', path);
}

// What a distribution strips it has debug packages for; whoever made another program can make it again.
static void say_stripped(struct sym *sym, struct dso *dso)
{
	static const char *const folders[] = {"/usr/", "/bin/", "/sbin/", "/lib"};
	bool is_packaged = false;

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		is_packaged |= text_starts(dso->long_name, folders[i]);
	if (text_starts(dso->long_name, "/usr/local/"))
		is_packaged = false;
	load_failed(sym, dso, "%s is stripped, so its functions have no names: %s", dso->name,
		    is_packaged ? "install the distribution's debug package of it, or set DEBUGINFOD_URLS"
				: "link it without -s, or put its debug file beside it");
}

// The table of a file as it was made before, by what may make it another one.
struct kept_table {
	struct symtab_file_key key;
	char name[80]; // of each choice of options one: commands differ in them
};
enum { WORTH_A_FILE = 512 }; // symbols; fewer are read in less than 0.1 milliseconds
enum kept_fact { KEPT_64BIT, KEPT_FUNCTIONS };

static bool put_file(const struct elf_source *source, uint64_t words[2])
{
	struct stat st;

	if (!source->path || stat(source->path, &st) < 0)
		return false;
	words[0] = hash_mix(source->file.n, (uint64_t)st.st_size);
	words[1] = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	return true;
}

static const struct elf_source *runtime_of(const struct choice *choice)
{
	return choice->has_runtime && !choice->is_both ? &choice->runtime : &choice->symbols;
}

static const struct elf_source *symbols_of(const struct choice *choice)
{
	return choice->has_symbols ? &choice->symbols : runtime_of(choice);
}

// False: of such files none is kept.
static bool kept_table_of(const struct choice *choice, struct kept_table *ret)
{
	const struct dso *dso = choice->dso;
	const struct sym_options *options = &choice->sym->options;
	uint64_t *words = ret->key.words;
	struct build_id id = {0};

	*ret = (struct kept_table){.name = "symbols-"};
	id.n = (uint8_t)elf_build_id(&symbols_of(choice)->elf, id.bytes);
	if (!id.n || options->no_cache_dir || !put_file(symbols_of(choice), words) ||
	    !put_file(runtime_of(choice), words + 2))
		return false;
	num_put_bytes(ret->name + strlen(ret->name), id.bytes, id.n);
	memcpy(words + 4, id.bytes, sizeof(id.bytes));
	words[6] |= (uint64_t)id.n << 32;
	words[7] = (uint64_t)options->no_demangle | (uint64_t)dso->symtab->aliases << 1 |
		   (uint64_t)symtab_shows_parameters(dso->symtab) << 2 |
		   (uint64_t)unpack_knows_xz() << 3;
	// They are called by the file.
	if (options->functions)
		words[7] = hash_mix(words[7], hash_bytes(dso->short_name, strlen(dso->short_name)));
	snprintf(ret->name + strlen(ret->name), 18, "-%llx", (unsigned long long)words[7]);
	return true;
}

static bool load_kept(struct sym *sym, struct dso *dso, const struct kept_table *kept)
{
	struct symtab_file file;
	struct mapped map;

	if (!symtab_file_load(kept->name, &kept->key, &file, &map))
		return false;
	vec_push(&sym->private->copies, map);
	symtab_set_rows(dso->symtab, &file.rows);
	dso->is_64bit = file.facts[KEPT_64BIT];
	dso->adjust_symbols = true;
	dso_private_of(dso)->has_functions = file.facts[KEPT_FUNCTIONS];
	return true;
}

static void load_files(const struct choice *choice)
{
	const struct elf_source *symbols = symbols_of(choice), *runtime = runtime_of(choice);
	struct sym *sym = choice->sym;
	struct dso *dso = choice->dso;
	struct elf_source embedded;
	size_t n = 0;

	if (!choice->has_symbols && embedded_source(sym, runtime, &embedded)) {
		n += load_elf(sym, dso, &embedded, runtime);
		source_done(&embedded);
	}
	n += load_elf(sym, dso, symbols, runtime);
	if (!choice->has_symbols)
		n += load_go(sym, dso, runtime);
	if (load_functions(sym, dso, runtime) || n)
		load_plt(sym, dso, runtime);
}

static void load_choice(struct choice *choice)
{
	const struct elf_source *symbols = symbols_of(choice);
	struct sym *sym = choice->sym;
	struct dso *dso = choice->dso;
	struct kept_table kept;
	bool may_keep = kept_table_of(choice, &kept);

	if (!may_keep || !load_kept(sym, dso, &kept)) {
		load_files(choice);
		if (may_keep && dso->symtab->symbols.n >= WORTH_A_FILE)
			symtab_file_save(kept.name, &kept.key, dso->symtab,
					 (const uint64_t[4]){
						 [KEPT_64BIT] = dso->is_64bit,
						 [KEPT_FUNCTIONS] = dso_private_of(dso)->has_functions,
					 });
	}
	load_done(sym, dso, symbols->origin, symbols->path);
	if (!dso_private_of(dso)->has_functions)
		say_stripped(sym, dso);
}

// A program without any symbol table: of Go, its most common form, or one whose functions only have places.
static bool load_bare(struct sym *sym, struct dso *dso)
{
	struct elf_source source;
	size_t n;

	if (!dso_open_mapped(sym, dso, &source))
		return false;
	n = load_go(sym, dso, &source);
	if (n || load_functions(sym, dso, &source))
		load_done(sym, dso, 'd', source.path);
	source_done(&source);
	return n;
}

// Files without a place in the tree of files: none could be here.
static bool has_no_file(const char *name)
{
	return text_starts(name, "/SYSV") || text_starts(name, "/i915") || text_starts(name, "//");
}

void load_user(struct sym *sym, struct dso *dso)
{
	struct choice choice = {.sym = sym, .dso = dso};

	if (dso->long_name[0] != '/' && dso->kind != DSO_VDSO) {
		dso->state = DSO_NO_SYMBOLS;
		return;
	}
	learn_build_id(sym, dso);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (!choice.has_symbols || !choice.has_runtime)
			look_at(&choice, &places[i]);
	}
	if (!choice.has_symbols)
		ask_server(&choice, FETCH_DEBUG);
	if (!choice.has_symbols && !choice.has_runtime)
		ask_server(&choice, FETCH_PROGRAM);
	if (choice.has_symbols || choice.has_runtime) {
		load_choice(&choice);
		source_done(&choice.symbols);
		source_done(&choice.runtime);
	} else if (dso->is_other_file) {
		dso->state = DSO_NO_SYMBOLS; // and the note says why
	} else if (*choice.refused) {
		dso->is_other_file = true;
		load_failed(sym, dso, "%s is not the recorded file: its build-id differs",
			    choice.refused);
	} else if (choice.own_exists) {
		if (load_bare(sym, dso))
			return;
		load_failed(sym, dso, "%s has no symbols", dso->long_name);
	} else if (text_starts(dso->long_name, "/memfd:")) {
		load_failed(sym, dso,
			    "%s lay in memory alone, so its names can be read only while its process runs, by root",
			    dso->long_name);
	} else if (has_no_file(dso->long_name)) {
		return;
	} else if (is_deleted_name(dso->long_name)) {
		load_failed(sym, dso,
			    "%s was replaced or removed since: keep such files with sonde buildid-cache",
			    dso->long_name);
	} else {
		load_failed(sym, dso, "%s is not here", dso->long_name);
	}
}

// This process's own vdso is that of the running kernel; without a build-id to compare it must be known that the recording is of that.
static bool may_be_own(const struct sym *sym, const struct dso *dso)
{
	return dso->build_id.n || (!sym->options.other_machine && !*symfs(sym));
}

static bool own_vdso(struct elf_source *ret)
{
	const uint8_t *p = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	struct elf_segment segment;
	struct elf elf;
	size_t n = 4096;

	if (!p || elf_init(&elf, p, n) < 0)
		return false;
	// Its section headers stand at the end, behind what the segments tell.
	n = elf.is_64bit ? ((const Elf64_Ehdr *)p)->e_shoff +
				   ((const Elf64_Ehdr *)p)->e_shnum * sizeof(Elf64_Shdr)
			 : ((const Elf32_Ehdr *)p)->e_shoff +
				   ((const Elf32_Ehdr *)p)->e_shnum * sizeof(Elf32_Shdr);
	for (uint32_t i = 0; elf_segment(&elf, i, &segment); i++) {
		if (segment.type == PT_LOAD)
			n = MAX(n, segment.offset + segment.file_size);
	}
	if (n > 1 << 20)
		return false;
	*ret = (struct elf_source){.unpacked = xmemdup(p, n), .file = {.n = n}, .origin = 'd'};
	return true;
}

static bool open_place(const struct sym *sym, const struct dso *dso, char origin,
		       struct elf_source *ret)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (places[i].origin == origin && place_path(&places[i], sym, dso, path) &&
		    source_open(sym, dso, path, ret) == SOURCE_OK)
			return true;
	}
	return false;
}

bool source_open_mapped(struct sym *sym, struct dso *dso, struct elf_source *ret)
{
	if (dso->kind == DSO_VDSO) {
		if (open_place(sym, dso, 'B', ret))
			return true;
		if (!may_be_own(sym, dso) || !own_vdso(ret))
			return false;
		if (source_of_bytes(sym, dso, ret) == SOURCE_OK)
			return true;
		source_done(ret);
		return false;
	}
	if (dso->long_name[0] != '/')
		return false;
	learn_build_id(sym, dso);
	return open_place(sym, dso, 'd', ret) || open_place(sym, dso, 'B', ret);
}

void load_vdso(struct sym *sym, struct dso *dso)
{
	struct choice choice = {.sym = sym, .dso = dso};
	uint8_t id[20];
	size_t n;

	look_at(&choice, &(const struct place){'B', cached_path});
	if (!choice.has_symbols && !choice.has_runtime && may_be_own(sym, dso) &&
	    own_vdso(&choice.runtime)) {
		if (source_of_bytes(sym, dso, &choice.runtime) == SOURCE_OK) {
			choice.has_runtime = choice.runtime.has_dynsym;
			n = elf_build_id(&choice.runtime.elf, id);
			if (n && !dso->build_id.n)
				dso_set_build_id(dso, id, n);
		}
	}
	if (choice.has_symbols || choice.has_runtime)
		load_choice(&choice);
	else
		load_failed(sym, dso, "the vdso of the recording's kernel is not here");
	source_done(&choice.symbols);
	source_done(&choice.runtime);
}
