// SPDX-License-Identifier: Apache-2.0
/*
 * The whole agent in a fake JVM, one scenario a run:
 *
 *   fake_agent SCENARIO [libfgagent.so]
 *
 * With a file, the agent is loaded from it as a JVM would; this is also built for musl. Without one
 * it is linked in, so that sanitizers see it.
 */
#include "fake_steps.h"
#include "scenarios.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef FAKE_AGENT_LINKED
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
#endif

static char directory[64] = "/tmp/fake-agent-XXXXXX";

#define SCENARIO(name)                                                                             \
	{                                                                                          \
#name, name                                                                        \
	}
static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	SCENARIO(stream),
	SCENARIO(a_busy_jvm_speaks_at_ticks),
	SCENARIO(a_flood_does_not_wait_for_a_tick),
	SCENARIO(many_methods_pass_a_small_buffer),
	SCENARIO(a_new_connection_resynchronises),
	SCENARIO(a_full_buffer_is_counted_and_repaired),
	SCENARIO(losses_add_up),
	SCENARIO(strangers_are_refused),
	SCENARIO(chatter_ends_the_connection),
	SCENARIO(a_stalled_reader_is_dropped),
	SCENARIO(generate_events_waits_for_nobody),
	SCENARIO(the_last_descriptors_are_the_programs),
	SCENARIO(failing_names_are_counted_and_sent_empty),
	SCENARIO(too_large_a_record_is_cut),
	SCENARIO(source_files_are_optional),
	SCENARIO(an_incomplete_resync_is_repeated),
	SCENARIO(a_resync_is_complete_in_a_crowd),
	SCENARIO(a_method_is_named_once),
	SCENARIO(a_new_connection_names_again),
	SCENARIO(a_lost_record_names_nobody),
	SCENARIO(ids_change_hands),
	SCENARIO(regions_are_told_outermost_first),
	SCENARIO(lines_can_be_switched_off),
	SCENARIO(lines_are_optional),
	SCENARIO(too_large_a_table_is_left_out),
	SCENARIO(ids_are_named_before_use_in_a_crowd),
	SCENARIO(a_listening_agent_is_dialled),
	SCENARIO(a_listening_agent_serves_one_at_a_time),
	SCENARIO(a_listening_agent_hangs_up_on_strangers),
	SCENARIO(other_users_are_not_served),
	SCENARIO(a_listening_agent_tells_where),
	SCENARIO(a_dead_jvms_socket_is_replaced),
	SCENARIO(what_is_not_its_own_is_left_alone),
	SCENARIO(a_listening_agent_leaves_nothing),
	SCENARIO(whatever_gets_its_numbers_is_left_alone),
	SCENARIO(a_sleeping_agent_notices_the_loss),
	SCENARIO(a_listening_agent_listens_again),
	SCENARIO(a_tracer_switches_allocations_on_and_off),
	SCENARIO(a_late_allocation_is_nobodys),
	SCENARIO(the_smallest_interval_counts),
	SCENARIO(a_long_class_name_is_cut_on_the_stack),
	SCENARIO(a_capability_that_another_has_is_asked_for_once_a_second),
	SCENARIO(a_jvm_without_the_events_of_probes_is_left_alone),
	SCENARIO(waits_for_locks_are_timed),
	SCENARIO(a_wait_of_an_earlier_tracer_is_not_the_next_ones),
	SCENARIO(a_late_wait_is_nobodys),
	SCENARIO(a_tracer_needs_no_collector),
	SCENARIO(a_new_connection_is_told_of_probes),
	SCENARIO(probes_are_switched_among_events),
	SCENARIO(a_tracer_is_told_which_objects_have_died),
	SCENARIO(a_full_table_halves_what_it_watches),
	SCENARIO(references_go_with_their_tracer),
	SCENARIO(an_object_without_a_reference_is_sampled_all_the_same),
	SCENARIO(off_does_nothing),
	SCENARIO(an_old_hotspot_is_left_alone),
	SCENARIO(a_jvm_without_the_events_is_left_alone),
	SCENARIO(nobody_listens),
	SCENARIO(the_end_waits_for_nobody),
	SCENARIO(an_agent_with_a_delay_begins_late),
	SCENARIO(a_jvm_that_ends_before_its_delay_is_left_alone),
	SCENARIO(loaded_twice_runs_once),
	SCENARIO(loaded_from_two_files_runs_once),
};
static void find_agent(const char *path)
{
	void *library;

#ifdef FAKE_AGENT_LINKED
	on_load = Agent_OnLoad;
#endif
	agent_path = path;
	if (!path)
		return;
	library = dlopen(path, RTLD_LAZY);
	if (!library)
		peer_fail(__FILE__, __LINE__, dlerror());
	*(void **)&on_load = dlsym(library, "Agent_OnLoad");
}

int main(int argc, char **argv)
{
	CHECK(argc >= 2);
	find_agent(argv[2]);
	CHECK(on_load);
	CHECK(mkdtemp(directory));
	snprintf(socket_path, sizeof(socket_path), "%s/agent.sock", directory);
	CHECK(setenv("POD_NAME", "pod-7", 1) == 0);
	CHECK(unsetenv("FGAGENT_OPTS") == 0);
	peer_listen(&peer, socket_path);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		if (strcmp(argv[1], scenarios[i].name) != 0)
			continue;
		scenarios[i].run();
		peer_fini(&peer);
		unlink(socket_path);
		rmdir(directory);
		return 0;
	}
	peer_fail(__FILE__, __LINE__, "no such scenario");
}
