// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/topology.h"
#include "base/str.h"
#include "base/test.h"

static char *root_of(const char *name)
{
	const char *top = getenv("T");
	return text_dup_fmt("%s/root/%s", top ? top : "test", name);
}

static void test_x86(void **state)
{
	auto_free char *root = root_of("x86");
	struct topology t;

	topology_read(&t, root);
	assert_string_equal(t.model, "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz");
	assert_string_equal(t.cpu_id, "GenuineIntel,6,85,4");
	assert_int_equal(t.memory_kb, 16384000);
	assert_int_equal(t.present, 4);
	assert_int_equal(t.online.n, 4);
	assert_int_equal(t.cpus.n, 4);
	assert_int_equal(t.cpus.v[3].socket, 1);
	assert_true(t.has_dies);
	assert_int_equal(t.sockets.n, 2);
	assert_string_equal(t.sockets.v[1], "1,3");
	assert_int_equal(t.dies.n, 2);
	assert_int_equal(t.cores.n, 2);
	assert_int_equal(t.caches.n, 8);
	for (size_t i = 1; i < t.caches.n; i++)
		assert_true(t.caches.v[i - 1].level <= t.caches.v[i].level);
	assert_int_equal(t.caches.v[7].ways, 11);
	assert_string_equal(t.caches.v[0].type, "Data");
	assert_int_equal(t.nodes.n, 2);
	assert_int_equal(t.nodes.v[1].memory_kb, 8192000);
	assert_int_equal(t.nodes.v[1].free_kb, 4000000);
	assert_string_equal(t.nodes.v[1].cpus, "1,3");
	assert_int_equal(t.nodes.v[0].blocks.n, 3);
	assert_int_equal(t.nodes.v[0].blocks.v[2], 30);
	assert_int_equal(t.memory_block_bytes, 0x8000000);
	topology_done(&t);
}

static void test_arm64(void **state)
{
	auto_free char *root = root_of("arm64");
	struct topology t;

	topology_read(&t, root);
	assert_string_equal(t.cpu_id, "0x00000000413fd0c1");
	assert_null(t.model);
	assert_int_equal(t.sockets.n, 1);
	assert_int_equal(t.cores.n, 2);
	assert_false(t.has_dies);
	topology_done(&t);
}

static void test_nothing(void **state)
{
	struct topology t;

	topology_read(&t, "/nonexistent");
	assert_int_equal(t.present, 0);
	assert_null(t.cpu_id);
	topology_done(&t);
}

RUN_TESTS(TEST(test_x86), TEST(test_arm64), TEST(test_nothing))
