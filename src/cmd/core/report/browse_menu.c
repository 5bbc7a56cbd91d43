// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/report/browse.h"

enum { MOST = 16 };

struct menu {
	struct out text; // of the items, each ends with NUL
	size_t starts[MOST];
	int keys[MOST];
	size_t n;
};

static void add(struct menu *menu, int key, const char *what, const char *name)
{
	menu->starts[menu->n] = menu->text.n;
	menu->keys[menu->n++] = key;
	out_text(&menu->text, what);
	if (name) {
		out_char(&menu->text, ' ');
		out_text(&menu->text, name);
	}
	out_char(&menu->text, 0);
}

static void add_zooms(const struct browser *browser, const struct entry *e, struct menu *menu)
{
	const struct report *report = browser->report;
	const struct browse_zoom *zoom = &browser->zoom;

	if (browser_has_key(browser, WIDTH_COMM) || browser_has_key(browser, WIDTH_THREAD))
		add(menu, 't', zoom->by_task ? "Zoom out of the thread" : "Zoom into thread",
		    zoom->by_task ? NULL : intern_get(&report->run->sym->strings, e->comm));
	if (browser_has_key(browser, WIDTH_DSO))
		add(menu, 'd', zoom->by_dso ? "Zoom out of the DSO" : "Zoom into DSO",
		    zoom->by_dso   ? NULL
		    : e->place.dso ? e->place.dso->short_name
				   : "[unknown]");
	if (report->has_sym && e->place.sym)
		add(menu, 'y', zoom->by_symbol ? "Zoom out of the symbol" : "Zoom into symbol",
		    zoom->by_symbol ? NULL : e->place.sym->name);
	if (browser_has_key(browser, WIDTH_SOCKET))
		add(menu, 'S', zoom->by_socket ? "Zoom out of the socket" : "Zoom into its socket",
		    NULL);
}

int browser_menu(struct browser *browser)
{
	const struct browse_line *line = browser_line(browser);
	const struct entry *e = line ? browser_entry(browser, line) : NULL;
	const char *items[MOST];
	struct menu menu = {0};
	int chosen;

	out_init_memory(&menu.text);
	if (e && browser->report->addresses && browser->report->has_sym && e->place.sym)
		add(&menu, 'a', "Annotate", e->place.sym->name);
	if (e)
		add_zooms(browser, e, &menu);
	if (browser_has_samples(browser))
		add(&menu, 'r', "Its samples, as script prints them", NULL);
	if (line && line->folds)
		add(&menu, 'e', line->open ? "Collapse what is below" : "Expand all below", NULL);
	if (browser->hooks->n > 1)
		add(&menu, SCREEN_TAB, "Next event", NULL);
	add(&menu, 'P', "Save what is shown to a file", NULL);
	add(&menu, 'i', "Facts about the recording and the machine", NULL);
	add(&menu, 'q', "Leave", NULL);
	for (size_t i = 0; i < menu.n; i++)
		items[i] = menu.text.buf + menu.starts[i];
	chosen = tui_menu(browser->screen, "What to do", items, menu.n);
	out_done(&menu.text);
	return chosen < 0 ? SCREEN_NONE : menu.keys[chosen];
}
