// SPDX-License-Identifier: GPL-2.0-or-later
// Tables, and profiles as one row a sample.
#include "encoder/core/encoder.h"
#include "encoder/core/table.h"
#include "view/profile.h"

struct writer {
	struct out *out, stack;
	const struct profile *profile;
	struct profile_path path;
};

// Folded, from the outermost frame; a ';' in a name would read back as two frames.
static struct str stack_text(struct writer *writer, uint32_t node)
{
	const struct profile *profile = writer->profile;
	const char *separator = "";

	writer->stack.n = 0;
	profile_path(profile, node, &writer->path);
	vec_each(uint32_t, at, &writer->path.nodes) {
		struct str name = profile_text(profile, profile_function_of(profile, *at)->name);

		out_text(&writer->stack, separator);
		separator = ";";
		for (size_t i = 0; i < name.n; i++)
			out_char(&writer->stack, name.p[i] == ';' ? ':' : name.p[i]);
	}
	return (struct str){writer->stack.buf, writer->stack.n};
}

static void put_place(struct writer *writer, uint32_t node)
{
	const struct profile *profile = writer->profile;
	struct out *out = writer->out;

	if (!node) {
		out_text(out, ",,,,,");
		return;
	}
	const struct profile_frame *frame = &profile->frames.v[profile->nodes.v[node].frame];
	const struct profile_function *function = &profile->functions.v[frame->function];

	out_csv(out, profile_text(profile, function->name));
	out_char(out, ',');
	if (function->file != PROFILE_NONE)
		out_csv(out, profile_text(profile, profile->files.v[function->file].path));
	out_char(out, ',');
	if (function->file != PROFILE_NONE)
		out_str(out, profile_text(profile, profile->files.v[function->file].build_id));
	out_char(out, ',');
	out_csv(out, profile_text(profile, frame->source));
	out_char(out, ',');
	if (frame->line)
		out_u64(out, frame->line);
	out_char(out, ',');
}

static void put_id(struct out *out, uint32_t id)
{
	if (id != UINT32_MAX)
		out_u64(out, id);
	out_char(out, ',');
}

static int csv_profile(struct out *out, const struct profile *profile)
{
	struct writer writer = {.out = out, .profile = profile};

	out_init_memory(&writer.stack);
	out_text(out,
		 "time,comm,pid,tid,cpu,event,period,function,file,build_id,source,line,stack,text\n");
	vec_each(struct profile_sample, sample, &profile->samples) {
		const struct profile_thread *thread = &profile->threads.v[sample->thread];

		if (sample->time_ns != UINT64_MAX)
			out_time(out, sample->time_ns, 0, 9);
		out_char(out, ',');
		out_csv(out, profile_text(profile, thread->name));
		out_char(out, ',');
		put_id(out, thread->pid);
		put_id(out, thread->tid);
		put_id(out, sample->cpu);
		out_csv(out, profile_text(profile, profile->events.v[sample->event].name));
		out_char(out, ',');
		out_u64(out, sample->weight);
		out_char(out, ',');
		put_place(&writer, sample->node);
		out_csv(out, stack_text(&writer, sample->node));
		out_char(out, ',');
		out_csv(out, profile_text(profile, sample->text));
		out_char(out, '\n');
		if (out_broken(out))
			break;
	}
	out_done(&writer.stack);
	vec_done(&writer.path.nodes);
	return 0;
}

static void csv_table(struct out *out, const struct table *table, const struct table_stamp *stamp)
{
	size_t n = table->columns.n;

	for (size_t i = 0; i < n && !stamp->no_titles; i++) {
		if (i == 0 && stamp->time)
			out_text(out, "time,");
		out_csv(out, str_of(table_column_name(&table->columns.v[i])));
		out_char(out, i + 1 == n ? '\n' : ',');
	}
	for (size_t i = 0; i < table->cells.n; i++) {
		const struct table_column *c = &table->columns.v[i % n];
		const struct table_cell *cell = &table->cells.v[i];

		if (i % n == 0 && stamp->time) {
			out_text(out, stamp->time);
			out_char(out, ',');
		}
		if (c->kind != TABLE_TEXT)
			table_put_number(out, c, cell);
		else if (!cell->none)
			out_csv(out, str_of(cell->text));
		out_char(out, (i + 1) % n ? ',' : '\n');
	}
}

const struct encoder encoder_csv = {
	.name = "csv",
	.suffix = ".csv",
	.summary = "one row a sample",
	.profile = csv_profile,
	.table = csv_table,
};
