// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/source_cache.h"
#include <stdio.h>
#include "base/cache.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/num.h"
#include "base/search.h"

#define MAGIC                                                                                      \
	0x3173656e696c7373ull // "sslines1": the number moves with what obj/inline and obj/line answer
enum {
	WORTH_A_FILE =
		128 << 10, // bytes with debug information; fewer are read in less than a millisecond
	MOST_ANSWERS = 1 << 18,
	MOST_FRAMES = 1 << 22,
	MOST_TEXT = 1 << 28,
};

struct file_head {
	uint64_t magic, check; // check: of all that follows it
	uint64_t size_bytes, modified_ns;
	uint32_t answers_n[SOURCE_ASKS];
	uint32_t frames_n, texts_n;
	uint8_t id_n, zero[7];
	uint8_t id[24];
};

struct added {
	uint64_t addr;
	uint32_t first, n;
};

struct source_cache {
	struct source_key key;
	struct mapped file;
	struct source_kept kept;
	struct map at[SOURCE_ASKS]; // addr -> index into added
	VEC(struct added) added[SOURCE_ASKS];
	VEC(struct dwarf_frame) frames; // of those that were added
};

static bool texts_make_sense(const struct source_kept *kept, const struct file_head *head)
{
	if (!head->texts_n || kept->texts[0] || kept->texts[head->texts_n - 1])
		return false;
	for (uint32_t i = 0; i < head->frames_n; i++) {
		if (kept->frames[i].function >= head->texts_n || kept->frames[i].file >= head->texts_n)
			return false;
	}
	return true;
}

static bool answers_make_sense(const struct source_kept_answer *v, uint32_t n, uint32_t frames_n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (v[i].first > frames_n || v[i].n > frames_n - v[i].first ||
		    (i && v[i].addr <= v[i - 1].addr))
			return false;
	}
	return true;
}

bool source_cache_parse(struct str bytes, const struct source_key *key, struct source_kept *ret)
{
	const struct file_head *head = (const void *)bytes.p;
	const size_t from = offsetof(struct file_head, size_bytes);
	struct source_kept kept = {0};
	const char *at;

	if (bytes.n < sizeof(*head) || head->magic != MAGIC ||
	    head->size_bytes != key->size_bytes || head->modified_ns != key->modified_ns ||
	    head->id_n != key->id.n || key->id.n > sizeof(key->id.bytes) ||
	    memcmp(head->id, key->id.bytes, key->id.n) != 0 || head->frames_n > MOST_FRAMES)
		return false;
	at = (const char *)(head + 1);
	for (unsigned ask = 0; ask < SOURCE_ASKS; ask++) {
		if (head->answers_n[ask] > MOST_ANSWERS)
			return false;
		kept.answers[ask] = (const void *)at;
		kept.answers_n[ask] = head->answers_n[ask];
		at += head->answers_n[ask] * sizeof(*kept.answers[0]);
	}
	kept.frames = (const void *)at;
	at += head->frames_n * sizeof(*kept.frames);
	kept.texts = at;
	if (bytes.n != (size_t)(at - bytes.p) + head->texts_n ||
	    hash_bytes(bytes.p + from, bytes.n - from) != head->check)
		return false;
	// The check tells of accidents, this of intent.
	if (!texts_make_sense(&kept, head))
		return false;
	for (unsigned ask = 0; ask < SOURCE_ASKS; ask++) {
		if (!answers_make_sense(kept.answers[ask], kept.answers_n[ask], head->frames_n))
			return false;
	}
	*ret = kept;
	return true;
}

static bool path_of(const struct build_id *id, char ret[4096])
{
	char name[64] = "lines-";

	num_put_bytes(name + strlen(name), id->bytes, id->n);
	return cache_file(name, ret, 4096) == 0;
}

struct source_cache *source_cache_new(const struct source_key *key)
{
	struct source_cache *cache;
	char path[4096];

	if (!key->id.n || key->size_bytes < WORTH_A_FILE || !path_of(&key->id, path))
		return NULL;
	cache = NEW(struct source_cache);
	cache->key = *key;
	if (cache_map(path, &cache->file))
		(void)source_cache_parse((struct str){(const char *)cache->file.p, cache->file.n},
					 key, &cache->kept);
	return cache;
}

void source_cache_free(struct source_cache *cache)
{
	if (!cache)
		return;
	for (unsigned ask = 0; ask < SOURCE_ASKS; ask++) {
		map_done(&cache->at[ask]);
		vec_done(&cache->added[ask]);
	}
	vec_done(&cache->frames);
	if (cache->file.p)
		file_unmap(&cache->file);
	free(cache);
}

static const char *text_at(const struct source_kept *kept, uint32_t at)
{
	return at ? kept->texts + at : NULL;
}

static struct dwarf_frame kept_frame(const struct source_kept *kept, uint32_t index)
{
	const struct source_kept_frame *frame = &kept->frames[index];

	return (struct dwarf_frame){.function = text_at(kept, frame->function),
				    .file = text_at(kept, frame->file),
				    .line = frame->line};
}

bool source_cache_find(const struct source_cache *cache, enum source_ask ask, uint64_t addr,
		       struct source_answer *ret)
{
	const struct source_kept *kept = &cache->kept;
	const struct source_kept_answer *v = kept->answers[ask];
	const uint64_t *known = map_find(&cache->at[ask], addr);
	size_t i;

	if (known) {
		const struct added *added = &cache->added[ask].v[*known];

		ret->n = MIN(added->n, ret->most);
		for (i = 0; i < ret->n; i++)
			ret->frames[i] = cache->frames.v[added->first + i];
		return true;
	}
	i = SEARCH(kept->answers_n[ask], at, v[at].addr < addr);
	if (i == kept->answers_n[ask] || v[i].addr != addr)
		return false;
	ret->n = MIN(v[i].n, ret->most);
	for (uint32_t k = 0; k < ret->n; k++)
		ret->frames[k] = kept_frame(kept, v[i].first + k);
	return true;
}

void source_cache_add(struct source_cache *cache, enum source_ask ask, uint64_t addr,
		      const struct source_answer *answer)
{
	bool is_new;
	uint64_t *at;

	if (cache->kept.answers_n[ask] + cache->added[ask].n >= MOST_ANSWERS ||
	    cache->frames.n + answer->n > MOST_FRAMES)
		return;
	at = map_at(&cache->at[ask], addr, &is_new);
	if (!is_new)
		return;
	*at = cache->added[ask].n;
	vec_push(&cache->added[ask],
		 (struct added){addr, (uint32_t)cache->frames.n, (uint32_t)answer->n});
	for (size_t i = 0; i < answer->n; i++)
		vec_push(&cache->frames, answer->frames[i]);
}

// A file that is being made.
struct making {
	VEC(struct source_kept_answer) answers[SOURCE_ASKS];
	VEC(struct source_kept_frame) frames;
	struct intern texts; // id -> where it begins
	VEC(uint32_t) at;
	VEC(char) text;
};

static uint32_t put_text(struct making *making, const char *text)
{
	uint32_t id;

	if (!text)
		return 0;
	id = intern_text(&making->texts, text);
	while (making->at.n <= id)
		vec_push(&making->at, 0);
	if (!making->at.v[id]) {
		size_t n = strlen(text) + 1;

		making->at.v[id] = (uint32_t)making->text.n;
		vec_reserve(&making->text, n);
		memcpy(making->text.v + making->text.n, text, n);
		making->text.n += n;
	}
	return making->at.v[id];
}

static void put_frame(struct making *making, const struct dwarf_frame *frame)
{
	vec_push(&making->frames,
		 (struct source_kept_frame){.function = put_text(making, frame->function),
					    .file = put_text(making, frame->file),
					    .line = frame->line});
}

static int by_addr(const void *a, const void *b)
{
	const struct added *l = a, *r = b;

	return l->addr < r->addr ? -1 : l->addr > r->addr;
}

// The kept and the added ones, in one order of addresses.
static void put_answers(struct making *making, struct source_cache *cache, enum source_ask ask)
{
	const struct source_kept *kept = &cache->kept;
	const struct source_kept_answer *old = kept->answers[ask];
	const struct source_kept_answer *end = old + kept->answers_n[ask];
	const struct added *new = cache->added[ask].v, *new_end = new + cache->added[ask].n;

	if (new_end > new)
		qsort(cache->added[ask].v, cache->added[ask].n, sizeof(*new), by_addr);
	while (old < end || new < new_end) {
		bool is_old = new == new_end || (old < end && old->addr < new->addr);
		uint32_t n = is_old ? old->n : new->n;

		vec_push(&making->answers[ask],
			 (struct source_kept_answer){is_old ? old->addr : new->addr,
						     (uint32_t)making->frames.n, n});
		for (uint32_t i = 0; i < n; i++) {
			struct dwarf_frame frame = is_old ? kept_frame(kept, old->first + i)
							  : cache->frames.v[new->first + i];

			put_frame(making, &frame);
		}
		if (is_old)
			old++;
		else
			new ++;
	}
}

static void *append(void *to, const void *p, size_t n)
{
	if (n)
		memcpy(to, p, n);
	return (char *)to + n;
}

static bool write_file(const struct source_cache *cache, const struct making *making)
{
	const size_t from = offsetof(struct file_head, size_bytes);
	const struct source_key *key = &cache->key;
	struct file_head *head;
	char path[4096];
	size_t n = sizeof(*head);
	bool good;
	void *p;

	for (unsigned ask = 0; ask < SOURCE_ASKS; ask++)
		n += making->answers[ask].n * sizeof(*making->answers[0].v);
	n += making->frames.n * sizeof(*making->frames.v) + making->text.n;
	head = xcalloc(1, n);
	*head = (struct file_head){.magic = MAGIC,
				   .size_bytes = key->size_bytes,
				   .modified_ns = key->modified_ns,
				   .frames_n = (uint32_t)making->frames.n,
				   .texts_n = (uint32_t)making->text.n,
				   .id_n = key->id.n};
	memcpy(head->id, key->id.bytes, key->id.n);
	p = head + 1;
	for (unsigned ask = 0; ask < SOURCE_ASKS; ask++) {
		head->answers_n[ask] = (uint32_t)making->answers[ask].n;
		p = append(p, making->answers[ask].v,
			   making->answers[ask].n * sizeof(*making->answers[0].v));
	}
	p = append(p, making->frames.v, making->frames.n * sizeof(*making->frames.v));
	append(p, making->text.v, making->text.n);
	head->check = hash_bytes((char *)head + from, n - from);
	good = path_of(&key->id, path) && cache_put(path, head, n);
	free(head);
	return good;
}

bool source_cache_save(struct source_cache *cache)
{
	struct making making = {0};
	bool good = false;

	if (!cache->added[SOURCE_FRAMES].n && !cache->added[SOURCE_LINE].n)
		return false;
	intern_init(&making.texts);
	vec_push(&making.text, '\0');
	for (unsigned ask = 0; ask < SOURCE_ASKS; ask++)
		put_answers(&making, cache, ask);
	if (making.frames.n <= MOST_FRAMES && making.text.n <= MOST_TEXT)
		good = write_file(cache, &making);
	for (unsigned ask = 0; ask < SOURCE_ASKS; ask++)
		vec_done(&making.answers[ask]);
	vec_done(&making.frames);
	vec_done(&making.at);
	vec_done(&making.text);
	intern_done(&making.texts);
	return good;
}
