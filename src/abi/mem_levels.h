// SPDX-License-Identifier: GPL-2.0-or-later
// What perf calls the levels of memory that a sample's data source tells: include/uapi/linux/perf_event.h, union
// perf_mem_data_src.
#pragma once

// By bit of mem_lvl.
static const char *const mem_level_bits[] = {
	"N/A",
	"HIT",
	"MISS",
	"L1",
	"LFB/MAB",
	"L2",
	"L3",
	"Local RAM",
	"Remote RAM (1 hop)",
	"Remote RAM (2 hops)",
	"Remote Cache (1 hop)",
	"Remote Cache (2 hops)",
	"I/O",
	"Uncached",
};
// By mem_lvl_num; NULL: a cache, "L" and the number.
static const char *const mem_level_numbers[16] = {
	[9] = "CXL",  [10] = "I/O",  [11] = "Any cache", [12] = "LFB/MAB",
	[13] = "RAM", [14] = "PMEM", [15] = "N/A",
};
