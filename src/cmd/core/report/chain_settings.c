// SPDX-License-Identifier: GPL-2.0-or-later
// [call-graph] of ~/.perfconfig: how call graphs are shown where -g says nothing else.
#include "base/err.h"
#include "cmd/core/settings.h"
#include "cmd/core/report/report.h"

struct chain_setting {
	const char *key, *what;
	const char *words[5];
};

static const struct chain_setting settings[] = {
	{"call-graph.print-type",
	 "a type of call graph",
	 {"graph", "fractal", "flat", "folded", "none"}},
	{"call-graph.order", "an order", {"caller", "callee"}},
	{"call-graph.sort-key", "a key of call chains", {"function", "address", "srcline"}},
};

static int take_word(struct chain_options *chain, const struct chain_setting *setting)
{
	const char *value = settings_get(setting->key);

	for (size_t i = 0; value && i < ARRAY_SIZE(setting->words) && setting->words[i]; i++) {
		if (!strcmp(setting->words[i], value))
			return report_parse_chain(chain, value);
	}
	return value ? fail(EINVAL, "'%s' is not %s", value, setting->what) : 0;
}

static int take_threshold(struct chain_options *chain)
{
	const char *value = settings_get("call-graph.threshold");
	char *end;
	double percent;

	if (!value)
		return 0;
	percent = strtod(value, &end);
	if (end == value || *end || !(percent >= 0 && percent <= 100))
		return fail(EINVAL, "'%s' is not a number of percent", value);
	chain->least_percent = percent;
	return 0;
}

int report_chain_settings(struct chain_options *chain)
{
	bool enabled = chain->enabled; // they say how, not whether
	int err = take_threshold(chain);

	for (size_t i = 0; i < ARRAY_SIZE(settings) && !err; i++)
		err = take_word(chain, &settings[i]);
	chain->print_limit = settings_number("call-graph.print-limit", chain->print_limit);
	chain->enabled = enabled;
	return err;
}
