// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/flamegraph/script_layout.h"
#include "base/alloc.h"
#include "base/num.h"
#include "base/time.h"
#include <ctype.h>

enum { LINES_LOOKED_AT = 20000, WORDS_MAX = 64 };
// perf pads ids to at least 5 characters, periods to 10 characters, addresses to 16; a blank stands before.
enum { ID_ROOM = 6, PERIOD_ROOM = 11, ADDRESS_ROOM = 17 };

enum { WHOSE = HEAD_COMM | HEAD_ID | HEAD_PAIR };

struct words {
	struct str v[WORDS_MAX];
	unsigned n;
	struct str line;
};

static void split(struct words *words, struct str line)
{
	size_t i = 0;

	words->n = 0;
	words->line = line;
	while (words->n < WORDS_MAX) {
		while (i < line.n && isspace((unsigned char)line.p[i]))
			i++;
		size_t from = i;
		while (i < line.n && !isspace((unsigned char)line.p[i]))
			i++;
		if (i == from)
			break;
		words->v[words->n++] = (struct str){line.p + from, i - from};
	}
}

// Behind word i - 1.
static struct str rest_from(const struct words *words, unsigned i)
{
	const char *end = words->line.p + words->line.n;
	const char *p = i ? words->v[i - 1].p + words->v[i - 1].n : words->line.p;

	return (struct str){p, (size_t)(end - p)};
}

// The width of a field that is padded on its left.
static size_t room(const struct words *words, unsigned i)
{
	const char *before = i ? words->v[i - 1].p + words->v[i - 1].n : words->line.p;

	return (size_t)(words->v[i].p + words->v[i].n - before);
}

static bool is_number(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!isdigit((unsigned char)s.p[i]))
			return false;
	}
	return s.n > 0 && s.n < 20;
}

static bool is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!isxdigit((unsigned char)s.p[i]))
			return false;
	}
	return s.n > 0 && s.n <= 16;
}

static uint64_t decimal(struct str digits)
{
	uint64_t n = 0;

	for (size_t i = 0; i < digits.n; i++)
		n = n * 10 + (uint64_t)(digits.p[i] - '0');
	return n;
}

// "1234"; -1 for tasks that had no number.
static bool parse_id(struct str word, uint32_t *ret)
{
	if (str_is(word, "-1")) {
		*ret = UINT32_MAX;
		return true;
	}
	if (!is_number(word) || word.n > 10)
		return false;
	*ret = (uint32_t)decimal(word);
	return true;
}

static bool parse_pair(struct str word, struct sample *ret)
{
	const char *slash = memchr(word.p, '/', word.n);
	uint32_t pid, tid;

	if (!slash || !parse_id((struct str){word.p, (size_t)(slash - word.p)}, &pid) ||
	    !parse_id((struct str){slash + 1, (size_t)(word.p + word.n - slash - 1)}, &tid))
		return false;
	ret->pid = pid;
	ret->tid = tid;
	return true;
}

static bool parse_cpu(struct str word, uint32_t *ret)
{
	struct str digits = {word.p + 1, word.n - 2};

	if (word.n < 3 || word.p[0] != '[' || word.p[word.n - 1] != ']' || !is_number(digits) ||
	    digits.n > 6)
		return false;
	*ret = (uint32_t)decimal(digits);
	return true;
}

// "123.456789:"
static bool parse_time(struct str word, uint64_t *ret)
{
	return word.n > 3 && word.p[word.n - 1] == ':' && memchr(word.p, '.', word.n) &&
	       time_parse_sec((struct str){word.p, word.n - 1}, ret) == 0;
}

static bool is_event(struct str word)
{
	return word.n > 1 && word.p[word.n - 1] == ':' &&
	       !is_number((struct str){word.p, word.n - 1});
}

// perf's -F misc ("KE"), the kernel's flags ("d..1."): between the numbers and the time.
static bool is_misc(struct str word)
{
	for (size_t i = 0; i < word.n; i++) {
		if (!isalnum((unsigned char)word.p[i]) && word.p[i] != '.' && word.p[i] != '#')
			return false;
	}
	return word.n < 8 && !is_number(word);
}

static bool is_whom(struct str word)
{
	struct sample sample;
	uint32_t id;

	return parse_id(word, &id) || parse_pair(word, &sample) || parse_cpu(word, &id);
}

bool script_fields_are_sure(unsigned fields)
{
	return (fields & HEAD_TIME) || ((fields & HEAD_EVENT) && (fields & (HEAD_ID | HEAD_PAIR)));
}

// The address of a frame in a line of a head, from word `from` on; n: none. Symbols may look like hexadecimal numbers, and other
// addresses (of data) stand before: the last one counts that has an address' room.
static unsigned find_address(const struct words *words, unsigned from)
{
	for (unsigned i = from; i < words->n; i++) {
		if (!is_hex(words->v[i]) || room(words, i) < ADDRESS_ROOM)
			continue;
		if (i + 1 < words->n && is_hex(words->v[i + 1]) && room(words, i + 1) >= ADDRESS_ROOM)
			continue;
		return i;
	}
	return words->n;
}

bool script_word_is_detail(struct str word)
{
	static const char *const marks[] = {"/P/", "/M/",
					    "/-/"}; // of a branch: predicted, missed, unknown

	if (str_starts(word, "ABI:") || str_is(word, "insn:") || str_is(word, "ilen:"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (word.n && memmem(word.p, word.n, marks[i], 3))
			return true;
	}
	return false;
}

// Branches by name begin with words that anything could be, or at once: the frame ends with its file.
static struct str before_details(struct str rest, const char *details)
{
	for (size_t i = 0; i + 2 < rest.n; i++) {
		if (memcmp(rest.p + i, " (/", 3) != 0 && memcmp(rest.p + i, " ([", 3) != 0)
			continue;
		const char *end = memchr(rest.p + i, ')', rest.n - i);

		return (struct str){rest.p, end ? (size_t)(end + 1 - rest.p) : rest.n};
	}
	return (struct str){rest.p, (size_t)(details - rest.p)};
}

bool script_frame_find(struct str rest, uint64_t *ret_ip, struct str *ret_rest)
{
	struct words words;

	split(&words, rest);
	unsigned at = find_address(&words, 0);
	if (at == words.n) // other programs don't pad
		at = 0;
	if (!words.n || !is_hex(words.v[at]) || (words.v[at].n < 3 && room(&words, at) < 3))
		return false;
	if (num_parse_hex(words.v[at], ret_ip) < 0)
		return false;
	*ret_rest = rest_from(&words, at + 1);
	for (unsigned i = at + 1; i < words.n; i++) {
		if (script_word_is_detail(words.v[i])) {
			*ret_rest = before_details(*ret_rest, words.v[i].p);
			break;
		}
	}
	return true;
}

// The fields that the words before `end` have when nothing but their own look is known.
static unsigned guess_before(const struct words *words, unsigned end, bool padded)
{
	struct sample sample;
	unsigned fields = 0, i = end;
	uint32_t id;

	if (i && parse_cpu(words->v[i - 1], &id)) {
		fields |= HEAD_CPU;
		i--;
	}
	if (i && parse_pair(words->v[i - 1], &sample)) {
		fields |= HEAD_PAIR;
		i--;
	} else if (i && parse_id(words->v[i - 1], &id) &&
		   (!padded || room(words, i - 1) + (i == 1) >= ID_ROOM)) {
		fields |= HEAD_ID;
		i--;
	}
	return fields | (i ? HEAD_COMM : 0);
}

static bool is_period(const struct words *words, unsigned i)
{
	if (!is_number(words->v[i]))
		return false;
	return room(words, i) >= PERIOD_ROOM ||
	       (i > 1 && is_whom(words->v[i - 1]) && room(words, i) == words->v[i].n + 1);
}

static unsigned guess_untimed(const struct words *words)
{
	unsigned address = find_address(words, 0), end = address, event = address, fields = 0;

	for (unsigned i = 0; i < address; i++) {
		if (!is_event(words->v[i]))
			continue;
		if (event == address || (i && is_whom(words->v[i - 1])))
			event = i;
		if (i && is_whom(words->v[i - 1]))
			break;
	}
	if (event < address) {
		fields = HEAD_EVENT;
		end = event;
	}
	if (end && is_period(words, end - 1)) {
		fields |= HEAD_PERIOD;
		end--;
	}
	// Without padding it could be the end of a name.
	return fields | guess_before(words, end, true);
}

static unsigned guess(const struct words *words)
{
	unsigned time = 0, end, next;
	uint64_t when;

	while (time < words->n && !parse_time(words->v[time], &when))
		time++;
	if (time == words->n)
		return guess_untimed(words);
	end = time;
	if (end > 1 && is_misc(words->v[end - 1]) && is_whom(words->v[end - 2]))
		end--;
	// Some squeeze blanks, or print none for padding; perf pads all or nothing.
	bool padded = room(words, time) > words->v[time].n + 1;
	unsigned fields = guess_before(words, end, padded) | HEAD_TIME;
	next = time + 1;
	if (next < words->n && is_number(words->v[next]) &&
	    (next + 1 == words->n || is_event(words->v[next + 1]) ||
	     find_address(words, next + 1) == next + 1)) {
		fields |= HEAD_PERIOD;
		next++;
	}
	if (next < words->n && is_event(words->v[next]))
		fields |= HEAD_EVENT;
	return fields;
}

// Words from `i` on are all fields behind the command's name. Returns the word behind them, 0: they are not.
static unsigned match_fields(unsigned fields, const struct words *words, unsigned i,
			     struct script_head *ret)
{
	struct sample *sample = &ret->sample;

	if (fields & HEAD_ID) {
		if (i >= words->n || !parse_id(words->v[i++], &sample->tid))
			return 0;
		sample->pid = sample->tid;
	}
	if ((fields & HEAD_PAIR) && (i >= words->n || !parse_pair(words->v[i++], sample)))
		return 0;
	if ((fields & HEAD_CPU) && (i >= words->n || !parse_cpu(words->v[i++], &sample->cpu)))
		return 0;
	if (fields & HEAD_TIME) {
		if (i + 1 < words->n && is_misc(words->v[i]) &&
		    (fields & (HEAD_ID | HEAD_PAIR | HEAD_CPU)) &&
		    !parse_time(words->v[i], &sample->time))
			i++;
		if (i >= words->n || !parse_time(words->v[i++], &sample->time))
			return 0;
	}
	if (fields & HEAD_PERIOD) {
		if (i >= words->n || !is_number(words->v[i]))
			return 0;
		ret->period = decimal(words->v[i++]);
	}
	if (fields & HEAD_EVENT) {
		if (i >= words->n || !is_event(words->v[i]))
			return 0;
		ret->event = (struct str){words->v[i].p, words->v[i].n - 1};
		i++;
	}
	return i;
}

static bool match(unsigned fields, const struct words *words, unsigned comm_words,
		  struct script_head *ret)
{
	struct script_head head = {.period = 1,
				   .sample = {.pid = UINT32_MAX,
					      .tid = UINT32_MAX,
					      .cpu = UINT32_MAX,
					      .time = UINT64_MAX}};
	unsigned end = match_fields(fields, words, comm_words, &head);

	if (!end && (fields & ~(unsigned)HEAD_COMM))
		return false;
	if (!(fields & ~(unsigned)HEAD_COMM))
		end = comm_words;
	head.rest = rest_from(words, end);
	// Nothing but an address can follow fields that anything could be.
	if (!script_fields_are_sure(fields) && !(fields & HEAD_EVENT) && end < words->n &&
	    find_address(words, end) == words->n)
		return false;
	if (comm_words) {
		const struct str *last = &words->v[comm_words - 1];

		head.comm = (struct str){words->v[0].p, (size_t)(last->p + last->n - words->v[0].p)};
	}
	*ret = head;
	return true;
}

bool script_head_parse(unsigned fields, struct str line, struct script_head *ret)
{
	struct words words;

	split(&words, line);
	if (!words.n)
		return false;
	if (!(fields & HEAD_COMM))
		return match(fields, &words, 0, ret);
	if (!(fields & ~(unsigned)HEAD_COMM))
		return match(fields, &words, find_address(&words, 1), ret);
	if (script_fields_are_sure(fields)) {
		for (unsigned i = 1; i < words.n; i++) {
			if (match(fields, &words, i, ret))
				return true;
		}
	} else {
		for (unsigned i = words.n - 1; i; i--) {
			if (match(fields, &words, i, ret))
				return true;
		}
	}
	// A task may have an empty name.
	return isspace((unsigned char)line.p[0]) && match(fields, &words, 0, ret);
}

bool script_frame_line(const struct script_layout *layout, struct str line, uint64_t *ret_ip,
		       struct str *ret_rest)
{
	size_t i = 0;

	if (!layout->has_frames)
		return false;
	if (layout->indent == FRAMES_TAB
		    ? !line.n || line.p[0] != '\t'
		    : layout->indent == FRAMES_BLANK && (!line.n || line.p[0] != ' '))
		return false;
	while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
		i++;
	size_t from = i;
	while (i < line.n && !isspace((unsigned char)line.p[i]))
		i++;
	struct str word = {line.p + from, i - from};
	if (!is_hex(word) || num_parse_hex(word, ret_ip) < 0)
		return false;
	*ret_rest = (struct str){line.p + i, line.n - i};
	// A word alone may be anything that has only such letters.
	if (layout->indent != FRAMES_TAB && word.n < 6 && !str_trim(*ret_rest).n)
		return false;
	return true;
}

bool script_is_record(const struct script_layout *layout, struct str line)
{
	const char *at = line.n ? memmem(line.p, line.n, "PERF_RECORD_", 12) : NULL;
	struct script_head head;

	if (!at || at + 12 == line.p + line.n || !isupper((unsigned char)at[12]))
		return false;
	struct str before = {line.p, (size_t)(at - line.p)};
	if (!str_trim(before).n)
		return true;
	for (unsigned i = 0; i < layout->n; i++) {
		unsigned fields = layout->heads[i] & ~(unsigned)(HEAD_PERIOD | HEAD_EVENT);

		if (fields && script_head_parse(fields, before, &head) && !str_trim(head.rest).n)
			return true;
	}
	return false;
}

struct votes {
	uint32_t of[HEAD_EVENT * 2];
};

// The most wanted; more fields win where equally many lines have them.
static unsigned winner(const struct votes *votes)
{
	unsigned best = 0;

	for (unsigned i = 1; i < HEAD_EVENT * 2; i++) {
		if (votes->of[i] > votes->of[best] ||
		    (votes->of[i] == votes->of[best] &&
		     __builtin_popcount(i) > __builtin_popcount(best)))
			best = i;
	}
	return votes->of[best] ? best : 0;
}

// By lines that begin with a tab, else with a blank, and go on with an address and a name.
static void find_frames(struct script_layout *layout, struct str text)
{
	uint64_t lines = 0, found[FRAMES_FLUSH + 1] = {0}, ip;
	struct words words;
	struct str rest;

	while (text.p && lines++ < LINES_LOOKED_AT) {
		struct str line = str_cut(&text, '\n');

		if (!str_trim(line).n) {
			layout->has_blank_lines |= text.n > 0 && lines > 1;
			continue;
		}
		for (enum frame_indent i = FRAMES_TAB; i <= FRAMES_FLUSH; i++) {
			struct script_layout as = {.indent = i, .has_frames = true};

			if (!script_frame_line(&as, line, &ip, &rest))
				continue;
			split(&words, line);
			// Else the first word is a number and the address comes behind it.
			if (i == FRAMES_TAB || (words.n > 1 && find_address(&words, 1) == words.n &&
						!script_fields_are_sure(guess(&words))))
				found[i]++;
			break;
		}
	}
	layout->has_frames = found[FRAMES_TAB] || found[FRAMES_BLANK] || found[FRAMES_FLUSH];
	layout->indent = found[FRAMES_TAB]			      ? FRAMES_TAB
			 : found[FRAMES_BLANK] >= found[FRAMES_FLUSH] ? FRAMES_BLANK
								      : FRAMES_FLUSH;
}

static void find_heads(struct script_layout *layout, struct str text)
{
	struct votes votes = {0};
	uint64_t lines = 0, ip;
	struct words words;
	struct str frame;
	bool in_chain = false;

	while (text.p && lines++ < LINES_LOOKED_AT) {
		struct str line = str_cut(&text, '\n'), next = text;

		if (!str_trim(line).n || str_starts(line, "# ") ||
		    memmem(line.p, line.n, "PERF_RECORD_", 12)) {
			in_chain = false;
			continue;
		}
		split(&words, line);
		unsigned fields = guess(&words);
		if (script_fields_are_sure(fields)) {
			votes.of[fields] += 2; // little else looks like that
			in_chain = false;
			continue;
		}
		if (script_frame_line(layout, line, &ip, &frame)) {
			in_chain = true;
			continue;
		}
		next = str_cut(&next, '\n');
		if (in_chain) // the source line of a frame
			continue;
		if (find_address(&words, 0) < words.n || script_frame_line(layout, next, &ip, &frame))
			votes.of[fields]++;
	}
	uint32_t most = 0;
	for (unsigned fields; layout->n < LAYOUT_HEADS_MAX && (fields = winner(&votes));) {
		// Events differ in what their samples hold, but all say whose they are, or none.
		bool is_like = !layout->n || (script_fields_are_sure(fields) &&
					      ((fields ^ layout->heads[0]) & WHOSE) == 0);

		most = MAX(most, votes.of[fields]);
		if (is_like && votes.of[fields] >= most / 64)
			layout->heads[layout->n++] = fields;
		votes.of[fields] = 0;
	}
}

void script_layout_find(struct script_layout *ret, struct str text)
{
	*ret = (struct script_layout){0};
	find_frames(ret, text);
	find_heads(ret, text);
}
