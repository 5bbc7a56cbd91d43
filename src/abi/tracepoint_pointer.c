// SPDX-License-Identifier: GPL-2.0-or-later
// %p and the letters behind it: symbols, addresses of networks, UUIDs, bytes.
#include "abi/tracepoint_compile.h"
#include <stdio.h>

// How many letters behind %p belong to it.
size_t tp_pointer_letters(const char *p)
{
	size_t n = 0;

	switch (*p) {
	case 'F':
	case 'S':
	case 'f':
	case 's':
		return 1;
	case 'M':
	case 'm':
		return p[1] && strchr("RF", p[1]) ? 2 : 1;
	case 'U':
		return p[1] && strchr("LlBb", p[1]) ? 2 : 1;
	case 'h':
		return p[1] && strchr("CDN", p[1]) ? 2 : 1;
	case 'I':
	case 'i':
		break;
	default:
		return 0;
	}
	const char *at = p + 2;

	switch (p[1]) {
	case 'S':
		while (*at && strchr("pfs", *at)) {
			n++;
			at++;
		}
		// fall through
	case '4':
		if (*at && strchr("hnlb", *at)) {
			n++;
			at++;
		}
		if (p[1] == '4')
			return n + 2;
		// fall through
	case '6':
		if (*at == 'c')
			n++;
		return n + 2;
	default:
		return 1;
	}
}

// The field behind casts that %pM, %pI4, ... read; NULL after having said what is wrong.
static const struct tep_format_field *address_field(struct compiler *c,
						    const struct tep_print_arg *arg, int size,
						    const char *wrong_size)
{
	const struct tep_format_field *field;

	while (arg->type == TEP_PRINT_TYPE && arg->typecast.item)
		arg = arg->typecast.item;
	if (arg->type == TEP_PRINT_FUNC) {
		c->unknown = true;
		return NULL;
	}
	if (arg->type != TEP_PRINT_FIELD) {
		out_printf(&c->literal, "ARG TYPE NOT FIELD BUT %d", arg->type);
		return NULL;
	}
	field = tp_find_tep_field(c, arg->field.field, arg->field.name);
	if (field && field->size != size) {
		tp_add_message(c, wrong_size);
		return NULL;
	}
	return field;
}

static void add_mac(struct compiler *c, const char *letters, const struct tep_print_arg *arg)
{
	const struct tep_format_field *field = address_field(c, arg, 6, "INVALIDMAC");
	struct step step = {.kind = S_MAC, .letter = ':', .reversed = letters[1] == 'R'};

	if (!field)
		return;
	if (letters[0] == 'm')
		step.letter = 0;
	else if (letters[1] == 'F')
		step.letter = '-';
	step.offset = (uint16_t)field->offset;
	tp_add_step(c, step);
}

static bool is_reversed(const struct compiler *c, char letter)
{
	return letter == 'l' || (letter == 'h' && !c->tp->all->options.big_endian);
}

static void add_socket_address(struct compiler *c, const char *letters,
			       const struct tep_print_arg *arg)
{
	struct step step = {.kind = S_SOCKET_ADDRESS, .zero_padded = letters[0] == 'i'};
	const struct tep_format_field *field;
	const char *p = letters + 2;

	if (letters[0] == 'I') {
		step.with_port = *p == 'p';
		p += step.with_port;
		step.compressed = *p == 'c';
		p += step.compressed;
	}
	step.reversed = is_reversed(c, *p);
	while (arg->type == TEP_PRINT_TYPE && arg->typecast.item)
		arg = arg->typecast.item;
	if (arg->type == TEP_PRINT_FUNC) {
		c->unknown = true;
		return;
	}
	if (arg->type == TEP_PRINT_FIELD) {
		field = tp_find_tep_field(c, arg->field.field, arg->field.name);
		if (!field)
			return;
		step.offset = (uint16_t)field->offset;
		step.length = (uint16_t)field->size;
	} else if (arg->type == TEP_PRINT_DYNAMIC_ARRAY && arg->dynarray.field) {
		step.field = tp_find_field(c->tp, arg->dynarray.field);
	} else {
		out_printf(&c->literal, "ARG NOT FIELD NOR DYNAMIC ARRAY BUT TYPE %d", arg->type);
		return;
	}
	tp_add_step(c, step);
}

static void add_ip(struct compiler *c, const char *letters, const struct tep_print_arg *arg)
{
	const struct tep_format_field *field;
	struct step step = {.zero_padded = letters[0] == 'i'};

	switch (letters[1]) {
	case '4':
		field = address_field(c, arg, 4, "INVALIDIPv4");
		step.kind = S_IPV4;
		step.reversed = is_reversed(c, letters[2]);
		break;
	case '6':
		field = address_field(c, arg, 16, "INVALIDIPv6");
		step.kind = S_IPV6;
		step.compressed = letters[0] == 'I' && letters[2] == 'c';
		break;
	case 'S':
		add_socket_address(c, letters, arg);
		return;
	default:
		return;
	}
	if (!field)
		return;
	step.offset = (uint16_t)field->offset;
	tp_add_step(c, step);
}

static void add_uuid(struct compiler *c, const char *letters, const struct tep_print_arg *arg)
{
	const struct tep_format_field *field = address_field(c, arg, 16, "INVALIDUUID");

	if (!field)
		return;
	tp_add_step(c, (struct step){
			       .kind = S_UUID,
			       .upper = letters[1] == 'L' || letters[1] == 'B',
			       .reversed = letters[1] == 'L' || letters[1] == 'l',
			       .offset = (uint16_t)field->offset,
		       });
}

static void add_bytes(struct compiler *c, const char *letters, const struct tep_print_arg *arg,
		      const struct tep_print_arg *length_arg)
{
	struct step step = {.kind = S_BYTES, .letter = ' '};

	if (arg->type == TEP_PRINT_FUNC) {
		c->unknown = true;
		return;
	}
	if (arg->type != TEP_PRINT_DYNAMIC_ARRAY || !arg->dynarray.field) {
		out_printf(&c->literal, "ARG TYPE NOT FIELD BUT %d", arg->type);
		return;
	}
	if (letters[1] == 'C')
		step.letter = ':';
	else if (letters[1] == 'D')
		step.letter = '-';
	else if (letters[1] == 'N')
		step.letter = 0;
	step.field = tp_find_field(c->tp, arg->dynarray.field);
	step.length_arg = length_arg ? tp_compile_number(c, length_arg) : NULL;
	if (step.field)
		tp_add_step(c, step);
}

void tp_add_pointer(struct compiler *c, const char *letters, const struct tep_print_arg *arg,
		    const struct tep_print_arg *length_arg)
{
	switch (*letters) {
	case 'F':
	case 'S':
	case 'f':
	case 's':
		tp_add_step(c, (struct step){
				       .kind = S_FUNCTION,
				       .with_offset = *letters == 'F' || *letters == 'S',
				       .number = tp_compile_number(c, arg),
			       });
		break;
	case 'M':
	case 'm':
		add_mac(c, letters, arg);
		break;
	case 'I':
	case 'i':
		add_ip(c, letters, arg);
		break;
	case 'U':
		add_uuid(c, letters, arg);
		break;
	case 'h':
		add_bytes(c, letters, arg, length_arg);
		break;
	default:
		tp_add_step(c, (struct step){.kind = S_POINTER, .number = tp_compile_number(c, arg)});
	}
}
