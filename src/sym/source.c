// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/source.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include "base/cache.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "obj/demangle.h"
#include "obj/inline.h"
#include "sym/load.h"
#include "sym/source_cache.h"

enum {
	MOST_FRAMES = 256, // of one address
	MOST_SEGMENTS = 16,
	LONGEST_NAME = 1 << 14,
};

// A file with debug information.
struct debug_file {
	struct elf_source source;
	struct dwarf dwarf;
};

struct answer {
	const struct source_frame *frames;
	uint32_t n;
};

// What is known about a dso.
struct source {
	struct sources *sources;
	struct dso *dso;
	struct debug_file *main; // NULL: no debug information
	VEC(struct debug_file *) others;
	struct debug_file *package; // .dwp
	bool asked_package;
	bool lacks_others;	    // files that it names: what they would say is not known
	struct source_cache *cache; // NULL: answers are not kept
	struct elf_segment segments[MOST_SEGMENTS]; // of the mapped file, those with code first
	unsigned segments_n;
	struct map answers; // addr -> index into sources->answers
	struct map inlined; // interned name -> struct symbol
};

struct sources {
	struct sym *sym;
	bool show_paths;
	VEC(struct source *) by_dso; // by dso->id; NULL: not asked yet
	VEC(struct answer) answers;
	struct arena arena;
};

struct sources *sources_new(struct sym *sym)
{
	struct sources *sources = NEW(struct sources);

	sources->sym = sym;
	return sources;
}

void sources_show_paths(struct sources *sources)
{
	sources->show_paths = true;
}

static void debug_file_free(struct debug_file *file)
{
	if (!file)
		return;
	dwarf_done(&file->dwarf);
	source_done(&file->source);
	free(file);
}

static void source_free(struct source *source)
{
	if (!source)
		return;
	source_cache_free(source->cache);
	debug_file_free(source->main);
	for (size_t i = 0; i < source->others.n; i++)
		debug_file_free(source->others.v[i]);
	vec_done(&source->others);
	map_done(&source->answers);
	map_done(&source->inlined);
	free(source);
}

void sources_free(struct sources *sources)
{
	bool any_saved = false;

	if (!sources)
		return;
	// A sentence of an error stays, which one of the cache would not.
	vec_each(struct source *, it, &sources->by_dso) {
		if (*it && (*it)->cache && !(*it)->lacks_others && !*err_sentence())
			any_saved |= source_cache_save((*it)->cache);
	}
	if (any_saved)
		cache_trim();
	for (size_t i = 0; i < sources->by_dso.n; i++)
		source_free(sources->by_dso.v[i]);
	vec_done(&sources->by_dso);
	vec_done(&sources->answers);
	arena_done(&sources->arena);
	free(sources);
}

// ---- the files

static struct debug_file *debug_file_of(struct elf_source *source, const struct dwarf_files *files)
{
	struct debug_file *file = NEW(struct debug_file);

	file->source = *source;
	if (dwarf_init(&file->dwarf, &file->source.elf, files) == 0)
		return file;
	source_done(&file->source);
	free(file);
	return NULL;
}

// A file that another one names; kept with the source.
static struct debug_file *open_other(struct source *source, const char *path)
{
	const struct dso unchecked = {0};
	struct elf_source found;
	struct debug_file *file;

	if (source_open(source->sources->sym, &unchecked, path, &found) != SOURCE_OK)
		return NULL;
	file = debug_file_of(&found, NULL);
	if (file)
		vec_push(&source->others, file);
	return file;
}

static const char *symfs(const struct source *source)
{
	const char *symfs = source->sources->sym->options.symfs;

	return symfs ? symfs : "";
}

__attribute__((format(printf, 2, 3))) static bool put_path(char ret[PATH_MAX], const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(ret, PATH_MAX, fmt, args);
	va_end(args);
	return n > 0 && n < PATH_MAX;
}

static int folder_size(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? (int)(slash - path) : 0;
}

static struct debug_file *package_of(struct source *source)
{
	char path[PATH_MAX];

	if (source->asked_package)
		return source->package;
	source->asked_package = true;
	if (put_path(path, "%s%s.dwp", symfs(source), source->dso->long_name))
		source->package = open_other(source, path);
	if (!source->package && put_path(path, "%s.dwp", source->main->source.path))
		source->package = open_other(source, path);
	return source->package;
}

static struct dwarf *open_split(void *arg, const struct dwarf_unit *unit)
{
	struct source *source = arg;
	struct debug_file *file = package_of(source);
	const char *name = unit->dwo_name, *base = strrchr(name, '/');
	const char *own = source->main->source.path;
	char path[PATH_MAX];

	if (file)
		return &file->dwarf;
	base = base ? base + 1 : name;
	if (*name == '/' ? put_path(path, "%s%s", symfs(source), name)
			 : put_path(path, "%s%s/%s", symfs(source),
				    unit->comp_dir ? unit->comp_dir : "", name))
		file = open_other(source, path);
	// Moved together with the program.
	if (!file && own && put_path(path, "%.*s/%s", folder_size(own), own, name))
		file = open_other(source, path);
	if (!file && own && put_path(path, "%.*s/%s", folder_size(own), own, base))
		file = open_other(source, path);
	source->lacks_others |= !file;
	return file ? &file->dwarf : NULL;
}

static struct dwarf *supplement_at(struct source *source, const char *path, struct str build_id)
{
	struct debug_file *file = open_other(source, path);
	uint8_t id[20];
	size_t n;

	if (!file)
		return NULL;
	n = elf_build_id(&file->source.elf, id);
	return build_id.n == n && memcmp(build_id.p, id, n) == 0 ? &file->dwarf : NULL;
}

static struct dwarf *open_supplement(void *arg, const char *name, struct str build_id)
{
	struct source *source = arg;
	const char *own = source->main->source.path;
	struct dwarf *dwarf = NULL;
	struct build_id id = {.n = (uint8_t)MIN(build_id.n, 20)};
	char path[PATH_MAX], text[41];

	source->lacks_others = true;
	if (!build_id.n)
		return NULL;
	memcpy(id.bytes, build_id.p, id.n);
	build_id_text(&id, text);
	if (*name == '/' ? put_path(path, "%s%s", symfs(source), name)
			 : put_path(path, "%.*s/%s", folder_size(own), own ? own : "", name))
		dwarf = supplement_at(source, path, build_id);
	if (!dwarf && put_path(path, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", symfs(source),
			       text, text + 2))
		dwarf = supplement_at(source, path, build_id);
	source->lacks_others = !dwarf;
	return dwarf;
}

static void take_segments(struct source *source, const struct elf *elf)
{
	struct elf_segment segment;

	for (unsigned want = PF_X; want <= PF_X; want--) {
		for (uint32_t i = 0; i < 1024 && elf_segment(elf, i, &segment); i++) {
			if (segment.type == PT_LOAD && (segment.flags & PF_X) == want &&
			    source->segments_n < MOST_SEGMENTS)
				source->segments[source->segments_n++] = segment;
		}
	}
}

// Kernel modules are relocatable: their sections stand for segments. A debug file has the same sections elsewhere.
static void take_sections(struct source *source, const struct elf *mapped)
{
	const struct dwarf *dwarf = &source->main->dwarf;
	struct elf_section section;
	uint64_t addr;

	for (uint32_t i = 1; elf_section(mapped, i, &section); i++) {
		addr = 0;
		if (!(section.flags & SHF_EXECINSTR) || section.type == SHT_NOBITS ||
		    source->segments_n == MOST_SEGMENTS ||
		    !relocate_address(&dwarf->relocate, &dwarf->elf, i, &addr))
			continue;
		source->segments[source->segments_n++] = (struct elf_segment){
			.offset = section.offset,
			.vaddr = addr,
			.file_size = section.size,
		};
	}
}

static bool has_debug(const struct elf_source *source)
{
	return dwarf_is_in(&source->elf);
}

static struct source_cache *cache_of(const struct elf_source *file)
{
	struct source_key key = {.size_bytes = file->file.n};
	struct stat st;

	if (stat(file->path, &st) < 0)
		return NULL;
	key.modified_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	key.id.n = (uint8_t)elf_build_id(&file->elf, key.id.bytes);
	return source_cache_new(&key);
}

static struct source *source_new(struct sources *sources, struct dso *dso)
{
	struct source *source = NEW(struct source);
	struct dwarf_files files = {source, open_split, open_supplement};
	struct elf_source found, mapped;
	bool has_mapped;

	source->sources = sources;
	source->dso = dso;
	// Which also learns the build-id.
	(void)dso_find_symbol(sources->sym, dso, 0);
	has_mapped = dso_open_mapped(sources->sym, dso, &mapped);
	if (has_mapped && mapped.elf.type != ET_REL)
		take_segments(source, &mapped.elf);
	if (dso_find_file(sources->sym, dso, has_debug, &found))
		source->main = debug_file_of(&found, &files);
	if (has_mapped && mapped.elf.type == ET_REL && source->main)
		take_sections(source, &mapped.elf);
	if (has_mapped)
		source_done(&mapped);
	if (!source->main)
		return source;
	if (!source->segments_n && source->main->source.elf.type == ET_REL)
		take_sections(source, &source->main->source.elf);
	else if (!source->segments_n)
		take_segments(source, &source->main->source.elf);
	if (!sources->sym->options.no_cache_dir)
		source->cache = cache_of(&source->main->source);
	debug("source lines of %s are from %s", dso->long_name, source->main->source.path);
	return source;
}

static struct source *source_of(struct sources *sources, struct dso *dso)
{
	while (sources->by_dso.n <= dso->id)
		vec_push(&sources->by_dso, NULL);
	if (!sources->by_dso.v[dso->id])
		sources->by_dso.v[dso->id] = source_new(sources, dso);
	return sources->by_dso.v[dso->id];
}

bool source_exists(struct sources *sources, struct dso *dso)
{
	return source_of(sources, dso)->main != NULL;
}

struct dwarf *source_dwarf(struct sources *sources, struct dso *dso)
{
	struct source *source = source_of(sources, dso);

	return source->main ? &source->main->dwarf : NULL;
}

// Addresses of symbols count from the file's start, those of debug information are virtual.
static bool virtual_address(const struct source *source, uint64_t addr, uint64_t *ret)
{
	for (unsigned i = 0; i < source->segments_n; i++) {
		const struct elf_segment *segment = &source->segments[i];

		if (addr - segment->offset < segment->file_size) {
			*ret = addr - segment->offset + segment->vaddr;
			return true;
		}
	}
	return false;
}

uint64_t source_address(struct sources *sources, struct dso *dso, uint64_t addr)
{
	uint64_t virtual;

	return virtual_address(source_of(sources, dso), addr, &virtual) ? virtual : addr;
}

// ---- the answers

static const char *plain_name(struct sources *sources, const char *name)
{
	const struct sym_options *options = &sources->sym->options;
	char *plain = NULL;
	const char *kept;

	if (!options->no_demangle && demangle_maybe(name))
		plain = demangle(name, options->demangle_parameters || log_get_level() > LOG_WARN);
	kept = intern_get(&sources->sym->strings,
			  intern_text(&sources->sym->strings, plain ? plain : name));
	free(plain);
	return kept;
}

// One symbol stands for all calls of a function that were inlined in a file.
static const struct symbol *inlined_symbol(struct source *source, const char *name,
					   const struct symbol *around)
{
	struct sources *sources = source->sources;
	struct symbol *symbol;

	if (!name || strnlen(name, LONGEST_NAME) == LONGEST_NAME)
		name = "??";
	name = plain_name(sources, name);
	symbol = map_find_ptr(&source->inlined, (uintptr_t)name);
	if (symbol)
		return symbol;
	symbol = arena_zalloc(&sources->arena, sizeof(*symbol));
	*symbol = (struct symbol){.name = name, .inlined = true};
	if (around) {
		symbol->start = around->start;
		symbol->end = around->end;
		symbol->binding = around->binding;
		symbol->type = around->type;
	}
	map_set_ptr(&source->inlined, (uintptr_t)name, symbol);
	return symbol;
}

// From what was kept, else from the debug information. `addr` is virtual.
static size_t ask(struct source *source, enum source_ask what, uint64_t addr,
		  struct dwarf_frame ret[MOST_FRAMES])
{
	struct source_answer answer = {.frames = ret, .most = MOST_FRAMES};
	struct dwarf *dwarf = &source->main->dwarf;

	if (source->cache && source_cache_find(source->cache, what, addr, &answer))
		return answer.n;
	if (what == SOURCE_LINE)
		answer.n = dwarf_line(dwarf, addr, ret);
	else
		answer.n = dwarf_frames(dwarf, addr, ret, MOST_FRAMES);
	if (source->cache)
		source_cache_add(source->cache, what, addr, &answer);
	return answer.n;
}

static struct answer find_answer(struct source *source, uint64_t addr, const struct symbol *sym)
{
	struct dwarf_frame found[MOST_FRAMES];
	struct source_frame *frames;
	size_t n;

	if (!virtual_address(source, addr, &addr))
		return (struct answer){0};
	n = ask(source, SOURCE_FRAMES, addr, found);
	if (!n)
		return (struct answer){0};
	frames = arena_alloc(&source->sources->arena, n * sizeof(*frames));
	for (size_t i = 0; i < n; i++)
		frames[i] = (struct source_frame){
			.sym = i + 1 < n ? inlined_symbol(source, found[i].function, sym) : sym,
			.file = found[i].file,
			.line = found[i].line,
		};
	return (struct answer){frames, (uint32_t)n};
}

struct source_frames source_frames(struct sources *sources, struct dso *dso, uint64_t addr,
				   const struct symbol *sym)
{
	struct source *source = source_of(sources, dso);
	const struct answer *answer;
	uint64_t *known;
	bool is_new;

	if (!source->main)
		return (struct source_frames){NULL, 0};
	known = map_find(&source->answers, addr);
	if (!known) {
		struct answer found = find_answer(source, addr, sym);

		known = map_at(&source->answers, addr, &is_new);
		*known = sources->answers.n;
		vec_push(&sources->answers, found);
	}
	answer = &sources->answers.v[*known];
	return (struct source_frames){answer->frames, answer->n};
}

bool source_line(struct sources *sources, struct dso *dso, uint64_t addr, struct source_frame *ret)
{
	struct source *source = source_of(sources, dso);
	struct dwarf_frame found[MOST_FRAMES];

	if (!source->main || !virtual_address(source, addr, &addr) ||
	    !ask(source, SOURCE_LINE, addr, found))
		return false;
	*ret = (struct source_frame){.file = found->file, .line = found->line};
	return true;
}

const char *source_text(struct sources *sources, const struct source_frame *frame)
{
	struct intern *strings = &sources->sym->strings;
	char text[PATH_MAX];

	if (!frame->file)
		return NULL;
	snprintf(text, sizeof(text), "%s:%u",
		 sources->show_paths ? frame->file : text_base_name(frame->file), frame->line);
	return intern_get(strings, intern_text(strings, text));
}
