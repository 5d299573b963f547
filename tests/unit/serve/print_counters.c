// SPDX-License-Identifier: Apache-2.0
/*
 * Prints the key and the metric of each counter that is declared: "stacks.joined
 * stacks_joined_total".
 */
#include <stdio.h>

#include "inspect/jvm_counters.h"
#include "serve/counted.h"

static void print(const char *prefix, const struct counters *table)
{
	for (size_t i = 0; i < table->n; i++)
		printf("%s%s %s\n", prefix, table->rows[i].key, table->rows[i].metric);
}

int main(void)
{
	const struct counters *table;

	for (size_t i = 0; (table = counted_table(i)); i++)
		print("", table);
	for (size_t i = 0; (table = jvm_counters_table(i)); i++)
		print("jvm.", table);
	return 0;
}
