// SPDX-License-Identifier: Apache-2.0
/*
 * Numbers in decimal digits, see decimal.h. A value of 53 bits times 100 has at most 60 bits. A
 * long double holds 64 bits or more, so that the product is exact, and is rounded only once, as
 * printf
 * does: to the nearest, and from the middle to the even one.
 */
#include "encode/decimal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define DIGITS 20   /* of the greatest number */
#define LARGE  1e15 /* times 100 is less than 2^63 */

_Static_assert(LDBL_MANT_DIG >= DBL_MANT_DIG + 7, "a product with 100 has to be exact");

void decimal_add_whole(struct bytes *out, uint64_t value)
{
	char text[DIGITS];
	char *at = text + DIGITS;

	do
		*--at = (char)('0' + value % 10);
	while ((value /= 10) > 0);
	bytes_add(out, at, (size_t)(text + DIGITS - at));
}

void decimal_add(struct bytes *out, double value, unsigned places)
{
	static const unsigned powers[DECIMAL_MAX_PLACES + 1] = {1, 10, 100};
	const unsigned power = powers[places];
	char text[DBL_MAX_10_EXP + 16];
	uint64_t parts;

	if (!(value >= 0 && value < LARGE) || signbit(value)) {
		bytes_add(out, text,
			  (size_t)snprintf(text, sizeof(text), "%.*f", (int)places, value));
		return;
	}
	parts = (uint64_t)llrintl((long double)value * power);
	decimal_add_whole(out, parts / power);
	if (places == 0)
		return;
	text[0] = '.';
	parts %= power;
	for (unsigned place = places; place > 0; place--, parts /= 10)
		text[place] = (char)('0' + parts % 10);
	bytes_add(out, text, 1 + places);
}
