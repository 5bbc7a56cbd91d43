// SPDX-License-Identifier: GPL-2.0-or-later
// Flame graphs as the nested objects that d3-flame-graph and others take: {"name", "value", "children": [...]}, with
// "kind" where it is not plain and "before" in a difference. Heat maps as their grid, tables as an object a row.
#include "base/json.h"
#include "encoder/core/encoder.h"
#include "encoder/core/table.h"
#include "view/flame.h"
#include "view/heat.h"

static void number(struct out *out, double v)
{
	if (v == (double)(uint64_t)v)
		out_u64(out, (uint64_t)v);
	else
		out_printf(out, "%.9g", v);
}

static void field(struct out *out, const char *name, double v)
{
	out_text(out, ",\"");
	out_text(out, name);
	out_text(out, "\":");
	number(out, v);
}

static void open_frame(struct out *out, const struct flame *flame, const struct flame_node *node,
		       const struct flame_style *style)
{
	static const char *const kinds[FLAME_KINDS] = {NULL, "kernel", "jit", "inlined", "waker"};

	out_text(out, "{\"name\":");
	if (node->depth)
		json_quote(out, flame_name(flame, node));
	else
		json_quote(out, str_of(style->root_name ? style->root_name : "all"));
	if (kinds[node->kind]) {
		out_text(out, ",\"kind\":\"");
		out_text(out, kinds[node->kind]);
		out_char(out, '"');
	}
	field(out, "value", node->total[FLAME_AFTER]);
	if (flame->differential)
		field(out, "before", node->total[FLAME_BEFORE]);
}

// Without recursion: stacks may be deeper than ours should get.
static int json_flame(struct out *out, const struct flame *flame, const struct flame_style *style)
{
	size_t n = flame->nodes.n;

	for (size_t i = 0; i < n && !out_broken(out); i++) {
		const struct flame_node *node = &flame->nodes.v[i];
		unsigned next_depth = i + 1 < n ? flame->nodes.v[i + 1].depth : 0;

		open_frame(out, flame, node, style);
		if (next_depth > node->depth) {
			out_text(out, ",\"children\":[\n");
			continue;
		}
		out_char(out, '}');
		for (unsigned depth = node->depth; depth > next_depth; depth--)
			out_text(out, "]}");
		if (i + 1 < n)
			out_text(out, ",\n");
	}
	out_char(out, '\n');
	return 0;
}

static int json_heat(struct out *out, const struct heat *heat, const struct heat_style *style)
{
	out_printf(out,
		   "{\"rows\":%u,\"columns\":%u,\"start_time\":%.15g,\"step_time\":%.15g,\"scale\":\"%s\"",
		   heat->rows, heat->columns, heat->start_time, heat->step_time,
		   heat->scale == HEAT_LOG ? "log" : "linear");
	out_text(out, ",\"time_unit\":");
	json_quote(out, str_of(style->time_unit ? style->time_unit : "s"));
	out_text(out, ",\"value_unit\":");
	json_quote(out, str_of(style->value_unit ? style->value_unit : ""));
	field(out, "sum", heat->sum);
	field(out, "above", heat->above);
	field(out, "below", heat->below);
	out_text(out, ",\"row_edges\":[");
	for (unsigned row = 0; row <= heat->rows; row++)
		out_printf(out, "%s%.15g", row ? "," : "", heat_row_edge(heat, row));
	out_text(out, "],\"cells\":[");
	const char *separator = "\n";
	for (unsigned column = 0; column < heat->columns; column++) {
		for (unsigned row = 0; row < heat->rows; row++) {
			double count = heat->cells[(size_t)row * heat->columns + column];

			if (count <= 0)
				continue;
			out_printf(out, "%s{\"column\":%u,\"row\":%u", separator, column, row);
			field(out, "count", count);
			out_char(out, '}');
			separator = ",\n";
		}
	}
	out_text(out, "\n]}\n");
	return 0;
}

static void put_cell(struct json *j, const struct table_column *column, const struct table_cell *cell)
{
	if (cell->none) {
		json_null(j);
		return;
	}
	if (column->kind == TABLE_TEXT) {
		json_text(j, cell->text);
		return;
	}
	// With its decimals as they are shown, not as the nearest double has them.
	if (column->kind == TABLE_US || column->kind == TABLE_MS) {
		table_put_number(j->out, column, cell);
		j->after_key = false;
		j->comma = true;
	} else if (column->kind == TABLE_SIGNED) {
		json_i64(j, (int64_t)cell->number);
	} else {
		json_u64(j, cell->number);
	}
}

static void json_table(struct out *out, const struct table *table, const struct table_stamp *stamp)
{
	size_t n = table->columns.n;
	struct json j;

	json_init(&j, out);
	for (size_t i = 0; i < table->cells.n; i++) {
		if (i % n == 0) {
			json_object(&j);
			if (stamp->time)
				json_field_text(&j, "time", stamp->time);
		}
		json_key(&j, table_column_name(&table->columns.v[i % n]));
		put_cell(&j, &table->columns.v[i % n], &table->cells.v[i]);
		if ((i + 1) % n == 0) {
			json_end(&j);
			json_line(&j);
		}
	}
}

const struct encoder encoder_json = {
	.name = "json",
	.suffix = ".json",
	.summary = "for other programs",
	.flame = json_flame,
	.heat = json_heat,
	.table = json_table,
};
