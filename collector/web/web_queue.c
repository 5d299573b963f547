// SPDX-License-Identifier: Apache-2.0
/*
 * Which request is next, see web_queue.h. All searches go through the few requests that there are.
 */
#include "web/web_queue.h"

static size_t count(const struct web_queue *queue, uint64_t peer, bool is_begun)
{
	size_t n = 0;

	for (const struct web_queued *one = queue->first; one; one = one->next)
		n += one->peer == peer && one->is_begun == is_begun;
	return n;
}

/* The youngest that waits of the peer with the most; of several such peers, the youngest of all. */
static struct web_queued *find_surplus(const struct web_queue *queue)
{
	struct web_queued *found = NULL;
	size_t most = 0;

	for (struct web_queued *one = queue->first; one; one = one->next) {
		const size_t n = one->is_begun ? 0 : count(queue, one->peer, false);

		if (n == 0 || n < most)
			continue;
		most = n;
		found = one;
	}
	return found;
}

struct web_queued *web_queue_add(struct web_queue *queue, struct web_queued *queued)
{
	struct web_queued **end = &queue->first, *surplus;

	queued->is_begun = false;
	queued->next = NULL;
	while (*end)
		end = &(*end)->next;
	*end = queued;
	queue->waiting++;
	if (queue->waiting <= WEB_MAX_WAITING)
		return NULL;
	surplus = find_surplus(queue);
	web_queue_remove(queue, surplus);
	return surplus;
}

struct web_queued *web_queue_take(struct web_queue *queue)
{
	struct web_queued *found = NULL;
	size_t fewest = WEB_MOST_OF_PEER;

	for (struct web_queued *one = queue->first; one; one = one->next) {
		const size_t n = one->is_begun ? SIZE_MAX : count(queue, one->peer, true);

		if (n >= fewest)
			continue;
		fewest = n;
		found = one;
	}
	if (!found)
		return NULL;
	found->is_begun = true;
	queue->waiting--;
	queue->begun++;
	return found;
}

void web_queue_remove(struct web_queue *queue, struct web_queued *queued)
{
	struct web_queued **at = &queue->first;

	while (*at && *at != queued)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = queued->next;
	if (queued->is_begun)
		queue->begun--;
	else
		queue->waiting--;
}
