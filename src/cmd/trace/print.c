// SPDX-License-Identifier: GPL-2.0-or-later
// The lines of system calls. The layout is perf trace's.
#include "cmd/trace/trace.h"
#include <stdio.h>

enum {
	O_MAKES = 0x40 | 0x400000, // CREAT, TMPFILE: include/uapi/asm-generic/fcntl.h
	COMM_MAX = 14,
	LEAST_ERROR = -4095, // include/linux/err.h
};

#define RED "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN "\033[m"

static void put_ms(struct out *out, uint64_t ns, int width)
{
	uint64_t us = ns / 1000, rest = ns % 1000;
	size_t digits = 1;

	// Halves are rounded as printf rounds the double that perf makes of it.
	if (rest == 500) {
		out_printf(out, "%*.3f", width, (double)ns / 1e6);
		return;
	}
	us += rest > 500;
	for (uint64_t ms = us / 1000; ms >= 10; ms /= 10)
		digits++;
	if ((size_t)width > digits + 4)
		out_fill(out, ' ', (size_t)width - digits - 4);
	out_u64(out, us / 1000);
	out_char(out, '.');
	out_u64_zeros(out, us % 1000, 3);
}

static void put_comm(struct trace *trace, uint32_t tid, struct out *out)
{
	const struct task *task = sym_find_task(trace->feed->sym, tid);
	const char *comm = task ? task_comm(trace->feed->sym, task) : "";
	size_t n = strnlen(comm, COMM_MAX), start = out->n;

	if (!task) {
		out_char(out, ':');
		out_u64(out, tid);
		return;
	}
	out_bytes(out, comm, n);
	// A name is a stranger's text: it must not move the cursor or begin a line.
	while (start < out->n) {
		size_t shown = out_shown_bytes((struct str){out->buf + start, out->n - start});

		if (!shown)
			out->buf[start++] = '?';
		start += shown;
	}
}

static void put_who(struct trace *trace, uint32_t tid)
{
	struct out *out = &trace->line;

	if (!trace->several_threads)
		return;
	if (trace->options->comm) {
		put_comm(trace, tid, out);
		out_char(out, '/');
	}
	out_u64(out, tid);
	out_char(out, ' ');
}

static void put_duration(struct trace *trace, const uint64_t *ns)
{
	struct out *out = &trace->line;
	bool colored = ns && trace->colors && *ns >= 10000;

	out_char(out, '(');
	if (!ns) {
		out_text(out, "         ): ");
		return;
	}
	if (colored)
		out_text(out, *ns >= 1000000 ? RED : YELLOW);
	put_ms(out, *ns, 6);
	out_text(out, " ms");
	if (colored)
		out_text(out, PLAIN);
	out_text(out, "): ");
}

// time_ns 0: not known. duration_ns NULL: likewise.
void trace_put_head(struct trace *trace, const struct trace_thread *thread, uint64_t time_ns,
		    const uint64_t *duration_ns)
{
	struct out *out = &trace->line;

	out->n = 0;
	if (!trace->look.no_time) {
		if (!time_ns)
			out_text(out, "         ?");
		else
			put_ms(out, time_ns - MIN(trace->base_ns, time_ns), 10);
		out_char(out, ' ');
	}
	if (!trace->look.no_duration && (duration_ns || trace->shows_syscalls))
		put_duration(trace, duration_ns);
	put_who(trace, thread->tid);
}

// Ends the line: gives it to the output.
static int end_line(struct trace *trace)
{
	out_char(&trace->line, '\n');
	out_bytes(trace->out, trace->line.buf, trace->line.n);
	trace->line.n = 0;
	return out_broken(trace->out) ? trace->out->error : 0;
}

int trace_end_event(struct trace *trace)
{
	int err = end_line(trace);

	out_bytes(trace->out, trace->text.buf, trace->text.n);
	trace->printed_n++;
	return err;
}

// ---- arguments

static void put_quoted(struct out *out, const char *p, size_t n, bool cut)
{
	out_char(out, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		if (c == '\n')
			out_bytes(out, "\\n", 2);
		else if (c == '\t')
			out_bytes(out, "\\t", 2);
		else if (c == '\r')
			out_bytes(out, "\\r", 2);
		else if (c == '"' || c == '\\')
			out_printf(out, "\\%c", c);
		else if (c < ' ' || c >= 127)
			out_printf(out, "\\%03o", c);
		else
			out_char(out, (char)c);
	}
	out_char(out, '"');
	if (cut)
		out_text(out, "..");
}

// struct open_how: include/uapi/linux/openat2.h
static void put_how(struct out *out, const char *p, size_t n, bool prefix)
{
	uint64_t how[3] = {0};

	memcpy(how, p, MIN(n, sizeof(how)));
	out_text(out, "{ .flags: ");
	syscall_put_value(out, ARG_OPEN, how[0], prefix);
	if (how[1]) {
		out_text(out, ", .mode: ");
		syscall_put_value(out, ARG_MODE, how[1], prefix);
	}
	if (how[2]) {
		out_text(out, ", .resolve: 0x");
		out_hex(out, how[2]);
	}
	out_text(out, " }");
}

static void put_pointer(struct out *out, uint64_t value)
{
	if (!value) {
		out_text(out, "NULL");
		return;
	}
	out_bytes(out, "0x", 2);
	out_hex(out, value);
}

// A list as the program of bpf_texts wrote it. What could not be read or is too long is a pointer or dots.
static void put_list(struct out *out, const char *p, size_t n)
{
	const char *end = p + n;
	uint64_t pointer;
	const char *between = "";

	out_char(out, '[');
	for (; p < end; between = ", ") {
		char item = *p++;

		if (item == BPF_TEXTS_ITEM_NULL)
			break;
		out_text(out, between);
		n = (size_t)(end - p);
		if (item == BPF_TEXTS_ITEM_STRING) {
			// The last byte that fits may be in the place of more.
			size_t length = strnlen(p, n), shown = MIN(length, BPF_TEXTS_LIST_STRING - 2);

			put_quoted(out, p, shown, shown < length);
			p += MIN(length + 1, n);
		} else if (item == BPF_TEXTS_ITEM_POINTER && n >= sizeof(pointer)) {
			memcpy(&pointer, p, sizeof(pointer));
			put_pointer(out, pointer);
			p += sizeof(pointer);
		} else {
			out_text(out, "...");
			break;
		}
	}
	out_char(out, ']');
}

// Of the system call that a thread is in.
struct argument {
	const struct trace_thread *thread;
	unsigned number;
	enum syscall_kind kind;
};

// What the kernel read for this argument; false: nothing.
static bool put_payload(const struct trace *trace, const struct argument *argument, struct out *out)
{
	const struct trace_thread *thread = argument->thread;
	const struct trace_payload *payload = &thread->payload;
	const enum syscall_kind kind = argument->kind;
	const unsigned arg = argument->number;
	bool prefix = trace->look.prefix;

	for (uint32_t i = 0; payload->there && i < payload->pieces_n; i++) {
		const char *p = payload->bytes + payload->pieces[i].at;
		size_t n = payload->pieces[i].size;

		if (payload->pieces[i].arg != arg)
			continue;
		if (kind == ARG_ARGV && *p == BPF_TEXTS_ITEM_UNREAD)
			return false;
		if (kind == ARG_SOCKADDR)
			syscall_put_sockaddr(out, p, n, prefix);
		else if (kind == ARG_TIMESPEC)
			syscall_put_timespec(out, p, n);
		else if (kind == ARG_OPEN_HOW)
			put_how(out, p, n, prefix);
		else if (kind == ARG_ARGV)
			put_list(out, p, n);
		else if (kind == ARG_BUF)
			put_quoted(out, p, n, thread->args[arg + 1] > n);
		else
			put_quoted(out, p, strnlen(p, n), false);
		return true;
	}
	return false;
}

void trace_put_pid(struct trace *trace, int64_t pid, struct out *out)
{
	const struct task *task = pid > 0 ? sym_find_task(trace->feed->sym, (uint32_t)pid) : NULL;

	out_i64(out, pid);
	if (task && task->comm_set) {
		out_text(out, " (");
		put_comm(trace, (uint32_t)pid, out);
		out_char(out, ')');
	}
}

static void put_value(struct trace *trace, const struct argument *argument, struct out *out)
{
	const struct trace_thread *thread = argument->thread;
	const uint64_t value = thread->args[argument->number];

	switch (argument->kind) {
	case ARG_PATH:
	case ARG_TEXT:
	case ARG_BUF:
	case ARG_SOCKADDR:
	case ARG_TIMESPEC:
	case ARG_OPEN_HOW:
	case ARG_ARGV:
		if (!put_payload(trace, argument, out))
			put_pointer(out, value);
		return;
	case ARG_PTR:
		put_pointer(out, value);
		return;
	case ARG_FDAT:
		if ((int32_t)value == -100)
			out_text(out, trace->look.prefix ? "AT_FDCWD" : "CWD");
		else
			trace_put_fd(trace, thread->pid, (int32_t)value, out);
		return;
	case ARG_FD:
	case ARG_FD32:
		trace_put_fd(trace, thread->pid, (int32_t)value, out);
		return;
	case ARG_FD_NEW:
		trace_put_new_fd(trace, thread->pid, (int32_t)value, out);
		return;
	case ARG_PID:
		trace_put_pid(trace, (int32_t)value, out);
		return;
	default:
		syscall_put_value(out, argument->kind, value, trace->look.prefix);
	}
}

// The kind of an argument that depends on others; *ret_none: the call does not take it.
static enum syscall_kind kind_of(const struct trace_thread *thread, unsigned arg,
				 enum syscall_kind kind, bool *ret_none)
{
	enum { SO_SOCKET = 1, PR_SET_NAME_ = 15, PR_SET_MM_ = 35 };
	const uint64_t *args = thread->args;
	enum syscall_kind ret;

	switch (kind) {
	case ARG_FCNTL_ARG:
		return syscall_fcntl_arg((uint32_t)args[1], ret_none, &ret);
	case ARG_SO:
		return (uint32_t)args[1] == SO_SOCKET ? ARG_SO : ARG_INT;
	case ARG_PRCTL_ARG2:
		return args[0] == PR_SET_NAME_ ? ARG_PTR
		       : args[0] == PR_SET_MM_ ? ARG_PRCTL_MM
					       : ARG_LONG;
	case ARG_PRCTL_ARG3:
		return args[0] == PR_SET_MM_ ? ARG_PTR : ARG_LONG;
	default:
		return thread->is_32bit && kind == ARG_LONG ? ARG_INT : kind;
	}
}

// Arguments that the values of others make meaningless, a bit for each.
static unsigned without(const struct trace_thread *thread, const struct syscall_def *def)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < def->args_n; i++) {
		if (def->args[i].kind == ARG_FUTEX_OP)
			mask |= ~syscall_futex_args((uint32_t)thread->args[i]);
		else if (def->args[i].kind == ARG_OPEN && i + 1 < def->args_n &&
			 def->args[i + 1].kind == ARG_MODE && !(thread->args[i] & O_MAKES))
			mask |= 1u << (i + 1); // only a new file has a mode
		else if (def->args[i].kind == ARG_MAP && thread->args[i] & 0x20)
			mask |= 3u << (i + 1); // of an anonymous mapping: file and offset
		else if (def->args[i].kind == ARG_KCMP && thread->args[i] && thread->args[i] != 7)
			mask |= 3u << (i + 1); // only of KCMP_FILE and KCMP_EPOLL_TFD
	}
	return mask;
}

void trace_put_args(struct trace *trace, const struct trace_thread *thread,
		    const struct syscall_def *def, struct out *out)
{
	unsigned hidden = without(thread, def);
	bool first = true;

	for (unsigned i = 0; i < def->args_n; i++) {
		bool none = false;
		enum syscall_kind kind = kind_of(thread, i, def->args[i].kind, &none);

		if (none || hidden >> i & 1)
			continue;
		// As perf does: what is 0 has nothing to say, but where 0 has a name.
		if (!thread->args[i] && !trace->look.zeros && !syscall_shows_zero(kind))
			continue;
		if (!first)
			out_bytes(out, ", ", 2);
		first = false;
		if (!trace->look.no_names) {
			out_text(out, def->args[i].name);
			out_bytes(out, ": ", 2);
		}
		put_value(trace, &(struct argument){thread, i, kind}, out);
	}
}

// ---- lines

static const char *call_name(const struct syscall_def *def, uint32_t number, char *room, size_t size)
{
	if (def)
		return def->name;
	snprintf(room, size, "syscall_%u", number);
	return room;
}

// "openat(dfd: CWD, ..." without the closing parenthesis; returns where it begins in the line.
static size_t put_call(struct trace *trace, const struct trace_thread *thread)
{
	static const struct syscall_def unknown = {
		.args_n = SYSCALL_ARGS,
		.args = {{"arg1", ARG_HEX},
			 {"arg2", ARG_HEX},
			 {"arg3", ARG_HEX},
			 {"arg4", ARG_HEX},
			 {"arg5", ARG_HEX},
			 {"arg6", ARG_HEX}},
	};
	const struct syscall_def *def = trace_def(trace, thread, thread->number);
	struct out *out = &trace->line;
	size_t start = out->n;
	char room[32];

	out_text(out, call_name(def, thread->number, room, sizeof(room)));
	out_char(out, '(');
	trace_put_args(trace, thread, def ? def : &unknown, out);
	return start;
}

static void put_result(struct trace *trace, const struct trace_thread *thread, int64_t ret)
{
	const struct syscall_def *def = trace_def(trace, thread, thread->number);
	struct out *out = &trace->line;
	enum syscall_kind kind;
	const char *name;
	bool none;

	if (thread->is_32bit)
		ret = (int32_t)ret;
	if (ret < 0 && ret >= LEAST_ERROR) {
		name = syscall_errno_name((unsigned)-ret);
		out_text(out, "-1 ");
		if (name)
			out_text(out, name);
		else
			out_printf(out, "errno %u", (unsigned)-ret);
		out_printf(out, " (%s)", syscall_errno_text((unsigned)-ret));
		return;
	}
	if (def && def->args_n > 2 && def->args[2].kind == ARG_FCNTL_ARG && ret > 0) {
		syscall_fcntl_arg((uint32_t)thread->args[1], &none, &kind);
		if (kind == ARG_PID)
			trace_put_pid(trace, ret, out);
		else
			syscall_put_value(out, kind, (uint64_t)ret, trace->look.prefix);
		if (kind == ARG_FD) // a copy of the one that it was made of
			trace_put_file(trace, thread->pid, (int32_t)thread->args[0], out);
		return;
	}
	switch (def ? (enum syscall_ret)def->ret : SYSCALL_RET_NUMBER) {
	case SYSCALL_RET_HEX:
		if (ret)
			out_text(out, "0x");
		out_hex(out, thread->is_32bit ? (uint32_t)ret : (uint64_t)ret);
		return;
	case SYSCALL_RET_PID:
		trace_put_pid(trace, ret, out);
		return;
	case SYSCALL_RET_TIMEOUT:
		out_text(out, ret ? "" : "0 (Timeout)");
		if (!ret)
			return;
		break;
	default:
		break;
	}
	out_i64(out, ret);
}

// Up to where the result stands, at least one space; `printed` is the length of the call.
static void put_gap(struct trace *trace, size_t printed)
{
	unsigned alignment = trace->look.alignment;

	out_fill(&trace->line, ' ', printed < alignment ? alignment - printed : 1);
}

void trace_print_exit(struct trace *trace, struct trace_thread *thread, const uint64_t *duration_ns,
		      int64_t ret)
{
	struct out *out = &trace->line;
	size_t start;

	trace_put_head(trace, thread, thread->entered ? thread->entry_ns : 0, duration_ns);
	if (thread->pending) {
		start = put_call(trace, thread);
	} else {
		char room[32];

		start = out->n;
		out_text(out, " ... [");
		if (trace->colors)
			out_text(out, YELLOW);
		out_text(out, "continued");
		if (trace->colors)
			out_text(out, PLAIN);
		out_text(out, "]: ");
		out_text(out, call_name(trace_def(trace, thread, thread->number), thread->number,
					room, sizeof(room)));
		out_text(out, "()");
		if (trace->colors)
			start += sizeof(YELLOW PLAIN) - 1;
	}
	out_char(out, ')');
	put_gap(trace, out->n - start);
	out_text(out, "= ");
	put_result(trace, thread, ret);
}

void trace_print_interrupted(struct trace *trace)
{
	struct trace_thread *thread = trace->current;
	size_t start, n;

	if (!thread || !thread->pending || trace->options->failure)
		return;
	trace_put_head(trace, thread, thread->entry_ns, NULL);
	start = put_call(trace, thread);
	out_char(&trace->line, ')');
	n = trace->line.n - start;
	if (n + 4 < trace->look.alignment)
		out_fill(&trace->line, ' ', trace->look.alignment - 4 - n);
	out_text(&trace->line, " ...");
	end_line(trace);
	thread->pending = false;
	trace->printed_n++;
}

void trace_print_no_return(struct trace *trace, struct trace_thread *thread)
{
	size_t start;

	trace_put_head(trace, thread, thread->entry_ns, NULL);
	start = put_call(trace, thread);
	out_char(&trace->line, ')');
	put_gap(trace, trace->line.n - start);
	out_text(&trace->line, "= ?");
	end_line(trace);
}
