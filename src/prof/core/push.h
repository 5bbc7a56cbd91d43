// SPDX-License-Identifier: GPL-2.0-or-later
// The attribute push=: an event's samples go to who listens (flow/wire.h), and not to the profiler.
#pragma once
#include "prof/core/profiler.h"

struct prof_push; // one place, of as many events as name it

// An event of -e has the attribute. -errno with a sentence.
int prof_push_add(struct prof *prof, struct prof_event *event, const char *where);
// Listens, opens; before the first event. -errno with a sentence.
int prof_push_begin(struct prof *prof);
int prof_push_sample(struct prof *prof, struct prof_event *event, const struct sample *sample);
int prof_push_lost(struct prof *prof, const struct run_loss *loss);
int prof_push_settled(struct prof *prof, uint64_t time_ns); // as the hook of that name
int prof_push_finish(struct prof *prof);
void prof_push_done(struct prof *prof);
