// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's PMUs below /sys/bus/event_source/devices (Documentation/ABI/testing/
// sysfs-bus-event_source-devices-*): types, fields of config, named events, CPUs.
#pragma once
#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include <stdint.h>

// A field of config, config1, config2 or config3.
struct pmu_format {
	const char *name;
	uint8_t config; // which
	uint64_t mask;	// its bits
};

// An event that the kernel names.
struct pmu_event {
	const char *name;
	const char *terms; // "event=0x3c,umask=0x1"
	const char *unit;  // NULL: none
	double scale;	   // 1.0 when not said
	bool per_package, snapshot;
};

struct pmu {
	const char *name;
	uint32_t type;

	// Read by pmu_details.
	bool detailed;
	bool is_core; // counts what a CPU core does ("cpu", "cpu_core", "armv8_pmuv3_0")
	VEC(struct pmu_format) formats;
	VEC(struct pmu_event) events;
	const uint32_t *cpus; // NULL: no restriction
	uint32_t cpus_n;
	bool cpus_are_uncore; // from "cpumask": one CPU stands for its package
	uint32_t max_precise;
	bool has_address_filters; // nr_addr_filters > 0
};

struct pmus {
	struct arena arena;
	char *root;
	VEC(struct pmu) list; // in the order of the directory
};

// Names and types; root NULL or "" is the real one. A machine without the directory has no PMUs: that is
// no error. Cost: one small file a PMU.
void pmus_load(struct pmus **ret, const char *root);
void pmus_free(struct pmus *pmus);
struct pmu *pmus_find(struct pmus *pmus, struct str name); // NULL when there is none
struct pmu *pmus_find_type(struct pmus *pmus, uint32_t type);
// Reads formats, events, CPUs once. Cost: one small file for each of them.
void pmu_details(struct pmus *pmus, struct pmu *pmu);
const struct pmu_format *pmu_format(const struct pmu *pmu, struct str name);
const struct pmu_event *pmu_event(const struct pmu *pmu, struct str name);

// Spreads the low bits of value over mask; -ERANGE (no sentence) when it has more bits than mask.
int pmu_spread(uint64_t mask, uint64_t value, uint64_t *ret);
// "config1:0-7,32" as in a format file; -EINVAL without a sentence.
int pmu_parse_format(struct str text, struct pmu_format *ret);
