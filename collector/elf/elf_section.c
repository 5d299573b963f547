// SPDX-License-Identifier: Apache-2.0
/* Reads sections with libelf, within limits that libelf does not have, see elf_section.h. */
#include "elf/elf_section.h"

#include <errno.h>
#include <string.h>

#define MAX_NAMES_BYTES (16u << 20)

/* Whether libelf can give the names of sections without reading much. */
static bool has_names(Elf *elf, size_t *ret_index)
{
	GElf_Shdr header;

	return elf_getshdrstrndx(elf, ret_index) == 0 &&
	       gelf_getshdr(elf_getscn(elf, *ret_index), &header) && header.sh_type == SHT_STRTAB &&
	       !(header.sh_flags & SHF_COMPRESSED) && header.sh_size <= MAX_NAMES_BYTES;
}

Elf_Scn *elf_section_find(const struct elf_file *file, const char *name, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (!has_names(file->elf, &names))
		return NULL;
	while ((section = elf_nextscn(file->elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, ret_header) || ret_header->sh_type == SHT_NULL ||
		    ret_header->sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(file->elf, names, ret_header->sh_name);
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

static int uncompress(Elf_Scn *section, uint64_t max_bytes)
{
	GElf_Chdr compressed;

	if (!gelf_getchdr(section, &compressed))
		return -ENOEXEC;
	if (compressed.ch_size > max_bytes)
		return -EFBIG;
	return elf_compress(section, 0, 0) < 0 ? -ENOEXEC : 0;
}

int elf_section_read(Elf_Scn *section, uint64_t max_bytes, Elf_Data **ret)
{
	GElf_Shdr header;
	Elf_Data *data;
	int err;

	if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
		return -ENOEXEC;
	if (header.sh_size > max_bytes)
		return -EFBIG;
	if (header.sh_flags & SHF_COMPRESSED) {
		err = uncompress(section, max_bytes);
		if (err)
			return err;
	}
	data = elf_getdata(section, NULL);
	if (!data || !data->d_buf)
		return -ENOEXEC;
	*ret = data;
	return 0;
}
