// SPDX-License-Identifier: GPL-2.0-or-later
// A database for SQLite: tables as the profile has them, and views that join them. Made in memory, written as a whole.
#include "base/err.h"
#include "encoder/core/encoder.h"
#include "view/profile.h"
#ifdef HAVE_SQLITE3
#include <sqlite3.h>

static const char schema[] =
	"CREATE TABLE info (name TEXT, value TEXT);" // "incomplete" may be there more than once
	"CREATE TABLE events (id INTEGER PRIMARY KEY, name TEXT, unit TEXT, samples INTEGER);"
	"CREATE TABLE threads (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, comm TEXT, process TEXT, "
	"first_ns INTEGER, last_ns INTEGER);"
	"CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT, build_id TEXT, kind TEXT);"
	"CREATE TABLE functions (id INTEGER PRIMARY KEY, name TEXT, file INTEGER REFERENCES files, source TEXT);"
	"CREATE TABLE frames (id INTEGER PRIMARY KEY, function INTEGER REFERENCES functions, address INTEGER, "
	"line INTEGER, inline_depth INTEGER);"
	"CREATE TABLE stacks (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES stacks, frame INTEGER REFERENCES frames);"
	"CREATE TABLE samples (id INTEGER PRIMARY KEY, time_ns INTEGER, thread INTEGER REFERENCES threads, cpu INTEGER, "
	"event INTEGER REFERENCES events, period INTEGER, stack INTEGER REFERENCES stacks, text TEXT);"
	"CREATE VIEW sample_places AS SELECT samples.id, samples.time_ns, threads.pid, threads.tid, threads.comm, samples.cpu, "
	"events.name AS event, samples.period, functions.name AS function, files.path AS file, functions.source, "
	"frames.line, frames.address, samples.stack, samples.text FROM samples "
	"JOIN events ON events.id = samples.event JOIN threads ON threads.id = samples.thread "
	"LEFT JOIN stacks ON stacks.id = samples.stack LEFT JOIN frames ON frames.id = stacks.frame "
	"LEFT JOIN functions ON functions.id = frames.function LEFT JOIN files ON files.id = functions.file;"
	// One row for each frame of each stack, depth 0 being the innermost.
	"CREATE VIEW stack_frames AS WITH RECURSIVE walk(stack, depth, node) AS ("
	"SELECT id, 0, id FROM stacks UNION ALL "
	"SELECT walk.stack, walk.depth + 1, stacks.parent FROM walk JOIN stacks ON stacks.id = walk.node "
	"WHERE stacks.parent IS NOT NULL) "
	"SELECT walk.stack, walk.depth, functions.name AS function, files.path AS file, functions.source, frames.line, "
	"frames.address, frames.inline_depth FROM walk JOIN stacks ON stacks.id = walk.node "
	"JOIN frames ON frames.id = stacks.frame JOIN functions ON functions.id = frames.function "
	"LEFT JOIN files ON files.id = functions.file;";

struct writer {
	sqlite3 *db;
	sqlite3_stmt *statement;
	const struct profile *profile;
	int column, error;
};

static void check(struct writer *writer, int result)
{
	if (!writer->error && result != SQLITE_OK && result != SQLITE_DONE)
		writer->error = result;
}

static void execute(struct writer *writer, const char *sql)
{
	check(writer, sqlite3_exec(writer->db, sql, NULL, NULL, NULL));
}

static void prepare(struct writer *writer, const char *sql)
{
	check(writer, sqlite3_finalize(writer->statement));
	writer->statement = NULL;
	check(writer, sqlite3_prepare_v2(writer->db, sql, -1, &writer->statement, NULL));
	writer->column = 0;
}

// 0 stands for what the table doesn't have: ids are from 1 where they can be absent.
static void put(struct writer *writer, uint64_t v)
{
	check(writer, sqlite3_bind_int64(writer->statement, ++writer->column, (int64_t)v));
}

static void put_null(struct writer *writer)
{
	check(writer, sqlite3_bind_null(writer->statement, ++writer->column));
}

static void put_or_null(struct writer *writer, uint64_t v, bool known)
{
	if (known)
		put(writer, v);
	else
		put_null(writer);
}

// TEXT has to be UTF-8, and shells print it as it is.
static void put_text(struct writer *writer, const char *text, size_t n)
{
	struct out clean;

	out_init_memory(&clean);
	out_clean(&clean, (struct str){text, n});
	check(writer, sqlite3_bind_text(writer->statement, ++writer->column,
					clean.n ? clean.buf : "", (int)clean.n, SQLITE_TRANSIENT));
	out_done(&clean);
}

static void put_string(struct writer *writer, uint32_t id)
{
	struct str text = profile_text(writer->profile, id);

	if (id)
		put_text(writer, text.p, text.n);
	else
		put_null(writer);
}

static void end_row(struct writer *writer)
{
	check(writer, sqlite3_step(writer->statement));
	check(writer, sqlite3_reset(writer->statement));
	writer->column = 0;
}

static void put_info(struct writer *writer, const char *name, uint32_t value)
{
	if (!value)
		return;
	put_text(writer, name, strlen(name));
	put_string(writer, value);
	end_row(writer);
}

static void put_infos(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	prepare(writer, "INSERT INTO info VALUES (?, ?)");
	put_info(writer, "recording", profile->title);
	put_info(writer, "command", profile->command);
	put_info(writer, "host", profile->host);
	put_info(writer, "kernel", profile->system);
	put_info(writer, "machine", profile->machine);
	put_info(writer, "cpu", profile->cpu);
	put_text(writer, "lost", 4);
	put(writer, profile->lost_n);
	end_row(writer);
	for (size_t i = 0; i < profile->notes.n; i++)
		put_info(writer, "incomplete", profile->notes.v[i]);
}

static void put_tables(struct writer *writer)
{
	static const char *const kinds[PROFILE_KINDS] =
		{[PROFILE_USER] = "user", [PROFILE_KERNEL] = "kernel", [PROFILE_JIT] = "jit"};
	const struct profile *profile = writer->profile;

	prepare(writer, "INSERT INTO events VALUES (?, ?, ?, ?)");
	for (size_t i = 0; i < profile->events.n; i++) {
		const struct profile_event *event = &profile->events.v[i];
		const char *unit = event->is_time ? "ns" : "count";

		put(writer, i + 1);
		put_string(writer, event->name);
		put_text(writer, unit, strlen(unit));
		put(writer, event->samples_n);
		end_row(writer);
	}
	prepare(writer, "INSERT INTO threads VALUES (?, ?, ?, ?, ?, ?, ?)");
	for (size_t i = 0; i < profile->threads.n; i++) {
		const struct profile_thread *thread = &profile->threads.v[i];

		put(writer, i + 1);
		put_or_null(writer, thread->pid, thread->pid != UINT32_MAX);
		put_or_null(writer, thread->tid, thread->tid != UINT32_MAX);
		put_string(writer, thread->name);
		put_string(writer, thread->process_name);
		put(writer, thread->first_ns);
		put(writer, thread->last_ns);
		end_row(writer);
	}
	prepare(writer, "INSERT INTO files VALUES (?, ?, ?, ?)");
	for (size_t i = 0; i < profile->files.n; i++) {
		const struct profile_file *file = &profile->files.v[i];

		put(writer, i + 1);
		put_string(writer, file->path);
		put_string(writer, file->build_id);
		put_text(writer, kinds[file->kind], strlen(kinds[file->kind]));
		end_row(writer);
	}
}

static void put_code(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	prepare(writer, "INSERT INTO functions VALUES (?, ?, ?, ?)");
	for (size_t i = 0; i < profile->functions.n; i++) {
		const struct profile_function *function = &profile->functions.v[i];

		put(writer, i + 1);
		put_string(writer, function->name);
		put_or_null(writer, function->file + 1ull, function->file != PROFILE_NONE);
		put_string(writer, function->source);
		end_row(writer);
	}
	prepare(writer, "INSERT INTO frames VALUES (?, ?, ?, ?, ?)");
	for (size_t i = 0; i < profile->frames.n; i++) {
		const struct profile_frame *frame = &profile->frames.v[i];

		put(writer, i + 1);
		put(writer, frame->function + 1ull);
		put(writer, frame->address);
		put_or_null(writer, frame->line, frame->line != 0);
		put(writer, frame->inline_depth);
		end_row(writer);
	}
	prepare(writer, "INSERT INTO stacks VALUES (?, ?, ?)");
	for (size_t i = 1; i < profile->nodes.n; i++) {
		const struct profile_node *node = &profile->nodes.v[i];

		put(writer, i);
		put_or_null(writer, node->parent, node->parent != 0);
		put(writer, node->frame + 1ull);
		end_row(writer);
	}
}

static void put_samples(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	prepare(writer, "INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	for (size_t i = 0; i < profile->samples.n && !writer->error; i++) {
		const struct profile_sample *sample = &profile->samples.v[i];

		put(writer, i + 1);
		put_or_null(writer, sample->time_ns, sample->time_ns != UINT64_MAX);
		put(writer, sample->thread + 1ull);
		put_or_null(writer, sample->cpu, sample->cpu != PROFILE_NONE);
		put(writer, sample->event + 1ull);
		put(writer, sample->weight);
		put_or_null(writer, sample->node, sample->node != 0);
		put_string(writer, sample->text);
		end_row(writer);
	}
}

static int sqlite_profile(struct out *out, const struct profile *profile)
{
	struct writer writer = {.profile = profile};
	sqlite3_int64 size = 0;
	unsigned char *bytes;
	int err = 0;

	if (sqlite3_open(":memory:", &writer.db) != SQLITE_OK)
		return fail(EIO, "can't open SQLite: %s", sqlite3_errmsg(writer.db));
	execute(&writer, "PRAGMA journal_mode = OFF; BEGIN");
	execute(&writer, schema);
	put_infos(&writer);
	put_tables(&writer);
	put_code(&writer);
	put_samples(&writer);
	check(&writer, sqlite3_finalize(writer.statement));
	execute(&writer, "CREATE INDEX samples_by_time ON samples (time_ns); COMMIT");
	bytes = writer.error ? NULL : sqlite3_serialize(writer.db, "main", &size, 0);
	if (bytes)
		out_bytes(out, bytes, (size_t)size);
	else
		err = fail(EIO, "SQLite can't make the database: %s",
			   writer.error ? sqlite3_errstr(writer.error) : "memory is out");
	sqlite3_free(bytes);
	sqlite3_close(writer.db);
	return err;
}
#else
static int sqlite_profile(struct out *out, const struct profile *profile)
{
	return fail(ENOTSUP,
		    "this sonde was built without SQLite; install libsqlite3-dev and build it again");
}
#endif

const struct encoder encoder_sqlite = {
	.name = "sqlite",
	.suffix = ".db",
	.summary = "a database, to be asked with sqlite3",
	.profile = sqlite_profile,
};
