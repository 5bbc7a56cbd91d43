// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers with units, in and out. Parsers take the whole text or fail (no trailing rubbish).
#pragma once
#include "base/str.h"
#include <stdint.h>

// Decimal, 0x hex, 0 octal; -EINVAL, -ERANGE (without a sentence: the caller knows what it is).
int num_parse_u64(struct str s, uint64_t *ret);
int num_parse_i64(struct str s, int64_t *ret);
int num_parse_hex(struct str s, uint64_t *ret);	 // with or without 0x
int num_parse_double(struct str s, double *ret); // nan and inf are no numbers
// 64, 64B, 4K, 2M, 1G, 1T: powers of 1024, fractions not allowed.
int num_parse_size(struct str s, uint64_t *ret);
// 10ns, 5us, 3ms, 2s, 1m, 1h; a bare number takes `unit_ns`. Fractions allowed. Result in ns.
int num_parse_duration(struct str s, uint64_t unit_ns, uint64_t *ret_ns);
// "0-2,5" or "1,3": calls with each number; -EINVAL if malformed, -ERANGE above `max`.
int num_parse_list(struct str s, uint32_t max, void (*add)(void *arg, uint32_t n), void *arg);

// Decimal digits of v at p (at most 20, no NUL); returns how many.
unsigned num_put_u64(char *p, uint64_t v);
unsigned num_put_hex(char *p, uint64_t v); // lower case, no 0x, no padding, at most 16
// "64 MB", "300 KB", "17 bytes": whole ones, of the largest unit that has one; returns ret.
enum { NUM_SIZE_TEXT = 32 };
char *num_size_text(uint64_t bytes, char ret[NUM_SIZE_TEXT]);
// Two lower case digits a byte, and a NUL behind them.
void num_put_bytes(char *p, const uint8_t *bytes, size_t n);
