// SPDX-License-Identifier: GPL-2.0-or-later
// Folded stacks, see view/folded.h.
#include "base/alloc.h"
#include "base/vec.h"
#include "encoder/core/encoder.h"
#include "encoder/svg/svg.h"
#include "view/profile.h"

static void write_value(struct out *out, double value)
{
	if (value < 0x1p64 && value == (double)(uint64_t)value)
		out_u64(out, (uint64_t)value);
	else if (value >= 0x1p64)
		out_printf(out, "%.0f", value); // no reader of folded stacks knows exponents
	else
		svg_number(out, value, 6);
}

// A name that holds what separates frames or lines would read back as something else.
static void append_name(struct out *path, struct str name)
{
	size_t plain = 0;

	while (plain < name.n && name.p[plain] >= ' ' && name.p[plain] < 127)
		plain++;
	size_t from = path->n;
	out_bytes(path, name.p, plain);
	if (plain < name.n) {
		struct str rest = {name.p + plain, name.n - plain};

		out_clean(path, rest);
	}
	for (char *at = path->buf + from; at < path->buf + path->n; at++)
		*at = *at == ';' ? ':' : (unsigned char)*at < ' ' ? ' ' : *at;
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

static enum flame_kind kind_of(const struct profile_function *function, bool inlined)
{
	if (inlined)
		return FLAME_INLINED;
	return function->kind == PROFILE_KERNEL ? FLAME_KERNEL
	       : function->kind == PROFILE_JIT	? FLAME_JIT
						: FLAME_PLAIN;
}

// The samples of the main event, below their threads' names.
static int folded_profile(struct out *out, const struct profile *profile)
{
	static const struct flame_style style = {0};
	VEC(struct flame_frame) frames = {0};
	struct flame flame;

	flame_init(&flame);
	vec_each(struct profile_sample, sample, &profile->samples) {
		if (sample->event != profile->main_event)
			continue;
		vec_clear(&frames);
		for (uint32_t node = sample->node; node; node = profile->nodes.v[node].parent) {
			const struct profile_frame *frame =
				&profile->frames.v[profile->nodes.v[node].frame];
			const struct profile_function *function =
				&profile->functions.v[frame->function];

			vec_push(&frames,
				 (struct flame_frame){profile_text(profile, function->name),
						      kind_of(function, frame->inline_depth)});
		}
		vec_push(&frames,
			 (struct flame_frame){profile_text(profile,
							   profile->threads.v[sample->thread].name),
					      FLAME_PLAIN});
		flame_add(&flame, flame_stack(&flame, frames.v, frames.n), FLAME_AFTER, 1);
	}
	flame_finish(&flame, true);
	folded_flame(out, &flame, &style);
	flame_done(&flame);
	vec_done(&frames);
	return 0;
}

const struct encoder encoder_folded = {
	.name = "folded",
	.suffix = ".folded",
	.summary = "one stack a line: frames joined by ';', then its value",
	.flame = folded_flame,
	.profile = folded_profile,
};
