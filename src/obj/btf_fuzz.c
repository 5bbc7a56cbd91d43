// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/btf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct btf *btf)
{
	struct btf_member member;
	struct btf_param param;
	size_t n = btf->first + btf->at.n;

	(void)btf_function(btf, "f");
	for (uint32_t id = 0; id < n + 2 && id < 500; id++) {
		(void)btf_real(btf, id);
		(void)btf_name(btf, id);
		(void)btf_size(btf, id);
		(void)btf_to(btf, id);
		(void)btf_is_signed(btf, id);
		(void)btf_member(btf, id, STR("x"), &member);
		for (uint32_t i = 0; i < 4; i++)
			(void)btf_param(btf, id, i, &param);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = {(const char *)data, size};
	struct btf btf, module;

	if (btf_init(&btf, bytes) < 0)
		return 0;
	ask(&btf);
	if (btf_init_module(&module, &btf, bytes) == 0) {
		ask(&module);
		btf_done(&module);
	}
	btf_done(&btf);
	return 0;
}
