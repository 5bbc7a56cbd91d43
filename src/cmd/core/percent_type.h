// SPDX-License-Identifier: GPL-2.0-or-later
// --percent-type: what the percentages beside annotated code are of.
#pragma once

enum percent_type {
	PERCENT_LOCAL_PERIOD,
	PERCENT_LOCAL_HITS,
	PERCENT_GLOBAL_PERIOD,
	PERCENT_GLOBAL_HITS
};

extern const char *const percent_type_names[4]; // "local period"

// "local-period", "hits-global": both words in any order. -EINVAL with a sentence, as of a wrong usage.
int percent_type_parse(const char *text, enum percent_type *ret);
