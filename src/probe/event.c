// SPDX-License-Identifier: GPL-2.0-or-later
// The events that a request makes, and how the kernel is told about them.
//
// probe/parse reads a definition, find and lines_walk turn it into addresses by entries of debug information (obj/die) and rows
// of line tables, argument turns variables into what uprobe_events can fetch. obj/place runs a location expression without a
// program: it keeps for each stack entry how to come to it, a register or address with offsets and pointers to follow, which is
// just the kernel's language; what doesn't fit in (sums of registers) is refused. With --cache a definition is also kept in
// perf's build-id cache (sym/probe_cache). Frames come from the same CFI tables as unwinding.
#include "probe/event.h"
#include "base/err.h"
#include <ctype.h>
#include <stdio.h>
#include "obj/sdt.h"

void probe_events_done(struct probe_events *events)
{
	for (size_t i = 0; i < events->v.n; i++)
		vec_done(&events->v.v[i].values);
	vec_done(&events->v);
}

// ---- names

// "probe_libc" for /usr/lib/libc.so.6
const char *probe_group_of(struct probe_target *target)
{
	const char *base = target->path ? strrchr(target->path, '/') : NULL;
	size_t n = 0;

	if (target->is_kernel || !base)
		return "probe";
	base++;
	while (isalnum((unsigned char)base[n]) || base[n] == '_')
		n++;
	return arena_fmt(&target->arena, "probe_%.*s", (int)MIN(n, 50), base);
}

// Without what compilers add (".isra.0") and without versions.
static const char *event_of(struct probe_target *target, const struct probe_request *request,
			    const struct probe_event *event)
{
	const struct probe_point *point = &request->point;
	struct arena *arena = &target->arena;
	const char *base = event->real_name;
	const char *name;
	size_t n;

	if (request->event)
		return point->is_return ? arena_fmt(arena, "%s__return", request->event)
					: request->event;
	if (point->is_address)
		base = arena_fmt(arena, "abs_%llx", (unsigned long long)point->address);
	else if (point->function && !probe_is_glob(point->function))
		base = point->function;
	if (!base)
		base = "probe";
	if (*base == '.')
		base++;
	n = point->is_place ? strlen(base) : strcspn(base, ".@");
	// Names of C++ and Rust have more than the kernel allows.
	name = probe_clean_name(arena, (struct str){base, MIN(n ? n : strlen(base), 50)});
	if (point->function && point->line)
		name = arena_fmt(arena, "%s_L%u", name, point->line);
	return point->is_return ? arena_fmt(arena, "%s__return", name) : name;
}

struct making {
	struct probe_target *target;
	const struct probe_request *request;
	struct probe_events *events;
	int left_out; // why the last one was that is not among the events
};

// Takes over the event; values_err: what came of its values.
static int put_event(struct making *making, struct probe_event *event, int values_err)
{
	const char *function = making->request->point.function;

	if (values_err < 0) {
		vec_done(&event->values);
		if (!function || !probe_is_glob(function))
			return values_err;
		// Of many functions those that have no such variable are left out.
		making->left_out = values_err;
		return 0;
	}
	event->group =
		making->request->group ? making->request->group : probe_group_of(making->target);
	event->event = event_of(making->target, making->request, event);
	vec_push(&making->events->v, *event);
	return 0;
}

// ---- by debug information

static const char *kernel_name(struct probe_target *target, const char *symbol)
{
	return target->module ? arena_fmt(&target->arena, "%s:%s", target->module, symbol) : symbol;
}

static int add_site(void *arg, const struct probe_site *site)
{
	struct making *making = arg;
	struct probe_target *target = making->target;
	struct probe_event event = {.is_return = site->is_return};

	event.real_name = die_name(&site->scope);
	if (target->is_kernel) {
		const char *name = die_name(&site->function);

		if (!name)
			return fail(ENOENT, "0x%llx is in a function without a name",
				    (unsigned long long)site->addr);
		event.symbol = kernel_name(target, probe_symbol_at(target, site->entry, name));
		event.at = site->addr - site->entry;
	} else {
		event.path = target->path;
		if (!probe_file_offset(target, site->addr, &event.at))
			return fail(ENOENT, "0x%llx is not in %s", (unsigned long long)site->addr,
				    target->path);
	}
	return put_event(making, &event, probe_values(target, making->request, site, &event));
}

// ---- by symbols

// The last place that there is room for was taken.
static int check_room(const struct making *making)
{
	uint32_t most = making->target->options->max_probes;

	return making->events->v.n < most
		       ? 0
		       : fail(ERANGE,
			      "more than %u functions are called '%s'; --max-probes allows more",
			      most, making->request->point.function);
}

static int add_symbol(struct making *making, const char *name, uint64_t at)
{
	struct probe_event event = {
		.path = making->target->path,
		.at = at + making->request->point.offset,
		.is_return = making->request->point.is_return,
		.real_name = name,
	};

	return put_event(making, &event, probe_raw_values(making->target, making->request, &event));
}

static int add_matching_symbols(struct making *making)
{
	struct probe_target *target = making->target;
	const char *glob = making->request->point.function;
	const struct symbol *v;
	size_t n = dso_symbols(target->sym, target->dso, &v);
	int err = 0;

	for (size_t i = 0; err == 0 && i < n; i++) {
		const char *name = v[i].name;

		if ((v[i].type != STT_FUNC && v[i].type != STT_GNU_IFUNC) || strchr(name, '@'))
			continue;
		if (!text_glob(name, glob))
			name = probe_plain_name(target, name);
		if (!text_glob(name, glob))
			continue;
		err = check_room(making);
		if (err == 0)
			err = add_symbol(making, name, v[i].start);
	}
	return err;
}

static int by_symbol(struct making *making)
{
	const struct probe_point *point = &making->request->point;
	struct probe_target *target = making->target;
	uint64_t addr, at;

	if (point->file || point->line || point->lazy || !point->function)
		return probe_no_debug(target);
	if (point->is_address)
		return probe_file_offset(target, point->address, &at)
			       ? add_symbol(making, point->function, at)
			       : fail(ENOENT, "%s has no code at %s", target->path, point->function);
	if (probe_is_glob(point->function))
		return add_matching_symbols(making);
	if (!probe_symbol(target, point->function, &addr) || !probe_file_offset(target, addr, &at))
		return 0;
	return add_symbol(making, point->function, at);
}

// ---- by names of the running kernel

struct kernel_search {
	struct making *making;
	bool found;
};

static int add_kernel_function(void *arg, struct str name)
{
	struct kernel_search *search = arg;
	struct making *making = search->making;
	struct probe_target *target = making->target;
	const struct probe_point *point = &making->request->point;
	struct probe_event event = {.is_return = point->is_return, .at = point->offset};
	bool is_glob = probe_is_glob(point->function);
	int err;

	// Static functions of the same name are one symbol to the kernel.
	if (!is_glob && (search->found || !str_is(name, point->function)))
		return 0;
	auto_free char *text = str_dup(name);
	if (is_glob && !text_glob(text, point->function))
		return 0;
	search->found = true;
	err = check_room(making);
	if (err < 0)
		return err;
	event.real_name = arena_strdup(&target->arena, name);
	event.symbol = kernel_name(target, event.real_name);
	return put_event(making, &event, probe_kernel_values(target, making->request, &event));
}

static int by_kernel_name(struct making *making)
{
	const struct probe_point *point = &making->request->point;
	struct probe_target *target = making->target;
	struct kernel_search search = {.making = making};
	int err;

	if (point->file || point->line || point->lazy || !point->function)
		return probe_no_debug(target);
	if (point->is_address)
		return fail(ENOTSUP, "the kernel is probed by names, not by addresses");
	err = probe_kernel_functions(target, add_kernel_function, &search);
	if (err == 0 && !search.found)
		return fail(ENOENT, "the kernel has no function '%s'%s%s", point->function,
			    target->module ? " in module " : "",
			    target->module ? target->module : "");
	return err;
}

// ---- static probes

static int add_note(struct making *making, const struct sdt_note *note)
{
	struct probe_target *target = making->target;
	const char *group = making->request->group;
	struct probe_event event = {
		.group = group && !probe_is_glob(group)
				 ? group
				 : arena_fmt(&target->arena, "sdt_%s", note->provider),
		.event = arena_strdup(&target->arena, str_of(note->name)),
		.path = target->path,
		.at = note->location,
		.semaphore = note->semaphore,
		.real_name = note->name,
	};
	struct str rest = str_of(note->arguments);
	unsigned number = 0;
	char value[64];

	while (rest.p && !making->request->args.n) {
		struct str argument = str_cut(&rest, ' '), type;
		struct str text;

		if (!argument.n)
			continue;
		number++;
		if (!sdt_argument(target->elf.machine, argument, value, sizeof(value)))
			continue;
		text = str_of(value);
		type = text;
		text = str_cut(&type, ':');
		vec_push(&event.values,
			 (struct probe_value){
				 .name = arena_fmt(&target->arena, "arg%u", number),
				 .value = arena_strdup(&target->arena, text),
				 .type = type.p ? arena_strdup(&target->arena, type) : NULL,
			 });
	}
	if (making->request->args.n) {
		int err = probe_raw_values(target, making->request, &event);

		if (err < 0) {
			vec_done(&event.values);
			return err;
		}
	}
	vec_push(&making->events->v, event);
	return 0;
}

static int by_note(struct making *making)
{
	struct probe_target *target = making->target;
	const struct probe_request *request = making->request;
	struct sdt_notes notes;
	struct sdt_note note;
	int err = 0;

	if (!target->file.n || !sdt_notes_init(&notes, &target->elf))
		return 0;
	while (err == 0 && sdt_notes_next(&notes, &note)) {
		const char *provider = request->group;

		if (provider && text_starts(provider, "sdt_"))
			provider += 4;
		if ((!provider || text_glob(note.provider, provider)) &&
		    text_glob(note.name, request->event))
			err = add_note(making, &note);
	}
	return err;
}

// Static probes, then what was given a name before.
static int by_name(struct making *making)
{
	const struct probe_request *request = making->request;
	struct probe_target *target = making->target;
	int err = by_note(making);

	if (!err && !making->events->v.n)
		err = probe_cached_find(target, request, making->events);
	if (err < 0 || making->events->v.n)
		return MIN(err, 0);
	if (target->path)
		return fail(ENOENT, "%s has no static probe '%s%s%s'", target->path,
			    request->group ? request->group : "", request->group ? ":" : "",
			    request->event);
	return fail(ENOENT,
		    "no file of the cache has a static probe '%s%s%s'; name the file with -x, or put it into "
		    "the cache with: sonde buildid-cache --add FILE",
		    request->group ? request->group : "", request->group ? ":" : "", request->event);
}

// ----

static bool needs_debug(const struct probe_request *request)
{
	const struct probe_point *point = &request->point;

	if (point->file || point->line || point->lazy)
		return true;
	for (size_t i = 0; i < request->args.n; i++)
		if (probe_is_function_arg(&request->args.v[i]))
			return true;
	return false;
}

static int not_found(struct probe_target *target, const struct probe_request *request)
{
	struct out out;
	int err;

	out_init_memory(&out);
	probe_put_point(&out, &request->point);
	out_char(&out, '\0');
	err = fail(ENOENT, "there is no '%s' in %s", out.buf,
		   target->path ? target->path : "the kernel");
	out_done(&out);
	return err;
}

static int make(struct making *making)
{
	const struct probe_request *request = making->request;
	struct probe_target *target = making->target;
	int n = 0;

	if (request->is_sdt)
		return by_name(making);
	if (needs_debug(request) && !target->debug)
		n = probe_cached_find(target, request, making->events);
	if (n)
		return MIN(n, 0);
	if (target->debug)
		n = probe_find(target, &request->point, add_site, making);
	else if (needs_debug(request) && !target->is_kernel)
		return probe_no_debug(target);
	// Functions in assembly have symbols only; the running kernel tells parameters itself.
	if (n == 0 && (!needs_debug(request) || !target->debug))
		n = target->is_kernel ? by_kernel_name(making) : by_symbol(making);
	if (n >= 0 && !making->events->v.n)
		return making->left_out ? making->left_out : not_found(target, request);
	return n;
}

// Texts of a definition have to be words, as it is one line. -EINVAL with a sentence.
static int check_words(const struct probe_event *event)
{
	const char *const texts[] = {event->path, event->symbol, event->event, event->group};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i] && !probe_is_word(texts[i]))
			return fail(EINVAL,
				    "the kernel takes no blanks, control characters and # in names, so '%s' can't be probed",
				    texts[i]);
	return 0;
}

// A function that has only a place is called FILE@ADDRESS, which reads as FUNCTION@SOURCE.
static struct probe_request by_place(struct probe_target *target, const struct probe_request *request)
{
	struct probe_request ret = *request;
	struct probe_point *point = &ret.point;
	const char *name;
	uint64_t addr;

	if (target->is_kernel || target->debug || !point->file || !point->function || point->line)
		return ret;
	name = arena_fmt(&target->arena, "%s@%s", point->function, point->file);
	if (!probe_symbol(target, name, &addr))
		return ret;
	point->function = name;
	point->file = NULL;
	point->is_place = true;
	return ret;
}

int probe_make_events(struct probe_target *target, const struct probe_request *request,
		      struct probe_events *ret)
{
	struct probe_request placed = by_place(target, request);
	struct probe_events events = {0};
	struct making making = {.target = target, .request = &placed, .events = &events};
	int err = make(&making);

	for (size_t i = 0; err >= 0 && i < events.v.n; i++)
		err = check_words(&events.v.v[i]);
	if (err < 0) {
		probe_events_done(&events);
		return err;
	}
	*ret = events;
	return 0;
}

void probe_put_value(struct out *out, const struct probe_value *value)
{
	if (value->name)
		out_printf(out, "%s=", value->name);
	out_text(out, value->value);
	if (value->type)
		out_printf(out, ":%s", value->type);
}

void probe_put_definition(struct out *out, const struct probe_event *event)
{
	out_printf(out, "%c:%s/%s ", event->is_return ? 'r' : 'p', event->group, event->event);
	if (event->path)
		out_printf(out, "%s:0x%llx", event->path, (unsigned long long)event->at);
	else
		out_printf(out, "%s+%llu", event->symbol, (unsigned long long)event->at);
	if (event->semaphore)
		out_printf(out, "(0x%llx)", (unsigned long long)event->semaphore);
	for (size_t i = 0; i < event->values.n; i++) {
		out_char(out, ' ');
		probe_put_value(out, &event->values.v[i]);
	}
}
