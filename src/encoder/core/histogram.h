// SPDX-License-Identifier: GPL-2.0-or-later
// Histograms as text, as bcc's tools print them.
#pragma once
#include "base/out.h"
#include "view/histogram.h"

// Nothing when nothing was counted.
void histogram_text(struct out *out, const struct histogram *histogram);
