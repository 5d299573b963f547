// SPDX-License-Identifier: Apache-2.0
/*
 * Parses entries of an unwind table, see cfi_entry.h:
 *
 *   u32 length; ffffffff: u64 length follows      not counting itself; 0 ends .eh_frame
 *   u32 id, in .debug_frame u64 if length is      .eh_frame: 0 is a CIE, else an FDE, whose CIE
 *                                                 is id bytes before this id
 *                                                 .debug_frame: all ones is a CIE, else the CIE's
 *                                                 offset
 *   CIE: u8 version 1, 3 or 4; augmentation\0; version 4: u8 address size, u8 segment size;
 *        uleb code alignment; sleb data alignment; return register, u8 in version 1, else uleb;
 *        with z: uleb length, then by the augmentation's letters: L u8 encoding of the LSDA;
 *        P u8 encoding and pointer of the personality; R u8 encoding of the FDEs' addresses;
 *        S signal frame; B G marks of aarch64; then instructions
 *   FDE: address, length in the address's form; with z: uleb length and as many bytes; then
 *        instructions
 */
#include "elf/cfi_entry.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define LONG_LENGTH    UINT32_MAX
#define MAX_CODE_ALIGN 4096

int cfi_entry_next(const struct cfi_section *section, uint64_t *off, struct cfi_entry *ret)
{
	const bool is_debug = section->is_debug_frame;
	struct cfi_cursor rest, body;
	uint64_t start, length, id, id_off;
	bool is_long;

	do {
		if (*off >= section->len || section->len - *off < 4)
			return *off == section->len ? 0 : -ENOEXEC;
		start = *off;
		rest = (struct cfi_cursor){.at = section->bytes + start,
					   .end = section->bytes + section->len,
					   .elf_addr = section->elf_addr + start};
		length = cfi_cursor_read(&rest, 4);
		*off += 4;
		if (length == 0 && section->is_open_ended)
			return 0;
	} while (length == 0);
	is_long = length == LONG_LENGTH;
	if (is_long)
		length = cfi_cursor_read(&rest, 8);
	body = cfi_cursor_split(&rest, length);
	*off = (uint64_t)(rest.at - section->bytes);
	id_off = (uint64_t)(body.at - section->bytes);
	id = cfi_cursor_read(&body, is_debug && is_long ? 8 : 4);
	if (rest.is_broken || body.is_broken)
		return -ENOEXEC;
	*ret = (struct cfi_entry){.off = start, .at = body};
	if (is_debug) {
		ret->is_cie = id == (is_long ? UINT64_MAX : UINT32_MAX);
		ret->cie_off = id;
	} else {
		ret->is_cie = id == 0;
		ret->cie_off = id_off - id; /* may wrap; then no CIE is there */
	}
	return 1;
}

/* False: the meaning of a letter is not known, so what follows cannot be read. */
static bool read_augmentation(struct cfi_cursor *data, const char *letters, struct cfi_cie *cie)
{
	uint8_t encoding;

	for (; *letters; letters++) {
		switch (*letters) {
		case 'L':
			cfi_cursor_skip(data, 1);
			break;
		case 'P':
			encoding = (uint8_t)cfi_cursor_read(data, 1);
			if ((encoding & CFI_POINTER_BASE) == 0x50)
				return false; /* an aligned pointer; no compiler writes one */
			if (encoding != CFI_POINTER_OMITTED)
				cfi_cursor_read_form(data, encoding);
			break;
		case 'R':
			cie->context.encoding = (uint8_t)cfi_cursor_read(data, 1);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B':
		case 'G':
			break;
		default:
			return false;
		}
	}
	return !data->is_broken;
}

static uint64_t return_register(uint16_t machine)
{
	return machine == EM_X86_64 ? 16 : 30;
}

int cfi_entry_read_cie(const struct cfi_section *section, const struct cfi_entry *entry,
		       struct cfi_cie *ret)
{
	struct cfi_cie cie = {.off = entry->off};
	struct cfi_cursor at = entry->at, data;
	const uint64_t version = cfi_cursor_read(&at, 1);
	const char *letters = (const char *)at.at;
	const size_t letters_len = strnlen(letters, cfi_cursor_left(&at));
	uint64_t return_reg;

	cfi_cursor_skip(&at, letters_len + 1);
	if (at.is_broken || (version != 1 && version != 3 && version != 4))
		return -ENOEXEC;
	if (version == 4 && cfi_cursor_read(&at, 2) != 8) /* the low byte is an address's size */
		return -ENOEXEC;
	cie.context.machine = section->machine;
	cie.context.code_align = cfi_cursor_read_uleb(&at);
	cie.context.data_align = cfi_cursor_read_sleb(&at);
	return_reg = version == 1 ? cfi_cursor_read(&at, 1) : cfi_cursor_read_uleb(&at);
	if (cie.context.code_align > MAX_CODE_ALIGN ||
	    cie.context.data_align != (int32_t)cie.context.data_align ||
	    return_reg != return_register(section->machine))
		return -ENOEXEC;
	cie.has_length = letters[0] == 'z';
	if (cie.has_length) {
		const uint64_t bytes = cfi_cursor_read_uleb(&at);

		data = cfi_cursor_split(&at, bytes);
		if (!read_augmentation(&data, letters + 1, &cie))
			return -ENOEXEC;
	} else if (letters[0] != '\0') {
		return -ENOEXEC;
	}
	if (at.is_broken)
		return -ENOEXEC;
	cie.code = at;
	*ret = cie;
	return 0;
}

int cfi_entry_read_fde(const struct cfi_entry *entry, const struct cfi_cie *cie,
		       struct cfi_fde *ret)
{
	const uint8_t encoding = cie->context.encoding;
	struct cfi_cursor at = entry->at;
	const uint64_t start = cfi_cursor_read_pointer(&at, encoding);
	uint64_t bytes = cfi_cursor_read_form(&at, encoding);

	/* A length is unsigned, even if its form is signed. */
	if ((encoding & CFI_POINTER_FORM) == 0xb)
		bytes = (uint32_t)bytes;
	else if ((encoding & CFI_POINTER_FORM) == 0xa)
		bytes = (uint16_t)bytes;
	if (cie->has_length)
		cfi_cursor_skip(&at, cfi_cursor_read_uleb(&at));
	if (at.is_broken || bytes > UINT64_MAX - start)
		return -ENOEXEC;
	*ret = (struct cfi_fde){.start = start, .end = start + bytes, .code = at};
	return 0;
}
