// SPDX-License-Identifier: GPL-2.0-or-later
// Fast hashes, not against attackers who choose keys.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

// Each argument still counts where the other one is what makes the product zero: a register may hold any constant, and where
// frame pointers lead astray it stands in a call chain.
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	__uint128_t m;

	a ^= 0x9e3779b97f4a7c15ull;
	b ^= 0xe7037ed1a0b428dbull;
	m = (__uint128_t)a * b;
	return (uint64_t)m ^ (uint64_t)(m >> 64) ^ a ^ b;
}

// About 16 bytes a cycle.
static inline uint64_t hash_bytes(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint64_t h = hash_mix(n, 0x8ebc6af09c88c6e3ull), a, b;

	while (n >= 16) {
		memcpy(&a, p, 8);
		memcpy(&b, p + 8, 8);
		h = hash_mix(h ^ a, b);
		p += 16;
		n -= 16;
	}
	if (n >= 8) {
		memcpy(&a, p, 8);
		h = hash_mix(h, a);
		p += 8;
		n -= 8;
	}
	if (n) {
		a = 0;
		memcpy(&a, p, n);
		h = hash_mix(h, a ^ (uint64_t)n << 56);
	}
	return h;
}
