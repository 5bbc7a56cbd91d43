// SPDX-License-Identifier: GPL-2.0-or-later
// Parameters of the running kernel's functions, by its own type information: they are in the registers of the calling convention
// when a function starts.
#include "probe/event.h"
#include "base/err.h"
#include <stdio.h>
#include <sys/utsname.h>
#include "obj/btf.h"

struct parameters {
	struct probe_target *target;
	const struct btf *btf;
	uint32_t prototype;
	const char *function;
};

// The register of parameter `index`; NULL: it is on the stack.
static const char *register_of(uint32_t index)
{
	static const char *const x86_64[] = {"di", "si", "dx", "cx", "r8", "r9"};
	static const char *const arm64[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
	struct utsname name;

	if (uname(&name) < 0)
		return NULL;
	if (!strcmp(name.machine, "x86_64"))
		return index < ARRAY_SIZE(x86_64) ? x86_64[index] : NULL;
	if (!strcmp(name.machine, "aarch64"))
		return index < ARRAY_SIZE(arm64) ? arm64[index] : NULL;
	return NULL;
}

static bool is_struct(const struct btf *btf, uint32_t type)
{
	enum btf_kind kind = btf_kind(btf, btf_real(btf, type));

	return kind == BTF_STRUCT || kind == BTF_UNION;
}

// Large structures take the registers of several parameters, or none.
static int find_parameter(const struct parameters *p, const char *name, const char **ret_register,
			  uint32_t *ret_type)
{
	struct btf_param param;

	for (uint32_t i = 0; btf_param(p->btf, p->prototype, i, &param); i++) {
		if (is_struct(p->btf, param.type))
			return fail(ENOTSUP,
				    "%s has a structure as a parameter, so it isn't known where '%s' is",
				    p->function, name);
		if (strcmp(param.name, name))
			continue;
		*ret_register = register_of(i);
		*ret_type = param.type;
		return *ret_register ? 0
				     : fail(ENOTSUP, "parameter '%s' of %s is in no register", name,
					    p->function);
	}
	return fail(ENOENT,
		    "%s has no parameter '%s'; local variables need debug information (linux-image-*-dbg, or "
		    "-k FILE)",
		    p->function, name);
}

// What is fetched so far: `text`, memory at `offset` behind it when is_memory.
struct fetch {
	const char *text;
	bool is_memory;
	int64_t offset;
	uint32_t type, bits, bit_at;
};

static const char *fetch_text(struct arena *arena, const struct fetch *fetch,
			      const struct probe_arg *arg)
{
	const char *text = fetch->text;
	struct out out;

	if (!fetch->is_memory)
		return text;
	out_init_memory(&out);
	probe_put_offset(&out, arg, fetch->offset);
	out_printf(&out, "%s)", text);
	text = arena_strdup(arena, (struct str){out.buf, out.n});
	out_done(&out);
	return text;
}

static void dereference(struct arena *arena, struct fetch *fetch, const struct probe_arg *arg)
{
	fetch->text = fetch_text(arena, fetch, arg);
	fetch->is_memory = true;
	fetch->offset = 0;
}

static int one_field(const struct parameters *p, const struct probe_arg *arg,
		     const struct probe_field *field, struct fetch *fetch)
{
	const struct btf *btf = p->btf;
	uint32_t type = btf_real(btf, fetch->type);
	bool is_pointer = btf_kind(btf, type) == BTF_PTR;
	struct btf_member member;

	if (!field->name.n && (is_pointer || btf_kind(btf, type) == BTF_ARRAY)) {
		if (is_pointer)
			dereference(&p->target->arena, fetch, arg);
		fetch->type = btf_to(btf, type);
		fetch->offset += field->index * (int64_t)btf_size(btf, fetch->type);
		return 0;
	}
	if (field->is_arrow != is_pointer)
		return fail(EINVAL, "in '%s' there has to be '%s' before '%.*s'", arg->var,
			    is_pointer ? "->" : ".", STR_FMT(field->name));
	if (is_pointer) {
		dereference(&p->target->arena, fetch, arg);
		type = btf_real(btf, btf_to(btf, type));
	}
	if (!btf_member(btf, type, field->name, &member))
		return fail(EINVAL, "'%s': %s has no member '%.*s'", arg->var, btf_name(btf, type),
			    STR_FMT(field->name));
	fetch->type = member.type;
	fetch->bits = member.bits;
	fetch->bit_at = 0;
	fetch->offset += (int64_t)(member.bit_at / 8);
	if (member.bits) {
		// The unit that holds the bits is as large as their type.
		uint64_t bytes = MAX(btf_size(btf, member.type), 1);
		uint64_t into = member.bit_at / 8 % bytes;

		fetch->offset -= (int64_t)into;
		fetch->bit_at = (uint32_t)(into * 8 + member.bit_at % 8);
	}
	return 0;
}

static const char *type_text(const struct parameters *p, const struct fetch *fetch,
			     const struct probe_arg *arg)
{
	uint64_t size = btf_size(p->btf, fetch->type);
	char kind = btf_is_signed(p->btf, fetch->type) ? 's' : 'x';

	if (probe_is_kind(arg->type))
		kind = *arg->type;
	else if (arg->type)
		return arg->type;
	if (fetch->bits)
		return arena_fmt(&p->target->arena, "b%u@%u/%u", fetch->bits, fetch->bit_at,
				 (unsigned)size * 8);
	return arena_fmt(&p->target->arena, "%c%u", kind, probe_whole_bits(size ? size : 8));
}

static int one_value(const struct parameters *p, const struct probe_arg *arg,
		     struct probe_event *event)
{
	struct arena *arena = &p->target->arena;
	struct fetch fetch = {0};
	const char *reg = "";
	int err = find_parameter(p, arg->var, &reg, &fetch.type);

	if (err < 0 || !reg)
		return err;
	fetch.text = arena_fmt(arena, "%%%s", reg);
	for (size_t i = 0; err == 0 && i < arg->fields.n; i++)
		err = one_field(p, arg, &arg->fields.v[i], &fetch);
	if (err < 0)
		return err;
	if (probe_is_string(arg->type) && btf_kind(p->btf, btf_real(p->btf, fetch.type)) == BTF_PTR)
		dereference(arena, &fetch, arg);
	vec_push(&event->values, (struct probe_value){
					 .name = probe_value_name(arena, arg),
					 .value = fetch_text(arena, &fetch, arg),
					 .type = type_text(p, &fetch, arg),
				 });
	return 0;
}

static void all_parameters(const struct parameters *p, struct probe_event *event)
{
	struct btf_param param = {0};

	for (uint32_t i = 0; btf_param(p->btf, p->prototype, i, &param); i++) {
		struct probe_arg arg = {.var = param.name ? param.name : ""};

		if (*arg.var && one_value(p, &arg, event) < 0)
			err_clear(); // what can't be fetched is left out
	}
}

int probe_kernel_values(struct probe_target *target, const struct probe_request *request,
			struct probe_event *event)
{
	struct parameters p = {.target = target, .function = event->real_name};
	bool raw = true;
	int err = 0;

	for (size_t i = 0; i < request->args.n; i++) {
		if (!strcmp(request->args.v[i].var, "$vars"))
			return probe_no_debug(target);
		raw &= !probe_is_function_arg(&request->args.v[i]);
	}
	if (raw)
		return probe_raw_values(target, request, event);
	if (request->point.offset)
		return fail(ENOTSUP,
			    "parameters are known at the start of %s only, without debug information",
			    p.function);
	p.btf = probe_kernel_types(target);
	if (!p.btf)
		return probe_no_debug(target);
	p.prototype = btf_function(p.btf, p.function);
	if (!p.prototype)
		return fail(ENOENT,
			    "the kernel's type information has no function %s, so its parameters aren't known; "
			    "registers (%%di) can be fetched",
			    p.function);
	for (size_t i = 0; err == 0 && i < request->args.n; i++) {
		const struct probe_arg *arg = &request->args.v[i];

		if (!strcmp(arg->var, "$params"))
			all_parameters(&p, event);
		else if (arg->is_raw)
			probe_add_raw(event, arg);
		else
			err = one_value(&p, arg, event);
	}
	return err;
}
