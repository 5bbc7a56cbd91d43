// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/annotate/screen.h"
#include "cmd/core/screen_settings.h"
#include "cmd/core/report/browse.h"

bool annotate_wants_screen(const struct annotate *annotate)
{
	const struct annotate_command_options *o = &annotate->o;

	return !o->stdio && !o->stdio2 && !o->format && !o->quiet && !o->gtk && !o->dump &&
	       !o->lines && screen_possible();
}

int annotate_run_screen(struct annotate *annotate)
{
	struct report *report = &annotate->report;
	const struct recording *recording = report->run->recording;
	auto_free struct hist **hists = xcalloc(recording->events.n + 1, sizeof(struct hist *));
	struct browse_hooks hooks = {
		.hists = hists,
		.intel = annotate->o.style && !strcmp(annotate->o.style, "intel"),
		.annotate_first = true,
	};
	struct screen *screen;
	int err;

	for (size_t i = 0; i < recording->events.n; i++) {
		struct hist *hist = report_hist(report, recording->events.v[i]);

		if (hist->samples)
			hists[hooks.n++] = hist;
	}
	if (!hooks.n)
		return 0;
	err = screen_open_as_set(&screen);
	if (err)
		return err;
	report->addresses = annotate->counts;
	report->blocks = annotate->blocks;
	err = report_browse(report, screen, &hooks);
	report->addresses = NULL; // they are annotate's
	report->blocks = NULL;
	screen_close(screen);
	return err;
}
