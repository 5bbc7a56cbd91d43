// SPDX-License-Identifier: GPL-2.0-or-later
// The words of a line of perf script's text, and which fields they may be. perf pads ids and seconds to at least 5 characters,
// periods to 10, addresses to 16, and a blank stands before: what stands closer is part of a task's name. `padded`: the text is
// perf's own, with these blanks; others squeeze them.
#pragma once
#include "abi/sample.h"
#include "base/str.h"

enum { WORDS_MAX = 64 };
enum { ID_ROOM = 6, PERIOD_ROOM = 11, ADDRESS_ROOM = 17 };
// Names of tasks are padded to 16 where no call chains are printed.
enum { COMM_COLUMNS = 16 };

struct words {
	struct str v[WORDS_MAX];
	unsigned n;
	struct str line;
};

void words_split(struct words *words, struct str line);
// Behind word i - 1.
struct str words_rest(const struct words *words, unsigned i);
// The width of a field that is padded on its left.
size_t words_room(const struct words *words, unsigned i);
// Has word i the room that perf gives it? `digits`: how many of its characters are padded.
bool words_has_room(const struct words *words, unsigned i, size_t digits, size_t wanted);

bool word_is_number(struct str s);
bool word_is_hex(struct str s);
uint64_t word_decimal(struct str digits);
// "cpu-clock:"
bool word_is_event(struct str word);
// perf's -F misc ("KE"), the kernel's flags ("d..1."): between the numbers and the time.
bool word_is_misc(struct str word);
// "123.456789:"
bool word_time(struct str word, uint64_t *ret);

// Is word i an id, a pair of them, a CPU, one of these, a time? Any i will do.
bool words_id(const struct words *words, unsigned i, bool padded, uint32_t *ret);
bool words_pair(const struct words *words, unsigned i, bool padded, struct sample *ret);
bool words_cpu(const struct words *words, unsigned i, bool padded, uint32_t *ret);
bool words_whom(const struct words *words, unsigned i, bool padded);
// A name may end like a time: the time is then the second one.
bool words_time(const struct words *words, unsigned i, bool padded, uint64_t *ret);
// The address of a frame in a line of a head, from word `from` on; n: none. Symbols may look like hexadecimal numbers, and other
// addresses (of data) stand before: the last one counts that has an address' room.
unsigned words_address(const struct words *words, unsigned from);
// The words of a name that is padded to 16 columns; 0: it isn't.
unsigned words_in_columns(const struct words *words);
