// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a jar -> the class that it starts
 * units:   bytes
 * threads: any that may wait for the file
 * errors:  -EBADMSG: no such jar; -ENOENT: a jar that names no class; -E2BIG: larger than is read
 * source:  APPNOTE.TXT 6.3 (zip); the JAR File Specification, "JAR Manifest"; Spring Boot, "The
 *          Executable Jar Format"
 *
 * A jar is a zip file. At its end is a record that says how long the directory in front of it is;
 * the directory's entries name files and say where each begins. The manifest is the file
 * META-INF/MANIFEST.MF: lines "Name: value" up to an empty line, where a line that begins with a
 * blank goes on with the line before. Main-Class is what java -jar runs. Where that is a launcher,
 * as Spring Boot's, Start-Class is what the launcher runs. Jars of more than 65,535 files (zip64)
 * are not read.
 *
 * The file is a container's, and hostile: every number in it is checked.
 */
#ifndef FG_CONTAINER_JAR_MANIFEST_H
#define FG_CONTAINER_JAR_MANIFEST_H

#include <stddef.h>

#define JAR_CLASS_BYTES 256 /* of a class's name, with its NUL */

/* Reads from the open file by pread(2). */
int jar_manifest_read(int fd, char ret[JAR_CLASS_BYTES]);
/* Reads the manifest's text, whose end may be missing. */
int jar_manifest_parse(const char *text, size_t len, char ret[JAR_CLASS_BYTES]);

#endif
