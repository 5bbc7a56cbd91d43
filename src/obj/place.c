// SPDX-License-Identifier: GPL-2.0-or-later
// Location expressions: instead of computing a value the machine keeps, for each entry of the stack, how one comes to it.
#include <dwarf.h>
#include <errno.h>
#include "obj/variable.h"

enum {
	MOST_STACK = 16,
	MOST_OPS = 256,
	MOST_DEPTH = 4, // expressions in expressions
	OP_GNU_entry_value = 0xf3,
	OP_GNU_addr_index = 0xfb,
	OP_GNU_const_index = 0xfc,
	OP_GNU_regval_type = 0xf5,
};

struct machine {
	const struct dwarf_unit *unit;
	const struct place_context *context;
	struct dwarf_reader r;
	struct place stack[MOST_STACK];
	unsigned n;
	bool is_value, is_register; // how the expression ends
	bool bad;		    // makes no sense, or can't be said as a place
	unsigned depth;
};

static void run(struct machine *m, struct places *ret);

static void push(struct machine *m, struct place place)
{
	if (m->n == MOST_STACK)
		m->bad = true;
	else
		m->stack[m->n++] = place;
}

static struct place *top(struct machine *m)
{
	static const struct place nothing;

	if (!m->n) {
		m->bad = true;
		m->stack[m->n++] = nothing;
	}
	return &m->stack[m->n - 1];
}

static void push_constant(struct machine *m, uint64_t v)
{
	push(m, (struct place){.base = PLACE_CONSTANT, .number = v});
}

static void push_register(struct machine *m, uint64_t number, int64_t add)
{
	push(m, (struct place){.base = PLACE_REGISTER, .number = number, .add = add});
}

static void add_to(struct machine *m, struct place *place, uint64_t v)
{
	m->bad |= place->bits != 0; // what is cut off would have to be cut off before
	if (place->base == PLACE_CONSTANT && !place->steps_n)
		place->number += v;
	else
		place->add = (int64_t)((uint64_t)place->add + v);
}

static bool is_constant(const struct place *place)
{
	return place->base == PLACE_CONSTANT && !place->steps_n;
}

static void arithmetic(struct machine *m, uint8_t op)
{
	struct place b = *top(m), *a;

	m->n--;
	a = top(m);
	if (op == DW_OP_plus && is_constant(a) && !is_constant(&b)) {
		struct place constant = *a;

		*a = b;
		b = constant;
	}
	if (!is_constant(&b)) {
		m->bad = true;
		return;
	}
	switch (op) {
	case DW_OP_plus:
		add_to(m, a, b.number);
		return;
	case DW_OP_minus:
		add_to(m, a, 0 - b.number);
		return;
	case DW_OP_and:
		// Cutting off is what the type of a fetched value does.
		m->bad |= a->add || (b.number & (b.number + 1)) || !b.number;
		if (b.number != UINT64_MAX)
			a->bits = (uint32_t)__builtin_popcountll(b.number);
		return;
	case DW_OP_shl:
		m->bad |= !is_constant(a) || b.number > 63;
		if (!m->bad)
			a->number <<= b.number;
		return;
	case DW_OP_mul:
		m->bad |= !is_constant(a);
		a->number *= b.number;
		return;
	}
}

static void dereference(struct machine *m, unsigned size)
{
	struct place *place = top(m);

	if (size != m->unit->address_size || place->steps_n == PLACE_MOST_STEPS || place->bits) {
		m->bad = true;
		return;
	}
	if (is_constant(place))
		place->base = PLACE_ADDRESS;
	place->steps[place->steps_n++] = place->add;
	place->add = 0;
}

// The value of another expression, as a value.
static void push_inner(struct machine *m, struct str expression)
{
	struct machine inner = {.unit = m->unit, .context = m->context, .depth = m->depth + 1};
	struct places places = {0};

	if (m->depth >= MOST_DEPTH) {
		m->bad = true;
		return;
	}
	inner.r = dwarf_reader_at(expression, 0, m->unit->dwarf->elf.swap);
	run(&inner, &places);
	if (inner.bad || inner.r.bad || places.n || inner.n != 1) {
		m->bad = true;
		return;
	}
	push(m, inner.stack[0]);
}

struct frame_base {
	uint64_t pc;
	struct str expression;
};

static void take_frame_base(void *arg, uint64_t low, uint64_t high, struct str expression)
{
	struct frame_base *base = arg;

	if (base->pc >= low && base->pc < high)
		base->expression = expression;
}

static void push_frame_base(struct machine *m)
{
	struct frame_base base = {.pc = m->context->pc};

	if (!m->context->function ||
	    !variable_locations(m->context->function, DW_AT_frame_base, take_frame_base, &base))
		m->bad = true;
	else
		push_inner(m, base.expression);
}

static void push_cfa(struct machine *m)
{
	unsigned number;
	int64_t offset;

	if (!m->context->cfa || !m->context->cfa(m->context->arg, m->context->pc, &number, &offset))
		m->bad = true;
	else
		push_register(m, number, offset);
}

static struct str take_block(struct machine *m)
{
	uint64_t n = dwarf_uleb(&m->r);
	struct str bytes = {(const char *)m->r.p, n};

	dwarf_skip(&m->r, n);
	return m->r.bad ? (struct str){NULL, 0} : bytes;
}

static void push_implicit(struct machine *m, struct str bytes)
{
	struct dwarf_reader r = dwarf_reader_at(bytes, 0, m->unit->dwarf->elf.swap);
	uint64_t v = 0;

	if (bytes.n == 1 || bytes.n == 2 || bytes.n == 4 || bytes.n == 8)
		v = dwarf_uint(&r, (unsigned)bytes.n);
	else
		m->bad = true;
	push_constant(m, v);
	m->is_value = true;
}

static void push_address(struct machine *m, struct dwarf_value value, bool is_constant_index)
{
	uint64_t addr = 0;

	m->bad |= !dwarf_address(m->unit, &value, &addr);
	push(m, (struct place){.base = is_constant_index ? PLACE_CONSTANT : PLACE_ADDRESS,
			       .number = addr});
}

// A part of the variable is described; what stands on the stack is where it is.
static struct place finish(struct machine *m)
{
	struct place place = {0};

	if (!m->n)
		return place; // optimized out
	place = *top(m);
	m->n = 0;
	if (m->is_register || m->is_value) {
		if (place.base == PLACE_ADDRESS && !place.steps_n)
			place.base = PLACE_CONSTANT; // the address itself is the value
		return place;
	}
	if (place.bits || place.steps_n == PLACE_MOST_STEPS) {
		m->bad = true;
		return place;
	}
	if (is_constant(&place))
		place.base = PLACE_ADDRESS;
	place.steps[place.steps_n++] = place.add;
	place.add = 0;
	place.in_memory = true;
	return place;
}

static void piece(struct machine *m, struct places *ret, uint64_t bytes)
{
	struct place place = finish(m);

	m->is_register = m->is_value = false;
	if (ret->n == PLACE_MOST_PIECES) {
		m->bad = true;
		return;
	}
	place.at = ret->n ? ret->v[ret->n - 1].at + ret->v[ret->n - 1].bytes : 0;
	place.bytes = bytes;
	if (place.at + bytes < bytes)
		m->bad = true;
	ret->v[ret->n++] = place;
}

static bool small_op(struct machine *m, uint8_t op)
{
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push_constant(m, (uint64_t)(op - DW_OP_lit0));
		return true;
	}
	if (op >= DW_OP_reg0 && op <= DW_OP_reg31) {
		push_register(m, (uint64_t)(op - DW_OP_reg0), 0);
		m->is_register = true;
		return true;
	}
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_register(m, (uint64_t)(op - DW_OP_breg0), dwarf_sleb(&m->r));
		return true;
	}
	return false;
}

static bool constant_op(struct machine *m, uint8_t op)
{
	struct dwarf_reader *r = &m->r;

	switch (op) {
	case DW_OP_const1u:
		push_constant(m, dwarf_u8(r));
		return true;
	case DW_OP_const1s:
		push_constant(m, (uint64_t)(int64_t)(int8_t)dwarf_u8(r));
		return true;
	case DW_OP_const2u:
		push_constant(m, dwarf_u16(r));
		return true;
	case DW_OP_const2s:
		push_constant(m, (uint64_t)(int64_t)(int16_t)dwarf_u16(r));
		return true;
	case DW_OP_const4u:
		push_constant(m, dwarf_u32(r));
		return true;
	case DW_OP_const4s:
		push_constant(m, (uint64_t)(int64_t)(int32_t)dwarf_u32(r));
		return true;
	case DW_OP_const8u:
	case DW_OP_const8s:
		push_constant(m, dwarf_u64(r));
		return true;
	case DW_OP_constu:
		push_constant(m, dwarf_uleb(r));
		return true;
	case DW_OP_consts:
		push_constant(m, (uint64_t)dwarf_sleb(r));
		return true;
	default:
		return false;
	}
}

static void step(struct machine *m, struct places *ret)
{
	struct dwarf_reader *r = &m->r;
	uint8_t op = dwarf_u8(r);
	uint64_t number;

	if (small_op(m, op) || constant_op(m, op))
		return;
	switch (op) {
	case DW_OP_addr:
		push_address(m,
			     (struct dwarf_value){.kind = DWARF_ADDRESS,
						  .u = dwarf_uint(r, m->unit->address_size)},
			     false);
		return;
	case DW_OP_addrx:
	case OP_GNU_addr_index:
	case DW_OP_constx:
	case OP_GNU_const_index:
		push_address(m, (struct dwarf_value){.kind = DWARF_ADDRESS_INDEX, .u = dwarf_uleb(r)},
			     op == DW_OP_constx || op == OP_GNU_const_index);
		return;
	case DW_OP_regx:
		push_register(m, dwarf_uleb(r), 0);
		m->is_register = true;
		return;
	case DW_OP_regval_type:
	case OP_GNU_regval_type:
		push_register(m, dwarf_uleb(r), 0);
		dwarf_uleb(r);
		return;
	case DW_OP_bregx:
		number = dwarf_uleb(r);
		push_register(m, number, dwarf_sleb(r));
		return;
	case DW_OP_fbreg:
		push_frame_base(m);
		add_to(m, top(m), (uint64_t)dwarf_sleb(r));
		return;
	case DW_OP_call_frame_cfa:
		push_cfa(m);
		return;
	case DW_OP_plus_uconst:
		add_to(m, top(m), dwarf_uleb(r));
		return;
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_and:
	case DW_OP_shl:
	case DW_OP_mul:
		arithmetic(m, op);
		return;
	case DW_OP_deref:
		dereference(m, m->unit->address_size);
		return;
	case DW_OP_deref_size:
		dereference(m, dwarf_u8(r));
		return;
	case DW_OP_dup:
		push(m, *top(m));
		return;
	case DW_OP_nop:
		return;
	case DW_OP_stack_value:
		m->is_value = true;
		return;
	case DW_OP_implicit_value:
		push_implicit(m, take_block(m));
		return;
	case DW_OP_entry_value:
	case OP_GNU_entry_value:
		push_inner(m, take_block(m));
		m->bad |= !m->context->at_entry;
		return;
	case DW_OP_piece:
		piece(m, ret, dwarf_uleb(r));
		return;
	default:
		m->bad = true;
	}
}

static void run(struct machine *m, struct places *ret)
{
	for (unsigned i = 0; dwarf_left(&m->r) && !m->r.bad && !m->bad; i++) {
		if (i == MOST_OPS)
			m->bad = true;
		step(m, ret);
	}
}

int places_of(const struct dwarf_unit *unit, struct str expression,
	      const struct place_context *context, struct places *ret)
{
	struct machine m = {.unit = unit, .context = context};
	struct places places = {0};

	m.r = dwarf_reader_at(expression, 0, unit->dwarf->elf.swap);
	run(&m, &places);
	if (!places.n) {
		places.v[0] = finish(&m);
		places.n = 1;
	}
	if (m.bad || m.r.bad)
		return -ENOTSUP;
	if (places.n == 1 && places.v[0].base == PLACE_NOWHERE)
		return -ENOENT;
	*ret = places;
	return 0;
}
