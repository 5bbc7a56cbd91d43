// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/svg/svg.h"
#include "base/err.h"
#include "base/test.h"
#include "encoder/core/encoder.h"
#include "view/folded.h"
#include "view/heat.h"

static void numbers(void **state)
{
	static const struct {
		double v;
		unsigned decimals;
		const char *text;
	} cases[] = {
		{0, 4, "0"},	   {1.5, 4, "1.5"},	 {12.34567, 4, "12.3457"},
		{0.00004, 4, "0"}, {99.99999, 4, "100"}, {-2.25, 2, "-2.25"},
		{7, 0, "7"},	   {1e15, 2, "1e+15"},	 {0.05, 2, "0.05"},
		{-0.001, 2, "0"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct out out;

		out_init_memory(&out);
		svg_number(&out, cases[i].v, cases[i].decimals);
		out_char(&out, 0);
		assert_string_equal(out.buf, cases[i].text);
		out_done(&out);
	}
}

static void counts(void **state)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {{0, "0"},	    {999, "999"},      {1000, "1,000"}, {1234567, "1,234,567"},
		     {2.5, "2.50"}, {-1200, "-1,200"}, {0.999, "1"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct out out;

		out_init_memory(&out);
		svg_count(&out, cases[i].v);
		out_char(&out, 0);
		assert_string_equal(out.buf, cases[i].text);
		out_done(&out);
	}
}

static void colors(void **state)
{
	const struct svg_palette *palette;

	assert_int_equal(svg_hsl(0, 100, 50), 0xff0000);
	assert_int_equal(svg_hsl(120, 100, 50), 0x00ff00);
	assert_int_equal(svg_hsl(-120, 100, 50), 0x0000ff);
	assert_int_equal(svg_hsl(77, 0, 100), 0xffffff);
	assert_int_equal(svg_palette_find(&palette, "aqau"), -EINVAL);
	assert_non_null(strstr(err_sentence(), "'aqua'"));
	assert_int_equal(svg_palette_find(&palette, "java"), 0);
	// Kinds and words decide.
	uint32_t jit =
		svg_frame_color(palette,
				(struct flame_frame){STR("com.example.Main.run"), FLAME_JIT}, 0);
	assert_true(((jit >> 8) & 255) > (jit >> 16) && ((jit >> 8) & 255) > (jit & 255));
	assert_int_equal(svg_frame_color(palette, (struct flame_frame){STR("same"), FLAME_PLAIN}, 0),
			 svg_frame_color(palette, (struct flame_frame){STR("same"), FLAME_PLAIN}, 0));
	assert_true(svg_change_color(1) != svg_change_color(-1));
}

static int draw(struct out *out, const char *folded, const struct flame_style *style)
{
	struct folded_result result;
	struct flame flame;

	flame_init(&flame);
	folded_read(&flame, str_of(folded), &(struct folded_options){.side = FLAME_AFTER}, &result);
	flame_finish(&flame, true);
	out_init_memory(out);
	int err = svg_flame(out, &flame, style);
	flame_done(&flame);
	out_char(out, 0);
	return err;
}

static void draws_frames(void **state)
{
	struct out out;

	assert_int_equal(draw(&out, "a;b 3\na;<c> 1\n", &(struct flame_style){.title = "T & T"}), 0);
	assert_non_null(strstr(out.buf, "<title>T &amp; T</title>"));
	assert_non_null(
		strstr(out.buf,
		       "<title>b (3 samples, 75.00%)</title><rect x=\"25%\" y=\"0\" width=\"75%\""));
	assert_non_null(strstr(out.buf, "<title>&lt;c&gt; (1 samples, 25.00%)</title>"));
	out_done(&out);
	assert_int_equal(draw(&out, "a;b 3\na;c 1\n", &(struct flame_style){.min_width = 500}), 0);
	assert_null(strstr(out.buf, "<title>c ("));
	out_done(&out);
}

static void refusals(void **state)
{
	static const struct flame_style styles[] = {
		{.width = 1},	    {.frame_height = 1},    {.font_size = 1000},
		{.colors = "nope"}, {.background = "nope"},
	};
	struct out out;

	for (size_t i = 0; i < ARRAY_SIZE(styles); i++) {
		assert_int_equal(draw(&out, "a 1\n", &styles[i]), -EINVAL);
		out_done(&out);
	}
	assert_int_equal(draw(&out, "", &(struct flame_style){0}), -ENODATA);
	out_done(&out);
}

static void draws_heat(void **state)
{
	struct heat heat;
	struct out out;

	heat_init(&heat);
	heat_add(&heat, 0, 1, 1);
	heat_add(&heat, 1, 9, 1);
	assert_int_equal(heat_finish(&heat, &(struct heat_options){.rows = 10, .columns = 10}), 0);
	out_init_memory(&out);
	assert_int_equal(svg_heat(&out, &heat, &(struct heat_style){.value_unit = "us"}), 0);
	out_char(&out, 0);
	assert_non_null(strstr(out.buf, ": 1 events (50.00%)</title>"));
	assert_int_equal(svg_heat(&out, &heat, &(struct heat_style){.colors = "htt"}), -EINVAL);
	assert_int_equal(svg_heat(&out, &heat, &(struct heat_style){.time_unit = "weeks"}), -EINVAL);
	out_done(&out);
	heat_done(&heat);
}

RUN_TESTS(TEST(numbers), TEST(counts), TEST(colors), TEST(draws_frames), TEST(refusals),
	  TEST(draws_heat))
