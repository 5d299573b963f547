// SPDX-License-Identifier: Apache-2.0
/* Claims about symbolize/kernel_code.h and kernel_hidden.h: modules and programs come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "symbolize/kernel_code.h"
#include "symbolize/kernel_hidden.h"

#define KERNEL	"ffffffff81000000 T start\nffffffff81000100 t next\nffffffff81001000 T _etext\n"
#define NFT	"ffffffffc0000000 t nft_one\t[nf_tables]\n"
#define NFT_MOD "nf_tables 100 1 - Live 0xffffffffc0000000\n"
#define BPF	UINT64_C(0xffffffffc0100000)
#define SEC	UINT64_C(1000000000)

static char symbols_path[] = "/tmp/fg-kallsyms-XXXXXX", modules_path[] = "/tmp/fg-modules-XXXXXX";
static struct kernel_code *code;

static int set_up_group(void **state)
{
	close(mkstemp(symbols_path));
	close(mkstemp(modules_path));
	return 0;
}

static int tear_down_group(void **state)
{
	unlink(symbols_path);
	unlink(modules_path);
	return 0;
}

static void begin(const char *symbols)
{
	const struct kernel_code_files files = {symbols_path, modules_path, NULL};

	files_write(symbols_path, symbols);
	files_write(modules_path, "");
	assert_int_equal(kernel_code_new(&files, SEC, &code), 0);
}

static int gate[2] = {-1, -1}; /* a byte in this pipe lets one reading go on, its end all */

static int tear_down(void **state)
{
	if (gate[0] >= 0)
		close(gate[1]);
	kernel_code_free(code);
	code = NULL;
	if (gate[0] >= 0)
		close(gate[0]);
	gate[0] = gate[1] = -1;
	return 0;
}

static void tell(uint64_t addr, const char *name, bool is_gone, uint64_t time_ns)
{
	const struct record record = {
		.kind = RECORD_KSYMBOL,
		.time_ns = time_ns,
		.ksymbol = {.addr = addr,
			    .len = 256,
			    .is_bpf = true,
			    .is_gone = is_gone,
			    .name = name},
	};

	kernel_code_apply(code, &record);
}

static void assert_named(uint64_t addr, uint64_t time_ns, uint64_t now_ns, const char *name,
			 const char *module)
{
	struct kernel_place place = {0};
	const bool is_named = kernel_code_find(code, addr, time_ns, now_ns, &place) ||
			      kernel_code_read_for(code, addr, now_ns, &place);

	assert_int_equal(is_named, name != NULL);
	if (!name)
		return;
	assert_string_equal(place.name, name);
	assert_string_equal(place.module, module);
}

static void a_module_that_is_loaded_later_is_named(void **state)
{
	begin(KERNEL);
	assert_named(0xffffffffc0000010, 2 * SEC, 2 * SEC, NULL, NULL);
	files_write(symbols_path, KERNEL NFT "ffffffff81000000 T begun\n");
	files_write(modules_path, NFT_MOD);
	/* Nobody needs to have asked for what is missing. */
	assert_named(0xffffffff81000010, 4 * SEC, 4 * SEC, "begun", "[kernel]");
	assert_named(0xffffffffc0000010, 4 * SEC, 4 * SEC, "nft_one", "[nf_tables]");
}

static void an_address_without_a_name_makes_symbols_be_read_again(void **state)
{
	begin(KERNEL);
	files_write(symbols_path, KERNEL NFT);
	assert_named(0xffffffffc0000010, 2 * SEC, 2 * SEC, NULL, NULL); /* so soon: not yet */
	assert_named(0xffffffffc0000010, 4 * SEC, 4 * SEC, "nft_one", "[nf_tables]");
}

static void what_never_has_a_name_costs_ever_less(void **state)
{
	struct kernel_code_stats stats;

	begin(KERNEL);
	for (uint64_t s = 2; s < 200; s++)
		assert_named(0xffffffffd0000000, s * SEC, s * SEC, NULL, NULL);
	kernel_code_stats(code, &stats);
	assert_true(stats.reads > 3 && stats.reads < 10);
	assert_int_equal(stats.unnamed, 198);
}

static void a_recording_begins_with_what_is_there(void **state)
{
	begin(KERNEL);
	files_write(symbols_path, KERNEL NFT);
	kernel_code_begin(code, 2 * SEC);
	assert_named(0xffffffffc0000010, 2 * SEC, 2 * SEC, "nft_one", "[nf_tables]");
}

static void a_program_is_named_while_it_lives(void **state)
{
	begin(KERNEL);
	tell(BPF, "bpf_prog_11_first", false, 10 * SEC);
	tell(BPF, "bpf_prog_11_first", true, 20 * SEC);
	tell(BPF, "bpf_prog_22_second", false, 30 * SEC);
	assert_named(BPF + 8, 15 * SEC, 40 * SEC, "bpf_prog_11_first", "[bpf]");
	assert_named(BPF + 8, 25 * SEC, 40 * SEC, "bpf_prog_22_second", "[bpf]"); /* the next */
	assert_named(BPF + 8, 35 * SEC, 40 * SEC, "bpf_prog_22_second", "[bpf]");
	assert_named(BPF + 256, 35 * SEC, 40 * SEC, NULL, NULL);
}

static void a_program_that_was_there_before_is_named_by_its_going(void **state)
{
	begin(KERNEL);
	tell(BPF, "bpf_prog_11_first", true, 20 * SEC);
	assert_named(BPF + 8, 15 * SEC, 21 * SEC, "bpf_prog_11_first", "[bpf]");
}

static void a_program_does_not_name_what_its_address_held_before(void **state)
{
	begin(KERNEL "ffffffffc0100000 t bpf_prog_00_old\t[bpf]\n");
	tell(BPF, "bpf_prog_22_second", false, 30 * SEC);
	assert_named(BPF + 8, 15 * SEC, 2 * SEC, "bpf_prog_00_old", "[bpf]");
	assert_named(BPF + 8, 31 * SEC, 2 * SEC, "bpf_prog_22_second", "[bpf]");
}

static void programs_without_end_are_forgotten(void **state)
{
	struct kernel_code_stats stats;
	char name[64];

	begin(KERNEL);
	for (uint64_t i = 0; i < 300000; i++) {
		snprintf(name, sizeof(name), "bpf_prog_%llx", (unsigned long long)i);
		tell(BPF + i % 100 * 256, name, false, i * SEC);
		tell(BPF + i % 100 * 256, name, true, i * SEC + 1);
	}
	kernel_code_stats(code, &stats);
	assert_int_equal(stats.told, 600000);
	assert_int_equal(stats.lost, 0);
}

static void only_what_cannot_change_may_be_remembered(void **state)
{
	begin(KERNEL);
	tell(BPF, "bpf_prog_11_first", false, 2 * SEC);
	assert_int_equal(kernel_code_owner(code, BPF + 8, SEC), 0);
	assert_int_not_equal(kernel_code_owner(code, 0xffffffff81000000, SEC), 0);
	assert_int_equal(kernel_code_owner(code, 0xffffffff81000000, 3 * SEC), 0);
}

/* ---- by a thread ---- */

static int load_when_let(const char *path, struct kernel_symbols **ret)
{
	char byte;

	(void)!read(gate[0], &byte, 1);
	return kernel_symbols_load_from(path, ret);
}

static void let_one_read(void)
{
	assert_int_equal(write(gate[1], "", 1), 1);
}

static void begin_with_thread(const char *symbols)
{
	const struct kernel_code_files files = {symbols_path, modules_path, load_when_let};

	if (gate[0] < 0)
		assert_int_equal(pipe(gate), 0);
	let_one_read();
	files_write(symbols_path, symbols);
	files_write(modules_path, "");
	assert_int_equal(kernel_code_new(&files, SEC, &code), 0);
	assert_int_equal(kernel_code_use_thread(code), 0);
}

static void wait_for_reads(uint64_t count)
{
	while (kernel_code_reads(code) < count)
		usleep(1000);
}

static void a_reading_holds_nobody_up(void **state)
{
	begin_with_thread(KERNEL);
	files_write(symbols_path, KERNEL NFT);
	kernel_code_begin(code, 3 * SEC);
	assert_named(0xffffffff81000010, 3 * SEC, 3 * SEC, "start", "[kernel]");
	assert_named(0xffffffffc0000010, 3 * SEC, 3 * SEC, NULL, NULL);
	assert_int_equal(kernel_code_late(code), 1);
	assert_int_equal(kernel_code_reads(code), 1);
	let_one_read();
	wait_for_reads(2);
	assert_named(0xffffffffc0000010, 4 * SEC, 4 * SEC, "nft_one", "[nf_tables]");
	assert_int_equal(kernel_code_late(code), 1);
}

static void a_reading_that_nobody_took_is_freed(void **state)
{
	begin_with_thread(KERNEL);
	let_one_read();
	kernel_code_begin(code, 3 * SEC);
	wait_for_reads(2);
}

static void a_thread_that_finds_no_name_reads_ever_less(void **state)
{
	struct kernel_code_stats stats;

	begin_with_thread(KERNEL);
	for (uint64_t s = 2; s < 200; s++) {
		const uint64_t late = kernel_code_late(code), reads = kernel_code_reads(code);

		assert_named(0xffffffffd0000000, s * SEC, s * SEC, NULL, NULL);
		if (kernel_code_late(code) == late)
			continue;
		let_one_read();
		wait_for_reads(reads + 1);
		assert_named(0xffffffffd0000000, s * SEC, s * SEC, NULL, NULL);
		assert_int_equal(kernel_code_late(code), late + 1);
	}
	kernel_code_stats(code, &stats);
	assert_true(stats.reads > 3 && stats.reads < 10);
	assert_int_equal(stats.unnamed, 198);
}

/* ---- hidden ---- */

static void hidden_symbols_say_why(void **state)
{
	begin("0000000000000000 T start\n");
	assert_non_null(kernel_code_problem(code));
	assert_named(0xffffffff81000010, 2 * SEC, 2 * SEC, NULL, NULL);
	files_write(symbols_path, KERNEL); /* the remedy is taken */
	assert_named(0xffffffff81000010, 9 * SEC, 9 * SEC, "start", "[kernel]");
	assert_null(kernel_code_problem(code));
}

static void each_reason_has_its_remedy(void **state)
{
	static const struct {
		struct kernel_rights rights;
		const char *sentence, *frame;
	} cases[] = {
		{{-EACCES, 2, 2, true}, "sysctl kernel.kptr_restrict=1", "kptr_restrict is 2"},
		{{-EACCES, 1, 2, false}, "grant CAP_SYSLOG", "hidden without CAP_SYSLOG"},
		{{-EACCES, 0, 2, false}, "sysctl kernel.perf_event_paranoid=1", "CAP_SYSLOG"},
		{{-EACCES, 0, 4, true}, "user namespace", "CAP_SYSLOG"},
		{{-ENOENT, 0, 2, true}, "CONFIG_KALLSYMS", "no symbols"},
		{{-ENODATA, 0, 2, true}, "No data", "no symbols"},
	};
	char text[400];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		kernel_hidden_sentence(&cases[i].rights, text, sizeof(text));
		assert_non_null(strstr(text, cases[i].sentence));
		kernel_hidden_frame(&cases[i].rights, text, sizeof(text));
		assert_non_null(strstr(text, cases[i].frame));
		assert_int_equal(text[0], '[');
	}
}

#define CASE(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_module_that_is_loaded_later_is_named),
		CASE(an_address_without_a_name_makes_symbols_be_read_again),
		CASE(what_never_has_a_name_costs_ever_less),
		CASE(a_recording_begins_with_what_is_there),
		CASE(a_program_is_named_while_it_lives),
		CASE(a_program_that_was_there_before_is_named_by_its_going),
		CASE(a_program_does_not_name_what_its_address_held_before),
		CASE(programs_without_end_are_forgotten),
		CASE(only_what_cannot_change_may_be_remembered),
		CASE(a_reading_holds_nobody_up),
		CASE(a_reading_that_nobody_took_is_freed),
		CASE(a_thread_that_finds_no_name_reads_ever_less),
		CASE(hidden_symbols_say_why),
		CASE(each_reason_has_its_remedy),
	};

	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}
