// SPDX-License-Identifier: GPL-2.0-or-later
// "Did you mean": the candidate with the smallest edit distance.
#pragma once
#include <stddef.h>

// Edit distance with transpositions; stops counting above `limit`.
unsigned edit_distance(const char *a, const char *b, unsigned limit);
// The nearest of a NULL-terminated list, or NULL when none is near enough (a third of the word).
// A candidate that contains the word, or that the word starts with, counts as near.
const char *nearest(const char *word, const char *const *candidates);
