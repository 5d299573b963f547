// SPDX-License-Identifier: Apache-2.0
/*
 * The names that the collector wants, over all JDKs. A field that was renamed is listed under each
 * of its names; a JVM has one of them. Their uses:
 *
 *   CodeCache, CodeHeap, VirtualSpace, HeapBlock   an address -> the blob that holds it
 *   CodeBlob, nmethod, CompiledMethod, PcDesc      its kind, frame size, method, inlining
 *   Method, ConstMethod, ConstantPool, Klass, ...  the name of an interpreted method
 *   JavaThread, JavaFrameAnchor, JavaCallWrapper   from native code to the Java frame below it
 *   ContinuationEntry, CompressedOops              to a virtual thread's frames in the heap
 *   ZHeap, ZForwarding, ...                        to frames that ZGC has moved
 */
#include "hotspot/wanted.h"

#include <string.h>

static const char *const fields[] = {
	"CodeCache::_heap",
	"CodeCache::_heaps",
	"CodeCache::_low_bound",
	"CodeCache::_high_bound",
	"CodeHeap::_memory",
	"CodeHeap::_segmap",
	"CodeHeap::_log2_segment_size",
	"GrowableArrayBase::_len",
	"GenericGrowableArray::_len",
	"GrowableArray<int>::_data",
	"HeapBlock::_header",
	"HeapBlock::Header::_length",
	"HeapBlock::Header::_used",
	"VirtualSpace::_low_boundary",
	"VirtualSpace::_high_boundary",
	"VirtualSpace::_low",
	"VirtualSpace::_high",
	"CodeBlob::_name",
	"CodeBlob::_kind",
	"CodeBlob::_size",
	"CodeBlob::_header_size",
	"CodeBlob::_frame_size",
	"CodeBlob::_frame_complete_offset",
	"CodeBlob::_code_begin",
	"CodeBlob::_code_end",
	"CodeBlob::_code_offset",
	"CodeBlob::_content_begin",
	"CodeBlob::_content_offset",
	"CodeBlob::_data_offset",
	"CodeBlob::_data_end",
	"CodeBlob::_relocation_size",
	"CodeBlob::_mutable_data",
	"CodeBlob::_mutable_data_size",
	"CompiledMethod::_method",
	"CompiledMethod::_scopes_data_begin",
	"CompiledMethod::_deopt_handler_begin",
	"nmethod::_method",
	"nmethod::_comp_level",
	"nmethod::_compile_id",
	"nmethod::_state",
	"nmethod::_entry_bci",
	"nmethod::_entry_point",
	"nmethod::_entry_offset",
	"nmethod::_verified_entry_point",
	"nmethod::_verified_entry_offset",
	"nmethod::_osr_entry_point",
	"nmethod::_orig_pc_offset",
	"nmethod::_exception_offset",
	"nmethod::_deopt_handler_begin",
	"nmethod::_deopt_handler_offset",
	"nmethod::_stub_offset",
	"nmethod::_consts_offset",
	"nmethod::_oops_offset",
	"nmethod::_metadata_offset",
	"nmethod::_scopes_data_begin",
	"nmethod::_scopes_data_offset",
	"nmethod::_scopes_pcs_offset",
	"nmethod::_dependencies_offset",
	"nmethod::_handler_table_offset",
	"nmethod::_immutable_data",
	"nmethod::_immutable_data_size",
	"PcDesc::_pc_offset",
	"PcDesc::_scope_decode_offset",
	"PcDesc::_obj_decode_offset",
	"PcDesc::_flags",
	"DeoptimizationBlob::_unpack_offset",
	"Method::_constMethod",
	"Method::_access_flags",
	"Method::_code",
	"Method::_i2i_entry",
	"Method::_from_compiled_entry",
	"ConstMethod::_constants",
	"ConstMethod::_constMethod_size",
	"ConstMethod::_flags",
	"ConstMethod::_flags._flags",
	"ConstMethod::_code_size",
	"ConstMethod::_method_idnum",
	"ConstMethod::_name_index",
	"ConstMethod::_signature_index",
	"ConstantPool::_pool_holder",
	"ConstantPool::_length",
	"ConstantPool::_tags",
	"ConstantPool::_source_file_name_index",
	"InstanceKlass::_constants",
	"InstanceKlass::_methods",
	"InstanceKlass::_source_file_name_index",
	"Klass::_name",
	"Symbol::_length",
	"Symbol::_body",
	"Symbol::_body[0]",
	"AbstractInterpreter::_code",
	"StubQueue::_stub_buffer",
	"StubQueue::_buffer_limit",
	"InterpreterCodelet::_size",
	"InterpreterCodelet::_description",
	"StubRoutines::_call_stub_return_address",
	"ContinuationEntry::_return_pc",
	"CompressedOops::_base",
	"CompressedOops::_shift",
	"CompressedOops::_narrow_oop._base",
	"CompressedOops::_narrow_oop._shift",
	"Universe::_collectedHeap",
	"ZCollectedHeap::_heap",
	"ZHeap::_page_table",
	"ZGlobalsForVMStructs::_instance_p",
	"ZGlobalsForVMStructs::_ZAddressOffsetMask",
	"ZGlobalsForVMStructs::_ZPointerLoadBadMask",
	"ZForwarding::_virtual",
	"ZForwarding::_object_alignment_shift",
	"ZForwarding::_entries",
	"ZVirtualMemory::_start",
	"ZVirtualMemory::_size",
	"ZAttachedArrayForForwarding::_length",
	"JavaCallWrapper::_anchor",
	"JavaFrameAnchor::_last_Java_sp",
	"JavaFrameAnchor::_last_Java_pc",
	"JavaFrameAnchor::_last_Java_fp",
	"JavaThread::_anchor",
	"JavaThread::_osthread",
	"JavaThread::_threadObj",
	"JavaThread::_vthread",
	"JavaThread::_cont_entry",
	"JavaThread::_stack_base",
	"JavaThread::_stack_size",
	"JavaThread::_thread_state",
	"Thread::_osthread",
	"Thread::_stack_base",
	"Thread::_stack_size",
	"OSThread::_thread_id",
	"ThreadsSMRSupport::_java_thread_list",
	"ThreadsList::_length",
	"ThreadsList::_threads",
};

/* Keys as they are sent, with the type in parentheses. */
static const char *const sizes[] = {
	"sizeof(CodeBlob)",    "sizeof(CodeHeap)",	  "sizeof(HeapBlock)",
	"sizeof(nmethod)",     "sizeof(CompiledMethod)",  "sizeof(BufferBlob)",
	"sizeof(PcDesc)",      "sizeof(Method)",	  "sizeof(ConstMethod)",
	"sizeof(Symbol)",      "sizeof(ConstantPool)",	  "sizeof(InstanceKlass)",
	"sizeof(RuntimeStub)", "sizeof(JavaCallWrapper)", "sizeof(InterpreterCodelet)",
	"sizeof(ZForwarding)",
};

static const char *const constants[] = {
	"constant frame::entry_frame_call_wrapper_offset",
	"constant frame::interpreter_frame_sender_sp_offset",
	"constant frame::interpreter_frame_last_sp_offset",
	"constant frame::pc_return_offset",
	"constant frame::arg_reg_save_area_bytes",
	"constant InvocationEntryBci",
	"constant BytesPerWord",
	"constant CodeBlobKind::Nmethod",
	"constant CodeBlobKind::Buffer",
	"constant CodeBlobKind::Adapter",
	"constant CodeBlobKind::Vtable",
	"constant CodeBlobKind::RuntimeStub",
	"constant ConstMethod::_has_linenumber_table",
	"constant ConstMethodFlags::_misc_has_linenumber_table",
	"constant CompLevel_none",
	"constant CompLevel_simple",
	"constant CompLevel_limited_profile",
	"constant CompLevel_full_profile",
	"constant CompLevel_full_optimization",
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
_Static_assert(COUNT(fields) + COUNT(sizes) + COUNT(constants) <= WANTED_MAX,
	       "every wanted value has room");

struct found {
	struct wire_value *values;
	size_t n;
};

static void add(struct found *found, const char *key, int64_t value)
{
	if (found->n < WANTED_MAX)
		found->values[found->n++] =
			(struct wire_value){.key = wire_str_from(key), .value = value};
}

/* Whether key consists of type, "::" and name. */
static bool is_field(const char *key, const struct vmstructs_field *field)
{
	const size_t type_len = strlen(field->type);

	return strncmp(key, field->type, type_len) == 0 && strncmp(key + type_len, "::", 2) == 0 &&
	       strcmp(key + type_len + 2, field->name) == 0;
}

static void collect_fields(const struct vmstructs *vm, struct found *found)
{
	struct vmstructs_field field;

	for (size_t pos = 0; vmstructs_next_field(vm, &pos, &field);) {
		for (size_t i = 0; i < COUNT(fields); i++) {
			if (fields[i][0] == field.type[0] && is_field(fields[i], &field))
				add(found, fields[i], (int64_t)field.value);
		}
	}
}

/* Whether key consists of before, name and after. */
static bool is_wrapped(const char *key, const char *before, const char *name, const char *after)
{
	const size_t before_len = strlen(before), name_len = strlen(name);

	return strncmp(key, before, before_len) == 0 &&
	       strncmp(key + before_len, name, name_len) == 0 &&
	       strcmp(key + before_len + name_len, after) == 0;
}

static void collect_sizes(const struct vmstructs *vm, struct found *found)
{
	struct vmstructs_number number;

	for (size_t pos = 0; vmstructs_next_type_size(vm, &pos, &number);) {
		for (size_t i = 0; i < COUNT(sizes); i++) {
			if (is_wrapped(sizes[i], "sizeof(", number.name, ")"))
				add(found, sizes[i], number.value);
		}
	}
}

static void collect_constant(const struct vmstructs_number *number, struct found *found)
{
	for (size_t i = 0; i < COUNT(constants); i++) {
		if (is_wrapped(constants[i], "constant ", number->name, ""))
			add(found, constants[i], number->value);
	}
}

size_t wanted_collect(const struct vmstructs *vm, struct wire_value values[WANTED_MAX])
{
	struct found found = {.values = values};
	struct vmstructs_number number;

	collect_fields(vm, &found);
	collect_sizes(vm, &found);
	for (size_t pos = 0; vmstructs_next_int(vm, &pos, &number);)
		collect_constant(&number, &found);
	for (size_t pos = 0; vmstructs_next_long(vm, &pos, &number);)
		collect_constant(&number, &found);
	return found.n;
}
