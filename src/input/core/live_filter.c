// SPDX-License-Identifier: GPL-2.0-or-later
// Where the filter of a wanted event runs: in the kernel when it gives the same answer there, else here.
#include "base/err.h"
#include "base/log.h"
#include "flow/event_fields.h"
#include "input/core/live.h"

// Only the kernel can filter what is only counted. `expr` is freed.
static int count_in_kernel(const struct feed_event *wanted, struct expr *expr)
{
	struct expr_fields fields = event_fields(wanted->event);
	struct expr *same;
	int err = expr_filter_compile_kernel(&same, wanted->filter, &fields);

	expr_free(expr);
	if (err < 0)
		return fail(EOPNOTSUPP,
			    "%s is only counted, and the kernel does not know its filter '%s': compare "
			    "fields with constants, text by == or ~ \"x*\"",
			    wanted->event->name, wanted->filter);
	expr_free(same);
	warn("%s: the kernel's filter '%s' also looks behind the end of short texts, and may count too many",
	     wanted->event->name, wanted->filter);
	return 0;
}

int watching_filter(struct watching *live, struct feed_event *wanted, const char **ret_kernel)
{
	struct expr_fields fields = event_fields(wanted->event);
	struct expr *expr;
	int err;

	*ret_kernel = wanted->filter;
	if (!wanted->filter)
		return 0;
	err = expr_filter_compile(&expr, wanted->filter, &fields);
	if (err == -EOPNOTSUPP && wanted->event->tp) {
		err_clear();
		return 0;
	}
	if (err < 0)
		return fail_context(err, "filter of %s", wanted->event->name);
	if (!wanted->event->tp && wanted->counts) {
		expr_free(expr);
		return fail(EOPNOTSUPP,
			    "%s is only counted, and without a format the kernel can't filter it",
			    wanted->event->name);
	}
	if (wanted->event->tp && expr_is_kernel_filter(expr)) {
		expr_free(expr);
		inform("%s: the filter '%s' runs in the kernel", wanted->event->name, wanted->filter);
		return 0;
	}
	if (wanted->counts) // there are no samples that could be looked at here
		return count_in_kernel(wanted, expr);
	inform("%s: the filter '%s' runs in sonde", wanted->event->name, wanted->filter);
	expr_free(expr);
	*ret_kernel = NULL;
	return feed_make_test(live->feed, wanted);
}
