// SPDX-License-Identifier: GPL-2.0-or-later
// What the kernel is told of a request: events and the values that they fetch.
#pragma once
#include "probe/find.h"

struct probe_value {
	const char *name, *value, *type; // name, type: NULL: none
};

struct probe_event {
	const char *group, *event;
	const char *path;   // NULL: the kernel
	const char *symbol; // of the kernel, with "module:"
	uint64_t at;	    // offset in the file, or from the symbol
	uint64_t semaphore; // offset in the file, 0: none
	bool is_return;
	VEC(struct probe_value) values;
	const char *real_name; // of the function
};

// The values of a request's arguments at a site; 0, or -errno with a sentence.
int probe_values(struct probe_target *target, const struct probe_request *request,
		 const struct probe_site *site, struct probe_event *event);
// Likewise without debug information: raw ones only.
int probe_raw_values(struct probe_target *target, const struct probe_request *request,
		     struct probe_event *event);
// Raw arguments; those by name are parameters, as the kernel's own type information has them.
int probe_kernel_values(struct probe_target *target, const struct probe_request *request,
			struct probe_event *event);

// Their parts.
const char *probe_value_name(struct arena *arena, const struct probe_arg *arg);
void probe_add_raw(struct probe_event *event, const struct probe_arg *arg);
// "+8(", "+u8(" of the user's memory
void probe_put_offset(struct out *out, const struct probe_arg *arg, int64_t offset);
bool probe_is_string(const char *type); // NULL: no; likewise:
bool probe_is_kind(const char *type);	// "s", "u", "x": of the variable's own size
// Bits as the kernel's types have them: 8, 16, 32, 64.
unsigned probe_whole_bits(uint64_t bytes);

// The group of those whose request names none.
const char *probe_group_of(struct probe_target *target);

struct probe_events {
	VEC(struct probe_event) v;
};
void probe_events_done(struct probe_events *events);
// All events that a request makes; -errno with a sentence.
int probe_make_events(struct probe_target *target, const struct probe_request *request,
		      struct probe_events *ret);
// "p:group/event path:0x1 a=%di:s32"
void probe_put_value(struct out *out, const struct probe_value *value);
void probe_put_definition(struct out *out, const struct probe_event *event);

// ---- perf's cache of probes (cached.c): sym/probe_cache.h

// Adds those that the cache has for a request: of the text, or by the names of %[GROUP:]NAME, without a file in all files that are
// still the same. How many; damage of the cache is passed over. -ERANGE with a sentence above --max-probes.
int probe_cached_find(struct probe_target *target, const struct probe_request *request,
		      struct probe_events *events);
// Keeps what a request made. 0, or -errno with a sentence.
int probe_cached_add(struct probe_target *target, const struct probe_request *request,
		     const struct probe_events *events);
