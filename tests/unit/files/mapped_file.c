// SPDX-License-Identifier: Apache-2.0
/* Mappings of files, see mapped_file.h. */
#include "mapped_file.h"

#include "memory/space_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PAGE 4096

static void find(struct mapped *mapped, const void *addr)
{
	const struct mapping *mapping;

	assert_int_equal(address_space_read(&mapped->space, getpid()), 0);
	mapping = address_space_find(&mapped->space, (uintptr_t)addr);
	assert_non_null(mapping);
	mapped->mapping = *mapping;
}

struct mapped mapped_file(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct mapped mapped = {0};

	assert_true(fd >= 0);
	mapped.at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mapped.at, MAP_FAILED);
	close(fd);
	find(&mapped, mapped.at);
	return mapped;
}

struct mapped mapped_address(const void *addr)
{
	struct mapped mapped = {0};

	find(&mapped, addr);
	return mapped;
}

void mapped_refresh(struct mapped *mapped)
{
	find(mapped, mapped->at);
}

void mapped_fini(struct mapped *mapped)
{
	if (mapped->at)
		munmap(mapped->at, PAGE);
	address_space_fini(&mapped->space);
}

struct mapping mapping_made_up(const char *path, uint64_t addr)
{
	struct mapping mapping = {.start = addr, .end = addr + PAGE, .path = path};
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	mapping.inode = st.st_ino;
	mapping.dev_major = major(st.st_dev);
	mapping.dev_minor = minor(st.st_dev);
	return mapping;
}
