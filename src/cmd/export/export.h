// SPDX-License-Identifier: GPL-2.0-or-later
// What the files of `sonde export` share.
#pragma once
#include "flow/filter.h"
#include "view/profile.h"

struct export_options {
	const char *event; // a name or a glob; NULL: all
	bool force, no_inline;
	unsigned jobs; // processes that unwind; 0: as many as pay
	struct filter_options filter;
	struct sym_options sym;
};

// Reads the recording into an initialised profile and finishes it. -errno with a sentence; 1: it is damaged (told on stderr), the
// profile holds what could be read.
int export_collect(struct profile *profile, const char *path, const struct export_options *options);
