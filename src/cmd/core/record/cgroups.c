// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "cmd/core/record/record.h"
#include "sys/cgroup.h"

// "a,,b" over all -G options: the n-th name is for the n-th event, an empty one leaves its event alone.
int record_attach_cgroups(const struct record_options *options, struct opened *opened,
			  const struct target *target)
{
	struct cgroup_mount mount;
	size_t at = 0, names_n = 0;
	int err;

	if (!options->cgroups.n)
		return 0;
	err = cgroup_find_mount(&mount, "");
	for (size_t i = 0; i < options->cgroups.n && !err; i++) {
		struct str rest = str_of(options->cgroups.v[i]);

		while (rest.p && !err) {
			auto_free char *name = str_dup(str_cut(&rest, ','));

			if (at >= opened->events.n) {
				err = fail(EINVAL,
					   "-G names more cgroups than there are events before it");
				break;
			}
			names_n++;
			if (*name) {
				int fd = cgroup_open(&mount, name);

				if (fd < 0)
					err = fd;
				else
					opened->events.v[at].cgroup_fd = fd;
			}
			at++;
		}
	}
	// One name is for all events.
	for (size_t i = 1; !err && names_n == 1 && i < opened->events.n; i++) {
		if (!opened->events.v[i].system_wide)
			opened->events.v[i].cgroup_fd = opened->events.v[0].cgroup_fd;
	}
	free(mount.path);
	return err;
}
