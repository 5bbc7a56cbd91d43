// SPDX-License-Identifier: GPL-2.0-or-later
// The cache of files by build-id that perf and sonde share.
#include <stdio.h>
#include "base/err.h"
#include "base/log.h"
#include "base/out.h"
#include "cmd/core/command.h"
#include "flow/run.h"
#include "sym/idcache.h"
#include "sym/kcore.h"

struct options {
	const char *add, *remove, *purge, *update, *kcore, *missing, *debuginfod;
	bool list, purge_all, force;
	int verbose;
	unsigned target_pid;
	bool debuginfod_given;
};

#define AT(member) .offset = offsetof(struct options, member)

static const struct opt opts[] = {
	{OPT_TEXT, 'a', "add", AT(add), "FILE,...",
	 .help = "Put these files in, with their separate debug files and static probes (SDT)."},
	{OPT_FLAG, 'f', "force", AT(force),
	 .help = "With --missing: read a recording that belongs to someone else. With --kcore: also when the "
		 "same is there."},
	{OPT_TEXT, 'k', "kcore", AT(kcore), "FILE",
	 .help = "Put in the running kernel's code and symbols; FILE is /proc/kcore or a copy with kallsyms and "
		 "modules beside it."},
	{OPT_FLAG, 'l', "list", AT(list), .help = "List what is there: build-id and name."},
	{OPT_TEXT, 'M', "missing", AT(missing), "RECORDING",
	 .help = "List what a recording's maps need and the cache lacks."},
	{OPT_TEXT, 'p', "purge", AT(purge), "FILE,...",
	 .help = "Remove every version of these files that is there."},
	{OPT_FLAG, 'P', "purge-all", AT(purge_all), .help = "Remove all."},
	{OPT_TEXT, 'r', "remove", AT(remove), "FILE,...",
	 .help = "Remove these files as they are now."},
	{OPT_TEXT, 'u', "update", AT(update), "FILE,...",
	 .help = "Remove these files and put them in again."},
	{OPT_COUNT, 'v', "verbose", AT(verbose), .help = "Say what was done with each file."},
	{OPT_TEXT, 0, "debuginfod", AT(debuginfod), "URLS", .absent = "",
	 .given = offsetof(struct options, debuginfod_given),
	 .help = "Take debug files of what is added from debuginfod servers: URLS, else $DEBUGINFOD_URLS."},
	{OPT_U32, 0, "target-ns", AT(target_pid), "PID",
	 .help = "Read the files through the file system that this process sees."},
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde buildid-cache --add /bin/true",
	 "keeps a program, so that recordings of it can be read after it was upgraded"},
	{"sonde buildid-cache --list", "lists what is kept"},
	{"sonde buildid-cache --missing perf.data",
	 "lists what a recording needs and the cache lacks"},
	{"sonde buildid-cache --purge /bin/true", "removes every version of a program"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_buildid_cache = {
	.name = "buildid-cache",
	.summary = "Keep programs and symbols by build-id",
	.usage = "sonde buildid-cache [options]",
	.description =
		"Manages ~/.debug, the cache from which names are resolved when a program was upgraded "
		"or a recording comes from another machine. perf uses the same cache in the same layout.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_PERF,
	.run = run,
};

struct job {
	const struct options *options;
	const char *folder;
	bool *ret_full; // the cache can't be written to
};

// perf tells the outcome with -v, and failures always; its exit status stays 0. Here it is 255 where the disk is the reason.
static void note_full(const struct job *job, int err)
{
	*job->ret_full |=
		err == -ENOSPC || err == -EDQUOT || err == -EROFS || err == -EIO || err == -EFBIG;
}

static void tell(const char *what, const char *id, const char *path, int err)
{
	inform("%s %s%s%s: %s", what, id, *id ? " " : "", path, err < 0 ? "FAIL" : "Ok");
}

static char *path_seen(const struct job *job, const char *path)
{
	if (job->options->target_pid)
		return text_dup_fmt("/proc/%u/root%s%s", job->options->target_pid,
				    path[0] == '/' ? "" : "/", path);
	return xstrdup(path);
}

static char *full_name(const struct job *job, const char *path)
{
	char *name = job->options->target_pid ? NULL : realpath(path, NULL);

	return name ? name : xstrdup(path);
}

static bool id_of(const struct job *job, const char *path, struct build_id *ret, char text[41])
{
	auto_free char *seen = path_seen(job, path);

	if (!file_build_id(seen, ret)) {
		if (access(seen, R_OK) < 0)
			warn("Couldn't read %s: %s", path, strerror(errno));
		else
			warn("%s has no build-id: it is no ELF file, or was linked without one",
			     path);
		return false;
	}
	build_id_text(ret, text);
	return true;
}

static int add_known(const struct job *job, const char *path, const struct build_id *id)
{
	auto_free char *seen = path_seen(job, path), *name = full_name(job, path);

	return idcache_add(job->folder, &(struct idcache_file){.name = name,
							       .path = seen,
							       .kind = IDCACHE_ELF,
							       .id = *id});
}

static void add(const struct job *job, const char *path)
{
	struct build_id id;
	char text[41];
	int err;

	if (!id_of(job, path, &id, text))
		return;
	err = add_known(job, path, &id);
	tell("Adding", text, path, err);
	note_full(job, err);
	if (err < 0)
		warn("Couldn't add %s: %s", path, err_sentence());
}

static void remove_file(const struct job *job, const char *path)
{
	struct build_id id;
	char text[41];
	int err;

	if (!id_of(job, path, &id, text))
		return;
	err = idcache_remove(job->folder, &id);
	tell("Removing", text, path, err);
	if (err == -ENOENT)
		warn("%s wasn't in the cache", path);
	else if (err < 0)
		warn("Couldn't remove %s: %s", path, err_sentence());
}

static void update(const struct job *job, const char *path)
{
	struct build_id id;
	char text[41];
	int err = 0;

	if (!id_of(job, path, &id, text))
		return;
	if (idcache_has(job->folder, &id))
		err = idcache_remove(job->folder, &id);
	if (err >= 0)
		err = add_known(job, path, &id);
	tell("Updating", text, path, err);
	note_full(job, err);
	if (err < 0)
		warn("Couldn't update %s: %s", path, err_sentence());
}

static void purge(const struct job *job, const char *path)
{
	auto_free char *name = full_name(job, path);
	struct idcache_list list;
	int err = -ENOENT;

	idcache_list_take(job->folder, &list);
	vec_each(struct idcache_entry, entry, &list.entries) {
		struct build_id id;

		if (strcmp(entry->name, name) || !build_id_parse(entry->id, &id))
			continue;
		err = idcache_remove(job->folder, &id);
		tell("Removing", entry->id, path, err);
		if (err < 0)
			break;
	}
	idcache_list_done(&list);
	tell("Purging", "", path, err);
	if (err == -ENOENT)
		warn("%s wasn't in the cache", path);
	else if (err < 0)
		warn("Couldn't remove %s: %s", path, err_sentence());
}

static void each(const struct job *job, const char *files,
		 void (*act)(const struct job *job, const char *path))
{
	for (struct str rest = str_of(files); rest.p;) {
		auto_free char *path = str_dup(str_trim(str_cut(&rest, ',')));

		if (*path)
			act(job, path);
		err_clear();
	}
}

static int purge_all(const struct job *job)
{
	int err = idcache_purge(job->folder);

	inform("Purged all: %s", err < 0 ? "FAIL" : "Ok");
	if (err < 0)
		warn("%s", err_sentence());
	err_clear();
	return err < 0 ? 1 : 0;
}

static void show_list(const struct job *job, struct out *out)
{
	struct idcache_list list;

	idcache_list_take(job->folder, &list);
	vec_each(struct idcache_entry, entry, &list.entries) {
		if (entry->is_vdso)
			continue; // as perf
		out_text(out, entry->id);
		out_char(out, ' ');
		out_safe(out, entry->name);
		out_char(out, '\n');
	}
	idcache_list_done(&list);
}

static int show_missing(const struct job *job, struct out *out)
{
	struct run_options how = {.path = job->options->missing, .force = job->options->force};
	static const struct run_hooks hooks = {0};
	struct run *run;
	int err = run_open(&run, &how), status;

	if (err < 0)
		return err;
	// What the table of a file says is known once it is open.
	if (run->recording->is_pipe || !run->recording->info.build_ids.n)
		err = run_process(run, &hooks, NULL);
	for (size_t i = 0; i < run->sym->dsos.n; i++) {
		const struct dso *dso = run->sym->dsos.v[i];

		if (!dso->build_id.n || idcache_has(job->folder, &dso->build_id))
			continue;
		for (unsigned k = 0; k < dso->build_id.n; k++)
			out_hex_zeros(out, dso->build_id.bytes[k], 2);
		out_char(out, ' ');
		out_safe(out, dso->long_name);
		out_char(out, '\n');
	}
	status = run->recording->damage ? 1 : 0;
	out_flush(out);
	if (status)
		warn("%s", run->recording->damage);
	run_close(run);
	return err < 0 ? err : status;
}

static int run(int argc, char **argv)
{
	struct options o = {0};
	int n = command_parse(&command_buildid_cache, &o, argv, 0), err = 0, end;
	auto_free char *folder = idcache_folder_dup();
	bool is_full = false;
	struct job job = {.options = &o, .folder = folder, .ret_full = &is_full};
	struct out out;

	if (n < 0)
		return n;
	if (n)
		return fail(COMMAND_USAGE,
			    "'%s' is no option: files go behind --add, --remove, --purge or --update, "
			    "with commas between them",
			    argv[1]);
	if (!o.add && !o.remove && !o.purge && !o.update && !o.kcore && !o.missing && !o.list &&
	    !o.purge_all)
		return fail(COMMAND_USAGE, "say what to do: --add, --remove, --purge, --purge-all, "
					   "--update, --kcore, --missing or --list");
	if (!folder)
		return fail(ENOENT, "where the cache is isn't known: HOME is not set");
	log_set_level(o.verbose);
	if (o.debuginfod_given && o.debuginfod && *o.debuginfod)
		setenv("DEBUGINFOD_URLS", o.debuginfod, 1);
	out_init_fd(&out, STDOUT_FILENO);
	if (o.list)
		show_list(&job, &out);
	if (o.add)
		each(&job, o.add, add);
	if (o.remove)
		each(&job, o.remove, remove_file);
	if (o.purge)
		each(&job, o.purge, purge);
	if (o.purge_all)
		err = purge_all(&job);
	if (o.missing)
		err = show_missing(&job, &out);
	if (o.update)
		each(&job, o.update, update);
	if (o.kcore && err >= 0) {
		err = kcore_keep(o.kcore, folder, o.force);
		if (err < 0) {
			note_full(&job, err);
			warn("Couldn't add %s: %s", o.kcore, err_sentence());
			err_clear();
			err = 0;
		}
	}
	end = out_close(&out, "standard output");
	return err < 0 ? err : end < 0 ? end : is_full ? 255 : err;
}
