// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/percent_type.h"
#include "base/err.h"
#include "base/str.h"
#include "cmd/core/command.h"

const char *const percent_type_names[4] = {
	[PERCENT_LOCAL_PERIOD] = "local period",
	[PERCENT_LOCAL_HITS] = "local hits",
	[PERCENT_GLOBAL_PERIOD] = "global period",
	[PERCENT_GLOBAL_HITS] = "global hits",
};

int percent_type_parse(const char *text, enum percent_type *ret)
{
	const char *dash = strchr(text, '-');
	struct str a, b;

	if (dash) {
		a = (struct str){text, (size_t)(dash - text)};
		b = str_of(dash + 1);
		for (unsigned i = 0; i < 4; i++) {
			struct str what = str_of(percent_type_names[i]);
			struct str where = str_cut(&what, ' ');

			if ((str_eq(a, where) && str_eq(b, what)) ||
			    (str_eq(a, what) && str_eq(b, where))) {
				*ret = (enum percent_type)i;
				return 0;
			}
		}
	}
	return fail(COMMAND_USAGE,
		    "--percent-type takes local or global, a dash, and period or hits; not '%s'",
		    text);
}
