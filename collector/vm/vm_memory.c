// SPDX-License-Identifier: Apache-2.0
/* Reads memory in few system calls, see vm_memory.h. */
#include "vm/vm_memory.h"

#include <errno.h>
#include <string.h>

#define AT_ONCE 512 /* pieces of one system call; IOV_MAX is 1024 */

/* Reads up to AT_ONCE pieces by one call. Returns how many were read whole. */
static size_t read_some(struct vm_memory *memory, struct vm_piece *pieces, size_t n)
{
	struct iovec to[AT_ONCE], from[AT_ONCE];
	size_t done = 0, asked = 0;
	ssize_t got;

	for (size_t i = 0; i < n; i++) {
		to[i] = (struct iovec){.iov_base = pieces[i].into, .iov_len = pieces[i].len};
		from[i] = (struct iovec){.iov_base = (void *)(uintptr_t)pieces[i].addr,
					 .iov_len = pieces[i].len};
		asked += pieces[i].len;
	}
	if (memory->bytes + asked > memory->max_bytes) {
		memory->err = -EDQUOT;
		return 0;
	}
	memory->reads++;
	got = memory->read(memory->arg, to, from, n);
	if (got < 0 && got != -EFAULT)
		memory->err = (int)got;
	if (got <= 0)
		return 0;
	memory->bytes += (uint64_t)got;
	while (done < n && (size_t)got >= pieces[done].len) {
		got -= (ssize_t)pieces[done].len;
		pieces[done++].is_read = true;
	}
	return done;
}

void vm_memory_gather(struct vm_memory *memory, struct vm_piece *pieces, size_t n)
{
	for (size_t i = 0; i < n; i++)
		pieces[i].is_read = false;
	memory->err = 0;
	for (size_t at = 0; at < n && !memory->err;) {
		const size_t some = n - at < AT_ONCE ? n - at : AT_ONCE;
		const size_t done = read_some(memory, pieces + at, some);

		at += done < some ? done + 1 : some; /* what cannot be read is passed over */
	}
}

int vm_memory_get(struct vm_memory *memory, uint64_t addr, void *into, size_t len)
{
	struct vm_piece piece = {.addr = addr, .into = into, .len = (uint32_t)len};

	if (len > UINT32_MAX || addr > UINT64_MAX - len)
		return -EFAULT;
	vm_memory_gather(memory, &piece, 1);
	if (piece.is_read)
		return 0;
	return memory->err ? memory->err : -EFAULT;
}

/* The page at a multiple of the page's size, or NULL and an error. */
static const uint8_t *keep_page(struct vm_memory *memory, uint64_t at, int *ret_err)
{
	const size_t place = (size_t)(at / VM_MEMORY_PAGE_BYTES % VM_MEMORY_PAGES);

	*ret_err = 0;
	if (at == 0)
		*ret_err = -EFAULT;
	if (at == 0 || memory->page_at[place] == at)
		return at == 0 ? NULL : memory->pages[place];
	memory->page_at[place] = 0;
	*ret_err = vm_memory_get(memory, at, memory->pages[place], VM_MEMORY_PAGE_BYTES);
	if (*ret_err)
		return NULL;
	memory->page_at[place] = at;
	return memory->pages[place];
}

int vm_memory_get_kept(struct vm_memory *memory, uint64_t addr, void *into, size_t len)
{
	uint8_t *to = into;

	if (addr > UINT64_MAX - len)
		return -EFAULT;
	while (len > 0) {
		const size_t in_page = (size_t)(addr % VM_MEMORY_PAGE_BYTES);
		const size_t left = VM_MEMORY_PAGE_BYTES - in_page;
		const size_t part = len < left ? len : left;
		int err;
		const uint8_t *const page = keep_page(memory, addr - in_page, &err);

		if (!page)
			return err;
		memcpy(to, page + in_page, part);
		to += part;
		addr += part;
		len -= part;
	}
	return 0;
}

int vm_memory_text(struct vm_memory *memory, uint64_t addr, char *ret, size_t size)
{
	size_t len = 0;

	while (len + 1 < size) {
		const size_t in_page = (size_t)(addr % VM_MEMORY_PAGE_BYTES);
		const size_t left = VM_MEMORY_PAGE_BYTES - in_page;
		const size_t part = size - 1 - len < left ? size - 1 - len : left;
		int err;
		const uint8_t *const page = keep_page(memory, addr - in_page, &err);
		const uint8_t *const end = page ? memchr(page + in_page, 0, part) : NULL;
		const size_t taken = end ? (size_t)(end - page) - in_page : part;

		ret[len] = '\0';
		if (!page)
			return err;
		memcpy(ret + len, page + in_page, taken);
		len += taken;
		ret[len] = '\0';
		if (end)
			return 0;
		addr += taken;
	}
	return -ENAMETOOLONG;
}

void vm_memory_forget(struct vm_memory *memory)
{
	memset(memory->page_at, 0, sizeof(memory->page_at));
}
