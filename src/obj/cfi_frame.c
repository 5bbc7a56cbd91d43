// SPDX-License-Identifier: GPL-2.0-or-later
// Entries of .eh_frame and .debug_frame.
#include "obj/cfi_build.h"
#include "obj/dwarf_read.h"

// Pointer encodings, LSB Core "DWARF Exception Header Encoding".
enum {
	PE_OMIT = 0xff,
	PE_FORM = 0x0f,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_BASE = 0x70,
	PE_PCREL = 0x10,
	PE_TEXTREL = 0x20,
	PE_DATAREL = 0x30,
	PE_INDIRECT = 0x80,
};

static uint64_t read_form(struct dwarf_reader *r, uint8_t encoding, uint8_t address_size)
{
	switch (encoding & PE_FORM) {
	case 0:
		return address_size == 4 ? dwarf_u32(r) : dwarf_u64(r);
	case PE_UDATA8:
	case PE_SDATA8:
		return dwarf_u64(r);
	case PE_ULEB128:
		return dwarf_uleb(r);
	case PE_UDATA2:
		return dwarf_u16(r);
	case PE_UDATA4:
		return dwarf_u32(r);
	case PE_SLEB128:
		return (uint64_t)dwarf_sleb(r);
	case PE_SDATA2:
		return (uint64_t)(int16_t)dwarf_u16(r);
	case PE_SDATA4:
		return (uint64_t)(int32_t)dwarf_u32(r);
	default:
		r->bad = true;
		return 0;
	}
}

static uint64_t read_pointer(struct dwarf_reader *r, const struct cfi_section *section,
			     uint8_t encoding)
{
	uint64_t at = section->addr + (uint64_t)((const char *)r->p - section->bytes.p);
	uint64_t v = read_form(r, encoding, section->address_size);

	switch (encoding & PE_BASE) {
	case 0:
		break;
	case PE_PCREL:
		v += at;
		break;
	case PE_TEXTREL:
		v += section->text;
		break;
	case PE_DATAREL:
		v += section->data;
		break;
	default:
		r->bad = true;
	}
	if (encoding & PE_INDIRECT)
		r->bad = true; // no compiler does that to code addresses
	return section->address_size == 4 ? (uint32_t)v : v;
}

static void read_augmentation(struct dwarf_reader *r, const struct cfi_section *section,
			      struct cfi_cie *cie, const char *augmentation)
{
	uint64_t n = dwarf_uleb(r);
	struct dwarf_reader data = *r;

	dwarf_skip(r, n);
	data.end = r->p;
	for (const char *c = augmentation + 1; *c && !data.bad; c++) {
		switch (*c) {
		case 'R':
			cie->encoding = dwarf_u8(&data);
			break;
		case 'P': {
			uint8_t encoding = dwarf_u8(&data);

			// Only its size matters here.
			if (encoding != PE_OMIT)
				(void)read_form(&data, encoding, section->address_size);
			break;
		}
		case 'L':
			(void)dwarf_u8(&data);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		default: // 'B' and 'G' of arm64 have no data
			break;
		}
	}
	if (data.bad)
		r->bad = true;
}

// An entry of either kind: its content without length and id.
struct entry {
	struct dwarf_reader r;
	uint64_t next, cie_at;
	bool is_cie, is_end;
};

static bool read_entry(const struct cfi_section *section, uint64_t at, struct entry *ret)
{
	struct dwarf_reader r = dwarf_reader_at(section->bytes, at, false);
	uint8_t offset_size;
	uint64_t id, id_at;

	dwarf_length(&r, &offset_size);
	if (r.bad)
		return false;
	ret->next = (uint64_t)((const char *)r.end - section->bytes.p);
	ret->is_end = dwarf_left(&r) == 0;
	if (ret->is_end)
		return true;
	id_at = (uint64_t)((const char *)r.p - section->bytes.p);
	id = dwarf_uint(&r, section->is_debug ? offset_size : 4);
	if (r.bad)
		return false;
	if (section->is_debug) {
		ret->is_cie = id == (offset_size == 4 ? UINT32_MAX : UINT64_MAX);
		ret->cie_at = id;
	} else {
		ret->is_cie = id == 0;
		ret->cie_at = id_at - id;
	}
	ret->r = r;
	return true;
}

static struct cfi_cie read_cie(struct dwarf_reader r, const struct cfi_section *section)
{
	struct cfi_cie cie = {0};
	uint8_t version = dwarf_u8(&r);
	const char *augmentation = dwarf_cstr(&r);

	if (version != 1 && version != 3 && version != 4)
		return cie;
	// "eh" of gcc 2 has a pointer there; nothing else than z... says how long it is.
	if (*augmentation && *augmentation != 'z')
		return cie;
	if (version == 4) {
		uint8_t address_size = dwarf_u8(&r), segment_size = dwarf_u8(&r);

		if (address_size != section->address_size || segment_size != 0)
			return cie;
	}
	cie.code_align = dwarf_uleb(&r);
	cie.data_align = dwarf_sleb(&r);
	cie.ra = version == 1 ? dwarf_u8(&r) : dwarf_uleb(&r);
	cie.has_augmentation = *augmentation == 'z';
	if (cie.has_augmentation)
		read_augmentation(&r, section, &cie, augmentation);
	cie.code = (struct str){(const char *)r.p, dwarf_left(&r)};
	cie.good = !r.bad && cie.code_align <= UINT32_MAX && cie.data_align >= INT32_MIN &&
		   cie.data_align <= INT32_MAX;
	return cie;
}

bool cfi_file_offset(const struct cfi_builder *builder, uint64_t vaddr, uint64_t size, uint32_t *ret)
{
	for (size_t i = 0; i < builder->segments.n; i++) {
		const struct elf_segment *segment = &builder->segments.v[i];
		uint64_t in = vaddr - segment->vaddr;

		if (vaddr < segment->vaddr || in >= segment->file_size ||
		    size > segment->file_size - in)
			continue;
		if (segment->offset > UINT32_MAX || in + size > UINT32_MAX - segment->offset)
			return false;
		*ret = (uint32_t)(segment->offset + in);
		return true;
	}
	return false;
}

static void read_fde(struct cfi_builder *builder, const struct cfi_section *section,
		     struct dwarf_reader r, uint32_t cie_index)
{
	const struct cfi_cie *cie = &builder->cies.v[cie_index];
	struct cfi_fde fde = {.cie = cie_index, .rank = (uint32_t)builder->fdes.n};
	uint64_t size;

	if (!cie->good)
		return;
	fde.vaddr = read_pointer(&r, section, cie->encoding);
	size = read_form(&r, cie->encoding & PE_FORM, section->address_size);
	if (cie->has_augmentation)
		dwarf_skip(&r, dwarf_uleb(&r));
	fde.code = (struct str){(const char *)r.p, dwarf_left(&r)};
	if (r.bad || !size || !cfi_file_offset(builder, fde.vaddr, size, &fde.at))
		return;
	fde.size = (uint32_t)size;
	vec_push(&builder->fdes, fde);
}

// The index of the CIE at an offset, UINT32_MAX: there is none.
static uint32_t cie_at(struct cfi_builder *builder, const struct cfi_section *section,
		       struct map *known, uint64_t at)
{
	struct entry entry;
	bool is_new;
	uint64_t *id;

	if (at >= section->bytes.n)
		return UINT32_MAX;
	id = map_at(known, at, &is_new);
	if (!is_new)
		return (uint32_t)*id;
	*id = UINT32_MAX;
	if (!read_entry(section, at, &entry) || entry.is_end || !entry.is_cie)
		return UINT32_MAX;
	*id = builder->cies.n;
	vec_push(&builder->cies, read_cie(entry.r, section));
	if (vec_last(&builder->cies).good)
		cfi_run_cie(builder, &vec_last(&builder->cies));
	return (uint32_t)*id;
}

void cfi_read_section(struct cfi_builder *builder, const struct cfi_section *section)
{
	struct entry entry;
	struct map known = {0};

	for (uint64_t at = 0; at < section->bytes.n; at = entry.next) {
		uint32_t cie;

		if (!read_entry(section, at, &entry))
			break;
		// An empty one ends the input of one object file; more may follow.
		if (entry.is_end || entry.is_cie)
			continue;
		cie = cie_at(builder, section, &known, entry.cie_at);
		if (cie != UINT32_MAX)
			read_fde(builder, section, entry.r, cie);
	}
	map_done(&known);
}
