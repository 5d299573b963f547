// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   members of structs that count, declared once -> the list's JSON; metrics have the same
 * units:   enum counter_unit: that of the member, and so those of the list and of the metric
 * threads: any; declarations are constant
 * errors:  without memory a number is missing in the JSON
 * source:  Prometheus: metric and label naming
 *
 * A counter is declared in the file that counts, in a table of rows of its struct:
 *
 *   static const struct counter rows[] = {
 *           COUNTER_SUM(struct shop_stats, sold, "shop.sold", "shop_sold_total", "Cakes sold."),
 *           COUNTER_GAUGE(struct shop_stats, left, "shop.left", "shop_left", "Cakes left."),
 *   };
 *   const struct counters shop_counters = COUNTERS(struct shop_stats, rows);
 *
 * and the table is named in one list, that of serve/counted.c, or of inspect/jvm_counters.c for
 * what each JVM has. All that shows counters follows from the rows.
 *
 * A balance is of what goes through a part: as much comes in as goes out, is still there, or is
 * dropped, by reason. Rows say which balance they are of, and where in it.
 */
#ifndef FG_BASE_COUNTERS_H
#define FG_BASE_COUNTERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counter_kind {
	COUNTER_IS_SUM,	  /* never falls; the metric's name ends in _total */
	COUNTER_IS_GAUGE, /* how it is now */
	/*
	 * A metric ends in _bucket, and rows of the histogram's sum and count follow, whose help is
	 * NULL.
	 */
	COUNTER_IS_HISTOGRAM,
};

/* The unit of the member. The list has the unit of its key, and a metric has seconds. */
enum counter_unit {
	COUNTER_PLAIN, /* numbers, bytes, seconds */
	COUNTER_TRUTH, /* true or false; 1 or 0 as a metric */
	COUNTER_US,
	COUNTER_NS,
	COUNTER_NS_IN_US, /* nanoseconds, microseconds in the list */
	COUNTER_NS_IN_MS, /* nanoseconds, milliseconds in the list */
};

enum counter_place {
	COUNTER_NO_BALANCE,
	COUNTER_ENTERS,
	COUNTER_STAYS,
	COUNTER_LEAVES,
	COUNTER_DROPS
};

#define COUNTER_MOST_PLUS 2

struct counter {
	const char *key;    /* the path in the list, "recordings.threads.waits" */
	const char *metric; /* without "fgcollect_" */
	const char *help;
	enum counter_kind kind;
	enum counter_unit unit;
	/* The member, and further ones of 8 bytes that are added to it; 0: none. */
	size_t offset, plus[COUNTER_MOST_PLUS];
	size_t size;
	/* An array of numbers is an object in the list, whose keys are values of the label. */
	size_t n; /* 0: a single number */
	const char *label;
	const char *(*name)(size_t);
	bool is_sparse; /* an element that is 0 is left out */
	/* The balance's name, NULL: none. */
	const char *balance;
	enum counter_place place;
};

/* The rows of a struct. */
struct counters {
	const struct counter *rows;
	size_t n;
	size_t bytes; /* of the struct that is given to the functions here */
	/*
	 * Where the struct has an array of structs, each of which has the members: each number is
	 * an object, whose keys are values of the label, the texts with which the structs begin.
	 */
	const char *label; /* NULL: there is no such array */
	size_t array, stride,
		count; /* its offset, the size of one, and the offset of their number */
};

/* What follows the help text are further members, .unit = COUNTER_US for instance. */
#define COUNTER_OF(kind_, type, member, key_, metric_, ...)                                        \
	{                                                                                          \
		.kind = (kind_), .offset = offsetof(type, member),                                 \
		.size = sizeof(((type *)0)->member), .key = (key_), .metric = (metric_),           \
		.help = __VA_ARGS__                                                                \
	}
#define COUNTER_SUM(type, member, key, metric, ...)                                                \
	COUNTER_OF(COUNTER_IS_SUM, type, member, key, metric, __VA_ARGS__)
#define COUNTER_GAUGE(type, member, key, metric, ...)                                              \
	COUNTER_OF(COUNTER_IS_GAUGE, type, member, key, metric, __VA_ARGS__)
#define COUNTER_HISTOGRAM(type, member, key, metric, ...)                                          \
	COUNTER_OF(COUNTER_IS_HISTOGRAM, type, member, key, metric, __VA_ARGS__)
/* Of a member that is an array of uint64_t. */
#define COUNTER_EACH(type, member, label_, name_)                                                  \
	.n = sizeof(((type *)0)->member) / sizeof(uint64_t), .label = (label_), .name = (name_)
#define COUNTER_PLUS(...)		  .plus = {__VA_ARGS__}
#define COUNTER_BALANCE(balance_, place_) .balance = (balance_), .place = (place_)

#define COUNTERS(type, rows_)                                                                      \
	{                                                                                          \
		.rows = (rows_), .n = sizeof(rows_) / sizeof((rows_)[0]), .bytes = sizeof(type)    \
	}
/* The rows are of type_each, and the struct type has an array of these, and their number. */
#define COUNTERS_EACH(type, member, number, type_each, rows_, label_)                              \
	{                                                                                          \
		.rows = (rows_), .n = sizeof(rows_) / sizeof((rows_)[0]), .bytes = sizeof(type),   \
		.label = (label_), .array = offsetof(type, member), .stride = sizeof(type_each),   \
		.count = offsetof(type, number)                                                    \
	}

/* Adds to root what stats has. stats NULL: all numbers are 0, and there are no labels. */
void counters_put(json_t *root, const struct counters *counters, const void *stats);
/* Adds the sums of from to those of to. The struct has no arrays. Gauges stay. */
void counters_add(const struct counters *counters, void *to, const void *from);
/*
 * Adds the balances of the rows to an array: {"of", "enters", "stays", "leaves", "drops"}, the last
 * four arrays of keys. Rows of several tables may be of one balance.
 */
void counters_put_balances(json_t *balances, const struct counters *counters);
/* What a value of the list is divided by to be the metric's. */
unsigned counter_metric_divisor(const struct counter *counter);

#endif
