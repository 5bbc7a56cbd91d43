// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/jitdump.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/file.h"
#include "sym/sym.h"
#include "base/out.h"
#include "base/test.h"

static bool swapped;

static void put_u32(struct out *out, uint32_t v)
{
	v = swapped ? __builtin_bswap32(v) : v;
	out_bytes(out, &v, 4);
}

static void put_u64(struct out *out, uint64_t v)
{
	v = swapped ? __builtin_bswap64(v) : v;
	out_bytes(out, &v, 8);
}

static void put_header(struct out *out)
{
	put_u32(out, 0x4a695444);
	put_u32(out, 1);
	put_u32(out, 40);
	put_u32(out, 62);
	put_u32(out, 0);
	put_u32(out, 77);
	put_u64(out, 5);
	put_u64(out, 0);
}

static void put_record(struct out *out, uint32_t id, uint64_t time, const struct out *body)
{
	put_u32(out, id);
	put_u32(out, (uint32_t)(16 + body->n));
	put_u64(out, time);
	out_bytes(out, body->buf, body->n);
}

static void put_load(struct out *out, uint64_t time, uint64_t addr, const char *name)
{
	struct out body;

	out_init_memory(&body);
	put_u32(&body, 77);
	put_u32(&body, 78);
	put_u64(&body, addr);
	put_u64(&body, addr);
	put_u64(&body, 4);
	put_u64(&body, 9);
	out_bytes(&body, name, strlen(name) + 1);
	out_bytes(&body, "\x90\x90\x90\xc3", 4);
	put_record(out, 0, time, &body);
	out_done(&body);
}

static void put_lines(struct out *out)
{
	struct out body;

	out_init_memory(&body);
	put_u64(&body, 0x1000);
	put_u64(&body, 2);
	put_u64(&body, 0x1000);
	put_u32(&body, 7);
	put_u32(&body, 1);
	out_bytes(&body, "a.js", 5);
	put_u64(&body, 0x1002);
	put_u32(&body, 8);
	put_u32(&body, 0);
	out_bytes(&body, "b.js", 5);
	put_record(out, 2, 9, &body);
	out_done(&body);
}

static const char frames[] = "frames..hdr";

static void put_unwinding(struct out *out)
{
	struct out body;

	out_init_memory(&body);
	put_u64(&body, sizeof(frames) - 1);
	put_u64(&body, 3);
	put_u64(&body, 0);
	out_bytes(&body, frames, sizeof(frames) - 1);
	put_record(out, 4, 9, &body);
	out_done(&body);
}

static void put_move(struct out *out, uint64_t time, uint64_t to, uint64_t index)
{
	struct out body;

	out_init_memory(&body);
	put_u32(&body, 77);
	put_u32(&body, 78);
	put_u64(&body, to);
	put_u64(&body, 0x1000);
	put_u64(&body, to);
	put_u64(&body, 4);
	put_u64(&body, index);
	put_record(out, 1, time, &body);
	out_done(&body);
}

static void check_dump(void)
{
	struct jitdump dump;
	struct jit_line line;
	struct str lines;
	struct out out;

	out_init_memory(&out);
	put_header(&out);
	put_lines(&out);
	put_unwinding(&out);
	put_load(&out, 10, 0x1000, "first");
	put_move(&out, 20, 0x3000, 9);
	put_move(&out, 21, 0x4000, 10); // never loaded
	assert_int_equal(jitdump_read(&dump, (const uint8_t *)out.buf, out.n), 0);
	assert_int_equal(dump.swap, swapped);
	assert_int_equal(dump.pid, 77);
	assert_int_equal(dump.machine, 62);
	assert_false(dump.damaged);
	assert_int_equal(dump.codes.n, 2);
	assert_string_equal(dump.codes.v[0].name, "first");
	assert_int_equal(dump.codes.v[0].time, 10);
	assert_int_equal(dump.codes.v[0].tid, 78);
	assert_memory_equal(out.buf + dump.codes.v[0].offset, "\x90\x90\x90\xc3", 4);
	lines = dump.codes.v[0].lines;
	assert_true(jit_line_next(&dump, &lines, &line));
	assert_int_equal(line.line, 7);
	assert_string_equal(line.file, "a.js");
	assert_true(jit_line_next(&dump, &lines, &line));
	assert_int_equal(line.addr, 0x1002);
	assert_string_equal(line.file, "b.js");
	assert_false(jit_line_next(&dump, &lines, &line));
	assert_int_equal(dump.codes.v[0].eh_frame.n, 8);
	assert_memory_equal(dump.codes.v[0].eh_frame.p, frames, 8);
	assert_memory_equal(dump.codes.v[0].eh_frame_hdr.p, "hdr", 3);
	assert_int_equal(dump.codes.v[1].eh_frame.n, 0);
	assert_int_equal(dump.codes.v[1].kind, JIT_MOVE);
	assert_int_equal(dump.codes.v[1].addr, 0x3000);
	assert_int_equal(dump.codes.v[1].offset, dump.codes.v[0].offset);
	jitdump_done(&dump);
	// Cut anywhere: what is whole is read, never more.
	for (size_t n = 0; n < out.n; n++) {
		void *cut = xmemdup(out.buf, n ? n : 1);

		if (jitdump_read(&dump, cut, n) == 0) {
			assert_true(dump.codes.n <= 2);
			jitdump_done(&dump);
		} else {
			assert_true(n < 40);
		}
		free(cut);
	}
	out_done(&out);
}

static void test_reads(void **state)
{
	swapped = false;
	check_dump();
}

static void test_reads_other_byte_order(void **state)
{
	swapped = true;
	check_dump();
	swapped = false;
}

static void test_paths(void **state)
{
	uint32_t pid = 0;

	assert_true(jitdump_is_path("/home/me/.debug/jit/x/jit-123.dump", &pid));
	assert_int_equal(pid, 123);
	assert_true(jitdump_is_path("jit-1.dump", &pid));
	assert_false(jitdump_is_path("/tmp/jit-.dump", &pid));
	assert_false(jitdump_is_path("/tmp/jit-1x.dump", &pid));
	assert_false(jitdump_is_path("/tmp/jit-99999999999.dump", &pid));
	assert_false(jitdump_is_path("/tmp/jit-1.dump/x", &pid));
	assert_false(jitdump_is_path("jit-", &pid));
}

static void map_exec(struct sym *sym, uint64_t start, uint64_t size, const char *name)
{
	_Alignas(8) char bytes[512] = {0};
	struct record_mmap2 *record = (void *)bytes;

	record->header.type = PERF_RECORD_MMAP2;
	record->header.misc = PERF_RECORD_MISC_USER;
	record->header.size = sizeof(bytes);
	record->pid = record->tid = 77;
	record->start = start;
	record->len = size;
	record->prot = PROT_READ | PROT_EXEC;
	snprintf(record->filename, 400, "%s", name);
	assert_int_equal(sym_record(sym, &record->header, 1), 0);
}

static const char *dso_at(struct sym *sym, uint64_t ip)
{
	struct location location;

	location = sym_resolve(sym, sym_task(sym, 77, 77), PERF_RECORD_MISC_USER, ip);
	return location.dso ? location.dso->short_name : "";
}

// Live, a dump tells of a part of the code: what lies around it is mapped as well, whichever comes first, and again.
static void test_around(void **state)
{
	char folder[] = "/tmp/jitdump_test.XXXXXX", path[64];
	const struct sym_options options = {.root = "/nowhere", .live = true};
	struct space *space;
	struct out out;
	struct sym *sym;
	uint32_t generation;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/jit-77.dump", folder);
	out_init_memory(&out);
	put_header(&out);
	put_load(&out, 10, 0x1000, "first");
	assert_int_equal(file_write(path, out.buf, out.n), 0);
	assert_int_equal(sym_new(&sym, &options), 0);
	map_exec(sym, 0x0, 0x1002, "//anon");
	map_exec(sym, 0x100000, 0x1000, path);
	for (int i = 0; i < 2; i++) {
		map_exec(sym, 0xf00, 0x200, "//anon");
		assert_string_equal(dso_at(sym, 0x1001), "jit-77.dump");
		assert_string_equal(dso_at(sym, 0xff0), "[JIT] tid 77");
		assert_string_equal(dso_at(sym, 0x1005), "[JIT] tid 77");
		assert_string_equal(dso_at(sym, 0x1200), "");
	}
	space = sym_task(sym, 77, 77)->space;
	generation = space->generation;
	map_exec(sym, 0xf80, 0x100, "//anon");
	assert_int_equal(space->generation, generation);
	sym_free(sym);
	out_done(&out);
	unlink(path);
	rmdir(folder);
}

RUN_TESTS(TEST(test_around), TEST(test_reads), TEST(test_reads_other_byte_order), TEST(test_paths))
