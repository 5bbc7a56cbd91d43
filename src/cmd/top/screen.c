// SPDX-License-Identifier: GPL-2.0-or-later
// The screen of top: report's browser over rows that are made anew all the time.
#include "base/err.h"
#include "cmd/core/screen_settings.h"
#include "cmd/core/report/browse.h"
#include "cmd/top/top.h"

enum { FIRST_MS = 100, SECOND_MS = 400, DRAIN_MS = 50 }; // of refreshes, of the rings

struct view {
	struct top *top;
	struct browse_hooks hooks;
	unsigned refreshes;
	bool started;
};

static const char *const help[] = {"Of top",
				   "f\tfreeze what is shown, and go on",
				   "z\tforget what was at each refresh, or let it fade",
				   "K, U\thide the kernel, hide user space",
				   "D\tseconds between refreshes",
				   NULL};

static int drain(void *arg)
{
	struct view *view = arg;
	int err = 0;

	// The screen is there first.
	if (!view->started)
		err = top_start(view->top);
	view->started = true;
	return err ? err : top_drain(view->top);
}

static int refresh(void *arg)
{
	struct view *view = arg;
	int err = top_refresh(view->top);

	view->hooks.hists = view->top->shown;
	// Something is seen at once; then in peace.
	view->hooks.refresh_ms = view->refreshes++ ? (int)(view->top->o.delay_s * 1000) : SECOND_MS;
	top_ended(view->top);
	return err;
}

static void title(void *arg, const struct hist *hist, struct tui_parts *line)
{
	const struct view *view = arg;
	const struct top *top = view->top;
	struct out *out = &line->out;

	tui_parts_begin(line, 0);
	if (top->frozen)
		out_text(out, "FROZEN ");
	if (top->ended)
		out_text(out, "ENDED ");
	if (top->o.zero)
		out_text(out, "[z] ");
	if (top->o.hide_kernel)
		out_text(out, "[without the kernel] ");
	if (top->o.hide_user)
		out_text(out, "[without user space] ");
	out_printf(out, "Samples: %u of event '%s'", hist->samples, hist->event->name);
	tui_parts_begin(line, 2);
	if (hist->event->attr.freq)
		out_printf(out, ", %llu Hz", (unsigned long long)hist->event->attr.sample_freq);
	tui_parts_begin(line, 3);
	out_printf(out, ", Event count (approx.): %llu", (unsigned long long)hist->total_period);
	tui_parts_begin(line, 1);
	out_printf(out, ", lost: %llu/%llu", (unsigned long long)top->counts.lost,
		   (unsigned long long)top->lost_n);
	tui_parts_begin(line, 2);
	top_put_target(top, out);
	tui_parts_begin(line, 1);
	if (top->started_over_n)
		out_text(out, ", history was full and began anew");
}

static void ask_delay(struct top *top, struct screen *screen)
{
	struct tui_line line = {0};
	double seconds;

	if (!tui_ask(screen, "Seconds between refreshes: ", &line))
		return;
	if (num_parse_double((struct str){line.text, line.n}, &seconds) < 0 || seconds < 0.05 ||
	    seconds > 86400)
		tui_tell(screen, "That is no number of seconds from 0.05 to 86400.");
	else
		top->o.delay_s = seconds;
}

static bool on_key(void *arg, struct screen *screen, int key, bool *ret_refresh)
{
	struct view *view = arg;
	struct top *top = view->top;

	switch (key) {
	case 'f':
		top->frozen = !top->frozen;
		return true;
	case 'z':
		top->o.zero = !top->o.zero;
		return true;
	case 'K':
		top->o.hide_kernel = !top->o.hide_kernel;
		top->forget = true;
		break;
	case 'U':
		top->o.hide_user = !top->o.hide_user;
		top->forget = true;
		break;
	case 'D':
		ask_delay(top, screen);
		break;
	default:
		return false;
	}
	*ret_refresh = true;
	return true;
}

int top_run_screen(struct top *top)
{
	struct view view = {.top = top,
			    .hooks = {.refresh_ms = FIRST_MS,
				      .refresh = refresh,
				      .title = title,
				      .key = on_key,
				      .help = help,
				      .n = top->run->recording->events.n}};
	struct screen_background background = {.fds = top->fds,
					       .n = top->opened.rings.n,
					       .every_ms = DRAIN_MS,
					       .run = drain};
	struct screen *screen;
	int err;

	top->report.addresses = annotate_counts_new((uint32_t)top->run->recording->events.n);
	err = top_refresh(top);
	view.hooks.arg = &view;
	view.hooks.hists = top->shown;
	background.arg = &view;
	if (!err)
		err = screen_open_as_set(&screen);
	if (err)
		return err;
	screen_set_background(screen, &background);
	err = report_browse(&top->report, screen, &view.hooks);
	screen_close(screen);
	return err;
}
