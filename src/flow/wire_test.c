// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/wire.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/test.h"
#include "flow/place.h"
#include <byteswap.h>

static const struct wire_hello hello = {.events_n = 2,
					.page_size = 4096,
					.long_size = 8,
					.clock = WIRE_MONOTONIC,
					.aligned = true,
					.has_wall = true,
					.wall_offset_ns = -5,
					.boot = "0123-4567",
					.host = "guest"};

static void put_all(struct out *out)
{
	static const char raw[] = "0123456789";
	const struct wire_event event = {.index = 1,
					 .name = STR("sched:sched_wakeup"),
					 .system = STR("sched"),
					 .tracepoint = STR("sched_wakeup"),
					 .format = STR("name: sched_wakeup\n")};
	const struct wire_sample sample = {.event = 1,
					   .pid = 2,
					   .tid = 3,
					   .cpu = 4,
					   .cpumode = 1,
					   .time = 5,
					   .period = 6,
					   .ip = 7,
					   .addr = 8,
					   .comm = "task",
					   .raw_size = 10,
					   .raw = raw};

	wire_put_hello(out, &hello);
	wire_put_event(out, &event);
	wire_put_sample(out, &sample);
	wire_put_lost(out, &(struct wire_lost){UINT32_MAX, true, 100, 200, UINT64_MAX});
	wire_put_time(out, 1234567890123);
	wire_put_end(out, &(struct wire_end){10, 20, true});
}

static size_t read_all(const char *p, size_t n, struct wire_message ret[6])
{
	struct wire_reader reader = {0};
	size_t at = 0;

	for (int i = 0; i < 6; i++) {
		int took = wire_read(&reader, p + at, n - at, &ret[i]);

		if (took <= 0)
			return at;
		assert_int_equal(took % 8, 0);
		at += (size_t)took;
	}
	return at;
}

static void check_all(const struct wire_message m[6])
{
	assert_int_equal(m[0].type, WIRE_HELLO);
	assert_int_equal(m[0].hello.events_n, 2);
	assert_int_equal(m[0].hello.page_size, 4096);
	assert_int_equal(m[0].hello.long_size, 8);
	assert_int_equal(m[0].hello.clock, WIRE_MONOTONIC);
	assert_true(m[0].hello.aligned && m[0].hello.has_wall);
	assert_int_equal(m[0].hello.wall_offset_ns, -5);
	assert_string_equal(m[0].hello.boot, "0123-4567");
	assert_string_equal(m[0].hello.host, "guest");
	assert_int_equal(m[1].type, WIRE_EVENT);
	assert_int_equal(m[1].event.index, 1);
	assert_true(str_is(m[1].event.name, "sched:sched_wakeup"));
	assert_true(str_is(m[1].event.tracepoint, "sched_wakeup"));
	assert_true(str_is(m[1].event.format, "name: sched_wakeup\n"));
	assert_int_equal(m[2].type, WIRE_SAMPLE);
	assert_int_equal(m[2].sample.pid, 2);
	assert_int_equal(m[2].sample.tid, 3);
	assert_int_equal(m[2].sample.cpu, 4);
	assert_int_equal(m[2].sample.cpumode, 1);
	assert_int_equal(m[2].sample.time, 5);
	assert_int_equal(m[2].sample.period, 6);
	assert_int_equal(m[2].sample.ip, 7);
	assert_int_equal(m[2].sample.addr, 8);
	assert_string_equal(m[2].sample.comm, "task");
	assert_int_equal(m[2].sample.raw_size, 10);
	assert_memory_equal(m[2].sample.raw, "0123456789", 10);
	assert_int_equal(m[3].type, WIRE_LOST);
	assert_int_equal(m[3].lost.cpu, UINT32_MAX);
	assert_int_equal(m[3].lost.lost, 100);
	assert_int_equal(m[3].lost.from_ns, 200);
	assert_true(m[3].lost.by_way && m[3].lost.to_ns == UINT64_MAX);
	assert_int_equal(m[4].type, WIRE_TIME);
	assert_int_equal(m[4].time, 1234567890123);
	assert_int_equal(m[5].type, WIRE_END);
	assert_int_equal(m[5].end.sent, 10);
	assert_int_equal(m[5].end.lost, 20);
	assert_true(m[5].end.may_return);
}

static void test_both_ways(void **state)
{
	struct wire_message m[6];
	struct out out;

	out_init_memory(&out);
	put_all(&out);
	assert_int_equal(read_all(out.buf, out.n, m), out.n);
	check_all(m);
	assert_int_equal(m[0].hello.big_endian, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	out_done(&out);
}

// As a machine of the other byte order has it: all words turned but texts, the raw data, and bytes.
static void test_other_byte_order(void **state)
{
	struct out out;
	struct wire_message m[6];
	size_t at = 0;

	out_init_memory(&out);
	put_all(&out);
	while (at < out.n) {
		uint32_t *word = (uint32_t *)(void *)(out.buf + at), type = word[0], size = word[1];
		uint64_t *wide = (uint64_t *)(void *)word;
		size_t words32 = type == WIRE_HELLO    ? 0
				 : type == WIRE_EVENT  ? 8
				 : type == WIRE_SAMPLE ? 8
				 : type == WIRE_LOST   ? 4
						       : 2;
		size_t words64 = type == WIRE_SAMPLE ? 8
				 : type == WIRE_LOST ? 5
				 : type == WIRE_TIME ? 2
				 : type == WIRE_END  ? 4
						     : 0;

		for (size_t i = 0; i < words32; i++)
			word[i] = bswap_32(word[i]);
		for (size_t i = words32 / 2; i < words64; i++)
			wide[i] = bswap_64(wide[i]);
		if (type == WIRE_HELLO) {
			for (size_t i = 0; i < 8; i++)
				if (i != 2 && i != 3) // the magic
					word[i] = bswap_32(word[i]);
			wide[5] = bswap_64(wide[5]);
		}
		at += size;
	}
	assert_int_equal(read_all(out.buf, out.n, m), out.n);
	check_all(m);
	assert_int_equal(m[0].hello.big_endian, __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__);
	out_done(&out);
}

static void test_parts(void **state)
{
	struct out out;

	out_init_memory(&out);
	put_all(&out);
	// What is not all there is waited for, at any place.
	for (size_t n = 0; n < out.n; n++) {
		auto_free char *exact = xmemdup(out.buf, n);
		struct wire_message m[6];

		read_all(exact, n, m);
		assert_string_equal(err_sentence(), "");
	}
	out_done(&out);
}

static void test_nonsense(void **state)
{
	static const struct {
		size_t offset; // into the hello, the event or the sample
		int message;
		uint32_t value;
	} cases[] = {
		{4, 0, 12},
		{4, 0, 4},
		{4, 0, 1u << 30},
		{24, 0, 0},
		{24, 0, 1 << 20},
		{32, 0, 0},
		{8, 1, 2},
		{16, 1, 1000},
		{28, 1, 1 << 30},
		{8, 2, 2},
		{20, 2, WIRE_CPUS_MAX},
		{28, 2, 1000},
		{28, 2, UINT32_MAX},
		{4, 2, 16},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct wire_reader reader = {0};
		struct wire_message message;
		struct out out;
		size_t at = 0;
		int took = 0;

		out_init_memory(&out);
		put_all(&out);
		for (int k = 0; k < cases[i].message; k++)
			at += (size_t)wire_read(&reader, out.buf + at, out.n - at, &message);
		memcpy(out.buf + at + cases[i].offset, &cases[i].value, 4);
		took = wire_read(&reader, out.buf + at, out.n - at, &message);
		if (took != -EBADMSG)
			fail_msg("case %zu: %d", i, took);
		err_clear();
		out_done(&out);
	}
}

static void test_later_version(void **state)
{
	struct wire_reader reader = {0};
	struct wire_message message;
	uint32_t version = WIRE_VERSION + 1, type = 77;
	struct out out;

	out_init_memory(&out);
	put_all(&out);
	wire_read(&reader, out.buf, out.n, &message);
	// a type that is not known is passed over
	memcpy(out.buf + out.n - 32, &type, 4);
	assert_int_equal(wire_read(&reader, out.buf + out.n - 32, 32, &message), 32);
	assert_int_equal(message.type, 0);
	memcpy(out.buf + 20, &version, 4);
	assert_int_equal(wire_read(&reader, out.buf, out.n, &message), -EPROTONOSUPPORT);
	assert_non_null(strstr(err_sentence(), "version 2"));
	err_clear();
	out_done(&out);
}

static void test_find(void **state)
{
	char bytes[64] = "";
	struct out out;

	out_init_memory(&out);
	wire_put_hello(&out, &hello);
	memcpy(bytes + 13, out.buf, 16);
	assert_int_equal(wire_find_hello(bytes, 64), 13);
	assert_int_equal(wire_find_hello(bytes, 28), 28 - 15); // half of it
	assert_int_equal(wire_find_hello(bytes, 10), 0);
	assert_int_equal(wire_find_hello(bytes + 32, 32), 32 - 15);
	out_done(&out);
}

static void test_places(void **state)
{
	static const struct {
		const char *text, *host, *port, *shown;
	} cases[] = {
		{"9900", "127.0.0.1", "9900", "9900"},
		{"10.0.0.1:80", "10.0.0.1", "80", "10.0.0.1:80"},
		{"guest:9900", "guest", "9900", "guest:9900"},
		{"[::1]:9900", "::1", "9900", "[::1]:9900"},
		{"./9900", NULL, NULL, "./9900"},
		{"/dev/virtio-ports/x/", NULL, NULL, "/dev/virtio-ports/x"},
		{"/a:12", NULL, NULL, "/a:12"},
		{"file.ev", NULL, NULL, "file.ev"},
		{"a:b", NULL, NULL, "a:b"},
	};
	struct place place;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(place_parse(&place, cases[i].text), 0);
		assert_string_equal(place.text, cases[i].shown);
		if (cases[i].host) {
			assert_string_equal(place.host, cases[i].host);
			assert_string_equal(place.port, cases[i].port);
		} else {
			assert_null(place.host);
			assert_null(place.port);
		}
		place_done(&place);
	}
	assert_int_equal(place_parse(&place, "70000"), -EINVAL);
	assert_int_equal(place_parse(&place, "0"), -EINVAL);
	assert_int_equal(place_parse(&place, ""), -EINVAL);
	err_clear();
}

RUN_TESTS(TEST(test_both_ways), TEST(test_other_byte_order), TEST(test_parts), TEST(test_nonsense),
	  TEST(test_later_version), TEST(test_find), TEST(test_places))
