// SPDX-License-Identifier: GPL-2.0-or-later
// A BPF program with type information whose runs are known: bpf-prog LOOPS RUNS prints its number, waits for a line, and runs it RUNS
// times; each run goes LOOPS times round a loop.
#include <errno.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	long result = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	if (result < 0) {
		fprintf(stderr, "bpf(%d): %s\n", (int)cmd, strerror(errno));
		exit(1);
	}
	return result;
}

// int known(void *)
static int load_types(void)
{
	static const char names[] = "\0int\0known\0context";
	static const struct types {
		struct btf_header header;
		struct btf_type number;
		uint32_t number_bits;
		struct btf_type pointer, prototype;
		struct btf_param parameter;
		struct btf_type function;
		char names[sizeof(names)];
	} types = {
		{.magic = BTF_MAGIC,
		 .version = BTF_VERSION,
		 .hdr_len = sizeof(struct btf_header),
		 .type_len = 4 * sizeof(struct btf_type) + 4 + sizeof(struct btf_param),
		 .str_off = 4 * sizeof(struct btf_type) + 4 + sizeof(struct btf_param),
		 .str_len = sizeof(names)},
		{.name_off = 1, .info = BTF_KIND_INT << 24, .size = 4},
		BTF_INT_SIGNED << 24 | 32,
		{.info = BTF_KIND_PTR << 24, .type = 0},
		{.info = BTF_KIND_FUNC_PROTO << 24 | 1, .type = 1},
		{.name_off = 11, .type = 2},
		{.name_off = 5, .info = BTF_KIND_FUNC << 24, .type = 3},
		"\0int\0known\0context",
	};
	union bpf_attr attr = {.btf = (uintptr_t)&types,
			       .btf_size = offsetof(struct types, names) + sizeof(names)};

	return (int)bpf(BPF_BTF_LOAD, &attr);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = atoi(argv[1])},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 0, .imm = 1},
		{.code = BPF_ALU64 | BPF_SUB | BPF_K, .dst_reg = 1, .imm = 1},
		{.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 1, .off = -3, .imm = 0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	const struct bpf_func_info function = {.insn_off = 0, .type_id = 4};
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(*insns),
		.license = (uintptr_t) "GPL",
		.prog_btf_fd = (uint32_t)load_types(),
		.func_info_rec_size = sizeof(function),
		.func_info = (uintptr_t)&function,
		.func_info_cnt = 1,
	};
	int program = (int)bpf(BPF_PROG_LOAD, &load);
	struct bpf_prog_info info = {0};
	union bpf_attr ask = {.info = {.bpf_fd = (uint32_t)program,
				       .info_len = sizeof(info),
				       .info = (uintptr_t)&info}};

	bpf(BPF_OBJ_GET_INFO_BY_FD, &ask);
	printf("%u\n", info.id);
	fflush(stdout);
	getchar();
	for (long i = atol(argv[2]); i > 0; i--) {
		union bpf_attr run = {.test = {.prog_fd = (uint32_t)program}};

		bpf(BPF_PROG_TEST_RUN, &run);
	}
	return 0;
}
