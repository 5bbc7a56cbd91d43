// SPDX-License-Identifier: GPL-2.0-or-later
#include "abi/mem_levels.h"
#include "cmd/core/script/parts.h"
#include "base/time.h"
#include <ctype.h>
#include <stdio.h>

static const char *const x86_registers[] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP",  "SP",  "IP",	 "FLAGS", "CS",	 "SS",
	"DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13",	  "R14", "R15",
};
static const char *const xmm_registers[] = {
	"XMM0", "XMM1", "XMM2",	 "XMM3",  "XMM4",  "XMM5",  "XMM6",  "XMM7",
	"XMM8", "XMM9", "XMM10", "XMM11", "XMM12", "XMM13", "XMM14", "XMM15",
};
static const char *const arm64_registers[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",	    "x10", "x11",
	"x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",	    "x22", "x23",
	"x24", "x25", "x26", "x27", "x28", "x29", "lr",	 "sp",	"pc",  [46] = "vg",
};
static const char *const arm_registers[] = {
	"r0", "r1", "r2",  "r3", "r4", "r5", "r6", "r7",
	"r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc",
};

const char *register_name(const char *arch, unsigned bit)
{
	const char *const *names = x86_registers;
	size_t n = ARRAY_SIZE(x86_registers);

	if (arch && (!strcmp(arch, "aarch64") || text_starts(arch, "arm64"))) {
		names = arm64_registers;
		n = ARRAY_SIZE(arm64_registers);
	} else if (arch && text_starts(arch, "arm")) {
		names = arm_registers;
		n = ARRAY_SIZE(arm_registers);
	} else if (bit >= 32 && bit < 64) {
		return xmm_registers[(bit - 32) / 2];
	}
	return bit < n && names[bit] ? names[bit] : "unknown";
}

void put_registers(struct out *out, const char *arch, struct registers registers)
{
	if (!registers.abi || !registers.v)
		return;
	out_bytes(out, " ABI:", 5);
	out_u64(out, registers.abi);
	out_char(out, ' ');
	for (uint64_t rest = registers.mask; rest; rest &= rest - 1) {
		out_text_right(out, register_name(arch, (unsigned)__builtin_ctzll(rest)), 5);
		out_bytes(out, ":0x", 3);
		out_hex(out, *registers.v++);
		out_char(out, ' ');
	}
}

const char *branch_type(const struct perf_branch_entry *branch)
{
	static const char *const names[] = {
		"",	  "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",	"SYSCALL",
		"SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX",
	};
	static const char *const more_names[] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
		"ARCH_2",     "ARCH_3",	    "ARCH_4",	  "ARCH_5",
	};
	uint64_t flags;

	// The bits of newer headers: type at 20, new_type at 26 (4 bits each).
	memcpy(&flags, (const char *)branch + 16, sizeof(flags));
	unsigned type = flags >> 20 & 15, more = flags >> 26 & 15;
	if (type < ARRAY_SIZE(names))
		return names[type];
	return more < ARRAY_SIZE(more_names) ? more_names[more] : "(null)";
}

static void put_branch_flags(struct out *out, const struct perf_branch_entry *branch)
{
	char marks[] = {'/', '-', '/', '-', '/', '-', '/'};

	if (branch->mispred || branch->predicted)
		marks[1] = branch->predicted ? 'P' : 'M';
	if (branch->in_tx)
		marks[3] = 'X';
	if (branch->abort)
		marks[5] = 'A';
	out_bytes(out, marks, sizeof(marks));
	out_u64(out, branch->cycles);
	out_char(out, '/');
	out_text(out, branch_type(branch));
	out_char(out, ' ');
}

static void put_branch_end(struct out *out, const struct branches *branches, uint64_t addr)
{
	const struct chains *chains = branches->chains;
	const enum field field = branches->field;
	struct location where = {0};

	if (field != FIELD_BRSTACK || branches->dso)
		where = sym_resolve_guess(chains->sym, branches->task, branches->sample->cpumode,
					  addr);
	if (field == FIELD_BRSTACKSYM) {
		put_symbol(out, chains, &where, true);
	} else {
		if (field == FIELD_BRSTACKOFF && where.map && where.dso && !where.dso->adjust_symbols)
			addr = where.addr;
		out_bytes(out, "0x", 2);
		out_hex(out, addr);
	}
	if (branches->dso) {
		out_char(out, '(');
		put_dso(out, chains, &where);
		out_char(out, ')');
	}
}

void put_branches(struct out *out, const struct branches *branches)
{
	const struct sample *sample = branches->sample;

	for (uint64_t i = 0; sample->branches && i < sample->branch_n; i++) {
		const struct perf_branch_entry *branch = &sample->branches[i];

		if (branches->field != FIELD_BRSTACKSYM)
			out_char(out, ' ');
		put_branch_end(out, branches, branch->from);
		out_char(out, '/');
		put_branch_end(out, branches, branch->to);
		put_branch_flags(out, branch);
	}
}

// Names of the set bits, joined by " or ". False: none is.
static bool put_bit_names(struct out *out, uint64_t bits, const char *const *names, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (!(bits >> i & 1))
			continue;
		out_text(out, any ? " or " : "");
		out_text(out, names[i]);
		any = true;
	}
	return any;
}

static void data_src_level(struct out *out, const union perf_mem_data_src *src)
{
	static const char *const hops[8] = {
		"N/A", "core, same node", "node, same socket", "socket, same board", "board",
	};
	uint64_t bits = src->mem_lvl & ~(uint64_t)(PERF_MEM_LVL_HIT | PERF_MEM_LVL_MISS);
	bool named = false;

	if (src->mem_remote)
		out_text(out, "Remote ");
	if (src->mem_hops) {
		const char *hop = hops[src->mem_hops];

		out_text(out, hop ? hop : "(null)");
		out_char(out, ' ');
	} else {
		named = put_bit_names(out, bits, mem_level_bits, ARRAY_SIZE(mem_level_bits));
	}
	if (src->mem_lvl_num) {
		const char *name = mem_level_numbers[src->mem_lvl_num];

		out_text(out, named ? " or " : "");
		if (name)
			out_text(out, name);
		else
			out_printf(out, "L%d", (int)src->mem_lvl_num);
	} else if (!named && !src->mem_remote && !src->mem_hops) {
		out_text(out, "N/A");
	}
	if (src->mem_lvl & PERF_MEM_LVL_HIT)
		out_text(out, " hit");
	if (src->mem_lvl & PERF_MEM_LVL_MISS)
		out_text(out, " miss");
}

static void data_src_tlb(struct out *out, const union perf_mem_data_src *src)
{
	static const char *const names[] = {"N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"};
	uint64_t bits = src->mem_dtlb & ~(uint64_t)(PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS);

	if (!put_bit_names(out, bits, names, ARRAY_SIZE(names)))
		out_text(out, "N/A");
	if (src->mem_dtlb & PERF_MEM_TLB_HIT)
		out_text(out, " hit");
	if (src->mem_dtlb & PERF_MEM_TLB_MISS)
		out_text(out, " miss");
}

static void data_src_snoop(struct out *out, const union perf_mem_data_src *src)
{
	enum { SNOOP_BITS = 5 };
	static const char *const names[] = {"N/A", "None", "Hit", "Miss", "HitM", "Fwd", "Peer"};
	const uint64_t bits = src->mem_snoop | src->mem_snoopx << SNOOP_BITS;

	if (!put_bit_names(out, bits, names, ARRAY_SIZE(names)))
		out_text(out, "N/A");
}

static void data_src_text(struct out *out, const union perf_mem_data_src *src)
{
	static const char *const operations[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
	const char *operation = "No";

	for (size_t i = ARRAY_SIZE(operations); i-- > 0;) {
		if (src->mem_op >> i & 1)
			operation = operations[i];
	}
	out_text(out, "|OP ");
	out_text(out, operation);
	out_text(out, "|LVL ");
	data_src_level(out, src);
	out_text(out, "|SNP ");
	data_src_snoop(out, src);
	out_text(out, "|TLB ");
	data_src_tlb(out, src);
	out_text(out, "|LCK ");
	out_text(out, src->mem_lock & PERF_MEM_LOCK_NA	     ? "N/A"
		      : src->mem_lock & PERF_MEM_LOCK_LOCKED ? "Yes"
							     : "No");
	out_text(out, "|BLK ");
	if (!src->mem_blk || (src->mem_blk & PERF_MEM_BLK_NA)) {
		out_text(out, " N/A");
		return;
	}
	if (src->mem_blk & PERF_MEM_BLK_DATA)
		out_text(out, " Data");
	if (src->mem_blk & PERF_MEM_BLK_ADDR)
		out_text(out, " Addr");
}

void put_data_src(struct out *out, uint64_t data_src, size_t *width)
{
	const union perf_mem_data_src src = {.val = data_src};
	struct out text;
	size_t n;

	out_init_memory(&text);
	put_hex16(&text, data_src);
	out_char(&text, ' ');
	data_src_text(&text, &src);
	// perf's texts have 99 bytes at most.
	n = MIN(text.n, (size_t)99);
	*width = MAX(*width, n);
	out_bytes(out, text.buf, n);
	out_fill(out, ' ', *width - n);
	out_done(&text);
}

void put_page_size(struct out *out, uint64_t size)
{
	unsigned unit = 0;

	if (!size) {
		out_text(out, "N/A");
		return;
	}
	while (size / 1024 > 1 && unit < 3) {
		size /= 1024;
		unit++;
	}
	out_u64(out, size);
	out_char(out, "BKMG"[unit]);
}

void put_bpf_output(struct out *out, const uint8_t *data, uint32_t size)
{
	bool seen_nul = false, text = true;

	out_char(out, '\n');
	for (uint32_t i = 0; i < size; i += 8) {
		uint32_t n = MIN(size - i, 8u);

		out_text_right(out, i ? "           " : "BPF output:", 17);
		out_printf(out, " %04x:", i);
		for (uint32_t k = 0; k < 8; k++) {
			if (k < n)
				out_printf(out, " %02x", data[i + k]);
			else
				out_text(out, "   ");
		}
		out_text(out, "  ");
		for (uint32_t k = 0; k < n; k++) {
			uint8_t c = data[i + k];

			if (seen_nul && c)
				text = false;
			out_char(out, isprint(c) ? (char)c : '.');
			if (!isprint(c) && text) {
				if (c)
					text = false;
				else
					seen_nul = true;
			}
		}
		out_fill(out, ' ', 8 - n);
		out_char(out, '\n');
	}
	if (text && seen_nul)
		out_printf(out, "%17s \"%s\"\n", "BPF string:", (const char *)data);
}

void put_misc(struct out *out, uint32_t type, uint16_t misc)
{
	static const struct {
		uint16_t bits;
		char letter;
	} modes[] = {
		{PERF_RECORD_MISC_KERNEL, 'K'},	    {PERF_RECORD_MISC_USER, 'U'},
		{PERF_RECORD_MISC_HYPERVISOR, 'H'}, {PERF_RECORD_MISC_GUEST_KERNEL, 'G'},
		{PERF_RECORD_MISC_GUEST_USER, 'g'},
	};
	char text[8];
	int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if ((misc & modes[i].bits) == modes[i].bits)
			text[n++] = modes[i].letter;
	}
	// One bit with three meanings.
	if (misc & PERF_RECORD_MISC_MMAP_DATA) {
		if (type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2)
			text[n++] = 'M';
		else if (type == PERF_RECORD_COMM)
			text[n++] = 'E';
		else if (type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE)
			text[n++] = 'S';
	}
	if (n && text[n - 1] == 'S' && (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT))
		text[n++] = 'p';
	out_bytes(out, text, (size_t)n);
	out_fill(out, ' ', (size_t)MAX(6 - n, 1));
}

void put_time_of_day(struct out *out, const struct recording_info *info, uint64_t time, bool ns)
{
	uint64_t tod = info->wall_clock_ns + (time - info->clock_id_time_ns);
	time_t sec = (time_t)(tod / NSEC_PER_SEC);
	uint64_t fraction = tod % NSEC_PER_SEC;
	struct tm broken;
	char date[64];

	if (!info->has_clock_data) {
		out_text(out, "disabled");
		return;
	}
	localtime_r(&sec, &broken);
	strftime(date, sizeof(date), "%F %H:%M:%S", &broken);
	out_text(out, date);
	out_char(out, '.');
	out_u64_zeros(out, ns ? fraction : fraction / 1000, ns ? 9 : 6);
}
