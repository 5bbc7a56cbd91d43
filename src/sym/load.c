// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/private.h"

void dso_load(struct sym *sym, struct dso *dso, const struct mapping *map)
{
	dso->state = DSO_NO_SYMBOLS;
}
