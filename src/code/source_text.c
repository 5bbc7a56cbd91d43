// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/source_text.h"
#include <sys/stat.h>
#include "base/alloc.h"
#include "base/file.h"
#include "base/intern.h"

enum {
	FILE_MAX = 1 << 24,
	ALL_MAX = 1 << 26, // bytes that are kept
};

struct source_file {
	char *text; // NULL: it can't be read
	size_t n;
	VEC(uint32_t) starts; // of lines
};

struct source_texts {
	struct intern paths;
	VEC(struct source_file) files; // by id of the path
	size_t total;
};

struct source_texts *source_texts_new(void)
{
	struct source_texts *texts = NEW(struct source_texts);

	intern_init(&texts->paths);
	return texts;
}

static void forget_all(struct source_texts *texts)
{
	for (size_t i = 0; i < texts->files.n; i++) {
		free(texts->files.v[i].text);
		vec_done(&texts->files.v[i].starts);
	}
	vec_done(&texts->files);
	intern_done(&texts->paths);
	texts->total = 0;
}

void source_texts_free(struct source_texts *texts)
{
	if (!texts)
		return;
	forget_all(texts);
	free(texts);
}

static void read_lines(struct source_file *file)
{
	const char *at = file->text, *end = file->text + file->n;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		vec_push(&file->starts, (uint32_t)(at - file->text));
		at = newline ? newline + 1 : end;
	}
}

static struct source_file *file_of(struct source_texts *texts, const char *path)
{
	struct source_file file = {0};
	struct stat st;
	uint32_t id;

	if (texts->total > ALL_MAX) {
		forget_all(texts);
		intern_init(&texts->paths);
	}
	id = intern_text(&texts->paths, path);
	while (texts->files.n < id)
		vec_push(&texts->files, (struct source_file){0}); // 0 is the empty path
	if (id < texts->files.n)
		return &texts->files.v[id];
	// Nothing that could block or has no end.
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    file_read(path, FILE_MAX, &file.text, &file.n) >= 0) {
		read_lines(&file);
		texts->total += file.n + file.starts.n * sizeof(*file.starts.v);
	}
	vec_push(&texts->files, file);
	return &texts->files.v[id];
}

bool source_texts_line(struct source_texts *texts, const char *path, uint32_t line, struct str *ret)
{
	const struct source_file *file = file_of(texts, path);
	size_t start, end;

	if (!line || line > file->starts.n)
		return false;
	start = file->starts.v[line - 1];
	end = line < file->starts.n ? file->starts.v[line] : file->n;
	while (end > start && (file->text[end - 1] == '\n' || file->text[end - 1] == '\r'))
		end--;
	*ret = (struct str){file->text + start, end - start};
	return true;
}
