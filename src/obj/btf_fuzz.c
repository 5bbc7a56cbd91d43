// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/btf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct btf_member member;
	struct btf_param param;
	struct btf btf;

	if (btf_init(&btf, (struct str){(const char *)data, size}) < 0)
		return 0;
	(void)btf_function(&btf, "f");
	for (uint32_t id = 0; id < btf.at.n + 2 && id < 500; id++) {
		(void)btf_real(&btf, id);
		(void)btf_name(&btf, id);
		(void)btf_size(&btf, id);
		(void)btf_to(&btf, id);
		(void)btf_is_signed(&btf, id);
		(void)btf_member(&btf, id, STR("x"), &member);
		for (uint32_t i = 0; i < 4; i++)
			(void)btf_param(&btf, id, i, &param);
	}
	btf_done(&btf);
	return 0;
}
