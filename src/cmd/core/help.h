// SPDX-License-Identifier: GPL-2.0-or-later
// Help as text, from the command's struct.
#pragma once
#include "base/out.h"
#include "cmd/core/command.h"

// All commands by family, one line each.
void help_overview(struct out *out);
// One command: what `sonde CMD -h` and `sonde help CMD` show.
void help_text(struct out *out, const struct command *command);

// The option as it is typed, for all kinds of help: "-i, --input FILE", "--call-graph[=MODE]".
void help_option_words(struct out *out, const struct opt *opt);
// Is it an option that help shows (not a heading, not hidden)?
bool help_shows(const struct opt *opt);
// The next paragraph of a text whose paragraphs are split by \n\n; NULL p at the end.
struct str help_next_paragraph(struct str *rest);
