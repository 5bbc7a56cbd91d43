// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/alloc.h"
#include "base/test.h"
#include <string.h>

// Of a name nothing gets out that ends a line or moves a cursor; what the message itself says stays.
static void names_of_strangers(void **state)
{
	fail(EINVAL, "a %s b", "x\ny\tz\033[2J\r\xff");
	assert_string_equal(err_sentence(), "a x?y?z?[2J?? b");
	fail(EINVAL, "a\n\t%s\nb\001", "x\n\001");
	assert_string_equal(err_sentence(), "a\n\tx??\nb?");
	fail_context(-EINVAL, "c\n%s", "\n");
	assert_string_equal(err_sentence(), "c\n?: a\n\tx??\nb?");
	err_clear();
	fail_context(-ENOENT, "%s", "\n");
	assert_string_equal(err_sentence(), "?: No such file or directory");
}

// A sentence that goes into another one, or comes back, is as it was.
static void sentences_in_sentences(void **state)
{
	char *kept;

	fail(EINVAL, "what\n  %s\n  ^", "te\nxt");
	kept = xstrdup(err_sentence());
	assert_string_equal(kept, "what\n  te?xt\n  ^");
	fail(EINVAL, "%s: %s", "a\nb", err_sentence());
	assert_string_equal(err_sentence(), "a?b: what\n  te?xt\n  ^");
	assert_int_equal(fail_again(-EIO, kept), -EIO);
	assert_string_equal(err_sentence(), kept);
	assert_int_equal(fail_again(-EIO, err_sentence()), -EIO);
	assert_string_equal(err_sentence(), kept);
	free(kept);
}

static void long_ones_are_cut(void **state)
{
	char name[3 * ERR_SENTENCE_SIZE];

	memset(name, '\n', sizeof(name));
	name[sizeof(name) - 1] = 0;
	fail(EINVAL, "\n%s\n", name);
	assert_int_equal(strlen(err_sentence()), ERR_SENTENCE_SIZE - 1);
	assert_int_equal(err_sentence()[0], '\n');
	assert_null(strchr(err_sentence() + 1, '\n'));
}

RUN_TESTS(TEST(names_of_strangers), TEST(sentences_in_sentences), TEST(long_ones_are_cut))
