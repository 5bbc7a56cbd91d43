// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a program step by step and writes what a processor with branch stacks would have recorded of it: each branch that was
// taken, and at every so many of them a sample with the last 16. For machines that have no such processor. x86-64 only.
// branches FILE SAMPLES EVERY PROGRAM ARGUMENT...; cycles and predictions are made up, by a fixed rule. With CHAINS=1 in the
// environment samples have call chains, too; with BROKEN=1 some branches are missing, wrong, or of the kernel; with ANY_CALL=1
// only calls are branches, as -j any_call has it; with NO_CYCLES=1 there are no cycles.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = 16, CALLS = 256, ARCH = 6, BRANCH_STACK = 15 };

static FILE *out;
static struct perf_branch_entry stack[DEPTH]; // the newest first
static uint64_t stack_n, taken, now = 1000000000;
static uint64_t calls[CALLS];
static unsigned calls_n;
static bool with_chains, broken, only_calls, no_cycles;

static void put(const void *p, size_t n)
{
	fwrite(p, 1, n, out);
}

static void put64(uint64_t v)
{
	put(&v, sizeof(v));
}

static void put_header(uint32_t type, uint16_t misc, size_t size)
{
	put(&(struct perf_event_header){type, misc,
					(uint16_t)(sizeof(struct perf_event_header) + size)},
	    sizeof(struct perf_event_header));
}

// What sample_id_all adds to each record: pid, tid, time.
static void put_ids(uint32_t pid)
{
	put(&(uint32_t[]){pid, pid}, 8);
	put64(now);
}

static void put_comm(uint32_t pid, const char *path)
{
	const char *name = strrchr(path, '/');
	char comm[16] = "";

	strncpy(comm, name ? name + 1 : path, 15);
	put_header(PERF_RECORD_COMM, 0, 8 + 16 + 16);
	put(&(uint32_t[]){pid, pid}, 8);
	put(comm, 16);
	put_ids(pid);
}

static uint64_t seen_maps[256];
static unsigned seen_maps_n;

static void put_maps(uint32_t pid)
{
	char path[64], line[4500];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long start, end, offset;
		char flags[5], name[4200] = "//anon";
		unsigned i;
		size_t n;

		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4199[^\n]", &start, &end, flags, &offset,
			   name) < 4 ||
		    flags[2] != 'x')
			continue;
		for (i = 0; i < seen_maps_n && seen_maps[i] != start; i++)
			;
		if (i < seen_maps_n || i == 256)
			continue;
		seen_maps[seen_maps_n++] = start;
		n = (strlen(name) + 8) & ~7ul;
		memset(name + strlen(name), 0, n - strlen(name));
		put_header(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, 32 + n + 16);
		put(&(uint32_t[]){pid, pid}, 8);
		put(&(uint64_t[]){start, end - start, offset}, 24);
		put(name, n);
		put_ids(pid);
	}
	if (maps)
		fclose(maps);
}

static void put_sample(uint32_t pid, uint64_t ip)
{
	uint64_t chain_n = with_chains ? 2 + calls_n : 0;

	put_header(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
		   32 + (with_chains ? 8 + 8 * chain_n : 0) + 8 + 24 * stack_n);
	put64(ip);
	put_ids(pid);
	put64(1000); // period
	if (with_chains) {
		put64(chain_n);
		put64(PERF_CONTEXT_USER);
		put64(ip);
		for (unsigned i = calls_n; i-- > 0;)
			put64(calls[i]);
	}
	put64(stack_n);
	put(stack, 24 * stack_n);
}

// What processors and the kernel's filters do to stacks.
static void break_stack(uint64_t *ip)
{
	static unsigned turn;

	switch (turn++ % 11) {
	case 1: // a branch that is late
		memmove(stack, stack + 1, sizeof(*stack) * --stack_n);
		break;
	case 2: // one that is lost
		memmove(stack + 4, stack + 5, sizeof(*stack) * (--stack_n - 4));
		break;
	case 3: // the way back from the kernel
		stack[5].from = 0xffffffff81000000;
		break;
	case 4:
		stack[6].from = stack[5].to = 0xffffffff81000000;
		break;
	case 5: // code that isn't there
		stack[7].to = 0x1000;
		break;
	case 6:
		stack[2].from += 1;
		break;
	case 7:
		*ip = stack[9].from;
		break;
	case 8:
		*ip = stack[0].from;
		break;
	case 9:
		stack[0].abort = 1;
		break;
	case 10:
		stack[3].from = stack[3].to = 0;
		break;
	}
}

// The size of a branch instruction, 0: it is none.
static unsigned branch_size(const uint8_t *p, bool *ret_always, bool *ret_call, bool *ret_return)
{
	unsigned prefix = 0, op, size;

	*ret_always = *ret_call = *ret_return = false;
	while (p[prefix] == 0xf2 || p[prefix] == 0xf3 || p[prefix] == 0x3e ||
	       (p[prefix] & 0xf0) == 0x40)
		prefix++;
	op = p[prefix];
	if ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0)
		return prefix + 2;
	if (op == 0x0f && (p[prefix + 1] & 0xf0) == 0x80)
		return prefix + 6;
	*ret_always = true;
	*ret_call = op == 0xe8 || (op == 0xff && (p[prefix + 1] >> 3 & 7) == 2);
	*ret_return = op == 0xc3 || op == 0xc2;
	if (op == 0xeb)
		return prefix + 2;
	if (op == 0xe9 || op == 0xe8)
		return prefix + 5;
	if (*ret_return)
		return prefix + (op == 0xc3 ? 1 : 3);
	if (op != 0xff || ((p[prefix + 1] >> 3 & 7) != 2 && (p[prefix + 1] >> 3 & 7) != 4))
		return 0;
	op = p[prefix + 1];
	size = prefix + 2 + ((op & 7) == 4 && op >> 6 != 3);
	return size + (op >> 6 == 1 ? 1 : op >> 6 == 2 || (op & 0xc7) == 5 ? 4 : 0);
}

static void branch(uint64_t from, uint64_t to)
{
	memmove(stack + 1, stack, sizeof(stack) - sizeof(*stack));
	if (stack_n < DEPTH)
		stack_n++;
	taken++;
	stack[0] = (struct perf_branch_entry){
		.from = from,
		.to = to,
		.mispred = taken % 13 == 0,
		.predicted = taken % 13 != 0,
		.in_tx = taken % 101 == 0,
		.abort = taken % 97 == 0,
		.cycles = taken % 7 && !no_cycles ? taken % 29 : 0,
	};
}

static unsigned long stubs, stubs_n; // where .plt of the program is, and its bytes

static void run(uint32_t pid, uint64_t samples, uint64_t every)
{
	struct user_regs_struct regs;
	uint64_t last = 0, wanted = every, ip;
	uint8_t code[16];
	unsigned size = 0;
	bool always = false, call = false, is_return = false;
	int status;

	while (samples) {
		struct iovec here = {code, sizeof(code)}, there;
		bool was_call = size && call, was_return = size && is_return;

		if (ptrace(PTRACE_GETREGS, pid, 0, &regs))
			return;
		// Stubs have other names in perf; a call through one goes where it leads to.
		if (regs.rip - stubs < stubs_n) {
			if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) ||
			    waitpid((pid_t)pid, &status, 0) < 0 || !WIFSTOPPED(status))
				return;
			continue;
		}
		if (size && (always ? true : regs.rip != last + size)) {
			if (!only_calls || was_call)
				branch(last, regs.rip);
			if (was_call && calls_n < CALLS)
				calls[calls_n++] = last + size;
			while (was_return && calls_n && calls[--calls_n] != regs.rip)
				;
			if (taken == wanted) {
				put_maps(pid);
				now += 1000;
				wanted += every;
				samples--;
				ip = regs.rip;
				if (broken && stack_n == DEPTH)
					break_stack(&ip);
				put_sample(pid, ip);
				stack_n = broken ? 0 : stack_n; // what was changed is not seen again
			}
		}
		last = regs.rip;
		there = (struct iovec){(void *)last, sizeof(code)};
		memset(code, 0x90, sizeof(code));
		process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0);
		size = branch_size(code, &always, &call, &is_return);
		if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) || waitpid((pid_t)pid, &status, 0) < 0 ||
		    !WIFSTOPPED(status))
			return;
	}
}

static void put_features(uint64_t at)
{
	static const struct {
		uint32_t n;
		char text[12];
	} arch = {12, "x86_64"};

	put(&(uint64_t[]){at + 32, sizeof(arch), at + 32 + sizeof(arch), 0}, 32);
	put(&arch, sizeof(arch));
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.sample_period = 1000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_PERIOD | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.mmap = 1,
		.comm = 1,
	};
	const uint64_t attr_at = 104, data_at = attr_at + sizeof(attr) + 16;
	uint64_t header[13] = {0x32454c4946524550, 104,	   sizeof(attr) + 16, attr_at,
			       sizeof(attr) + 16,  data_at};
	uint64_t end;
	pid_t pid;

	with_chains = getenv("CHAINS") != NULL;
	broken = getenv("BROKEN") != NULL;
	only_calls = getenv("ANY_CALL") != NULL;
	if (getenv("STUBS"))
		sscanf(getenv("STUBS"), "%lx %lx", &stubs, &stubs_n);
	if (only_calls)
		attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER;
	no_cycles = getenv("NO_CYCLES") != NULL;
	if (with_chains)
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (argc < 5 || !(out = fopen(argv[1], "w")))
		return 1;
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(1);
		execv(argv[4], argv + 4);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &(int){0}, 0) < 0 || kill(pid, 0))
		return 1;
	put(header, sizeof(header));
	put(&attr, sizeof(attr));
	put(&(uint64_t[]){0, 0}, 16);
	put_comm((uint32_t)pid, argv[4]);
	run((uint32_t)pid, strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
	kill(pid, SIGKILL);
	end = (uint64_t)ftell(out);
	put_features(end);
	header[6] = end - data_at;
	header[9] = 1ull << ARCH | 1ull << BRANCH_STACK;
	rewind(out);
	put(header, sizeof(header));
	return fclose(out) ? 1 : 0;
}
