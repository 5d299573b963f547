// SPDX-License-Identifier: Apache-2.0
/* Names that are too long for their frame. */
#include "render/label.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(enum kind kind, const char *name, size_t columns, const char *expected)
{
	struct bytes out = {0};

	assert_string_equal(label_fit(&out, name, kind, columns), expected);
	bytes_fini(&out);
}

static void java_drops_package_then_class(void **state)
{
	static const char name[] = "java/util/HashMap.getNode";

	(void)state;
	check(KIND_JIT, name, 25, name);
	check(KIND_JIT, name, 24, "j.u.HashMap.getNode");
	check(KIND_JIT, name, 19, "j.u.HashMap.getNode");
	check(KIND_JIT, name, 18, "HashMap.getNode");
	check(KIND_JIT, name, 14, "getNode");
	check(KIND_JIT, name, 7, "getNode");
	check(KIND_JIT, name, 6, "getN..");
	check(KIND_JIT, name, 3, "g..");
	check(KIND_JIT, name, 2, "");
}

static void java_without_package_drops_its_class(void **state)
{
	(void)state;
	check(KIND_INTERPRETED, "Main.main", 8, "main");
	check(KIND_INTERPRETED, "main", 3, "m..");
	check(KIND_INTERPRETED, "com/x/Foo.", 5, "Foo.");
}

static void java_of_any_style_is_shortened_alike(void **state)
{
	static const char dots[] = "java.util.HashMap.getNode";
	static const char parameters[] = "java/util/Map.get(Ljava/lang/Object;)Ljava/lang/Object;";

	(void)state;
	check(KIND_JIT, dots, 24, "j.u.HashMap.getNode");
	check(KIND_JIT, dots, 18, "HashMap.getNode");
	check(KIND_JIT, dots, 14, "getNode");
	check(KIND_JIT, dots, 6, "getN..");
	check(KIND_JIT, parameters, 54, "java/util/Map.get");
	check(KIND_JIT, parameters, 16, "j.u.Map.get");
	check(KIND_JIT, parameters, 10, "Map.get");
	check(KIND_JIT, parameters, 6, "get");
	check(KIND_JIT, "com.x.Foo$$Lambda.0x00007f.run", 29, "c.x.Foo$$Lambda.0x00007f.run");
	check(KIND_JIT, "a/MainKt.on (start)", 18, "MainKt.on (start)");
	check(KIND_JIT, "run(I)V", 6, "run");
}

static void hidden_class_keeps_its_name(void **state)
{
	static const char name[] = "com/x/Foo$$Lambda/0x00007f2b40c1a800.run";

	(void)state;
	check(KIND_INLINED, name, 39, "c.x.Foo$$Lambda/0x00007f2b40c1a800.run");
	check(KIND_INLINED, name, 37, "Foo$$Lambda/0x00007f2b40c1a800.run");
	check(KIND_INLINED, name, 20, "run");
}

static void initials_are_whole_characters(void **state)
{
	(void)state;
	check(KIND_JIT, "\xc3\xa4rger/B.c", 6, "\xc3\xa4.B.c");
	check(KIND_JIT, "a//B.c", 5, "B.c");
	check(KIND_JIT, "aa//B.c", 6, "a..B.c");
}

static void cpp_drops_parameters_then_qualifiers(void **state)
{
	static const char name[] = "G1::Par::copy(HeapRegion, oopDesc*)";

	(void)state;
	check(KIND_CPP, name, 34, "G1::Par::copy");
	check(KIND_CPP, name, 12, "Par::copy");
	check(KIND_CPP, name, 8, "copy");
	check(KIND_CPP, name, 3, "c..");
}

static void cpp_drops_templates_and_return_type(void **state)
{
	(void)state;
	check(KIND_CPP, "void Dispatch<A<B>, (F)5>::Table::run<K, N>(Table*, K*)", 40,
	      "Dispatch::Table::run");
	check(KIND_CPP, "non-virtual thunk to a::b()", 20, "a::b");
	check(KIND_NATIVE, "thread_native_entry(Thread*)", 20, "thread_native_entry");
}

static void cpp_operators_are_no_brackets(void **state)
{
	(void)state;
	check(KIND_CPP, "abc::X::operator()(int, int) const", 20, "abc::X::operator()");
	check(KIND_CPP, "abc::X::operator()(int, int) const", 13, "X::operator()");
	check(KIND_CPP, "abc::X::operator()(int, int) const", 12, "operator()");
	check(KIND_CPP, "std::operator<< <char>(std::ostream&)", 20, "std::operator<<");
	check(KIND_CPP, "a::T<int>::operator bool() const", 20, "a::T::operator bool");
	check(KIND_CPP, "a::my_operator<int>(long, long)", 20, "a::my_operator");
}

static void anonymous_namespace_is_a_qualifier(void **state)
{
	(void)state;
	check(KIND_CPP, "(anonymous namespace)::run(int)", 28, "(anonymous namespace)::run");
	check(KIND_CPP, "(anonymous namespace)::run(int)", 10, "run");
}

static void unbalanced_names_do_not_run_away(void **state)
{
	(void)state;
	check(KIND_CPP, "a<<<<<<<<<<", 5, "a");
	check(KIND_CPP, "((((((((((", 5, "(");
	check(KIND_CPP, "aaaa>>>>>>", 5, "aaa..");
	check(KIND_CPP, "::::::::::", 3, "::");
	check(KIND_CPP, "          ", 5, "   ..");
}

static void other_kinds_are_only_cut(void **state)
{
	(void)state;
	check(KIND_KERNEL, "entry_SYSCALL_64_after_hwframe", 10, "entry_SY..");
	check(KIND_LABEL, "http-nio-8080-exec-1 (java)", 10, "http-nio..");
}

static void wide_characters_take_two_columns(void **state)
{
	static const char name[] = "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2";

	(void)state;
	check(KIND_LABEL, name, 6, name);
	check(KIND_LABEL, name, 5, "\xe6\xbc\xa2..");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(java_drops_package_then_class),
		cmocka_unit_test(java_without_package_drops_its_class),
		cmocka_unit_test(java_of_any_style_is_shortened_alike),
		cmocka_unit_test(hidden_class_keeps_its_name),
		cmocka_unit_test(initials_are_whole_characters),
		cmocka_unit_test(cpp_drops_parameters_then_qualifiers),
		cmocka_unit_test(cpp_drops_templates_and_return_type),
		cmocka_unit_test(cpp_operators_are_no_brackets),
		cmocka_unit_test(anonymous_namespace_is_a_qualifier),
		cmocka_unit_test(unbalanced_names_do_not_run_away),
		cmocka_unit_test(other_kinds_are_only_cut),
		cmocka_unit_test(wide_characters_take_two_columns),
	};

	return cmocka_run_group_tests_name("label", tests, NULL, NULL);
}
