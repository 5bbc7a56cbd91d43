// SPDX-License-Identifier: GPL-2.0-or-later
// The report for programs: --format json and csv.
#include "base/json.h"
#include "cmd/report/report.h"

enum { NONE = UINT32_MAX };

// A key's value as text without padding or decoration.
static struct str value_of(struct report *report, const struct column *column, const struct entry *e)
{
	struct out *out = &report->scratch;
	struct str text;

	out->n = 0;
	if (column->field) {
		column_print(column, e->hist, e, out);
	} else if (column->key->width == WIDTH_SYMBOL && e->place.sym) {
		out_text(out, e->place.sym->name);
	} else {
		column->key->print(report, e, out, -1);
	}
	text = str_trim((struct str){out->buf, out->n});
	if (column->key && text.n > 4 && text.p[0] == '[' && text.p[2] == ']' && text.p[3] == ' ')
		text = (struct str){text.p + 4, text.n - 4}; // the level has its own column
	return text;
}

static const char *name_of(const struct column *column)
{
	return column->key     ? column->key->name
	       : column->field ? column->field->name
			       : report_number_names[column->number];
}

static double percent(const struct entry *e, uint64_t value)
{
	uint64_t total = hist_total(e->hist);

	return total ? 100.0 * (double)value / (double)total : 0;
}

static void json_number(struct json *j, const struct column *column, const struct entry *e)
{
	uint64_t value = entry_number(e, column->number);

	json_key(j, name_of(column));
	if (column->number == NUMBER_SAMPLES || column->number == NUMBER_PERIOD)
		json_u64(j, value);
	else
		json_double(j, percent(e, value));
}

static void json_calls(struct json *j, struct report *report, const struct call_tree *tree,
		       uint32_t id)
{
	json_array(j);
	for (; id != NONE; id = tree->nodes.v[id].sibling) {
		const struct call_node *node = &tree->nodes.v[id];

		json_object(j);
		json_key(j, "frames");
		json_array(j);
		for (uint32_t i = 0; i < node->frames_n; i++) {
			const struct frame *f =
				&report->stacks.frames.v[tree->frames.v[node->first_frame + i]];

			if (f->sym)
				json_text(j, f->sym->name);
			else
				json_hex(j, f->ip);
		}
		json_end(j);
		json_field_u64(j, "period", node->hit + node->children_hit);
		json_field_u64(j, "samples", node->count + node->children_count);
		if (node->child != NONE) {
			json_key(j, "calls");
			json_calls(j, report, tree, node->child);
		}
		json_end(j);
	}
	json_end(j);
}

static void json_row(struct json *j, struct report *report, const struct entry *e)
{
	json_object(j);
	for (size_t i = 0; i < report->fields.n; i++) {
		const struct column *column = report->fields.v[i];

		if (column_skipped(column, e->hist) ||
		    (column->field && column->event != e->hist->event))
			continue;
		if (!column->key && !column->field) {
			json_number(j, column, e);
			continue;
		}
		json_key(j, name_of(column));
		json_str(j, value_of(report, column, e));
		if (column->key && column->key->width == WIDTH_SYMBOL) {
			char level[2] = {e->place.level, 0};

			json_field_text(j, "level", level);
		}
	}
	json_field_u64(j, "period", e->period);
	json_field_u64(j, "samples", e->samples);
	if (report->children)
		json_field_u64(j, "children_period", e->acc);
	if (e->more->members) {
		json_key(j, "members");
		json_array(j);
		for (uint32_t i = 1; i < e->hist->event->group_members; i++)
			json_u64(j, e->more->members[i] ? e->more->members[i]->period : 0);
		json_end(j);
	}
	if (e->more->tree && e->more->tree->top != NONE) {
		json_key(j, "calls");
		json_calls(j, report, e->more->tree, e->more->tree->top);
	}
	json_end(j);
}

static bool shown(const struct report *report, const struct entry *e)
{
	return !e->filtered && entry_percent(e) >= report->o.percent_limit;
}

static void json_report(struct report *report)
{
	const struct recording *recording = report->run->recording;
	const struct run_stats *stats = &report->run->stats;
	struct json j;

	json_init(&j, &report->out);
	json_object(&j);
	json_field_u64(&j, "lost_samples", stats->lost_samples);
	json_field_u64(&j, "lost_records", stats->lost_events);
	json_key(&j, "damage");
	json_text(&j, recording->damage);
	json_key(&j, "events");
	json_array(&j);
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct hist *hist = recording->events.v[i]->user;

		if (!hist || (report->o.skip_empty && !hist->samples))
			continue;
		json_object(&j);
		json_field_text(&j, "event", hist->event->name);
		json_field_u64(&j, "samples", hist->samples);
		json_field_u64(&j, "period", hist->total_period);
		json_key(&j, "rows");
		json_array(&j);
		for (size_t r = 0; r < hist->rows_n; r++) {
			if (shown(report, hist->rows[r]) && !hist->rows[r]->dummy)
				json_row(&j, report, hist->rows[r]);
		}
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_line(&j);
}

static void csv_report(struct report *report)
{
	const struct recording *recording = report->run->recording;
	struct out *out = &report->out;

	out_text(out, "event");
	for (size_t i = 0; i < report->fields.n; i++)
		out_printf(out, ",%s", name_of(report->fields.v[i]));
	out_text(out, ",period,samples\n");
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct hist *hist = recording->events.v[i]->user;

		for (size_t r = 0; hist && r < hist->rows_n; r++) {
			const struct entry *e = hist->rows[r];

			if (!shown(report, e) || e->dummy)
				continue;
			out_csv(out, str_of(hist->event->name));
			for (size_t c = 0; c < report->fields.n; c++) {
				const struct column *column = report->fields.v[c];

				out_char(out, ',');
				if (column->key || (column->field && column->event == hist->event))
					out_csv(out, value_of(report, column, e));
				else if (column->field)
					continue;
				else if (column->number == NUMBER_SAMPLES ||
					 column->number == NUMBER_PERIOD)
					out_u64(out, entry_number(e, column->number));
				else
					out_printf(out, "%.4f",
						   percent(e, entry_number(e, column->number)));
			}
			out_printf(out, ",%llu,%u\n", (unsigned long long)e->period, e->samples);
		}
	}
}

void report_table(struct report *report)
{
	if (!strcmp(report->o.format, "json"))
		json_report(report);
	else
		csv_report(report);
}
