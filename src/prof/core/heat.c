// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/heat.h"
#include "base/err.h"
#include "encoder/core/encoder.h"
#include "prof/core/flame.h"
#include "view/heat.h"

enum { MOST_POINTS = 1 << 22 };

struct prof_heat {
	struct heat heat;
	struct out values;
	char *path;
	const char *unit;
	uint64_t left_out_n;
};

int prof_heat_new(struct prof *prof, const char *value_unit)
{
	struct prof_heat *heat;
	char *path;
	int err;

	if (!prof->options->heatmap)
		return 0;
	heat = NEW(struct prof_heat);
	path = text_dup_fmt("%s.lat", prof->options->heatmap);
	err = out_open(&heat->values, path);
	if (err) {
		free(path);
		free(heat);
		return err;
	}
	heat->path = path;
	heat->unit = value_unit;
	heat_init(&heat->heat);
	prof->heat = heat;
	return 0;
}

void prof_heat_free(struct prof_heat *heat)
{
	if (!heat)
		return;
	out_done(&heat->values);
	heat_done(&heat->heat);
	free(heat->path);
	free(heat);
}

void prof_heat_put(struct prof_heat *heat, uint64_t time_ns, uint64_t value)
{
	out_time(&heat->values, time_ns, 0, 6);
	out_char(&heat->values, ' ');
	out_u64(&heat->values, value);
	out_char(&heat->values, '\n');
	// The picture needs all points to know their range; the text goes on.
	if (heat->heat.points.n < MOST_POINTS)
		heat_add(&heat->heat, (double)time_ns / 1e9, (double)value, 1);
	else
		heat->left_out_n++;
}

int prof_heat_write(struct prof *prof)
{
	struct prof_heat *heat = prof->heat;
	struct heat_options options = {.scale = HEAT_LOG};
	auto_free char *subtitle = prof_picture_subtitle(prof, (double)heat->heat.points.n, "events");
	struct heat_style style = {.title = prof->profiler->name,
				   .subtitle = subtitle,
				   .value_unit = heat->unit};
	auto_free char *path = text_dup_fmt("%s.svg", prof->options->heatmap);
	const struct encoder *encoder;
	struct out out;
	int err = out_close(&heat->values, heat->path);

	if (err || !heat->heat.points.n)
		return err;
	err = heat_finish(&heat->heat, &options);
	if (!err)
		err = encoder_find(&encoder, "svg");
	if (!err)
		err = out_open(&out, path);
	if (err)
		return err;
	err = encoder->heat(&out, &heat->heat, &style);
	return out_end(&out, path, err);
}
