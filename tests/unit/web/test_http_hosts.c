// SPDX-License-Identifier: Apache-2.0
/* Which Host headers are meant for this host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "web/http_hosts.h"

static struct http_hosts hosts;

static int set_up(void **state)
{
	(void)state;
	memset(&hosts, 0, sizeof(hosts));
	return 0;
}

static void check(bool is_ours, const char *header)
{
	if (http_hosts_have(&hosts, header) != is_ours)
		fail_msg("Host: %s is %s", header, is_ours ? "refused" : "taken");
}

static void addresses_and_localhost_are_ours(void **state)
{
	(void)state;
	check(true, "127.0.0.1");
	check(true, "127.0.0.1:9464");
	check(true, "10.1.2.3:1");
	check(true, "[::1]");
	check(true, "[2001:db8::1]:9464");
	check(true, "localhost");
	check(true, "LocalHost:8080");
	check(true, "localhost.:80");
}

static void other_names_are_not(void **state)
{
	(void)state;
	http_hosts_add(&hosts, "node1");
	check(false, "evil.example");
	check(false, "evil.example:9464");
	check(false, "localhost.evil.example");
	check(false, "127.0.0.1.evil.example");
	check(false, "node1.evil.example");
	check(false, "evilnode1");
	check(false, "node");
}

static void what_is_no_host_header_is_not(void **state)
{
	char endless[4096];

	(void)state;
	http_hosts_add(&hosts, "*");
	check(false, "");
	check(false, ":9464");
	check(false, "[::1");
	check(false, "[::1]9464");
	check(false, "[evil.example]");
	check(false, "127.0.0.1:80@evil.example");
	check(false, "localhost:80:80");
	check(false, "::1");
	memset(endless, 'a', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	check(false, endless);
}

static void added_names_are_ours(void **state)
{
	(void)state;
	assert_int_equal(http_hosts_add(&hosts, "Node1.example.com."), 0);
	assert_int_equal(http_hosts_add(&hosts, "*.svc.cluster.local"), 0);
	check(true, "node1.example.com:9464");
	check(true, "NODE1.EXAMPLE.COM");
	check(true, "node1.example.com.");
	check(true, "fgcollect.fgcollect.svc.cluster.local:9464");
	check(false, "svc.cluster.local");
	check(false, ".svc.cluster.local");
	check(false, "evilsvc.cluster.local");
	check(false, "node2.example.com");
	assert_int_equal(http_hosts_add(&hosts, "*"), 0);
	check(true, "anything.example");
}

static void what_is_no_name_is_not_added(void **state)
{
	static const char *const bad[] = {"",	 ".",	  "a:80",  "http://a", "a/b",
					  "*.*", "a.*.b", "[::1]", "a b",      "*."};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(http_hosts_add(&hosts, bad[i]), -EINVAL);
	for (size_t i = 0; i < HTTP_HOSTS_MAX; i++)
		assert_int_equal(http_hosts_add(&hosts, "a"), 0);
	assert_int_equal(http_hosts_add(&hosts, "a"), -ENOSPC);
}

static void own_names_are_short_whole_and_in_search_domains(void **state)
{
	static const char *const domains[] = {"", "corp.example", "lab.example."};

	(void)state;
	http_hosts_add_own(&hosts, "node1.example.com", domains, 3);
	http_hosts_add_own(&hosts, "worker-7", domains, 3);
	http_hosts_add_own(&hosts, NULL, domains, 3);
	http_hosts_add_own(&hosts, "", domains, 3);
	http_hosts_add_own(&hosts, "*", domains, 3);
	check(true, "node1");
	check(true, "node1.example.com");
	check(true, "node1.corp.example:9464");
	check(true, "node1.lab.example");
	check(true, "worker-7");
	check(true, "worker-7.corp.example");
	check(false, "node1.evil.example");
	check(false, "node1.example.com.corp.example");
	check(false, "corp.example");
}

static void this_host_is_asked_for_its_names(void **state)
{
	char name[HTTP_HOST_MAX_BYTES] = "";

	(void)state;
	assert_int_equal(gethostname(name, sizeof(name) - 1), 0);
	setenv("FGCOLLECT_HOST", "the-node", 1);
	http_hosts_read_own(&hosts);
	unsetenv("FGCOLLECT_HOST");
	if (http_host_is_valid(name))
		check(true, name);
	check(true, "the-node");
	check(false, "evil.example");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(addresses_and_localhost_are_ours, set_up),
		cmocka_unit_test_setup(other_names_are_not, set_up),
		cmocka_unit_test_setup(what_is_no_host_header_is_not, set_up),
		cmocka_unit_test_setup(added_names_are_ours, set_up),
		cmocka_unit_test_setup(what_is_no_name_is_not_added, set_up),
		cmocka_unit_test_setup(own_names_are_short_whole_and_in_search_domains, set_up),
		cmocka_unit_test_setup(this_host_is_asked_for_its_names, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
