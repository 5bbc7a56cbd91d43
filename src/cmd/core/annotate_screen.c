// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/annotate_screen.h"
#include "base/err.h"
#include "base/out.h"
#include "cmd/core/annotate_look.h"
#include "cmd/core/settings.h"
#include "encoder/tui/dialog.h"
#include "encoder/tui/list.h"
#include "encoder/tui/parts.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { DEEPEST = 16, SHARE_WIDTH = 9, IPC_WIDTH = 6, CYCLES_WIDTH = 7, RANGE_WIDTH = 20 };
enum shares { SHARE_PERCENT, SHARE_SAMPLES, SHARE_PERIOD, SHARES };

struct view {
	const struct annotate_screen *o;
	struct annotate_request request;
	struct annotated lines;
	VEC(uint32_t) seen; // lines that are shown
	struct list list;
	struct annotate_look look;
	enum shares shares;
	struct tui_line wanted;
	struct out scratch;
	int depth;
};

static const char *const help[] = {"Moving",
				   "up, down, pages\tas everywhere",
				   "Enter, right\tto where the jump goes; into the function that is called",
				   "TAB, BackTab\tthe next hottest line, the one before",
				   "H\tthe hottest line",
				   "/ n N\tsearch, next, last",
				   "What is shown",
				   "s\twith source lines or without",
				   "o\toffsets or addresses",
				   "J\thow many jumps come to a line",
				   "t\tpercent, samples or period",
				   "c\tcycles of branch stacks: with their least and most",
				   "P\tsave to SYMBOL.annotation",
				   "?, h\tthis help",
				   "q, Esc, left\tback",
				   NULL};

static const struct annotated_line *line_at(const struct view *view, size_t i)
{
	return &view->lines.lines.v[view->seen.v[i]];
}

static const struct annotated_line *chosen_line(const struct view *view)
{
	return view->list.at < view->seen.n ? line_at(view, view->list.at) : NULL;
}

static void choose_line(struct view *view, uint32_t line)
{
	for (size_t i = 0; i < view->seen.n; i++) {
		if (view->seen.v[i] >= line) {
			size_t page = view->list.page ? view->list.page : 1;

			list_choose(&view->list, i);
			// In the middle, as one wants to see what is around.
			view->list.top = i > page / 2 ? i - page / 2 : 0;
			list_resize(&view->list, view->list.n, view->list.page);
			return;
		}
	}
}

static void make_seen(struct view *view)
{
	uint32_t at = view->list.at < view->seen.n ? view->seen.v[view->list.at] : 0;

	vec_clear(&view->seen);
	for (size_t i = 0; i < view->lines.lines.n; i++) {
		const struct annotated_line *line = &view->lines.lines.v[i];

		if (line->kind == ANNOTATED_INSTRUCTION ||
		    (!view->look.no_source && line->kind == ANNOTATED_SOURCE))
			vec_push(&view->seen, (uint32_t)i);
	}
	list_resize(&view->list, view->seen.n, view->list.page);
	choose_line(view, at);
}

static uint64_t weight(const struct annotated_line *line)
{
	return line->counts ? line->counts[0].period : 0;
}

// Heavier ones first, equal ones from top to bottom.
static bool comes_before(const struct view *view, size_t a, size_t b)
{
	uint64_t x = weight(line_at(view, a)), y = weight(line_at(view, b));

	return x != y ? x > y : a < b;
}

static void go_hottest(struct view *view)
{
	size_t best = 0;

	for (size_t i = 1; i < view->seen.n; i++) {
		if (comes_before(view, i, best))
			best = i;
	}
	if (view->seen.n)
		choose_line(view, view->seen.v[best]);
}

// The next one in the order of heat, or the one before.
static void go_heat(struct view *view, bool colder)
{
	size_t at = view->list.at, best = SIZE_MAX;

	for (size_t i = 0; i < view->seen.n; i++) {
		bool wanted = i != at && weight(line_at(view, i)) &&
			      (colder ? comes_before(view, at, i) : comes_before(view, i, at));

		if (wanted && (best == SIZE_MAX ||
			       (colder ? comes_before(view, i, best) : comes_before(view, best, i))))
			best = i;
	}
	if (best != SIZE_MAX)
		choose_line(view, view->seen.v[best]);
	else if (colder)
		go_hottest(view);
}

// ---- drawing

static double percent_of(const struct view *view, const struct annotated_line *line)
{
	uint64_t total = view->lines.totals ? view->lines.totals[0].period : 0;

	return total ? 100.0 * (double)weight(line) / (double)total : 0;
}

static void put_share(struct view *view, const struct annotated_line *line, struct out *out)
{
	if (!line->counts || !line->counts[0].samples)
		return;
	switch (view->shares) {
	case SHARE_SAMPLES:
		out_printf(out, "%8llu", (unsigned long long)line->counts[0].samples);
		break;
	case SHARE_PERIOD:
		out_printf(out, "%8llu", (unsigned long long)line->counts[0].period);
		break;
	default:
		out_printf(out, "%8.2f", percent_of(view, line));
	}
}

static int cycles_width(const struct view *view)
{
	if (!view->lines.cycles.any)
		return 0;
	return IPC_WIDTH + (view->look.cycle_range ? RANGE_WIDTH : CYCLES_WIDTH);
}

// Instructions per cycle, cycles of the block that ends here.
static void put_cycles(const struct view *view, const struct annotated_line *line, struct out *out)
{
	char text[96];

	if (!view->lines.cycles.any)
		return;
	if (line->ipc != 0)
		out_printf(out, "%*.2f ", IPC_WIDTH - 1, (double)line->ipc);
	else
		out_fill(out, ' ', IPC_WIDTH);
	annotated_cycles_text(line, view->look.cycle_range, text);
	out_printf(out, "%*s ", cycles_width(view) - IPC_WIDTH - 1, text);
}

static const char *arrow(const struct view *view, uint32_t index)
{
	const struct annotated_line *line = &view->lines.lines.v[index];
	bool plain = !screen_is_utf8(view->o->screen);

	switch (line->flow) {
	case ANNOTATED_JUMP:
		if (line->jump_to == ANNOTATED_NOWHERE)
			return plain ? "< " : "\xe2\x86\x90 ";
		if (line->jump_to > index)
			return plain ? "v " : "\xe2\x86\x93 ";
		return plain ? "^ " : "\xe2\x86\x91 ";
	case ANNOTATED_CALL:
		return plain ? "> " : "\xe2\x86\x92 ";
	case ANNOTATED_RETURN:
		return plain ? "< " : "\xe2\x86\x90 ";
	default:
		return "  ";
	}
}

// What stands before the text: the source line's number, the instruction's place.
static void put_place(const struct view *view, uint32_t index, struct out *out)
{
	const struct annotated_line *line = &view->lines.lines.v[index];

	if (line->kind != ANNOTATED_INSTRUCTION) {
		if (line->line)
			out_printf(out, "%5u  ", line->line);
		else
			out_text(out, "       ");
		return;
	}
	if (view->look.jump_counts && line->jumps_here)
		out_printf(out, "%3u ", line->jumps_here);
	else if (view->look.jump_counts)
		out_text(out, "    ");
	if (view->look.addresses)
		out_printf(out, "%8llx: ", (unsigned long long)line->addr);
	else if (line->jumps_here || (line->flow == ANNOTATED_CALL && view->look.offset_level > 1) ||
		 view->look.offset_level > 2)
		out_printf(out, "%4x: ", line->offset);
	else
		out_text(out, "      ");
}

static void put_text(const struct view *view, uint32_t index, struct out *out)
{
	const struct annotated_line *line = &view->lines.lines.v[index];

	if (line->kind != ANNOTATED_INSTRUCTION) {
		out_text(out, line->text);
		return;
	}
	out_text(out, arrow(view, index));
	out_text(out, line->text);
	if (line->flow == ANNOTATED_JUMP && line->jump_to != ANNOTATED_NOWHERE)
		out_printf(out, "   [%x]", view->lines.lines.v[line->jump_to].offset);
}

// The bar between shares and text: of the chosen jump, from where to where it goes.
static const char *bar(const struct view *view, uint32_t index)
{
	const struct annotated_line *line = chosen_line(view);
	bool plain = !screen_is_utf8(view->o->screen);
	uint32_t from, to;

	if (line && !view->look.no_arrows && line->flow == ANNOTATED_JUMP &&
	    line->jump_to != ANNOTATED_NOWHERE) {
		from = MIN(view->seen.v[view->list.at], line->jump_to);
		to = MAX(view->seen.v[view->list.at], line->jump_to);
		if (index == line->jump_to)
			return plain ? "+->" : "\xe2\x94\x9c\xe2\x94\x80\xe2\x96\xb6";
		if (index == view->seen.v[view->list.at])
			return plain ? "+--" : "\xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80";
		if (index > from && index < to)
			return plain ? "|| " : "\xe2\x94\x82\xe2\x94\x82 ";
	}
	return plain ? "|  " : "\xe2\x94\x82  ";
}

static bool has(const struct view *view, size_t i)
{
	return view->wanted.n && strstr(line_at(view, i)->text, view->wanted.text);
}

static void draw_line(struct view *view, size_t i, int row)
{
	struct screen *screen = view->o->screen;
	uint32_t index = view->seen.v[i];
	const struct annotated_line *line = &view->lines.lines.v[index];
	struct screen_at at = {.row = row, .chosen = i == view->list.at};
	struct out *out = &view->scratch;

	if (at.chosen)
		screen_fill(screen, at);
	out->n = 0;
	put_share(view, line, out);
	at.style = screen_percent_style(percent_of(view, line));
	screen_put(screen, at, (struct str){out->buf, out->n});
	at.column = SHARE_WIDTH;
	at.style = STYLE_PLAIN;
	out->n = 0;
	put_cycles(view, line, out);
	screen_put(screen, at, (struct str){out->buf, out->n});
	at.column = SHARE_WIDTH + cycles_width(view);
	at.style = STYLE_ARROW;
	at.column = screen_put(screen, at, str_of(bar(view, index)));
	out->n = 0;
	put_place(view, index, out);
	at.style = line->kind == ANNOTATED_INSTRUCTION ? STYLE_ADDRESS : STYLE_DIM;
	at.column = screen_put(screen, at, (struct str){out->buf, out->n});
	out->n = 0;
	put_text(view, index, out);
	at.style = has(view, i)				 ? STYLE_MARK
		   : line->kind == ANNOTATED_INSTRUCTION ? STYLE_PLAIN
							 : STYLE_DIM;
	screen_put(screen, at, (struct str){out->buf, out->n});
}

static void put_title(const struct view *view, struct tui_parts *line)
{
	static const char *const names[] = {"Percent", "Samples", "Period"};
	const struct annotated *lines = &view->lines;
	struct out *out = &line->out;

	tui_parts_begin(line, 0);
	if (lines->cycles.any)
		out_printf(out, "%s, IPC, cycles of %s", names[view->shares], lines->symbol);
	else
		out_printf(out, "%s of %s", names[view->shares], lines->symbol);
	tui_parts_begin(line, 2);
	if (lines->cycles.any)
		out_printf(out, " (IPC %.2f, known of %.1f%%)", annotated_ipc(lines),
			   annotated_ipc_coverage(lines));
	tui_parts_begin(line, 3);
	if (lines->path)
		out_printf(out, "  %s", lines->path);
	tui_parts_begin(line, 1);
	out_printf(out, "  %llu samples of event '%s'",
		   (unsigned long long)(lines->totals ? lines->totals[0].samples : 0),
		   view->o->event);
}

static void draw(struct view *view)
{
	struct screen *screen = view->o->screen;
	static const char *const keys[] = {"?: help",	"Enter: jump or call", "TAB: hottest lines",
					   "s: source", "/: search",	       "q: back",
					   NULL};
	struct tui_parts line;
	int rows, columns;

	screen_size(screen, &rows, &columns);
	screen_clear(screen);
	list_resize(&view->list, view->seen.n, rows > 3 ? (size_t)rows - 2 : 1);
	tui_parts_init(&line);
	put_title(view, &line);
	screen_put(screen, (struct screen_at){.style = STYLE_TITLE},
		   tui_parts_fit(&line, (size_t)columns));
	tui_parts_done(&line);
	for (size_t i = 0; i < view->list.page && view->list.top + i < view->seen.n; i++)
		draw_line(view, view->list.top + i, 1 + (int)i);
	struct screen_at foot = {.row = rows - 1, .style = STYLE_STATUS};
	screen_fill(screen, foot);
	tui_parts_init(&line);
	tui_parts_words(&line, keys);
	screen_put(screen, foot, tui_parts_fit(&line, (size_t)columns));
	tui_parts_done(&line);
}

// ---- keys

static void find(struct view *view, bool forward)
{
	size_t n = view->seen.n;

	for (size_t step = 1; step <= n; step++) {
		size_t i = (view->list.at + (forward ? step : n - step)) % n;

		if (has(view, i)) {
			choose_line(view, view->seen.v[i]);
			return;
		}
	}
}

static int show(const struct annotate_screen *options, const struct annotate_request *request,
		int depth);

static int follow(struct view *view)
{
	const struct annotated_line *line = chosen_line(view);
	struct annotate_request request = view->request;

	if (!line || !line->has_target)
		return 0;
	if (line->jump_to != ANNOTATED_NOWHERE) {
		choose_line(view, line->jump_to);
		return 0;
	}
	request.symbol = dso_find_symbol(view->o->sym, request.dso, line->target);
	if (!request.symbol || view->depth >= DEEPEST) {
		tui_tell(view->o->screen, "Where that goes is not known.");
		return 0;
	}
	return show(view->o, &request, view->depth + 1);
}

static void save(struct view *view)
{
	char path[NAME_MAX], sentence[NAME_MAX + 64];
	struct out out;
	struct tui_parts line;
	int err, fd;

	snprintf(path, sizeof(path), "%.200s.annotation", view->lines.symbol);
	for (char *p = path; *p; p++) {
		if (*p == '/' || (unsigned char)*p < 33 || *p == 127)
			*p = '_';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	err = fd < 0 ? -errno : 0;
	if (!err) {
		out_init_fd(&out, fd);
		tui_parts_init(&line);
		put_title(view, &line);
		out_str(&out, tui_parts_fit(&line, SIZE_MAX));
		tui_parts_done(&line);
		out_char(&out, '\n');
		for (size_t i = 0; i < view->seen.n; i++) {
			size_t start;

			out_room(&out, 64);
			start = out.n;
			put_share(view, line_at(view, i), &out);
			out_fill(&out, ' ',
				 SHARE_WIDTH - (out.n - start < SHARE_WIDTH ? out.n - start
									    : SHARE_WIDTH));
			put_cycles(view, line_at(view, i), &out);
			out_text(&out, "|  ");
			put_place(view, view->seen.v[i], &out);
			put_text(view, view->seen.v[i], &out);
			out_char(&out, '\n');
		}
		err = out_flush(&out);
		out_done(&out);
		close(fd);
	}
	if (err)
		snprintf(sentence, sizeof(sentence), "Nothing was saved to %s: %s", path,
			 strerror(-err));
	else
		snprintf(sentence, sizeof(sentence), "What is shown was saved to %s", path);
	tui_tell(view->o->screen, sentence);
}

static int on_key(struct view *view, int key)
{
	switch (key) {
	case SCREEN_ENTER:
	case SCREEN_RIGHT:
		return follow(view);
	case SCREEN_TAB:
	case SCREEN_BACK_TAB:
		go_heat(view, key == SCREEN_TAB);
		break;
	case 'H':
		go_hottest(view);
		break;
	case 's':
		view->look.no_source = !view->look.no_source;
		make_seen(view);
		break;
	case 'o':
		view->look.addresses = !view->look.addresses;
		break;
	case 'J':
		view->look.jump_counts = !view->look.jump_counts;
		break;
	case 'c':
		view->look.cycle_range = !view->look.cycle_range;
		break;
	case 't':
		view->shares = (view->shares + 1) % SHARES;
		break;
	case '/':
		if (tui_ask(view->o->screen, "/", &view->wanted))
			find(view, true);
		break;
	case 'n':
	case 'N':
		find(view, key == 'n');
		break;
	case 'P':
		save(view);
		break;
	case '?':
	case 'h':
	case SCREEN_F1:
		tui_help(view->o->screen, "Keys", help);
		break;
	case SCREEN_CLICK:
	case SCREEN_DOUBLE_CLICK: {
		int row, column;

		screen_mouse(view->o->screen, &row, &column);
		if (row > 0 && view->list.top + (size_t)row - 1 < view->seen.n)
			list_choose(&view->list, view->list.top + (size_t)row - 1);
		return key == SCREEN_DOUBLE_CLICK ? follow(view) : 0;
	}
	default:
		list_key(&view->list, key);
	}
	return 0;
}

static void loop(struct view *view)
{
	for (;;) {
		int key, wait = view->o->refresh_ms ? view->o->refresh_ms : -1;
		char sentence[512];

		draw(view);
		key = screen_key(view->o->screen, wait);
		if (key == SCREEN_ENDED || key == 'q' || key == SCREEN_ESCAPE || key == SCREEN_LEFT)
			return;
		if (view->o->refresh_ms)
			annotator_recount(&view->request, &view->lines);
		if (key != SCREEN_NONE && on_key(view, key) < 0) {
			snprintf(sentence, sizeof(sentence), "%s", err_sentence());
			tui_tell(view->o->screen, sentence);
		}
	}
}

static int show(const struct annotate_screen *options, const struct annotate_request *request,
		int depth)
{
	struct view view = {.o = options, .request = *request, .depth = depth};
	int err = annotator_lines(options->annotator, request, &view.lines);

	if (err < 0)
		return err;
	out_init_memory(&view.scratch);
	annotate_look_init(&view.look);
	if (settings_bool("annotate.show_nr_samples", false))
		view.shares = SHARE_SAMPLES;
	if (settings_bool("annotate.show_total_period", false))
		view.shares = SHARE_PERIOD;
	make_seen(&view);
	view.list.page = 20;
	go_hottest(&view);
	loop(&view);
	vec_done(&view.seen);
	out_done(&view.scratch);
	annotated_done(&view.lines);
	return 0;
}

int annotate_screen_show(const struct annotate_screen *options)
{
	return show(options, &options->request, 0);
}
