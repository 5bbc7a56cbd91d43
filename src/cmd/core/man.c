// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/man.h"
#include "base/alloc.h"
#include "cmd/core/help.h"
#include "version.h"
#include <ctype.h>

// Text for roff: nothing in it is a request or an escape.
static void put_roff(struct out *out, struct str text)
{
	bool line_start = true, as_is = false;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		// a line that begins with a space keeps its own form
		if (line_start && as_is && c != ' ')
			out_text(out, ".br\n");
		if (line_start)
			as_is = c == ' ';
		if (line_start && (c == '.' || c == '\''))
			out_text(out, "\\&");
		line_start = c == '\n';
		if (c == '\\')
			out_text(out, "\\e");
		else if (c == '-')
			out_text(out, "\\-");
		else if (c == '"')
			out_text(out, "\\(dq");
		else
			out_char(out, c);
	}
}

static void put_line(struct out *out, const char *request, struct str text)
{
	out_text(out, request);
	put_roff(out, text);
	out_char(out, '\n');
}

static void put_paragraphs(struct out *out, const char *text)
{
	struct str rest = str_of(text), paragraph;

	while ((paragraph = help_next_paragraph(&rest)).p) {
		out_text(out, ".PP\n");
		put_line(out, "", paragraph);
	}
}

static void put_upper(struct out *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '-')
			out_text(out, "\\-");
		else
			out_char(out, (char)toupper((unsigned char)*text));
	}
}

static void put_options(struct out *out, const struct opt *opts)
{
	struct opt_walk walk = {opts, NULL};

	for (const struct opt *opt; (opt = opt_next(&walk));) {
		struct out words;

		if (opt->kind == OPT_GROUP) {
			put_line(out, ".SS ", str_of(opt->help));
			continue;
		}
		if (!help_shows(opt))
			continue;
		out_init_memory(&words);
		help_option_words(&words, opt);
		out_text(out, ".TP\n");
		put_line(out, ".B ", (struct str){words.buf, words.n});
		put_line(out, "", str_of(opt->help ? opt->help : ""));
		out_done(&words);
	}
}

static void put_examples(struct out *out, const struct command_example *example)
{
	for (; example && example->line; example++) {
		out_text(out, ".TP\n");
		put_line(out, ".B ", str_of(example->line));
		put_line(out, "", str_of(example->shows));
	}
}

static void put_usage(struct out *out, const char *usage)
{
	struct str rest = str_of(usage), line;
	const char *request = "";

	while ((line = str_cut(&rest, '\n')).p) {
		out_text(out, request);
		put_line(out, ".B ", line);
		request = ".br\n";
	}
}

static void put_head(struct out *out, const char *page, const char *summary)
{
	out_text(out, ".TH ");
	put_upper(out, page);
	out_text(out, " 1 \"\" \"sonde " SONDE_VERSION "\" \"sonde manual\"\n.nh\n.ad l\n.SH NAME\n");
	put_roff(out, str_of(page));
	out_text(out, " \\- ");
	put_line(out, "", str_of(summary));
}

static void put_sub(struct out *out, const struct command *sub)
{
	out_text(out, ".SH ");
	put_upper(out, sub->name);
	out_char(out, '\n');
	put_line(out, "", str_of(sub->summary));
	if (sub->usage) {
		out_text(out, ".PP\n");
		put_usage(out, sub->usage);
	}
	if (sub->description)
		put_paragraphs(out, sub->description);
	if (sub->opts)
		put_options(out, sub->opts);
	put_examples(out, sub->examples);
}

void man_command(struct out *out, const struct command *command)
{
	auto_free char *page = text_dup_fmt("sonde-%s", command->name);
	struct command sub = {0};

	put_head(out, page, command->summary);
	out_text(out, ".SH SYNOPSIS\n");
	put_usage(out, command->usage);
	if (command->description) {
		out_text(out, ".SH DESCRIPTION\n");
		put_paragraphs(out, command->description);
	}
	if (command->opts && !opt_is_end(command->opts)) {
		out_text(out, ".SH OPTIONS\n");
		put_options(out, command->opts);
	}
	for (size_t i = 0; command->sub && command->sub(i, &sub); i++) {
		if (!sub.hidden)
			put_sub(out, &sub);
		sub = (struct command){0};
	}
	if (command->examples && command->examples->line) {
		out_text(out, ".SH EXAMPLES\n");
		put_examples(out, command->examples);
	}
	out_text(out, ".SH SEE ALSO\n.BR sonde (1)\n");
}

void man_overview(struct out *out)
{
	struct command command = {0};

	put_head(out, "sonde", "find out why a Linux system is slow");
	out_text(out,
		 ".SH SYNOPSIS\n.B sonde\n[\\-\\-version] [\\-\\-help] COMMAND [options]\n"
		 ".SH DESCRIPTION\nEach command has its own page, sonde\\-COMMAND(1), and shows the same "
		 "text with\n.BR \"sonde help\" \" COMMAND.\"\n.SH COMMANDS\n");
	for (size_t i = 0, k = 0; command_next(&i, &k, &command);) {
		out_text(out, ".TP\n");
		put_line(out, ".B ", str_of(command.name));
		put_line(out, "", str_of(command.summary));
	}
}
