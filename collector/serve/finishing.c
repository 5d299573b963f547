// SPDX-License-Identifier: Apache-2.0
/* How long a daemon that is to end waits for clients, see finishing.h. */
#include "serve/finishing.h"

bool finishing_goes_on(const struct finishing *finishing, uint64_t now_ns)
{
	if (now_ns < finishing->begun_ns + FINISHING_SILENCE_NS)
		return true;
	if (now_ns >= finishing->begun_ns + FINISHING_PATIENCE_NS)
		return false;
	/* Who asked before the end began may have gone silent then. */
	return finishing->is_busy || (finishing->asked_ns > finishing->begun_ns &&
				      now_ns < finishing->asked_ns + FINISHING_SILENCE_NS);
}
