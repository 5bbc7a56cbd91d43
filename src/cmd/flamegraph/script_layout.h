// SPDX-License-Identifier: GPL-2.0-or-later
// How a text of perf script is laid out: it depends on fields and options (-F, -G, ...) and isn't written down in the text, so
// it is taken from the first lines. A line is then read by what all lines have, not by what it looks like itself. What ends a task's name
// like a field is one only where all samples of the event have it ("b [001]" as the only name there is: "b" on CPU 1).
#pragma once
#include "abi/sample.h"
#include "base/str.h"

enum head_field {
	HEAD_COMM = 1,
	HEAD_ID = 2,   // "123": which of process and thread it is nobody says
	HEAD_PAIR = 4, // "123/124"
	HEAD_CPU = 8,  // "[001]"
	HEAD_TIME = 16,
	HEAD_PERIOD = 32,
	HEAD_EVENT = 64,
	// Of all heads of a text:
	HEAD_PADDED = 128,  // has the blanks that perf puts before short fields
	HEAD_COLUMNS = 256, // a name that begins with a blank has 16 columns
	HEAD_UNTIMED = 512, // what looks like a time is the end of a name
};

// How lines of frames begin.
enum frame_indent { FRAMES_TAB, FRAMES_BLANK, FRAMES_FLUSH };

enum { LAYOUT_HEADS_MAX = 8 };

struct script_layout {
	unsigned heads[LAYOUT_HEADS_MAX]; // sets of fields; most lines have the first (events may have different ones)
	unsigned n;			  // 0: frames alone
	enum frame_indent indent;
	bool has_frames;
	bool has_blank_lines; // between samples
};

// The line that begins a sample.
struct script_head {
	struct str comm, event; // of n 0: not there
	struct str rest;	// behind the last field
	uint64_t period;	// 1: not there
	struct sample sample;	// of its pid, tid, cpu, time what is there, else all ones
};

// From the first 20,000 lines.
void script_layout_find(struct script_layout *ret, struct str text);
// Can fields like these be told from other text by themselves, without frames below?
bool script_fields_are_sure(unsigned fields);
// Has the line these fields?
bool script_head_parse(unsigned fields, struct str line, struct script_head *ret);
// "   ffffffff81054fbf do_idle+0x1f ([kernel.kallsyms])", whatever stands before the address in a line's rest. *ret_rest: behind the address.
bool script_frame_find(struct str rest, uint64_t *ret_ip, struct str *ret_rest);
// Begins with it what -F brstack, iregs, insn, insnlen add behind the frames?
bool script_word_is_detail(struct str word);
// As script_frame_find where nothing stands before it, in a line of its own with the text's indentation.
bool script_frame_line(const struct script_layout *layout, struct str line, uint64_t *ret_ip,
		       struct str *ret_rest);
// A line that perf prints for another record than a sample.
bool script_is_record(const struct script_layout *layout, struct str line);
