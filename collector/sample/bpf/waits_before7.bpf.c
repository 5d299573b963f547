// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/* waits.bpf.c for Linux 6.18 and 6.19. */
#define BEFORE_LINUX_7
#include "waits.bpf.c"
