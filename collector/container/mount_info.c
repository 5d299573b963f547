// SPDX-License-Identifier: Apache-2.0
/* Parses mountinfo, see mount_info.h. Blanks in a field are octal, such as \040. */
#include "container/mount_info.h"

#include <string.h>

#define FIELDS 6 /* before the optional ones, which end with "-" */

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

static bool parse_line(char *line, struct mount_info *ret)
{
	char *fields[FIELDS], *field;

	for (size_t i = 0; i < FIELDS; i++) {
		fields[i] = next_field(&line);
		if (!fields[i])
			return false;
	}
	*ret = (struct mount_info){
		.root = fields[3], .point = fields[4], .type = "", .options = ""};
	unescape(fields[3]);
	unescape(fields[4]);
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

bool mount_info_next(char **at, struct mount_info *ret)
{
	char *line;

	while ((line = next_line(at))) {
		if (parse_line(line, ret))
			return true;
	}
	return false;
}

/* Whether the path is the mount point or lies below it. */
static bool is_below(const char *path, const char *point)
{
	const size_t len = strcmp(point, "/") == 0 ? 0 : strlen(point);

	return strncmp(path, point, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

bool mount_info_type_of(char *text, const char *path, char *ret, size_t size)
{
	struct mount_info mount;
	bool is_found = false;

	/* A mount stands behind the mount that it is in, and behind what it hides. */
	while (mount_info_next(&text, &mount)) {
		if (!is_below(path, mount.point))
			continue;
		is_found = mount.type[0] && strlen(mount.type) < size;
		if (is_found)
			strcpy(ret, mount.type);
	}
	return is_found;
}
