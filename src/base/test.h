// SPDX-License-Identifier: GPL-2.0-or-later
// What every foo_test.c includes: cmocka with the headers that it needs before it.
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h comes after the four above
#include <cmocka.h>
#undef fail // that name is base/err.h's
#undef fail_msg
#define fail_msg(message, ...)                                                                     \
	do {                                                                                       \
		print_error("ERROR: " message "\n", ##__VA_ARGS__);                                \
		_fail(__FILE__, __LINE__);                                                         \
	} while (0)

#define RUN_TESTS(...)                                                                             \
	int main(void)                                                                             \
	{                                                                                          \
		const struct CMUnitTest tests[] = {__VA_ARGS__};                                   \
		return cmocka_run_group_tests(tests, NULL, NULL);                                  \
	}
#define TEST(function) cmocka_unit_test(function)
