// SPDX-License-Identifier: Apache-2.0
/* Parses mountinfo, see mount_info.h. Blanks in a field are octal, such as \040. */
#include "container/mount_info.h"

#include <stdio.h>
#include <string.h>

struct mount_line {
	char *device, *root, *point;
	char *type, *options; /* of the file system; "" if the line lacks it */
};

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (from[0] == '\\' && is_octal(from[1]) && is_octal(from[2]) &&
		    is_octal(from[3])) {
			*to++ = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

/* The next field of a line, terminated; NULL at the line's end. */
static char *next_field(char **at)
{
	char *field = *at + strspn(*at, " ");
	const size_t len = strcspn(field, " ");

	if (len == 0)
		return NULL;
	*at = field + len + (field[len] != '\0');
	field[len] = '\0';
	return field;
}

static bool parse_line(char *line, struct mount_line *ret)
{
	static char none[] = "";
	char *fields[6], *field;

	for (size_t i = 0; i < 6; i++) {
		fields[i] = next_field(&line);
		if (!fields[i])
			return false;
	}
	*ret = (struct mount_line){.device = fields[2],
				   .root = fields[3],
				   .point = fields[4],
				   .type = none,
				   .options = none};
	unescape(ret->root);
	unescape(ret->point);
	while ((field = next_field(&line)) && strcmp(field, "-") != 0)
		;
	if (!field || !(field = next_field(&line)))
		return true;
	ret->type = field;
	if (next_field(&line) && (field = next_field(&line)))
		ret->options = field;
	return true;
}

/* The next line, terminated; NULL at the end. */
static char *next_line(char **at)
{
	char *line = *at;
	const size_t len = strcspn(line, "\n");

	if (!*line)
		return NULL;
	*at = line + len + (line[len] == '\n');
	line[len] = '\0';
	return line;
}

static bool is_one_of(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(text, words[i]) == 0)
			return true;
	}
	return false;
}

/* Files such as /etc/hostname are mounted from the directory of the container's records. */
static void take_hostname(const struct mount_line *line, struct mount_info *ret)
{
	static const char *const points[] = {"/etc/hostname", "/etc/hosts", "/etc/resolv.conf"};

	if (ret->hostname_path[0] ||
	    !is_one_of(line->point, points, sizeof(points) / sizeof(points[0])))
		return;
	if (container_id_of_path(line->root, ret->id) < 0 ||
	    strlen(line->root) >= sizeof(ret->hostname_path) ||
	    strlen(line->device) >= sizeof(ret->hostname_device))
		return;
	strcpy(ret->hostname_path, line->root);
	strcpy(ret->hostname_device, line->device);
}

/* Reads "pods/<uid>/..." in one of the kubelet's paths. */
static void take_kubelet(const struct mount_line *line, struct mount_info *ret)
{
	static const char pods[] = "/pods/", containers[] = "/containers/";
	const char *at = strstr(line->root, pods), *name;
	size_t len;

	if (!at)
		return;
	at += sizeof(pods) - 1;
	len = strcspn(at, "/");
	if (!container_is_pod_uid(at, len))
		return;
	if (!ret->pod_uid[0])
		snprintf(ret->pod_uid, sizeof(ret->pod_uid), "%.*s", (int)len, at);
	if (strncmp(at + len, containers, sizeof(containers) - 1) != 0 ||
	    strncmp(at, ret->pod_uid, len) != 0 || ret->container_name[0])
		return;
	name = at + len + sizeof(containers) - 1;
	len = strcspn(name, "/");
	if (container_is_pod_name(name, len))
		snprintf(ret->container_name, sizeof(ret->container_name), "%.*s", (int)len, name);
}

static void take_upper_dir(const struct mount_line *line, struct mount_info *ret)
{
	static const char key[] = "upperdir=";
	char *at = line->options;

	if (strcmp(line->point, "/") != 0 || strcmp(line->type, "overlay") != 0)
		return;
	while (*at && strncmp(at, key, sizeof(key) - 1) != 0) {
		at += strcspn(at, ",");
		at += *at == ',';
	}
	if (!*at)
		return;
	at += sizeof(key) - 1;
	at[strcspn(at, ",")] = '\0';
	unescape(at);
	if (at[0] == '/' && strlen(at) < sizeof(ret->upper_dir))
		strcpy(ret->upper_dir, at);
}

void mount_info_parse(char *text, struct mount_info *ret)
{
	struct mount_line line;
	char *at = text, *part;

	*ret = (struct mount_info){0};
	while ((part = next_line(&at))) {
		if (!parse_line(part, &line))
			continue;
		take_hostname(&line, ret);
		take_kubelet(&line, ret);
		take_upper_dir(&line, ret);
	}
}

/* The rest of path below root, or NULL: "/a/b" below "/a" is "/b". */
static const char *below(const char *path, const char *root)
{
	const size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);

	return strncmp(path, root, len) == 0 && path[len] == '/' ? path + len : NULL;
}

bool mount_info_place(char *text, const struct mount_info *of, unsigned number, char ret[PATH_MAX])
{
	struct mount_line line;
	char *at = text, *part;

	while ((part = next_line(&at))) {
		const char *rest;
		int len;

		if (!parse_line(part, &line) || strcmp(line.device, of->hostname_device) != 0)
			continue;
		rest = below(of->hostname_path, line.root);
		if (!rest || number-- > 0)
			continue;
		len = snprintf(ret, PATH_MAX, "%s%s",
			       strcmp(line.point, "/") == 0 ? "" : line.point, rest);
		return len > 0 && len < PATH_MAX;
	}
	return false;
}
