// SPDX-License-Identifier: Apache-2.0
/* Reads members of structs by their declarations, see counters.h. */
#include "base/counters.h"

#include "base/json_value.h"
#include "base/unaligned.h"

#include <assert.h>
#include <string.h>

#define MAX_KEY 64

static const struct {
	unsigned list, metric; /* divisors: of the member, and then of the list's number */
} units[] = {
	[COUNTER_PLAIN] = {1, 1},
	[COUNTER_TRUTH] = {1, 1},
	[COUNTER_US] = {1, 1000000},
	[COUNTER_NS] = {1, 1000000000},
	[COUNTER_NS_IN_US] = {1000, 1000000},
	[COUNTER_NS_IN_MS] = {1000000, 1000},
};

static const char *const places[] = {
	[COUNTER_ENTERS] = "enters",
	[COUNTER_STAYS] = "stays",
	[COUNTER_LEAVES] = "leaves",
	[COUNTER_DROPS] = "drops",
};

unsigned counter_metric_divisor(const struct counter *counter)
{
	return units[counter->unit].metric;
}

static uint64_t read_member(const void *at, size_t size)
{
	uint32_t value;
	bool is_true;

	if (size == sizeof(uint64_t))
		return unaligned_u64(at, 0);
	if (size == sizeof(bool)) {
		memcpy(&is_true, at, sizeof(is_true));
		return is_true;
	}
	assert(size == sizeof(value));
	memcpy(&value, at, sizeof(value));
	return value;
}

static uint64_t value_of(const struct counter *row, const char *stats)
{
	uint64_t value = read_member(stats + row->offset, row->size);

	for (size_t i = 0; i < COUNTER_MOST_PLUS && row->plus[i]; i++)
		value += unaligned_u64(stats + row->plus[i], 0);
	return value;
}

static json_t *json_of(const struct counter *row, uint64_t value)
{
	if (row->unit == COUNTER_TRUTH)
		return json_boolean(value);
	return json_integer((json_int_t)(value / units[row->unit].list));
}

/* stats NULL: all are 0. */
static json_t *array_of(const struct counter *row, const char *stats)
{
	json_t *const object = json_object();

	for (size_t i = 0; i < row->n; i++) {
		const uint64_t value =
			stats ? unaligned_u64(stats + row->offset + i * sizeof(uint64_t), 0) : 0;

		if (value || !row->is_sparse)
			json_object_set_new(object, row->name(i), json_of(row, value));
	}
	return object;
}

/* One number for each struct of the array, by the text with which it begins. */
static json_t *by_struct(const struct counters *counters, const struct counter *row,
			 const char *stats)
{
	json_t *const object = json_object();
	size_t n = 0;

	if (stats)
		memcpy(&n, stats + counters->count, sizeof(n));
	for (size_t i = 0; i < n; i++) {
		const char *const one = stats + counters->array + i * counters->stride;

		json_object_set_new(object, one, json_of(row, value_of(row, one)));
	}
	return object;
}

static json_t *new_value(const struct counters *counters, const struct counter *row,
			 const char *stats)
{
	if (counters->label)
		return by_struct(counters, row, stats);
	if (row->n)
		return array_of(row, stats);
	return json_of(row, stats ? value_of(row, stats) : 0);
}

/* The object in which the last part of the path is a key; it is made where it is not there. */
static json_t *object_at(json_t *root, const char *path, const char **ret_key)
{
	const char *dot;

	for (; (dot = strchr(path, '.')); path = dot + 1) {
		const size_t len = (size_t)(dot - path);
		char key[MAX_KEY];
		json_t *below;

		assert(len < sizeof(key));
		memcpy(key, path, len);
		key[len] = '\0';
		below = json_object_get(root, key);
		if (!below) {
			below = json_object();
			json_object_set_new(root, key, below);
		}
		root = below;
	}
	*ret_key = path;
	return root;
}

void counters_put(json_t *root, const struct counters *counters, const void *stats)
{
	for (const struct counter *row = counters->rows; row < counters->rows + counters->n;
	     row++) {
		const char *key;
		json_t *const object = object_at(root, row->key, &key);

		json_object_set_new(object, key, new_value(counters, row, stats));
	}
}

static void add_u64(char *to, const char *from)
{
	const uint64_t sum = unaligned_u64(to, 0) + unaligned_u64(from, 0);

	memcpy(to, &sum, sizeof(sum));
}

void counters_add(const struct counters *counters, void *to, const void *from)
{
	for (const struct counter *row = counters->rows; row < counters->rows + counters->n;
	     row++) {
		if (row->kind != COUNTER_IS_SUM)
			continue;
		assert(row->size == sizeof(uint64_t));
		add_u64((char *)to + row->offset, (const char *)from + row->offset);
		for (size_t i = 0; i < COUNTER_MOST_PLUS && row->plus[i]; i++)
			add_u64((char *)to + row->plus[i], (const char *)from + row->plus[i]);
	}
}

static json_t *balance_of(json_t *balances, const char *name)
{
	json_t *balance;
	size_t i;

	json_array_foreach (balances, i, balance) {
		if (strcmp(json_value_text(balance, "of"), name) == 0)
			return balance;
	}
	balance = json_pack("{s:s, s:[], s:[], s:[], s:[]}", "of", name, places[COUNTER_ENTERS],
			    places[COUNTER_STAYS], places[COUNTER_LEAVES], places[COUNTER_DROPS]);
	json_array_append_new(balances, balance);
	return balance;
}

void counters_put_balances(json_t *balances, const struct counters *counters)
{
	for (const struct counter *row = counters->rows; row < counters->rows + counters->n;
	     row++) {
		if (row->balance)
			json_array_append_new(json_object_get(balance_of(balances, row->balance),
							      places[row->place]),
					      json_string(row->key));
	}
}
