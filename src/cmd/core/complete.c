// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/complete.h"
#include "base/alloc.h"
#include "base/err.h"
#include "cmd/core/complete_value.h"
#include "cmd/core/help.h"

// The words of the sub-commands that are shown, a blank behind each; of "GROUP NAME" the group, or the names of one group. Heap.
static char *sub_words(const struct command *command, const char *group)
{
	char *words = xstrdup("");
	struct str last = {NULL, 0};
	struct command sub = {0};

	for (size_t i = 0; command->sub && command->sub(i, &sub); i++, sub = (struct command){0}) {
		struct str rest = str_of(sub.name), word = str_cut(&rest, ' ');

		if (sub.hidden || (group && !str_is(word, group)))
			continue;
		if (group)
			word = rest;
		// those of a group follow each other
		if (str_eq(word, last))
			continue;
		auto_free char *before = words;
		words = text_dup_fmt("%s%.*s ", before, (int)word.n, word.p);
		last = word;
	}
	return words;
}

// A command, the words that it stands behind (NULL for none) and those of its sub-commands.
struct place {
	const struct command *command;
	const char *parent, *words;
};
typedef void visit_place(struct out *out, const struct place *place);

// behind: the word that they stand behind; NULL: none
static void visit_subs(struct out *out, visit_place *visit, const struct command *command,
		       const char *behind)
{
	auto_free char *last = xstrdup("");
	struct command sub = {0};

	for (size_t i = 0; command->sub(i, &sub); i++, sub = (struct command){0}) {
		struct str name = str_of(sub.name), group = str_cut(&name, ' ');

		if (sub.hidden)
			continue;
		if (!name.n) {
			visit(out, &(struct place){&sub, behind, ""});
			continue;
		}
		auto_free char *first = str_dup(group);
		auto_free char *parent =
			behind ? text_dup_fmt("%s %s", behind, first) : xstrdup(first);
		if (strcmp(first, last)) {
			auto_free char *words = sub_words(command, first);
			struct command all = {.name = first, .summary = words};

			visit(out, &(struct place){&all, behind, words});
			free(last);
			last = xstrdup(first);
		}
		sub.name = name.p;
		visit(out, &(struct place){&sub, parent, ""});
	}
}

// Calls one for every command and sub-command, and for what only groups some ("sched" of "bench sched pipe").
static void each_command(struct out *out, visit_place *visit)
{
	for (const struct command *const *command = commands; *command; command++) {
		if ((*command)->subs == COMMAND_SUBS_ARE_COMMANDS)
			visit_subs(out, visit, *command, NULL);
		if ((*command)->hidden)
			continue;
		auto_free char *words = sub_words(*command, NULL);
		visit(out, &(struct place){*command, NULL, words});
		if ((*command)->sub)
			visit_subs(out, visit, *command, (*command)->name);
	}
}

// The next option that is in the help; NULL behind the last.
static const struct opt *next_shown(struct opt_walk *walk)
{
	const struct opt *opt;

	do
		opt = opt_next(walk);
	while (opt && !help_shows(opt));
	return opt;
}

// The first line of a text, quoted for a shell between '...': ' ends the quotes, `also` gets a backslash.
static void put_quotable(struct out *out, const char *text, const char *also)
{
	for (; text && *text && *text != '\n'; text++) {
		if (*text == '\'') {
			out_text(out, "'\\''");
			continue;
		}
		if (strchr(also, *text))
			out_char(out, '\\');
		out_char(out, *text);
	}
}

static bool takes_event(const struct opt *opt)
{
	return opt->name && !strcmp(opt->name, "event");
}

// A filter of the event before it; what profilers call so is something else.
static bool takes_filter(const struct opt *opt, const char *parent)
{
	return opt->name && !strcmp(opt->name, "filter") && !parent;
}

static void bash_words(struct out *out, const struct place *place)
{
	out_text(out, "\t\"");
	if (place->parent)
		out_printf(out, "%s ", place->parent);
	out_printf(out, "%s\") words='%s", place->command->name, place->words);
	struct opt_walk walk = {place->command->opts, NULL};

	for (const struct opt *opt; (opt = next_shown(&walk));) {
		if (opt->letter)
			out_printf(out, "-%c ", opt->letter);
		if (opt->name)
			out_printf(out, "--%s ", opt->name);
	}
	out_text(out, "' valued='");
	walk = (struct opt_walk){place->command->opts, NULL};
	for (const struct opt *opt; (opt = next_shown(&walk));) {
		if (complete_has_values(opt))
			out_printf(out, "-%c=%s --%s=%s ", opt->letter, opt->name, opt->name,
				   opt->name);
	}
	out_text(out, "' ;;\n");
}

static void bash_script(struct out *out)
{
	struct command command = {0};

	out_text(out, "# bash completion for sonde; made by: sonde help --completion bash\n"
		      "_sonde_words()\n{\n\tcase \"$1\" in\n\t\"\") words='");
	for (size_t i = 0, k = 0; command_next(&i, &k, &command);)
		out_printf(out, "%.*s ", (int)strcspn(command.name, " "), command.name);
	out_text(out, "--version --help' valued= ;;\n");
	each_command(out, bash_words);
	out_text(out,
		 "\t*) return 1 ;;\n"
		 "\tesac\n"
		 "}\n"
		 "# The words up to the cursor as the program would see them, in `typed`. `opens`: the quote that is open, and `begins`: where\n"
		 "# in the last word its text begins.\n"
		 "_sonde_split()\n"
		 "{\n"
		 "\tlocal line=${COMP_LINE:0:COMP_POINT} c i word= is_word=\n"
		 "\ttyped=() opens= begins=0\n"
		 "\tfor ((i = 0; i < ${#line}; i++)); do\n"
		 "\t\tc=${line:i:1}\n"
		 "\t\tif [[ -n $opens ]]; then\n"
		 "\t\t\tcase $opens$c in\n"
		 "\t\t\t\"''\"|'\"\"') opens= ;;\n"
		 "\t\t\t'\"\\') i=$((i + 1)) word+=${line:i:1} ;;\n"
		 "\t\t\t*) word+=$c ;;\n"
		 "\t\t\tesac\n"
		 "\t\t\tcontinue\n"
		 "\t\tfi\n"
		 "\t\tcase $c in\n"
		 "\t\t\\\\) i=$((i + 1)) word+=${line:i:1} ;;\n"
		 "\t\t[\\'\\\"]) opens=$c begins=${#word} is_word=1 ;;\n"
		 "\t\t[[:blank:]])\n"
		 "\t\t\t[[ -z $word$is_word ]] || typed+=(\"$word\")\n"
		 "\t\t\tword= is_word= ;;\n"
		 "\t\t*) word+=$c ;;\n"
		 "\t\tesac\n"
		 "\tdone\n"
		 "\ttyped+=(\"$word\")\n"
		 "}\n"
		 "# Offers the lines of the standard input, whole texts for the half typed one that ends `cur`; what stands behind a TAB is not for us.\n"
		 "# A shell replaces only what follows the last of its COMP_WORDBREAKS, or the open quote.\n"
		 "_sonde_offer()\n"
		 "{\n"
		 "\tlocal before=${cur%\"$1\"} kept=${cur:0:begins} line\n"
		 "\t[[ -n $opens ]] || kept=${cur%\"${cur##*[$COMP_WORDBREAKS]}\"}\n"
		 "\twhile IFS= read -r line; do\n"
		 "\t\tline=$before${line%%$'\\t'*}\n"
		 "\t\t[[ $line != \"$cur\"* ]] || COMPREPLY+=(\"${line#\"$kept\"}\")\n"
		 "\tdone\n"
		 "\t# the only one would close the quote, but one goes on typing\n"
		 "\t[[ -z $opens || ${#COMPREPLY[@]} != 1 ]] || COMPREPLY+=(\"$COMPREPLY \")\n"
		 "}\n"
		 "_sonde_events() # TEXT\n"
		 "{\n"
		 "\tif [[ $path == prof* ]]; then\n"
		 "\t\tsonde prof --complete-event \"${path#prof }\" \"$1\" 2>/dev/null\n"
		 "\telse\n"
		 "\t\tsonde list --complete-event \"$1\" \"$path\" 2>/dev/null\n"
		 "\tfi\n"
		 "}\n"
		 "_sonde()\n"
		 "{\n"
		 "\tlocal cur prev opens begins path= words= valued= word i event=\n"
		 "\tlocal -a typed\n"
		 "\tCOMPREPLY=()\n"
		 "\t_sonde_split\n"
		 "\tcur=${typed[${#typed[@]}-1]} prev=\n"
		 "\t[[ ${#typed[@]} -lt 2 ]] || prev=${typed[${#typed[@]}-2]}\n"
		 "\t[[ ${1##*/} != *-prof ]] || path=prof\n"
		 "\t# the command, and its sub-command when there is one of that name; the last event\n"
		 "\tfor ((i = 1; i < ${#typed[@]} - 1; i++)); do\n"
		 "\t\tword=${typed[i]}\n"
		 "\t\tcase $word in\n"
		 "\t\t-e | --event) event=${typed[i+1]} ;;\n"
		 "\t\t--event=*) event=${word#--event=} ;;\n"
		 "\t\t-e*) event=${word#-e} ;;\n"
		 "\t\tesac\n"
		 "\t\t[[ $word != -* ]] || continue\n"
		 "\t\t[[ -n $path || $word != help || $cur == -* ]] || continue\n"
		 "\t\tif _sonde_words \"${path:+$path }$word\"; then path=\"${path:+$path }$word\"; fi\n"
		 "\tdone\n"
		 "\t_sonde_words \"$path\"\n"
		 "\tif [[ $words == *' --event '* ]]; then\n"
		 "\t\tword=\n"
		 "\t\tcase $prev/$cur in\n"
		 "\t\t-e/* | --event/*) word=$cur i=event ;;\n"
		 "\t\t*/--event=*) word=${cur#--event=} i=event ;;\n"
		 "\t\t*/-e*) word=${cur#-e} i=event ;;\n"
		 "\t\t--filter/*) word=$cur i=filter ;;\n"
		 "\t\t*/--filter=*) word=${cur#--filter=} i=filter ;;\n"
		 "\t\t*) i= ;;\n"
		 "\t\tesac\n"
		 "\t\tif [[ $i == event ]]; then\n"
		 "\t\t\tcompopt -o nospace\n"
		 "\t\t\t_sonde_offer \"$word\" < <(_sonde_events \"$word\")\n"
		 "\t\t\treturn\n"
		 "\t\telif [[ $i == filter && $path != prof* && -n $event ]]; then\n"
		 "\t\t\tcompopt -o nospace\n"
		 "\t\t\t_sonde_offer \"$word\" < <(sonde prof --complete-event '' \"$event/$word\" 2>/dev/null |\n"
		 "\t\t\t\twhile IFS= read -r i; do printf '%s\\n' \"${i#\"$event/\"}\"; done)\n"
		 "\t\t\treturn\n"
		 "\t\tfi\n"
		 "\tfi\n"
		 "\tfor i in $valued; do\n"
		 "\t\tcase $prev/$cur in\n"
		 "\t\t\"${i%=*}/\"*) word=$cur ;;\n"
		 "\t\t*/\"${i%=*}=\"*) word=${cur#*=} ;;\n"
		 "\t\t*/\"${i%=*}\"?*) [[ $i != --* ]] || continue; word=${cur:2} ;;\n"
		 "\t\t*) continue ;;\n"
		 "\t\tesac\n"
		 "\t\tcompopt -o nospace\n"
		 "\t\t_sonde_offer \"$word\" < <(sonde list --complete-value \"$word\" \"$path\" \"${i#*=}\" 2>/dev/null)\n"
		 "\t\treturn\n"
		 "\tdone\n"
		 "\tif [[ $cur == -* && $cur != *=* ]]; then\n"
		 "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		 "\telif [[ $cur != -* ]] && [[ -z $path || $words == [!-]* ]]; then\n"
		 "\t\tCOMPREPLY=($(compgen -W \"${words%% -*}\" -- \"$cur\"))\n"
		 "\telse\n"
		 "\t\t# the shell knows best how a name is quoted\n"
		 "\t\tcompopt -o default -o filenames\n"
		 "\tfi\n"
		 "}\n"
		 "complete -F _sonde sonde sonde-prof perf-prof\n");
}

static const char *zsh_action(const struct opt *opt, const char *parent)
{
	return takes_event(opt)		   ? "_sonde_events"
	       : takes_filter(opt, parent) ? "_sonde_filter"
					   : "_files";
}

static void zsh_specs(struct out *out, const struct place *place)
{
	const struct command *command = place->command;
	const char *parent = place->parent;

	out_printf(out, "\t'%s%s%s') specs=(\n", parent ? parent : "", parent ? " " : "",
		   command->name);
	struct opt_walk walk = {command->opts, NULL};

	for (const struct opt *opt; (opt = next_shown(&walk));) {
		for (int is_long = 0; is_long < 2; is_long++) {
			if (is_long ? !opt->name : !opt->letter)
				continue;
			if (is_long)
				out_printf(out, "\t\t'*--%s%s[", opt->name,
					   opt->arg ? (opt->absent ? "=-" : "=") : "");
			else
				out_printf(out, "\t\t'*-%c%s[", opt->letter,
					   opt->arg ? (opt->absent ? "-" : "+") : "");
			put_quotable(out, opt->help, "[]:\\");
			out_char(out, ']');
			if (opt->arg) {
				out_text(out, opt->absent ? "::" : ":");
				put_quotable(out, opt->arg, ":\\");
				if (complete_has_values(opt))
					out_printf(out, ": _sonde_values %s", opt->name);
				else
					out_printf(out, ":%s", zsh_action(opt, parent));
			}
			out_text(out, "'\n");
		}
	}
	out_text(out, "\t) ;;\n");
}

static void zsh_names(struct out *out, const struct place *place)
{
	out_printf(out, "\t'%s' '", place->parent ? place->parent : "");
	put_quotable(out, place->command->name, ":\\");
	out_char(out, ':');
	put_quotable(out, place->command->summary, "\\");
	out_text(out, "'\n");
}

static void zsh_script(struct out *out)
{
	out_text(out,
		 "#compdef sonde sonde-prof perf-prof\n"
		 "# zsh completion for sonde; made by: sonde help --completion zsh\n"
		 "_sonde_events()\n"
		 "{\n"
		 "\tlocal -a events\n"
		 "\tif [[ $path_ == prof* ]]; then\n"
		 "\t\tevents=(${(f)\"$(sonde prof --complete-event \"${path_#prof }\" \"$PREFIX\" 2>/dev/null)\"})\n"
		 "\t\tcompadd -S '' -- ${events%%$'\\t'*}\n"
		 "\telse\n"
		 "\t\tevents=(${(f)\"$(sonde list --complete-event \"$PREFIX\" \"$path_\" 2>/dev/null)\"})\n"
		 "\t\tcompadd -S '' -- ${events%%$'\\t'*}\n"
		 "\tfi\n"
		 "}\n"
		 "_sonde_values() # OPTION\n"
		 "{\n"
		 "\tlocal -a lines values shown\n"
		 "\tlines=(${(f)\"$(sonde list --complete-value \"$PREFIX\" \"$path_\" $1 2>/dev/null)\"})\n"
		 "\tvalues=(${lines%%$'\\t'*}) shown=(${lines/$'\\t'/  })\n"
		 "\tcompadd -S '' -l -d shown -- $values\n"
		 "}\n"
		 "# fields of the event before it\n"
		 "_sonde_filter()\n"
		 "{\n"
		 "\tlocal -a fields\n"
		 "\tlocal event= i\n"
		 "\tfor ((i = 2; i < CURRENT; i++)); do\n"
		 "\t\tcase $words[i] in\n"
		 "\t\t-e | --event) event=${(Q)words[i+1]} ;;\n"
		 "\t\t--event=*) event=${(Q)words[i]#--event=} ;;\n"
		 "\t\t-e*) event=${(Q)words[i]#-e} ;;\n"
		 "\t\tesac\n"
		 "\tdone\n"
		 "\t[[ -n $event ]] || return\n"
		 "\tfields=(${(f)\"$(sonde prof --complete-event '' \"$event/$PREFIX\" 2>/dev/null)\"})\n"
		 "\tfields=(${fields%%$'\\t'*})\n"
		 "\tcompadd -S '' -- ${fields#$event/}\n"
		 "}\n"
		 "# pairs: the command before it, name:summary\n"
		 "_sonde_names=(\n");
	each_command(out, zsh_names);
	out_text(out, ")\n_sonde_specs()\n{\n\tcase $1 in\n");
	each_command(out, zsh_specs);
	out_text(out,
		 "\t*) return 1 ;;\n\tesac\n}\n"
		 "_sonde()\n{\n"
		 "\tlocal path_= word parent name i\n\tlocal -a specs names\n"
		 "\t[[ ${service} != *-prof ]] || path_=prof\n"
		 "\tfor ((i = 2; i < CURRENT; i++)); do\n"
		 "\t\tword=$words[i]\n"
		 "\t\t[[ $word != -* ]] || continue\n"
		 "\t\t[[ -n $path_ || $word != help || $words[CURRENT] == -* ]] || continue\n"
		 "\t\t_sonde_specs \"${path_:+$path_ }$word\" && path_=\"${path_:+$path_ }$word\"\n"
		 "\tdone\n"
		 "\tfor parent name in \"${_sonde_names[@]}\"; do\n"
		 "\t\t[[ $parent != $path_ ]] || names+=($name)\n"
		 "\tdone\n"
		 "\tif (( $#names )) && [[ $words[CURRENT] != -* ]]; then\n"
		 "\t\t_describe command names && return\n\tfi\n"
		 "\tspecs=()\n\t_sonde_specs \"$path_\"\n"
		 "\t_arguments -s $specs '*:file:_files'\n}\n"
		 "_sonde \"$@\"\n");
}

static void fish_lines(struct out *out, const struct place *place)
{
	const struct command *command = place->command;
	const char *parent = place->parent;

	out_printf(out, "complete -c sonde -n '__sonde_at%s%s' -f -a '", parent ? " " : "",
		   parent ? parent : "");
	put_quotable(out, command->name, "");
	out_text(out, "' -d '");
	put_quotable(out, command->summary, "\\");
	out_text(out, "'\n");
	struct opt_walk walk = {command->opts, NULL};

	for (const struct opt *opt; (opt = next_shown(&walk));) {
		out_printf(out, "complete -c sonde -n '__sonde_in%s%s %s'", parent ? " " : "",
			   parent ? parent : "", command->name);
		if (opt->letter)
			out_printf(out, " -s %c", opt->letter);
		if (opt->name)
			out_printf(out, " -l %s", opt->name);
		if (opt->arg && !opt->absent)
			out_text(out, " -r");
		if (takes_event(opt))
			out_text(out, " -f -a '(__sonde_event)'");
		if (takes_filter(opt, parent))
			out_text(out, " -f -a '(__sonde_filter)'");
		if (complete_has_values(opt))
			out_printf(out, " -f -a '(__sonde_values %s %c)'", opt->name, opt->letter);
		out_text(out, " -d '");
		put_quotable(out, opt->help, "\\");
		out_text(out, "'\n");
	}
}

static void fish_script(struct out *out)
{
	out_text(out,
		 "# fish completion for sonde; made by: sonde help --completion fish\n"
		 "function __sonde_path\n"
		 "\tset -l words (commandline -opc | string match -v -- '-*' | tail -n +2)\n"
		 "\tif test \"$words[1]\" = help; and not string match -q -- '-*' (commandline -ct)\n"
		 "\t\tset -e words[1]\n"
		 "\tend\n"
		 "\tprintf '%s\\n' $words\n"
		 "end\n"
		 "# what is typed of an option's value, as the program would see it\n"
		 "function __sonde_value\n"
		 "\tcommandline -ct | string replace -r -- '^(--event=|--filter=|-e(?=.))' '' | string replace -r -- '^[\\'\"]' ''\n"
		 "end\n"
		 "function __sonde_event\n"
		 "\tset -l words (__sonde_path)\n"
		 "\tif test \"$words[1]\" = prof\n"
		 "\t\tsonde prof --complete-event \"$words[2]\" (__sonde_value) 2>/dev/null\n"
		 "\telse\n"
		 "\t\tsonde list --complete-event (__sonde_value) \"$words[1]\" 2>/dev/null\n"
		 "\tend\n"
		 "end\n"
		 "function __sonde_values # OPTION LETTER\n"
		 "\tset -l value (commandline -ct | string replace -r -- \"^(--$argv[1]=|-$argv[2](?=.))\" '' | string replace -r -- '^[\\'\"]' '')\n"
		 "\tset -l words (__sonde_path)\n"
		 "\tsonde list --complete-value \"$value\" \"$words\" $argv[1] 2>/dev/null\n"
		 "end\n"
		 "# fields of the event before it\n"
		 "function __sonde_filter\n"
		 "\tset -l event\n"
		 "\tset -l next 0\n"
		 "\tfor word in (commandline -opc)\n"
		 "\t\tif test $next = 1\n"
		 "\t\t\tset event $word\n"
		 "\t\tend\n"
		 "\t\tset next 0\n"
		 "\t\tswitch $word\n"
		 "\t\t\tcase -e --event\n"
		 "\t\t\t\tset next 1\n"
		 "\t\t\tcase '--event=*'\n"
		 "\t\t\t\tset event (string replace -- --event= '' $word)\n"
		 "\t\t\tcase '-e*'\n"
		 "\t\t\t\tset event (string replace -- -e '' $word)\n"
		 "\t\tend\n"
		 "\tend\n"
		 "\tset event (string trim -c '\\'\"' -- $event)\n"
		 "\ttest -n \"$event\"; or return\n"
		 "\tsonde prof --complete-event '' \"$event/\"(__sonde_value) 2>/dev/null | string replace -- \"$event/\" ''\n"
		 "end\n"
		 "# are these all the words so far?\n"
		 "function __sonde_at\n"
		 "\tset -l words (__sonde_path)\n"
		 "\ttest \"$words\" = \"$argv\"\nend\n"
		 "# are these the first words?\n"
		 "function __sonde_in\n"
		 "\tset -l words (__sonde_path)\n"
		 "\tset -l n (count $argv)\n"
		 "\ttest (count $words) -ge $n; or return 1\n"
		 "\ttest \"$words[1..$n]\" = \"$argv\"\nend\n");
	each_command(out, fish_lines);
	out_text(out, "complete -c sonde-prof -w 'sonde prof'\n"
		      "complete -c perf-prof -w 'sonde prof'\n");
}

int complete_script(struct out *out, const char *shell)
{
	if (!strcmp(shell, "bash"))
		bash_script(out);
	else if (!strcmp(shell, "zsh"))
		zsh_script(out);
	else if (!strcmp(shell, "fish"))
		fish_script(out);
	else
		return fail(EINVAL, "there is completion for bash, zsh and fish, not for '%s'",
			    shell);
	return 0;
}
