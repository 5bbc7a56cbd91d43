// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/flamegraph/script_words.h"
#include "base/time.h"
#include <ctype.h>

enum { CPU_DIGITS = 3 };

void words_split(struct words *words, struct str line)
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

struct str words_rest(const struct words *words, unsigned i)
{
	const char *end = words->line.p + words->line.n;
	const char *p = i ? words->v[i - 1].p + words->v[i - 1].n : words->line.p;

	return (struct str){p, (size_t)(end - p)};
}

size_t words_room(const struct words *words, unsigned i)
{
	const char *before = i ? words->v[i - 1].p + words->v[i - 1].n : words->line.p;

	return (size_t)(words->v[i].p + words->v[i].n - before);
}

bool word_is_number(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!isdigit((unsigned char)s.p[i]))
			return false;
	}
	return s.n > 0 && s.n < 20;
}

bool word_is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!isxdigit((unsigned char)s.p[i]))
			return false;
	}
	return s.n > 0 && s.n <= 16;
}

uint64_t word_decimal(struct str digits)
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
	if (!word_is_number(word) || word.n > 10)
		return false;
	*ret = (uint32_t)word_decimal(word);
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

	if (word.n < 3 || word.p[0] != '[' || word.p[word.n - 1] != ']' ||
	    !word_is_number(digits) || digits.n > 6)
		return false;
	*ret = (uint32_t)word_decimal(digits);
	return true;
}

bool word_time(struct str word, uint64_t *ret)
{
	return word.n > 3 && word.p[word.n - 1] == ':' && memchr(word.p, '.', word.n) &&
	       time_parse_sec((struct str){word.p, word.n - 1}, ret) == 0;
}

bool word_is_event(struct str word)
{
	uint64_t when;

	return word.n > 1 && word.p[word.n - 1] == ':' &&
	       !word_is_number((struct str){word.p, word.n - 1}) && !word_time(word, &when);
}

bool word_is_misc(struct str word)
{
	for (size_t i = 0; i < word.n; i++) {
		if (!isalnum((unsigned char)word.p[i]) && word.p[i] != '.' && word.p[i] != '#')
			return false;
	}
	return word.n < 8 && !word_is_number(word);
}

bool words_has_room(const struct words *words, unsigned i, size_t digits, size_t wanted)
{
	size_t blank = i == 0; // nothing stands before

	return words_room(words, i) - words->v[i].n + digits + blank >= wanted;
}

bool words_id(const struct words *words, unsigned i, bool padded, uint32_t *ret)
{
	return i < words->n && parse_id(words->v[i], ret) &&
	       (!padded || words_has_room(words, i, words->v[i].n, ID_ROOM));
}

bool words_pair(const struct words *words, unsigned i, bool padded, struct sample *ret)
{
	if (i >= words->n || !parse_pair(words->v[i], ret))
		return false;
	const char *slash = memchr(words->v[i].p, '/', words->v[i].n);

	return !padded || words_has_room(words, i, (size_t)(slash - words->v[i].p), ID_ROOM);
}

bool words_cpu(const struct words *words, unsigned i, bool padded, uint32_t *ret)
{
	return i < words->n && parse_cpu(words->v[i], ret) &&
	       (!padded || words->v[i].n >= CPU_DIGITS + 2);
}

bool words_whom(const struct words *words, unsigned i, bool padded)
{
	struct sample sample;
	uint32_t id;

	return words_id(words, i, padded, &id) || words_pair(words, i, padded, &sample) ||
	       words_cpu(words, i, padded, &id);
}

// Of a time.
static size_t word_seconds_digits(struct str word)
{
	return (size_t)((const char *)memchr(word.p, '.', word.n) - word.p);
}

static bool words_padded_time(const struct words *words, unsigned i)
{
	uint64_t when;

	if (i >= words->n || !word_time(words->v[i], &when))
		return false;
	size_t digits = word_seconds_digits(words->v[i]), fraction = words->v[i].n - digits - 2;

	return (fraction == 6 || fraction == 9) && words_has_room(words, i, digits, ID_ROOM);
}

bool words_time(const struct words *words, unsigned i, bool padded, uint64_t *ret)
{
	return i < words->n && word_time(words->v[i], ret) &&
	       (!padded || (words_padded_time(words, i) && !words_padded_time(words, i + 1)));
}

unsigned words_address(const struct words *words, unsigned from)
{
	for (unsigned i = from; i < words->n; i++) {
		if (!word_is_hex(words->v[i]) || words_room(words, i) < ADDRESS_ROOM)
			continue;
		if (i + 1 < words->n && word_is_hex(words->v[i + 1]) &&
		    words_room(words, i + 1) >= ADDRESS_ROOM)
			continue;
		return i;
	}
	return words->n;
}

unsigned words_in_columns(const struct words *words)
{
	struct str line = words->line;
	unsigned n = 0, named = 0;

	if (line.n <= COMM_COLUMNS || line.p[0] != ' ' || line.p[COMM_COLUMNS] != ' ' ||
	    line.p[COMM_COLUMNS - 1] == ' ')
		return 0;
	for (; n < words->n && words->v[n].p < line.p + COMM_COLUMNS; n++)
		named += !word_is_number(words->v[n]) && !words_padded_time(words, n);
	// Numbers and times alone are fields.
	return named ? n : n == 1 && !words_padded_time(words, 0) ? n : 0;
}
