// SPDX-License-Identifier: GPL-2.0-or-later
// What SQLite answers of our tables is what it answers of its own copies of them.
#include "base/test.h"
#include "prof/sql/table.h"
#include <stdio.h>
#include <string.h>
#ifdef HAVE_SQLITE3

static const char format[] =
	"name: ev\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int small;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] name;\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:u64 wide;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc u8[] bytes;\toffset:32;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"%d\", REC->small\n";

static const char *const queries[] = {
	"SELECT comm, COUNT(*) FROM %s GROUP BY comm",
	"SELECT small, COUNT(*), SUM(wide & 1023) FROM %s GROUP BY small",
	"SELECT small, comm, COUNT(*) FROM %s GROUP BY small, comm",
	"SELECT comm, small, _cpu, COUNT(*) FROM %s GROUP BY comm, small, _cpu ORDER BY comm DESC, small",
	"SELECT comm, COUNT(*) AS n FROM %s GROUP BY comm ORDER BY n DESC, comm",
	"SELECT DISTINCT name, _cpu FROM %s ORDER BY 1, 2",
	"SELECT COUNT(DISTINCT wide), COUNT(DISTINCT name) FROM %s",
	"SELECT wide, _time FROM %s ORDER BY wide DESC, _time LIMIT 20",
	"SELECT bytes, _time FROM %s ORDER BY bytes, _time LIMIT 300",
	"SELECT small, _time FROM %s WHERE small > 2 AND small <= 5 ORDER BY small DESC, _time",
	"SELECT small, MAX(_time) FROM %s WHERE small = 3 GROUP BY small",
	"SELECT COUNT(*) FROM %s WHERE small = 2.5 OR small = '3'",
	"SELECT name, small, COUNT(*) FROM %s WHERE name >= 'n1' GROUP BY name, small HAVING COUNT(*) > 3",
	"SELECT a.small, COUNT(*) FROM %s a JOIN %s b ON a._time = b.wide GROUP BY a.small",
	"SELECT comm COLLATE NOCASE, COUNT(*) FROM %s GROUP BY comm COLLATE NOCASE",
	"SELECT small FROM %s ORDER BY small NULLS LAST, _time LIMIT 9",
	"SELECT comm, small, _cpu, name, _pid, COUNT(*) FROM %s GROUP BY comm, small, _cpu, name, _pid",
	"SELECT rowid, _time FROM %s WHERE _time > 100 ORDER BY rowid LIMIT 7",
	"SELECT x.small, (SELECT COUNT(*) FROM %s y WHERE y.small = x.small AND y._cpu > x._cpu) FROM (SELECT small, _cpu FROM %s ORDER BY _time LIMIT 9) x",
	"SELECT small, SUM(small) OVER (ORDER BY _time) FROM %s ORDER BY _time LIMIT 20",
};

static void put(struct out *out, sqlite3_stmt *statement)
{
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		const void *p = sqlite3_column_blob(statement, i);

		out_printf(out, "%d:", sqlite3_column_type(statement, i));
		if (p)
			out_bytes(out, p, (size_t)sqlite3_column_bytes(statement, i));
		out_char(out, '|');
	}
	out_char(out, '\n');
}

static void ask(struct out *out, sqlite3 *db, const char *query, const char *table)
{
	char sql[512];
	sqlite3_stmt *statement;

	snprintf(sql, sizeof(sql), query, table, table);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	while (sqlite3_step(statement) == SQLITE_ROW)
		put(out, statement);
	assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
}

static void add_rows(struct sql_table *table, size_t n)
{
	static const char *const comms[] = {"b", "B", "a", "", "longname", "ab"};
	uint64_t seed = 5;

	for (size_t i = 0; i < n; i++) {
		unsigned char raw[64] = {7};
		struct sample sample = {.time = 2 * i, .pid = 1, .raw = raw, .raw_size = 48};
		uint32_t r = (uint32_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >>
					33),
			 small = r % 9 - 2, name = 40 | 3 << 16,
			 bytes = (r % 50 ? 40 : 60) | 5 << 16;
		uint64_t wide = r % 4 ? r % n : r * 0x9e3779b97f4a7c15u;

		sample.tid = sample.cpu = r % 3;
		strncpy((char *)raw + 8, comms[r / 16 % 6], 8);
		memcpy(raw + 16, &small, 4);
		memcpy(raw + 20, &name, 4);
		memcpy(raw + 24, &wide, 8);
		memcpy(raw + 32, &bytes, 4);
		snprintf((char *)raw + 40, 8, "n%u", r / 128 % 4);
		sql_table_add(table, &sample);
	}
}

struct fixture {
	struct tracepoints *formats;
	struct event event;
	struct feed_event feed;
	struct prof_event wanted;
	struct sql_table table;
	sqlite3 *db;
};

static void begin(struct fixture *f)
{
	struct tp_options options = {.long_size = 8, .page_size = 4096};

	f->formats = tracepoints_new(&options);
	assert_int_equal(tracepoints_add(f->formats, "sys", str_of(format)), 0);
	f->event.tp = tracepoints_by_name(f->formats, "sys", "ev");
	f->feed.event = &f->event;
	f->wanted.feed = &f->feed;
	f->wanted.label = "ours";
	assert_int_equal(sqlite3_open(":memory:", &f->db), SQLITE_OK);
	sql_table_init(&f->table, &f->wanted);
	assert_int_equal(sql_table_attach(&f->table, f->db), 0);
}

static void end(struct fixture *f)
{
	sqlite3_close(f->db);
	sql_table_done(&f->table);
	tracepoints_free(f->formats);
}

static void test_answers(void **state)
{
	struct fixture f = {0};
	struct out ours, theirs;

	begin(&f);
	sql_table_choose(&f.table, true);
	// The second time: after an interval was forgotten, more rows than a block has.
	for (int round = 0; round < 2; round++) {
		sql_table_clear(&f.table);
		add_rows(&f.table, round ? (1 << SQL_BLOCK_BITS) + 7 : 500);
		sqlite3_exec(f.db,
			     "DROP TABLE IF EXISTS theirs; CREATE TABLE theirs AS SELECT * FROM ours",
			     NULL, NULL, NULL);
		// The large round: what asks all pairs of rows takes too long without an index.
		if (round)
			sqlite3_exec(f.db,
				     "CREATE INDEX i1 ON theirs(wide); CREATE INDEX i2 ON theirs(small)",
				     NULL, NULL, NULL);
		for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
			out_init_memory(&ours);
			out_init_memory(&theirs);
			ask(&ours, f.db, queries[i], "ours");
			ask(&theirs, f.db, queries[i], "theirs");
			if (ours.n != theirs.n || memcmp(ours.buf, theirs.buf, ours.n))
				fail_msg("%s:\n%.*s\nbut of a copy\n%.*s", queries[i],
					 (int)MIN(ours.n, 900u), ours.buf, (int)MIN(theirs.n, 900u),
					 theirs.buf);
			assert_true(ours.n > 0);
			out_done(&ours);
			out_done(&theirs);
		}
	}
	end(&f);
}

static void test_only_what_is_asked(void **state)
{
	struct fixture f = {0};
	sqlite3_stmt *statement;
	struct out out;

	begin(&f);
	sqlite3_prepare_v2(f.db, "SELECT comm, MAX(wide) FROM ours WHERE small > 3 GROUP BY comm",
			   -1, &statement, NULL);
	sqlite3_finalize(statement);
	sql_table_choose(&f.table, false);
	assert_int_equal(f.table.kept_n, 3);
	add_rows(&f.table, 100);
	out_init_memory(&out);
	ask(&out, f.db, "SELECT comm, MAX(wide) FROM %s WHERE small > 3 GROUP BY comm", "ours");
	assert_true(out.n > 0);
	out_done(&out);
	// What was not said before is refused, not answered by something else.
	sqlite3_prepare_v2(f.db, "SELECT _pid FROM ours", -1, &statement, NULL);
	assert_int_equal(sqlite3_step(statement), SQLITE_ERROR);
	sqlite3_finalize(statement);
	end(&f);
}

RUN_TESTS(TEST(test_answers), TEST(test_only_what_is_asked))
#else
int main(void)
{
	puts("built without SQLite");
	return 77;
}
#endif
