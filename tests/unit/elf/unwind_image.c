// SPDX-License-Identifier: Apache-2.0
/* Headers, then .eh_frame_hdr and .eh_frame in one segment; the code's segment is empty. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/files.h"
#include "unwind_image.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#define HEADERS	     3
#define HDR_AT	     (sizeof(Elf64_Ehdr) + HEADERS * sizeof(Elf64_Phdr))
#define EH_FRAME_AT  (HDR_AT + 8)
#define POINTER_FORM 0x1b /* 4 bytes, relative to their place */

static void put(struct unwind_image *image, const void *data, size_t len)
{
	assert_true(len <= sizeof(image->bytes) - image->len);
	memcpy(image->bytes + image->len, data, len);
	image->len += len;
}

static void put_u32(struct unwind_image *image, uint32_t value)
{
	put(image, &value, sizeof(value));
}

void unwind_image_init(struct unwind_image *image, uint16_t machine)
{
	const Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = HEADERS,
	};
	const Elf64_Phdr segments[HEADERS] = {
		{.p_type = PT_LOAD,
		 .p_flags = PF_R,
		 .p_filesz = UNWIND_IMAGE_MAX,
		 .p_memsz = UNWIND_IMAGE_MAX},
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_X,
		 .p_vaddr = UNWIND_IMAGE_CODE,
		 .p_memsz = UNWIND_IMAGE_CODE_BYTES},
		{.p_type = PT_GNU_EH_FRAME,
		 .p_flags = PF_R,
		 .p_offset = HDR_AT,
		 .p_vaddr = HDR_AT,
		 .p_filesz = 8},
	};
	const unsigned char hdr[8] = {1, POINTER_FORM, 0xff, 0xff, 4};

	*image = (struct unwind_image){.machine = machine};
	put(image, &header, sizeof(header));
	put(image, segments, sizeof(segments));
	put(image, hdr, sizeof(hdr));
	assert_int_equal(image->len, EH_FRAME_AT);
}

static size_t begin(struct unwind_image *image)
{
	put_u32(image, 0);
	return image->len - 4;
}

void unwind_image_append(struct unwind_image *image, size_t entry, const void *code, size_t len)
{
	uint32_t length;

	put(image, code, len);
	length = (uint32_t)(image->len - entry - 4);
	memcpy(image->bytes + entry, &length, sizeof(length));
}

size_t unwind_image_add_cie(struct unwind_image *image, const char *augmentation, const void *code,
			    size_t len)
{
	const unsigned char x86[] = {1, 0x78, 16, 1, POINTER_FORM};
	const unsigned char arm[] = {1, 0x78, 30, 1, POINTER_FORM};
	const size_t entry = begin(image);

	put_u32(image, 0);
	put(image, "\1", 1);
	put(image, augmentation, strlen(augmentation) + 1);
	put(image, image->machine == EM_AARCH64 ? arm : x86, sizeof(x86));
	unwind_image_append(image, entry, code, len);
	return entry;
}

size_t unwind_image_add_fde(struct unwind_image *image, size_t cie, uint32_t start, uint32_t bytes)
{
	const size_t entry = begin(image);

	put_u32(image, (uint32_t)(image->len - cie));
	put_u32(image, UNWIND_IMAGE_CODE + start - (uint32_t)image->len);
	put_u32(image, bytes);
	unwind_image_append(image, entry, "", 1); /* no augmentation */
	return entry;
}

int unwind_image_load(const struct unwind_image *image, struct cfi_table **ret)
{
	const int fd = files_open_memory(image->bytes, image->len);
	int err;

	err = cfi_table_load(fd, ret);
	close(fd);
	return err;
}
