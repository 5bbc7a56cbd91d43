// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/complete.h"
#include "base/err.h"
#include "cmd/core/help.h"

// Calls one for every command and sub-command; parent is NULL for a command.
typedef void visit_command(struct out *out, const struct command *command, const char *parent);

static void each_command(struct out *out, visit_command *visit)
{
	for (const struct command *const *command = commands; *command; command++) {
		struct command sub = {0};

		if ((*command)->hidden)
			continue;
		visit(out, *command, NULL);
		for (size_t i = 0; (*command)->sub && (*command)->sub(i, &sub); i++) {
			if (!sub.hidden)
				visit(out, &sub, (*command)->name);
			sub = (struct command){0};
		}
	}
}

// The options in the help, from *opt on; NULL behind the last.
static const struct opt *shown(const struct opt *opt)
{
	while (opt && !opt_is_end(opt)) {
		if (help_shows(opt))
			return opt;
		opt++;
	}
	return NULL;
}

#define each_option(opt, command)                                                                  \
	for (const struct opt *opt = shown((command)->opts); opt; opt = shown(opt + 1))

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

static void bash_words(struct out *out, const struct command *command, const char *parent)
{
	struct command sub = {0};

	out_text(out, "\t\"");
	if (parent)
		out_printf(out, "%s ", parent);
	out_printf(out, "%s\") words='", command->name);
	for (size_t i = 0; command->sub && command->sub(i, &sub); i++) {
		if (!sub.hidden)
			out_printf(out, "%s ", sub.name);
		sub = (struct command){0};
	}
	each_option(opt, command)
	{
		if (opt->letter)
			out_printf(out, "-%c ", opt->letter);
		if (opt->name)
			out_printf(out, "--%s ", opt->name);
	}
	out_text(out, "' ;;\n");
}

static void bash_script(struct out *out)
{
	out_text(out, "# bash completion for sonde; made by: sonde help --completion bash\n"
		      "_sonde_words()\n{\n\tcase \"$1\" in\n\t\"\") words='");
	for (const struct command *const *command = commands; *command; command++) {
		if (!(*command)->hidden)
			out_printf(out, "%s ", (*command)->name);
	}
	out_text(out, "--version --help' ;;\n");
	each_command(out, bash_words);
	out_text(out,
		 "\t*) return 1 ;;\n\tesac\n}\n"
		 "_sonde()\n{\n"
		 "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path= words= word i\n"
		 "\tif declare -F _get_comp_words_by_ref >/dev/null; then\n"
		 "\t\t_get_comp_words_by_ref -n =: cur prev # event names hold colons\n\tfi\n"
		 "\t[[ ${1##*/} != *-prof ]] || path=prof\n"
		 "\tif [[ ($prev == -e || $prev == --event) && $cur == *[/,]* && ${COMP_WORDS[*]} == *prof* ]]; then\n"
		 "\t\tfor word in \"${COMP_WORDS[@]:1}\"; do [[ $word == prof || $word == -* ]] || break; done\n"
		 "\t\tcompopt -o nospace\n"
		 "\t\tCOMPREPLY=($(sonde prof --complete-event \"$word\" \"$cur\" 2>/dev/null))\n"
		 "\t\tword=${cur##*,}\n"
		 "\t\t[[ $word == */* || -n ${COMPREPLY[*]} ]] || COMPREPLY=($(compgen -P \"${cur%\"$word\"}\" -W \"$(sonde list --raw-dump 2>/dev/null)\" -- \"$word\"))\n"
		 "\t\tif declare -F __ltrim_colon_completions >/dev/null; then\n"
		 "\t\t\t__ltrim_colon_completions \"$cur\"\n\t\tfi\n"
		 "\t\treturn\n\tfi\n"
		 "\tif [[ $prev == -e || $prev == --event ]]; then\n"
		 "\t\tCOMPREPLY=($(compgen -W \"$(sonde list --raw-dump 2>/dev/null)\" -- \"$cur\"))\n"
		 "\t\tif declare -F __ltrim_colon_completions >/dev/null; then\n"
		 "\t\t\t__ltrim_colon_completions \"$cur\"\n\t\tfi\n"
		 "\t\treturn\n\tfi\n"
		 "\t# the command, and its sub-command when there is one of that name\n"
		 "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		 "\t\tword=${COMP_WORDS[i]}\n"
		 "\t\t[[ $word != -* ]] || continue\n"
		 "\t\tif _sonde_words \"${path:+$path }$word\"; then path=\"${path:+$path }$word\"; fi\n"
		 "\tdone\n"
		 "\t_sonde_words \"$path\"\n"
		 "\tif [[ $cur == -* ]]; then\n"
		 "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		 "\telif [[ -z $path || $words == [!-]* ]]; then\n"
		 "\t\tCOMPREPLY=($(compgen -W \"${words%% -*}\" -- \"$cur\"))\n"
		 "\telse\n\t\tcompopt -o filenames\n\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n\tfi\n}\n"
		 "complete -F _sonde sonde sonde-prof perf-prof\n");
}

static void zsh_specs(struct out *out, const struct command *command, const char *parent)
{
	out_printf(out, "\t'%s%s%s') specs=(\n", parent ? parent : "", parent ? " " : "",
		   command->name);
	each_option(opt, command)
	{
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
				out_text(out, takes_event(opt) ? ":_sonde_events" : ":_files");
			}
			out_text(out, "'\n");
		}
	}
	out_text(out, "\t) ;;\n");
}

static void zsh_names(struct out *out, const struct command *command, const char *parent)
{
	out_printf(out, "\t'%s' '", parent ? parent : "");
	put_quotable(out, command->name, ":\\");
	out_char(out, ':');
	put_quotable(out, command->summary, "\\");
	out_text(out, "'\n");
}

static void zsh_script(struct out *out)
{
	out_text(out,
		 "#compdef sonde sonde-prof perf-prof\n"
		 "# zsh completion for sonde; made by: sonde help --completion zsh\n"
		 "_sonde_events()\n{\n\tlocal -a events\n"
		 "\tif [[ $PREFIX == *[/,]* && $words == *prof* ]]; then\n"
		 "\t\tlocal profiler=$words[3]\n\t\t[[ $words[2] == prof ]] || profiler=$words[2]\n"
		 "\t\tevents=(${(f)\"$(sonde prof --complete-event \"$profiler\" \"$PREFIX\" 2>/dev/null)\"})\n"
		 "\t\tcompadd -S '' -a events\n\t\treturn\n\tfi\n"
		 "\tevents=(${=\"$(sonde list --raw-dump 2>/dev/null)\"})\n"
		 "\tcompadd -a events\n}\n"
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

static void fish_lines(struct out *out, const struct command *command, const char *parent)
{
	out_printf(out, "complete -c sonde -n '__sonde_at%s%s' -f -a '", parent ? " " : "",
		   parent ? parent : "");
	put_quotable(out, command->name, "");
	out_text(out, "' -d '");
	put_quotable(out, command->summary, "\\");
	out_text(out, "'\n");
	each_option(opt, command)
	{
		out_printf(out, "complete -c sonde -n '__sonde_in%s%s %s'", parent ? " " : "",
			   parent ? parent : "", command->name);
		if (opt->letter)
			out_printf(out, " -s %c", opt->letter);
		if (opt->name)
			out_printf(out, " -l %s", opt->name);
		if (opt->arg && !opt->absent)
			out_text(out, " -r");
		if (takes_event(opt))
			out_text(out,
				 parent && !strcmp(parent, "prof")
					 ? " -f -a '(__sonde_event)'"
					 : " -f -a '(sonde list --raw-dump 2>/dev/null | string split -n \" \")'");
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
		 "\tcommandline -opc | string match -v -- '-*' | tail -n +2\nend\n"
		 "function __sonde_event\n"
		 "\tset -l text (commandline -ct)\n"
		 "\tset -l words (__sonde_path)\n"
		 "\tsonde prof --complete-event \"$words[2]\" \"$text\" 2>/dev/null\n"
		 "\tstring match -q -- '*/*' $text; or sonde list --raw-dump 2>/dev/null | string split -n \" \"\nend\n"
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
