// SPDX-License-Identifier: GPL-2.0-or-later
// The argument of -g.
#include "base/err.h"
#include "cmd/core/command.h"
#include "cmd/core/report/report.h"
#include <math.h>

static bool is_word(const char *word, const char *name)
{
	return !strncmp(word, name, strlen(word));
}

// print_type,threshold[,print_limit],order,sort_key[,branch],value in any order, words may be cut short.
int report_parse_chain(struct chain_options *chain, const char *text)
{
	static const struct {
		const char *name;
		int group, value;
	} words[] = {{"graph", 0, CHAIN_GRAPH},
		     {"flat", 0, CHAIN_FLAT},
		     {"fractal", 0, CHAIN_FRACTAL},
		     {"folded", 0, CHAIN_FOLDED},
		     {"caller", 1, 1},
		     {"callee", 1, 0},
		     {"function", 2, 0},
		     {"address", 2, 1},
		     {"srcline", 2, 2},
		     {"branch", 3, 1},
		     {"percent", 4, CHAIN_PERCENT},
		     {"period", 4, CHAIN_PERIOD},
		     {"count", 4, CHAIN_COUNT}};
	char *copy = xstrdup(text), *rest = copy, *word;
	bool has_threshold = false;
	int err = 0;

	chain->enabled = true;
	if (chain->mode == CHAIN_NONE) // as an option before this one said
		chain->mode = CHAIN_GRAPH;
	while (!err && (word = strsep(&rest, ","))) {
		size_t i = 0;
		char *end;

		if (!*word)
			continue;
		if (is_word(word, "none")) {
			chain->mode = CHAIN_NONE;
			chain->enabled = false;
			break;
		}
		while (i < ARRAY_SIZE(words) && !is_word(word, words[i].name))
			i++;
		if (i < ARRAY_SIZE(words)) {
			switch (words[i].group) {
			case 0:
				chain->mode = (enum chain_mode)words[i].value;
				break;
			case 1:
				chain->caller = words[i].value;
				chain->order_given = true;
				break;
			case 2:
				chain->by_address = words[i].value != 0;
				chain->by_srcline = words[i].value == 2;
				break;
			case 3:
				chain->branch = true;
				break;
			default:
				chain->value = (enum chain_value)words[i].value;
			}
			continue;
		}
		if (!has_threshold)
			chain->least_percent = strtod(word, &end);
		else
			chain->print_limit = (uint32_t)strtoul(word, &end, 0);
		has_threshold = true;
		if (end == word || *word == '-' || !isfinite(chain->least_percent))
			err = fail(COMMAND_USAGE,
				   "--call-graph %s: `%s' is no print type (graph, flat, fractal, folded, none), order "
				   "(caller, callee), key (function, address, srcline), value (percent, period, count) or number",
				   text, word);
	}
	free(copy);
	return err;
}
