// SPDX-License-Identifier: GPL-2.0-or-later
// A program whose branches test/diff/branches looks at: loops, calls through pointers, recursion.
#include <stdio.h>

__attribute__((noinline)) int leaf(int x)
{
	return x * 3 + 1;
}
__attribute__((noinline)) int loop(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) {
		if (i & 1)
			s += leaf(i);
		else
			s ^= i;
	}
	return s;
}
__attribute__((noinline)) int rec(int n)
{
	return n < 2 ? n : rec(n - 1) + rec(n - 2);
}
int (*volatile fn)(int) = loop;
int main(void)
{
	int s = 0;
	for (int i = 0; i < 300; i++)
		s += fn(i % 17) + rec(i % 7);
	printf("%d\n", s);
	return 0;
}
