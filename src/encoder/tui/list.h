// SPDX-License-Identifier: GPL-2.0-or-later
// A long list of which a page is seen: which row is chosen, which is on top. The rows themselves are made by who draws.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct list {
	size_t n;    // rows
	size_t at;   // the chosen one; 0 when there is none
	size_t top;  // the first that is seen
	size_t page; // rows that are seen at once
};

// Takes new sizes; what is chosen stays chosen and seen.
void list_resize(struct list *list, size_t n, size_t page);
void list_choose(struct list *list, size_t at);
// Arrows, pages, ends and the mouse wheel (screen.h). Was it a key for the list?
bool list_key(struct list *list, int key);
