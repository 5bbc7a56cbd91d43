// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/prof/complete.h"
#include "base/err.h"
#include "cmd/core/complete_event.h"
#include "input/core/input.h"
#include "prof/core/sources.h"
#include <ctype.h>
#include <stdio.h>

enum place { IN_NAME, IN_FILTER, IN_ATTRIBUTE, IN_VALUE };

// Where the text ends: in which part of its last event, and which word is half typed.
struct typed {
	enum place place;
	const char *text;
	size_t event, word, n; // where they begin; length of all
};

static struct typed look(const char *text)
{
	struct typed at = {.text = text, .n = strlen(text)};
	bool quoted = false;
	int depth = 0;

	for (size_t i = 0; i < at.n; i++) {
		char c = text[i];

		if (c == '"')
			quoted = !quoted;
		if (!quoted && at.place != IN_NAME)
			depth += c == '(' ? 1 : c == ')' ? -1 : 0;
		if (quoted || depth > 0)
			continue;
		if (c == ',') {
			at.place = IN_NAME;
			at.event = i + 1;
		} else if (c == '/') {
			at.place = at.place == IN_NAME ? IN_FILTER : IN_ATTRIBUTE;
			at.word = i + 1;
		} else if (c == '=' && at.place == IN_ATTRIBUTE) {
			at.place = IN_VALUE;
		}
	}
	if (at.place == IN_NAME)
		at.word = at.event;
	if (at.place != IN_FILTER && at.place != IN_VALUE)
		return at;
	for (at.word = at.n;
	     at.word && (isalnum((unsigned char)text[at.word - 1]) || text[at.word - 1] == '_');)
		at.word--;
	return at;
}

struct offering {
	struct out *out;
	const struct typed *at;
};

// `label`: what the word is; behind it stands what must follow.
static void offer(const struct offering *o, const char *word, const char *behind, const char *label)
{
	const struct typed *at = o->at;
	struct out *out = o->out;
	size_t n = at->n - at->word;

	if (strncmp(at->text + at->word, word, n))
		return;
	out_str(out, (struct str){at->text, at->word});
	out_text(out, word);
	out_text(out, behind);
	out_char(out, '\t');
	out_text(out, label);
	out_char(out, '\n');
}

// ---- fields and names, from the running kernel

static int take(void *arg, struct event *event, const char *system, const char *name)
{
	const struct offering *o = arg;
	const struct tp_field *fields;
	size_t n = event->tp ? tracepoint_fields(event->tp, &fields) : 0;

	for (size_t i = 0; i < n; i++)
		offer(o, fields[i].name, "", fields[i].type);
	return 0;
}

static void ask_kernel(const struct offering *o, const char *name)
{
	struct feed_options options = {0};
	const struct input *input = input_by_name("live");
	struct feed feed;

	feed_init(&feed, &options);
	if (!input->open(&feed))
		input->find(&feed, name, take, (void *)(uintptr_t)o);
	input->close(&feed);
	feed_done(&feed);
	err_clear();
}

static void offer_names(struct out *out, const struct profiler *profiler, const struct typed *at)
{
	for (size_t i = 0; prof_source_name(i) && (!profiler || profiler->takes_profilers); i++)
		offer(&(struct offering){out, at}, prof_source_name(i), "/", "profiler");
	complete_event_names(out, (struct str){at->text, at->event}, at->text + at->event);
}

static void offer_fields(struct out *out, const struct typed *at)
{
	const struct offering o = {out, at};
	const char *event = at->text + at->event;
	char name[256];

	if (snprintf(name, sizeof(name), "%.*s", (int)strcspn(event, "/"), event) >= (int)sizeof(name))
		return;
	if (!prof_is_source(name))
		ask_kernel(&o, name);
	for (enum expr_context i = 0; at->place == IN_VALUE && i < EXPR_CONTEXTS; i++)
		offer(&o, expr_context_name(i), "", "of every sample");
}

static void offer_attributes(struct out *out, const struct profiler *profiler, const struct typed *at)
{
	const char *const *const lists[] = {prof_common_attributes,
					    profiler ? profiler->attributes : NULL};

	for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
		const char *const *names = lists[k];

		for (size_t i = 0; names && names[i]; i++)
			offer(&(struct offering){out, at}, names[i],
			      prof_attribute_is_word(names[i]) ? "/" : "=", "attribute");
	}
}

void prof_complete_event(struct out *out, const struct profiler *profiler, const char *text)
{
	struct typed at = look(text);

	switch (at.place) {
	case IN_NAME:
		offer_names(out, profiler, &at);
		break;
	case IN_FILTER:
	case IN_VALUE:
		offer_fields(out, &at);
		break;
	case IN_ATTRIBUTE:
		offer_attributes(out, profiler, &at);
		break;
	}
}
