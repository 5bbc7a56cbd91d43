// SPDX-License-Identifier: GPL-2.0-or-later
// Side-band records into tasks and maps. Where it matters the rules are those of perf 6.1
// (tools/perf/util/machine.c), since results are compared with it.
#include "sym/sym.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include "base/err.h"
#include "base/hash.h"
#include "sym/jit.h"
#include "sym/jitdump.h"
#include "sym/load.h"
#include "sym/seen.h"
#include "sym/private.h"

// Only 64-bit kernels have addresses there.
#define KERNEL_HALF (1ull << 63)
#define KERNEL_NAME "[kernel.kallsyms]"
// Bit of misc in MMAP2: the union holds a build-id.
#define MISC_BUILD_ID (1 << 14)
#define MISC_MMAP_DATA (1 << 13)

// What forks may copy of their parents' maps before the work counts against the records seen; real
// recordings stay far below.
#define FIRST_COPY_BUDGET (1ull << 30)

struct mmap_facts {
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	struct file_id file;
	uint32_t prot, flags;
	const uint8_t *build_id;
	size_t build_id_size;
	const char *name;
	bool is_mmap2;
	const struct record_mmap2 *record; // NULL: an older one
};

int sym_new(struct sym **ret, const struct sym_options *options)
{
	struct sym *sym = NEW(struct sym);

	if (options)
		sym->options = *options;
	sym->private = NEW(struct sym_private);
	if (sym->options.live && !sym->options.held)
		sym->options.held = sym->private->own_held = held_new();
	debuginfod_wait_init(&sym->private->debuginfod);
	sym->private->copy_budget = FIRST_COPY_BUDGET;
	sym->private->known_user = xcalloc(KNOWN_USER, sizeof(struct known_symbol));
	sym->private->known_kernel = xcalloc(KNOWN_KERNEL, sizeof(struct known_kernel));
	intern_init(&sym->strings);
	sym->kernel_start = KERNEL_HALF;
	sym->next_jit_ns = UINT64_MAX;
	sym->kernel = space_new(sym, UINT32_MAX);
	task_set_comm(sym, sym_task(sym, 0, 0), "swapper", 0);
	*ret = sym;
	return 0;
}

void sym_share_wait(struct sym *to, const struct sym *from)
{
	to->private->debuginfod = from->private->debuginfod;
}

static uint64_t facts_key(const char *name, const struct file_id *id)
{
	return hash_mix(hash_bytes(name, strlen(name)), hash_bytes(id, sizeof(*id)));
}

void sym_learn_file(struct sym *sym, const struct file_facts *facts)
{
	struct file_facts *at = arena_zalloc(&sym->private->arena, sizeof(*at));
	int pid;

	*at = *facts;
	at->name = arena_strdup(&sym->private->arena, str_of(facts->name));
	at->path = facts->path ? arena_strdup(&sym->private->arena, str_of(facts->path)) : NULL;
	map_set_ptr(&sym->private->facts, facts_key(at->name, &at->id), at);
	// Of a perf map records have a name at most.
	if (perfmap_pid(at->name, &pid))
		map_set_ptr(&sym->private->facts, facts_key(at->name, &(struct file_id){{0}}), at);
}

const struct file_facts *sym_facts(const struct sym *sym, const char *name, const struct file_id *id)
{
	return map_find_ptr(&sym->private->facts, facts_key(name, id));
}

void sym_free(struct sym *sym)
{
	if (!sym)
		return;
	for (size_t i = 0; i < sym->tasks.n; i++)
		space_clear(sym, sym->tasks.v[i]->space);
	space_clear(sym, sym->kernel);
	for (size_t i = 0; i < sym->dsos.n; i++)
		symtab_done(sym->dsos.v[i]->symtab);
	vec_done(&sym->dsos);
	vec_done(&sym->tasks);
	map_done(&sym->private->tasks_by_tid);
	map_done(&sym->private->dsos_by_name);
	map_done(&sym->private->dsos_by_short);
	map_done(&sym->private->cgroups);
	map_done(&sym->private->mount_spaces);
	map_done(&sym->private->facts);
	held_free(sym->private->own_held);
	for (size_t i = 0; i < sym->private->texts.n; i++)
		free(sym->private->texts.v[i]);
	vec_done(&sym->private->texts);
	vec_each(struct mapped, copy, &sym->private->copies)
		file_unmap(copy);
	vec_done(&sym->private->copies);
	jit_free(sym);
	free(sym->private->dead);
	free(sym->private->dead_tasks);
	vec_done(&sym->private->free_tasks);
	vec_done(&sym->private->free_spaces);
	free(sym->private->known_user);
	free(sym->private->known_kernel);
	arena_done(&sym->private->arena);
	intern_done(&sym->strings);
	free(sym->private);
	free(sym);
}

static struct mapping *mapping_new(uint64_t start, uint64_t end, struct dso *dso)
{
	struct mapping *map = NEW(struct mapping);

	map->start = start;
	map->end = end;
	map->dso = dso;
	map->refs = 1;
	return map;
}

static bool is_kernel_dso(const struct dso *dso)
{
	const struct dso_private *private = (const struct dso_private *)dso;

	return dso->kind == DSO_KERNEL && !private->unlisted && !private->module &&
	       !private->section_of_kernel;
}

static struct dso *kernel_dso(struct sym *sym)
{
	struct dso *kernel;

	if (sym->private->kernel_dso)
		return sym->private->kernel_dso;
	for (size_t i = 0; i < sym->dsos.n; i++) {
		if (is_kernel_dso(sym->dsos.v[i]))
			return sym->private->kernel_dso = sym->dsos.v[i];
	}
	kernel = dso_get(sym, KERNEL_NAME, NULL);
	kernel->kind = DSO_KERNEL;
	return sym->private->kernel_dso = kernel;
}

static void kernel_mmap(struct sym *sym, const struct mmap_facts *facts)
{
	struct sym_private *p = sym->private;
	struct dso *kernel = kernel_dso(sym);
	struct mapping *map;

	if (p->kernel_map)
		space_remove(sym, sym->kernel, p->kernel_map);
	map = mapping_new(facts->start, facts->start + facts->len, kernel);
	map->identity = true;
	// Old recordings have an empty one.
	if (map->end == 0)
		map->end = UINT64_MAX;
	p->kernel_map = map;
	space_insert_raw(sym, sym->kernel, map);
	if (strstr(kernel->long_name, "vmlinux"))
		dso_set_short_name(sym, kernel, "[kernel.vmlinux]");
	if (facts->build_id_size)
		dso_set_build_id(kernel, facts->build_id, facts->build_id_size);
	// 0: the recorder was not allowed to see it (kptr_restrict).
	if (facts->pgoff) {
		p->reference_name =
			arena_strdup(&p->arena, str_of(facts->name + strlen(KERNEL_NAME)));
		p->reference_addr = facts->pgoff;
	}
	if (facts->start && facts->start <= UINT32_MAX)
		sym->kernel_start = facts->start;
}

static void kernel_side_mmap(struct sym *sym, const struct mmap_facts *facts)
{
	// Without the "]": "[kernel.kallsyms]_text", "[kernel.kallsyms".
	bool is_kernel = strncmp(facts->name, KERNEL_NAME, strlen(KERNEL_NAME) - 1) == 0;
	struct mapping *map;

	if (is_kernel && strlen(facts->name) >= strlen(KERNEL_NAME)) {
		kernel_mmap(sym, facts);
	} else if (facts->name[0] == '/' || facts->name[0] == '[') {
		map = mapping_new(facts->start, facts->start + facts->len,
				  dso_get_module(sym, facts->name));
		if (facts->build_id_size)
			dso_set_build_id(map->dso, facts->build_id, facts->build_id_size);
		space_insert_raw(sym, sym->kernel, map);
	} else if (text_starts(facts->name, "__entry_SYSCALL_64_trampoline") &&
		   sym->private->kernel_map) {
		// Kernels 4.15 to 4.19 ran this text of theirs at a second address.
		map = mapping_new(facts->start, facts->start + facts->len,
				  sym->private->kernel_map->dso);
		map->pgoff = facts->pgoff;
		space_insert_raw(sym, sym->kernel, map);
	}
}

static bool is_anonymous(const struct mmap_facts *facts)
{
	return strcmp(facts->name, "//anon") == 0 || text_starts(facts->name, "/dev/zero") ||
	       text_starts(facts->name, "/anon_hugepage") || (facts->flags & MAP_HUGETLB);
}

static bool is_no_file(const char *name)
{
	return text_starts(name, "[stack") || text_starts(name, "/SYSV") ||
	       strcmp(name, "[heap]") == 0;
}

static void take_build_id(struct sym *sym, struct dso *dso, const struct mmap_facts *facts,
			  const char *name)
{
	const struct file_facts *noted = dso_private_of(dso)->facts;
	struct dso *named;

	if (facts->build_id_size) {
		dso_set_build_id(dso, facts->build_id, facts->build_id_size);
		dso_private_of(dso)->header_build_id = false;
		return;
	}
	// The table has one build-id for a name, the notes have one for each file.
	if (noted) {
		dso->build_id = noted->build_id;
		dso_private_of(dso)->header_build_id = false;
		return;
	}
	named = dso_find(sym, name);
	if (named && dso_private_of(named)->header_build_id) {
		dso->build_id = named->build_id;
		dso_private_of(dso)->header_build_id = true;
	}
}

static void note_process(struct sym *sym, struct dso *dso, const struct mmap_facts *facts)
{
	struct dso_private *private = dso_private_of(dso);
	const uint64_t *space = map_find(&sym->private->mount_spaces, facts->pid);

	private->pid = facts->pid;
	private->mapped_at = facts->start;
	private->mapped_end = facts->start + facts->len;
	private->mount_space = space ? *space : 0;
}

static const struct held_file *hold(struct sym *sym, const struct mmap_facts *facts)
{
	return sym->options.held && facts->is_mmap2 && facts->prot & PROT_EXEC
		       ? held_note(sym->options.held, facts->record, facts->name)
		       : NULL;
}

static bool any_maps(void *arg, const struct held_file *file)
{
	const struct sym *sym = arg;

	vec_each(struct task *, it, &sym->tasks) {
		const struct task *task = *it;

		if (task->exited || task->tid != task->pid)
			continue;
		vec_each(struct mapping *, map, &task->space->maps) {
			if (dso_private_of((*map)->dso)->held == file &&
			    (kill((pid_t)task->pid, 0) == 0 || errno != ESRCH))
				return true;
		}
	}
	return false;
}

void sym_age(struct sym *sym)
{
	if (sym->options.held)
		held_age(sym->options.held, &(struct held_users){any_maps, sym});
}

static void user_mmap(struct sym *sym, const struct mmap_facts *facts)
{
	struct task *task = sym_task(sym, facts->pid, facts->tid);
	bool no_file = is_anonymous(facts) || is_no_file(facts->name);
	bool is_code = facts->prot & PROT_EXEC;
	const char *name = facts->name;
	struct mapping *map;
	uint32_t dump_pid;
	char jit[40];

	// Its code is known better: what a compiler makes writable and executable again is still the same.
	if (is_code && (no_file || text_starts(name, "/memfd:")) && jit_has(sym, task->pid) &&
	    !sym->options.live)
		return;
	map = mapping_new(facts->start, facts->start + facts->len, NULL);
	map->pgoff = facts->pgoff;
	map->prot = facts->prot;
	map->flags = facts->flags;
	map->is_mmap2 = facts->is_mmap2;
	map->has_build_id = facts->build_id_size;
	if (!map->has_build_id) {
		map->maj = (uint32_t)facts->file.words[0];
		map->min = (uint32_t)(facts->file.words[0] >> 32);
		map->ino = facts->file.words[1];
		map->ino_generation = facts->file.words[2];
	}
	if (no_file && is_code && task->pid != 0) {
		snprintf(jit, sizeof(jit), "/tmp/perf-%d.map", (int)task->pid);
		name = jit;
	}
	if (strcmp(name, "[vdso]") == 0) {
		map->pgoff = 0;
		map->dso = dso_get_vdso(sym);
	} else {
		map->dso = dso_get(sym, name, &facts->file);
	}
	map->may_be_jit = !no_file && is_code && name[0] == '/' && task->pid != 0;
	note_process(sym, map->dso, facts);
	if (sym->private->facts.n && !dso_private_of(map->dso)->facts)
		dso_private_of(map->dso)->facts =
			map_find_ptr(&sym->private->facts, facts_key(name, &facts->file));
	if (!no_file && (!dso_private_of(map->dso)->held || dso_private_of(map->dso)->held->fd < 0))
		dso_private_of(map->dso)->held = hold(sym, facts);
	if (sym->options.live && is_code && (no_file || text_starts(name, "/memfd:")))
		held_note_code(sym->options.held, facts->pid);
	if (no_file) {
		map->follows = is_code;
		map->identity = true;
		map->dso->kind = DSO_ANON;
		map->dso->pid = task->pid;
		if (!is_code && map->dso->state == DSO_NOT_LOADED)
			map->dso->state = DSO_NO_SYMBOLS;
	}
	take_build_id(sym, map->dso, facts, name);
	if (no_file && is_code)
		jit_insert_around(sym, task->space, map);
	else
		space_insert(sym, task->space, map);
	if (is_code && jitdump_is_path(name, &dump_pid))
		jit_open(sym, task, dso_get(sym, name, &facts->file));
}

static void take_mmap(struct sym *sym, uint16_t misc, const struct mmap_facts *facts)
{
	uint8_t cpumode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	if (cpumode == PERF_RECORD_MISC_KERNEL || cpumode == PERF_RECORD_MISC_GUEST_KERNEL)
		kernel_side_mmap(sym, facts);
	else
		user_mmap(sym, facts);
}

static void record_mmap(struct sym *sym, const struct record_mmap *record, const char *name)
{
	struct mmap_facts facts = {
		.pid = record->pid,
		.tid = record->tid,
		.start = record->start,
		.len = record->len,
		.pgoff = record->pgoff,
		.name = name,
		.prot = record->header.misc & MISC_MMAP_DATA ? 0 : PROT_EXEC,
	};

	take_mmap(sym, record->header.misc, &facts);
}

static void record_mmap2(struct sym *sym, const struct record_mmap2 *record, const char *name)
{
	struct mmap_facts facts = {
		.pid = record->pid,
		.tid = record->tid,
		.start = record->start,
		.len = record->len,
		.pgoff = record->pgoff,
		.name = name,
		.prot = record->prot,
		.flags = record->flags,
		.is_mmap2 = true,
		.record = record,
	};

	memcpy(&facts.file, &record->maj, sizeof(facts.file));
	if (record->header.misc & MISC_BUILD_ID) {
		facts.build_id = record->build_id;
		facts.build_id_size = MIN(record->build_id_size, sizeof(record->build_id));
	}
	take_mmap(sym, record->header.misc, &facts);
}

static void record_ksymbol(struct sym *sym, const struct record_ksymbol *record, const char *name)
{
	struct mapping *map = (struct mapping *)space_find(sym->kernel, record->addr);
	bool gone = record->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	struct symbol *symbol;

	if (gone) {
		if (map && map != sym->private->kernel_map)
			space_remove(sym, sym->kernel, map);
		else if (map)
			symtab_remove_late(map->dso->symtab, mapping_addr(map, record->addr));
		sym->kernel->generation++;
		return;
	}
	// The end of what was there before has been lost.
	if (map && dso_private_of(map->dso)->unlisted &&
	    (map->start != record->addr || strcmp(map->dso->name, name))) {
		space_remove(sym, sym->kernel, map);
		map = NULL;
	}
	if (!map) {
		struct dso *dso = dso_add_unlisted(sym, name,
						   record->ksym_type == PERF_RECORD_KSYMBOL_TYPE_OOL
							   ? DSO_OOL
							   : DSO_BPF);

		dso->state = DSO_LOADED;
		if (text_starts(name, "bpf_trampoline_") || text_starts(name, "bpf_dispatcher_"))
			dso_set_long_name(sym, dso, "");
		map = mapping_new(record->addr, record->addr + record->len, dso);
		if (map->end <= map->start) {
			free(map);
			return;
		}
		space_insert_raw(sym, sym->kernel, map);
		map = (struct mapping *)space_find(sym->kernel, record->addr);
		if (!map)
			return;
	}
	symbol = arena_zalloc(&sym->private->arena, sizeof(*symbol));
	symbol->start = mapping_addr(map, record->addr);
	symbol->end = symbol->start + record->len;
	symbol->name = intern_get(&sym->strings, intern_text(&sym->strings, name));
	symtab_add_late(map->dso->symtab, symbol);
	sym->kernel->generation++;
}

static int malformed(const struct perf_event_header *header)
{
	return fail(EINVAL, "%s record is too short for what it should hold",
		    record_type_name(header->type));
}

int sym_record(struct sym *sym, const struct perf_event_header *header, uint64_t time)
{
	const void *record = header;
	const char *text;

	sym->private->copy_budget += 64;
	switch (header->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_NAMESPACES:
		if (!record_is_whole(header))
			return malformed(header);
		break;
	default:
		return 0;
	}
	switch (header->type) {
	case PERF_RECORD_MMAP:
		text = record_text(header, ((const struct record_mmap *)record)->filename);
		if (!text)
			return malformed(header);
		record_mmap(sym, record, text);
		break;
	case PERF_RECORD_MMAP2:
		text = record_text(header, ((const struct record_mmap2 *)record)->filename);
		if (!text)
			return malformed(header);
		record_mmap2(sym, record, text);
		break;
	case PERF_RECORD_COMM: {
		const struct record_comm *comm = record;

		text = record_text(header, comm->comm);
		if (!text)
			return malformed(header);
		task_set_comm(sym, sym_task(sym, comm->pid, comm->tid), text, time);
		if (comm->header.misc & PERF_RECORD_MISC_COMM_EXEC)
			sym_task(sym, comm->pid, comm->tid)->start_time = time;
		break;
	}
	case PERF_RECORD_NAMESPACES:
		seen_namespaces(sym, record);
		break;
	case PERF_RECORD_FORK:
		task_fork(sym, record, time);
		break;
	case PERF_RECORD_EXIT:
		task_exit(sym, record);
		break;
	case PERF_RECORD_KSYMBOL:
		text = record_text(header, ((const struct record_ksymbol *)record)->name);
		if (!text)
			return malformed(header);
		record_ksymbol(sym, record, text);
		break;
	case PERF_RECORD_CGROUP: {
		const struct record_cgroup *cgroup = record;

		text = record_text(header, cgroup->path);
		if (!text)
			return malformed(header);
		map_set_ptr(&sym->private->cgroups, cgroup->id,
			    (void *)intern_get(&sym->strings, intern_text(&sym->strings, text)));
		break;
	}
	}
	return 0;
}

const char *sym_cgroup(const struct sym *sym, uint64_t id)
{
	return map_find_ptr(&sym->private->cgroups, id);
}

void sym_build_id(struct sym *sym, const char *name, uint16_t misc, const struct build_id *id)
{
	uint8_t cpumode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct module_name module;
	struct dso *dso;

	if (cpumode != PERF_RECORD_MISC_KERNEL && cpumode != PERF_RECORD_MISC_USER &&
	    cpumode != PERF_RECORD_MISC_GUEST_KERNEL && cpumode != PERF_RECORD_MISC_GUEST_USER)
		return;
	dso = dso_get(sym, name, NULL);
	dso_set_build_id(dso, id->bytes, id->n);
	dso_private_of(dso)->header_build_id = true;
	if (cpumode == PERF_RECORD_MISC_USER || cpumode == PERF_RECORD_MISC_GUEST_USER)
		return;
	module_name_parse(&module, name);
	if (module.is_module) {
		dso_private_of(dso)->module = true;
		dso_set_short_name(sym, dso, module.name);
	}
	if (cpumode == PERF_RECORD_MISC_GUEST_KERNEL)
		dso->kind = module.is_module ? DSO_GUEST_MODULE : DSO_GUEST_KERNEL;
	else
		dso->kind = module.is_module ? DSO_MODULE : DSO_KERNEL;
}

uint8_t sym_cpumode_of(const struct sym *sym, uint64_t ip)
{
	return ip >= sym->kernel_start ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

const char *sym_name_in_print(void *arg, uint64_t addr, uint64_t *ret_start, const char **ret_module)
{
	struct sym *sym = arg;
	struct location location;

	location = sym_resolve(sym, sym_task(sym, 0, 0), PERF_RECORD_MISC_KERNEL, addr);
	if (!location.sym)
		return NULL;
	*ret_start = addr - (location.addr - location.sym->start);
	*ret_module = location.dso->kind == DSO_MODULE ? location.dso->short_name : NULL;
	return location.sym->name;
}
