// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a scenario is a function, its name its claim
 * units:   none
 * threads: each runs alone in its process
 * errors:  a scenario that returns has passed
 * source:  fake_agent.c runs them by name
 */
#ifndef SCENARIOS_H
#define SCENARIOS_H

void stream(void);
void a_busy_jvm_speaks_at_ticks(void);
void a_flood_does_not_wait_for_a_tick(void);
void many_methods_pass_a_small_buffer(void);
void a_new_connection_resynchronises(void);
void a_full_buffer_is_counted_and_repaired(void);
void losses_add_up(void);
void strangers_are_refused(void);
void chatter_ends_the_connection(void);
void a_stalled_reader_is_dropped(void);
void generate_events_waits_for_nobody(void);
void the_last_descriptors_are_the_programs(void);
void failing_names_are_counted_and_sent_empty(void);
void too_large_a_record_is_cut(void);
void source_files_are_optional(void);
void an_incomplete_resync_is_repeated(void);
void a_resync_is_complete_in_a_crowd(void);
void a_method_is_named_once(void);
void a_new_connection_names_again(void);
void a_lost_record_names_nobody(void);
void ids_change_hands(void);
void regions_are_told_outermost_first(void);
void lines_can_be_switched_off(void);
void lines_are_optional(void);
void too_large_a_table_is_left_out(void);
void ids_are_named_before_use_in_a_crowd(void);
void a_listening_agent_is_dialled(void);
void a_listening_agent_serves_one_at_a_time(void);
void a_listening_agent_hangs_up_on_strangers(void);
void other_users_are_not_served(void);
void a_listening_agent_tells_where(void);
void a_dead_jvms_socket_is_replaced(void);
void what_is_not_its_own_is_left_alone(void);
void a_listening_agent_leaves_nothing(void);
void whatever_gets_its_numbers_is_left_alone(void);
void a_sleeping_agent_notices_the_loss(void);
void a_listening_agent_listens_again(void);
void a_tracer_switches_allocations_on_and_off(void);
void a_late_allocation_is_nobodys(void);
void the_smallest_interval_counts(void);
void a_long_class_name_is_cut_on_the_stack(void);
void a_capability_that_another_has_is_asked_for_once_a_second(void);
void a_jvm_without_the_events_of_probes_is_left_alone(void);
void waits_for_locks_are_timed(void);
void a_wait_of_an_earlier_tracer_is_not_the_next_ones(void);
void a_late_wait_is_nobodys(void);
void a_tracer_needs_no_collector(void);
void a_new_connection_is_told_of_probes(void);
void probes_are_switched_among_events(void);
void a_tracer_is_told_which_objects_have_died(void);
void a_full_table_halves_what_it_watches(void);
void references_go_with_their_tracer(void);
void an_object_without_a_reference_is_sampled_all_the_same(void);
void off_does_nothing(void);
void an_old_hotspot_is_left_alone(void);
void a_jvm_without_the_events_is_left_alone(void);
void nobody_listens(void);
void the_end_waits_for_nobody(void);
void an_agent_with_a_delay_begins_late(void);
void a_jvm_that_ends_before_its_delay_is_left_alone(void);
void loaded_twice_runs_once(void);
void loaded_from_two_files_runs_once(void);

#endif
