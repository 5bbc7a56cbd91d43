// SPDX-License-Identifier: GPL-2.0-or-later
// --kcore: the recording is a folder, "data" beside kcore_dir/{kallsyms,modules,kcore} (perf's "perf.data directory format").
#include <sys/stat.h>
#include "base/err.h"
#include "cmd/core/record/record.h"
#include "sym/kcore.h"

int kcore_save_beside(const char *folder)
{
	auto_free char *dir = text_dup_fmt("%s/kcore_dir", folder);
	int err = kcore_save("/proc", dir);

	return err < 0 ? fail_context(err, "--kcore") : err;
}
