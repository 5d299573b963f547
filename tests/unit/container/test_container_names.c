// SPDX-License-Identifier: Apache-2.0
/* Claims about container/container_names.h: names from files of engines, in trees made up here. */
#include "container/container_names.h"

#include "common/files.h"
#include "common/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#define ID64   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define FAR64  "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID    "6efe8f0e-3b4c-4d5e-9f00-112233445566"
#define DOCKER "/var/lib/docker/containers/" ID64 "/config.v2.json"
#define K8S    "io.kubernetes."

static char root[TEMP_DIR_BYTES], mounts_path[96];
static struct container_names names;
static struct container container;

/* All directories of a path below the root. */
static void make_dirs(const char *path)
{
	char part[4096];

	for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		snprintf(part, sizeof(part), "%s%.*s", root, (int)(at - path), path);
		mkdir(part, 0755);
	}
}

static void write_file(const char *path, const char *text)
{
	char whole[4096];

	make_dirs(path);
	snprintf(whole, sizeof(whole), "%s%s", root, path);
	files_write(whole, text);
}

static int set_up(void **state)
{
	temp_dir_make(root);
	snprintf(mounts_path, sizeof(mounts_path), "%s/mountinfo", root);
	write_file("/mountinfo", "1 0 8:1 / / rw - ext4 x rw\n");
	container_names_init(&names, root, mounts_path);
	container = (struct container){.id = ID64};
	return 0;
}

static int tear_down(void **state)
{
	container_fini(&container);
	container_names_fini(&names);
	temp_dir_remove(root);
	return 0;
}

static void read_names(const char *mounts)
{
	char *copy = strdup(mounts);

	container_names_read(&names, copy, &container);
	free(copy);
}

static void check(const char *name, const char *pod, const char *name_space)
{
	assert_string_equal(container.name, name);
	assert_string_equal(container.pod, pod);
	assert_string_equal(container.name_space, name_space);
}

/* ---- who says what ---- */

static void docker_says_name_and_labels(void **state)
{
	write_file(DOCKER, "{\"ID\":\"" ID64 "\",\"Name\":\"/web\",\"Config\":{\"Labels\":"
			   "{\"app\":\"shop\",\"n\":1}}}");
	read_names("");
	check("web", "", "");
	assert_string_equal(label_set_find(&container.labels, "app"), "shop");
	assert_null(label_set_find(&container.labels, "n"));
	assert_int_equal(names.broken, 0);
}

static void docker_below_a_kubelet_says_the_pod(void **state)
{
	write_file(DOCKER, "{\"ID\":\"" ID64 "\",\"Name\":\"/k8s_app_api-1_shop_" UID "_0\"}");
	read_names("");
	check("app", "api-1", "shop");
	assert_string_equal(container.pod_uid, UID);
}

static void a_kubelets_labels_go_before_the_name_it_makes(void **state)
{
	write_file(DOCKER,
		   "{\"ID\":\"" ID64 "\",\"Name\":\"/k8s_x_y_z_" UID "_0\",\"Config\":{\"Labels\":{"
		   "\"" K8S "pod.name\":\"api-1\",\"" K8S "pod.namespace\":\"shop\","
		   "\"" K8S "container.name\":\"app\"}}}");
	read_names("");
	check("app", "api-1", "shop");
}

static void docker_elsewhere_is_found_by_the_mounts(void **state)
{
	write_file("/data/d/containers/" ID64 "/config.v2.json",
		   "{\"ID\":\"" ID64 "\",\"Name\":\"/web\"}");
	read_names("3 2 8:1 /data/d/containers/" ID64 "/hostname /etc/hostname rw - ext4 x rw\n");
	check("web", "", "");
	assert_string_equal(names.docker_dirs[names.last_dir], "/data/d/containers");
}

/* docker run --network container:OTHER mounts that one's files. */
static void docker_elsewhere_is_found_by_the_mounts_of_whose_network_is_shared(void **state)
{
	write_file("/data/d/containers/" ID64 "/config.v2.json",
		   "{\"ID\":\"" ID64 "\",\"Name\":\"/web\"}");
	write_file("/data/d/containers/" FAR64 "/config.v2.json",
		   "{\"ID\":\"" FAR64 "\",\"Name\":\"/other\"}");
	read_names("3 2 8:1 /data/d/containers/" FAR64 "/hostname /etc/hostname rw - ext4 x rw\n");
	check("web", "", "");
	assert_string_equal(names.docker_dirs[names.last_dir], "/data/d/containers");
}

static void mounts_of_another_container_lead_nowhere(void **state)
{
	write_file("/data/d/containers/" FAR64 "/config.v2.json",
		   "{\"ID\":\"" FAR64 "\",\"Name\":\"/other\"}");
	read_names("3 2 8:1 /data/d/containers/" FAR64 "/hostname /etc/hostname rw - ext4 x rw\n");
	check("", "", "");
}

static void containerd_says_the_pod_in_its_bundle(void **state)
{
	write_file("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID64 "/config.json",
		   "{\"annotations\":{\"" K8S "cri.container-name\":\"app\","
		   "\"" K8S "cri.sandbox-name\":\"api-1\",\"" K8S
		   "cri.sandbox-namespace\":\"shop\","
		   "\"" K8S "cri.sandbox-uid\":\"" UID "\",\"team\":\"blue\"}}");
	read_names("");
	check("app", "api-1", "shop");
	assert_string_equal(container.pod_uid, UID);
	assert_string_equal(label_set_find(&container.labels, "team"), "blue");
	assert_int_equal(container.labels.count, 1);
}

static void nerdctl_says_the_name_in_its_bundle(void **state)
{
	write_file("/run/containerd/io.containerd.runtime.v2.task/default/" ID64 "/config.json",
		   "{\"annotations\":{\"nerdctl/name\":\"web\"}}");
	read_names("");
	check("web", "", "");
}

static void podman_says_the_name_in_its_storage(void **state)
{
	write_file("/var/lib/containers/storage/overlay-containers/containers.json",
		   "[{\"id\":\"" FAR64 "\",\"names\":[\"far\"]},{\"id\":\"" ID64
		   "\",\"names\":[\"web\"],\"metadata\":\"{\\\"name\\\":\\\"web\\\"}\"}]");
	read_names("");
	check("web", "", "");
}

static void podman_of_a_user_is_found_by_the_layer(void **state)
{
	write_file("/home/u/storage/overlay-containers/containers.json",
		   "[{\"id\":\"" ID64 "\",\"names\":[\"web\"]}]");
	read_names(
		"1 2 0:50 / / rw - overlay overlay rw,upperdir=/home/u/storage/overlay/ab/diff\n");
	check("web", "", "");
}

static void crio_says_the_pod_in_bundle_and_storage(void **state)
{
	write_file("/run/containers/storage/overlay-containers/" ID64 "/userdata/config.json",
		   "{\"annotations\":{\"" K8S "container.name\":\"app\",\"" K8S
		   "pod.name\":\"api-1\",\"" K8S "pod.namespace\":\"shop\"}}");
	read_names("");
	check("app", "api-1", "shop");
	container_fini(&container);
	container = (struct container){.id = FAR64};
	write_file("/var/lib/containers/storage/overlay-containers/containers.json",
		   "[{\"id\":\"" FAR64 "\",\"names\":[\"k8s_app_api-2_shop_" UID "_1\"],"
		   "\"metadata\":\"{\\\"pod-name\\\":\\\"k8s_api-2\\\",\\\"metadata-name\\\":"
		   "\\\"app\\\"}\"}]");
	read_names("");
	check("app", "api-2", "shop");
}

static void the_kubelets_links_to_logs_say_all_by_the_id(void **state)
{
	write_file("/var/log/containers/other_shop_app-" FAR64 ".log", "");
	write_file("/var/log/containers/api-1_shop_app-" ID64 ".log", "");
	read_names("");
	check("app", "api-1", "shop");
}

static void the_kubelets_directories_of_logs_say_the_pod_by_its_uid(void **state)
{
	write_file("/var/log/pods/shop_api-1_" UID "/app/0.log", "");
	strcpy(container.pod_uid, UID);
	read_names("4 2 8:1 /var/lib/kubelet/pods/" UID "/containers/app/1a /dev/termination-log "
		   "rw - ext4 x rw\n");
	check("app", "api-1", "shop");
}

static void mounts_say_the_pod_where_the_cgroup_does_not(void **state)
{
	write_file("/var/log/pods/shop_api-1_" UID "/app/0.log", "");
	read_names("4 2 8:1 /pods/" UID "/containers/app/1a /dev/termination-log rw - ext4 x rw\n");
	check("app", "api-1", "shop");
}

static void mounts_of_another_pod_are_not_believed(void **state)
{
	strcpy(container.pod_uid, "00000000-0000-0000-0000-000000000000");
	read_names("4 2 8:1 /pods/" UID "/containers/app/1a /dev/termination-log rw - ext4 x rw\n");
	check("", "", "");
}

/* ---- hostile ---- */

static void hostile_names_become_harmless(void **state)
{
	write_file(DOCKER, "{\"ID\":\"" ID64 "\",\"Name\":\"/\\u001b[2J\\u202e../../etc\","
			   "\"Config\":{\"Labels\":{\"\\u0007\":\"\\n\"}}}");
	read_names("");
	check("?[2J?../../etc", "", "");
	assert_string_equal(label_set_find(&container.labels, "?"), "?");
}

static void pods_have_no_names_that_kubernetes_does_not_allow(void **state)
{
	write_file(DOCKER, "{\"ID\":\"" ID64 "\",\"Name\":\"/a\",\"Config\":{\"Labels\":{"
			   "\"" K8S "pod.name\":\"../x\",\"" K8S "pod.namespace\":\"A\"}}}");
	write_file("/var/log/containers/.._shop_app-" ID64 ".log", "");
	read_names("");
	check("a", "", "");
}

static void a_record_of_another_container_is_broken(void **state)
{
	write_file(DOCKER, "{\"ID\":\"" FAR64 "\",\"Name\":\"/web\"}");
	read_names("");
	check("", "", "");
	assert_int_equal(names.broken, 1);
}

static void what_is_no_json_is_broken(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"\xff",
		"{\"ID\":1}",
		"{\"ID\":\"" ID64 "\",\"Name\":\"\xff\"}",
		"{\"ID\":\"" ID64 "\",\"Name\":\"a\\u0000b\"}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		write_file(DOCKER, texts[i]);
		read_names("");
		check("", "", "");
		assert_int_equal(names.broken, i + 1);
	}
}

static void deep_and_long_records_are_broken(void **state)
{
	const size_t size = CONTAINER_RECORD_MAX_BYTES + 2;
	char *text = malloc(size + 1);

	memset(text, '[', size);
	text[100000] = '\0';
	write_file(DOCKER, text);
	read_names("");
	text[100000] = '[';
	text[size] = '\0';
	write_file(DOCKER, text);
	read_names("");
	free(text);
	check("", "", "");
	assert_int_equal(names.broken, 2);
}

static void links_and_fifos_are_not_opened(void **state)
{
	char path[256], target[256];

	write_file("/secret.json", "{\"ID\":\"" ID64 "\",\"Name\":\"/stolen\"}");
	make_dirs(DOCKER);
	snprintf(path, sizeof(path), "%s%s", root, DOCKER);
	snprintf(target, sizeof(target), "%s/secret.json", root);
	assert_int_equal(symlink(target, path), 0);
	read_names("");
	check("", "", "");
	unlink(path);
	assert_int_equal(mkfifo(path, 0644), 0);
	read_names("");
	check("", "", "");
	assert_int_equal(names.broken, 2);
}

static void a_linked_directory_stays_below_the_root(void **state)
{
	char path[256];

	write_file("/data/docker/containers/" ID64 "/config.v2.json",
		   "{\"ID\":\"" ID64 "\",\"Name\":\"/web\"}");
	make_dirs("/var/lib/x");
	snprintf(path, sizeof(path), "%s/var/lib/docker", root);
	assert_int_equal(symlink("/../../data/docker", path), 0);
	read_names("");
	check("web", "", "");
}

static void a_container_that_does_not_run_is_found_by_name_and_id(void **state)
{
	struct container found;

	write_file(DOCKER, "{\"ID\":\"" ID64 "\",\"Name\":\"/web\",\"State\":{\"Running\":false}}");
	write_file("/var/lib/docker/containers/" FAR64 "/config.v2.json",
		   "{\"ID\":\"" FAR64 "\",\"Name\":\"/live\",\"State\":{\"Running\":true}}");
	assert_true(container_names_find_stopped(&names, "web", &found));
	assert_string_equal(found.id, ID64);
	container_fini(&found);
	assert_true(container_names_find_stopped(&names, "0123", &found));
	container_fini(&found);
	assert_false(container_names_find_stopped(&names, "we", &found));
	assert_false(container_names_find_stopped(&names, "live", &found));
	assert_false(container_names_find_stopped(&names, "", &found));
}

/* A user's engine beside the system's, and a third one: none is forgotten for another. */
static void a_container_of_any_engine_that_was_met_is_found_when_it_does_not_run(void **state)
{
	struct container found;

	write_file("/data/a/" ID64 "/config.v2.json",
		   "{\"ID\":\"" ID64 "\",\"Name\":\"/web\",\"State\":{\"Running\":false}}");
	write_file("/data/b/" FAR64 "/config.v2.json",
		   "{\"ID\":\"" FAR64 "\",\"Name\":\"/shop\",\"State\":{\"Running\":false}}");
	assert_false(container_names_find_stopped(&names, "web", &found));
	read_names("3 2 8:1 /data/a/" ID64 "/hostname /etc/hostname rw - ext4 x rw\n");
	for (int i = 0; i < CONTAINER_NAMES_MAX_DIRS + 1; i++) {
		container_fini(&container);
		container = (struct container){.id = FAR64};
		read_names("3 2 8:1 /data/b/" FAR64 "/hostname /etc/hostname rw - ext4 x rw\n");
	}
	assert_true(container_names_find_stopped(&names, "web", &found));
	container_fini(&found);
	assert_true(container_names_find_stopped(&names, "shop", &found));
	container_fini(&found);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(docker_says_name_and_labels),
		TEST(docker_below_a_kubelet_says_the_pod),
		TEST(a_kubelets_labels_go_before_the_name_it_makes),
		TEST(docker_elsewhere_is_found_by_the_mounts),
		TEST(docker_elsewhere_is_found_by_the_mounts_of_whose_network_is_shared),
		TEST(mounts_of_another_container_lead_nowhere),
		TEST(containerd_says_the_pod_in_its_bundle),
		TEST(nerdctl_says_the_name_in_its_bundle),
		TEST(podman_says_the_name_in_its_storage),
		TEST(podman_of_a_user_is_found_by_the_layer),
		TEST(crio_says_the_pod_in_bundle_and_storage),
		TEST(the_kubelets_links_to_logs_say_all_by_the_id),
		TEST(the_kubelets_directories_of_logs_say_the_pod_by_its_uid),
		TEST(mounts_say_the_pod_where_the_cgroup_does_not),
		TEST(mounts_of_another_pod_are_not_believed),
		TEST(hostile_names_become_harmless),
		TEST(pods_have_no_names_that_kubernetes_does_not_allow),
		TEST(a_record_of_another_container_is_broken),
		TEST(what_is_no_json_is_broken),
		TEST(deep_and_long_records_are_broken),
		TEST(links_and_fifos_are_not_opened),
		TEST(a_linked_directory_stays_below_the_root),
		TEST(a_container_that_does_not_run_is_found_by_name_and_id),
		TEST(a_container_of_any_engine_that_was_met_is_found_when_it_does_not_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
