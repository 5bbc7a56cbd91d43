// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/help.h"

enum { WIDTH = 80, OPTION_COLUMN = 30, NAME_COLUMN = 20 };

static const char *const family_titles[COMMAND_FAMILIES] = {
	[COMMAND_PERF] = "Commands that perf has too",
	[COMMAND_LIVE] = "Live profilers",
	[COMMAND_PICTURE] = "Pictures",
	[COMMAND_TOOL] = "One question each",
	[COMMAND_SELF] = "About sonde and this system",
};

bool help_shows(const struct opt *opt)
{
	return opt->kind != OPT_GROUP && !opt->hidden;
}

struct str help_next_paragraph(struct str *rest)
{
	struct str paragraph = *rest;

	if (!rest->p)
		return *rest;
	for (size_t i = 0; i + 1 < rest->n; i++) {
		if (rest->p[i] == '\n' && rest->p[i + 1] == '\n') {
			paragraph.n = i;
			rest->p += i + 2;
			rest->n -= i + 2;
			return paragraph;
		}
	}
	*rest = (struct str){0};
	return paragraph;
}

// Text in lines of WIDTH, the first beginning at `column` (where the cursor stands), the others indented to
// `indent`. A line that begins with a space keeps its own form.
static void put_wrapped(struct out *out, struct str text, size_t column, size_t indent)
{
	struct str line;

	while ((line = str_cut(&text, '\n')).p) {
		bool as_is = str_starts(line, " "), first = true;
		struct str word;

		if (column == 0) {
			out_fill(out, ' ', indent);
			column = indent;
		}
		if (as_is) {
			out_str(out, line);
			out_char(out, '\n');
			column = 0;
			continue;
		}
		while ((word = str_cut(&line, ' ')).p) {
			if (!first && column + 1 + word.n > WIDTH) {
				out_char(out, '\n');
				out_fill(out, ' ', indent);
				column = indent;
			} else if (!first) {
				out_char(out, ' ');
				column++;
			}
			out_str(out, word);
			column += word.n;
			first = false;
		}
		// the next line of the text goes on in this paragraph
		if (text.p && text.n && text.p[0] != ' ' && column < WIDTH) {
			out_char(out, ' ');
			column++;
		} else {
			out_char(out, '\n');
			column = 0;
		}
	}
}

static void put_paragraphs(struct out *out, const char *text, size_t indent)
{
	struct str rest = str_of(text), paragraph;

	while ((paragraph = help_next_paragraph(&rest)).p) {
		put_wrapped(out, paragraph, 0, indent);
		out_char(out, '\n');
	}
}

// A name in a column, its text in the next; a name that is too long gets a line of its own.
static void put_entry(struct out *out, struct str name, const char *text, size_t text_column)
{
	size_t column = 4 + name.n;

	out_text(out, "    ");
	out_str(out, name);
	if (column + 2 > text_column) {
		out_char(out, '\n');
		column = 0;
	} else {
		out_fill(out, ' ', text_column - column);
		column = text_column;
	}
	put_wrapped(out, str_of(text), column, text_column);
}

void help_option_words(struct out *out, const struct opt *opt)
{
	if (opt->letter) {
		out_char(out, '-');
		out_char(out, opt->letter);
	}
	if (opt->name) {
		out_text(out, opt->letter ? ", --" : "--");
		out_text(out, opt->name);
	}
	if (!opt->arg)
		return;
	if (!opt->absent) {
		out_char(out, ' ');
		out_text(out, opt->arg);
		return;
	}
	out_text(out, opt->name ? "[=" : "[");
	out_text(out, opt->arg);
	out_char(out, ']');
}

static void put_options(struct out *out, const struct opt *opts)
{
	struct opt_walk walk = {opts, NULL};
	bool titled = false;

	for (const struct opt *opt; (opt = opt_next(&walk));) {
		struct out words;

		if (opt->kind == OPT_GROUP) {
			out_printf(out, "%s %s:\n", titled ? "\n" : "", opt->help);
			titled = true;
			continue;
		}
		if (!help_shows(opt))
			continue;
		if (!titled)
			out_text(out, " Options:\n");
		titled = true;
		out_init_memory(&words);
		if (!opt->letter)
			out_text(&words, "    ");
		help_option_words(&words, opt);
		put_entry(out, (struct str){words.buf, words.n}, opt->help ? opt->help : "",
			  OPTION_COLUMN);
		out_done(&words);
	}
	if (titled)
		out_char(out, '\n');
}

static void put_subs(struct out *out, const struct command *command)
{
	struct command sub = {0};

	for (size_t i = 0; command->sub && command->sub(i, &sub); i++) {
		if (!i)
			out_text(out, " Sub-commands:\n");
		if (!sub.hidden)
			put_entry(out, str_of(sub.name), sub.summary, NAME_COLUMN);
		sub = (struct command){0};
	}
	if (sub.name || (command->sub && command->sub(0, &sub)))
		out_char(out, '\n');
}

static void put_examples(struct out *out, const struct command_example *example)
{
	if (!example || !example->line)
		return;
	out_text(out, " Examples:\n");
	for (; example->line; example++) {
		out_printf(out, "    %s\n", example->line);
		put_wrapped(out, str_of(example->shows), 0, 8);
	}
	out_char(out, '\n');
}

void help_text(struct out *out, const struct command *command)
{
	struct str usage = str_of(command->usage), line;
	const char *title = " Usage: ";

	out_char(out, '\n');
	while ((line = str_cut(&usage, '\n')).p) {
		out_text(out, title);
		out_str(out, line);
		out_char(out, '\n');
		title = "    or: ";
	}
	out_char(out, '\n');
	put_wrapped(out, str_of(command->summary), 0, 1);
	out_char(out, '\n');
	if (command->description)
		put_paragraphs(out, command->description, 1);
	put_subs(out, command);
	if (command->opts)
		put_options(out, command->opts);
	put_examples(out, command->examples);
}

void help_overview(struct out *out)
{
	out_text(out, "\n Usage: sonde [--version] [--help] COMMAND [options]\n");
	for (int family = 0; family < COMMAND_FAMILIES; family++) {
		struct command command = {0};
		bool titled = false;

		for (size_t i = 0, k = 0; command_next(&i, &k, &command);) {
			if ((int)command.family != family)
				continue;
			if (!titled)
				out_printf(out, "\n %s:\n", family_titles[family]);
			titled = true;
			put_entry(out, str_of(command.name), command.summary, NAME_COLUMN);
		}
	}
	out_text(out, "\n 'sonde help COMMAND' or 'sonde COMMAND -h' shows one command.\n\n");
}
