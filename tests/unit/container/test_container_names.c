// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about container/container_names.h: names from files of engines, in trees made up here. All
 * claims hold with parsers and without.
 */
#include "container/container_names.h"

#include "own_proc.h"

#include "base/clock.h"
#include "common/files.h"
#include "common/temp_dir.h"
#include "confine/parser.h"

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
#define NOBODY 65534

static char root[TEMP_DIR_BYTES], mounts_path[96], proc[96];
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
	umask(022);
	temp_dir_make(root);
	snprintf(mounts_path, sizeof(mounts_path), "%s/mountinfo", root);
	write_file("/mountinfo", "1 0 8:1 / / rw - ext4 x rw\n");
	container_names_init(&names, root, mounts_path);
	names.waits.patience_ns = 1000 * CLOCK_NS_PER_SEC; /* a busy machine's parsers are late */
	snprintf(proc, sizeof(proc), "%s/proc", root);
	own_proc_make(proc);
	names.proc = proc;
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

static void read_names(void)
{
	container_names_read(&names, &container);
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
	read_names();
	check("web", "", "");
	assert_string_equal(label_set_find(&container.labels, "app"), "shop");
	assert_null(label_set_find(&container.labels, "n"));
	assert_int_equal(names.broken, 0);
}

static void docker_below_a_kubelet_says_the_pod(void **state)
{
	write_file(DOCKER, "{\"ID\":\"" ID64 "\",\"Name\":\"/k8s_app_api-1_shop_" UID "_0\"}");
	read_names();
	check("app", "api-1", "shop");
	assert_string_equal(container.pod_uid, UID);
}

static void a_kubelets_labels_go_before_the_name_it_makes(void **state)
{
	write_file(DOCKER,
		   "{\"ID\":\"" ID64 "\",\"Name\":\"/k8s_x_y_z_" UID "_0\",\"Config\":{\"Labels\":{"
		   "\"" K8S "pod.name\":\"api-1\",\"" K8S "pod.namespace\":\"shop\","
		   "\"" K8S "container.name\":\"app\"}}}");
	read_names();
	check("app", "api-1", "shop");
}

static void dockers_snap_says_the_name_where_it_keeps_records(void **state)
{
	write_file("/var/snap/docker/common/var-lib-docker/containers/" ID64 "/config.v2.json",
		   "{\"ID\":\"" ID64 "\",\"Name\":\"/web\"}");
	read_names();
	check("web", "", "");
}

static void docker_elsewhere_is_found_by_its_process(void **state)
{
	write_file("/data/d/containers/" ID64 "/config.v2.json",
		   "{\"ID\":\"" ID64 "\",\"Name\":\"/web\"}");
	read_names();
	check("", "", "");
	names.searched_ns = 0;
	own_proc_add(proc, 7, "dockerd", getuid(), "/data/d/volumes/metadata.db");
	read_names();
	check("web", "", "");
}

static void engines_are_searched_for_at_most_once_a_second(void **state)
{
	write_file("/data/d/containers/" ID64 "/config.v2.json",
		   "{\"ID\":\"" ID64 "\",\"Name\":\"/web\"}");
	clock_pretend(100 * CLOCK_NS_PER_SEC);
	read_names();
	own_proc_add(proc, 7, "dockerd", getuid(), "/data/d/volumes/metadata.db");
	clock_pretend(101 * CLOCK_NS_PER_SEC - 1);
	read_names();
	check("", "", "");
	clock_pretend(101 * CLOCK_NS_PER_SEC);
	read_names();
	check("web", "", "");
	clock_pretend(0);
}

static void containerd_says_the_pod_in_its_bundle(void **state)
{
	write_file("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID64 "/config.json",
		   "{\"annotations\":{\"" K8S "cri.container-name\":\"app\","
		   "\"" K8S "cri.sandbox-name\":\"api-1\",\"" K8S
		   "cri.sandbox-namespace\":\"shop\","
		   "\"" K8S "cri.sandbox-uid\":\"" UID "\",\"team\":\"blue\"}}");
	read_names();
	check("app", "api-1", "shop");
	assert_string_equal(container.pod_uid, UID);
	assert_string_equal(label_set_find(&container.labels, "team"), "blue");
	assert_int_equal(container.labels.count, 1);
}

static void nerdctl_says_the_name_in_its_bundle(void **state)
{
	write_file("/run/containerd/io.containerd.runtime.v2.task/default/" ID64 "/config.json",
		   "{\"annotations\":{\"nerdctl/name\":\"web\"}}");
	read_names();
	check("web", "", "");
}

static void podman_says_the_name_in_its_storage(void **state)
{
	write_file("/var/lib/containers/storage/overlay-containers/containers.json",
		   "[{\"id\":\"" FAR64 "\",\"names\":[\"far\"]},{\"id\":\"" ID64
		   "\",\"names\":[\"web\"],\"metadata\":\"{\\\"name\\\":\\\"web\\\"}\"}]");
	read_names();
	check("web", "", "");
}

static void podman_elsewhere_is_found_by_the_monitor_of_its_container(void **state)
{
	write_file("/data/p/vfs-containers/containers.json",
		   "[{\"id\":\"" ID64 "\",\"names\":[\"web\"]}]");
	own_proc_add(proc, 8, "conmon", getuid(), "/data/p/vfs-containers/" ID64 "/userdata/ctl");
	read_names();
	check("web", "", "");
}

static void crio_says_the_pod_in_bundle_and_storage(void **state)
{
	write_file("/run/containers/storage/overlay-containers/" ID64 "/userdata/config.json",
		   "{\"annotations\":{\"" K8S "container.name\":\"app\",\"" K8S
		   "pod.name\":\"api-1\",\"" K8S "pod.namespace\":\"shop\"}}");
	read_names();
	check("app", "api-1", "shop");
	container_fini(&container);
	container = (struct container){.id = FAR64};
	write_file("/var/lib/containers/storage/overlay-containers/containers.json",
		   "[{\"id\":\"" FAR64 "\",\"names\":[\"k8s_app_api-2_shop_" UID "_1\"],"
		   "\"metadata\":\"{\\\"pod-name\\\":\\\"k8s_api-2\\\",\\\"metadata-name\\\":"
		   "\\\"app\\\"}\"}]");
	read_names();
	check("app", "api-2", "shop");
}

static void the_kubelets_links_to_logs_say_all_by_the_id(void **state)
{
	write_file("/var/log/containers/other_shop_app-" FAR64 ".log", "");
	write_file("/var/log/containers/api-1_shop_app-" ID64 ".log", "");
	read_names();
	check("app", "api-1", "shop");
}

static void the_kubelets_directories_of_logs_say_the_pod_by_its_uid(void **state)
{
	write_file("/var/log/pods/shop_api-1_" UID "/app/0.log", "");
	strcpy(container.pod_uid, UID);
	read_names();
	check("", "api-1", "shop");
}

static void each_engines_record_says_the_image(void **state)
{
	static const char *const bundle =
		"/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID64 "/config.json";
	static const char *const crio =
		"/run/containers/storage/overlay-containers/" ID64 "/userdata/config.json";
	static const char *const storage =
		"/var/lib/containers/storage/overlay-containers/containers.json";
	const struct {
		const char *path, *text, *image;
	} records[] = {
		{DOCKER,
		 "{\"ID\":\"" ID64 "\",\"Name\":\"/web\",\"Image\":\"sha256:1\",\"Config\":{"
		 "\"Image\":\"registry.example:5000/shop/cart:1.4.2\"}}",
		 "registry.example:5000/shop/cart:1.4.2"},
		{bundle,
		 "{\"annotations\":{\"" K8S "cri.container-name\":\"app\",\"" K8S
		 "cri.image-name\":\"docker.io/shop/cart:1.4.2\"}}",
		 "docker.io/shop/cart:1.4.2"},
		{crio,
		 "{\"annotations\":{\"" K8S "container.name\":\"app\",\"" K8S
		 "cri-o.ImageName\":\"quay.io/shop/cart:2\",\"" K8S "cri-o.Image\":\"" FAR64 "\"}}",
		 "quay.io/shop/cart:2"},
		{storage,
		 "[{\"id\":\"" ID64 "\",\"names\":[\"web\"],\"image\":\"" FAR64
		 "\",\"metadata\":\"{\\\"image-name\\\":\\\"localhost/cart:3\\\"}\"}]",
		 "localhost/cart:3"},
		{storage, "[{\"id\":\"" ID64 "\",\"names\":[\"web\"],\"image\":\"" FAR64 "\"}]",
		 FAR64},
	};

	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		char path[512];

		write_file(records[i].path, records[i].text);
		read_names();
		assert_string_equal(container.image, records[i].image);
		snprintf(path, sizeof(path), "%s%s", root, records[i].path);
		assert_int_equal(unlink(path), 0);
		container_fini(&container);
		container = (struct container){.id = ID64};
	}
}

static void an_image_that_is_known_by_its_id_alone_is_kept_so(void **state)
{
	write_file(DOCKER, "{\"ID\":\"" ID64 "\",\"Name\":\"/web\",\"Config\":{"
			   "\"Image\":\"sha256:" FAR64 "\"}}");
	read_names();
	assert_string_equal(container.image, "sha256:" FAR64);
}

/* ---- whose word ---- */

static void a_container_in_a_container_has_nothing_but_its_pod(void **state)
{
	write_file(DOCKER, "{\"ID\":\"" ID64 "\",\"Name\":\"/web\"}");
	write_file("/var/log/containers/api-1_shop_app-" ID64 ".log", "");
	write_file("/var/log/pods/shop_api-1_" UID "/app/0.log", "");
	container = (struct container){.namer = CONTAINER_NAMED_BY_CONTAINER,
				       .id = "in-fedcba987654:" ID64,
				       .pod_uid = UID};
	read_names();
	check("", "api-1", "shop");
}

static void a_container_that_cannot_be_checked_has_no_name(void **state)
{
	write_file(DOCKER, "{\"ID\":\"" ID64 "\",\"Name\":\"/web\"}");
	container.namer = CONTAINER_NAMED_BY_ANYONE;
	read_names();
	check("", "", "");
	container.namer = CONTAINER_NAMED_BY_ROOT;
	read_names();
	check("web", "", "");
}

/* Makes the test's container one of nobody's, with a record of nobody's storage that names it. */
static bool have_users_container(const char *record)
{
	static const char storage[] = "/home/u/storage/overlay-containers/containers.json";
	char path[256];

	if (getuid() != 0) {
		print_message("needs root, who alone may give files away\n");
		return false;
	}
	write_file(storage, record);
	snprintf(path, sizeof(path), "%s%s", root, storage);
	assert_int_equal(chown(path, NOBODY, NOBODY), 0);
	*strrchr(path, '/') = '\0';
	assert_int_equal(chown(path, NOBODY, NOBODY), 0);
	own_proc_add(proc, 9, "conmon", NOBODY,
		     "/home/u/storage/overlay-containers/" ID64 "/userdata/ctl");
	container = (struct container){
		.namer = CONTAINER_NAMED_BY_USER, .user = NOBODY, .id = "user-65534:" ID64};
	return true;
}

#define USERS_RECORD "[{\"id\":\"" ID64 "\",\"names\":[\"web\"]}]"

static void a_users_container_has_the_name_of_the_users_record(void **state)
{
	write_file(DOCKER, "{\"ID\":\"" ID64 "\",\"Name\":\"/ledger\"}");
	if (!have_users_container(USERS_RECORD))
		skip();
	read_names();
	check("web", "", "");
}

static void a_users_record_names_nobody_elses_container(void **state)
{
	if (!have_users_container(USERS_RECORD))
		skip();
	container = (struct container){.id = ID64};
	read_names();
	check("", "", "");
	container = (struct container){
		.namer = CONTAINER_NAMED_BY_USER, .user = NOBODY - 1, .id = "user-65533:" ID64};
	names.searched_users_ns = 0;
	read_names();
	check("", "", "");
}

static void a_record_that_is_not_the_users_names_no_container_of_the_user(void **state)
{
	char path[256];

	if (!have_users_container(USERS_RECORD))
		skip();
	snprintf(path, sizeof(path), "%s/home/u/storage/overlay-containers/containers.json", root);
	assert_int_equal(chown(path, 0, 0), 0);
	read_names();
	check("", "", "");
	assert_int_equal(names.untrusted, 1);
}

static void a_users_record_that_is_long_is_broken(void **state)
{
	char *text = calloc(1, CONTAINER_USERS_MAX_BYTES + 2);

	memset(text, ' ', CONTAINER_USERS_MAX_BYTES + 1);
	memcpy(text, USERS_RECORD, strlen(USERS_RECORD));
	if (!have_users_container(text)) {
		free(text);
		skip();
	}
	free(text);
	read_names();
	check("", "", "");
	assert_int_equal(names.broken, 1);
}

static void a_users_record_says_no_pod(void **state)
{
	if (!have_users_container("[{\"id\":\"" ID64 "\",\"names\":[\"k8s_ledger_bank-0_prod_" UID
				  "_0\"]}]"))
		skip();
	read_names();
	check("ledger", "", "");
	assert_string_equal(container.pod_uid, "");
}

/* A file system that is made by a program may never answer. */
static void a_users_path_on_a_file_system_of_a_program_is_not_opened(void **state)
{
	if (!have_users_container(USERS_RECORD))
		skip();
	files_append(mounts_path, "2 1 0:9 / /home/u rw - fuse.x x rw\n");
	read_names();
	check("", "", "");
	assert_true(names.untrusted > 0);
}

static void a_users_path_with_a_link_is_not_followed(void **state)
{
	char from[256], to[256];

	if (!have_users_container(USERS_RECORD))
		skip();
	snprintf(from, sizeof(from), "%s/home/u", root);
	snprintf(to, sizeof(to), "%s/home/v", root);
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(symlink("v", from), 0);
	read_names();
	check("", "", "");
}

static void what_others_may_write_is_counted_and_not_read(void **state)
{
	char path[256];

	write_file(DOCKER, "{\"ID\":\"" ID64 "\",\"Name\":\"/web\"}");
	write_file("/var/log/containers/api-1_shop_app-" ID64 ".log", "");
	snprintf(path, sizeof(path), "%s%s", root, DOCKER);
	assert_int_equal(chmod(path, 0664), 0);
	snprintf(path, sizeof(path), "%s/var/log", root);
	assert_int_equal(chmod(path, 0775), 0);
	read_names();
	check("", "", "");
	assert_int_equal(names.untrusted, 2);
}

/* ---- hostile ---- */

static void hostile_names_become_harmless(void **state)
{
	write_file(DOCKER, "{\"ID\":\"" ID64 "\",\"Name\":\"/\\u001b[2J\\u202e../../etc\","
			   "\"Config\":{\"Labels\":{\"\\u0007\":\"\\n\"}}}");
	read_names();
	check("?[2J?../../etc", "", "");
	assert_string_equal(label_set_find(&container.labels, "?"), "?");
}

static void hostile_images_become_harmless(void **state)
{
	static const struct {
		const char *value, *image;
	} images[] = {
		{"\"a\\u001b[2J\\u202e:1\"", "a?[2J?:1"},
		{"7", ""},
		{"{\"a\":\"b\"}", ""},
		{"null", ""},
		{"\"\"", ""},
	};

	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text),
			 "{\"ID\":\"" ID64 "\",\"Name\":\"/web\",\"Config\":{\"Image\":%s}}",
			 images[i].value);
		write_file(DOCKER, text);
		read_names();
		check("web", "", "");
		assert_string_equal(container.image, images[i].image);
		assert_int_equal(container.labels.left_out, 0);
		container = (struct container){.id = ID64};
	}
}

/* A part of it would be another image's. */
static void an_image_without_room_is_left_out_and_counted(void **state)
{
	char image[CONTAINER_IMAGE_BYTES + 1] = "", text[512];

	memset(image, 'a', CONTAINER_IMAGE_BYTES);
	for (int i = 1; i >= 0; i--) {
		container = (struct container){.id = ID64};
		image[CONTAINER_IMAGE_BYTES - 1 + i] = '\0';
		snprintf(text, sizeof(text),
			 "{\"ID\":\"" ID64 "\",\"Name\":\"/web\",\"Config\":{\"Image\":\"%s\"}}",
			 image);
		write_file(DOCKER, text);
		read_names();
		check("web", "", "");
		assert_string_equal(container.image, i == 1 ? "" : image);
		assert_int_equal(container.labels.left_out, i);
	}
}

static void pods_have_no_names_that_kubernetes_does_not_allow(void **state)
{
	write_file(DOCKER, "{\"ID\":\"" ID64 "\",\"Name\":\"/a\",\"Config\":{\"Labels\":{"
			   "\"" K8S "pod.name\":\"../x\",\"" K8S "pod.namespace\":\"A\"}}}");
	write_file("/var/log/containers/.._shop_app-" ID64 ".log", "");
	read_names();
	check("a", "", "");
}

static void a_record_of_another_container_is_broken(void **state)
{
	write_file(DOCKER, "{\"ID\":\"" FAR64 "\",\"Name\":\"/web\"}");
	read_names();
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
		read_names();
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
	read_names();
	text[100000] = '[';
	text[size] = '\0';
	write_file(DOCKER, text);
	read_names();
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
	read_names();
	check("", "", "");
	unlink(path);
	assert_int_equal(mkfifo(path, 0644), 0);
	read_names();
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
	read_names();
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

static void a_container_of_an_engine_elsewhere_is_found_when_it_does_not_run(void **state)
{
	struct container found;

	write_file("/data/a/containers/" ID64 "/config.v2.json",
		   "{\"ID\":\"" ID64 "\",\"Name\":\"/web\",\"State\":{\"Running\":false}}");
	write_file("/data/b/containers/" FAR64 "/config.v2.json",
		   "{\"ID\":\"" FAR64 "\",\"Name\":\"/shop\",\"State\":{\"Running\":false}}");
	own_proc_add(proc, 7, "dockerd", getuid(), "/data/a/volumes/metadata.db");
	own_proc_add(proc, 8, "dockerd", getuid(), "/data/b/volumes/metadata.db");
	assert_true(container_names_find_stopped(&names, "web", &found));
	container_fini(&found);
	assert_true(container_names_find_stopped(&names, "shop", &found));
	container_fini(&found);
}

static const struct parser_limits roles[PARSER_ROLES] = {
	[PARSER_RECORDS] = {.serve = record_parser_serve,
			    .memory_bytes = UINT64_C(1) << 40,
			    .cpu_seconds = 10,
			    .has_spares = true},
};

static int set_up_parsers(void **state)
{
	return zygote_start();
}

static int tear_down_parsers(void **state)
{
	parser_drop_spares();
	zygote_stop();
	return 0;
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(docker_says_name_and_labels),
		TEST(docker_below_a_kubelet_says_the_pod),
		TEST(a_kubelets_labels_go_before_the_name_it_makes),
		TEST(dockers_snap_says_the_name_where_it_keeps_records),
		TEST(docker_elsewhere_is_found_by_its_process),
		TEST(engines_are_searched_for_at_most_once_a_second),
		TEST(containerd_says_the_pod_in_its_bundle),
		TEST(nerdctl_says_the_name_in_its_bundle),
		TEST(podman_says_the_name_in_its_storage),
		TEST(podman_elsewhere_is_found_by_the_monitor_of_its_container),
		TEST(crio_says_the_pod_in_bundle_and_storage),
		TEST(the_kubelets_links_to_logs_say_all_by_the_id),
		TEST(the_kubelets_directories_of_logs_say_the_pod_by_its_uid),
		TEST(each_engines_record_says_the_image),
		TEST(an_image_that_is_known_by_its_id_alone_is_kept_so),
		TEST(a_container_in_a_container_has_nothing_but_its_pod),
		TEST(a_container_that_cannot_be_checked_has_no_name),
		TEST(a_users_container_has_the_name_of_the_users_record),
		TEST(a_users_record_names_nobody_elses_container),
		TEST(a_record_that_is_not_the_users_names_no_container_of_the_user),
		TEST(a_users_record_that_is_long_is_broken),
		TEST(a_users_record_says_no_pod),
		TEST(a_users_path_on_a_file_system_of_a_program_is_not_opened),
		TEST(a_users_path_with_a_link_is_not_followed),
		TEST(what_others_may_write_is_counted_and_not_read),
		TEST(hostile_names_become_harmless),
		TEST(hostile_images_become_harmless),
		TEST(an_image_without_room_is_left_out_and_counted),
		TEST(pods_have_no_names_that_kubernetes_does_not_allow),
		TEST(a_record_of_another_container_is_broken),
		TEST(what_is_no_json_is_broken),
		TEST(deep_and_long_records_are_broken),
		TEST(links_and_fifos_are_not_opened),
		TEST(a_linked_directory_stays_below_the_root),
		TEST(a_container_that_does_not_run_is_found_by_name_and_id),
		TEST(a_container_of_an_engine_elsewhere_is_found_when_it_does_not_run),
	};

	zygote_become(argc, argv, roles);
	return cmocka_run_group_tests(tests, NULL, NULL) +
	       cmocka_run_group_tests(tests, set_up_parsers, tear_down_parsers);
}
