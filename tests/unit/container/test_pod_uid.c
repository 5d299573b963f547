// SPDX-License-Identifier: Apache-2.0
/* Claims about container/pod_uid.h: the forms of the kubelet's cgroup drivers, one line each. */
#include "container/pod_uid.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HASH "9d1c8a5cbd5c4d5ca5ed1d1c1d0ea1bc"
#define UID_ "6efe8f0e_3b4c_4d5e_9f00_112233445566"
#define UID  "6efe8f0e-3b4c-4d5e-9f00-112233445566"
#define FAR_ "00000000_3b4c_4d5e_9f00_112233445566"

/* uid NULL: it is in no pod. */
static void check(const char *text, const char *uid)
{
	char ret[POD_UID_BYTES] = "untouched";
	const int err = pod_uid_parse(text, ret);

	assert_int_equal(err, uid ? 0 : -ENOENT);
	assert_string_equal(ret, uid ? uid : "untouched");
}

static void uid_is_the_same_with_both_cgroup_drivers(void **state)
{
	check("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	      ".slice/cri-containerd-" ID64 ".scope\n",
	      UID);
	check("0::/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID64 ".scope\n", UID);
	check("0::/kubepods/besteffort/pod" UID "/" ID64 "\n", UID);
	check("0::/kubepods/pod" UID "/" ID64, UID);
	check("11:cpu:/system.slice/containerd.service/kubepods-besteffort-pod" UID_
	      ".slice:cri-containerd:" ID64 "\n",
	      UID);
}

static void static_pod_has_a_hash(void **state)
{
	check("0::/kubepods/burstable/pod" HASH "/" ID64 "\n", HASH);
}

static void innermost_pod_counts(void **state)
{
	check("0::/kubepods.slice/kubepods-pod" FAR_ ".slice/cri-containerd-" ID64
	      ".scope/kubelet.slice/kubelet-kubepods-pod" UID_ ".slice/cri-containerd-" ID64
	      ".scope\n",
	      UID);
}

static void what_only_looks_like_a_pod_is_none(void **state)
{
	check("", NULL);
	check("0::/user.slice\n", NULL);
	check("0::/docker/" ID64 "\n", NULL);
	check("0::/machine.slice/libpod-" ID64 ".scope\n", NULL);
	check("0::/machine.slice/libpod-" HASH ".scope\n", NULL);
	check("0::/x/pod" UID "0/y\n", NULL); /* a digit too many */
	check("0::/x/pod6efe8f0e-3b4c-4d5e-9f00-11223344556\n", NULL);
	check("0::/x/pod6efe8f0e03b4c-4d5e-9f00-112233445566\n", NULL);
	check("0::/x/tripod" UID "\n", NULL);
	check("0::/x/pod" UID "x\n", NULL);
	check("0::/x/pod", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uid_is_the_same_with_both_cgroup_drivers),
		cmocka_unit_test(static_pod_has_a_hash),
		cmocka_unit_test(innermost_pod_counts),
		cmocka_unit_test(what_only_looks_like_a_pod_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
