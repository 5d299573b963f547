// SPDX-License-Identifier: Apache-2.0
/* Claims about container/container.h: the forms of the container engines, one line each. */
#include "container/container.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#define ID64  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define FAR64 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define FAR12 "fedcba987654"
#define ID32  "9d1c8a5cbd5c4d5ca5ed1d1c1d0ea1bc"
#define UID_  "6efe8f0e_3b4c_4d5e_9f00_112233445566"
#define UID   "6efe8f0e-3b4c-4d5e-9f00-112233445566"

struct form {
	const char *text;
	const char *id; /* NULL: in no container */
};

/* A host whose cgroup file systems cannot be seen. */
static const struct cgroup_tree no_tree;

static void check_forms(const struct form *forms, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct container container = {.id = "untouched"};
		const int err = container_parse(forms[i].text, &no_tree, &container);

		if (err != (forms[i].id ? 0 : -ENOENT) ||
		    strcmp(container.id, forms[i].id ? forms[i].id : "untouched") != 0)
			fail_msg("%s gives %d, \"%s\"", forms[i].text, err, container.id);
	}
}

#define CHECK(...)                                                                                 \
	do {                                                                                       \
		const struct form forms[] = {__VA_ARGS__};                                         \
		check_forms(forms, sizeof(forms) / sizeof(forms[0]));                              \
	} while (0)

static void kubernetes_on_cgroup_v2(void **state)
{
	CHECK({"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	       ".slice/cri-containerd-" ID64 ".scope\n",
	       ID64},
	      {"0::/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID64 ".scope\n", ID64},
	      {"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
	       ".slice/docker-" ID64 ".scope\n",
	       ID64},
	      {"0::/kubepods/besteffort/pod" UID "/" ID64 "\n", ID64},
	      {"0::/kubepods/pod" UID "/" ID64, ID64},
	      {"0::/kubepods/burstable/pod" ID32 "/" ID64 "\n", ID64}, /* a static pod */
	      {"0::/kubepods/burstable/pod" ID32 "\n", NULL});
}

static void kubernetes_on_cgroup_v1(void **state)
{
	CHECK({"12:pids:/kubepods/besteffort/pod" UID "/" ID64 "\n"
	       "11:memory:/kubepods/besteffort/pod" UID "/" ID64 "\n"
	       "1:name=systemd:/kubepods/besteffort/pod" UID "/" ID64 "\n",
	       ID64},
	      {"11:cpu,cpuacct:/system.slice/containerd.service/kubepods-besteffort-pod" UID_
	       ".slice:cri-containerd:" ID64 "\n",
	       ID64},
	      {"4:memory:/docker/" ID64 "\n0::/system.slice/containerd.service\n", ID64});
}

static void docker_and_podman(void **state)
{
	CHECK({"0::/docker/" ID64 "\n", ID64}, {"0::/system.slice/docker-" ID64 ".scope\n", ID64},
	      {"0::/system.slice/docker-" ID64 ".scope/init\n", ID64},
	      {"0::/system.slice/docker-" ID64 ".scope/system.slice/nginx.service\n", ID64},
	      {"0::/machine.slice/libpod-" ID64 ".scope\n", ID64},
	      {"0::/machine.slice/libpod-" ID64 ".scope/container\n", ID64},
	      {"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID64
	       ".scope/container\n",
	       ID64},
	      {"0::/libpod_parent/libpod-" ID64 "\n", ID64},
	      {"0::/system.slice/docker-" ID64 ".scope (deleted)\n", ID64},
	      {"0::/../../docker/" ID64 "\n", ID64});
}

struct pod_form {
	const char *text;
	const char *uid;
};

static void the_pod_is_known_by_the_cgroup(void **state)
{
	static const struct pod_form forms[] = {
		{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
		 ".slice/cri-containerd-" ID64 ".scope\n",
		 UID},
		{"0::/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID64 ".scope/container\n",
		 UID},
		{"0::/kubepods/besteffort/pod" UID "/" ID64 "\n", UID},
		{"0::/kubepods/pod" UID "/" ID64 "\n", UID},
		{"0::/kubepods/burstable/pod" ID32 "/" ID64 "\n", ID32},
		{"11:cpu:/system.slice/containerd.service/kubepods-besteffort-pod" UID_
		 ".slice:cri-containerd:" ID64 "\n",
		 UID},
		{"0::/../../kubepods/pod" UID "/" ID64 "\n", UID},
		{"0::/system.slice/docker-" ID64 ".scope\n", ""},
		{"0::/pod" UID_ "x/" ID64 "\n", ""},
		{"0::/pd" UID "/" ID64 "\n", ""},
	};
	struct container container;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		assert_int_equal(container_parse(forms[i].text, &no_tree, &container), 0);
		assert_string_equal(container.id, ID64);
		assert_string_equal(container.pod_uid, forms[i].uid);
	}
	assert_int_equal(container_parse("0::/kubepods/pod" UID "\n", &no_tree, &container),
			 -ENOENT);
}

static void names_of_kubernetes_are_what_it_allows(void **state)
{
	char text[300];

	assert_true(container_is_pod_name("api-1.x", 7));
	assert_false(container_is_pod_name("", 0));
	assert_false(container_is_pod_name("..", 2));
	assert_false(container_is_pod_name("a/b", 3));
	assert_false(container_is_pod_name("a_b", 3));
	assert_false(container_is_pod_name("A", 1));
	memset(text, 'a', sizeof(text));
	assert_true(container_is_pod_name(text, 253));
	assert_false(container_is_pod_name(text, 254));
	assert_true(container_is_pod_uid(UID, 36));
	assert_false(container_is_pod_uid(UID, 35));
	assert_false(container_is_pod_uid(UID_, 36));
}

static void elastic_container_service(void **state)
{
	CHECK({"9:perf_event:/ecs/" ID32 "/" ID32 "-2574839563\n", ID32 "-2574839563"},
	      {"0::/ecs/" ID32 "/" ID64 "\n", ID64},
	      {"0::/ecstasks.slice/ecstasks-" ID32 ".slice/docker-" ID64 ".scope\n", ID64},
	      {"9:perf_event:/ecs/" ID32 "/" ID32 "\n", NULL},
	      {"9:perf_event:/ecs/" ID32 "/" ID32 "-\n", NULL},
	      {"9:perf_event:/ecs/" ID32 "/" ID32 "_123\n", NULL},
	      {"9:perf_event:/ecs/" ID32 "/" ID32
	       "-12345678901234567890123456789012345678901234567890\n",
	       NULL});
}

static void a_container_in_a_container_has_an_id_below_the_outer_one(void **state)
{
	CHECK({"0::/docker/" FAR64 "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
	       ".slice/cri-containerd-" ID64 ".scope\n",
	       "in-" FAR12 ":" ID64},
	      {"0::/system.slice/docker-" FAR64 ".scope/docker/" ID64 "/init.scope\n",
	       "in-" FAR12 ":" ID64},
	      {"0::/a/" FAR64 "/b/" ID32 "-1/c/" ID64 "\n", "in-" FAR12 ":" ID64});
}

static void the_pod_of_a_container_in_a_container_is_the_outer_ones(void **state)
{
	struct container container;

	assert_int_equal(container_parse("0::/kubepods/pod" UID "/" FAR64 "/kubepods/pod" ID32
					 "/" ID64 "\n",
					 &no_tree, &container),
			 0);
	assert_string_equal(container.pod_uid, UID);
	assert_string_equal(container_engine_id(&container), ID64);
	assert_int_equal(container_parse("0::/docker/" FAR64 "/kubepods/pod" UID "/" ID64 "\n",
					 &no_tree, &container),
			 0);
	assert_string_equal(container.pod_uid, "");
}

static void a_pod_of_podmans_is_no_container(void **state)
{
	CHECK({"0::/libpod_parent/" FAR64 "/libpod-" ID64 "\n", ID64},
	      {"0::/libpod_parent/" FAR64 "\n", NULL});
}

static void monitors_and_builds_are_in_no_container(void **state)
{
	CHECK({"0::/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" ID64 ".scope\n", NULL},
	      {"0::/machine.slice/libpod-conmon-" ID64 ".scope\n", NULL},
	      {"0::/docker/buildkit/" ID64 "\n", NULL},
	      {"0::/docker/buildkit/x0u7hd3bnu3s1h1ik1hctl2vr\n", NULL},
	      {"0::/docker/" FAR64 "/docker/buildkit/" ID64 "\n", FAR64},
	      {"0::/system.slice/docker-" FAR64 ".scope/machine.slice/libpod-conmon-" ID64
	       ".scope\n",
	       FAR64});
}

static void what_only_resembles_an_id_is_none(void **state)
{
	CHECK({"", NULL}, {"\n\n", NULL}, {"0::/\n", NULL}, {"0::/init.scope\n", NULL},
	      {"0::/user.slice/user-1000.slice/session-2.scope\n", NULL},
	      {"0::/docker/" ID64 "0\n", NULL}, {"0::/docker/0" ID64 "\n", NULL},
	      {"0::/docker/" ID64 "x\n", NULL},
	      {"0::/docker/0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF\n",
	       NULL},
	      {"0::/docker/0123456789abcdef\n", NULL}, {"0::/a/.scope/-\n", NULL},
	      {"0::/a/-1\n", NULL}, {"0::/a/1\n", NULL}, {".scope", NULL}, {ID64, NULL});
}

static void ids_that_a_user_makes_up_have_one_owner(void **state)
{
	assert_int_equal(container_owner_len("user-1000:" ID64), 9);
	assert_int_equal(container_owner_len("in-" FAR12 ":" ID64), 15);
	assert_int_equal(container_owner_len(ID64), 64);
	assert_int_equal(container_short_len(ID64), 12);
	assert_int_equal(container_short_len("user-1000:" ID64), 22);
}

/* A machine that is itself a container may have its ID in one hierarchy alone. */
static void of_two_ids_that_are_as_good_the_last_counts(void **state)
{
	struct container container;

	assert_int_equal(container_parse("9:name=systemd:/docker/" FAR64 "\n8:pids:/docker/" ID64
					 "\n4:memory:/\n",
					 &no_tree, &container),
			 0);
	assert_string_equal(container_engine_id(&container), ID64);
}

static void own_cgroup_can_be_read(void **state)
{
	struct container container = {0};
	const int err = container_read(getpid(), &container);

	assert_true(err == 0 || err == -ENOENT);
	assert_int_equal(strlen(container.id) > 0, err == 0);
}

static void process_that_is_not_there_is_an_error(void **state)
{
	struct container container = {.id = "untouched"};

	assert_true(container_read(-1, &container) < 0);
	assert_string_equal(container.id, "untouched");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kubernetes_on_cgroup_v2),
		cmocka_unit_test(kubernetes_on_cgroup_v1),
		cmocka_unit_test(docker_and_podman),
		cmocka_unit_test(the_pod_is_known_by_the_cgroup),
		cmocka_unit_test(names_of_kubernetes_are_what_it_allows),
		cmocka_unit_test(elastic_container_service),
		cmocka_unit_test(a_container_in_a_container_has_an_id_below_the_outer_one),
		cmocka_unit_test(the_pod_of_a_container_in_a_container_is_the_outer_ones),
		cmocka_unit_test(a_pod_of_podmans_is_no_container),
		cmocka_unit_test(monitors_and_builds_are_in_no_container),
		cmocka_unit_test(what_only_resembles_an_id_is_none),
		cmocka_unit_test(ids_that_a_user_makes_up_have_one_owner),
		cmocka_unit_test(of_two_ids_that_are_as_good_the_last_counts),
		cmocka_unit_test(own_cgroup_can_be_read),
		cmocka_unit_test(process_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
