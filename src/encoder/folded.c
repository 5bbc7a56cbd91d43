// SPDX-License-Identifier: GPL-2.0-or-later
// Folded stacks, see view/folded.h.
#include "base/alloc.h"
#include "base/vec.h"
#include "encoder/core/encoder.h"
#include "encoder/svg/svg.h"

static void write_value(struct out *out, double value)
{
	if (value == (double)(uint64_t)value)
		out_u64(out, (uint64_t)value);
	else
		svg_number(out, value, 6);
}

// A name that holds what separates frames or lines would read back as something else.
static void append_name(struct out *path, struct str name)
{
	char *at = out_room(path, name.n);

	for (size_t i = 0; i < name.n; i++)
		at[i] = name.p[i] == ';' ? ':' : (unsigned char)name.p[i] < ' ' ? ' ' : name.p[i];
	path->n += name.n;
}

static int folded_flame(struct out *out, const struct flame *flame, const struct flame_style *style)
{
	struct out path;
	size_t *length = xcalloc((size_t)flame->depth_max + 1, sizeof(*length));

	out_init_memory(&path);
	for (size_t i = 1; i < flame->nodes.n && !out_broken(out); i++) {
		const struct flame_node *node = &flame->nodes.v[i];

		path.n = length[node->depth - 1];
		if (node->depth > 1)
			out_char(&path, ';');
		append_name(&path, flame_name(flame, node));
		if (!style->plain_names)
			out_text(&path, flame_kind_suffix(node->kind));
		length[node->depth] = path.n;
		if (!node->self[FLAME_AFTER] && !(flame->differential && node->self[FLAME_BEFORE]))
			continue;
		out_bytes(out, path.buf, path.n);
		out_char(out, ' ');
		if (flame->differential) {
			write_value(out, node->self[FLAME_BEFORE]);
			out_char(out, ' ');
		}
		write_value(out, node->self[FLAME_AFTER]);
		out_char(out, '\n');
	}
	out_done(&path);
	free(length);
	return 0;
}

const struct encoder encoder_folded = {
	.name = "folded",
	.suffix = ".folded",
	.summary = "one stack a line: frames joined by ';', then its value",
	.flame = folded_flame,
};
