// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/screen_settings.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/log.h"
#include "cmd/core/settings.h"

// perf-config(1). A key may be of several styles.
static const struct {
	const char *key;
	enum screen_style style;
} colors[] = {
	{"colors.top", STYLE_HOT},	     {"colors.medium", STYLE_WARM},
	{"colors.normal", STYLE_PLAIN},	     {"colors.selected", STYLE_SELECTED},
	{"colors.jump_arrows", STYLE_ARROW}, {"colors.addr", STYLE_ADDRESS},
	{"colors.root", STYLE_TITLE},	     {"colors.root", STYLE_HEADER},
	{"colors.root", STYLE_STATUS},
};

int screen_open_as_set(struct screen **ret)
{
	int err = screen_open(ret);

	for (size_t i = 0; i < ARRAY_SIZE(colors) && !err; i++) {
		const char *value = settings_get(colors[i].key);
		int bad = value ? screen_set_color(*ret, colors[i].style, value) : 0;

		if (bad < 0) {
			settings_explain(bad);
			warn("%s", err_sentence());
			err_clear();
		}
	}
	return err;
}
