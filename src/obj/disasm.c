// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/disasm.h"
#include <elf.h>
#include "base/alloc.h"
#include "base/err.h"
#include "obj/disasm_x86.h"

#ifdef HAVE_CAPSTONE

struct disasm {
	struct disasm_options options;
	struct capstone cs;
	cs_insn *insn;
	bool is_x86;
	uint8_t step; // bytes of what is no instruction
};

struct processor {
	uint16_t machine;
	cs_arch arch;
	cs_mode mode, mode_64bit;
	uint8_t step;
};

static const struct processor processors[] = {
	{EM_X86_64, CS_ARCH_X86, CS_MODE_32, CS_MODE_64, 1},
	{EM_386, CS_ARCH_X86, CS_MODE_32, CS_MODE_32, 1},
	{EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, CS_MODE_ARM, 4},
	{EM_ARM, CS_ARCH_ARM, CS_MODE_ARM, CS_MODE_ARM, 4},
	{EM_PPC64, CS_ARCH_PPC, CS_MODE_32, CS_MODE_64, 4},
	{EM_S390, CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, CS_MODE_BIG_ENDIAN, 2},
};

int disasm_new(struct disasm **ret, const struct disasm_options *options)
{
	const struct processor *processor = NULL;
	struct capstone cs = {0};
	struct disasm *disasm;
	cs_mode mode;

	for (size_t i = 0; i < ARRAY_SIZE(processors); i++) {
		if (processors[i].machine == options->machine)
			processor = &processors[i];
	}
	if (!processor)
		return fail(ENOTSUP, "there is no disassembler for machine %u of elf.h",
			    options->machine);
	mode = options->is_64bit ? processor->mode_64bit : processor->mode;
	if (options->big_endian)
		mode = (cs_mode)((unsigned)mode | (unsigned)CS_MODE_BIG_ENDIAN);
	if (!capstone_load(&cs))
		return fail(ENOTSUP,
			    "libcapstone, which decodes instructions, is not here: install libcapstone4");
	if (cs.open(processor->arch, mode, &cs.handle) != CS_ERR_OK)
		return fail(ENOTSUP, "this libcapstone can't decode machine %u of elf.h",
			    options->machine);
	cs.option(cs.handle, CS_OPT_DETAIL, CS_OPT_ON);
	disasm = NEW(struct disasm);
	disasm->options = *options;
	disasm->cs = cs;
	disasm->insn = cs.malloc(cs.handle);
	disasm->is_x86 = processor->arch == CS_ARCH_X86;
	disasm->step = processor->step;
	*ret = disasm;
	return 0;
}

void disasm_free(struct disasm *disasm)
{
	if (!disasm)
		return;
	disasm->cs.free(disasm->insn, 1);
	disasm->cs.close(&disasm->cs.handle);
	free(disasm);
}

void disasm_name(const struct disasm_options *options, uint64_t addr, struct out *out)
{
	uint64_t offset = 0;
	const char *name = options->name_of ? options->name_of(options->arg, addr, &offset) : NULL;

	if (!name)
		return;
	out_text(out, " <");
	out_text(out, name);
	if (offset) {
		out_text(out, "+0x");
		out_hex(out, offset);
	}
	out_char(out, '>');
}

// The last number among the operands is where it goes.
static bool find_target(const struct disasm *disasm, uint64_t *ret)
{
	const cs_detail *detail = disasm->insn->detail;

	if (disasm->is_x86) {
		const cs_x86 *x86 = &detail->x86;

		if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
			return false;
		*ret = (uint64_t)x86->operands[0].imm;
		if (!disasm->options.is_64bit)
			*ret &= UINT32_MAX;
		return true;
	}
	if (disasm->options.machine == EM_AARCH64) {
		const cs_arm64 *arm64 = &detail->arm64;

		if (!arm64->op_count || arm64->operands[arm64->op_count - 1].type != ARM64_OP_IMM)
			return false;
		*ret = (uint64_t)arm64->operands[arm64->op_count - 1].imm;
		return true;
	}
	if (disasm->options.machine == EM_ARM) {
		const cs_arm *arm = &detail->arm;

		if (!arm->op_count || arm->operands[arm->op_count - 1].type != ARM_OP_IMM)
			return false;
		*ret = (uint32_t)arm->operands[arm->op_count - 1].imm;
		return true;
	}
	return false;
}

static bool in_group(const struct disasm *disasm, uint8_t group)
{
	return disasm->cs.insn_group(disasm->cs.handle, disasm->insn, group);
}

static void classify(const struct disasm *disasm, struct disasm_insn *ret)
{
	const cs_insn *insn = disasm->insn;
	bool is_arm64 = disasm->options.machine == EM_AARCH64;

	if (in_group(disasm, CS_GRP_RET) || (is_arm64 && insn->id == ARM64_INS_RET))
		ret->kind = DISASM_RETURN;
	else if (in_group(disasm, CS_GRP_CALL) ||
		 (is_arm64 && (insn->id == ARM64_INS_BL || insn->id == ARM64_INS_BLR)))
		ret->kind = DISASM_CALL;
	else if (in_group(disasm, CS_GRP_JUMP))
		ret->kind = DISASM_JUMP;
	else if (disasm->is_x86 && (insn->id == X86_INS_JCXZ || insn->id == X86_INS_JECXZ ||
				    insn->id == X86_INS_JRCXZ || insn->id == X86_INS_LOOP ||
				    insn->id == X86_INS_LOOPE || insn->id == X86_INS_LOOPNE))
		ret->kind = DISASM_JUMP;
	if (ret->kind == DISASM_JUMP || ret->kind == DISASM_CALL)
		ret->has_target = find_target(disasm, &ret->target);
	ret->is_trap = in_group(disasm, CS_GRP_INT) || in_group(disasm, CS_GRP_IRET);
	ret->is_nop =
		disasm->is_x86 ? insn->id == X86_INS_NOP : is_arm64 && insn->id == ARM64_INS_NOP;
}

static void put_operands(struct out *out, const char *text, int mnemonic_n)
{
	if (!*text)
		return;
	out_fill(out, ' ', mnemonic_n < 7 ? (size_t)(7 - mnemonic_n) : 1);
	out_text(out, text);
}

// How long an instruction with a VEX or EVEX prefix is that libcapstone doesn't know, so that what follows is decoded from
// its start; 0: it is none. Layout: Intel's manual, volume 2, 2.3 and 2.7.
static uint32_t vector_size(const uint8_t *p, size_t n)
{
	static const uint8_t with_byte[] = {0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4, 0xc5, 0xc6};
	size_t head = n && p[0] == 0xc5 ? 2 : n && p[0] == 0xc4 ? 3 : n && p[0] == 0x62 ? 4 : 0;
	size_t size = head + 2;
	unsigned map, mod, base;

	if (!head || size > n)
		return 0;
	map = p[0] == 0xc5 ? 1 : p[1] & (p[0] == 0xc4 ? 0x1f : 7);
	mod = p[head + 1] >> 6;
	base = p[head + 1] & 7;
	if (mod != 3 && base == 4) {
		if (size == n)
			return 0;
		base = p[size++] & 7;
	}
	if (mod == 1)
		size++;
	else if (mod == 2 || (!mod && base == 5))
		size += 4;
	if (map == 3 || (map == 1 && memchr(with_byte, p[head], sizeof(with_byte))))
		size++;
	return size <= n ? (uint32_t)size : 0;
}

struct disasm_insn disasm_next(struct disasm *disasm, struct str bytes, uint64_t addr, struct out *out)
{
	const uint8_t *p = (const uint8_t *)bytes.p;
	size_t left = bytes.n;
	uint64_t at = addr;
	cs_insn *insn = disasm->insn;
	struct disasm_insn ret = {.addr = addr};

	if (!disasm->cs.disasm_iter(disasm->cs.handle, &p, &left, &at, insn)) {
		ret.is_bad = true;
		ret.size = 0;
		if (disasm->is_x86 && disasm->options.is_64bit)
			ret.size = vector_size((const uint8_t *)bytes.p, bytes.n);
		if (!ret.size)
			ret.size = (uint32_t)MIN(bytes.n, disasm->step);
		out_text(out, disasm->is_x86 ? "(bad)" : ".inst  (bad)");
		return ret;
	}
	ret.size = insn->size;
	classify(disasm, &ret);
	if (disasm->is_x86) {
		disasm_x86_text(&disasm->cs, &disasm->options, insn, out);
		return ret;
	}
	out_text(out, insn->mnemonic);
	put_operands(out, insn->op_str, (int)strlen(insn->mnemonic));
	if (ret.has_target)
		disasm_name(&disasm->options, ret.target, out);
	return ret;
}

#else

int disasm_new(struct disasm **ret, const struct disasm_options *options)
{
	return fail(ENOTSUP, "this sonde was built without libcapstone, which decodes instructions: "
			     "install libcapstone-dev and build again");
}

void disasm_free(struct disasm *disasm)
{
}

struct disasm_insn disasm_next(struct disasm *disasm, struct str bytes, uint64_t addr, struct out *out)
{
	return (struct disasm_insn){.addr = addr, .size = (uint32_t)bytes.n, .is_bad = true};
}

#endif
