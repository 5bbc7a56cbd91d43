// SPDX-License-Identifier: GPL-2.0-or-later
// libtraceevent trusts format texts: it dereferences fields that it did not find, divides by zero and recurses as
// deep as a text tells it to. A recording is not to be trusted, so its formats are checked before.
#include "abi/tracepoint_impl.h"
#include <ctype.h>

// No real format comes near these.
#define FORMAT_MAX_BYTES 65536
#define NESTING_MAX 100

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static struct str skip_space(struct str s)
{
	while (s.n && (*s.p == ' ' || *s.p == '\t')) {
		s.p++;
		s.n--;
	}
	return s;
}

// Takes "key:NUMBER;" off the front of *s.
static bool take_number(struct str *s, const char *key, uint64_t *ret)
{
	size_t n = strlen(key);
	struct str number;

	*s = skip_space(*s);
	if (!str_starts(*s, key) || s->n <= n || s->p[n] != ':')
		return false;
	s->p += n + 1;
	s->n -= n + 1;
	if (!memchr(s->p, ';', s->n))
		return false;
	number = str_cut(s, ';');
	return num_parse_u64(number, ret) == 0;
}

// "unsigned int args[6]", "__data_loc char[] name", "const char __attribute__((user)) * name"
static bool is_declaration(struct str s)
{
	bool bracket = false, word = false;
	unsigned words = 0, brackets = 0;
	int parens = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (is_word(c) || c == '.') {
			words += !word;
		} else if (c == '[') {
			// one pair, behind a word
			if (bracket || parens || !words || brackets++)
				return false;
			bracket = true;
		} else if (c == ']') {
			if (!bracket)
				return false;
			bracket = false;
		} else if (c == '(' || c == ')') {
			parens += c == '(' ? 1 : -1;
			if (parens < 0 || bracket)
				return false;
		} else if (c != ' ' && c != '*') {
			return false;
		}
		word = is_word(c) || c == '.';
	}
	if (parens || bracket || words < 2 || !s.n)
		return false;
	return is_word(s.p[s.n - 1]) || s.p[s.n - 1] == ']';
}

static bool is_field_line(struct str line)
{
	struct str declaration;
	uint64_t v;

	line = skip_space(line);
	if (str_starts(line, "field special:")) // of old kernels
		line = (struct str){line.p + 14, line.n - 14};
	else if (str_starts(line, "field:"))
		line = (struct str){line.p + 6, line.n - 6};
	else
		return false;
	if (!memchr(line.p, ';', line.n))
		return false;
	declaration = str_cut(&line, ';');
	if (!is_declaration(declaration) || !take_number(&line, "offset", &v) || v > UINT16_MAX ||
	    !take_number(&line, "size", &v) || v > UINT16_MAX)
		return false;
	line = skip_space(line);
	if (line.n && !take_number(&line, "signed", &v))
		return false;
	return str_trim(line).n == 0;
}

bool tp_check_fields(struct str text, uint32_t *ret_id)
{
	bool has_name = false, has_id = false, has_format = false, has_fields = false;
	struct str rest = text;

	if (text.n > FORMAT_MAX_BYTES)
		return false;
	while (rest.p) {
		struct str line = str_cut(&rest, '\n');
		uint64_t id;

		if (str_trim(line).n == 0)
			continue;
		if (has_format) {
			if (!is_field_line(line))
				return false;
			has_fields = true;
		} else if (str_starts(line, "name:")) {
			line = str_trim((struct str){line.p + 5, line.n - 5});
			for (size_t i = 0; i < line.n; i++)
				if (!is_word(line.p[i]))
					return false;
			if (!line.n || has_name)
				return false;
			has_name = true;
		} else if (str_starts(line, "ID:")) {
			line = str_trim((struct str){line.p + 3, line.n - 3});
			if (has_id || num_parse_u64(line, &id) < 0 || id > INT32_MAX)
				return false;
			*ret_id = (uint32_t)id;
			has_id = true;
		} else if (str_is(str_trim(line), "format:")) {
			has_format = true;
		} else {
			return false;
		}
	}
	return has_name && has_id && has_fields;
}

// Does the text have a field of this name?
static bool names_field(struct str fields, struct str name)
{
	const char *at = fields.p, *end = fields.p + fields.n;

	// "field:TYPE NAME[...];"
	while (at < end && (at = memmem(at, (size_t)(end - at), name.p, name.n))) {
		const char *after = at + name.n;

		if (at > fields.p && !is_word(at[-1]) && after < end &&
		    (*after == ';' || *after == '['))
			return true;
		at++;
	}
	return false;
}

// What may stand behind '/' and '%': a number that is not 0, sizeof(type), or a field (divided by only when
// printing, which looks).
static bool is_safe_divisor(struct str s)
{
	uint64_t v = 0;

	s = skip_space(s);
	if (str_starts(s, "REC->"))
		return true;
	if (str_starts(s, "sizeof(")) {
		for (size_t i = 7; i < s.n && s.p[i] != ')'; i++)
			if (!is_word(s.p[i]) && s.p[i] != ' ')
				return false;
		return true;
	}
	for (size_t i = 0; i < s.n && i < 9 && isdigit((unsigned char)s.p[i]); i++)
		v = v * 10 + (uint64_t)(s.p[i] - '0');
	return v && s.p[0] != '0';
}

// ---- the grammar of a print fmt: C expressions and the kernel's __print_...() helpers

struct reader {
	const char *p, *end;
	struct str fields;
	unsigned depth;
	bool bad;
};

static char peek(struct reader *r)
{
	while (r->p < r->end && isspace((unsigned char)*r->p))
		r->p++;
	return r->p < r->end ? *r->p : 0;
}

static bool take(struct reader *r, const char *token)
{
	size_t n = strlen(token);

	peek(r);
	if ((size_t)(r->end - r->p) < n || memcmp(r->p, token, n) != 0)
		return false;
	r->p += n;
	return true;
}

static void expect(struct reader *r, const char *token)
{
	if (!take(r, token))
		r->bad = true;
}

static struct str take_word(struct reader *r)
{
	struct str word = {r->p, 0};

	peek(r);
	word.p = r->p;
	while (r->p < r->end && is_word(*r->p))
		r->p++;
	word.n = (size_t)(r->p - word.p);
	return word;
}

static void take_quoted(struct reader *r, char quote)
{
	for (r->p++; r->p < r->end && *r->p != quote; r->p++)
		if (*r->p == '\\' && ++r->p == r->end)
			break;
	if (r->p == r->end)
		r->bad = true;
	else
		r->p++;
}

static void check_expr(struct reader *r);

// Behind "REC".
static void check_member(struct reader *r)
{
	struct str name;

	expect(r, "->");
	name = take_word(r);
	if (!name.n || !names_field(r->fields, name))
		r->bad = true;
}

static void check_arguments(struct reader *r)
{
	while (!r->bad && peek(r) != ')') {
		if (take(r, "{")) {
			check_expr(r);
			expect(r, ",");
			check_expr(r);
			expect(r, "}");
		} else {
			check_expr(r);
		}
		if (!take(r, ","))
			break;
	}
	expect(r, ")");
}

// Words and stars up to a ')': takes them.
static bool take_type(struct reader *r)
{
	const char *start = r->p;
	unsigned words = 0;

	while (take_word(r).n)
		words++;
	while (take(r, "*"))
		;
	if (words && take(r, ")"))
		return true;
	r->p = start;
	return false;
}

static void check_operand(struct reader *r)
{
	char c = peek(r);
	struct str word;

	if (c == '"') {
		while (!r->bad && peek(r) == '"')
			take_quoted(r, '"');
	} else if (c == '\'') {
		take_quoted(r, '\'');
	} else if (take(r, "(")) {
		const char *start = r->p;

		if (take_word(r).n == 3 && memcmp(r->p - 3, "REC", 3) == 0 && take(r, ")")) {
			check_member(r);
			return;
		}
		r->p = start;
		if (take_type(r)) {
			c = peek(r);
			// a cast, else a name in parentheses
			if (is_word(c) || c == '(' || c == '"' || c == '!' || c == '~')
				check_operand(r);
		} else {
			check_expr(r);
			expect(r, ")");
		}
	} else if (is_word(c)) {
		word = take_word(r);
		if (str_is(word, "REC")) {
			check_member(r);
		} else if (take(r, "(")) {
			check_arguments(r);
		} else {
			while (is_word(peek(r)))
				take_word(r);
		}
	} else {
		r->bad = true;
	}
	if (!r->bad && take(r, "[")) {
		check_expr(r);
		expect(r, "]");
	}
}

static bool take_operator(struct reader *r)
{
	// longer ones first
	static const char *const operators[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
						"<",  ">",  "&",  "|",	"^",  "+",  "-",  "*"};

	if (take(r, "/") || take(r, "%")) {
		if (!is_safe_divisor((struct str){r->p, (size_t)(r->end - r->p)}))
			r->bad = true;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (take(r, operators[i]))
			return true;
	return false;
}

static void check_expr(struct reader *r)
{
	if (++r->depth > NESTING_MAX)
		r->bad = true;
	do {
		unsigned signs = 0;

		// sizeof(void *)
		if (signs == 0 && peek(r) == ')' && r->p[-1] == '*')
			break;
		while (peek(r) == '!' || peek(r) == '~' || peek(r) == '-' || peek(r) == '+') {
			r->p++;
			if (++signs > NESTING_MAX)
				r->bad = true;
		}
		if (!r->bad)
			check_operand(r);
	} while (!r->bad && take_operator(r));
	if (!r->bad && take(r, "?")) {
		check_expr(r);
		expect(r, ":");
		if (!r->bad)
			check_expr(r);
	}
	r->depth--;
}

bool tp_check_print_fmt(struct str fields, struct str fmt)
{
	struct reader r = {.p = fmt.p, .fields = fields};

	if (fmt.n > FORMAT_MAX_BYTES)
		return false;
	if (!fmt.n)
		return true;
	r.end = fmt.p + fmt.n;
	if (!take(&r, "print fmt:"))
		return false;
	if (peek(&r) != '"')
		return false;
	while (!r.bad && peek(&r) == '"')
		take_quoted(&r, '"');
	while (!r.bad && take(&r, ","))
		check_expr(&r);
	return !r.bad && !peek(&r);
}
