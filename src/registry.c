// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of all plug-ins. The build writes one list per plug-in folder, PLUGIN(name) for each file in
// it; each list is read twice, for the declarations and for the table. Nothing here changes for a new
// plug-in.
#include "cmd/core/command.h"

#define PLUGIN(name) extern const struct command command_##name;
#include "cmd.list"
#undef PLUGIN
#define PLUGIN(name) &command_##name,
const struct command *const commands[] = {
#include "cmd.list"
	NULL};
#undef PLUGIN

#if __has_include("prof/core/profiler.h")
#include "prof/core/profiler.h"
#define PLUGIN(name) extern const struct profiler profiler_##name;
#include "prof.list"
#undef PLUGIN
#define PLUGIN(name) &profiler_##name,
const struct profiler *const profilers[] = {
#include "prof.list"
	NULL};
#undef PLUGIN
#endif

#if __has_include("tool/core/tool.h")
#include "tool/core/tool.h"
#define PLUGIN(name) extern const struct tool tool_##name;
#include "tool.list"
#undef PLUGIN
#define PLUGIN(name) &tool_##name,
const struct tool *const tools[] = {
#include "tool.list"
	NULL};
#undef PLUGIN
#endif

#if __has_include("input/core/input.h")
#include "input/core/input.h"
#define PLUGIN(name) extern const struct input input_##name;
#include "input.list"
#undef PLUGIN
#define PLUGIN(name) &input_##name,
const struct input *const inputs[] = {
#include "input.list"
	NULL};
#undef PLUGIN
#endif

#if __has_include("event/core/event_kind.h")
#include "event/core/event_kind.h"
#define PLUGIN(name) extern const struct event_kind event_kind_##name;
#include "event.list"
#undef PLUGIN
#define PLUGIN(name) &event_kind_##name,
const struct event_kind *const event_kinds[] = {
#include "event.list"
	NULL};
#undef PLUGIN
#endif

#if __has_include("encoder/core/encoder.h")
#include "encoder/core/encoder.h"
#define PLUGIN(name) extern const struct encoder encoder_##name;
#include "encoder.list"
#undef PLUGIN
#define PLUGIN(name) &encoder_##name,
const struct encoder *const encoders[] = {
#include "encoder.list"
	NULL};
#undef PLUGIN
#endif
