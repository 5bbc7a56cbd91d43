// SPDX-License-Identifier: GPL-2.0-or-later
// Feature sections that say what machine it was, from /proc and /sys below the options' root. Each appends its section; false: there is
// no such thing here.
#pragma once
#include "data/features_write.h"
#include <string.h>

bool machine_hostname(struct out *out, const struct feature_facts *facts);
bool machine_os_release(struct out *out, const struct feature_facts *facts);
bool machine_version(struct out *out, const struct feature_facts *facts);
bool machine_arch(struct out *out, const struct feature_facts *facts);
bool machine_cpus(struct out *out, const struct feature_facts *facts);
bool machine_cpu_description(struct out *out, const struct feature_facts *facts);
bool machine_cpu_id(struct out *out, const struct feature_facts *facts);
bool machine_memory(struct out *out, const struct feature_facts *facts);
bool machine_cpu_topology(struct out *out, const struct feature_facts *facts);
bool machine_numa(struct out *out, const struct feature_facts *facts);
bool machine_pmus(struct out *out, const struct feature_facts *facts);
bool machine_caches(struct out *out, const struct feature_facts *facts);
bool machine_memory_topology(struct out *out, const struct feature_facts *facts);
bool machine_cpu_pmu_caps(struct out *out, const struct feature_facts *facts);
bool machine_pmu_caps(struct out *out, const struct feature_facts *facts);

// What sections are made of.
static inline void section_u32(struct out *out, uint32_t v)
{
	out_bytes(out, &v, sizeof(v));
}

static inline void section_u64(struct out *out, uint64_t v)
{
	out_bytes(out, &v, sizeof(v));
}

static inline void section_string(struct out *out, const char *text)
{
	size_t n = strlen(text) + 1, padded = (n + 63) & ~(size_t)63;

	section_u32(out, (uint32_t)padded);
	out_bytes(out, text, n);
	out_fill(out, 0, padded - n);
}

static inline const char *section_root(const struct feature_facts *facts)
{
	return facts->options->root ? facts->options->root : "";
}
