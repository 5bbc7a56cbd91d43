// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/archiver.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zstd.h>
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "cmd/core/output.h"
#include "data/tar.h"
#include "flow/run.h"
#include "sym/idcache.h"
#include "sym/jitdump.h"
#include "sym/seen.h"
#include "sys/signals.h"

struct archiver {
	const struct archive_request *request;
	ZSTD_CCtx *zstd; // NULL: what is written goes to a program that packs
	int fd, error;
	struct out tar;
	uint64_t bytes;
	unsigned files, missing;
};

static void pack(struct archiver *a, ZSTD_EndDirective how)
{
	char chunk[1 << 16];
	ZSTD_inBuffer in = {a->tar.buf, a->tar.n, 0};
	size_t left = 1;

	if (!a->zstd && !a->error) {
		a->error = write_all(a->fd, a->tar.buf, a->tar.n);
		a->bytes += a->tar.n;
	}
	while (a->zstd && !a->error && (in.pos < in.size || (how == ZSTD_e_end && left))) {
		ZSTD_outBuffer out = {chunk, sizeof(chunk), 0};

		left = ZSTD_compressStream2(a->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			a->error = -EIO;
		else
			a->error = write_all(a->fd, chunk, out.pos);
		a->bytes += out.pos;
	}
	a->tar.n = 0;
}

static bool put_path(struct archiver *a, const char *name, const char *path)
{
	struct mapped file;
	struct stat st;
	char *text;
	size_t n;

	// /proc says 0 for the size of kallsyms
	if (stat(path, &st) < 0)
		return false;
	if (!st.st_size) {
		if (file_read_plain(path, 1 << 28, &text, &n) < 0)
			return false;
		tar_put_file(&a->tar, name, text, n);
		free(text);
	} else {
		if (file_map_plain(&file, path) < 0)
			return false;
		tar_put_file(&a->tar, name, file.p, file.n);
		file_unmap(&file);
	}
	pack(a, ZSTD_e_continue);
	a->files++;
	inform("%s", path);
	return true;
}

// Under which name and build-id a file is in a cache.
struct cached {
	const char *name;
	char id[41];
};

static void put_cached(struct archiver *a, const struct cached *as, const char *kind, const char *path)
{
	const char *id = as->id, *name = as->name[0] == '/' ? as->name + 1 : as->name;
	auto_free char *entry = text_dup_fmt("%s/%s/%s", name, id, kind);
	auto_free char *link = text_dup_fmt(".build-id/%.2s/%s", id, id + 2);
	auto_free char *target = text_dup_fmt("../../%s/%s", name, id);

	if (tar_name_is_safe(entry) && put_path(a, entry, path))
		tar_put_symlink(&a->tar, link, target);
}

static void put_kernel(struct archiver *a, const struct dso *dso)
{
	const char *path = dso->symbols_path;
	struct cached as = {.name = "[kernel.kallsyms]"};

	if (dso->state != DSO_LOADED || !path || !dso->build_id.n) {
		warn("the kernel's symbols are not here%s%s", dso->note ? ": " : "",
		     dso->note ? dso->note : "");
		a->missing++;
		return;
	}
	build_id_text(&dso->build_id, as.id);
	put_cached(a, &as, dso->origin == 'k' ? "kallsyms" : "elf", path);
}

static bool has_id(const char *path, const struct build_id *id)
{
	struct build_id found = {0};

	return file_build_id(path, &found) && found.n == id->n &&
	       memcmp(found.bytes, id->bytes, id->n) == 0;
}

static void put_file(struct archiver *a, const struct sym *sym, const struct dso *dso)
{
	const char *path = dso->long_name;
	struct cached as = {.name = path};
	char own[PATH_MAX];

	if (!dso->build_id.n && a->request->perf) {
		a->missing++;
		return;
	}
	if (!dso->build_id.n) {
		// Under its own name, as only that tells what it is.
		auto_free char *entry = text_dup_fmt("files%s", path);

		if (path[0] == '/' && tar_name_is_safe(entry) &&
		    (!seen_own_path(sym, dso, own) || !put_path(a, entry, own)))
			a->missing++;
		return;
	}
	build_id_text(&dso->build_id, as.id);
	auto_free char *debug =
		text_dup_fmt("/usr/lib/debug/.build-id/%.2s/%s.debug", as.id, as.id + 2);
	if (has_id(path, &dso->build_id))
		put_cached(a, &as, "elf", path);
	else if (seen_own_path(sym, dso, own) && has_id(own, &dso->build_id))
		put_cached(a, &as, "elf", own);
	else if (dso->symbols_path && has_id(dso->symbols_path, &dso->build_id))
		put_cached(a, &as, "elf", dso->symbols_path);
	else
		a->missing++;
	if (has_id(debug, &dso->build_id))
		put_cached(a, &as, "debug", debug);
}

static void put_dso(struct archiver *a, struct sym *sym, struct dso *dso)
{
	uint32_t pid;

	dso_find_symbol(sym, dso, 0); // loads it: from where is known then
	switch (dso->kind) {
	case DSO_KERNEL:
		put_kernel(a, dso);
		break;
	case DSO_USER:
	case DSO_MODULE:
	case DSO_ANON:
		if (text_starts(dso->name, "/tmp/perf-") || jitdump_is_path(dso->name, &pid)) {
			auto_free char *entry = text_dup_fmt("files%s", dso->name);

			if (dso->symbols_path && !a->request->perf && tar_name_is_safe(entry))
				put_path(a, entry, dso->symbols_path);
		} else if (dso->long_name[0] == '/') {
			put_file(a, sym, dso);
		}
		break;
	default:
		break;
	}
}

static void mark(struct run *run, struct task *task, uint8_t cpumode, uint64_t ip)
{
	struct location location;

	location = sym_resolve_map(run->sym, task, cpumode, ip);
	if (location.dso)
		location.dso->hit = true;
}

static int mark_sample(void *arg, struct run *run, const struct hit *hit)
{
	const struct sample *sample = &hit->sample;
	struct task *task = hit->task;
	uint8_t cpumode = sample->cpumode;

	if (!task)
		return 0;
	mark(run, task, cpumode, sample->ip);
	for (uint32_t i = 0; i < sample->callchain_n; i++) {
		uint64_t ip = sample->callchain[i];

		if (ip >= PERF_CONTEXT_MAX)
			cpumode = cpumode_of_context(ip);
		else
			mark(run, task, cpumode, ip);
	}
	// Where the stack leads is known when it is unwound: all that the process had.
	for (size_t i = 0; sample->user_stack_size && i < task->space->maps.n; i++)
		task->space->maps.v[i]->dso->hit = true;
	return 0;
}

// perf's archives are packed by bzip2, which it leaves to the program. The end to write to, or -errno with a sentence.
static int start_bzip2(int to, pid_t *ret)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return fail(errno, "can't make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		signals_of_child();
		if (dup2(ends[0], 0) < 0 || dup2(to, 1) < 0)
			_exit(126);
		execlp("bzip2", "bzip2", "-c", (char *)NULL);
		_exit(127);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return fail(errno, "can't run bzip2: %s", strerror(errno));
	}
	*ret = pid;
	return ends[1];
}

static int end_bzip2(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid)
		return fail(errno, "can't wait for bzip2: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return fail(ENOENT, "perf's archives need bzip2, which is not installed");
	return status ? fail(EIO, "bzip2 can't pack the archive") : 0;
}

static void put_files(struct archiver *a, struct run *run)
{
	out_init_memory(&a->tar);
	for (size_t i = 0; i < run->sym->dsos.n && !a->error; i++) {
		struct dso *dso = run->sym->dsos.v[i];

		if (dso->hit || a->request->all)
			put_dso(a, run->sym, dso);
	}
	tar_put_end(&a->tar);
	pack(a, ZSTD_e_end);
	out_done(&a->tar);
}

static int write_archive(struct archiver *a, const char *path, struct run *run)
{
	struct replacing file;
	int err = output_file_open(&file, path), packed = 0;
	pid_t bzip2 = 0;

	if (err < 0)
		return err;
	a->fd = file.fd;
	if (a->request->perf)
		packed = a->fd = start_bzip2(file.fd, &bzip2);
	else
		a->zstd = ZSTD_createCCtx();
	if (packed >= 0)
		put_files(a, run);
	ZSTD_freeCCtx(a->zstd);
	if (bzip2) {
		close(a->fd);
		packed = end_bzip2(bzip2);
	}
	err = replacing_close(&file, packed < 0 ? packed : a->error);
	if (packed < 0)
		return packed;
	return err < 0 ? fail(-err, "can't write %s: %s", path, strerror(-err)) : 0;
}

static void tell(const struct archiver *a, const char *output)
{
	const struct archive_request *request = a->request;

	if (request->perf)
		warn("%s: %u file%s; where it is read: tar xf %s -C ~/.debug", output, a->files,
		     a->files == 1 ? "" : "s", text_base_name(output));
	else
		warn("%s: %u file%s, %llu KB%s", output, a->files, a->files == 1 ? "" : "s",
		     (unsigned long long)a->bytes / 1024,
		     request->output ? "" : "; it is used where it lies beside the recording");
	if (a->missing)
		warn(a->missing == 1 ? "%u file is not here any more, or is another now"
				     : "%u files are not here any more, or are others now",
		     a->missing);
}

int archive_recording(const struct archive_request *request)
{
	static const struct run_hooks hooks = {.hit = mark_sample};
	const struct run_options how = {.path = request->input,
					.force = request->force,
					.no_archive = true,
					.sym = {.held = request->held}};
	auto_free char *beside =
		text_dup_fmt("%s.%s", request->input, request->perf ? "tar.bz2" : "archive");
	const char *output = request->output ? request->output : beside;
	struct archiver a = {.request = request};
	struct run *run;
	int err = output_check_input(output, request->input);

	if (err >= 0)
		err = run_open(&run, &how);
	if (err < 0)
		return err;
	err = run_process(run, &hooks, NULL);
	if (err >= 0 && run->recording->damage && !run->stats.total)
		err = fail(EINVAL, "%s; there is nothing to write", run->recording->damage);
	if (err >= 0)
		err = write_archive(&a, output, run);
	if (err >= 0) {
		tell(&a, output);
		err = run_warn(run);
	}
	run_close(run);
	return err;
}
