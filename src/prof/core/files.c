// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/files.h"
#include "base/err.h"
#include "base/file.h"
#include "flow/place.h"

struct used_file {
	char *path, *given; // given: by which option
	bool is_input;
};

struct used_files {
	VEC(struct used_file) v;
};

static void add(struct used_files *files, const char *option, const char *name, const char *suffix)
{
	if (name)
		vec_push(&files->v, ((struct used_file){
					    .path = text_dup_fmt("%s%s", name, suffix),
					    .given = text_dup_fmt("%s%s", option, name),
				    }));
}

// Of push= and pull=, unless it is a port.
static void add_place(struct used_files *files, const char *option, const char *where)
{
	struct place place = {0};

	if (!where)
		return;
	if (place_parse(&place, where) < 0)
		err_clear(); // it is said when it is opened
	else if (!place.port)
		add(files, option, place.text, "");
	place_done(&place);
}

static int check_pair(const struct used_file *a, const struct used_file *b)
{
	if ((a->is_input && b->is_input) || !file_is_same(a->path, b->path))
		return 0;
	// Events with one and the same push= share it.
	if (!strcmp(a->given, b->given))
		return 0;
	if (a->is_input || b->is_input)
		return fail(EINVAL,
			    "%s would be overwritten by %s while it is read: give another file",
			    a->is_input ? a->given : b->given, a->is_input ? b->given : a->given);
	return fail(EINVAL,
		    "%s and %s of this same run are one file, and can't both be in it: give two",
		    a->given, b->given);
}

int prof_files_check(const struct prof *prof)
{
	const struct prof_options *options = prof->options;
	struct used_files files = {0};
	int err = 0;

	for (size_t i = 0; i < prof->specs.list.n; i++) {
		size_t before = files.v.n;

		add_place(&files, "pull=", prof_spec_attr(prof->specs.list.v[i], "pull"));
		for (; before < files.v.n; before++)
			files.v.v[before].is_input = true;
		add_place(&files, "push=", prof_spec_attr(prof->specs.list.v[i], "push"));
	}
	add(&files, "-o ", options->output, "");
	add(&files, "--to ", options->to, "");
	add(&files, "--flame-graph ", options->flame_graph, ".folded");
	add(&files, "--flame-graph ", options->flame_graph, ".svg");
	add(&files, "--heatmap ", options->heatmap, ".lat");
	add(&files, "--heatmap ", options->heatmap, ".svg");
	for (size_t i = 0; i < files.v.n && !err; i++)
		for (size_t k = 0; k < i && !err; k++)
			err = check_pair(&files.v.v[k], &files.v.v[i]);
	vec_each(struct used_file, file, &files.v) {
		free(file->path);
		free(file->given);
	}
	vec_done(&files.v);
	return err;
}
