// SPDX-License-Identifier: GPL-2.0-or-later
// Branch stacks are walked by perf's rules: from the target of one branch to the next one, oldest first; what the rings of the
// processor left out (entries into the kernel, late branches) is passed over as perf does.
//
// Instructions in script (cmd/script/insns) are read by sym/code and cut by obj/disasm; each one that was met is kept by (file,
// address), as branch stacks pass the same ones again and again. Only their lengths and bytes are printed, as perf does without
// xed.
#include "cmd/script/insns.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "obj/disasm.h"
#include "sym/code.h"

enum {
	MOST_BLOCK = 16384 - 16, // bytes between two branches
	MOST_SIZE = 15,		 // of an instruction of x86
	MISSED_BRANCH = 128,	 // bytes in which a branch that the stack lacks is looked for
};

struct insn {
	uint8_t size; // 0: no code here
	bool is_branch, is_bad;
	uint8_t bytes[MOST_SIZE];
	const char *text; // NULL: not asked for
};

struct dso_code {
	struct code *code; // NULL: not here
	struct disasm *disasm;
	bool opened, said_missing;
};

struct insns {
	struct chains *chains;
	VEC(struct dso_code) codes; // by the dso's id
	struct map seen;	    // hash of dso and address: index in all + 1
	VEC(struct insn) all;
	struct arena texts;
};

// One sample's way through its instructions.
struct walk {
	struct insns *insns;
	const struct insns_options *options;
	struct out *out;
	struct task *task;
	const struct sample *sample;
	const struct symbol *shown; // whose name was printed last
	uint32_t cycles;	    // of all blocks
	int err;
};

struct insns *insns_new(struct chains *chains)
{
	struct insns *insns = NEW(struct insns);

	insns->chains = chains;
	return insns;
}

void insns_free(struct insns *insns)
{
	if (!insns)
		return;
	for (size_t i = 0; i < insns->codes.n; i++) {
		code_free(insns->codes.v[i].code);
		disasm_free(insns->codes.v[i].disasm);
	}
	vec_done(&insns->codes);
	vec_done(&insns->all);
	map_done(&insns->seen);
	arena_done(&insns->texts);
	free(insns);
}

static const char *name_of(void *arg, uint64_t addr, uint64_t *ret_offset)
{
	return code_name(arg, addr, ret_offset);
}

static void say_missing(struct dso_code *code, const struct dso *dso)
{
	// Once a file.
	if (!code->said_missing)
		warn("Can't show instructions of %s: %s", dso->short_name, err_sentence());
	code->said_missing = true;
	err_clear();
}

static struct dso_code *code_of(struct insns *insns, struct dso *dso)
{
	struct dso_code *code;

	while (insns->codes.n <= dso->id)
		vec_push(&insns->codes, (struct dso_code){0});
	code = &insns->codes.v[dso->id];
	if (!code->opened) {
		code->opened = true;
		if (code_new(&code->code, insns->chains->sym, dso) < 0) {
			code->code = NULL;
			say_missing(code, dso);
		}
	}
	return code;
}

// In it are names of symbols.
static const char *keep_text(struct insns *insns, struct out *text)
{
	const char *kept;
	struct out shown;

	out_init_memory(&shown);
	out_char(text, 0);
	put_name(&shown, insns->chains, text->buf);
	kept = arena_strdup(&insns->texts, (struct str){shown.buf, shown.n});
	out_done(&shown);
	return kept;
}

static bool wants_text(const struct insns_options *options)
{
	return options->fields & (FIELD_BIT(DISASM) | FIELD_BIT(BRSTACKDISASM));
}

static int decode(const struct walk *walk, struct dso *dso, uint64_t addr, struct insn *ret)
{
	struct insns *insns = walk->insns;
	struct dso_code *code = code_of(insns, dso);
	struct disasm_insn decoded;
	struct code_bytes bytes;
	struct out text;

	*ret = (struct insn){0};
	if (!code->code)
		return 0;
	if (code_read(code->code, addr, addr + MOST_SIZE, &bytes) < 0) {
		say_missing(code, dso);
		return 0;
	}
	if (!bytes.bytes.n)
		return 0;
	if (!code->disasm) {
		const struct disasm_options options = {
			.machine = bytes.machine,
			.is_64bit = bytes.is_64bit,
			.big_endian = bytes.big_endian,
			.name_of = name_of,
			.arg = code->code,
		};
		int err = disasm_new(&code->disasm, &options);

		if (err < 0)
			return err;
	}
	out_init_memory(&text);
	decoded = disasm_next(code->disasm, bytes.bytes, bytes.addr, &text);
	ret->size = (uint8_t)decoded.size;
	// Where libcapstone doesn't know an instruction whose length is clear, the length does.
	ret->is_bad = decoded.is_bad && decoded.size == 1;
	ret->is_branch = decoded.kind != DISASM_PLAIN || decoded.is_trap;
	memcpy(ret->bytes, bytes.bytes.p, MIN(ret->size, MOST_SIZE));
	if (wants_text(walk->options))
		ret->text = keep_text(insns, &text);
	out_done(&text);
	return 0;
}

// The instruction at an address of a dso; NULL: there is none, or an error (walk->err).
static const struct insn *insn_at(struct walk *walk, const struct location *at, uint64_t ip)
{
	struct insns *insns = walk->insns;
	uint64_t addr = at->addr + (ip - at->ip), *index;
	struct insn *insn;
	bool is_new;

	if (!at->dso)
		return NULL;
	index = map_at(&insns->seen, hash_mix(at->dso->id + 1ull, addr), &is_new);
	if (is_new) {
		vec_push(&insns->all, (struct insn){0});
		*index = insns->all.n;
	}
	insn = &insns->all.v[*index - 1];
	if (is_new || (insn->size && !insn->text && wants_text(walk->options)))
		walk->err = decode(walk, at->dso, addr, insn);
	return insn->size && !walk->err ? insn : NULL;
}

static void put_bytes(struct out *out, const struct insn *insn)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < insn->size; i++) {
		out_char(out, digits[insn->bytes[i] >> 4]);
		out_char(out, digits[insn->bytes[i] & 15]);
		if (i + 1 < insn->size)
			out_char(out, ' ');
	}
}

// width: that the text has at least.
static void put_insn(struct walk *walk, uint64_t ip, const struct insn *insn, unsigned width)
{
	uint64_t digits[] = {hex8((uint32_t)(ip >> 32)), hex8((uint32_t)ip)};
	const char *text = walk->options->fields & FIELD_BIT(BRSTACKDISASM) && insn->text ? insn->text
			   : insn->is_bad						  ? "<bad>"
											  : NULL;
	size_t n = text ? strlen(text) : 6 + 3 * (size_t)insn->size;
	struct out *out = walk->out;

	out_char(out, '\t');
	out_bytes(out, (const char *)digits, 16);
	out_char(out, '\t');
	if (text) {
		out_bytes(out, text, n);
	} else {
		out_bytes(out, "insn: ", 6);
		put_bytes(out, insn);
		out_char(out, ' ');
	}
	if (n < width)
		out_fill(out, ' ', width - n);
}

static uint32_t known_size(const struct insn *insn)
{
	return insn->is_bad ? 0 : insn->size;
}

static void end_of_insn(struct walk *walk, uint8_t cpumode, uint64_t ip)
{
	out_char(walk->out, '\n');
	if (walk->options->after)
		walk->options->after(walk->options->arg, walk->out,
				     &(struct insn_place){walk->task, cpumode, ip});
}

static void put_plain(struct walk *walk, uint8_t cpumode, uint64_t ip, const struct insn *insn)
{
	put_insn(walk, ip, insn, 0);
	if (walk->options->fields & FIELD_BIT(BRSTACKINSNLEN))
		out_printf(walk->out, "\tilen: %u", known_size(insn));
	if (known_size(insn))
		end_of_insn(walk, cpumode, ip);
	else
		out_char(walk->out, '\n');
}

// The instruction that a block ends with.
struct jump {
	uint8_t cpumode;
	uint64_t ip;
	const struct insn *insn;
	const struct perf_branch_entry *branch;
	uint32_t insns; // how many ran since the branch before, this one too; 0: not known
};

static void put_jump(struct walk *walk, const struct jump *jump)
{
	const struct perf_branch_entry *branch = jump->branch;
	struct out *out = walk->out;

	put_insn(walk, jump->ip, jump->insn, 30);
	out_char(out, '\t');
	if (walk->options->fields & FIELD_BIT(BRSTACKINSNLEN))
		out_printf(out, "ilen: %u\t", known_size(jump->insn));
	out_char(out, '#');
	out_text(out, branch->predicted ? " PRED" : "");
	out_text(out, branch->mispred ? " MISPRED" : "");
	out_text(out, branch->in_tx ? " INTX" : "");
	out_text(out, branch->abort ? " ABORT" : "");
	if (branch->cycles) {
		walk->cycles += branch->cycles;
		out_printf(out, " %u cycles [%u]", (unsigned)branch->cycles, walk->cycles);
		if (jump->insns)
			out_printf(out, " %.2f IPC",
				   (double)((float)jump->insns / (float)branch->cycles));
	}
	end_of_insn(walk, jump->cpumode, jump->ip);
}

static void put_line(struct walk *walk, const struct location *at)
{
	struct chains *chains = walk->insns->chains;
	struct source_frame source;
	const char *text = NULL;

	if (source_line(chains->sources, at->dso, at->addr, &source))
		text = source_text(chains->sources, &source);
	if (text) {
		out_char(walk->out, '\t');
		put_name(walk->out, chains, text);
	} else if (!source_exists(chains->sources, at->dso)) {
		out_char(walk->out, '\t');
		put_name(walk->out, chains, at->dso->short_name);
		out_printf(walk->out, "[%llx]", (unsigned long long)at->addr);
	}
}

// The name of the function, when it is another one than that of the line above.
static void put_function(struct walk *walk, uint8_t cpumode, uint64_t ip)
{
	struct chains *chains = walk->insns->chains;
	struct location at;

	at = sym_resolve(chains->sym, walk->task, cpumode, ip);
	if (!at.sym || (at.sym == walk->shown && at.addr >= at.sym->start && at.addr < at.sym->end))
		return;
	out_char(walk->out, '\t');
	put_symbol(walk->out, chains, &at, false);
	if (at.addr > at.sym->start)
		out_printf(walk->out, "+%u", (unsigned)(at.addr - at.sym->start));
	out_char(walk->out, ':');
	if (walk->options->fields & FIELD_BIT(SRCLINE))
		put_line(walk, &at);
	out_char(walk->out, '\n');
	walk->shown = at.sym;
}

enum block { BLOCK_OK, BLOCK_NOTHING, BLOCK_CROSSES };

// Where the code from start to end lies, if it can be read.
static enum block find_block(struct walk *walk, uint64_t start, uint64_t end, struct location *ret)
{
	struct sym *sym = walk->insns->chains->sym;
	uint8_t cpumode = sym_cpumode_of(sym, start);

	if (!start || !end)
		return BLOCK_NOTHING;
	if (cpumode != sym_cpumode_of(sym, end))
		return BLOCK_CROSSES;
	if (end - start > MOST_BLOCK)
		return BLOCK_NOTHING;
	*ret = sym_resolve(sym, walk->task, cpumode, start);
	return ret->map && insn_at(walk, ret, start) ? BLOCK_OK : BLOCK_NOTHING;
}

static void put_block(struct walk *walk, const struct location *at, uint64_t end,
		      const struct perf_branch_entry *branch)
{
	static const struct insn cut = {.size = 1, .is_bad = true};
	uint64_t ip = at->ip, limit = end + MOST_SIZE; // perf reads so far
	const struct insn *insn;

	for (uint32_t n = 1; ip < limit && (insn = insn_at(walk, at, ip)); n++) {
		if (ip + insn->size > limit)
			insn = &cut;
		put_function(walk, at->cpumode, ip);
		if (ip == end) {
			put_jump(walk, &(struct jump){at->cpumode, ip, insn, branch, n});
			break;
		}
		put_plain(walk, at->cpumode, ip, insn);
		if (!known_size(insn))
			break;
		ip += insn->size;
	}
	if (ip != end)
		out_text(walk->out, "\tmismatch of LBR data and executable\n");
}

// From the newest branch to the sample.
static void put_last_block(struct walk *walk)
{
	uint64_t start = walk->sample->branches[0].to, end = walk->sample->ip, ip;
	struct sym *sym = walk->insns->chains->sym;
	const struct insn *insn;
	struct location at;

	if (end < start)
		end = start + MISSED_BRANCH;
	if (find_block(walk, start, end, &at) != BLOCK_OK) {
		put_function(walk, sym_cpumode_of(sym, start), start);
		if (find_block(walk, walk->sample->ip, walk->sample->ip, &at) == BLOCK_OK)
			put_plain(walk, at.cpumode, at.ip, insn_at(walk, &at, at.ip));
		return;
	}
	put_function(walk, at.cpumode, start);
	for (ip = start; ip <= end && (insn = insn_at(walk, &at, ip)); ip += insn->size) {
		put_insn(walk, ip, insn, 0);
		if (walk->options->fields & FIELD_BIT(BRSTACKINSNLEN))
			out_printf(walk->out, "\tilen: %u", known_size(insn));
		out_char(walk->out, '\n');
		if (!known_size(insn))
			break;
		if (insn->is_branch && ip != walk->sample->ip) {
			out_text(walk->out, "\t... not reaching sample ...\n");
			break;
		}
		if (walk->options->after)
			walk->options->after(walk->options->arg, walk->out,
					     &(struct insn_place){walk->task, at.cpumode, ip});
	}
}

static void put_branch_blocks(struct walk *walk)
{
	const struct perf_branch_entry *branches = walk->sample->branches;
	uint64_t n = branches ? walk->sample->branch_n : 0, most = walk->options->max_blocks;
	struct location at;

	if (!n)
		return;
	if (most && n > most + 1)
		n = most + 1;
	out_char(walk->out, '\n');
	// Where the block of the oldest branch began isn't known.
	if (find_block(walk, branches[n - 1].from, branches[n - 1].from, &at) == BLOCK_OK) {
		put_function(walk, at.cpumode, at.ip);
		put_jump(walk, &(struct jump){at.cpumode, at.ip, insn_at(walk, &at, at.ip),
					      &branches[n - 1], 0});
	}
	for (uint64_t i = n - 1; i-- > 0 && !walk->err;) {
		uint64_t start = branches[i + 1].to;
		enum block block = find_block(walk, start, branches[i].from, &at);

		// The processor doesn't note the way into the kernel when it was told so, but the way back.
		if (block == BLOCK_CROSSES && i > 0) {
			i--;
			block = find_block(walk, start, branches[i].from, &at);
		}
		if (block == BLOCK_OK)
			put_block(walk, &at, branches[i].from, &branches[i]);
	}
	if (branches[0].from != walk->sample->ip && !branches[0].abort && !walk->err)
		put_last_block(walk);
}

static void put_own(struct walk *walk)
{
	struct sym *sym = walk->insns->chains->sym;
	uint64_t ip = walk->sample->ip, fields = walk->options->fields;
	const struct insn *insn = NULL;
	struct location at;

	if (ip) {
		at = sym_resolve(sym, walk->task, sym_cpumode_of(sym, ip), ip);
		insn = at.map ? insn_at(walk, &at, ip) : NULL;
	}
	if (fields & FIELD_BIT(INSNLEN))
		out_printf(walk->out, " ilen: %u", insn ? known_size(insn) : 0);
	if (!insn || insn->is_bad)
		return;
	if (fields & FIELD_BIT(INSN)) {
		out_text(walk->out, " insn: ");
		put_bytes(walk->out, insn);
	}
	if ((fields & FIELD_BIT(DISASM)) && insn->text) {
		out_text(walk->out, "\t\t");
		out_text(walk->out, insn->text);
	}
}

int insns_put(struct insns *insns, struct task *task, const struct sample *sample,
	      const struct insns_options *options)
{
	struct walk walk = {
		.insns = insns,
		.options = options,
		.out = options->out,
		.task = task,
		.sample = sample,
	};

	if (options->fields & (FIELD_BIT(INSN) | FIELD_BIT(INSNLEN) | FIELD_BIT(DISASM)))
		put_own(&walk);
	if (options->fields & (FIELDS_OF_BRANCH_CODE))
		put_branch_blocks(&walk);
	return walk.err;
}
