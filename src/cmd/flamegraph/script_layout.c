// SPDX-License-Identifier: GPL-2.0-or-later
// perf script's text doesn't say which fields it has. cmd/flamegraph/script_layout takes from the first lines which ones the
// heads of samples have, whether they have the blanks that perf puts before short fields, and how frames begin; then each line
// is read by that, so names of tasks may hold anything. What ends a name like a field is a field only where all samples of the
// event have it. A text of which more is dropped than used is refused.
#include "cmd/flamegraph/script_layout.h"
#include "base/alloc.h"
#include "base/num.h"
#include "cmd/flamegraph/script_words.h"
#include <ctype.h>

// A time that more than TIMES_EQUAL lines have, and no line another, is the end of a name.
enum { LINES_LOOKED_AT = 20000, EVENTS_MAX = 64, TIMES_EQUAL = 8 };
enum { WHOSE = HEAD_COMM | HEAD_ID | HEAD_PAIR, ALL_FIELDS = HEAD_EVENT * 2 - 1 };

bool script_fields_are_sure(unsigned fields)
{
	return (fields & HEAD_TIME) || ((fields & HEAD_EVENT) && (fields & (HEAD_ID | HEAD_PAIR)));
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

	words_split(&words, rest);
	unsigned at = words_address(&words, 0);
	if (at == words.n) // other programs don't pad
		at = 0;
	if (!words.n || !word_is_hex(words.v[at]) ||
	    (words.v[at].n < 3 && words_room(&words, at) < 3))
		return false;
	if (num_parse_hex(words.v[at], ret_ip) < 0)
		return false;
	*ret_rest = words_rest(&words, at + 1);
	for (unsigned i = at + 1; i < words.n; i++) {
		if (script_word_is_detail(words.v[i])) {
			*ret_rest = before_details(*ret_rest, words.v[i].p);
			break;
		}
	}
	return true;
}

// The fields that the words before `end` have when nothing but their own look is known. `behind`: what is known of the head. Where
// no time stands behind it, a number without padding could be the end of a name in others' texts, too.
static unsigned guess_before(const struct words *words, unsigned end, unsigned behind)
{
	bool padded = behind & HEAD_PADDED;
	struct sample sample;
	unsigned fields = 0, i = end;
	uint32_t id;

	if (i && words_cpu(words, i - 1, padded, &id)) {
		fields |= HEAD_CPU;
		i--;
	}
	if (i && words_pair(words, i - 1, padded, &sample)) {
		fields |= HEAD_PAIR;
		i--;
	} else if (i && words_id(words, i - 1, padded || !(behind & HEAD_TIME), &id)) {
		fields |= HEAD_ID;
		i--;
	}
	return fields | (i ? HEAD_COMM : 0);
}

static bool is_period(const struct words *words, unsigned i, bool padded)
{
	if (!word_is_number(words->v[i]))
		return false;
	return words_has_room(words, i, words->v[i].n, PERIOD_ROOM) ||
	       (!padded && i > 1 && words_whom(words, i - 1, false) &&
		words_room(words, i) == words->v[i].n + 1);
}

static unsigned guess_untimed(const struct words *words, unsigned look)
{
	unsigned address = words_address(words, 0), end = address, event = address, fields = 0;

	for (unsigned i = 0; i < address; i++) {
		bool is_behind_whom = i && words_whom(words, i - 1, true);

		if (words_whom(words, i, true))
			event = address; // what came before is of the name
		// The last word, too, is more likely one than what stands in a name.
		if (word_is_event(words->v[i]) &&
		    (event == address || is_behind_whom || i + 1 == address))
			event = i;
		if (is_behind_whom && event == i)
			break;
	}
	if (event < address) {
		fields = HEAD_EVENT;
		end = event;
	}
	if (end && is_period(words, end - 1, look & HEAD_PADDED)) {
		fields |= HEAD_PERIOD;
		end--;
	}
	return fields | guess_before(words, end, look);
}

// The first one that stands behind an id or a CPU, else the first one; n: none.
static unsigned find_time(const struct words *words, bool padded)
{
	unsigned first = words->n;
	uint64_t when;

	for (unsigned i = 0; i < words->n; i++) {
		if (!words_time(words, i, padded, &when))
			continue;
		if (!padded || (i && words_whom(words, i - 1, true)))
			return i;
		first = MIN(first, i);
	}
	return first;
}

static unsigned guess_words(const struct words *words, unsigned look)
{
	bool padded = look & HEAD_PADDED;
	unsigned time = find_time(words, padded), end, next;

	if (time == words->n || (look & HEAD_UNTIMED))
		return guess_untimed(words, look);
	end = time;
	if (end > 1 && word_is_misc(words->v[end - 1]) && words_whom(words, end - 2, padded))
		end--;
	unsigned fields = guess_before(words, end, look | HEAD_TIME) | HEAD_TIME;
	next = time + 1;
	if (next < words->n && word_is_number(words->v[next]) &&
	    (next + 1 == words->n || word_is_event(words->v[next + 1]) ||
	     words_address(words, next + 1) == next + 1)) {
		fields |= HEAD_PERIOD;
		next++;
	}
	if (next < words->n && word_is_event(words->v[next]))
		fields |= HEAD_EVENT;
	return fields;
}

// `look`: HEAD_PADDED to HEAD_UNTIMED of the text.
static unsigned guess(struct str line, unsigned look)
{
	struct words words;

	words_split(&words, line);
	unsigned n = look & HEAD_COLUMNS ? words_in_columns(&words) : 0;
	if (n) {
		words_split(&words, (struct str){line.p + COMM_COLUMNS, line.n - COMM_COLUMNS});
		return guess_words(&words, look) | HEAD_COMM | look;
	}
	return guess_words(&words, look) | look;
}

// Words from `i` on are all fields behind the command's name. Returns the word behind them, 0: they are not.
static unsigned match_fields(unsigned fields, const struct words *words, unsigned i,
			     struct script_head *ret)
{
	struct sample *sample = &ret->sample;
	bool padded = fields & HEAD_PADDED;

	if (fields & HEAD_ID) {
		if (!words_id(words, i++, padded, &sample->tid))
			return 0;
		sample->pid = sample->tid;
	}
	if ((fields & HEAD_PAIR) && !words_pair(words, i++, padded, sample))
		return 0;
	if ((fields & HEAD_CPU) && !words_cpu(words, i++, padded, &sample->cpu))
		return 0;
	if (fields & HEAD_TIME) {
		if (i + 1 < words->n && word_is_misc(words->v[i]) &&
		    (fields & (HEAD_ID | HEAD_PAIR | HEAD_CPU)) &&
		    !word_time(words->v[i], &sample->time))
			i++;
		if (!words_time(words, i++, padded, &sample->time))
			return 0;
	}
	if (fields & HEAD_PERIOD) {
		if (i >= words->n || !word_is_number(words->v[i]))
			return 0;
		ret->period = word_decimal(words->v[i++]);
	}
	if (fields & HEAD_EVENT) {
		if (i >= words->n || !word_is_event(words->v[i]))
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

	if (!end && (fields & ALL_FIELDS & ~(unsigned)HEAD_COMM))
		return false;
	if (!(fields & ALL_FIELDS & ~(unsigned)HEAD_COMM))
		end = comm_words;
	head.rest = words_rest(words, end);
	// Nothing but an address can follow fields that anything could be.
	if (!script_fields_are_sure(fields) && !(fields & HEAD_EVENT) && end < words->n &&
	    words_address(words, end) == words->n)
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

	words_split(&words, line);
	if (!words.n)
		return false;
	if (!(fields & HEAD_COMM))
		return match(fields, &words, 0, ret);
	unsigned columns = fields & HEAD_COLUMNS ? words_in_columns(&words) : 0;
	if (columns && match(fields, &words, columns, ret))
		return true;
	if (!(fields & ALL_FIELDS & ~(unsigned)HEAD_COMM))
		return match(fields, &words, words_address(&words, 1), ret);
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

	if (!layout->has_frames || !line.n)
		return false;
	if (layout->indent == FRAMES_TAB ? line.p[0] != '\t'
					 : layout->indent == FRAMES_BLANK && line.p[0] != ' ')
		return false;
	while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
		i++;
	size_t from = i;
	while (i < line.n && !isspace((unsigned char)line.p[i]))
		i++;
	struct str word = {line.p + from, i - from};
	if (!word_is_hex(word) || num_parse_hex(word, ret_ip) < 0)
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

// By lines that begin with a tab, else with a blank, and go on with an address and a name.
static void find_frames(struct script_layout *layout, struct str text, unsigned look)
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
			words_split(&words, line);
			// Else the first word is a number and the address comes behind it.
			if (i == FRAMES_TAB || (words.n > 1 && words_address(&words, 1) == words.n &&
						!script_fields_are_sure(guess(line, look))))
				found[i]++;
			break;
		}
	}
	layout->has_frames = found[FRAMES_TAB] || found[FRAMES_BLANK] || found[FRAMES_FLUSH];
	layout->indent = found[FRAMES_TAB]			      ? FRAMES_TAB
			 : found[FRAMES_BLANK] >= found[FRAMES_FLUSH] ? FRAMES_BLANK
								      : FRAMES_FLUSH;
}

static bool is_other_line(struct str line)
{
	return !str_trim(line).n || str_starts(line, "# ") ||
	       memmem(line.p, line.n, "PERF_RECORD_", 12);
}

struct look {
	uint64_t padded, squeezed; // heads with times
	uint64_t padded_frames, squeezed_frames;
	uint64_t in_columns, in_none;
	uint64_t first_time;
	bool times_pass, has_wide_times;
};

static void look_at_frame(struct look *look, const struct words *words)
{
	bool is_short = word_is_hex(words->v[0]) && words->v[0].n < ADDRESS_ROOM - 1;

	look->padded_frames += is_short && words_room(words, 0) >= ADDRESS_ROOM;
	look->squeezed_frames += is_short && words_room(words, 0) < ADDRESS_ROOM;
}

// Is the line a name in its columns? "  489 cpu-clock:" has their width, too, but a name with nothing behind it is no id and event.
static bool is_name_in_columns(const struct words *words)
{
	unsigned n = words_in_columns(words), fields;

	if (!n || n < words->n)
		return n > 0;
	fields = guess_words(words, HEAD_PADDED);
	return (fields & HEAD_COMM) || !script_fields_are_sure(fields);
}

static void look_at_head(struct look *look, const struct words *words)
{
	unsigned i = find_time(words, true);
	bool is_padded = i < words->n;
	uint64_t when;

	if (words->line.p[0] == ' ' && words->line.n > COMM_COLUMNS) {
		bool is_in = is_name_in_columns(words);

		look->in_columns += is_in;
		look->in_none += !is_in;
	}
	if (!is_padded)
		i = find_time(words, false);
	if (!words_time(words, i, false, &when))
		return;
	look->times_pass |= look->padded + look->squeezed && when != look->first_time;
	look->has_wide_times |= words_room(words, i) > words->v[i].n + 1;
	look->first_time = when;
	look->padded += is_padded;
	look->squeezed += !is_padded;
}

// Is it perf's own text, with all its blanks (others squeeze them), are names padded, and do times pass? HEAD_PADDED to HEAD_UNTIMED.
static unsigned find_look(struct str text)
{
	struct look look = {0};
	struct words words;

	for (uint64_t lines = 0; text.p && lines < LINES_LOOKED_AT; lines++) {
		struct str line = str_cut(&text, '\n');

		if (is_other_line(line))
			continue;
		words_split(&words, line);
		if (line.p[0] == '\t')
			look_at_frame(&look, &words);
		else
			look_at_head(&look, &words);
	}
	bool is_untimed = look.padded + look.squeezed > TIMES_EQUAL && !look.times_pass &&
			  !look.has_wide_times;
	// Large times don't show whether short ones are padded.
	bool is_padded = look.padded >= look.squeezed && look.has_wide_times;

	if (!look.has_wide_times && (is_untimed || look.padded >= look.squeezed))
		is_padded = look.padded_frames >= look.squeezed_frames;
	if (look.in_columns && look.in_columns >= look.in_none)
		return HEAD_PADDED | HEAD_COLUMNS | (is_untimed ? HEAD_UNTIMED : 0);
	return (is_padded ? HEAD_PADDED : 0) | (is_untimed ? HEAD_UNTIMED : 0);
}

// How many lines have which fields, by event.
struct votes {
	struct event_votes {
		struct str event;
		uint32_t of[ALL_FIELDS + 1];
	} events[EVENTS_MAX];
	unsigned n;
};

static void vote(struct votes *votes, unsigned fields, struct str line, uint32_t weight)
{
	struct script_head head;
	unsigned i = 0;

	if (!script_head_parse(fields, line, &head))
		head.event = (struct str){0};
	while (i < votes->n && !str_eq(votes->events[i].event, head.event))
		i++;
	if (i == EVENTS_MAX)
		i--;
	else if (i == votes->n)
		votes->events[votes->n++].event = head.event;
	votes->events[i].of[fields & ALL_FIELDS] += weight;
}

// Samples of one event have the same fields: what looks like an id or a CPU, but is missing where the task has another name, is the
// end of a name.
static void take_back_from_names(struct event_votes *votes)
{
	for (unsigned all = 0; all <= ALL_FIELDS; all++) {
		for (unsigned some = 0; some < all && votes->of[all]; some++) {
			unsigned name = all ^ some;

			if (!votes->of[some] || (all & some) != some || !(some & HEAD_COMM) ||
			    !script_fields_are_sure(some) ||
			    (name & ~(unsigned)(HEAD_ID | HEAD_PAIR | HEAD_CPU)))
				continue;
			if (some & (HEAD_ID | HEAD_PAIR)) // these stand between the name and the CPU
				continue;
			votes->of[some] += votes->of[all];
			votes->of[all] = 0;
		}
	}
}

// The most wanted; more fields win where equally many lines have them.
static unsigned winner(const uint32_t *votes)
{
	unsigned best = 0;

	for (unsigned i = 1; i <= ALL_FIELDS; i++) {
		if (votes[i] > votes[best] ||
		    (votes[i] == votes[best] && __builtin_popcount(i) > __builtin_popcount(best)))
			best = i;
	}
	return votes[best] ? best : 0;
}

static void find_votes(const struct script_layout *layout, struct votes *ret, struct str text,
		       unsigned look)
{
	uint64_t lines = 0, ip;
	struct words words;
	struct str frame;
	bool in_chain = false;

	while (text.p && lines++ < LINES_LOOKED_AT) {
		struct str line = str_cut(&text, '\n'), next = text;

		if (is_other_line(line)) {
			in_chain = false;
			continue;
		}
		unsigned fields = guess(line, look);
		if (script_fields_are_sure(fields)) {
			vote(ret, fields, line, 2); // little else looks like that
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
		words_split(&words, line);
		if (words_address(&words, 0) < words.n ||
		    script_frame_line(layout, next, &ip, &frame))
			vote(ret, fields, line, 1);
	}
}

static void find_heads(struct script_layout *layout, struct str text, unsigned look)
{
	struct votes *votes = xcalloc(1, sizeof(*votes));
	uint32_t sums[ALL_FIELDS + 1] = {0}, most = 0;

	find_votes(layout, votes, text, look);
	for (unsigned i = 0; i < votes->n; i++) {
		if (look & HEAD_PADDED)
			take_back_from_names(&votes->events[i]);
		for (unsigned fields = 0; fields <= ALL_FIELDS; fields++)
			sums[fields] += votes->events[i].of[fields];
	}
	free(votes);
	for (unsigned fields; layout->n < LAYOUT_HEADS_MAX && (fields = winner(sums));) {
		// Events differ in what their samples hold, but all say whose they are, or none.
		bool is_like = !layout->n || (script_fields_are_sure(fields) &&
					      ((fields ^ layout->heads[0]) & WHOSE) == 0);

		most = MAX(most, sums[fields]);
		if (is_like && sums[fields] >= most / 64)
			layout->heads[layout->n++] = fields | look;
		sums[fields] = 0;
	}
}

void script_layout_find(struct script_layout *ret, struct str text)
{
	unsigned look = find_look(text);

	*ret = (struct script_layout){0};
	find_frames(ret, text, look);
	find_heads(ret, text, look);
}
