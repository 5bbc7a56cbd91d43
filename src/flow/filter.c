// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/filter.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/time.h"
#include <math.h>
#include <stdio.h>

enum { CPUS_MAX = 1 << 16, LIST_FILE_LIMIT = 16 << 20 };

struct words {
	bool given;
	char *text; // what the words point into
	VEC(const char *) list;
	struct map by_hash; // hash of the word -> its index + 1; collisions fall back to the list
};

struct numbers {
	bool given;
	struct map set;
};

struct range {
	uint64_t start, end; // 0: open
};

struct filter {
	bool cpus_given;
	uint64_t *cpus;
	struct numbers pids, tids;
	struct words comms, dsos, symbols;
	VEC(uint64_t) addresses; // among the symbols
	uint32_t address_range;
	VEC(struct range) times;
};

static uint64_t word_hash(const char *word)
{
	return hash_bytes(word, strlen(word));
}

static void words_done(struct words *words)
{
	free(words->text);
	vec_done(&words->list);
	map_done(&words->by_hash);
}

static bool words_have(const struct words *words, const char *word)
{
	uint64_t *at = map_find(&words->by_hash, word_hash(word));

	if (!at)
		return false;
	if (!strcmp(words->list.v[*at - 1], word))
		return true;
	for (size_t i = 0; i < words->list.n; i++) {
		if (!strcmp(words->list.v[i], word))
			return true;
	}
	return false;
}

static void words_add(struct words *words, const char *word)
{
	vec_push(&words->list, word);
	*map_at(&words->by_hash, word_hash(word), NULL) = words->list.n;
}

static void words_split(struct words *words, char separator)
{
	char *next;

	for (char *word = words->text; word; word = next) {
		next = strchr(word, separator);
		if (next)
			*next++ = 0;
		if (*word)
			words_add(words, word);
	}
}

// "a,b,c" or file://PATH with one word a line, as perf's lists.
static int words_parse(struct words *words, const char *text, const char *option)
{
	if (!text)
		return 0;
	words->given = true;
	if (text_starts(text, "file://")) {
		const char *path = text + strlen("file://");
		int err = file_read(path, LIST_FILE_LIMIT, &words->text, NULL);

		if (err)
			return fail(-err, "--%s: can't read %s: %s", option, path, strerror(-err));
		words_split(words, '\n');
	} else {
		words->text = xstrdup(text);
		words_split(words, ',');
	}
	if (!words->list.n)
		return fail(EINVAL, "--%s takes names split by commas; there is none in '%s'",
			    option, text);
	return 0;
}

static int numbers_parse(struct numbers *numbers, const char *text, const char *option)
{
	struct str rest = str_of(text);

	if (!text)
		return 0;
	numbers->given = true;
	while (rest.p) {
		struct str word = str_cut(&rest, ',');
		int64_t n;

		if (num_parse_i64(word, &n) < 0 || n < -1 || n > UINT32_MAX)
			return fail(EINVAL, "--%s takes numbers split by commas, not '%s'", option,
				    text);
		*map_at(&numbers->set, (uint32_t)n, NULL) = 1;
	}
	return 0;
}

static void add_cpu(void *arg, uint32_t cpu)
{
	struct filter *filter = arg;

	filter->cpus[cpu / 64] |= 1ull << (cpu % 64);
}

static int cpus_parse(struct filter *filter, const char *text, const struct recording *recording)
{
	if (!text)
		return 0;
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = recording->events.v[i];

		if (event->attr.sample_type && !(event->attr.sample_type & PERF_SAMPLE_CPU))
			return fail(EINVAL,
				    "-C needs the CPU of each sample, which %s doesn't hold for '%s': record with -a, -C or --sample-cpu",
				    recording->path, event->name);
	}
	filter->cpus_given = true;
	filter->cpus = xcalloc(CPUS_MAX / 64, sizeof(uint64_t));
	if (num_parse_list(str_of(text), CPUS_MAX - 1, add_cpu, filter) < 0)
		return fail(EINVAL, "-C takes CPU numbers as in 0-2,5, not '%s'", text);
	for (uint32_t cpu = recording->info.cpus_available; cpu && cpu < CPUS_MAX; cpu++) {
		if (filter_cpu(filter, cpu))
			return fail(EINVAL, "-C %s: the machine of %s had CPUs 0 to %u", text,
				    recording->path, recording->info.cpus_available - 1);
	}
	return 0;
}

static int bad_times(const char *text)
{
	return fail(EDOM,
		    "--time takes START,STOP in seconds (either may be left out; more pairs split by spaces), 10%%/2 or 0%%-10%%,30%%-40%%; not '%s'",
		    text);
}

static int range_parse(struct range *range, struct str text)
{
	struct str stop = text, start = str_cut(&stop, ',');

	*range = (struct range){0};
	start = str_trim(start);
	stop = str_trim(stop);
	if ((start.n && time_parse_sec(start, &range->start) < 0) ||
	    (stop.n && time_parse_sec(stop, &range->end) < 0))
		return -EINVAL;
	return range->end && range->end < range->start ? -EINVAL : 0;
}

// "a,b c,d": a piece ends at white space; perf also allows white space behind the comma.
static int ranges_parse(struct filter *filter, const char *text)
{
	const char *p = text;

	while (*p) {
		const char *comma, *end;
		struct range range;

		p += strspn(p, " \t\n");
		if (!*p)
			break;
		comma = strchr(p, ',');
		if (!comma)
			return -EINVAL;
		end = comma + 1 + strspn(comma + 1, " \t\n");
		// White space behind the comma belongs to the pair only when no other comma follows it soon.
		if (end > comma + 1) {
			const char *word_end = end + strcspn(end, " \t\n");

			if (memchr(end, ',', (size_t)(word_end - end)))
				end = comma + 1;
		}
		end += strcspn(end, " \t\n");
		if (range_parse(&range, (struct str){p, (size_t)(end - p)}) < 0)
			return -EINVAL;
		vec_push(&filter->times, range);
		p = end;
	}
	for (size_t i = 1; i < filter->times.n; i++) {
		if (filter->times.v[i - 1].end >= filter->times.v[i].start)
			return -EINVAL;
	}
	return filter->times.n ? 0 : -EINVAL;
}

static int percent_parse(struct str text, double *ret)
{
	text = str_trim(text);
	if (!text.n || text.p[text.n - 1] != '%')
		return -EINVAL;
	text.n--;
	if (num_parse_double(text, ret) < 0)
		return -EINVAL;
	*ret /= 100;
	return 0;
}

static int percent_range(struct filter *filter, double from, double to,
			 const struct recording_info *info)
{
	uint64_t start = info->first_sample_ns, end = info->last_sample_ns;
	double total = (double)(end - start);
	struct range range;

	if (!(from >= 0 && from <= to && to <= 1))
		return -EINVAL;
	range.start = start + (uint64_t)round(from * total);
	range.end = start + (uint64_t)round(to * total);
	// The next slice begins there.
	if (range.end > range.start && range.end != end)
		range.end--;
	vec_push(&filter->times, range);
	return 0;
}

static int percent_piece(struct filter *filter, struct str piece, const struct recording_info *info)
{
	struct str after = piece, before = str_cut(&after, '/');
	double from, to, slice;
	uint64_t n;

	if (after.p) {
		if (percent_parse(before, &slice) < 0 || slice <= 0 ||
		    num_parse_u64(str_trim(after), &n) < 0)
			return -EINVAL;
		return percent_range(filter, slice * ((double)n - 1), slice * (double)n, info);
	}
	after = piece;
	before = str_cut(&after, '-');
	if (after.p) {
		if (percent_parse(before, &from) < 0 || percent_parse(after, &to) < 0)
			return -EINVAL;
		return percent_range(filter, from, to, info);
	}
	if (percent_parse(piece, &slice) < 0 || slice <= 0)
		return -EINVAL;
	return percent_range(filter, 0, slice, info);
}

static int times_parse(struct filter *filter, const struct filter_options *options,
		       const struct recording *recording)
{
	const struct recording_info *info = &recording->info;
	bool percent = options->times && strchr(options->times, '%');
	int err = 0;

	if (!options->times)
		return 0;
	if ((percent || options->times_relative) && !info->first_sample_ns && !info->last_sample_ns)
		return fail(EDOM,
			    "--time: %s doesn't say when its first and last samples are, so give absolute times (or record with --timestamp-boundary)",
			    recording->path);
	if (percent) {
		struct str rest = str_of(options->times);

		while (!err && rest.p)
			err = percent_piece(filter, str_cut(&rest, ','), info);
	} else {
		err = ranges_parse(filter, options->times);
	}
	if (err)
		return bad_times(options->times);
	if (options->times_relative) {
		vec_each(struct range, range, &filter->times) {
			range->start += info->first_sample_ns;
			range->end += info->first_sample_ns;
		}
	}
	return 0;
}

int filter_new(struct filter **ret, const struct filter_options *options,
	       const struct recording *recording)
{
	struct filter *filter = NEW(struct filter);
	int err = cpus_parse(filter, options->cpus, recording);

	if (!err)
		err = numbers_parse(&filter->pids, options->pids, "pid");
	if (!err)
		err = numbers_parse(&filter->tids, options->tids, "tid");
	if (!err)
		err = words_parse(&filter->comms, options->comms, "comms");
	if (!err)
		err = words_parse(&filter->dsos, options->dsos, "dsos");
	if (!err)
		err = words_parse(&filter->symbols, options->symbols, "symbols");
	if (!err)
		err = times_parse(filter, options, recording);
	if (err) {
		filter_free(filter);
		return err;
	}
	filter->address_range = options->address_range;
	for (size_t i = 0; i < filter->symbols.list.n; i++) {
		uint64_t address;

		if (num_parse_hex(str_of(filter->symbols.list.v[i]), &address) >= 0 && address)
			vec_push(&filter->addresses, address);
	}
	*ret = filter;
	return 0;
}

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	free(filter->cpus);
	map_done(&filter->pids.set);
	map_done(&filter->tids.set);
	words_done(&filter->comms);
	words_done(&filter->dsos);
	words_done(&filter->symbols);
	vec_done(&filter->addresses);
	vec_done(&filter->times);
	free(filter);
}

bool filter_is_empty(const struct filter *filter)
{
	return !filter->cpus_given && !filter->pids.given && !filter->tids.given &&
	       !filter->comms.given && !filter->dsos.given && !filter->symbols.given &&
	       !filter->times.n;
}

bool filter_time(const struct filter *filter, uint64_t time)
{
	if (!filter->times.n || !time)
		return true;
	for (size_t i = 0; i < filter->times.n; i++) {
		const struct range *range = &filter->times.v[i];

		if (time >= range->start && (!range->end || time <= range->end))
			return true;
	}
	return false;
}

bool filter_cpu(const struct filter *filter, uint32_t cpu)
{
	if (!filter->cpus_given || cpu == UINT32_MAX)
		return true;
	return cpu < CPUS_MAX && (filter->cpus[cpu / 64] >> (cpu % 64) & 1);
}

bool filter_sample(const struct filter *filter, const struct sample *sample)
{
	if (!filter_cpu(filter, sample->cpu))
		return false;
	if (filter->pids.given && !map_find(&filter->pids.set, sample->pid))
		return false;
	if (filter->tids.given && !map_find(&filter->tids.set, sample->tid))
		return false;
	return filter_time(filter, sample->time);
}

bool filter_sample_of(const struct filter *filter, const struct sample *sample,
		      const struct sym *sym, const struct task *task)
{
	if (task && task->pid != sample->pid && filter->pids.given) {
		struct sample known = *sample;

		known.pid = task->pid;
		if (!filter_sample(filter, &known))
			return false;
	} else if (!filter_sample(filter, sample)) {
		return false;
	}
	return !filter->comms.given || !task || words_have(&filter->comms, task_comm(sym, task));
}

bool filter_event_name(const char *name, const char *wanted)
{
	size_t n = strlen(wanted);

	return !strcmp(name, wanted) || text_glob(name, wanted) ||
	       (!strncmp(name, wanted, n) && name[n] == ':');
}

bool filter_event(struct event *event, const char *wanted)
{
	static const char asked, other; // what event->user points at

	if (!event->user)
		event->user = (void *)(filter_event_name(event->name, wanted) ? &asked : &other);
	return event->user == &asked;
}

bool filter_comm(const struct filter *filter, const char *comm)
{
	return !filter->comms.given || words_have(&filter->comms, comm);
}

bool filter_dso(const struct filter *filter, const struct dso *dso)
{
	if (!filter->dsos.given)
		return true;
	return dso &&
	       (words_have(&filter->dsos, dso->short_name) ||
		(dso->short_name != dso->long_name && words_have(&filter->dsos, dso->long_name)));
}

bool filter_symbol(const struct filter *filter, const struct symbol *symbol)
{
	return !filter->symbols.given || (symbol && words_have(&filter->symbols, symbol->name));
}

static bool has_address(const struct filter *filter, const struct location *location)
{
	for (size_t i = 0; i < filter->addresses.n; i++) {
		uint64_t address = filter->addresses.v[i];

		if (location->sym && address == location->ip - (location->addr - location->sym->start))
			return true;
		if (location->map && location->ip >= address &&
		    (location->ip == address || location->ip - address < filter->address_range))
			return true;
	}
	return false;
}

bool filter_location(const struct filter *filter, const struct location *location)
{
	return filter_dso(filter, location->dso) &&
	       (filter_symbol(filter, location->sym) || has_address(filter, location));
}

bool filter_needs_symbol(const struct filter *filter)
{
	return filter->symbols.given;
}

bool filter_needs_dso(const struct filter *filter)
{
	return filter->dsos.given;
}
