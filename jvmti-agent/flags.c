// SPDX-License-Identifier: Apache-2.0
/*
 * Switches PreserveFramePointer on before the JVM generates its first code.
 *
 * The flags are an array of structs {address of the value, name, bits}. The low four bits are the
 * value's origin: 0 is the default, 5 is "ergonomic", the JVM's own choice. The agent sets
 * "ergonomic", so that jcmd VM.flags and crash reports show the change. The struct is called Flag
 * with fields addr, name, flags on JDK 8, and JVMFlag with an underscore before each field later.
 */
#include "flags.h"

#include <string.h>

#define ORIGIN_MASK	 15
#define ORIGIN_ERGONOMIC 5

struct layout {
	const char *array;
	size_t count, stride;
	size_t name, addr, bits;
};

static bool find_array(const struct vmstructs *vm, const char *type, struct layout *ret)
{
	const char *const *array = vmstructs_find_static(vm, type, "flags");
	const size_t *count = vmstructs_find_static(vm, type, "numFlags");

	if (!array || !module_holds(&vm->module, array, sizeof(*array), PF_R) || !count ||
	    !module_holds(&vm->module, count, sizeof(*count), PF_R))
		return false;
	ret->array = *array;
	ret->count = *count;
	return vmstructs_find_type_size(vm, type, &ret->stride) && ret->stride >= 20 &&
	       ret->stride < 4096 && ret->count < 100000 &&
	       module_holds(&vm->module, ret->array, ret->count * ret->stride, PF_R | PF_W);
}

static bool find_layout(const struct vmstructs *vm, struct layout *ret)
{
	const bool found = (find_array(vm, "JVMFlag", ret) &&
			    vmstructs_find_offset(vm, "JVMFlag", "_name", &ret->name) &&
			    vmstructs_find_offset(vm, "JVMFlag", "_addr", &ret->addr) &&
			    vmstructs_find_offset(vm, "JVMFlag", "_flags", &ret->bits)) ||
			   (find_array(vm, "JVMFlag", ret) &&
			    vmstructs_find_offset(vm, "JVMFlag", "name", &ret->name) &&
			    vmstructs_find_offset(vm, "JVMFlag", "addr", &ret->addr) &&
			    vmstructs_find_offset(vm, "JVMFlag", "flags", &ret->bits)) ||
			   (find_array(vm, "Flag", ret) &&
			    vmstructs_find_offset(vm, "Flag", "name", &ret->name) &&
			    vmstructs_find_offset(vm, "Flag", "addr", &ret->addr) &&
			    vmstructs_find_offset(vm, "Flag", "flags", &ret->bits));

	return found && ret->name + 8 <= ret->stride && ret->addr + 8 <= ret->stride &&
	       ret->bits + 4 <= ret->stride;
}

/*
 * Finds the struct of a flag and its value's byte, both of which can be written. NULL: not found.
 */
static char *find_flag(const struct vmstructs *vm, const struct layout *at, const char *wanted,
		       uint8_t **ret_value)
{
	for (size_t i = 0; i < at->count; i++) {
		const char *flag = at->array + i * at->stride;
		const char *name;

		memcpy(&name, flag + at->name, sizeof(name));
		if (!name || !module_holds(&vm->module, name, strlen(wanted) + 1, PF_R) ||
		    strcmp(name, wanted) != 0)
			continue;
		memcpy(ret_value, flag + at->addr, sizeof(*ret_value));
		if (!module_holds(&vm->module, *ret_value, 1, PF_R | PF_W))
			return NULL;
		return (char *)(uintptr_t)flag;
	}
	return NULL;
}

enum flags_fp flags_set_framepointer(const struct vmstructs *vm, enum options_framepointer mode)
{
	struct layout at = {0};
	uint8_t *value = NULL;
	uint32_t bits;
	char *flag;

	if (!find_layout(vm, &at))
		return FLAGS_FP_UNKNOWN;
	flag = find_flag(vm, &at, "PreserveFramePointer", &value);
	if (!flag)
		return FLAGS_FP_UNKNOWN;
	if (*value != 0)
		return FLAGS_FP_WAS_ON;
	memcpy(&bits, flag + at.bits, sizeof(bits));
	if (mode == OPTIONS_FP_OFF || (mode == OPTIONS_FP_AUTO && (bits & ORIGIN_MASK) != 0))
		return FLAGS_FP_LEFT;
	bits = (bits & ~(uint32_t)ORIGIN_MASK) | ORIGIN_ERGONOMIC;
	memcpy(flag + at.bits, &bits, sizeof(bits));
	*value = 1;
	return FLAGS_FP_SET;
}
