// SPDX-License-Identifier: GPL-2.0-or-later
// What -e means: names of system calls, globs, groups of them; all else are events.
#include "base/err.h"
#include "base/log.h"
#include "base/nearest.h"
#include "cmd/core/command.h"
#include "cmd/core/settings.h"
#include "cmd/trace/trace.h"

// Groups beyond those that follow from the arguments.
static const struct {
	const char *name, *calls;
} groups[] = {
	{"network",
	 "socket bind connect listen accept accept4 getsockname getpeername socketpair sendto recvfrom sendmsg recvmsg sendmmsg "
	 "recvmmsg recvmmsg_time64 shutdown setsockopt getsockopt socketcall sendfile sendfile64"},
	{"process",
	 "clone clone3 fork vfork execve execveat exit exit_group wait4 waitid waitpid kill tkill tgkill pidfd_open "
	 "pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo unshare setns"},
	{"signal",
	 "rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigtimedwait_time64 rt_sigqueueinfo "
	 "rt_tgsigqueueinfo rt_sigsuspend sigaltstack signal sigaction sigprocmask sigreturn sigpending sigsuspend kill tkill tgkill "
	 "pause signalfd signalfd4 pidfd_send_signal"},
	{"ipc",
	 "semget semop semctl semtimedop semtimedop_time64 shmget shmat shmdt shmctl msgget msgsnd msgrcv msgctl ipc"},
	{"memory",
	 "mmap mmap2 munmap mprotect mremap brk madvise mincore msync mlock mlock2 munlock mlockall munlockall mbind "
	 "set_mempolicy get_mempolicy migrate_pages move_pages pkey_alloc pkey_free pkey_mprotect remap_file_pages process_madvise "
	 "mseal map_shadow_stack"},
	{"clock",
	 "clock_gettime clock_gettime64 clock_settime clock_settime64 clock_getres clock_getres_time64 clock_adjtime clock_adjtime64 "
	 "gettimeofday settimeofday adjtimex time stime"},
	{"creds",
	 "getuid geteuid getgid getegid setuid setgid setreuid setregid getgroups setgroups setresuid getresuid setresgid getresgid "
	 "setfsuid setfsgid capget capset prctl getuid32 geteuid32 getgid32 getegid32 setuid32 setgid32 setreuid32 setregid32 "
	 "getgroups32 setgroups32 setresuid32 getresuid32 setresgid32 getresgid32 setfsuid32 setfsgid32"},
};

static bool has_word(const char *words, const char *word)
{
	struct str rest = str_of(words);

	while (rest.p) {
		if (str_is(str_cut(&rest, ' '), word))
			return true;
	}
	return false;
}

static bool takes(const struct syscall_def *def, enum syscall_kind kind)
{
	for (unsigned i = 0; i < def->args_n; i++) {
		if (def->args[i].kind == kind)
			return true;
	}
	return false;
}

// 1: in the group, 0: not in it, -1: no such group.
static int in_group(const struct syscall_def *def, const char *group)
{
	if (!strcmp(group, "file"))
		return takes(def, ARG_PATH);
	if (!strcmp(group, "desc"))
		return takes(def, ARG_FD) || takes(def, ARG_FD32) || takes(def, ARG_FDAT);
	if (!strcmp(group, "string"))
		return takes(def, ARG_PATH) || takes(def, ARG_TEXT);
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		if (!strcmp(groups[i].name, group))
			return has_word(groups[i].calls, def->name);
	}
	return -1;
}

// Names by which perf and people know a call.
static const char *alias_of(const char *word)
{
	static const char *const aliases[][2] = {
		{"newfstat", "fstat"},	{"fstatat", "newfstatat"}, {"newlstat", "lstat"},
		{"newstat", "stat"},	{"newuname", "uname"},	   {"pread", "pread64"},
		{"pwrite", "pwrite64"}, {"umount", "umount2"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++) {
		if (!strcmp(aliases[i][0], word))
			return aliases[i][1];
	}
	return NULL;
}

static void want(struct trace *trace, uint32_t number, unsigned which)
{
	if (number < trace->wanted_n)
		trace->wanted[number] |= (uint8_t)which;
}

// How many calls the word stands for; 0: it is no system call.
static size_t want_calls(struct trace *trace, const char *word)
{
	const char *alias = alias_of(word), *group = *word == '%' ? word + 1 : word;
	bool is_glob = strpbrk(word, "*?[") && !strchr(word, ':');
	bool is_call = syscall_number_of(trace->abi, word) >= 0;
	size_t n = 0;

	for (unsigned k = 0; k < 2; k++) {
		enum syscalls abi = k ? trace->abi_32bit : trace->abi;

		if (k && !trace->has_32bit)
			break;
		for (uint32_t i = 0; i < syscall_limit_of(abi); i++) {
			const char *name = syscall_name_of(abi, i);
			const struct syscall_def *def = trace->defs[k][i];
			bool fits;

			if (!name || !def)
				continue;
			fits = !strcmp(name, word) || (alias && !strcmp(name, alias)) ||
			       (is_glob && text_glob(name, word));
			if (!fits && !is_call)
				fits = in_group(def, group) == 1;
			if (fits) {
				want(trace, i, k ? TRACE_OF_32BIT : TRACE_NATIVE);
				n++;
			}
		}
	}
	return n;
}

static int unknown(const char *word)
{
	VEC(const char *) names = {0};
	const char *near;

	for (uint32_t i = 0; i < syscall_limit(); i++) {
		if (syscall_name(i))
			vec_push(&names, syscall_name(i));
	}
	vec_push(&names, NULL);
	near = nearest(word, names.v);
	vec_done(&names);
	if (!near)
		return 0;
	return fail(COMMAND_USAGE,
		    "-e: there is no system call and no event '%s'; did you mean '%s'?", word, near);
}

static struct tp_field item_of(const struct tp_field *array, unsigned i)
{
	struct tp_field item = *array;

	item.is_array = false;
	item.size = array->array_len ? (uint16_t)(array->size / array->array_len) : array->size;
	item.offset = (uint16_t)(array->offset + i * item.size);
	item.is_signed = false;
	return item;
}

static int take_formats(struct trace_event *event)
{
	const struct tracepoint *tp = event->feed->event->tp;
	const struct tp_field *id = tracepoint_field(tp, "id"), *args = tracepoint_field(tp, "args"),
			      *ret = tracepoint_field(tp, "ret");
	bool enter = event->role == ROLE_ENTER;

	if (!id || (enter ? !args : !ret))
		return fail(EINVAL, "%s has no fields as this program knows them",
			    event->feed->event->name);
	event->id = *id;
	event->plain = id->offset == 8 && id->size == 8 && !id->is_swapped;
	if (!enter) {
		event->ret = *ret;
		event->plain &= ret->offset == 16 && ret->size == 8;
		return 0;
	}
	for (unsigned i = 0; i < SYSCALL_ARGS; i++)
		event->args[i] = item_of(args, i);
	event->plain &= args->offset == 16 && args->size == 48;
	return 0;
}

struct adding {
	struct trace *trace;
	enum trace_role role;
};

static int add_found(void *arg, struct event *found, const char *system, const char *name)
{
	struct adding *adding = arg;
	struct trace *trace = adding->trace;
	struct trace_event *event = vec_add(&trace->events);

	event->role = adding->role;
	event->feed = feed_add(trace->feed, found, system, name);
	event->feed->stack = trace->options->stacks;
	event->feed->max_stack = trace->options->max_stack;
	if (event->role == ROLE_ENTER) // the exit's stack is the same
		event->feed->stack = false;
	else
		trace_want_stacks(trace, event);
	if (event->role == ROLE_ENTER || event->role == ROLE_EXIT) {
		trace_want_abi(trace, event);
		return take_formats(event);
	}
	if (system && !strcmp(system, "syscalls") && text_starts(name, "sys_enter_"))
		event->def = syscall_def(name + strlen("sys_enter_"));
	if (event->role == ROLE_FAULT_MAJOR || event->role == ROLE_FAULT_MINOR) {
		event->feed->addresses = true;
		found->attr.sample_period = 1;
	}
	return 0;
}

int trace_add_event(struct trace *trace, const char *name, enum trace_role role)
{
	struct adding adding = {trace, role};

	return trace->input->find(trace->feed, name, add_found, &adding);
}

// Commas in slashes and braces belong to an event.
static struct str next_word(struct str *rest)
{
	struct str word = {rest->p, 0};
	bool inside = false;
	int depth = 0;
	size_t i;

	for (i = 0; i < rest->n; i++) {
		char c = rest->p[i];

		if (c == '/')
			inside = !inside;
		depth += !inside && c == '{';
		depth -= !inside && c == '}';
		if (c == ',' && !inside && depth <= 0)
			break;
	}
	word.n = i;
	*rest = i < rest->n ? (struct str){rest->p + i + 1, rest->n - i - 1} : (struct str){NULL, 0};
	return word;
}

static bool is_limit(struct str term, uint64_t *ret)
{
	struct str value = term, name = str_cut(&value, '=');

	return (str_is(name, "nr") || str_is(name, "max-events")) && !num_parse_u64(value, ret);
}

// EVENT/...,max-events=N/ or nr=N: perf's way to limit one event. That term goes from the word: a recording has the event
// without it.
static uint64_t take_limit(char *word)
{
	char *slash = strchr(word, '/'), *to = slash ? slash + 1 : NULL;
	struct str terms, rest = str_of(to);
	bool found = false;
	uint64_t n = 0;

	if (!slash)
		return 0;
	terms = str_cut(&rest, '/'); // rest: modifiers
	while (terms.p) {
		struct str term = str_cut(&terms, ',');

		if (is_limit(term, &n)) {
			found = true;
			continue;
		}
		if (to > slash + 1)
			*to++ = ',';
		memmove(to, term.p, term.n);
		to += term.n;
	}
	if (!found)
		return 0; // the word is as it was
	if (to > slash + 1)
		*to++ = '/';
	else
		to = slash;
	if (to == slash && rest.n)
		*to++ = ':';
	memmove(to, rest.p ? rest.p : "", rest.n);
	to[rest.n] = '\0';
	return n;
}

static int add_other(struct trace *trace, char *word)
{
	uint64_t limit = take_limit(word);
	size_t before = trace->events.n;
	int err = trace_add_event(trace, word, ROLE_OTHER);

	if (err < 0) {
		auto_free char *sentence = xstrdup(err_sentence());

		if (!strpbrk(word, ":/*@") && unknown(word) < 0)
			return -COMMAND_USAGE;
		return fail_again(err, sentence);
	}
	for (size_t i = before; i < trace->events.n; i++)
		trace->events.v[i].max = limit;
	trace->has_other = true;
	return 0;
}

// {EVENT,EVENT}: each is shown by itself.
static int add_group(struct trace *trace, struct str group)
{
	struct str rest = {group.p + 1, group.n - 1};
	int err = 0;

	if (rest.n && rest.p[rest.n - 1] == '}')
		rest.n--;
	else
		return fail(COMMAND_USAGE,
			    "-e: a group is {EVENT,EVENT}, modifiers stand at its events ({cycles:u,instructions:u}); not '%.*s'",
			    STR_FMT(group));
	while (rest.p && !err) {
		auto_free char *word = str_dup(next_word(&rest));

		err = *word ? add_other(trace, word)
			    : fail(COMMAND_USAGE, "-e: an empty name in the group");
	}
	return err;
}

static int take_choice(struct trace *trace, struct str text, bool *calls, bool *negated)
{
	int err = 0;

	if (text.n && *text.p == '!') {
		*negated = true;
		text = (struct str){text.p + 1, text.n - 1};
	}
	while (text.p && !err) {
		struct str part = next_word(&text);
		auto_free char *word = str_dup(part);

		if (!part.n)
			return fail(COMMAND_USAGE, "-e: an empty name in the list");
		if (want_calls(trace, word))
			*calls = true;
		else if (*word == '%')
			err = fail(COMMAND_USAGE,
				   "-e: there is no group '%s'; there are %%file, %%desc, %%string, %%network, %%process, "
				   "%%signal, %%ipc, %%memory, %%clock, %%creds",
				   word);
		else if (*word == '{')
			err = add_group(trace, part);
		else
			err = add_other(trace, word);
	}
	return err;
}

int trace_select(struct trace *trace)
{
	bool calls = false, negated = false;
	size_t before = trace->events.n;
	int err = 0;

	trace->wanted_n = syscall_limit_of(trace->abi);
	if (trace->has_32bit)
		trace->wanted_n = MAX(trace->wanted_n, syscall_limit_of(trace->abi_32bit));
	trace->wanted = xcalloc(trace->wanted_n, 1);
	vec_each(const struct trace_choice, choice, &trace->options->choices) {
		if (choice->is_filter) {
			if (before == trace->events.n)
				return fail(EINVAL,
					    "--filter belongs to the events of the -e before it, which names none");
			for (size_t i = before; i < trace->events.n; i++)
				trace->events.v[i].feed->filter =
					feed_and(trace->feed, trace->events.v[i].feed->filter,
						 choice->text);
			continue;
		}
		before = trace->events.n;
		err = take_choice(trace, str_of(choice->text), &calls, &negated);
		if (err)
			return choice->is_setting ? settings_blame("trace.add_events", err) : err;
	}
	if (negated) {
		for (uint32_t i = 0; i < trace->wanted_n; i++)
			trace->wanted[i] ^= TRACE_NATIVE | TRACE_OF_32BIT;
	}
	// -F chooses what is recorded; of a recording all is shown.
	trace->shows_syscalls =
		calls || trace->options->syscalls ||
		(!trace->has_other && (!trace->options->faults || trace->options->input));
	if (!calls) {
		free(trace->wanted);
		trace->wanted = NULL;
	}
	return 0;
}

const struct syscall_def *trace_def(const struct trace *trace, const struct trace_thread *thread,
				    uint32_t number)
{
	enum syscalls abi = thread->is_32bit ? trace->abi_32bit : trace->abi;

	return number < syscall_limit_of(abi) ? trace->defs[thread->is_32bit][number] : NULL;
}

bool trace_wants(const struct trace *trace, const struct trace_thread *thread, uint32_t number)
{
	if (!trace->wanted)
		return true;
	return number < trace->wanted_n &&
	       trace->wanted[number] & (thread->is_32bit ? TRACE_OF_32BIT : TRACE_NATIVE);
}

// Runs of numbers that are wanted (or, where they are fewer, are not).
static void put_runs(struct out *out, const struct trace *trace, bool wanted)
{
	bool first = true;

	for (uint32_t i = 0; i < trace->wanted_n; i++) {
		uint32_t from = i;

		if (!trace->wanted[i] == wanted)
			continue;
		while (i + 1 < trace->wanted_n && !trace->wanted[i + 1] != wanted)
			i++;
		if (!first)
			out_text(out, wanted ? " || " : " && ");
		first = false;
		if (from == i)
			out_printf(out, wanted ? "id == %u" : "id != %u", i);
		else
			out_printf(out, wanted ? "(id >= %u && id <= %u)" : "(id < %u || id > %u)",
				   from, i);
	}
	if (first)
		out_text(out, wanted ? "id == -2" : "id != -2");
}

const char *trace_filter(struct trace *trace)
{
	size_t n = 0;
	const char *filter;
	struct out out;

	if (!trace->wanted)
		return NULL;
	for (uint32_t i = 0; i < trace->wanted_n; i++)
		n += trace->wanted[i] != 0;
	out_init_memory(&out);
	put_runs(&out, trace, n <= trace->wanted_n / 2);
	out_char(&out, '\0');
	filter = arena_strdup(&trace->arena, str_of(out.buf));
	out_done(&out);
	return filter;
}
