// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/report/report.h"

void report_values(const char *option, opt_offer *offer, void *arg)
{
	const struct key *key;

	for (size_t i = 0; (key = report_key_at(i)); i++)
		offer(arg, key->name, key->header);
	for (size_t i = 0; i < NUMBERS; i++)
		offer(arg, report_number_names[i], report_number_headers[i]);
}
