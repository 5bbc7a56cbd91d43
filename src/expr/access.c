// SPDX-License-Identifier: GPL-2.0-or-later
// What leads into the record: names of fields, subscripts, pointers.
#include "base/nearest.h"
#include "expr/node.h"

static const struct {
	const char *name;
	enum expr_base base;
} contexts[EXPR_CONTEXTS] = {
	[EXPR_CPU] = {"_cpu", EXPR_S32},       [EXPR_PID] = {"_pid", EXPR_S32},
	[EXPR_TID] = {"_tid", EXPR_S32},       [EXPR_TIME] = {"_time", EXPR_U64},
	[EXPR_PERIOD] = {"_period", EXPR_U64},
};

const char *expr_context_name(enum expr_context context)
{
	return contexts[context].name;
}

// "name_offset" of the dynamic field "name"
static struct node *dynamic_part(struct parser *p, struct str name)
{
	static const struct {
		const char *suffix;
		enum node_kind kind;
	} parts[] = {{"_offset", NODE_AT}, {"_len", NODE_LENGTH}};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const size_t n = strlen(parts[i].suffix);
		struct str stem = {name.p, name.n - n};
		struct expr_field field = {0};
		struct node *node;

		if (name.n <= n || memcmp(name.p + stem.n, parts[i].suffix, n) != 0 ||
		    !node_find_field(p, stem, &field) ||
		    (field.kind != EXPR_FIELD_DYNAMIC && field.kind != EXPR_FIELD_RELATIVE))
			continue;
		node = node_new(p, parts[i].kind, name);
		node->field = field;
		node->type = type_of(EXPR_U16);
		return node;
	}
	return NULL;
}

bool node_find_field(struct parser *p, struct str name, struct expr_field *ret)
{
	return p->fields && p->fields->find && p->fields->find(p->fields->arg, name, ret);
}

void node_unknown_name(struct parser *p, struct str name)
{
	VEC(const char *) names = {0};
	char *word = str_dup(name), *list;
	const char *near, *field;
	struct out out;

	for (size_t i = 0;
	     p->fields && p->fields->name && (field = p->fields->name(p->fields->arg, i)); i++)
		vec_push(&names, field);
	for (size_t i = 0; i < ARRAY_SIZE(contexts); i++)
		vec_push(&names, contexts[i].name);
	vec_push(&names, NULL);
	near = nearest(word, names.v);
	out_init_memory(&out);
	for (size_t i = 0; names.v[i] && out.n < 300; i++) {
		out_text(&out, i ? ", " : "");
		out_text(&out, names.v[i]);
	}
	list = str_dup((struct str){out.buf, out.n});
	if (near)
		node_error(p, name, "there is no field '%s'; the nearest name is '%s'", word, near);
	else
		node_error(p, name, "there is no field '%s'; there are: %s", word, list);
	out_done(&out);
	free(list);
	free(word);
	vec_done(&names);
}

struct node *node_context(struct parser *p, struct str where, enum expr_context context)
{
	struct node *n = node_new(p, NODE_CONTEXT, where);

	n->number = context;
	n->type = type_of(contexts[context].base);
	p->expr->uses_context = true;
	return n;
}

static enum expr_base number_base(uint32_t size, bool is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? EXPR_S8 : EXPR_U8;
	case 2:
		return is_signed ? EXPR_S16 : EXPR_U16;
	case 4:
		return is_signed ? EXPR_S32 : EXPR_U32;
	case 8:
		return is_signed ? EXPR_S64 : EXPR_U64;
	default:
		return EXPR_VOID;
	}
}

static void need_record(struct parser *p, const struct expr_field *field)
{
	p->expr->record_bytes = MAX(p->expr->record_bytes, field->offset + field->size);
}

struct node *node_field(struct parser *p, struct str where, const struct expr_field *field)
{
	struct node *n = node_new(p, NODE_FIELD, where);
	struct expr_field *f = &n->field;
	enum expr_base base;

	*f = *field;
	if (f->offset > UINT16_MAX || f->size > UINT16_MAX)
		return node_error(p, where, "the field lies outside of any record");
	base = number_base(f->kind == EXPR_FIELD_NUMBER ? f->size : f->element_size, f->is_signed);
	if (f->kind == EXPR_FIELD_NUMBER && base == EXPR_VOID)
		f->kind = EXPR_FIELD_ARRAY; // a struct: its bytes
	if (f->kind != EXPR_FIELD_NUMBER && (base == EXPR_VOID || f->is_text)) {
		base = f->is_text ? EXPR_S8 : EXPR_U8;
		f->element_size = 1;
	}
	n->type = type_of(base);
	if (f->kind == EXPR_FIELD_NUMBER && f->is_pointer && !f->is_text)
		n->type = type_of(number_base(f->size, false));
	else if (f->kind == EXPR_FIELD_NUMBER && f->is_pointer && f->size == 8)
		n->type = type_pointer_to(EXPR_S8);
	if (f->kind != EXPR_FIELD_NUMBER) {
		n->type.is_array = true;
		n->type.is_dynamic = f->kind != EXPR_FIELD_ARRAY;
		n->type.count = n->type.is_dynamic ? 0 : f->size / f->element_size;
	}
	if (n->type.is_dynamic && f->size < 4)
		return node_error(p, where, "the field's location is cut short");
	need_record(p, f);
	return n;
}

struct node *node_name(struct parser *p, struct str name)
{
	struct expr_field field = {0};
	struct node *n;

	if (p->failed)
		return p->nothing;
	if (node_find_field(p, name, &field))
		return node_field(p, name, &field);
	for (size_t i = 0; i < ARRAY_SIZE(contexts); i++)
		if (str_is(name, contexts[i].name))
			return node_context(p, name, (enum expr_context)i);
	if (str_is(name, "common_pid")) // of an event without a format
		return node_context(p, name, EXPR_TID);
	n = dynamic_part(p, name);
	if (n) {
		need_record(p, &n->field);
		return n;
	}
	node_unknown_name(p, name);
	return p->nothing;
}

// A constant element of a field is a field.
static struct node *constant_element(struct parser *p, struct str where, struct node *a,
				     uint64_t index)
{
	struct node *n;

	if (index >= a->type.count)
		return node_error(p, where, "there are %u elements, the last one is [%u]",
				  a->type.count, a->type.count ? a->type.count - 1 : 0);
	n = node_new(p, NODE_FIELD, where);
	n->type = type_element(a->type);
	n->field = a->field;
	n->field.kind = EXPR_FIELD_NUMBER;
	n->field.size = expr_type_size(n->type);
	n->field.offset += (uint32_t)index * n->field.size;
	return n;
}

struct node *node_index(struct parser *p, struct str where, struct node *a, struct node *b)
{
	struct node *n, *swap;

	if (p->failed)
		return p->nothing;
	if (!a->type.is_array && !a->type.pointers) { // 1[args]
		swap = a;
		a = b;
		b = swap;
	}
	if (!a->type.is_array && !a->type.pointers)
		return node_error(p, a->where, "this is no array");
	if (a->kind != NODE_FIELD || !a->type.is_array || a->type.is_dynamic)
		return node_deref(p, where, node_binary(p, (struct sign){'+', where}, a, b));
	b = node_value(p, b);
	if (p->failed)
		return p->nothing;
	if (!expr_type_is_number(b->type))
		return node_error(p, b->where, "a subscript is a number");
	if (b->kind == NODE_NUMBER)
		return constant_element(p, where, a, b->number);
	n = node_new(p, NODE_INDEX, where);
	n->type = type_element(a->type);
	n->a = a;
	n->b = b;
	return n;
}

struct node *node_deref(struct parser *p, struct str where, struct node *a)
{
	struct node *n;

	if (p->failed)
		return p->nothing;
	if (a->kind == NODE_FIELD && a->type.is_array && !a->type.is_dynamic)
		return constant_element(p, where, a, 0);
	a = node_value(p, a);
	if (!a->type.pointers)
		return node_error(p, a->where, "only a pointer can be followed");
	if (!expr_type_size(type_element(a->type)))
		return node_error(p, a->where, "what a void pointer points to has no type");
	if (a->kind == NODE_ADDRESS && node_is_lvalue(a->a) && !a->a->type.is_array)
		return a->a;
	n = node_new(p, NODE_DEREF, where);
	n->type = type_element(a->type);
	n->a = a;
	return n;
}

struct node *node_address(struct parser *p, struct str where, struct node *a)
{
	struct node *n;

	if (p->failed)
		return p->nothing;
	if (!node_is_lvalue(a) && a->kind != NODE_TEXT)
		return node_error(p, a->where, "this has no address");
	if (a->type.is_array) { // of an array: of its first element, which has the type that one means
		n = node_value(p, a);
		n->where = where;
		return n;
	}
	if (a->type.pointers >= 8)
		return node_error(p, where, "too many levels of pointers");
	n = node_new(p, NODE_ADDRESS, where);
	n->type = a->type;
	n->type.pointers++;
	n->a = a;
	return n;
}

struct node *node_sizeof(struct parser *p, struct str where, struct node *a)
{
	struct node *n;
	unsigned size;

	if (p->failed)
		return p->nothing;
	if (a->kind == NODE_FIELD && a->type.is_dynamic) { // as of an array of variable length
		n = node_new(p, NODE_LENGTH, where);
		n->field = a->field;
		n->type = type_of(EXPR_U16);
		return node_cast(p, where, type_of(EXPR_U64), n);
	}
	size = expr_type_size(a->type);
	if (!size && !(a->type.is_array && !a->type.count))
		return node_error(p, a->where, "this has no size");
	return node_number(p, where, EXPR_U64, size);
}
