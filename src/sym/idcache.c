// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/idcache.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/out.h"
#include "obj/sdt.h"
#include "sym/load.h"

static const char *const kind_names[] = {"elf", "kallsyms", "vdso", "debug"};

char *idcache_folder_dup(void)
{
	const char *folder = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");

	if (folder && *folder)
		return xstrdup(folder);
	return home && *home ? text_dup_fmt("%s/.debug", home) : NULL;
}

bool build_id_parse(const char *text, struct build_id *ret)
{
	size_t n = strlen(text);

	if (!n || n % 2 || n > 40 || strspn(text, "0123456789abcdefABCDEF") != n)
		return false;
	ret->n = (uint8_t)(n / 2);
	for (size_t i = 0; i < n / 2; i++) {
		const char digits[3] = {text[2 * i], text[2 * i + 1]};

		ret->bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return true;
}

bool file_build_id(const char *path, struct build_id *ret)
{
	const struct dso unchecked = {0};
	const struct sym none = {0};
	struct elf_source source;

	if (source_open(&none, &unchecked, path, &source) != SOURCE_OK)
		return false;
	ret->n = (uint8_t)elf_build_id(&source.elf, ret->bytes);
	source_done(&source);
	return ret->n > 0;
}

bool kernel_build_id(const char *root, struct build_id *ret)
{
	auto_free char *notes = NULL;
	size_t n;

	if (file_read_at(root, "/sys/kernel/notes", &notes, &n) < 0)
		return false;
	ret->n = (uint8_t)notes_build_id((struct str){notes, n}, false, ret->bytes);
	return ret->n > 0;
}

char *idcache_link_dup(const char *folder, const struct build_id *id)
{
	char text[41];

	build_id_text(id, text);
	return text_dup_fmt("%s/.build-id/%.2s/%s", folder, text, text + 2);
}

static bool exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

// A link has a whole entry behind it when one of the files is there.
static bool is_whole(const char *link)
{
	struct stat st;

	if (stat(link, &st) == 0 && S_ISREG(st.st_mode))
		return true;
	for (size_t i = 0; i < IDCACHE_DEBUG; i++) {
		auto_free char *path = text_dup_fmt("%s/%s", link, kind_names[i]);

		if (exists(path))
			return true;
	}
	return false;
}

bool idcache_has(const char *folder, const struct build_id *id)
{
	auto_free char *link = idcache_link_dup(folder, id);

	return is_whole(link);
}

static int copy_bytes(int from, int to)
{
	enum { CHUNK = 1 << 16 };
	auto_free char *chunk = xmalloc(CHUNK);
	ssize_t n;

	while ((n = read(from, chunk, CHUNK)) > 0) {
		int err = write_all(to, chunk, (size_t)n);

		if (err < 0)
			return err;
	}
	return n < 0 ? -errno : 0;
}

// Through a temporary name: a reader never sees half of it.
static int copy_file(const char *from, const char *to)
{
	auto_free char *part = text_dup_fmt("%s.%d", to, (int)getpid());
	struct stat st;
	auto_close int in = file_open_plain(from, &st);
	int out, err;

	if (in < 0)
		return in;
	unlink(part);
	out = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0)
		return fail(errno, "can't create %s: %s", part, strerror(errno));
	err = copy_bytes(in, out);
	if (err >= 0 && (st.st_mode & 0100) && fchmod(out, 0700) < 0)
		err = -errno;
	if (close(out) < 0 && err >= 0)
		err = -errno;
	if (err >= 0 && rename(part, to) < 0)
		err = -errno;
	if (err < 0) {
		unlink(part);
		return fail(-err, "can't copy %s to %s: %s", from, to, strerror(-err));
	}
	return 0;
}

static int link_or_copy(const char *from, const char *to)
{
	if (exists(to) || link(from, to) == 0 || errno == EEXIST)
		return 0;
	return copy_file(from, to);
}

static void put_probe(struct out *out, const struct sdt_note *note, const char *path, uint16_t machine)
{
	struct str arguments = str_of(note->arguments);
	char text[64];

	out_printf(out, "%%sdt_%s:%s=%s\n", note->provider, note->name, note->name);
	out_printf(out, "p:sdt_%s/%s %s:0x%llx", note->provider, note->name, path,
		   (unsigned long long)note->location);
	if (note->semaphore)
		out_printf(out, "(0x%llx)", (unsigned long long)note->semaphore);
	for (unsigned i = 1; arguments.n; i++) {
		struct str argument = str_cut(&arguments, ' ');

		// "[x29, -8]" has a space inside
		if (memchr(argument.p, '[', argument.n) && !memchr(argument.p, ']', argument.n)) {
			struct str more = str_cut(&arguments, ' ');

			if (more.p)
				argument.n = (size_t)(more.p + more.n - argument.p);
		}
		if (sdt_argument(machine, argument, text, sizeof(text)))
			out_printf(out, " arg%u=%s", i, text);
	}
	out_char(out, '\n');
}

static bool is_plain(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text <= ' ' || strchr(":=%/", *text) || *text == 0x7f)
			return false;
	}
	return true;
}

// The static probes of a program, in the format of tools/perf/util/probe-file.c.
static int write_probes(const char *elf_path, const char *entry, const char *name)
{
	auto_free char *path = text_dup_fmt("%s/probes", entry);
	struct sdt_notes notes;
	struct mapped file;
	struct sdt_note note;
	struct elf elf;
	struct out out;
	int err;

	if (exists(path))
		return 0;
	err = file_map_plain(&file, elf_path);
	if (err < 0)
		return err;
	out_init_memory(&out);
	if (elf_init(&elf, file.p, file.n) == 0 && sdt_notes_init(&notes, &elf)) {
		while (sdt_notes_next(&notes, &note)) {
			if (is_plain(note.provider) && is_plain(note.name))
				put_probe(&out, &note, name, elf.machine);
		}
	}
	file_unmap(&file);
	err = file_write(path, out.buf, out.n);
	out_done(&out);
	return err;
}

// The separate debug file, which names are looked up in before the file itself.
static void add_debug(const char *entry, const struct idcache_file *file)
{
	auto_free char *to = text_dup_fmt("%s/debug", entry);
	char id[41];
	struct build_id found;

	build_id_text(&file->id, id);
	auto_free char *from = text_dup_fmt("/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	if (file_build_id(from, &found) && same_build_id(&file->id, found.bytes, found.n) &&
	    link_or_copy(from, to) < 0)
		err_clear();
}

static int set_link(const char *link, const char *name, const char *id)
{
	auto_free char *target = text_dup_fmt("../../%s/%s", name[0] == '/' ? name + 1 : name, id);
	auto_free char *folder = str_dup((struct str){link, (size_t)(strrchr(link, '/') - link)});
	char now[PATH_MAX];
	ssize_t n = readlink(link, now, sizeof(now));
	int err = mkdirs(folder);

	if (err < 0)
		return fail(-err, "can't make the folder %s: %s", folder, strerror(-err));
	if (n >= 0 && (size_t)n == strlen(target) && memcmp(now, target, (size_t)n) == 0)
		return 0;
	if (n >= 0 && !is_whole(link))
		unlink(link);
	if (symlink(target, link) < 0 && errno != EEXIST)
		return fail(errno, "can't link %s to %s: %s", link, target, strerror(errno));
	return 0;
}

// "..", which would lead out of the cache.
static bool has_dots(const char *name)
{
	for (struct str rest = str_of(name); rest.p;) {
		struct str part = str_cut(&rest, '/');

		if (str_is(part, "..") || str_is(part, "."))
			return true;
	}
	return false;
}

// A folder that could not be filled, and those around it that hold nothing else.
static void remove_half(const char *folder, char *entry)
{
	const size_t n = strlen(folder);

	(void)remove_tree(entry);
	for (char *slash; (slash = strrchr(entry, '/')) && (size_t)(slash - entry) > n;) {
		*slash = '\0';
		if (rmdir(entry) < 0)
			break;
	}
}

static int fill(const char *entry, const char *link, const struct idcache_file *file)
{
	auto_free char *to = text_dup_fmt("%s/%s", entry, kind_names[file->kind]);
	char id[41];
	int err;

	build_id_text(&file->id, id);
	if (file->kind == IDCACHE_KALLSYMS)
		err = exists(to) ? 0 : copy_file(file->path, to);
	else
		err = link_or_copy(file->path, to);
	if (err < 0)
		return err;
	err = set_link(link, file->name, id);
	if (err < 0)
		return err;
	if (file->kind != IDCACHE_ELF)
		return 0;
	add_debug(entry, file);
	return write_probes(to, entry, file->name);
}

int idcache_add(const char *folder, const struct idcache_file *file)
{
	const char *name = file->name[0] == '/' ? file->name + 1 : file->name;
	auto_free char *link = idcache_link_dup(folder, &file->id);
	char id[41];
	int err;

	if (!file->id.n || !*name || has_dots(name))
		return fail(EINVAL, "%s can't be kept in the cache under that name", file->name);
	build_id_text(&file->id, id);
	auto_free char *entry = text_dup_fmt("%s/%s/%s", folder, name, id);
	bool is_new = !exists(entry);
	err = mkdirs(entry);
	if (err < 0)
		err = fail(-err, "can't make the folder %s: %s", entry, strerror(-err));
	else
		err = fill(entry, link, file);
	if (err < 0 && is_new) {
		if (!is_whole(link))
			unlink(link);
		remove_half(folder, entry);
	}
	return err;
}

int idcache_remove(const char *folder, const struct build_id *id)
{
	auto_free char *link = idcache_link_dup(folder, id), *entry = NULL;
	auto_free char *root = realpath(folder, NULL);
	struct stat st;
	int err = 0;

	if (lstat(link, &st) < 0)
		return fail(ENOENT, "%s is not there", link);
	entry = realpath(link, NULL);
	// Only what lies inside: a link may point anywhere.
	if (entry && root && text_starts(entry, root) && entry[strlen(root)] == '/' &&
	    S_ISLNK(st.st_mode))
		err = remove_tree(entry);
	if (err < 0)
		return fail(-err, "can't remove %s: %s", entry, strerror(-err));
	if (unlink(link) < 0)
		return fail(errno, "can't remove %s: %s", link, strerror(errno));
	return 0;
}

// "../../usr/bin/true/ID": what stands between is the name.
static char *name_of_link(const char *link)
{
	char target[PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target) - 1);
	const char *at = target;
	char *slash;

	if (n < 0)
		return NULL;
	target[n] = '\0';
	slash = strrchr(target, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	while (text_starts(at, "../"))
		at += 3;
	if (!*at)
		return NULL;
	return text_dup_fmt("%s%s", *at == '[' || *at == '/' ? "" : "/", at);
}

// A file that is linked, not copied, changes when somebody writes into it in place.
static bool is_overwritten(const char *link, const struct build_id *id)
{
	auto_free char *elf = text_dup_fmt("%s/elf", link);
	struct build_id now = {0};

	if (!exists(elf) || (file_build_id(elf, &now) && same_build_id(id, now.bytes, now.n)))
		return false;
	warn("%s has another build-id now, so names are not taken from it", elf);
	return true;
}

static void list_folder(const char *folder, const char *start, struct idcache_list *ret)
{
	auto_free char *path = text_dup_fmt("%s/.build-id/%s", folder, start);
	DIR *dir = opendir(path);
	struct dirent *found;

	while (dir && (found = readdir(dir))) {
		auto_free char *link = text_dup_fmt("%s/%s", path, found->d_name);
		auto_free char *id = text_dup_fmt("%s%s", start, found->d_name);
		auto_free char *vdso = text_dup_fmt("%s/vdso", link);
		struct build_id parsed;
		struct idcache_entry *entry;
		char *name;

		if (!build_id_parse(id, &parsed) || !is_whole(link) || is_overwritten(link, &parsed))
			continue;
		name = name_of_link(link);
		if (!name)
			continue;
		entry = vec_add(&ret->entries);
		build_id_text(&parsed, entry->id);
		entry->name = name;
		entry->is_vdso = exists(vdso);
	}
	if (dir)
		closedir(dir);
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct idcache_entry *)a)->id, ((const struct idcache_entry *)b)->id);
}

void idcache_list_take(const char *folder, struct idcache_list *ret)
{
	auto_free char *path = text_dup_fmt("%s/.build-id", folder);
	DIR *dir = opendir(path);
	struct dirent *found;

	*ret = (struct idcache_list){0};
	while (dir && (found = readdir(dir))) {
		if (strlen(found->d_name) == 2 && strspn(found->d_name, "0123456789abcdefABCDEF") == 2)
			list_folder(folder, found->d_name, ret);
	}
	if (dir)
		closedir(dir);
	if (ret->entries.n)
		qsort(ret->entries.v, ret->entries.n, sizeof(*ret->entries.v), by_id);
}

void idcache_list_done(struct idcache_list *list)
{
	vec_each(struct idcache_entry, entry, &list->entries)
		free(entry->name);
	vec_done(&list->entries);
}
