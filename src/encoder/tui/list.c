// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/tui/list.h"
#include "encoder/tui/screen.h"

enum { WHEEL_ROWS = 3 };

static void show_chosen(struct list *list)
{
	size_t page = list->page ? list->page : 1;

	if (list->at >= list->n)
		list->at = list->n ? list->n - 1 : 0;
	if (list->top > list->at)
		list->top = list->at;
	if (list->at - list->top >= page)
		list->top = list->at - page + 1;
	// No empty lines below while there are rows above.
	if (list->n <= page)
		list->top = 0;
	else if (list->top > list->n - page)
		list->top = list->n - page;
}

void list_resize(struct list *list, size_t n, size_t page)
{
	list->n = n;
	list->page = page;
	show_chosen(list);
}

void list_choose(struct list *list, size_t at)
{
	list->at = at;
	show_chosen(list);
}

static void move_back(struct list *list, size_t n)
{
	list_choose(list, list->at > n ? list->at - n : 0);
}

bool list_key(struct list *list, int key)
{
	size_t page = list->page ? list->page : 1;

	switch (key) {
	case SCREEN_UP:
		move_back(list, 1);
		return true;
	case SCREEN_DOWN:
		list_choose(list, list->at + 1);
		return true;
	case SCREEN_WHEEL_UP:
		move_back(list, WHEEL_ROWS);
		return true;
	case SCREEN_WHEEL_DOWN:
		list_choose(list, list->at + WHEEL_ROWS);
		return true;
	case SCREEN_PAGE_UP:
		list->top = list->top > page ? list->top - page : 0;
		move_back(list, page);
		return true;
	case SCREEN_PAGE_DOWN:
	case ' ':
		list->top += page;
		list_choose(list, list->at + page);
		return true;
	case SCREEN_HOME:
		list_choose(list, 0);
		return true;
	case SCREEN_END:
		list_choose(list, list->n);
		return true;
	default:
		return false;
	}
}
