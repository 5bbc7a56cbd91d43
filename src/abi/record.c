// SPDX-License-Identifier: GPL-2.0-or-later
#include "abi/record.h"
#include "abi/attr.h"
#include "base/alloc.h"
#include "base/err.h"
#include <byteswap.h>
#include <string.h>

#define HEADER_SIZE sizeof(struct perf_event_header)
#define MISC_MMAP_BUILD_ID (1 << 14) // PERF_RECORD_MISC_MMAP_BUILD_ID
#define BRANCH_COUNTERS (1u << 19)   // PERF_SAMPLE_BRANCH_COUNTERS

// What a record consists of, one letter each:
//   2 4 8   an unsigned number of that many bytes
//   v       bytes that are left as they are (16 of them: V; 64: M)
//   s       text up to its NUL, padded to the next multiple of 8
//   P       the bytes of TEXT_POKE
//   Q       u64 up to the trailing ids
//   D       the rest as it is
// or one that needs code:
//   I       the inode half of MMAP2, or its build-id
//   A       attr and ids    C  a cpu map    U  an event update
//   T       pairs of u64 and 16 bytes of text
//   S       a sample
// A '?' in front: what follows may be missing (the record grew later).
static const struct {
	const char *name;
	const char *layout;
} types[] = {
	[PERF_RECORD_MMAP] = {"MMAP", "44888s"},
	[PERF_RECORD_LOST] = {"LOST", "88"},
	[PERF_RECORD_COMM] = {"COMM", "44s"},
	[PERF_RECORD_EXIT] = {"EXIT", "44448"},
	[PERF_RECORD_THROTTLE] = {"THROTTLE", "888"},
	[PERF_RECORD_UNTHROTTLE] = {"UNTHROTTLE", "888"},
	[PERF_RECORD_FORK] = {"FORK", "44448"},
	[PERF_RECORD_READ] = {"READ", "44Q"},
	[PERF_RECORD_SAMPLE] = {"SAMPLE", "S"},
	[PERF_RECORD_MMAP2] = {"MMAP2", "44888I44s"},
	[PERF_RECORD_AUX] = {"AUX", "888"},
	[PERF_RECORD_ITRACE_START] = {"ITRACE_START", "44"},
	[PERF_RECORD_LOST_SAMPLES] = {"LOST_SAMPLES", "8"},
	[PERF_RECORD_SWITCH] = {"SWITCH", ""},
	[PERF_RECORD_SWITCH_CPU_WIDE] = {"SWITCH_CPU_WIDE", "44"},
	[PERF_RECORD_NAMESPACES] = {"NAMESPACES", "448Q"},
	[PERF_RECORD_KSYMBOL] = {"KSYMBOL", "8422s"},
	[PERF_RECORD_BPF_EVENT] = {"BPF_EVENT", "224vvvvvvvv"},
	[PERF_RECORD_CGROUP] = {"CGROUP", "8s"},
	[PERF_RECORD_TEXT_POKE] = {"TEXT_POKE", "822P"},
	[SONDE_RECORD_AUX_OUTPUT_HW_ID] = {"AUX_OUTPUT_HW_ID", "8"},
	[SONDE_RECORD_CALLCHAIN_DEFERRED] = {"CALLCHAIN_DEFERRED", "88Q"},

	[RECORD_HEADER_ATTR] = {"ATTR", "A"},
	[RECORD_HEADER_EVENT_TYPE] = {"EVENT_TYPE", "8D"},
	[RECORD_HEADER_TRACING_DATA] = {"TRACING_DATA", "4D"},
	[RECORD_HEADER_BUILD_ID] = {"BUILD_ID", "4D"},
	[RECORD_FINISHED_ROUND] = {"FINISHED_ROUND", "D"},
	[RECORD_ID_INDEX] = {"ID_INDEX", "8Q"},
	[RECORD_AUXTRACE_INFO] = {"AUXTRACE_INFO", "44Q"},
	[RECORD_AUXTRACE] = {"AUXTRACE", "8884444"},
	[RECORD_AUXTRACE_ERROR] = {"AUXTRACE_ERROR", "44444488M?44"},
	[RECORD_THREAD_MAP] = {"THREAD_MAP", "8T"},
	[RECORD_CPU_MAP] = {"CPU_MAP", "C"},
	[RECORD_STAT_CONFIG] = {"STAT_CONFIG", "8Q"},
	[RECORD_STAT] = {"STAT", "844888"},
	[RECORD_STAT_ROUND] = {"STAT_ROUND", "88"},
	[RECORD_EVENT_UPDATE] = {"EVENT_UPDATE", "88U"},
	[RECORD_TIME_CONV] = {"TIME_CONV", "888?88D"},
	[RECORD_HEADER_FEATURE] = {"FEATURE", "8D"},
	[RECORD_COMPRESSED] = {"COMPRESSED", "D"},
	[RECORD_FINISHED_INIT] = {"FINISHED_INIT", "D"},
	[RECORD_COMPRESSED2] = {"COMPRESSED2", "8D"},
	[RECORD_BPF_METADATA] = {"BPF_METADATA", "V8D"},
	[RECORD_SCHEDSTAT_CPU] = {"SCHEDSTAT_CPU", "842D"},
	[RECORD_SCHEDSTAT_DOMAIN] = {"SCHEDSTAT_DOMAIN", "8D"},
};

const char *record_type_name(uint32_t type)
{
	return type < ARRAY_SIZE(types) && types[type].name ? types[type].name : "UNKNOWN";
}

const char *record_text(const struct perf_event_header *header, const char *text)
{
	const char *end = (const char *)header + header->size;

	if (text < (const char *)header || text >= end || !memchr(text, 0, (size_t)(end - text)))
		return NULL;
	return text;
}

bool record_is_whole(const struct perf_event_header *header)
{
	const char *layout = header->type < ARRAY_SIZE(types) ? types[header->type].layout : NULL;
	const uint8_t *p = (const uint8_t *)(header + 1);
	size_t left;

	if (header->size < HEADER_SIZE)
		return false;
	left = header->size - HEADER_SIZE;
	for (; layout && *layout; layout++) {
		size_t need = 0;

		switch (*layout) {
		case '2':
		case '4':
		case '8':
			need = (size_t)(*layout - '0');
			break;
		case 'v':
			need = 1;
			break;
		case 'V':
			need = 16;
			break;
		case 'M':
			need = 64;
			break;
		case 'I':
			need = 24;
			break;
		case 'A':
			need = PERF_ATTR_SIZE_VER0;
			break;
		case 'C':
			need = 2;
			break;
		case 's':
			return memchr(p, 0, left) != NULL;
		default: // of any length, or optional
			return true;
		}
		if (left < need)
			return false;
		left -= need;
		p += need;
	}
	return true;
}

void record_swap_header(struct perf_event_header *header)
{
	header->type = bswap_32(header->type);
	header->misc = bswap_16(header->misc);
	header->size = bswap_16(header->size);
}

// One pass over a record. The first only checks (apply is false), the second writes.
struct swapper {
	uint8_t *p, *end;
	bool apply, bad;
};

static bool has(struct swapper *s, size_t n)
{
	if ((size_t)(s->end - s->p) >= n)
		return true;
	s->bad = true;
	return false;
}

static void skip(struct swapper *s, size_t n)
{
	if (has(s, n))
		s->p += n;
}

// Each returns the swapped number, 0 when there is none.
static uint16_t swap_2(struct swapper *s)
{
	uint16_t v;

	if (!has(s, sizeof(v)))
		return 0;
	memcpy(&v, s->p, sizeof(v));
	v = bswap_16(v);
	if (s->apply)
		memcpy(s->p, &v, sizeof(v));
	s->p += sizeof(v);
	return v;
}

static uint32_t swap_4(struct swapper *s)
{
	uint32_t v;

	if (!has(s, sizeof(v)))
		return 0;
	memcpy(&v, s->p, sizeof(v));
	v = bswap_32(v);
	if (s->apply)
		memcpy(s->p, &v, sizeof(v));
	s->p += sizeof(v);
	return v;
}

static uint64_t swap_8(struct swapper *s)
{
	uint64_t v;

	if (!has(s, sizeof(v)))
		return 0;
	memcpy(&v, s->p, sizeof(v));
	v = bswap_64(v);
	if (s->apply)
		memcpy(s->p, &v, sizeof(v));
	s->p += sizeof(v);
	return v;
}

static void swap_n(struct swapper *s, uint64_t n, unsigned width)
{
	if (n > (size_t)(s->end - s->p) / width) {
		s->bad = true;
		return;
	}
	while (n--) {
		if (width == 2)
			swap_2(s);
		else if (width == 4)
			swap_4(s);
		else
			swap_8(s);
	}
}

// All whole words that are left.
static void swap_words(struct swapper *s)
{
	s->p += (s->end - s->p) % 8; // padding
	swap_n(s, (uint64_t)(s->end - s->p) / 8, 8);
}

// Bit fields of struct perf_branch_entry behind from and to, first to last.
static const uint8_t branch_fields[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 31};

static void swap_branch_flags(struct swapper *s)
{
	uint64_t v, ret = 0;
	unsigned at = 0;

	if (!has(s, sizeof(v)))
		return;
	memcpy(&v, s->p, sizeof(v));
	v = bswap_64(v);
	for (size_t i = 0; i < ARRAY_SIZE(branch_fields); i++) {
		unsigned width = branch_fields[i];
		uint64_t mask = (1ull << width) - 1;

		// The other order puts the first field into the highest bits, or takes it from there.
#if __BYTE_ORDER == __LITTLE_ENDIAN
		ret |= (v >> (64 - at - width) & mask) << at;
#else
		ret |= (v >> at & mask) << (64 - at - width);
#endif
		at += width;
	}
	if (s->apply)
		memcpy(s->p, &ret, sizeof(ret));
	s->p += sizeof(ret);
}

static void swap_read(struct swapper *s, uint64_t format)
{
	unsigned times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1 : 0) +
			 (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1 : 0);
	unsigned each = 1 + (format & PERF_FORMAT_ID ? 1 : 0) + (format & PERF_FORMAT_LOST ? 1 : 0);
	uint64_t n = 1;

	if (format & PERF_FORMAT_GROUP) {
		n = swap_8(s);
		if (n > (size_t)(s->end - s->p) / 8) {
			s->bad = true;
			return;
		}
	}
	swap_n(s, times + n * each, 8);
}

static void swap_registers(struct swapper *s, uint64_t mask)
{
	if (swap_8(s) != PERF_SAMPLE_REGS_ABI_NONE)
		swap_n(s, (uint64_t)__builtin_popcountll(mask), 8);
}

static void skip_u64(struct swapper *s, uint64_t n)
{
	if (n > (size_t)(s->end - s->p))
		s->bad = true;
	else
		s->p += n;
}

static void swap_raw(struct swapper *s)
{
	uint64_t n = swap_4(s);

	if (n > (size_t)(s->end - s->p)) {
		s->bad = true;
		return;
	}
	// The content keeps its order: its formats say what lies where. Then padding to a whole word.
	n = ((n + 4 + 7) & ~7ull) - 4;
	s->p = n > (size_t)(s->end - s->p) ? s->end : s->p + n;
}

static void swap_branches(struct swapper *s, const struct perf_event_attr *attr)
{
	uint64_t n = swap_8(s);

	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		swap_8(s);
	if (n > (size_t)(s->end - s->p) / sizeof(struct perf_branch_entry)) {
		s->bad = true;
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		swap_n(s, 2, 8);
		swap_branch_flags(s);
	}
	if (attr->branch_sample_type & BRANCH_COUNTERS)
		swap_n(s, n, 8);
}

static void swap_sample(struct swapper *s, const struct perf_event_attr *attr)
{
	const uint64_t type = attr->sample_type;
	// Fixed words in order: 8 is a u64, 4 a pair of u32.
	static const struct {
		uint64_t bit;
		uint8_t width;
	} fixed[] = {
		{PERF_SAMPLE_IDENTIFIER, 8}, {PERF_SAMPLE_IP, 8},   {PERF_SAMPLE_TID, 4},
		{PERF_SAMPLE_TIME, 8},	     {PERF_SAMPLE_ADDR, 8}, {PERF_SAMPLE_ID, 8},
		{PERF_SAMPLE_STREAM_ID, 8},  {PERF_SAMPLE_CPU, 4},  {PERF_SAMPLE_PERIOD, 8},
	};
	static const uint64_t single_words = PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
					     PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (type & fixed[i].bit)
			swap_n(s, 8 / fixed[i].width, fixed[i].width);
	if (type & PERF_SAMPLE_READ)
		swap_read(s, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		swap_n(s, swap_8(s), 8);
	if (type & PERF_SAMPLE_RAW)
		swap_raw(s);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		swap_branches(s, attr);
	if (type & PERF_SAMPLE_REGS_USER)
		swap_registers(s, attr->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER) {
		uint64_t n = swap_8(s);

		skip_u64(s, n);
		if (n)
			swap_8(s);
	}
	// WEIGHT_STRUCT, DATA_SRC: laid out by hand for both orders, so that they are plain words.
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		swap_8(s);
	if (type & PERF_SAMPLE_DATA_SRC)
		swap_8(s);
	if (type & PERF_SAMPLE_TRANSACTION)
		swap_8(s);
	if (type & PERF_SAMPLE_REGS_INTR)
		swap_registers(s, attr->sample_regs_intr);
	swap_n(s, (uint64_t)__builtin_popcountll(type & single_words), 8);
	if (type & PERF_SAMPLE_AUX)
		skip_u64(s, swap_8(s));
}

static void swap_attr(struct swapper *s)
{
	struct perf_event_attr attr = {0};
	uint32_t size;

	if (!has(s, PERF_ATTR_SIZE_VER0))
		return;
	memcpy(&size, s->p + offsetof(struct perf_event_attr, size), sizeof(size));
	size = bswap_32(size);
	if (!size) // before there were sizes
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0 || size % 8 || !has(s, size)) {
		s->bad = true;
		return;
	}
	if (s->apply) {
		size_t known = MIN(size, sizeof(attr));

		memcpy(&attr, s->p, known);
		attr_swap(&attr);
		memcpy(s->p, &attr, known);
	}
	// Members that we don't know are most likely words.
	s->p += MIN(size, sizeof(attr));
	swap_n(s, (size - MIN(size, sizeof(attr))) / 8, 8);
	swap_words(s);
}

static void swap_cpu_map(struct swapper *s)
{
	enum { CPUS, MASK, RANGE };
	uint16_t type = swap_2(s), n, width;

	switch (type) {
	case CPUS:
		n = swap_2(s);
		swap_n(s, n, 2);
		break;
	case MASK:
		n = swap_2(s);
		width = swap_2(s);
		if (width == 8)
			skip(s, 2); // to the next 8 bytes of the record
		if (width == 4 || width == 8)
			swap_n(s, n, width);
		else
			s->bad = true;
		break;
	case RANGE:
		skip(s, 2);
		swap_n(s, 2, 2);
		break;
	default:
		break; // unknown ones stay as they are
	}
}

static void swap_event_update(struct swapper *s, uint64_t type)
{
	enum { UNIT, SCALE, NAME, CPUS };

	if (type == SCALE)
		swap_8(s); // a double
	else if (type == CPUS)
		swap_cpu_map(s);
}

static void swap_text_poke(struct swapper *s, uint16_t new_len)
{
	// The lengths of old and new bytes were the last two numbers.
	uint16_t old_len;

	memcpy(&old_len, s->p - 4, sizeof(old_len));
	if (!s->apply)
		old_len = bswap_16(old_len);
	skip_u64(s, (uint64_t)old_len + new_len);
}

static void swap_text(struct swapper *s, const uint8_t *start)
{
	const uint8_t *nul = memchr(s->p, 0, (size_t)(s->end - s->p));
	size_t n;

	if (!nul) {
		s->bad = true;
		return;
	}
	n = ((size_t)(nul - start) + 1 + 7) & ~(size_t)7;
	s->p = n > (size_t)(s->end - start) ? s->end : (uint8_t *)start + n;
}

static void swap_body(struct swapper *s, const struct perf_event_header *header, const char *layout,
		      const struct perf_event_attr *attr)
{
	uint64_t last = 0;

	for (; *layout && !s->bad; layout++) {
		switch (*layout) {
		case '2':
			last = swap_2(s);
			break;
		case '4':
			last = swap_4(s);
			break;
		case '8':
			last = swap_8(s);
			break;
		case 'v':
			skip(s, 1);
			break;
		case 'V':
			skip(s, 16);
			break;
		case 'M':
			skip(s, 64);
			break;
		case 's':
			swap_text(s, (const uint8_t *)header);
			break;
		case 'Q':
			swap_words(s);
			break;
		case 'D':
			s->p = s->end;
			break;
		case 'I':
			if (bswap_16(header->misc) & MISC_MMAP_BUILD_ID) {
				skip(s, 24);
			} else {
				swap_n(s, 2, 4);
				swap_n(s, 2, 8);
			}
			break;
		case 'A':
			swap_attr(s);
			break;
		case 'C':
			swap_cpu_map(s);
			break;
		case 'U':
			swap_event_update(s, last);
			break;
		case 'T':
			for (uint64_t i = 0; i < last && !s->bad; i++) {
				swap_8(s);
				skip(s, 16);
			}
			break;
		case 'P':
			swap_text_poke(s, (uint16_t)last);
			break;
		case 'S':
			if (attr)
				swap_sample(s, attr);
			else
				swap_words(s);
			break;
		case '?':
			if (s->p == s->end)
				return;
			break;
		}
	}
}

// The ids behind a record: pairs of u32 stay in their order.
static void swap_trailer(struct swapper *s, const struct perf_event_attr *attr)
{
	static const struct {
		uint64_t bit;
		uint8_t width;
	} words[] = {
		{PERF_SAMPLE_TID, 4},	    {PERF_SAMPLE_TIME, 8}, {PERF_SAMPLE_ID, 8},
		{PERF_SAMPLE_STREAM_ID, 8}, {PERF_SAMPLE_CPU, 4},  {PERF_SAMPLE_IDENTIFIER, 8},
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (attr->sample_type & words[i].bit)
			swap_n(s, 8 / words[i].width, words[i].width);
}

#define TRAILER_BITS                                                                               \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static uint16_t get_u16(const void *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? bswap_16(v) : v;
}

// What is before the trailer, of those types whose body tells how long it is; 0: not known.
static size_t body_size(const struct perf_event_header *header, uint32_t type, size_t size, bool swap)
{
	const uint8_t *p = (const uint8_t *)header;
	size_t n;

	switch (type) {
	case PERF_RECORD_KSYMBOL:
		n = offsetof(struct record_ksymbol, name);
		n += n < size ? strnlen((const char *)p + n, size - n) + 1 : 0;
		break;
	case PERF_RECORD_BPF_EVENT:
		n = sizeof(struct record_bpf_event);
		break;
	case PERF_RECORD_TEXT_POKE:
		n = offsetof(struct record_text_poke, bytes);
		if (n > size)
			return 0;
		n += (size_t)get_u16(p + offsetof(struct record_text_poke, old_len), swap) +
		     get_u16(p + offsetof(struct record_text_poke, new_len), swap);
		break;
	default:
		return 0;
	}
	return (n + 7) & ~(size_t)7;
}

// perf_event_ksymbol_output() and its like in kernel/events/core.c.
uint32_t record_end_of(const struct perf_event_header *header, uint32_t trailer_size, bool swap)
{
	uint32_t type, size = get_u16((const uint8_t *)header + 6, swap);
	size_t body;

	memcpy(&type, header, sizeof(type));
	body = body_size(header, swap ? bswap_32(type) : type, size, swap);
	if (!body || !trailer_size || body + trailer_size > size || (size - body) % trailer_size != 0)
		return size;
	return (uint32_t)body + trailer_size;
}

int record_swap(struct perf_event_header *header, const struct perf_event_attr *attr)
{
	uint32_t type = bswap_32(header->type);
	uint16_t size = bswap_16(header->size);
	const char *layout = type < ARRAY_SIZE(types) ? types[type].layout : NULL;
	bool has_trailer = attr && attr->sample_id_all && type != PERF_RECORD_SAMPLE && type < 64;
	size_t trailer = 0, whole;

	if (size < HEADER_SIZE)
		return fail(EINVAL, "record of %u bytes is shorter than its header", size);
	if (has_trailer)
		trailer = 8 * (size_t)__builtin_popcountll(attr->sample_type & TRAILER_BITS);
	if (trailer > size - HEADER_SIZE)
		trailer = 0;
	whole = record_end_of(header, (uint32_t)trailer, true);
	for (int apply = 0; apply <= 1 && layout; apply++) {
		uint8_t *end = (uint8_t *)header + whole;
		struct swapper s = {(uint8_t *)(header + 1), end - trailer, apply, false};

		swap_body(&s, header, layout, attr);
		if (!s.bad && trailer) {
			s.p = end - trailer;
			s.end = end;
			swap_trailer(&s, attr);
		} else if (!s.bad && type < 64 && type != PERF_RECORD_SAMPLE) {
			swap_words(&s); // ids of unknown layout
		}
		if (s.bad)
			return fail(EINVAL, "%s record of %u bytes is too short for its content",
				    record_type_name(type), size);
	}
	record_swap_header(header);
	return 0;
}

size_t record_cpu_map(const struct perf_event_header *header, int *ret, size_t max)
{
	enum { CPUS, MASK, RANGE };
	const uint8_t *p = (const uint8_t *)(header + 1);
	size_t room = header->size - sizeof(*header), n = 0;
	uint16_t type, count, second;

	if (header->size < sizeof(*header) + 8)
		return 0;
	memcpy(&type, p, 2);
	memcpy(&count, p + 2, 2);
	memcpy(&second, p + 4, 2);
#define PUT(cpu)                                                                                   \
	do {                                                                                       \
		if (n < max)                                                                       \
			ret[n] = (cpu);                                                            \
		n++;                                                                               \
	} while (0)
	if (type == CPUS) {
		for (size_t i = 0; i < count && 6 + i * 2 <= room; i++) {
			uint16_t cpu;

			memcpy(&cpu, p + 4 + i * 2, 2);
			PUT(cpu == UINT16_MAX ? -1 : cpu);
		}
	} else if (type == MASK) {		  // words of `second` bytes
		size_t at = second == 8 ? 10 : 6; // the longer ones were aligned once

		for (size_t bit = 0; bit < (size_t)count * second * 8 && at + bit / 8 < room; bit++) {
			if (p[at + bit / 8] >> (bit % 8) & 1)
				PUT((int)bit);
		}
	} else if (type == RANGE) {
		uint16_t last;

		memcpy(&last, p + 6, 2);
		if (count & 0xff) // any_cpu
			PUT(-1);
		for (unsigned cpu = second; cpu <= last; cpu++)
			PUT((int)cpu);
	}
#undef PUT
	return MIN(n, max ? max : n);
}
