// SPDX-License-Identifier: Apache-2.0
/* Claims about code/java_name.h; names as HotSpot 8, 17 and 25 and libraries really give them. */
#include "code/java_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#define MAX_BYTES 256

struct pair {
	const char *class_name, *expected;
};

static void check(enum java_name_style style, bool is_raw, const char *class_name,
		  const char *expected)
{
	const struct java_name_options options = {.style = style, .is_raw = is_raw};
	const struct java_name method = {class_name, "run", "(Ljava/lang/Object;)V"};
	char text[MAX_BYTES];
	size_t len = java_name_write(&options, &method, text, sizeof(text));

	assert_string_equal(text, expected);
	assert_int_equal(len, strlen(expected));
}

/* Of "class.run": the class. */
static void check_normalised(const struct pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char expected[MAX_BYTES];

		strcpy(expected, pairs[i].expected);
		strcat(expected, ".run");
		check(JAVA_NAME_SLASH, false, pairs[i].class_name, expected);
	}
}

#define CHECK_NORMALISED(pairs) check_normalised(pairs, sizeof(pairs) / sizeof((pairs)[0]))

static void each_style_is_as_its_users_write_it(void **state)
{
	check(JAVA_NAME_SLASH, false, "java/util/Map$Entry", "java/util/Map$Entry.run");
	check(JAVA_NAME_DOT, false, "java/util/Map$Entry", "java.util.Map$Entry.run");
	check(JAVA_NAME_SIMPLE, false, "java/util/Map$Entry", "Map$Entry.run");
	check(JAVA_NAME_SIGNATURE, false, "java/util/Map$Entry",
	      "java/util/Map$Entry.run(Ljava/lang/Object;)V");
	check(JAVA_NAME_DOT, false, "Main", "Main.run");
	check(JAVA_NAME_SIMPLE, false, "Main", "Main.run");
	check(JAVA_NAME_SIMPLE, false, "a/Foo$$Lambda$1.0x00007fa83c001428", "Foo$$Lambda.run");
}

static void raw_names_keep_all_that_the_jvm_said(void **state)
{
	check(JAVA_NAME_SLASH, true, "a/Foo$$Lambda$14.0x00007fa83c001428",
	      "a/Foo$$Lambda$14.0x00007fa83c001428.run");
	check(JAVA_NAME_DOT, true, "a/b/$Proxy12", "a.b.$Proxy12.run");
	check(JAVA_NAME_DOT, true, "a/Foo$$Lambda/0x00007f", "a.Foo$$Lambda/0x00007f.run");
	check(JAVA_NAME_SIMPLE, true, "a/Foo$$Lambda/0x00007f", "Foo$$Lambda/0x00007f.run");
	check(JAVA_NAME_SIMPLE, true, "a/Foo$$Lambda.0x00007f", "Foo$$Lambda.0x00007f.run");
}

static void hidden_classes_lose_their_addresses(void **state)
{
	static const struct pair pairs[] = {
		{"a/Foo$$Lambda.0x000000002f041c38", "a/Foo$$Lambda"},
		{"a/Foo$$Lambda$14.0x00007fa83c001428", "a/Foo$$Lambda"},
		{"a/Foo$$Lambda$123/0x0000000800c8b7f0", "a/Foo$$Lambda"},
		{"a/Foo$$Lambda/0x00007f1234", "a/Foo$$Lambda"},
		{"a/Foo$$Lambda+0x0000000800c8b7f0", "a/Foo$$Lambda"},
		{"a/Foo$$Lambda$14/1828972342", "a/Foo$$Lambda"},
		{"a/Foo$$Lambda$14", "a/Foo$$Lambda"},
		{"java/lang/invoke/LambdaForm$MH.0x00007fa83c007000",
		 "java/lang/invoke/LambdaForm$MH"},
		{"java/lang/invoke/LambdaForm$DMH/0x00007f", "java/lang/invoke/LambdaForm$DMH"},
		{"java/lang/invoke/LambdaForm$BMH/1096979270", "java/lang/invoke/LambdaForm$BMH"},
		{"java/lang/String$$StringConcat.0x000000002f046400",
		 "java/lang/String$$StringConcat"},
		{"jdk/MHProxy1/LongUnaryOperator.0x000000002f045c00",
		 "jdk/MHProxy/LongUnaryOperator"},
		{"Foo_0x0000000800c8b7f0$$Lambda/0x0000000800c8b8f0", "Foo$$Lambda"},
		{"Foo$$Lambda$3_0x0000000800c8b7f0$$Lambda$4.0x0000000800c8b8f0",
		 "Foo$$Lambda$$Lambda"},
	};

	CHECK_NORMALISED(pairs);
}

static void numbers_of_scripts_and_evaluations_are_left_out(void **state)
{
	static const struct pair pairs[] = {
		{"user$eval9546", "user$eval"},
		{"user$fn__8262", "user$fn"},
		{"user$eval9546$fn__8262$G__8198__8216", "user$eval$fn$G"},
		{"clojure/core$map$fn__5866", "clojure/core$map$fn"},
		{"jdk/nashorn/internal/scripts/Script$11028$\\^eval\\_",
		 "jdk/nashorn/internal/scripts/Script$<eval>"},
		{"a/scripts/Script$Recompilation$12$345$test",
		 "a/scripts/Script$Recompilation$345$test"},
		{"REPL/$JShell$11", "REPL/$JShell"},
		{"REPL/$JShell$11$Foo", "REPL/$JShell$Foo"},
		{"a/Script$1", "a/Script$1"},
		{"a/Foo__12", "a/Foo__12"},
		{"a/Foo$eval1st", "a/Foo$eval1st"},
		{"a/Foo$bar__1st", "a/Foo$bar__1st"},
	};

	CHECK_NORMALISED(pairs);
}

static void check_method(bool is_raw, const char *name, const char *expected)
{
	const struct java_name_options options = {.is_raw = is_raw};
	const struct java_name method = {"a/B", name, NULL};
	char text[MAX_BYTES];

	java_name_write(&options, &method, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void characters_that_the_jvm_forbids_are_written_as_they_were(void **state)
{
	static const struct pair pairs[] = {
		{"a/\\=\\^main\\_", "a/<main>"},
		{"a/x\\,y\\!z\\-", "a/x.y:z\\"},
		{"a/x\\y", "a/x\\y"},
		{"user$swap_BANG_", "user$swap!"},
		{"user$nil_QMARK_$fn__12", "user$nil?$fn"},
		{"a/A_BANG_", "a/A_BANG_"},
	};

	CHECK_NORMALISED(pairs);
	check_method(false, "\\=\\^main\\_", "a/B.<main>");
	check_method(true, "\\=\\^main\\_", "a/B.\\=\\^main\\_");
	check_method(false, "$plus$eq", "a/B.+=");
	check_method(false, "name_$eq", "a/B.name_=");
	check_method(false, "$equals", "a/B.$equals");
	check_method(false, "lambda$main$0", "a/B.lambda$main$0");
	check_method(false, "apply$mcII$sp", "a/B.apply$mcII$sp");
	check_method(false, "<init>", "a/B.<init>");
	check_method(false, "x\\", "a/B.x\\");
}

static void generated_classes_lose_their_numbers(void **state)
{
	static const struct pair pairs[] = {
		{"$Proxy1", "$Proxy"},
		{"com/x/$Proxy12", "com/x/$Proxy"},
		{"com/sun/proxy/$Proxy12", "com/sun/proxy/$Proxy"},
		{"jdk/proxy2/$Proxy12", "jdk/proxy/$Proxy"},
		{"com/sun/proxy/jdk/proxy1/$Proxy2", "com/sun/proxy/jdk/proxy/$Proxy"},
		{"sun/reflect/GeneratedMethodAccessor12", "sun/reflect/GeneratedMethodAccessor"},
		{"jdk/internal/reflect/GeneratedConstructorAccessor3",
		 "jdk/internal/reflect/GeneratedConstructorAccessor"},
		{"jdk/internal/reflect/GeneratedSerializationConstructorAccessor7",
		 "jdk/internal/reflect/GeneratedSerializationConstructorAccessor"},
		{"a/Foo$$EnhancerBySpringCGLIB$$1a2b3c4d", "a/Foo$$EnhancerBySpringCGLIB"},
		{"a/Foo$$EnhancerByCGLIB$$1a2b3c4d_2", "a/Foo$$EnhancerByCGLIB"},
		{"a/Foo$$FastClassByCGLIB$$deadbeef", "a/Foo$$FastClassByCGLIB"},
		{"a/Foo$$EnhancerBySpringCGLIB$$1a$$FastClassBySpringCGLIB$$2b",
		 "a/Foo$$EnhancerBySpringCGLIB$$FastClassBySpringCGLIB"},
		{"a/Foo$$EnhancerBySpringCGLIB$$1a$$Lambda$3/0x0000000800c8b7f0",
		 "a/Foo$$EnhancerBySpringCGLIB$$Lambda"},
		{"a/Foo$$SpringCGLIB$$0", "a/Foo$$SpringCGLIB"},
		{"a/Foo$$SpringCGLIB$$FastClass$$1", "a/Foo$$SpringCGLIB$$FastClass"},
		{"a/Foo$ByteBuddy$k3Jx09Qa", "a/Foo$ByteBuddy"},
		{"a/Foo$ByteBuddy$k3Jx09Qa$auxiliary$Zz0aB1cD", "a/Foo$ByteBuddy$auxiliary"},
		{"a/Foo$HibernateProxy$k3Jx09Qa", "a/Foo$HibernateProxy"},
		{"a/Foo$MockitoMock$1234567890", "a/Foo$MockitoMock"},
		{"a/Foo_$$_jvst1a2_0", "a/Foo_$$_jvst"},
		{"a/Foo_$$_javassist_12", "a/Foo_$$_javassist"},
	};

	CHECK_NORMALISED(pairs);
}

static void names_that_compilers_number_stay(void **state)
{
	static const char *const names[] = {
		"Foo$1",
		"a/Foo$2$1Bar",
		"a/Foo$$anonfun$1",
		"a/Foo$$anonfun$apply$3$$anonfun$4",
		"a/Foo$_run_closure12",
		"a/Script1",
		"a/Foo$$Lambda$1st",
		"a/Foo$Proxy12",
		"a/Foo$ProxyFactory2",
		"a/MyGeneratedMethodAccessor12",
		"a/Foo_0x12",
		"a/X0x1234",
		"0x12",
		"java/lang/invoke/BoundMethodHandle$Species_LLI",
		"jdk/internal/reflect/DirectMethodHandleAccessor",
		"a/proxy2/Foo",
		"jdk/proxyfoo/Foo",
		"a/Foo$$SpringCGLIB",
		"a/Foo$HibernateProxy",
		"a/Foo$$EnhancerByCGLIB$$",
		"a/Foo/",
		"a/1Foo",
		"",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_normalised(&(struct pair){names[i], names[i]}, 1);
}

static void method_without_a_signature_has_a_name_all_the_same(void **state)
{
	const struct java_name_options options = {.style = JAVA_NAME_SIGNATURE};
	const struct java_name method = {"a/Foo", "<init>", NULL};
	char text[MAX_BYTES];

	java_name_write(&options, &method, text, sizeof(text));
	assert_string_equal(text, "a/Foo.<init>");
}

/* However little room there is, what is written is the beginning of the whole name. */
static void name_is_cut_between_characters(void **state)
{
	static const char whole[] = "a.\xc3\xa4\xe2\x82\xac.\xf0\x9f\x98\x80(I)V";
	static const size_t lengths[] = {0, 0, 1, 2, 2, 4, 4, 4, 7, 8, 8, 8, 8, 12, 13, 14, 15, 16};
	const struct java_name_options options = {.style = JAVA_NAME_SIGNATURE};
	const struct java_name method = {"a.\xc3\xa4\xe2\x82\xac", "\xf0\x9f\x98\x80", "(I)V"};

	for (size_t size = 1; size < sizeof(lengths) / sizeof(lengths[0]); size++) {
		char text[MAX_BYTES];

		memset(text, '#', sizeof(text));
		assert_int_equal(java_name_write(&options, &method, text, size), lengths[size]);
		assert_memory_equal(text, whole, lengths[size]);
		assert_int_equal(text[lengths[size]], '\0');
		assert_int_equal(text[size], '#');
	}
}

static void styles_have_words_and_nothing_else_is_one(void **state)
{
	enum java_name_style style = JAVA_NAME_SLASH;

	for (int i = 0; i < JAVA_NAME_STYLES; i++) {
		const char *word = java_name_style_word((enum java_name_style)i);

		assert_int_equal(java_name_style_of(word, &style), 0);
		assert_int_equal(style, i);
		assert_non_null(strstr(java_name_styles(), word));
	}
	style = JAVA_NAME_DOT;
	assert_int_equal(java_name_style_of("dots", &style), -EINVAL);
	assert_int_equal(java_name_style_of("", &style), -EINVAL);
	assert_int_equal(style, JAVA_NAME_DOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_style_is_as_its_users_write_it),
		cmocka_unit_test(raw_names_keep_all_that_the_jvm_said),
		cmocka_unit_test(hidden_classes_lose_their_addresses),
		cmocka_unit_test(generated_classes_lose_their_numbers),
		cmocka_unit_test(numbers_of_scripts_and_evaluations_are_left_out),
		cmocka_unit_test(characters_that_the_jvm_forbids_are_written_as_they_were),
		cmocka_unit_test(names_that_compilers_number_stay),
		cmocka_unit_test(method_without_a_signature_has_a_name_all_the_same),
		cmocka_unit_test(name_is_cut_between_characters),
		cmocka_unit_test(styles_have_words_and_nothing_else_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
