// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/stack_frames.h"
#include "base/alloc.h"
#include "base/test.h"

static const struct symbol plain = {.name = "main"}, versioned = {.name = "malloc@@GLIBC_2.2.5"},
			   inlined = {.name = "min", .inlined = true}, unnamed = {.name = ""};
static struct dso program = {.kind = DSO_USER, .long_name = "/usr/bin/gzip", .short_name = "gzip"},
		  kernel = {.kind = DSO_KERNEL,
			    .long_name = "[kernel.kallsyms]",
			    .short_name = "[kernel.kallsyms]"},
		  anon = {.kind = DSO_ANON, .long_name = "//anon", .short_name = "//anon"},
		  jit = {.kind = DSO_ANON, .long_name = "[JIT] tid 5", .short_name = "[JIT] tid 5"},
		  jitted = {.kind = DSO_USER,
			    .long_name = "/tmp/jitted-5-1.so",
			    .short_name = "jitted-5-1.so"};

static const struct {
	struct frame frame;
	const char *name;
	enum flame_kind kind;
} cases[] = {
	{{.dso = &program, .sym = &plain}, "main", FLAME_PLAIN},
	{{.dso = &program, .sym = &versioned}, "malloc", FLAME_PLAIN},
	{{.dso = &program, .sym = &inlined}, "min", FLAME_INLINED},
	{{.dso = &program}, "[gzip]", FLAME_PLAIN},
	{{.dso = &program, .sym = &unnamed}, "[gzip]", FLAME_PLAIN},
	{{.dso = &kernel, .sym = &plain}, "main", FLAME_KERNEL},
	{{.dso = &kernel}, "[kernel.kallsyms]", FLAME_KERNEL},
	{{.dso = &anon}, "[anon]", FLAME_PLAIN},
	{{.dso = &anon, .sym = &plain}, "main", FLAME_JIT},
	{{.dso = &jit}, "[JIT] tid 5", FLAME_JIT},
	{{.dso = &jitted, .sym = &plain}, "main", FLAME_JIT},
	{{.cpumode = PERF_RECORD_MISC_USER}, "[unknown]", FLAME_PLAIN},
	{{.cpumode = PERF_RECORD_MISC_KERNEL}, "[unknown]", FLAME_KERNEL},
};

// All of the cases, in this order from the root to the innermost.
static uint32_t make(struct stacks *stacks)
{
	uint32_t node = 0;

	stacks_init(stacks, NULL, FRAME_BY_FUNCTION);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		vec_push(&stacks->frames, cases[i].frame);
		node = stacks_child(stacks, node, (uint32_t)stacks->frames.n - 1);
	}
	return node;
}

static void names_and_kinds(void **state)
{
	struct stack_frames frames;
	struct stacks stacks;

	make(&stacks);
	stack_frames_init(&frames, &stacks);
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
			struct flame_frame frame = stack_frame(&frames, (uint32_t)i + 1);

			if (!str_is(frame.name, cases[i].name) || frame.kind != cases[i].kind)
				fail_msg("frame %zu is %.*s, kind %d", i, STR_FMT(frame.name),
					 (int)frame.kind);
		}
	}
	stack_frames_done(&frames);
	stacks_done(&stacks);
}

static void nodes(void **state)
{
	struct stack_frames frames;
	struct stacks stacks;
	struct flame flame;
	uint32_t stack = make(&stacks), below, node;

	flame_init(&flame);
	stack_frames_init(&frames, &stacks);
	assert_int_equal(stack_frames_node(&frames, &flame, 0, 0), 0);
	below = flame_child(&flame, 0, (struct flame_frame){STR("task"), FLAME_PLAIN});
	node = stack_frames_node(&frames, &flame, below, stack);
	assert_int_equal(flame.nodes.v[node].depth, ARRAY_SIZE(cases) + 1);
	assert_int_equal(stack_frames_node(&frames, &flame, below, stack), node);
	for (size_t i = ARRAY_SIZE(cases); i-- > 0; node = flame.nodes.v[node].parent)
		assert_true(str_is(flame_name(&flame, &flame.nodes.v[node]), cases[i].name));
	assert_int_equal(node, below);
	stack_frames_done(&frames);
	flame_done(&flame);
	stacks_done(&stacks);
}

RUN_TESTS(TEST(names_and_kinds), TEST(nodes))
