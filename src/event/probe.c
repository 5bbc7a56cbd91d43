// SPDX-License-Identifier: GPL-2.0-or-later
// Probes that are made for the run: kprobe:FUNC[+OFFSET], kretprobe:FUNC, uprobe:FUNC[+OFFSET]@"FILE", uretprobe:FUNC@"FILE",
// usdt:PROVIDER:NAME@"FILE"; with FILE in front, too, as bpftrace has it (uprobe:FILE:FUNC).
#include "event/core/probe.h"
#include "event/core/event_kind.h"
#include <stdio.h>
#include <sys/stat.h>

// Up to where a file's name in no quotes ends: what it names first that is there, else the whole word.
static size_t file_end(const char *text, size_t n)
{
	struct stat st;

	for (size_t i = 1; i < n; i++) {
		auto_free char *path =
			text[i] == ':' || text[i] == '/' ? str_dup((struct str){text, i}) : NULL;

		if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode))
			return i;
	}
	return n;
}

// The length of FUNC@FILE, FILE:FUNC or FUNC.
static size_t word_length(const char *text)
{
	size_t n = 0, behind;

	for (bool quoted = false; text[n] && (quoted || !strchr(",{} \t\n", text[n])); n++)
		quoted ^= text[n] == '"';
	const char *at = memchr(text, '@', n);

	if (!at)
		return n;
	behind = (size_t)(at + 1 - text);
	if (*++at != '"')
		return behind + file_end(at, n - behind);
	const char *close = memchr(at + 1, '"', n - behind - 1);

	return close ? (size_t)(close + 1 - text) : n;
}

static size_t function_length(const char *text)
{
	return strcspn(text, ",/:{} \t\n");
}

// FUNC@FILE of FILE:FUNC; `names` of them stand behind the file.
static char *turned(struct str word, unsigned names)
{
	size_t i = word.n;

	while (i && (word.p[i - 1] != ':' || --names))
		i--;
	return i < 2 ? str_dup(word)
		     : text_dup_fmt("%.*s@%.*s", (int)(word.n - i), word.p + i, (int)(i - 1), word.p);
}

static int add_found(struct event_parser *p, const char *text, struct str where)
{
	struct event_probe *probes;
	size_t n;
	int err = event_probe_find(&p->specs->arena, text, &probes, &n);

	if (err < 0) {
		auto_free char *sentence = xstrdup(err_sentence());
		event_fail(p, where, "%s", sentence);
		return err;
	}
	for (size_t i = 0; i < n; i++) {
		struct event_spec *spec = event_add(p, PERF_TYPE_TRACEPOINT, 0);

		spec->attr.sample_period = 1;
		spec->attr.sample_type = EVENT_TRACEPOINT_SAMPLE;
		spec->name = probes[i].name;
		spec->probe = &probes[i];
	}
	return 1;
}

static int take(struct event_parser *p, struct str head)
{
	auto_free char *prefix = text_dup_fmt("%.*s:", STR_FMT(head)), *place = NULL, *text = NULL;
	size_t from = p->pos + 1, n;

	if (event_peek(p) != ':' || !event_probe_is(prefix) || p->ctx->no_search)
		return 0;
	n = str_starts(head, "k") ? function_length(p->text + from) : word_length(p->text + from);
	struct str word = {p->text + from, n};
	struct str where = {head.p, head.n + 1 + n};

	p->pos = from + n;
	place = str_starts(head, "k") || (n && memchr(word.p, '@', n))
			? str_dup(word)
			: turned(word, str_is(head, "usdt") ? 2 : 1);
	text = text_dup_fmt("%s%s", prefix, place);
	return add_found(p, text, where);
}

static int list(struct event_lister *lister)
{
	static const char *const forms[] = {"kprobe:FUNC[+OFFSET]", "kretprobe:FUNC",
					    "uprobe:FUNC[+OFFSET]@\"FILE\"",
					    "uretprobe:FUNC@\"FILE\"", "usdt:PROVIDER:NAME@\"FILE\""};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		lister->add(lister->arg, &(struct event_entry){.name = forms[i],
							       .label = "Probe made for the run",
							       .is_form = true});
	return 0;
}

const struct event_kind event_kind_probe = {
	.name = "probe",
	.short_name = "probe",
	.rank = 0,
	.list_rank = 11,
	.take = take,
	.list = list,
	.no_config_terms = true,
};
