// SPDX-License-Identifier: GPL-2.0-or-later
// Libraries that few runs need: loaded when they are first used, so that no other run pays for their relocations (libcapstone
// and libpfm4 took half of every start), and that sonde starts without them.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// Loads the library, or finds it again, and puts its `n` functions of these names into ret, n pointers in a row. False, and ret
// is untouched: the library or one of them isn't there. It stays loaded: threads of its own may run in it.
bool library_load(const char *file, const char *const *names, size_t n, void *ret);
