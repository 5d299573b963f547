// SPDX-License-Identifier: Apache-2.0
/* Tries whether threads can be started, see publish_threads.h. */
#include "publish/publish_threads.h"

#include "base/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define OWN	 16u /* that do not depend on processors, and some more */
#define BY_CPU	 4u
#define CPU_MOST 16u /* libnng starts no more for more processors */

struct rehearsal {
	pthread_mutex_t lock;
};

/* Stays until all have been started. */
static void *stay(void *arg)
{
	struct rehearsal *const rehearsal = arg;

	THREAD_HOLD(&rehearsal->lock);
	return NULL;
}

unsigned publish_threads_wanted(void)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const unsigned n = cpus < 1 ? 1 : cpus > (long)CPU_MOST ? CPU_MOST : (unsigned)cpus;

	return OWN + BY_CPU * n;
}

bool publish_threads_can_start(unsigned count)
{
	struct rehearsal rehearsal = {.lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t *const threads = calloc(count, sizeof(*threads));
	unsigned n = 0;

	if (!threads)
		return false;
	pthread_mutex_lock(&rehearsal.lock);
	while (n < count && thread_start(&threads[n], stay, &rehearsal) == 0)
		n++;
	pthread_mutex_unlock(&rehearsal.lock);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	pthread_mutex_destroy(&rehearsal.lock);
	return n == count;
}

/* Linux has a niceness for each thread. Who may not be nicer serves subscribers all the same. */
void publish_threads_yield(void)
{
	if (nice(PUBLISH_NICE) < 0)
		return;
}
