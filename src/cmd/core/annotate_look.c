// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/annotate_look.h"
#include "cmd/core/settings.h"

void annotate_look_init(struct annotate_look *ret)
{
	unsigned level = settings_number("annotate.offset_level", 1);

	*ret = (struct annotate_look){
		.no_source = settings_bool("annotate.hide_src_code", false),
		.addresses = !settings_bool("annotate.use_offset", true),
		.jump_counts = settings_bool("annotate.show_nr_jumps", false),
		.line_numbers = settings_bool("annotate.show_linenr", false),
		.no_arrows = !settings_bool("annotate.jump_arrows", true),
		.offset_level = level ? level : 1,
	};
}
