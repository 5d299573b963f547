// SPDX-License-Identifier: Apache-2.0
/* Names as a reader of a flame graph wants them, and names made to take forever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/demangle.h"

static void assert_shown(const char *name, const char *expected)
{
	char buf[256];
	const size_t len = demangle_name(name, DEMANGLE_PLAIN, buf, sizeof(buf));

	assert_int_equal(len, strlen(expected));
	if (len > 0)
		assert_string_equal(buf, expected);
}

static void cxx_is_shown_without_parameters(void **state)
{
	assert_shown("_ZN10JavaThread3runEv", "JavaThread::run");
	assert_shown("_ZN13CompileBroker20compiler_thread_loopEv",
		     "CompileBroker::compiler_thread_loop");
	assert_shown("_ZNK3FooIiE3barEiPKc", "Foo<int>::bar");
	assert_shown("_Z3fooIiEvT_", "foo<int>");
	assert_shown("_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo");
}

static void rust_is_shown_without_its_hash(void **state)
{
	assert_shown("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		     "core::fmt::Write::write_fmt");
	assert_shown("_RNvC6_123foo3bar", "123foo::bar");
	assert_shown("_RNvNtC5alloc3vec3new", "alloc::vec::new");
}

static void what_the_compiler_split_off_bears_the_same_name(void **state)
{
	assert_shown("_ZN3Foo3barEv.cold", "Foo::bar");
	assert_shown("_ZN3Foo3barEv.constprop.0", "Foo::bar");
}

static void assert_style(enum demangle_style style, const char *name, const char *expected)
{
	char buf[256];

	assert_true(demangle_name(name, style, buf, sizeof(buf)) > 0);
	assert_string_equal(buf, expected);
}

static void templates_are_shortened_on_request(void **state)
{
	static const struct {
		const char *name, *shown;
	} cases[] = {
		{"_ZN10JavaThread3runEv", "JavaThread::run"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<...>::push_back"},
		{"_ZNK3FooIi3BarIcEE3getIlEEvv", "Foo<...>::get<...>"},
		/* Signs that are no brackets. */
		{"_ZN1AlsEi", "A::operator<<"},
		{"_ZNK1AIiEptEv", "A<...>::operator->"},
		{"_ZN1AltIiEEbT_", "A::operator< <...>"},
		{"_ZNK1AIiEssERKS0_", "A<...>::operator<=>"},
		{"_ZN12myoperator_tIiE1fEv", "myoperator_t<...>::f"},
		/* Rust's bracket around a type stays. */
		{"_RNvXCs1_1aINtC1b1VmENtC1c1T1f", "<b::V<...> as c::T>::f"},
		{"_RINvMC1aINtC1b1VmE1fmE", "<b::V<...>>::f::<...>"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_style(DEMANGLE_SIMPLE, cases[i].name, cases[i].shown);
}

static void parameters_are_shown_on_request(void **state)
{
	assert_style(DEMANGLE_FULL, "_ZN10JavaThread3runEv", "JavaThread::run()");
	assert_style(DEMANGLE_FULL, "_ZNSt6vectorIiSaIiEE9push_backERKi",
		     "std::vector<int, std::allocator<int> >::push_back(int const&)");
	assert_style(DEMANGLE_FULL, "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		     "core::fmt::Write::write_fmt");
}

static void each_style_has_a_word(void **state)
{
	enum demangle_style style;

	for (int i = 0; i < DEMANGLE_STYLES; i++) {
		assert_int_equal(
			demangle_style_of(demangle_style_word((enum demangle_style)i), &style), 0);
		assert_int_equal(style, i);
		assert_non_null(strstr(demangle_style_words(), demangle_style_word(style)));
	}
	assert_true(demangle_style_of("short", &style) < 0);
}

static void other_names_are_left_alone(void **state)
{
	assert_shown("", "");
	assert_shown("_", "");
	assert_shown("_Z", "");
	assert_shown("_R", "");
	assert_shown("_ZN10JavaThread", "");
	assert_shown("malloc", "");
	assert_shown("ZN10JavaThread3runEv", "");
}

static void a_text_that_does_not_fit_is_none(void **state)
{
	char buf[16]; /* "JavaThread::run" and its end */

	assert_int_equal(demangle_name("_ZN10JavaThread3runEv", DEMANGLE_PLAIN, buf, 16), 15);
	assert_int_equal(demangle_name("_ZN10JavaThread3runEv", DEMANGLE_PLAIN, buf, 15), 0);
	assert_int_equal(demangle_name("_ZN10JavaThread3runEv", DEMANGLE_PLAIN, buf, 0), 0);
}

/* The n-th substitution: S_, S0_, ... S9_, SA_, ... SZ_, S10_. */
static const char *substitution(unsigned n, char *buf, size_t size)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (n == 0)
		snprintf(buf, size, "S_");
	else if (n <= 36)
		snprintf(buf, size, "S%c_", digits[n - 1]);
	else
		snprintf(buf, size, "S%c%c_", digits[(n - 1) / 36], digits[(n - 1) % 36]);
	return buf;
}

/* f<A<int,int>, A<1st,1st>, A<2nd,2nd>, ...>: each argument is twice as long as the one before. */
static void cxx_that_doubles_with_each_argument_ends(void **state)
{
	char name[1024] = "_Z1fI1AIiiE", buf[4096], a[8];

	for (unsigned i = 1; i <= 70; i++) {
		substitution(i + 1, a, sizeof(a));
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "S0_I%s%sE", a, a);
	}
	strcat(name, "Evv");
	assert_int_equal(demangle_name(name, DEMANGLE_PLAIN, buf, sizeof(buf)), 0);
	demangle_name(name, DEMANGLE_SIMPLE, buf, sizeof(buf)); /* short, or too long to be made */
}

static void append_base62(char *name, size_t n)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *end = name + strlen(name);

	*end++ = 'B';
	if (n > 0 && n - 1 >= 62)
		*end++ = digits[(n - 1) / 62];
	if (n > 0)
		*end++ = digits[(n - 1) % 62];
	*end++ = '_';
	*end = '\0';
}

/* a::f::<(u32,u32), (1st,1st), ...>; a back reference counts from behind "_R". */
static void rust_that_doubles_with_each_argument_ends(void **state)
{
	char name[1024] = "_RINvC1a1f", buf[4096];
	size_t last = strlen(name) - 2;

	strcat(name, "TmmE");
	for (unsigned i = 0; i < 60; i++) {
		const size_t here = strlen(name) - 2;

		strcat(name, "T");
		append_base62(name, last);
		append_base62(name, last);
		strcat(name, "E");
		last = here;
	}
	strcat(name, "E");
	assert_int_equal(demangle_name(name, DEMANGLE_PLAIN, buf, sizeof(buf)), 0);
}

static void short_forms_of_those_are_shown(void **state)
{
	assert_shown("_Z1fI1AIiiES0_IS1_S1_EEvv", "f<A<int, int>, A<A<int, int>, A<int, int> > >");
	assert_shown("_RINvC1a1fTmmETB7_B7_EE", "a::f::<(u32, u32), ((u32, u32), (u32, u32))>");
}

static void deep_and_long_names_end(void **state)
{
	const size_t len = 1 << 20;
	char *name = malloc(len + 1), buf[4096];

	assert_non_null(name);
	for (size_t used = 64; used <= len; used *= 4) {
		memset(name, 'P', used);
		memcpy(name, "_Z1f", 4);
		name[used] = '\0';
		demangle_name(name, DEMANGLE_PLAIN, buf, sizeof(buf));
		memset(name + 4, 'I', used - 4);
		assert_int_equal(demangle_name(name, DEMANGLE_PLAIN, buf, sizeof(buf)), 0);
		memcpy(name, "_RNv", 4);
		assert_int_equal(demangle_name(name, DEMANGLE_PLAIN, buf, sizeof(buf)), 0);
	}
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cxx_is_shown_without_parameters),
		cmocka_unit_test(rust_is_shown_without_its_hash),
		cmocka_unit_test(what_the_compiler_split_off_bears_the_same_name),
		cmocka_unit_test(templates_are_shortened_on_request),
		cmocka_unit_test(parameters_are_shown_on_request),
		cmocka_unit_test(each_style_has_a_word),
		cmocka_unit_test(other_names_are_left_alone),
		cmocka_unit_test(a_text_that_does_not_fit_is_none),
		cmocka_unit_test(cxx_that_doubles_with_each_argument_ends),
		cmocka_unit_test(rust_that_doubles_with_each_argument_ends),
		cmocka_unit_test(short_forms_of_those_are_shown),
		cmocka_unit_test(deep_and_long_names_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
