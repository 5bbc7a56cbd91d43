// SPDX-License-Identifier: GPL-2.0-or-later
// Which file a module of the running kernel is from: below /lib/modules/RELEASE, by name. modules.dep(5) lists what was installed;
// what was only put there is found by a walk, which is made when it is needed, once.
#pragma once
#include "base/str.h"
#include "base/vec.h"

struct module_files {
	const char *root;      // borrowed, in front of all paths
	char *folder;	       // "/lib/modules/RELEASE"
	char *dep;	       // modules.dep; NULL: there is none
	VEC(char *) installed; // paths that the walk found
	bool has_walked;
};

// Nothing below the root is not an error: no file is found then.
void module_files_init(struct module_files *ret, const char *root);
void module_files_done(struct module_files *files);
// The path of module `name` without the root, to be freed; NULL: there is no such file. The kernel has '_' where the file's name may
// have '-'. Whether the file is the module that runs, its build-id tells. About 0.1 ms by modules.dep; the walk takes some 10 ms.
char *module_files_find(struct module_files *files, struct str name);
// "ext4" of "/lib/modules/X/kernel/fs/ext4/ext4.ko.xz", as the kernel writes it; to be freed.
char *module_name_of(const char *path);
