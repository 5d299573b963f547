// SPDX-License-Identifier: Apache-2.0
/* What an agent's thread does, as far as its sleeps tell, see dial_look.h. */
#include "serve/dial_look.h"

static bool is_still(struct dial_look *look, const struct diagnose_dialler *now, uint64_t now_ns)
{
	const bool is_same = look->still_ns && now->sleeps == look->sleeps;

	look->sleeps = now->sleeps;
	if (!now->is_asleep)
		look->still_ns = 0;
	else if (!is_same)
		look->still_ns = now_ns;
	return look->still_ns && now_ns >= look->still_ns + DIAL_LOOK_STILL_NS;
}

bool dial_look_step(struct dial_look *look, const struct diagnose_dialler *now, uint64_t now_ns)
{
	const bool still = is_still(look, now, now_ns);

	if (!look->dialled)
		look->dialled = now->sleeps + (now->is_asleep ? 1 : 2);
	else if (now->sleeps >= look->dialled && look->looks < DIAL_LOOKS)
		look->looks++;
	return still || look->looks == DIAL_LOOKS;
}
