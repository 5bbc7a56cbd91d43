// SPDX-License-Identifier: GPL-2.0-or-later
// Arguments of a probe: from variables and their members to what the kernel's probe events fetch. The kernel's language:
// Documentation/trace/uprobetracer.rst, kprobetrace.rst.
#include "probe/event.h"
#include "base/err.h"
#include <dwarf.h>
#include "base/nearest.h"
#include "obj/type.h"
#include <stdio.h>

struct fetching {
	struct probe_target *target;
	const struct probe_site *site;
	struct probe_event *event;
};

// Where one is while the fields of an argument are followed.
struct cursor {
	struct places places;
	uint64_t at;	   // bytes from the start of what is there
	struct die holder; // the variable or member, whose type it is
	struct die type;   // real; valid when has_type
	bool has_type;
	uint32_t bits, bit_at, bit_bytes; // of a bit field
};

// ---- variables by name

struct lookup {
	const char *name;
	struct die found;
	bool any;
};

static bool has_place(const struct die *variable)
{
	struct dwarf_value value;

	return die_attr(variable, DW_AT_location, &value) ||
	       die_attr(variable, DW_AT_const_value, &value) ||
	       die_attr(variable, DW_AT_external, &value);
}

// The innermost one of the function itself; of calls that were inlined into it only when it has none.
static bool visit_variable(void *arg, const struct die *variable, const struct die *scope,
			   bool inlined)
{
	struct lookup *lookup = arg;
	const char *name;

	if (inlined && lookup->any)
		return false;
	name = die_name(variable);
	if (name && !strcmp(name, lookup->name) && has_place(variable)) {
		lookup->found = *variable;
		lookup->any = true;
	}
	return true;
}

static enum die_walk visit_global(void *arg, const struct die *die)
{
	struct lookup *lookup = arg;
	const char *name;

	if (die_tag(die) == DW_TAG_namespace)
		return DIE_INSIDE;
	if (die_tag(die) != DW_TAG_variable)
		return DIE_NEXT;
	name = die_name(die);
	if (!name || strcmp(name, lookup->name))
		return DIE_NEXT;
	lookup->found = *die;
	lookup->any = true;
	// A declaration is what one has when there is nothing better.
	return die_flag(die, DW_AT_declaration) ? DIE_NEXT : DIE_STOP;
}

static bool find_variable(const struct fetching *f, const char *name, struct die *ret)
{
	struct lookup lookup = {.name = name};
	struct dwarf *dwarf = f->site->scope.unit->dwarf;
	struct die root;

	variables_at(&f->site->scope, f->site->addr, visit_variable, &lookup);
	if (!lookup.any && die_root(f->site->scope.unit, &root))
		die_walk(&root, visit_global, &lookup);
	// Where it is defined.
	for (size_t i = 0;
	     lookup.any && die_flag(&lookup.found, DW_AT_declaration) && i < dwarf->units.n; i++)
		if (die_root(&dwarf->units.v[i], &root))
			die_walk(&root, visit_global, &lookup);
	if (lookup.any)
		*ret = lookup.found;
	return lookup.any;
}

// ---- members

static void set_type(struct cursor *cursor)
{
	cursor->has_type = type_of(&cursor->holder, true, &cursor->type);
}

// A place, and which byte of it; in memory the place itself is that byte's.
struct picked {
	struct place place;
	uint64_t rest;
};

// The one place of the bytes at the cursor.
static bool pick(const struct cursor *cursor, uint64_t bytes, struct picked *ret)
{
	for (unsigned i = 0; i < cursor->places.n; i++) {
		const struct place *place = &cursor->places.v[i];

		if (place->bytes &&
		    (cursor->at < place->at || cursor->at + bytes > place->at + place->bytes))
			continue;
		if (place->base == PLACE_NOWHERE)
			return false;
		*ret = (struct picked){*place, cursor->at - place->at};
		if (place->in_memory) {
			ret->place.steps[place->steps_n - 1] += (int64_t)ret->rest;
			ret->rest = 0;
		}
		ret->place.at = ret->place.bytes = 0;
		return true;
	}
	return false;
}

// Goes on to what the pointer at the cursor points to.
static int follow_pointer(struct cursor *cursor, const char *name)
{
	struct picked picked;
	struct place place;
	uint64_t size = cursor->type.unit->address_size;

	if (!pick(cursor, size, &picked) || picked.rest ||
	    (picked.place.bits && picked.place.bits < size * 8))
		return fail(ENOTSUP, "'%s' is not in a place that probes can follow a pointer from",
			    name);
	place = picked.place;
	if (place.steps_n == PLACE_MOST_STEPS)
		return fail(ENOTSUP, "'%s' is behind too many pointers", name);
	if (place.base == PLACE_CONSTANT && !place.steps_n)
		place.base = PLACE_ADDRESS;
	place.steps[place.steps_n++] = place.in_memory ? 0 : place.add;
	place.in_memory = true;
	place.bits = 0;
	place.add = 0;
	cursor->places = (struct places){.n = 1};
	cursor->places.v[0] = place;
	cursor->at = 0;
	return 0;
}

static int index_field(struct cursor *cursor, const struct probe_field *field, const char *name)
{
	struct die element;
	int err;

	if (!type_is_pointer(&cursor->type) && die_tag(&cursor->type) != DW_TAG_array_type)
		return fail(EINVAL, "'%s' is no array and no pointer, so [%lld] makes no sense",
			    name, (long long)field->index);
	if (!type_of(&cursor->type, true, &element))
		return fail(EINVAL, "'%s' points to nothing that has a type", name);
	if (type_is_pointer(&cursor->type)) {
		err = follow_pointer(cursor, name);
		if (err < 0)
			return err;
	}
	cursor->at += (uint64_t)field->index * type_size(&element);
	cursor->holder = cursor->type;
	cursor->type = element;
	return 0;
}

struct names {
	VEC(const char *) v;
};

static void add_name(void *arg, const char *name)
{
	struct names *names = arg;

	if (names->v.n < 4096)
		vec_push(&names->v, name);
}

static int no_member(const struct die *type, const struct probe_field *field, const char *name)
{
	const char *type_text = die_name(type), *near;
	struct names names = {0};
	auto_free char *wanted = str_dup(field->name);
	int err;

	type_members(type, add_name, &names);
	vec_push(&names.v, NULL);
	near = nearest(wanted, names.v.v);
	err = fail(EINVAL, "'%s' (%s) has no member '%s'%s%s%s", name,
		   type_text ? type_text : "nameless", wanted, near ? "; did you mean '" : "",
		   near ? near : "", near ? "'?" : "");
	vec_done(&names.v);
	return err;
}

static int member_field(struct cursor *cursor, const struct probe_field *field, const char *name)
{
	struct type_member member;
	int err;

	if (type_is_pointer(&cursor->type)) {
		struct die to;
		bool is_reference = die_tag(&cursor->type) != DW_TAG_pointer_type;

		if (!field->is_arrow && !is_reference)
			return fail(EINVAL, "'%s' is a pointer: write '->' before '%.*s'", name,
				    STR_FMT(field->name));
		if (!type_of(&cursor->type, true, &to))
			return fail(EINVAL, "'%s' points to nothing that has a type", name);
		err = follow_pointer(cursor, name);
		if (err < 0)
			return err;
		cursor->type = to;
	} else if (field->is_arrow) {
		return fail(EINVAL, "'%s' is no pointer: write '.' before '%.*s'", name,
			    STR_FMT(field->name));
	}
	if (!type_is_struct(&cursor->type))
		return fail(EINVAL, "'%s' is no structure and no union, so it has no member '%.*s'",
			    name, STR_FMT(field->name));
	if (!type_member(&cursor->type, field->name, &member))
		return no_member(&cursor->type, field, name);
	cursor->at += member.at;
	cursor->holder = member.die;
	cursor->bits = member.bits;
	cursor->bit_at = member.bit_at;
	cursor->bit_bytes = member.bytes;
	set_type(cursor);
	return 0;
}

static int follow_fields(struct cursor *cursor, const struct probe_arg *arg)
{
	struct out so_far;
	int err = 0;

	out_init_memory(&so_far);
	out_text(&so_far, arg->var);
	for (size_t i = 0; err == 0 && i < arg->fields.n; i++) {
		const struct probe_field *field = &arg->fields.v[i];

		out_char(&so_far, '\0');
		if (!cursor->has_type)
			err = fail(EINVAL, "the type of '%s' isn't known", so_far.buf);
		else if (field->name.n)
			err = member_field(cursor, field, so_far.buf);
		else
			err = index_field(cursor, field, so_far.buf);
		so_far.n--;
		if (field->name.n)
			out_printf(&so_far, "%s%.*s", field->is_arrow ? "->" : ".",
				   STR_FMT(field->name));
		else
			out_printf(&so_far, "[%lld]", (long long)field->index);
	}
	out_done(&so_far);
	return err;
}

// ---- values as text

static const char *register_name(uint16_t machine, uint64_t number, char ret[8])
{
	static const char *const x86_64[] = {"ax", "dx", "cx", "bx", "si", "di", "bp", "sp"};
	static const char *const i386[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};

	switch (machine) {
	case EM_X86_64:
		if (number > 15)
			return NULL;
		if (number < ARRAY_SIZE(x86_64))
			return x86_64[number];
		snprintf(ret, 8, "r%u", (unsigned)number);
		return ret;
	case EM_386:
		return number < ARRAY_SIZE(i386) ? i386[number] : NULL;
	case EM_AARCH64:
		if (number == 31)
			return "sp";
		snprintf(ret, 8, "x%u", (unsigned)number);
		return number < 31 ? ret : NULL;
	default:
		return NULL;
	}
}

// uprobes count addresses from where the probed file is mapped, as if all of it were mapped like the probed code.
static bool put_address(const struct fetching *f, uint64_t addr, struct out *out)
{
	uint64_t offset;

	if (f->target->is_kernel)
		return false;
	if (!probe_file_offset(f->target, f->site->addr, &offset))
		return false;
	out_printf(out, "@+0x%llx", (unsigned long long)(addr - (f->site->addr - offset)));
	return true;
}

// Static variables of the kernel go by name.
static bool put_symbol(const struct die *variable, int64_t offset, struct out *out)
{
	const char *name = die_name(variable);

	if (!name || !probe_is_word(name))
		return false;
	out_printf(out, "@%s%+lld", name, (long long)offset);
	return true;
}

void probe_put_offset(struct out *out, const struct probe_arg *arg, int64_t offset)
{
	out_printf(out, "%s%s%lld(", offset < 0 ? "-" : "+", arg->is_user ? "u" : "",
		   llabs((long long)offset));
}

// What is asked for, and the variable that it begins with.
struct asked {
	const struct probe_arg *arg;
	struct die variable;
};

static int put_place(const struct fetching *f, const struct place *place, const struct asked *asked,
		     struct out *out)
{
	const struct probe_arg *arg = asked->arg;
	unsigned first = 0;
	char buf[8];
	const char *name;

	if (!place->in_memory && place->add)
		return fail(ENOTSUP,
			    "'%s' is only computed here (a register plus %lld), which probes can't",
			    arg->var, (long long)place->add);
	if (place->base == PLACE_ADDRESS)
		first = 1;
	for (unsigned i = place->steps_n; i > first; i--)
		probe_put_offset(out, arg, place->steps[i - 1]);
	switch (place->base) {
	case PLACE_REGISTER:
		name = register_name(f->target->elf.machine, place->number, buf);
		if (!name)
			return fail(ENOTSUP, "'%s' is in a register that probes can't read",
				    arg->var);
		out_printf(out, "%%%s", name);
		break;
	case PLACE_ADDRESS:
		if (f->target->is_kernel
			    ? !put_symbol(&asked->variable, place->steps[0], out)
			    : !put_address(f, place->number + (uint64_t)place->steps[0], out))
			return fail(ENOTSUP, "'%s' has a fixed address that probes can't say",
				    arg->var);
		break;
	case PLACE_CONSTANT:
		if (place->steps_n)
			return fail(ENOTSUP, "'%s' is behind a constant address", arg->var);
		out_printf(out, "\\%lld", (long long)place->number);
		break;
	case PLACE_NOWHERE:
		return fail(ENOENT, "'%s' is nowhere", arg->var);
	}
	for (unsigned i = first; i < place->steps_n; i++)
		out_char(out, ')');
	return 0;
}

// ---- types

bool probe_is_string(const char *type)
{
	return type && (!strcmp(type, "string") || !strcmp(type, "ustring"));
}

bool probe_is_kind(const char *type)
{
	return type && strlen(type) == 1 && strchr("sux", *type);
}

// Text is behind a pointer, or in an array that is in memory.
static int to_string(struct cursor *cursor, const struct probe_arg *arg)
{
	struct die element;
	bool is_pointer = cursor->has_type && type_is_pointer(&cursor->type);

	if (!cursor->has_type || (!is_pointer && die_tag(&cursor->type) != DW_TAG_array_type) ||
	    !type_of(&cursor->type, true, &element) || !type_is_char(&element))
		return fail(EINVAL,
			    "'%s' can't be shown as text: it is no pointer to char and no array of char",
			    arg->var);
	return is_pointer ? follow_pointer(cursor, arg->var) : 0;
}

static uint64_t size_at(const struct cursor *cursor)
{
	return cursor->bits ? cursor->bit_bytes : cursor->has_type ? type_size(&cursor->type) : 0;
}

unsigned probe_whole_bits(uint64_t bytes)
{
	return bytes >= 8 ? 64 : bytes >= 4 ? 32 : bytes >= 2 ? 16 : 8;
}

static int put_type(struct cursor *cursor, const struct probe_arg *arg, const struct picked *picked,
		    struct out *out)
{
	uint64_t size = size_at(cursor);
	unsigned bits = probe_whole_bits(size), above = (unsigned)picked->rest * 8;
	char kind;

	if (cursor->bits) {
		out_printf(out, "b%u@%u/%u", cursor->bits, cursor->bit_at + above,
			   picked->place.in_memory ? cursor->bit_bytes * 8 : 64);
		return 0;
	}
	kind = cursor->has_type && type_is_signed(&cursor->type) ? 's' : 'x';
	if (probe_is_kind(arg->type))
		kind = *arg->type;
	if (above) {
		if (kind == 's')
			return fail(ENOTSUP,
				    "'%s' is signed and not in the lowest bits of a register, where the kernel has no "
				    "signs; give it a type: :b%u@%u/64",
				    arg->var, bits, above);
		out_printf(out, "b%u@%u/64", bits, above);
		return 0;
	}
	// Arrays as a whole have no type that the kernel knows.
	if (!size || (cursor->has_type && die_tag(&cursor->type) == DW_TAG_array_type))
		return 0;
	out_printf(out, "%c%u", kind, bits);
	return 0;
}

static const char *keep(const struct fetching *f, struct out *out)
{
	return arena_strdup(&f->target->arena, (struct str){out->buf, out->n});
}

// perf's: the last member's name; else the variable's, with its type.
const char *probe_value_name(struct arena *arena, const struct probe_arg *arg)
{
	const char *name;

	if (arg->name)
		return arg->name;
	for (size_t i = arg->fields.n; i-- > 0;)
		if (arg->fields.v[i].name.n)
			return probe_clean_name(arena, arg->fields.v[i].name);
	name = probe_clean_name(arena, str_of(arg->var));
	return arg->type && !arg->fields.n ? arena_fmt(arena, "%s_%s", name, arg->type) : name;
}

static int put_value(const struct fetching *f, struct cursor *cursor, const struct asked *asked)
{
	const struct probe_arg *arg = asked->arg;
	struct probe_value value = {.name = probe_value_name(&f->target->arena, arg),
				    .type = arg->type};
	struct picked picked;
	const struct place *place = &picked.place;
	struct out out;
	uint64_t size;
	int err = 0;

	if (probe_is_string(arg->type))
		err = to_string(cursor, arg);
	if (err < 0)
		return err;
	size = probe_is_string(arg->type) ? 0 : size_at(cursor);
	if (!pick(cursor, MIN(size, 8), &picked) || picked.rest >= 8)
		return fail(ENOTSUP,
			    "'%s' is in several places at once, or partly nowhere; ask for one of its members",
			    arg->var);
	if (place->bits && (!size || place->bits < size * 8))
		return fail(ENOTSUP, "'%s' is only computed here, which probes can't", arg->var);
	out_init_memory(&out);
	err = put_place(f, place, asked, &out);
	if (err == 0)
		value.value = keep(f, &out);
	out.n = 0;
	if (err == 0 && (!arg->type || probe_is_kind(arg->type))) {
		err = put_type(cursor, arg, &picked, &out);
		value.type = out.n ? keep(f, &out) : NULL;
	}
	out_done(&out);
	if (err == 0)
		vec_push(&f->event->values, value);
	return err;
}

static int not_here(const char *name)
{
	return fail(ENOENT,
		    "'%s' isn't anywhere at this address: it may be optimized out; sonde probe -V with --range "
		    "shows where variables are",
		    name);
}

static int one_value(const struct fetching *f, const struct probe_arg *arg)
{
	struct place_context context = probe_context(f->target, f->site);
	struct cursor cursor = {0};
	struct asked asked = {.arg = arg};
	int err;

	if (!find_variable(f, arg->var, &asked.variable))
		return not_here(arg->var);
	cursor.holder = asked.variable;
	set_type(&cursor);
	err = variable_places(&asked.variable, &context, &cursor.places);
	if (err == -ENOTSUP)
		return fail(ENOTSUP, "'%s' is computed here in a way that probes can't", arg->var);
	if (err < 0)
		return not_here(arg->var);
	err = follow_fields(&cursor, arg);
	return err < 0 ? err : put_value(f, &cursor, &asked);
}

// ---- all of them

struct expansion {
	const struct fetching *f;
	bool variables; // not only parameters
	int err;
};

static bool visit_expanded(void *arg, const struct die *variable, const struct die *scope,
			   bool inlined)
{
	struct expansion *e = arg;
	struct probe_arg one = {.var = die_name(variable)};

	if (die_tag(variable) != DW_TAG_formal_parameter && !e->variables)
		return true;
	if (!one.var || inlined || e->f->event->values.n >= PROBE_MOST_ARGS)
		return true;
	if (one_value(e->f, &one) < 0)
		err_clear(); // what can't be fetched is left out
	return true;
}

static void expand(const struct fetching *f, bool variables)
{
	struct expansion e = {.f = f, .variables = variables};

	variables_at(&f->site->scope, f->site->addr, visit_expanded, &e);
}

void probe_add_raw(struct probe_event *event, const struct probe_arg *arg)
{
	vec_push(&event->values,
		 (struct probe_value){.name = arg->name, .value = arg->var, .type = arg->type});
}

int probe_values(struct probe_target *target, const struct probe_request *request,
		 const struct probe_site *site, struct probe_event *event)
{
	const struct fetching f = {target, site, event};
	int err = 0;

	for (size_t i = 0; err == 0 && i < request->args.n; i++) {
		const struct probe_arg *arg = &request->args.v[i];

		if (!strcmp(arg->var, "$params"))
			expand(&f, false);
		else if (!strcmp(arg->var, "$vars"))
			expand(&f, true);
		else if (arg->is_raw)
			probe_add_raw(event, arg);
		else
			err = one_value(&f, arg);
	}
	return err;
}

int probe_raw_values(struct probe_target *target, const struct probe_request *request,
		     struct probe_event *event)
{
	for (size_t i = 0; i < request->args.n; i++) {
		const struct probe_arg *arg = &request->args.v[i];

		if (probe_is_function_arg(arg))
			return probe_no_debug(target);
		probe_add_raw(event, arg);
	}
	return 0;
}
