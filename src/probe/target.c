// SPDX-License-Identifier: GPL-2.0-or-later
// The program, library or kernel that is probed: its file, symbols, debug and unwind information.
#include "probe/target.h"
#include "base/err.h"
#include "base/num.h"
#include "base/rooted.h"
#include "obj/demangle.h"
#include "sym/sym.h"
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>

// A process in our own mount namespace means the same files as we do.
static bool is_elsewhere(uint32_t pid)
{
	auto_free char *path = text_dup_fmt("/proc/%u/ns/mnt", pid);
	struct stat here, there;

	return stat("/proc/self/ns/mnt", &here) < 0 || stat(path, &there) < 0 ||
	       here.st_ino != there.st_ino || here.st_dev != there.st_dev;
}

static int find_below(struct probe_target *target, uint32_t pid, const char *path, char ret[PATH_MAX])
{
	auto_free char *root = text_dup_fmt("/proc/%u/root", pid);
	auto_free char *name = NULL;
	struct stat st;

	if (stat(root, &st) < 0)
		return fail(errno, "the files of process %u can't be seen: %s", pid,
			    errno == ENOENT ? "there is no such process" : strerror(errno));
	name = rooted_path_dup(root, path);
	if (!name)
		return fail(errno, "%s of process %u can't be opened: %s", path, pid,
			    strerror(errno));
	target->name = arena_strdup(&target->arena, str_of(name));
	if (snprintf(ret, PATH_MAX, "%s%s", root, name) >= PATH_MAX)
		return fail(ENAMETOOLONG, "%s%s can't be opened: the name is too long", root, name);
	return 0;
}

// "/proc/PID/root/PATH", as definitions have it for --target-ns: realpath(3) would leave "/PATH" of it.
static bool names_process(const char *text, uint32_t *ret_pid, const char **ret_path)
{
	struct str rest = str_of(text);
	uint64_t pid;

	if (!text_starts(text, "/proc/"))
		return false;
	rest.p += strlen("/proc/");
	rest.n -= strlen("/proc/");
	if (num_parse_u64(str_cut(&rest, '/'), &pid) < 0 || pid > INT32_MAX || !rest.p ||
	    !str_starts(rest, "root/"))
		return false;
	*ret_pid = (uint32_t)pid;
	*ret_path = rest.p + strlen("root");
	return true;
}

// Where a file's bytes are.
static int find_file(struct probe_target *target, const char *path, char ret[PATH_MAX])
{
	const char *symfs = target->options->symfs ? target->options->symfs : "";
	uint32_t pid = target->options->target_ns;
	auto_free char *below = text_dup_fmt("%s%s", symfs, path);

	if ((pid || names_process(below, &pid, &path)) && is_elsewhere(pid))
		return find_below(target, pid, path, ret);
	if (realpath(below, ret))
		return 0;
	return fail(errno, "%s can't be opened: %s", below, strerror(errno));
}

int probe_target_file(struct probe_target *target, const char *path)
{
	const char *symfs = target->options->symfs ? target->options->symfs : "";
	char real[PATH_MAX];
	int err = find_file(target, path, real);

	if (err < 0)
		return err;
	target->real = arena_strdup(&target->arena, str_of(real));
	err = file_map_plain(&target->file, real);
	if (err < 0)
		return err;
	if (elf_init(&target->elf, target->file.p, target->file.n) < 0 &&
	    probe_module_bytes(target) < 0)
		return fail(EINVAL, "%s is no program and no library (not an ELF file)", real);
	target->path = arena_strdup(&target->arena, str_of(real + strlen(symfs)));
	if (target->name || (*symfs && !text_starts(real, symfs)))
		target->path = target->real;
	if (!target->name)
		target->name = target->path;
	target->dso = sym_file(target->sym, target->path);
	target->debug = source_dwarf(target->sources, target->dso);
	return 0;
}

void probe_target_close(struct probe_target *target)
{
	file_unmap(&target->file);
	free(target->unpacked);
	target->unpacked = NULL;
	target->elf = (struct elf){0};
	target->debug = NULL;
	target->path = target->name = target->real = NULL;
	target->dso = NULL;
}

// The kernel's file with debug information, where distributions put it.
static void open_vmlinux(struct probe_target *target)
{
	static const char *const places[] = {
		"/usr/lib/debug/boot/vmlinux-%s",	"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/lib/modules/%s/build/vmlinux",	"/boot/vmlinux-%s",
		"/usr/lib/debug/boot/vmlinux-%s.debug",
	};
	struct utsname name;
	char path[PATH_MAX];

	if (uname(&name) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof(path), places[i], name.release);
		if (probe_target_file(target, path) == 0 && target->debug)
			return;
		probe_target_close(target);
	}
	err_clear();
}

int probe_target_open(struct probe_target *ret, const struct probe_options *options)
{
	struct sym_options sym = {.symfs = options->symfs,
				  .no_demangle = true,
				  .live = true,
				  .functions = true,
				  .aliases = true};
	struct probe_target *target = ret;
	int err = 0;

	*target = (struct probe_target){.options = options, .is_kernel = !options->exec};
	sym_new(&target->sym, &sym);
	target->sources = sources_new(target->sym);
	if (options->exec)
		err = probe_target_file(target, options->exec);
	else if (options->vmlinux)
		err = probe_target_file(target, options->vmlinux);
	else if (options->module)
		err = probe_module_open(target);
	else
		open_vmlinux(target);
	if (err < 0)
		probe_target_done(target);
	return err;
}

void probe_target_done(struct probe_target *target)
{
	cfi_table_done(&target->cfi);
	free(target->marks.v);
	free(target->functions.v);
	sources_free(target->sources);
	sym_free(target->sym);
	probe_target_close(target);
	probe_kernel_done(target);
	arena_done(&target->arena);
	*target = (struct probe_target){0};
}

bool probe_file_offset(const struct probe_target *target, uint64_t vaddr, uint64_t *ret)
{
	struct elf_segment segment;

	// What of relocatable files is placed is code where it is asked for.
	if (target->elf.type == ET_REL) {
		*ret = vaddr;
		return true;
	}
	if (!elf_segment_of(&target->elf, vaddr, &segment) || !(segment.flags & PF_X) ||
	    vaddr - segment.vaddr >= segment.file_size)
		return false;
	*ret = vaddr - segment.vaddr + segment.offset;
	return true;
}

bool probe_vaddr(const struct probe_target *target, uint64_t offset, uint64_t *ret)
{
	struct elf_segment segment;
	bool found = false;

	for (uint32_t i = 0; elf_segment(&target->elf, i, &segment); i++) {
		if (segment.type != PT_LOAD || offset - segment.offset >= segment.file_size ||
		    (found && !(segment.flags & PF_X)))
			continue;
		*ret = offset - segment.offset + segment.vaddr;
		found = true;
	}
	return found;
}

static void read_cfi(struct probe_target *target)
{
	if (target->has_cfi)
		return;
	target->has_cfi = true;
	if (target->file.n &&
	    cfi_build(&target->cfi, &target->elf, target->debug ? &target->debug->elf : NULL) < 0)
		target->cfi = (struct cfi_table){0};
}

bool probe_cfa(void *arg, uint64_t pc, unsigned *ret_register, int64_t *ret_offset)
{
	struct probe_target *target = arg;
	const struct cfi_row *row;
	const struct cfi_rule *rule;
	uint64_t offset;

	read_cfi(target);
	if (!target->cfi.rows_n || !probe_file_offset(target, pc, &offset))
		return false;
	row = cfi_find(&target->cfi, offset);
	if (!row || !row->rule)
		return false;
	rule = cfi_rule_at(&target->cfi, row->rule);
	if (rule->cfa != CFI_CFA_REGISTER)
		return false;
	*ret_register = rule->cfa_reg;
	*ret_offset = rule->cfa_offset;
	return true;
}

int probe_no_debug(const struct probe_target *target)
{
	struct utsname name;

	if (!target->is_kernel)
		return fail(ENOENT,
			    "%s has no debug information, so its variables and lines aren't known; build it "
			    "with -g, install its debug package, or set DEBUGINFOD_URLS; the start and the "
			    "return of functions can be probed without, with registers (%%di) as arguments",
			    target->path);
	if (target->module)
		return fail(ENOENT,
			    "there is no file with debug information of the module %s, so its lines and local "
			    "variables aren't known; give one as -m PATH; the start and the return of functions "
			    "can be probed without, with registers (%%di) as arguments",
			    target->module);
	if (uname(&name) < 0)
		name.release[0] = '\0';
	return fail(ENOENT,
		    "the kernel's debug information isn't here, so its lines and local variables aren't known; "
		    "install linux-image-%s-dbg, or give a vmlinux file with -k; the start and the return of "
		    "functions can be probed without, with their parameters",
		    name.release);
}

// "malloc@@GLIBC_2.2.5" is malloc.
static bool is_named(const char *symbol, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(symbol, name, n) && (!symbol[n] || symbol[n] == '@');
}

static bool find_in(const struct elf *elf, const char *section_name, const char *name, uint64_t *ret)
{
	struct elf_section section;

	return elf_find_section(elf, section_name, &section) &&
	       elf_find_function(elf, &section, str_of(name), ret);
}

const char *probe_plain_name(struct probe_target *target, const char *symbol)
{
	const struct probe_options *options = target->options;

	if (options->no_demangle || (target->is_kernel && !options->demangle_kernel) ||
	    !demangle_maybe(symbol))
		return symbol;
	auto_free char *plain = demangle(symbol, false);

	return plain ? arena_strdup(&target->arena, str_of(plain)) : symbol;
}

bool probe_symbol(struct probe_target *target, const char *name, uint64_t *ret)
{
	const struct symbol *v;
	size_t n;

	if (target->elf.type == ET_REL)
		return probe_module_symbol(target, name, ret);
	if ((target->debug && find_in(&target->debug->elf, ".symtab", name, ret)) ||
	    find_in(&target->elf, ".symtab", name, ret) ||
	    find_in(&target->elf, ".dynsym", name, ret))
		return true;
	n = dso_symbols(target->sym, target->dso, &v);
	for (size_t i = 0; i < n; i++)
		if ((v[i].is_place ? !strcmp(v[i].name, name) : is_named(v[i].name, name)) &&
		    probe_vaddr(target, v[i].start, ret))
			return true;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(probe_plain_name(target, v[i].name), name) &&
		    probe_vaddr(target, v[i].start, ret))
			return true;
	return false;
}
