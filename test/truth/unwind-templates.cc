// SPDX-License-Identifier: GPL-2.0-or-later
// Ten levels of templates, each a function of its own that may throw.
#include <string>
#include <vector>

template <int N, typename T> struct Deep {
	__attribute__((noinline)) static unsigned long run(void (*call)(void), const T &value)
	{
		std::vector<T> copies(1 + N % 2, value);

		return Deep<N - 1, std::vector<T>>::run(call, copies) + copies.size();
	}
};

template <typename T> struct Deep<0, T> {
	__attribute__((noinline)) static unsigned long run(void (*call)(void), const T &value)
	{
		call();
		return value.size();
	}
};

extern "C" void templates(void (*call)(void));
volatile unsigned long kept;

void templates(void (*call)(void))
{
	kept = Deep<10, std::string>::run(call, "x");
}
