// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/script/records.h"
#include <stdio.h>
#include <sys/mman.h>

// Hexadecimal as "%#x": zero has no 0x.
static void put_0x(struct out *out, uint64_t v)
{
	if (v)
		out_bytes(out, "0x", 2);
	out_hex(out, v);
}

static void put_pid_tid(struct out *out, uint32_t pid, uint32_t tid)
{
	out_char(out, ' ');
	out_i64(out, (int32_t)pid);
	out_char(out, '/');
	out_i64(out, (int32_t)tid);
}

static void put_range(struct out *out, uint64_t start, uint64_t len, uint64_t pgoff)
{
	out_bytes(out, ": [", 3);
	put_0x(out, start);
	out_char(out, '(');
	put_0x(out, len);
	out_bytes(out, ") @ ", 4);
	put_0x(out, pgoff);
}

static void put_mmap(struct out *out, const struct chains *chains,
		     const struct perf_event_header *header)
{
	const struct record_mmap *mmap = (const void *)header;

	put_pid_tid(out, mmap->pid, mmap->tid);
	put_range(out, mmap->start, mmap->len, mmap->pgoff);
	out_text(out, header->misc & PERF_RECORD_MISC_MMAP_DATA ? "]: r " : "]: x ");
	put_name(out, chains, mmap->filename);
	out_char(out, '\n');
}

static void put_mmap2(struct out *out, const struct chains *chains,
		      const struct perf_event_header *header)
{
	const struct record_mmap2 *mmap = (const void *)header;

	put_pid_tid(out, mmap->pid, mmap->tid);
	put_range(out, mmap->start, mmap->len, mmap->pgoff);
	if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		out_bytes(out, " <", 2);
		for (unsigned i = 0; i < MIN(mmap->build_id_size, (uint8_t)20); i++)
			out_hex_zeros(out, mmap->build_id[i], 2);
		out_char(out, '>');
	} else {
		out_char(out, ' ');
		out_hex_zeros(out, mmap->maj, 2);
		out_char(out, ':');
		out_hex_zeros(out, mmap->min, 2);
		out_char(out, ' ');
		out_u64(out, mmap->ino);
		out_char(out, ' ');
		out_u64(out, mmap->ino_generation);
	}
	out_bytes(out, "]: ", 3);
	out_char(out, mmap->prot & PROT_READ ? 'r' : '-');
	out_char(out, mmap->prot & PROT_WRITE ? 'w' : '-');
	out_char(out, mmap->prot & PROT_EXEC ? 'x' : '-');
	out_char(out, mmap->flags & MAP_SHARED ? 's' : 'p');
	out_char(out, ' ');
	put_name(out, chains, mmap->filename);
	out_char(out, '\n');
}

static void put_comm(struct out *out, const struct chains *chains,
		     const struct perf_event_header *header)
{
	const struct record_comm *comm = (const void *)header;

	out_text(out, header->misc & PERF_RECORD_MISC_COMM_EXEC ? " exec: " : ": ");
	put_name(out, chains, comm->comm);
	out_printf(out, ":%d/%d\n", (int)comm->pid, (int)comm->tid);
}

static void put_task(struct out *out, const struct chains *chains,
		     const struct perf_event_header *header)
{
	const struct record_task *task = (const void *)header;

	out_printf(out, "(%d:%d):(%d:%d)\n", (int)task->pid, (int)task->tid, (int)task->ppid,
		   (int)task->ptid);
}

static void put_namespaces(struct out *out, const struct chains *chains,
			   const struct perf_event_header *header)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	const struct record_namespaces *spaces = (const void *)header;
	uint64_t room = (header->size - sizeof(*spaces)) / sizeof(spaces->link[0]);
	uint32_t n = (uint32_t)MIN(spaces->nr, room);

	put_pid_tid(out, spaces->pid, spaces->tid);
	out_printf(out, " - nr_namespaces: %u\n\t\t[", n);
	for (uint32_t i = 0; i < n; i++) {
		if (i && i % 4 == 0)
			out_text(out, "\n\t\t ");
		out_printf(out, "%u/%s: %llu/%#llx%s", i,
			   i < ARRAY_SIZE(names) ? names[i] : "UNKNOWN",
			   (unsigned long long)spaces->link[i].dev,
			   (unsigned long long)spaces->link[i].ino, i + 1 != n ? ", " : "]\n");
	}
}

static void put_cgroup(struct out *out, const struct chains *chains,
		       const struct perf_event_header *header)
{
	const struct record_cgroup *cgroup = (const void *)header;

	out_text(out, " cgroup: ");
	out_u64(out, cgroup->id);
	out_char(out, ' ');
	put_name(out, chains, cgroup->path);
	out_char(out, '\n');
}

static void put_aux(struct out *out, const struct chains *chains,
		    const struct perf_event_header *header)
{
	const struct record_aux *aux = (const void *)header;

	out_printf(out, " offset: %#llx size: %#llx flags: %#llx [%s%s%s]\n",
		   (unsigned long long)aux->aux_offset, (unsigned long long)aux->aux_size,
		   (unsigned long long)aux->flags, aux->flags & PERF_AUX_FLAG_TRUNCATED ? "T" : "",
		   aux->flags & PERF_AUX_FLAG_OVERWRITE ? "O" : "",
		   aux->flags & PERF_AUX_FLAG_PARTIAL ? "P" : "");
}

static void put_itrace_start(struct out *out, const struct chains *chains,
			     const struct perf_event_header *header)
{
	const struct record_itrace_start *start = (const void *)header;

	out_printf(out, " pid: %u tid: %u\n", start->pid, start->tid);
}

static void put_hw_id(struct out *out, const struct chains *chains,
		      const struct perf_event_header *header)
{
	uint64_t id = 0;

	if (header->size >= sizeof(*header) + 8)
		memcpy(&id, header + 1, sizeof(id));
	out_text(out, " hw_id: ");
	put_0x(out, id);
	out_char(out, '\n');
}

static const char *switch_direction(const struct perf_event_header *header)
{
	if (!(header->misc & PERF_RECORD_MISC_SWITCH_OUT))
		return "IN         ";
	return header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? "OUT preempt" : "OUT        ";
}

static void put_switch(struct out *out, const struct chains *chains,
		       const struct perf_event_header *header)
{
	out_printf(out, " %s\n", switch_direction(header));
}

static void put_switch_cpu_wide(struct out *out, const struct chains *chains,
				const struct perf_event_header *header)
{
	const struct record_switch *to = (const void *)header;

	out_printf(out, " %s  %s pid/tid: %5d/%-5d\n", switch_direction(header),
		   header->misc & PERF_RECORD_MISC_SWITCH_OUT ? "next" : "prev",
		   (int)to->next_prev_pid, (int)to->next_prev_tid);
}

static void put_lost(struct out *out, const struct chains *chains,
		     const struct perf_event_header *header)
{
	out_printf(out, " lost %llu\n",
		   (unsigned long long)((const struct record_lost *)header)->lost);
}

static void put_ksymbol(struct out *out, const struct chains *chains,
			const struct perf_event_header *header)
{
	const struct record_ksymbol *symbol = (const void *)header;

	out_printf(out, " addr %llx len %u type %u flags 0x%x name ",
		   (unsigned long long)symbol->addr, symbol->len, symbol->ksym_type, symbol->flags);
	put_name(out, chains, symbol->name);
	out_char(out, '\n');
}

static void put_bpf(struct out *out, const struct chains *chains,
		    const struct perf_event_header *header)
{
	const struct record_bpf_event *bpf = (const void *)header;

	out_printf(out, " type %u, flags %u, id %u\n", bpf->type, bpf->flags, bpf->id);
}

static void put_poke_bytes(struct out *out, const char *which, const uint8_t *bytes, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (i % 16 == 0)
			out_printf(out, "            %s bytes:", which);
		out_printf(out, " %02x", bytes[i]);
		if (i % 16 == 15 || i + 1 == n)
			out_char(out, '\n');
	}
}

static void put_text_poke(struct out *out, const struct chains *chains,
			  const struct perf_event_header *header)
{
	const struct record_text_poke *poke = (const void *)header;
	unsigned room = header->size - sizeof(*poke);
	unsigned old_n = MIN((unsigned)poke->old_len, room);
	unsigned new_n = MIN((unsigned)poke->new_len, room - old_n);
	struct location where;

	out_printf(out, " %llx ", (unsigned long long)poke->addr);
	where = sym_resolve(chains->sym, sym_task(chains->sym, 0, 0), PERF_RECORD_MISC_KERNEL,
			    poke->addr);
	if (where.sym)
		put_symbol(out, chains, &where, true);
	out_printf(out, " old len %u new len %u\n", poke->old_len, poke->new_len);
	put_poke_bytes(out, "Old", poke->bytes, old_n);
	put_poke_bytes(out, "New", poke->bytes + old_n, new_n);
}

typedef void put_body(struct out *out, const struct chains *chains,
		      const struct perf_event_header *header);

static put_body *const bodies[] = {
	[PERF_RECORD_MMAP] = put_mmap,
	[PERF_RECORD_MMAP2] = put_mmap2,
	[PERF_RECORD_COMM] = put_comm,
	[PERF_RECORD_FORK] = put_task,
	[PERF_RECORD_EXIT] = put_task,
	[PERF_RECORD_NAMESPACES] = put_namespaces,
	[PERF_RECORD_CGROUP] = put_cgroup,
	[PERF_RECORD_AUX] = put_aux,
	[PERF_RECORD_ITRACE_START] = put_itrace_start,
	[PERF_RECORD_SWITCH] = put_switch,
	[PERF_RECORD_SWITCH_CPU_WIDE] = put_switch_cpu_wide,
	[PERF_RECORD_LOST] = put_lost,
	[PERF_RECORD_KSYMBOL] = put_ksymbol,
	[PERF_RECORD_BPF_EVENT] = put_bpf,
	[PERF_RECORD_TEXT_POKE] = put_text_poke,
	[SONDE_RECORD_AUX_OUTPUT_HW_ID] = put_hw_id,
};

bool put_record_body(struct out *out, const struct chains *chains,
		     const struct perf_event_header *header)
{
	if (!record_is_whole(header))
		return false;
	if (header->type < ARRAY_SIZE(bodies) && bodies[header->type])
		bodies[header->type](out, chains, header);
	else
		out_char(out, '\n');
	return true;
}

bool put_record(struct out *out, const struct chains *chains, const struct perf_event_header *header)
{
	if (!record_is_whole(header))
		return false;
	out_text(out, "PERF_RECORD_");
	out_text(out, record_type_name(header->type));
	return put_record_body(out, chains, header);
}
