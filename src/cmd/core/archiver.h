// SPDX-License-Identifier: GPL-2.0-or-later
// All that a recording needs on another machine, in one file.
#pragma once
#include <stdbool.h>
#include "sym/held.h"

struct archive_request {
	const char *input, *output; // output NULL: beside the recording
	bool all;		    // files without samples too
	bool force;
	bool perf;	   // as `perf archive` makes it
	struct held *held; // files that are open since they were mapped; NULL: none
};

// Says on stderr what was put in and what is not here. 1: the recording is damaged; -errno with a sentence.
int archive_recording(const struct archive_request *request);
