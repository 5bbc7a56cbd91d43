// SPDX-License-Identifier: GPL-2.0-or-later
// A module of the kernel: its file, which has to be of the module that runs, and symbols of a relocatable file.
#include "probe/target.h"
#include "base/err.h"
#include "base/num.h"
#include "obj/unpack.h"
#include "sys/modules.h"
#include <stdio.h>

enum { LARGEST_NOTES = 1 << 16, ID_BYTES = 20 };

struct module_id {
	uint8_t bytes[ID_BYTES];
	size_t n; // 0: the module doesn't run, or has none
	char text[2 * ID_BYTES + 1];
};

static void running_id(const char *name, struct module_id *ret)
{
	auto_free char *path = text_dup_fmt("/sys/module/%s/notes/.note.gnu.build-id", name);
	auto_free char *notes = NULL;
	size_t n;

	*ret = (struct module_id){0};
	if (file_read(path, LARGEST_NOTES, &notes, &n) == 0)
		ret->n = notes_build_id((struct str){notes, n}, false, ret->bytes);
	num_put_bytes(ret->text, ret->bytes, ret->n);
}

static bool is_running(const struct probe_target *target, const struct module_id *id)
{
	uint8_t found[ID_BYTES];

	return !id->n ||
	       (elf_build_id(&target->elf, found) == id->n && !memcmp(found, id->bytes, id->n));
}

// One that has no debug information tells nothing that the kernel doesn't.
static bool take(struct probe_target *target, const char *path, const struct module_id *id)
{
	if (path && probe_target_file(target, path) == 0 && target->debug && is_running(target, id))
		return true;
	probe_target_close(target);
	err_clear();
	return false;
}

static void find(struct probe_target *target, const char *name)
{
	const char *home = getenv("HOME");
	struct module_files files;
	struct module_id id;
	bool found;

	running_id(name, &id);
	module_files_init(&files, "");
	auto_free char *own = module_files_find(&files, str_of(name));
	module_files_done(&files);
	found = take(target, own, &id);
	if (!found && own) {
		const char *end = strstr(text_base_name(own), ".ko");
		auto_free char *debug = text_dup_fmt("/usr/lib/debug%.*s.ko", (int)(end - own), own);

		found = take(target, debug, &id);
	}
	if (!found && id.n) {
		auto_free char *debug =
			text_dup_fmt("/usr/lib/debug/.build-id/%.2s/%s.debug", id.text, id.text + 2);
		auto_free char *cached = text_dup_fmt("%s/.debug/.build-id/%.2s/%s/elf",
						      home ? home : "", id.text, id.text + 2);

		if (!take(target, debug, &id))
			take(target, cached, &id);
	}
}

int probe_module_open(struct probe_target *target)
{
	const char *wanted = target->options->module;
	auto_free char *name = module_name_of(wanted);
	struct module_id id;
	int err;

	target->module = arena_strdup(&target->arena, str_of(name));
	if (!strchr(wanted, '/')) {
		find(target, name);
		return 0;
	}
	err = probe_target_file(target, wanted);
	if (err < 0)
		return err;
	running_id(name, &id);
	if (!is_running(target, &id))
		return fail(EINVAL, "%s is not the module %s that runs: its build-id differs",
			    wanted, name);
	return 0;
}

int probe_module_bytes(struct probe_target *target)
{
	struct str packed = {(const char *)target->file.p, target->file.n};
	size_t n;

	if (packed.n < SELFMAG || !memcmp(packed.p, ELFMAG, SELFMAG) ||
	    unpack(packed, &target->unpacked, &n) < 0)
		return -EINVAL;
	return elf_init(&target->elf, target->unpacked, n);
}

// ---- symbols

static bool find_placed(const struct probe_target *target,
			bool (*is)(void *arg, const struct elf_symbol *symbol, uint64_t addr),
			void *arg)
{
	const struct elf *elf = target->debug ? &target->debug->elf : &target->elf;
	struct elf_section section;
	struct elf_symbols symbols;
	struct elf_symbol symbol;

	if (!elf_find_section(elf, ".symtab", &section) || !elf_symbols_init(&symbols, elf, &section))
		return false;
	for (uint32_t i = 1; i < symbols.n; i++) {
		uint64_t addr;

		elf_symbol(&symbols, i, &symbol);
		addr = symbol.value;
		if (symbol.type == STT_FUNC &&
		    (elf->type != ET_REL ||
		     (target->debug &&
		      relocate_address(&target->debug->relocate, elf, symbol.section, &addr))) &&
		    is(arg, &symbol, addr))
			return true;
	}
	return false;
}

struct wanted {
	const char *name; // NULL: any
	uint64_t addr;
	const char *found;
};

static bool is_there(void *arg, const struct elf_symbol *symbol, uint64_t addr)
{
	struct wanted *wanted = arg;

	if (addr != wanted->addr)
		return false;
	// Of several names the one that is asked for.
	if (!wanted->found || !strcmp(symbol->name, wanted->name))
		wanted->found = symbol->name;
	return !strcmp(wanted->found, wanted->name);
}

const char *probe_symbol_at(const struct probe_target *target, uint64_t addr, const char *name)
{
	struct wanted wanted = {.name = name, .addr = addr};

	find_placed(target, is_there, &wanted);
	return wanted.found ? wanted.found : name;
}

static bool is_named(void *arg, const struct elf_symbol *symbol, uint64_t addr)
{
	struct wanted *wanted = arg;

	wanted->addr = addr;
	return !strcmp(symbol->name, wanted->name);
}

bool probe_module_symbol(const struct probe_target *target, const char *name, uint64_t *ret)
{
	struct wanted wanted = {.name = name};

	if (!find_placed(target, is_named, &wanted))
		return false;
	*ret = wanted.addr;
	return true;
}

int probe_module_functions(const struct probe_target *target, probe_name_call *call, void *arg)
{
	struct elf_section section;
	struct elf_symbols symbols;
	int err = 0;

	if (!elf_find_section(&target->elf, ".symtab", &section) ||
	    !elf_symbols_init(&symbols, &target->elf, &section))
		return 0;
	for (uint32_t i = 1; i < symbols.n && !err; i++) {
		struct elf_symbol symbol;

		elf_symbol(&symbols, i, &symbol);
		if (symbol.type == STT_FUNC && symbol.section != SHN_UNDEF && *symbol.name)
			err = call(arg, str_of(symbol.name));
	}
	return err;
}
