// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "encoder/svg/svg.h"
#include <ctype.h>
#include <math.h>

struct hue {
	const char *name;
	short from, to;	      // degrees
	uint8_t saturation;   // percent
	uint8_t dark, bright; // lightness, percent
};

enum hue_id {
	HOT,
	MEM,
	IO,
	RED,
	GREEN,
	BLUE,
	AQUA,
	YELLOW,
	PURPLE,
	ORANGE,
	GREY,
	STEEL,
	HUES,
};

static const struct hue hues[HUES] = {
	[HOT] = {"hot", 6, 50, 88, 57, 67},	     [MEM] = {"mem", 88, 158, 58, 55, 68},
	[IO] = {"io", 205, 255, 62, 66, 78},	     [RED] = {"red", -8, 8, 78, 62, 74},
	[GREEN] = {"green", 100, 130, 52, 55, 68},   [BLUE] = {"blue", 208, 224, 72, 66, 76},
	[AQUA] = {"aqua", 172, 188, 52, 58, 70},     [YELLOW] = {"yellow", 48, 56, 80, 54, 64},
	[PURPLE] = {"purple", 282, 300, 52, 68, 78}, [ORANGE] = {"orange", 24, 38, 90, 58, 67},
	[GREY] = {"grey", 215, 225, 6, 74, 82},	     [STEEL] = {NULL, 202, 226, 58, 69, 78},
};

// From a frame to its hue. Kinds first, then words of the name.
struct word_rule {
	const char *word;
	bool at_start;
	enum hue_id hue;
};

struct svg_palette {
	const char *name;
	enum hue_id kinds[FLAME_KINDS]; // [FLAME_PLAIN] is for what no rule names
	struct word_rule rules[9];	// for plain frames; ends with a NULL word
	struct word_rule jit_rules[4];	// for JIT frames
	bool fade_unknown;		// "[libc.so.6]", "[unknown]" paler
};

#define PLAIN(text, hue)                                                                           \
	{                                                                                          \
		.name = text, .kinds = { hue, hue, hue, hue, hue }                                 \
	}

static const struct svg_palette palettes[] = {
	{.name = "auto", .kinds = {HOT, STEEL, GREEN, AQUA, PURPLE}, .fade_unknown = true},
	PLAIN("hot", HOT),
	PLAIN("mem", MEM),
	PLAIN("io", IO),
	PLAIN("red", RED),
	PLAIN("green", GREEN),
	PLAIN("blue", BLUE),
	PLAIN("aqua", AQUA),
	PLAIN("yellow", YELLOW),
	PLAIN("purple", PURPLE),
	PLAIN("orange", ORANGE),
	PLAIN("grey", GREY),
	PLAIN("wakeup", AQUA),
	{.name = "chain", .kinds = {BLUE, BLUE, BLUE, BLUE, AQUA}},
	{.name = "java",
	 .kinds = {RED, ORANGE, GREEN, AQUA, PURPLE},
	 .rules = {{"::", false, YELLOW},
		   {"java/", false, GREEN},
		   {"javax/", false, GREEN},
		   {"jdk/", false, GREEN},
		   {"org/", false, GREEN},
		   {"com/", false, GREEN},
		   {"io/", true, GREEN},
		   {"sun/", true, GREEN}}},
	{.name = "js",
	 .kinds = {RED, ORANGE, AQUA, AQUA, PURPLE},
	 .rules = {{"::", false, YELLOW},
		   {".js", false, GREEN},
		   {".mjs", false, GREEN},
		   {".ts", false, GREEN},
		   {":", false, AQUA}},
	 .jit_rules = {{"/", false, GREEN}, {".js", false, GREEN}}},
	{.name = "perl",
	 .kinds = {RED, ORANGE, GREEN, AQUA, PURPLE},
	 .rules = {{"Perl", true, GREEN},
		   {".pl", false, GREEN},
		   {".pm", false, GREEN},
		   {"::", false, YELLOW}}},
	{.name = "python",
	 .kinds = {RED, ORANGE, GREEN, AQUA, PURPLE},
	 .rules = {{"py::", true, GREEN},
		   {".py", false, GREEN},
		   {"_Py", true, YELLOW},
		   {"Py", true, YELLOW}}},
};

int svg_palette_find(const struct svg_palette **ret, const char *name)
{
	const char *names[ARRAY_SIZE(palettes) + 1] = {NULL};

	for (size_t i = 0; i < ARRAY_SIZE(palettes); i++) {
		if (strcmp(palettes[i].name, name) == 0) {
			*ret = &palettes[i];
			return 0;
		}
		names[i] = palettes[i].name;
	}
	const char *near = nearest(name, names);
	if (near)
		return fail(EINVAL, "there are no colors '%s'; did you mean '%s'?", name, near);
	return fail(EINVAL,
		    "there are no colors '%s'; there are auto hot mem io java js perl python wakeup chain "
		    "red green blue aqua yellow purple orange grey",
		    name);
}

uint32_t svg_hsl(double h, double s, double l)
{
	uint32_t rgb = 0;

	h = fmod(h + 360, 360);
	s /= 100;
	l /= 100;
	double a = s * fmin(l, 1 - l);
	for (int i = 0; i < 3; i++) { // https://www.w3.org/TR/css-color-4/#hsl-to-rgb
		double k = fmod((i == 0 ? 0 : i == 1 ? 8 : 4) + h / 30, 12);
		double v = l - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1));

		rgb = rgb << 8 | (uint32_t)lround(v * 255);
	}
	return rgb;
}

void svg_color(struct out *out, uint32_t rgb)
{
	out_char(out, '#');
	out_hex_zeros(out, rgb, 6);
}

static const struct hue *hue_by_rules(const struct word_rule *rules, size_t n, struct str name)
{
	for (size_t i = 0; i < n && rules[i].word; i++) {
		size_t word = strlen(rules[i].word);

		if (rules[i].at_start ? str_starts(name, rules[i].word)
				      : memmem(name.p, name.n, rules[i].word, word) != NULL)
			return &hues[rules[i].hue];
	}
	return NULL;
}

static const struct hue *hue_of(const struct svg_palette *palette, struct flame_frame frame)
{
	const struct hue *hue = NULL;

	if (frame.kind == FLAME_PLAIN)
		hue = hue_by_rules(palette->rules, ARRAY_SIZE(palette->rules), frame.name);
	else if (frame.kind == FLAME_JIT)
		hue = hue_by_rules(palette->jit_rules, ARRAY_SIZE(palette->jit_rules), frame.name);
	return hue ? hue : &hues[palette->kinds[frame.kind]];
}

static double unit(uint64_t hash)
{
	return (double)(hash >> 40) / (1 << 24);
}

// "tcp" of tcp_sendmsg, "std" of std::sort: what related functions begin with.
static struct str first_word(struct str name)
{
	size_t from = 0, to;

	while (from < name.n && !isalnum((unsigned char)name.p[from]))
		from++;
	for (to = from; to < name.n && isalnum((unsigned char)name.p[to]);)
		to++;
	return (struct str){name.p + from, to - from};
}

uint32_t svg_frame_color(const struct svg_palette *palette, struct flame_frame frame, uint64_t salt)
{
	if (str_is(frame.name, "--") ||
	    str_is(frame.name, "-")) // separates the waker's stack from the sleeper's
		return 0xa0a0a8;
	const struct hue *hue = hue_of(palette, frame);
	struct str word = first_word(frame.name);
	uint64_t of_word = hash_u64(hash_bytes(word.p, word.n) ^ salt);
	uint64_t of_name = hash_u64(hash_bytes(frame.name.p, frame.name.n) ^ salt);
	double h = hue->from + (hue->to - hue->from) * (0.7 * unit(of_word) + 0.3 * unit(of_name));
	double l = hue->dark + (hue->bright - hue->dark) * unit(of_name << 20);
	double s = hue->saturation;

	if (palette->fade_unknown && frame.name.n && frame.name.p[0] == '[') {
		s *= 0.45;
		l += (100 - l) * 0.3;
	}
	return svg_hsl(h, s, l);
}

bool svg_kind_color(const struct svg_palette *palette, enum flame_kind kind, uint32_t *ret)
{
	const struct hue *hue = &hues[palette->kinds[kind]];

	if (kind != FLAME_PLAIN && palette->kinds[kind] == palette->kinds[FLAME_PLAIN])
		return false;
	*ret = svg_hsl((hue->from + hue->to) / 2.0, hue->saturation, (hue->dark + hue->bright) / 2.0);
	return true;
}

uint32_t svg_change_color(double change)
{
	double amount = pow(fmin(fabs(change), 1), 0.6); // small changes can be seen too

	if (amount < 1e-9)
		return 0xf0f0f0;
	return change > 0 ? svg_hsl(4, 85, 95 - 36 * amount) : svg_hsl(214, 85, 95 - 36 * amount);
}

int svg_background_find(struct svg_background *ret, const char *name)
{
	static const struct {
		const char *name;
		uint32_t top, bottom;
	} named[] = {
		{"yellow", 0xf4f2ea, 0xf3e9b4}, {"blue", 0xf0f3f6, 0xd9e2f5},
		{"green", 0xf0f5f0, 0xd8f0d8},	{"grey", 0xfafafa, 0xe6e6e6},
		{"gray", 0xfafafa, 0xe6e6e6},	{"white", 0xffffff, 0xffffff},
	};
	const char *names[ARRAY_SIZE(named) + 1] = {NULL};

	if (!name) {
		*ret = (struct svg_background){.themed = true};
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		names[i] = named[i].name;
		if (strcmp(name, named[i].name) == 0) {
			*ret = (struct svg_background){.top = named[i].top,
						       .bottom = named[i].bottom};
			return 0;
		}
	}
	uint64_t rgb;
	if (name[0] == '#' && strlen(name) == 7 && num_parse_hex(str_of(name + 1), &rgb) == 0) {
		*ret = (struct svg_background){.top = (uint32_t)rgb, .bottom = (uint32_t)rgb};
		return 0;
	}
	const char *near = nearest(name, names);
	return fail(EINVAL, "there is no background '%s'; %s%s%s", name, near ? "did you mean '" : "",
		    near ? near : "use yellow, blue, green, grey, white or #rrggbb",
		    near ? "'?" : "");
}
