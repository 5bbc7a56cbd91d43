// SPDX-License-Identifier: GPL-2.0-or-later
// Command-line options as a table: the parser, help texts, man pages and completion all read it.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum opt_kind {
	OPT_GROUP, // a heading in the help; only .help is used
	OPT_FLAG,  // bool; --no-NAME clears it
	OPT_COUNT, // int, +1 each time; --no-NAME zeroes it
	OPT_INT,   // int
	OPT_U32,   // unsigned
	OPT_U64,   // uint64_t
	OPT_SIZE,  // uint64_t of bytes, with suffix B K M G
	OPT_DOUBLE,
	OPT_TEXT, // const char *, borrowed from argv
	OPT_LIST, // struct opt_list: repeatable, each occurrence kept
	OPT_CALL, // .call does it
	OPT_ROWS, // those of another table, .rows, stand here; these have none of this kind
};

struct opt_list {
	const char **v;
	size_t n;
};

// What .call gets: the options struct, the option, its argument (NULL: none given) and whether the
// --no- form was used. Returns 0 or fail(...).
struct opt;
typedef int opt_call(void *options, const struct opt *opt, const char *arg, bool negated);

// One value that may be typed, and what it is ("" where the value says it).
typedef void opt_offer(void *arg, const char *value, const char *what);

// Numbers below are refused.
enum opt_least { OPT_ANY, OPT_FROM_ZERO, OPT_ABOVE_ZERO };

struct opt {
	enum opt_kind kind;
	char letter;	  // 0: none
	const char *name; // long name without --, NULL: none
	size_t offset;	  // into the command's option struct
	const char *arg;  // the name of the argument in the help ("FILE"); NULL for flags
	const char *help; // one or more sentences
	opt_call *call;	  // for OPT_CALL; may use .offset itself
	const char *absent; // when not NULL the argument is optional (--name or --name=ARG, -gARG) and this is its value
	bool next_word; // with .absent: the next word is the argument too, unless it begins with '-'
	size_t given; // offset of a bool that says the option or its --no- form was given; 0: not wanted
	enum opt_least least;
	bool hidden;
	bool no_negation; // --no-NAME does not exist
	const struct opt *rows;
	bool last; // stops parsing at this option (as -- does)
};

#define OPT_END                                                                                    \
	{                                                                                          \
		.kind = OPT_GROUP, .help = NULL, .name = NULL                                      \
	}

// The rows of another table, in a table.
#define OPT_INCLUDE(table)                                                                         \
	{                                                                                          \
		.kind = OPT_ROWS, .rows = (table)                                                  \
	}

// Walks over a table and what it includes: struct opt_walk walk = {table}; while ((opt = opt_next(&walk))). A table may be NULL.
struct opt_walk {
	const struct opt *next, *behind; // behind: where it goes on when the included rows end
};
const struct opt *opt_next(struct opt_walk *walk); // NULL behind the last

enum opt_flags {
	OPT_STOP_AT_WORD = 1, // the first word that is not an option ends the options (record CMD -x)
	OPT_KEEP_DASHES = 2, // the "--" that ends the options stays among the words, for opt_cut_dashes
};

// Parses argv[1..], which ends with NULL; what is left (words, and all behind "--") is moved to argv[1..ret]; returns that
// count of left words, or -EINVAL with the sentence (unknown options with the nearest name). Long names may be
// abbreviated when unique. -h and --help are not handled here unless they stand in the table; they
// return -ECANCELED, which callers answer with the help.
int opt_parse(const struct opt *table, void *options, char **argv, int flags);

// Takes out the "--" that opt_parse left with these flags; returns how many words stood before it: all, when there was none.
int opt_cut_dashes(int *words, char **argv, int flags);

// Helpers for .call
void opt_list_add(struct opt_list *list, const char *text);
bool opt_is_end(const struct opt *opt);

// An example in the help. tools/help-examples runs every one of them, see docs/howto-command.md.
struct command_example {
	const char *line;  // "sonde report -i FILE --sort comm"; NULL ends the list
	const char *shows; // one sentence: what one learns from it
	const char *test;  // shell text that the test runs in its place; NULL: the line itself
};
