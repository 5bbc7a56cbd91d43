// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of a report as a screen that one moves in. `sonde report` shows what was recorded, `sonde top` what goes on.
#pragma once
#include "cmd/core/report/report.h"
#include "encoder/tui/dialog.h"
#include "encoder/tui/list.h"
#include "encoder/tui/parts.h"
#include "encoder/tui/screen.h"

// What a command adds. All but `hists` may be 0.
struct browse_hooks {
	struct hist **hists; // by event; refresh may replace them
	size_t n;
	void *arg;
	int refresh_ms; // how long the rows stay, 0: for ever
	// Makes new rows. Nothing of the old ones is used afterwards.
	int (*refresh)(void *arg);
	// The first line, instead of the report's.
	void (*title)(void *arg, const struct hist *hist, struct tui_parts *line);
	// A key of its own. True: it was one; *ret_refresh: the rows have to be made anew.
	bool (*key)(void *arg, struct screen *screen, int key, bool *ret_refresh);
	const char *const *help; // of these keys, as tui_help takes them
	bool annotate_first;	 // begin with the first row's annotation
	bool intel;		 // its instructions in Intel's syntax
};

// Until the user leaves. Negative with a sentence when a hook failed.
int report_browse(struct report *report, struct screen *screen, const struct browse_hooks *hooks);

// ---- between the parts

// One line: a row (node NONE), or a frame of the call graph below it.
struct browse_line {
	uint32_t row, node, frame; // frame: within the node
	uint16_t depth;
	bool folds, open; // has something below that is shown or not
	bool has_percent;
	uint64_t key;	// the same after a refresh
	uint64_t total; // of which the percentage is
};
enum { BROWSE_NONE = UINT32_MAX };

// What the rows are narrowed to.
struct browse_zoom {
	bool by_task, by_dso, by_symbol, by_socket;
	uint32_t tid, comm; // by_task: tid where rows are of threads
	bool has_tid;
	const struct dso *dso;
	const struct symbol *symbol;
	int socket;
	struct tui_line filter; // part of the symbol's name
};

struct browser {
	struct report *report;
	struct screen *screen;
	const struct browse_hooks *hooks;
	struct hist *hist;
	size_t event;
	struct list list;
	VEC(struct browse_line) lines;
	struct map folds; // key of a line -> 1 open, 0 closed; not there: as it is by itself
	bool all_open;	  // rows are open by themselves
	struct browse_zoom zoom;
	bool no_headers, show_dsos;
	int shift;	 // columns of the table that are out of sight at the left
	VEC(int) widths; // of the columns that are seen, from the first to the last
	float percent_limit;
	struct annotator *annotator; // NULL: nothing was annotated yet
	struct out scratch;
};

// browse.c: do rows have a key of that kind?
bool browser_has_key(const struct browser *browser, enum width width);

// browse_lines.c: what is shown, by zoom and folds. The chosen line stays chosen, if it is still there.
void browser_make_lines(struct browser *browser);
void browser_fold(struct browser *browser, const struct browse_line *line, bool open);
// All below the line too.
void browser_fold_deep(struct browser *browser, const struct browse_line *line, bool open);
void browser_fold_all(struct browser *browser, bool open);
void browser_apply_zoom(struct browser *browser);
const struct browse_line *browser_line(const struct browser *browser); // the chosen one or NULL
struct entry *browser_entry(const struct browser *browser, const struct browse_line *line);

// browse_draw.c
void browser_draw(struct browser *browser);
int browser_lines_row(const struct browser *browser); // of the screen, where the first line is
// What is written to a file: the rows as they are seen, chains as they are open.
void browser_print(struct browser *browser, struct out *out);

// browse_menu.c: what can be done with the chosen line. Returns a key that does it, SCREEN_NONE: nothing.
int browser_menu(struct browser *browser);

// browse_script.c: the samples of the chosen row, as `sonde script` prints them.
void browser_script(struct browser *browser);
bool browser_has_samples(const struct browser *browser); // else they are gone
