// SPDX-License-Identifier: Apache-2.0
/* Versions of JDKs by their files, of which this process maps one called libjvm.so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../process/own_jvm.h"
#include "common/temp_dir.h"
#include "inspect/jvm_release.h"

#define SENTENCE "64-Bit Server VM (25.372-b07) for linux-amd64 JRE (1.8.0_372-8u372-ga-1-b07), b"

static char home[TEMP_DIR_BYTES], version[64];
static void *mapped;
static struct process *process;

static void make_file(const char *path, const char *text, size_t before)
{
	char whole[160];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s/%s", home, path);
	file = fopen(whole, "w");
	assert_non_null(file);
	for (size_t i = 0; i < before; i++)
		putc(i % 7 ? 'x' : '\0', file);
	fwrite(text, 1, strlen(text) + 1, file);
	fclose(file);
}

static int set_up(void **state)
{
	char command[160];
	int fd;

	temp_dir_make(home);
	snprintf(command, sizeof(command), "mkdir -p %s/jre/lib/amd64/server", home);
	assert_int_equal(system(command), 0);
	make_file("jre/lib/amd64/server/libjvm.so", "nothing", 4096);
	snprintf(command, sizeof(command), "%s/jre/lib/amd64/server/libjvm.so", home);
	fd = open(command, O_RDONLY);
	mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	process = own_process_new();
	return 0;
}

static int tear_down(void **state)
{
	process_free(process);
	munmap(mapped, 4096);
	temp_dir_remove(home);
	return 0;
}

static void a_version_is_what_stands_behind_its_key(void **state)
{
	static const struct {
		const char *text, *version;
	} cases[] = {
		{"A=1\nJAVA_VERSION=\"17.0.15\"\n", "17.0.15"},
		{"JAVA_VERSION=\"1.8.0_302\"", "1.8.0_302"},
		{"JAVA_VERSION=\"25-ea\"", "25"},
		{"JAVA_VERSION=\"17.0.15", NULL}, /* it may go on */
		{"JAVA_VERSION=\"\033[31m\"", NULL},
		{"JAVA_VERSION=\"\" JAVA_VERSION=\"21\"", "21"},
		{"JAVA_VERSION", NULL},
		{"", NULL},
	};
	char longest[128] = "JAVA_VERSION=\"";

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const bool has = jvm_release_find(cases[i].text, strlen(cases[i].text),
						  "JAVA_VERSION=\"", version, sizeof(version));

		assert_int_equal(has, cases[i].version != NULL);
		if (has)
			assert_string_equal(version, cases[i].version);
	}
	memset(longest + strlen(longest), '1', 100);
	assert_false(jvm_release_find(longest, sizeof(longest), "JAVA_VERSION=\"", version,
				      sizeof(version)));
}

static void a_jdk_says_its_version_in_release(void **state)
{
	make_file("release", "JAVA_VERSION=\"1.8.0_392\"\n", 0);
	make_file("jre/lib/amd64/server/libjvm.so", SENTENCE, 0);
	jvm_release_read(process, version, sizeof(version));
	assert_string_equal(version, "1.8.0_392");
}

/* Wherever a chunk that is read happens to end. */
static void without_that_file_libjvm_says_it(void **state)
{
	jvm_release_read(process, version, sizeof(version));
	assert_string_equal(version, "");
	for (size_t before = 65536 - 120; before < 65536 + 10; before++) {
		make_file("jre/lib/amd64/server/libjvm.so", SENTENCE, before);
		jvm_release_read(process, version, sizeof(version));
		assert_string_equal(version, "1.8.0_372");
	}
	make_file("jre/lib/amd64/server/libjvm.so", SENTENCE, 1000000);
	jvm_release_read(process, version, sizeof(version));
	assert_string_equal(version, "1.8.0_372");
}

static void what_is_no_regular_file_is_passed_over(void **state)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/release", home);
	assert_int_equal(mkfifo(path, 0600), 0);
	make_file("jre/lib/amd64/server/libjvm.so", SENTENCE, 0);
	jvm_release_read(process, version, sizeof(version));
	assert_string_equal(version, "1.8.0_372");
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(a_version_is_what_stands_behind_its_key),
		CLAIM(a_jdk_says_its_version_in_release),
		CLAIM(without_that_file_libjvm_says_it),
		CLAIM(what_is_no_regular_file_is_passed_over),
	};

	return cmocka_run_group_tests_name("app jvm_release", tests, NULL, NULL);
}
