// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/config.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include <limits.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>

enum { LONGEST_FILE = 1 << 20 };

void config_done(struct config *config)
{
	arena_done(&config->arena);
	vec_done(&config->entries);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

struct key {
	struct str section, name;
};

static struct config_entry *find(const struct config *config, struct key key)
{
	vec_each(struct config_entry, entry, &config->entries) {
		if (str_is(key.section, entry->section) && str_is(key.name, entry->name))
			return entry;
	}
	return NULL;
}

// Behind the last one of its section.
static struct config_entry *add(struct config *config, struct key key)
{
	size_t at = config->entries.n;
	struct config_entry entry = {.section = arena_strdup(&config->arena, key.section),
				     .name = arena_strdup(&config->arena, key.name)};

	for (size_t i = config->entries.n; i-- > 0;) {
		if (str_is(key.section, config->entries.v[i].section)) {
			at = i + 1;
			break;
		}
	}
	vec_push(&config->entries, entry);
	memmove(&config->entries.v[at + 1], &config->entries.v[at],
		(config->entries.n - 1 - at) * sizeof(entry));
	config->entries.v[at] = entry;
	return &config->entries.v[at];
}

static struct config_entry *set(struct config *config, struct key key, const char *value,
				bool is_system)
{
	struct config_entry *entry = find(config, key);

	if (!entry)
		entry = add(config, key);
	entry->value = value;
	entry->is_system = is_system;
	entry->file = NULL;
	return entry;
}

static bool split(const char *text, struct key *ret)
{
	const char *dot = strrchr(text, '.');

	if (!dot || dot == text)
		return false;
	*ret = (struct key){{text, (size_t)(dot - text)}, str_of(dot + 1)};
	return true;
}

static size_t name_length(struct str text)
{
	size_t n = 0;

	while (n < text.n && is_name(text.p[n]))
		n++;
	return n;
}

int config_set(struct config *config, const char *key, const char *value, bool is_system)
{
	struct key parts;

	if (!split(key, &parts))
		return fail(EINVAL, "The config variable does not contain a section name: %s", key);
	if (!parts.name.n)
		return fail(EINVAL, "The config variable does not contain a variable name: %s", key);
	if (!is_letter(parts.name.p[0]) || name_length(parts.name) < parts.name.n)
		return fail(EINVAL,
			    "'%s' is no name of a setting: a letter, then letters, digits, '-' and '_'",
			    parts.name.p);
	size_t head = name_length(parts.section);
	if (!head || (head < parts.section.n && parts.section.p[head] != '.') ||
	    memchr(parts.section.p, '\n', parts.section.n))
		return fail(EINVAL,
			    "'%.*s' is no section: letters, digits, '-' and '_', then '.' and the rest",
			    STR_FMT(parts.section));
	set(config, parts, value ? arena_strdup(&config->arena, str_of(value)) : NULL, is_system);
	return 0;
}

const struct config_entry *config_find(const struct config *config, const char *key)
{
	struct key parts;

	return split(key, &parts) ? find(config, parts) : NULL;
}

// Where in a text a setting stands, or would.
struct edit {
	struct key key;
	const char *value, *value_end; // with the '=' before it; NULL: the setting isn't there
	const char *behind; // the line of the section's last entry or heading; NULL: there is no such section
};

struct parser {
	const char *at, *end;
	unsigned line;
	struct config *config;
	bool is_system;
	struct str section;
	const char *file, *value_end;
	struct edit *edit; // NULL: nothing is to be edited
};

static void skip_line(struct parser *parser)
{
	while (parser->at < parser->end && *parser->at != '\n')
		parser->at++;
}

static void note_section(const struct parser *parser)
{
	// Another section began on the line.
	if (parser->edit && parser->edit->behind >= parser->at)
		parser->edit->behind = NULL;
	if (parser->edit && str_eq(parser->section, parser->edit->key.section)) {
		const char *end = memchr(parser->at, '\n', (size_t)(parser->end - parser->at));

		parser->edit->behind = end ? end + 1 : parser->end;
	}
}

static void note_entry(const struct parser *parser, struct str name)
{
	note_section(parser);
	if (parser->edit && str_eq(parser->section, parser->edit->key.section) &&
	    str_eq(name, parser->edit->key.name)) {
		parser->edit->value = name.p + name.n;
		parser->edit->value_end = parser->value_end;
	}
}

// [name] or [name "more"], which is name.more.
static bool parse_section(struct parser *parser)
{
	VEC(char) name = {0};
	bool quoted = false, good = false;

	for (parser->at++; parser->at < parser->end && *parser->at != '\n'; parser->at++) {
		char c = *parser->at;

		if (c == ']' && !quoted) {
			parser->at++;
			good = name.n > 0;
			break;
		}
		if (c == '"') {
			if (!quoted && name.n)
				vec_push(&name, '.');
			quoted = !quoted;
		} else if (c == '\\' && quoted && parser->at + 1 < parser->end &&
			   parser->at[1] != '\n') {
			vec_push(&name, *++parser->at);
		} else if (quoted || (c != ' ' && c != '\t')) {
			vec_push(&name, c);
		}
	}
	if (good)
		parser->section =
			str_of(arena_strdup(&parser->config->arena, (struct str){name.v, name.n}));
	vec_done(&name);
	if (good)
		note_section(parser);
	return good;
}

// Up to the line's end or a comment; quotes keep blanks, a backslash at the end goes on in the next line.
static bool parse_value(struct parser *parser, const char **ret)
{
	VEC(char) value = {0};
	bool quoted = false, good = true;
	size_t kept = 0;

	parser->value_end = parser->at;
	for (; parser->at < parser->end && (*parser->at != '\n' || quoted); parser->at++) {
		char c = *parser->at;

		if (c == '\n') {
			good = false;
			break;
		}
		if (!quoted && (c == '#' || c == ';'))
			break;
		if (c == '"') {
			quoted = !quoted;
			kept = value.n;
			parser->value_end = parser->at + 1;
			continue;
		}
		if (c == '\\') {
			static const char from[] = "tbn\"\\", to[] = "\t\b\n\"\\";

			if (++parser->at == parser->end)
				break;
			if (*parser->at == '\n') {
				parser->line++;
				continue;
			}
			const char *known = strchr(from, *parser->at);
			if (!known || !*known) {
				good = false;
				break;
			}
			c = to[known - from];
		} else if (!quoted && (c == ' ' || c == '\t' || c == '\r')) {
			if (value.n)
				vec_push(&value, c);
			continue;
		}
		vec_push(&value, c);
		kept = value.n;
		parser->value_end = parser->at + 1;
	}
	if (quoted)
		good = false;
	*ret = arena_strdup(&parser->config->arena, (struct str){value.v, kept});
	vec_done(&value);
	skip_line(parser);
	return good;
}

static bool parse_entry(struct parser *parser)
{
	struct str name = {parser->at, 0};
	const char *value = NULL;
	unsigned line = parser->line;
	struct config_entry *entry;

	while (parser->at < parser->end && is_name(*parser->at))
		parser->at++;
	name.n = (size_t)(parser->at - name.p);
	parser->value_end = parser->at;
	while (parser->at < parser->end &&
	       (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\r'))
		parser->at++;
	if (!name.n || !parser->section.n)
		return false;
	if (parser->at < parser->end && *parser->at == '=') {
		parser->at++;
		if (!parse_value(parser, &value))
			return false;
	} else if (parser->at < parser->end && *parser->at != '\n') {
		return false;
	}
	entry = set(parser->config, (struct key){parser->section, name}, value, parser->is_system);
	entry->file = parser->file;
	entry->line = line;
	note_entry(parser, name);
	return true;
}

static int parse(struct parser *parser, struct str text, const char *name)
{
	bool good = true;

	parser->at = text.p;
	parser->end = text.p + text.n;
	parser->line = 1;
	parser->file = arena_strdup(&parser->config->arena, str_of(name));
	if (text.n >= 3 && !memcmp(text.p, "\xef\xbb\xbf", 3))
		parser->at += 3;
	while (good && parser->at < parser->end) {
		switch (*parser->at) {
		case '\n':
			parser->line++;
			// fall through
		case ' ':
		case '\t':
		case '\r':
			parser->at++;
			break;
		case '#':
		case ';':
			skip_line(parser);
			break;
		case '[':
			good = parse_section(parser);
			break;
		default:
			good = parse_entry(parser);
		}
	}
	if (!good)
		return fail(EINVAL, "bad config file line %u in %s", parser->line, name);
	return 0;
}

int config_parse(struct config *config, struct str text, const char *name, bool is_system)
{
	struct parser parser = {.config = config, .is_system = is_system};

	return parse(&parser, text, name);
}

static void put_quoted(struct out *out, const char *text)
{
	out_char(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			out_char(out, '\\');
		if (*text == '\n')
			out_text(out, "\\n");
		else
			out_char(out, *text);
	}
	out_char(out, '"');
}

// What would be lost or end the section stands in quotes: [head "rest"].
static void put_section(struct out *out, const char *section)
{
	static const char special[] = " \t\"]";
	size_t head = strcspn(section, ".");

	out_char(out, '[');
	if (!strpbrk(section, special)) {
		out_text(out, section);
	} else if (!head || !section[head] || strcspn(section, special) < head) {
		put_quoted(out, section);
	} else {
		out_bytes(out, section, head);
		out_char(out, ' ');
		put_quoted(out, section + head + 1);
	}
	out_text(out, "]\n");
}

// A value that a reader would cut or take apart stands in quotes.
static void put_value(struct out *out, const char *value)
{
	if (strpbrk(value, "#;\"\\\n\t\r") || value[0] == ' ' || text_ends(value, " "))
		put_quoted(out, value);
	else
		out_text(out, value);
}

static void put_line(struct out *out, struct str name, const char *value)
{
	out_char(out, '\t');
	out_str(out, name);
	out_text(out, " = ");
	put_value(out, value);
	out_char(out, '\n');
}

static void put_edited(struct out *out, struct str text, const struct edit *edit, const char *value)
{
	const char *at = edit->value ? edit->value : edit->behind ? edit->behind : text.p + text.n;
	size_t before = (size_t)(at - text.p);

	out_bytes(out, text.p, before);
	if (edit->value) {
		out_text(out, " = ");
		put_value(out, value);
		at = edit->value_end;
	} else {
		if (before && at[-1] != '\n')
			out_char(out, '\n');
		// A value that goes on in the next line ends here.
		if ((before && at[-1] == '\\') || (before > 1 && at[-1] == '\n' && at[-2] == '\\'))
			out_char(out, '\n');
		if (!edit->behind) {
			auto_free char *section = text_dup_fmt("%.*s", STR_FMT(edit->key.section));

			put_section(out, section);
		}
		put_line(out, edit->key.name, value);
	}
	out_bytes(out, at, (size_t)(text.p + text.n - at));
}

int config_edit(struct out *ret, struct str text, const char *key, const char *value)
{
	struct config checked = {0}, config = {0};
	struct edit edit = {0};
	struct parser parser = {.config = &config, .edit = &edit};
	int err = config_set(&checked, key, value, false);

	if (!err)
		split(key, &edit.key);
	if (!text.n)
		text = STR("# this file is auto-generated.\n");
	if (!err)
		err = parse(&parser, text, "the settings");
	if (!err)
		put_edited(ret, text, &edit, value);
	config_done(&config);
	config_done(&checked);
	return err;
}

static bool user_path(char *ret, size_t ret_size)
{
	const char *home = getenv("HOME");

	return home && *home && (size_t)snprintf(ret, ret_size, "%s/.perfconfig", home) < ret_size;
}

// The file that is read alone; NULL: both, or the user's, which has no place.
static const char *only_file(char *path, size_t path_size, unsigned files)
{
	if (files == CONFIG_SYSTEM)
		return CONFIG_SYSTEM_PATH;
	if (files == CONFIG_USER)
		return user_path(path, path_size) ? path : NULL;
	return getenv("PERF_CONFIG");
}

int config_path(char *ret, size_t ret_size, unsigned files)
{
	char user[PATH_MAX];
	const char *path = only_file(user, sizeof(user), files);

	if (!path && user_path(user, sizeof(user)))
		path = user;
	if (!path)
		return fail(ENOENT, "there is no HOME to write .perfconfig to");
	if ((size_t)snprintf(ret, ret_size, "%s", path) >= ret_size)
		return fail(ENAMETOOLONG, "the path of the settings is too long");
	return 0;
}

int config_check(const char *path, struct stat *ret)
{
	if (stat(path, ret) < 0)
		return 0;
	if (!S_ISREG(ret->st_mode))
		return fail(EINVAL, "%s is not a file", path);
	if (ret->st_uid && ret->st_uid != geteuid())
		return fail(EPERM, "%s belongs neither to you nor to root, it is ignored", path);
	return 1;
}

static int read_file(struct config *config, const char *path, bool is_system)
{
	auto_free char *text = NULL;
	struct stat st;
	size_t n;
	int err = config_check(path, &st);

	if (err == -EPERM)
		warn("%s", err_sentence());
	if (err < 0)
		err_clear();
	if (err <= 0)
		return 0;
	err = file_read(path, LONGEST_FILE, &text, &n);
	if (err < 0)
		return fail(-err, "can't read %s: %s", path, strerror(-err));
	return config_parse(config, (struct str){text, n}, path, is_system);
}

int config_read(struct config *config, unsigned files)
{
	char path[PATH_MAX];
	const char *only = only_file(path, sizeof(path), files);
	int err = 0;

	if (only)
		return read_file(config, only, files == CONFIG_SYSTEM);
	if (files & CONFIG_SYSTEM && config_bool(getenv("PERF_CONFIG_NOSYSTEM")) != 1)
		err = read_file(config, CONFIG_SYSTEM_PATH, true);
	if (err >= 0 && user_path(path, sizeof(path)))
		err = read_file(config, path, false);
	return err;
}

int config_bool(const char *value)
{
	static const char *const words[2][5] = {{"false", "off", "no", "0", ""},
						{"true", "on", "yes", "1", NULL}};

	for (int i = 0; value && i < 2; i++)
		for (unsigned k = 0; k < 5 && words[i][k]; k++)
			if (!strcasecmp(value, words[i][k]))
				return i;
	return -1;
}
