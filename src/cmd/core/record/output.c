// SPDX-License-Identifier: GPL-2.0-or-later
// The files that a recording goes to.
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/time.h"
#include "cmd/core/output.h"
#include "cmd/core/record/unwinding.h"
#include "cmd/core/record/record.h"
#include "flow/synthesize.h"
#include "sys/cgroup.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

// Is it a folder (--kcore, --threads)?
static bool has_folder(const struct record_options *options)
{
	return options->kcore || options->threads;
}

static int make_writer(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	size_t n = recorder->opened.events.n;
	auto_free struct writer_event *events = xcalloc(n, sizeof(*events));
	struct writer_options how = {
		.events = events,
		.events_n = n,
		.pipe = recorder->is_pipe,
		.zstd_level = options->zstd_level,
		.compress_mmap_bytes =
			(uint32_t)(recorder->opened.rings.n ? recorder->opened.rings.v[0].size : 0),
		.no_buildid = options->no_buildid,
		.buildid_all = options->buildid_all,
		.buildid_mmap = options->buildid_mmap,
		.command_line = options->command_line,
		.has_clockid = options->use_clockid,
		.clockid = options->clockid,
		.branch_stack = options->branch_type != 0,
		.has_sample_time = options->timestamp_boundary,
		.dir_format = has_folder(options),
		.beside = options->threads != NULL,
		.root = "",
	};

	for (size_t i = 0; i < n; i++) {
		const struct opened_event *event = &recorder->opened.events.v[i];

		events[i] = (struct writer_event){.attr = live_file_attr(recorder, i),
						  .name = event->name,
						  .ids = event->ids.v,
						  .ids_n = event->ids.n,
						  .leader = event->leader,
						  .unit = event->spec->unit,
						  .scale = event->spec->scale,
						  .tp_system = event->spec->tp_system,
						  .tp_name = event->spec->tp_name};
	}
	return writer_new(&recorder->writer, recorder->fd, &how);
}

void output_discard(struct recorder *recorder)
{
	writer_free(recorder->writer);
	recorder->writer = NULL;
	if (recorder->is_pipe)
		return;
	auto_free char *old = text_dup_fmt("%s.old", recorder->path);
	close(recorder->fd);
	recorder->fd = -1;
	if (has_folder(recorder->options))
		output_remove_folder(recorder->path);
	if (!recorder->kept_old || rename(old, recorder->path) < 0)
		unlink(recorder->path);
}

int output_open(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	const char *path = output_path(options->output);

	if (!path)
		return -EINVAL;
	recorder->file_started_ns = time_now_ns(CLOCK_MONOTONIC);
	if (output_is_pipe(options->output))
		recorder->fd = STDOUT_FILENO;
	else if (output_is_fifo(path))
		recorder->fd = output_open_fifo(path);
	recorder->is_pipe = recorder->fd != -1;
	if (recorder->is_pipe)
		return recorder->fd < 0 ? recorder->fd : make_writer(recorder);
	free(recorder->path);
	recorder->path = xstrdup(path);
	int kept = output_keep_old(recorder->path);
	if (kept < 0)
		return kept;
	recorder->kept_old = kept;
	auto_free char *data =
		text_dup_fmt("%s%s", recorder->path, has_folder(options) ? "/data" : "");
	if (has_folder(options) && mkdir(recorder->path, 0700) < 0)
		return fail(errno, "can't make the folder %s: %s", recorder->path, strerror(errno));
	recorder->fd = open(data, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	if (recorder->fd < 0)
		return fail(errno, "can't create %s: %s", data, strerror(errno));
	int err = options->kcore ? kcore_save_beside(recorder->path) : 0;
	if (!err)
		return make_writer(recorder);
	output_discard(recorder);
	return err;
}

// --buildid-mmap: the file's build-id in place of its inode, as the kernel does it for maps made later.
static void put_build_id(struct record_mmap2 *map)
{
	uint8_t id[20];
	size_t n = map->filename[0] == '/' ? build_id_of_file(map->filename, id) : 0;

	if (!n)
		return;
	map->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	map->reserved1 = 0;
	map->reserved2 = 0;
	memset(map->build_id, 0, sizeof(map->build_id));
	memcpy(map->build_id, id, n);
	map->build_id_size = (uint8_t)n;
}

static int write_synthesized(void *arg, const struct perf_event_header *header)
{
	struct recorder *recorder = arg;

	if (header->type == PERF_RECORD_MMAP2 || header->type == PERF_RECORD_MMAP)
		collect_note_map(recorder, header);
	if (recorder->live)
		live_learn(recorder->live, header);
	if (header->type == PERF_RECORD_MMAP2 && recorder->options->buildid_mmap) {
		memcpy(recorder->straddle, header, header->size);
		put_build_id(recorder->straddle);
		header = recorder->straddle;
	}
	return writer_records(recorder->writer, header, header->size);
}

// Names of the groups whose ids samples have: those of the hierarchy that counts for events.
static int synthesize_cgroups(const struct synth *synth)
{
	struct cgroup_mount mount;
	int err = cgroup_find_mount(&mount, "");

	if (err)
		return err;
	err = synth_cgroups(synth, mount.path);
	free(mount.path);
	return err;
}

int output_synthesize(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	struct synth synth = {.root = "",
			      .trailer_bytes = recorder->plans[0].trailer_size,
			      .mmap_data = options->address || options->raw_stacks,
			      .namespaces = options->namespaces,
			      .no_mmaps = !options->synth.mmap,
			      .no_tasks = !options->synth.task,
			      .emit = write_synthesized,
			      .arg = recorder};
	int err = 0;

	if (!options->synth.off)
		err = synth_kernel(&synth, &recorder->kernel_hidden);
	if (!err && options->all_cgroups && options->synth.cgroup)
		err = synthesize_cgroups(&synth);
	if (!err && (options->synth.task || options->synth.mmap)) {
		if (recorder->target.system_wide) {
			err = synth_all_processes(&synth);
		} else if (recorder->target.has_tasks) {
			pid_t last = -1;

			for (size_t i = 0; i < recorder->target.threads.n && !err; i++) {
				pid_t tid = recorder->target.threads.v[i];
				pid_t process = synth_process_of(tid);

				if (process != last)
					err = synth_process(&synth, process);
				last = process;
			}
		}
	}
	return err ? err : writer_init_done(recorder->writer);
}

static void stamp(char *to, size_t size)
{
	struct timespec now;
	struct tm tm;
	char text[32];

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm);
	snprintf(to, size, "%s%02u", text, (unsigned)(now.tv_nsec / 10000000) % 100);
}

int output_finish(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	int err;

	if (!recorder->writer)
		return 0;
	if (recorder->last_ns)
		writer_sample_time(recorder->writer, recorder->first_ns, recorder->last_ns);
	if (!options->no_buildid && !recorder->is_pipe)
		build_ids_add(recorder);
	if (recorder->live)
		live_note(recorder->live, recorder->writer);
	err = writer_finish(recorder->writer);
	recorder->written_bytes = writer_bytes(recorder->writer) + recorder->beside_bytes;
	writer_free(recorder->writer);
	recorder->writer = NULL;
	if (recorder->is_pipe)
		return err;
	if (close(recorder->fd) < 0 && !err)
		err = fail(errno, "can't write %s: %s", recorder->path, strerror(errno));
	recorder->fd = -1;
	if (err || !(options->rotate.on || options->timestamp_filename))
		return err;
	char when[64];
	char *name = NULL;
	// The name has hundredths of a second; two files may not share it.
	do {
		free(name);
		stamp(when, sizeof(when));
		name = text_dup_fmt("%s.%s", recorder->path, when);
	} while (access(name, F_OK) == 0 && usleep(2000) == 0);
	if (rename(recorder->path, name) < 0) {
		free(name);
		return fail(errno, "can't rename %s: %s", recorder->path, strerror(errno));
	}
	if (!options->quiet)
		say("[ sonde record: Dump %s ]", name);
	vec_push(&recorder->files, name);
	if (options->rotate.max_files && recorder->files.n > options->rotate.max_files) {
		unlink(recorder->files.v[0]);
		free(recorder->files.v[0]);
		memmove(recorder->files.v, recorder->files.v + 1,
			--recorder->files.n * sizeof(*recorder->files.v));
	}
	return 0;
}

int output_rotate(struct recorder *recorder)
{
	int err = 0;

	if (recorder->options->tail_synthesize)
		err = output_synthesize(recorder);
	if (!err)
		err = output_finish(recorder);
	if (!err)
		err = output_open(recorder);
	if (!err && !recorder->options->tail_synthesize)
		err = output_synthesize(recorder);
	return err;
}
