// SPDX-License-Identifier: GPL-2.0-or-later
// Which fields `script` prints for which kind of event: the defaults, what -F makes of them, and
// whether the recording's events have them.
#pragma once
#include "data/recording.h"

enum field {
	FIELD_COMM,
	FIELD_TID,
	FIELD_PID,
	FIELD_TIME,
	FIELD_CPU,
	FIELD_EVENT,
	FIELD_TRACE,
	FIELD_IP,
	FIELD_SYM,
	FIELD_DSO,
	FIELD_ADDR,
	FIELD_SYMOFF,
	FIELD_SRCLINE,
	FIELD_PERIOD,
	FIELD_IREGS,
	FIELD_UREGS,
	FIELD_BRSTACK,
	FIELD_BRSTACKSYM,
	FIELD_BRSTACKOFF,
	FIELD_DATA_SRC,
	FIELD_WEIGHT,
	FIELD_BPF_OUTPUT,
	FIELD_CALLINDENT,
	FIELD_SYNTH,
	FIELD_PHYS_ADDR,
	FIELD_MISC,
	FIELD_IPC,
	FIELD_TOD,
	FIELD_DATA_PAGE_SIZE,
	FIELD_CODE_PAGE_SIZE,
	FIELD_INS_LAT,
	FIELD_RETIRE_LAT,
	FIELD_CGROUP,
	FIELD_DSOFF,
	FIELD_MACHINE_PID,
	FIELD_VCPU,
	FIELD_SRCCODE,
	FIELD_INSN,
	FIELD_INSNLEN,
	FIELD_DISASM,
	FIELD_BRSTACKINSN,
	FIELD_BRSTACKINSNLEN,
	FIELD_BRSTACKDISASM,
};

#define FIELD_BIT(name) (1ull << FIELD_##name)
// Those that need the code of what ran.
#define FIELDS_OF_CODE                                                                             \
	(FIELD_BIT(INSN) | FIELD_BIT(INSNLEN) | FIELD_BIT(DISASM) | FIELDS_OF_BRANCH_CODE)
#define FIELDS_OF_BRANCH_CODE                                                                      \
	(FIELD_BIT(BRSTACKINSN) | FIELD_BIT(BRSTACKINSNLEN) | FIELD_BIT(BRSTACKDISASM))

// The kinds that -F tells apart: PERF_TYPE_* up to BREAKPOINT and two more.
enum output_kind { OUTPUT_SYNTH = PERF_TYPE_MAX, OUTPUT_OTHER, OUTPUT_KINDS };

struct output {
	uint64_t fields, invalid, user_set, user_unset;
	bool by_user, by_wildcard;
	// FIELD_IP, SYM, DSO, SYMOFF, SRCLINE, DSOFF as they apply to ip and call chains.
	uint64_t ip_fields;
};

struct fields {
	struct output of[OUTPUT_KINDS];
	bool flags;	   // the field that belongs to no kind
	bool no_callchain; // -G
	bool callchain;	   // chains are printed where events have them
	uint32_t version;  // moves when the above changed
};

void fields_init(struct fields *fields);
// One -F text: "[KIND:]a,b,c", "+a,-b". -EINVAL with a sentence.
int fields_parse(struct fields *fields, const char *text);
// All the events of a file: drops default fields that the events don't have; -EINVAL with a sentence when one was
// asked for. For pipes: before any event is known.
int fields_check(struct fields *fields, const struct recording *recording);
// An event that a pipe announced.
int fields_check_announced(struct fields *fields, const struct recording *recording,
			   const struct event *event);

enum output_kind output_kind(const struct perf_event_attr *attr);
static inline const struct output *fields_of(const struct fields *fields,
					     const struct perf_event_attr *attr)
{
	return &fields->of[output_kind(attr)];
}
// Names of all fields, for the help, NULL at the end.
extern const char *const field_names[];
