// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes records of perf's ring buffers, see perf_parse.h. The kernel writes them as PARSED_TYPE
 * asks for. Every record starts with {u32 type, u16 misc, u16 size}.
 *
 *   SAMPLE       ip u64, pid u32, tid u32, time u64, cpu u32, 0 u32, period u64,
 *                nr u64, nr times u64
 *                with PARSED_TYPE_STACK these follow:
 *                abi u64, unless abi is 0: SAMPLE_REGS_COUNT times u64,
 *                size u64, unless size is 0: size bytes, real u64 (bytes that hold the stack)
 *                with PARSED_TYPE_EXEC only pid u32, tid u32, time u64, cpu u32, 0 u32
 *   MMAP2        pid u32, tid u32, addr u64, len u64, pgoff u64, maj u32, min u32, ino u64,
 *                generation u64, prot u32, flags u32, file name
 *   COMM         pid u32, tid u32, name
 *   FORK, EXIT   pid u32, ppid u32, tid u32, ptid u32, time u64
 *   KSYMBOL      addr u64, len u32, type u16, flags u16, name
 *   LOST         id u64, lost u64      LOST_SAMPLES lost u64      THROTTLE time, id, stream u64
 *
 * All records but SAMPLE end with the sample ID: pid u32, tid u32, time u64, cpu u32, 0 u32.
 */
#include "sample/perf_parse.h"

#include "base/unaligned.h"
#include "sample/sample_regs.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#define SAMPLE_ID_BYTES 24

/* Takes the next u64 of a record. False: the record is too short. */
static bool take_u64(const unsigned char *p, size_t len, size_t *off, uint64_t *ret)
{
	if (len - *off < sizeof(*ret))
		return false;
	*ret = unaligned_u64(p, *off);
	*off += sizeof(*ret);
	return true;
}

/* Reads registers and snapshot, from off on. */
static int parse_stack(const unsigned char *p, size_t len, size_t off, struct sample *ret)
{
	const size_t regs_bytes = SAMPLE_REGS_COUNT * sizeof(uint64_t);
	uint64_t abi, size, real;
	size_t regs_off, stack_off;

	if (!take_u64(p, len, &off, &abi))
		return -EBADMSG;
	regs_off = off;
	if (abi != PERF_SAMPLE_REGS_ABI_NONE) {
		if (len - off < regs_bytes)
			return -EBADMSG;
		off += regs_bytes;
	}
	if (!take_u64(p, len, &off, &size) || size > len - off)
		return -EBADMSG;
	stack_off = off;
	off += size;
	if (size > 0 && (!take_u64(p, len, &off, &real) || real > size))
		return -EBADMSG;
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return 0;
	ret->regs = (const uint64_t *)(const void *)(p + regs_off);
	if (size > 0 && real > 0) {
		ret->stack = p + stack_off;
		ret->stack_len = (uint32_t)real;
	}
	return 0;
}

/*
 * After a mark come addresses of that part. The first part of a kind counts: there is one, as
 * samples of guests are not asked for.
 */
void perf_split_chain(const uint64_t *chain, uint32_t len, struct sample *ret)
{
	struct sample_chain other = {0}, *part = &other;

	ret->kernel = ret->user = (struct sample_chain){0};
	for (uint32_t i = 0; i < len; i++) {
		if (chain[i] < (uint64_t)PERF_CONTEXT_MAX) {
			part->len++;
			continue;
		}
		part = &other;
		if (chain[i] == (uint64_t)PERF_CONTEXT_KERNEL && !ret->kernel.addrs)
			part = &ret->kernel;
		else if (chain[i] == (uint64_t)PERF_CONTEXT_USER && !ret->user.addrs)
			part = &ret->user;
		*part = (struct sample_chain){.addrs = chain + i + 1};
	}
}

static int parse_sample(const struct perf_event_header *header, uint64_t sample_type,
			struct record *ret)
{
	const unsigned char *p = (const unsigned char *)(header + 1);
	const size_t len = header->size - sizeof(*header);
	const size_t fixed = 48;
	struct record record;
	uint64_t n;

	if (len < fixed)
		return -EBADMSG;
	n = unaligned_u64(p, 40);
	if (n > (len - fixed) / 8)
		return -EBADMSG;
	record = (struct record){
		.kind = RECORD_SAMPLE,
		.pid = (pid_t)unaligned_u32(p, 8),
		.tid = (pid_t)unaligned_u32(p, 12),
		.time_ns = unaligned_u64(p, 16),
		.cpu = unaligned_u32(p, 24),
		.sample = {.period = unaligned_u64(p, 32),
			   .weight = 1,
			   .is_exact = header->misc & PERF_RECORD_MISC_EXACT_IP},
	};
	perf_split_chain((const uint64_t *)(const void *)(p + fixed), (uint32_t)n, &record.sample);
	if (sample_type & PERF_SAMPLE_STACK_USER &&
	    parse_stack(p, len, fixed + n * sizeof(uint64_t), &record.sample) < 0)
		return -EBADMSG;
	*ret = record;
	return 1;
}

/*
 * Reads a record of the exec tracepoint. Its fields are those of the ID at the end of other
 * records.
 */
static int parse_exec(const unsigned char *p, size_t len, struct record *ret)
{
	if (len != SAMPLE_ID_BYTES)
		return -EBADMSG;
	*ret = (struct record){
		.kind = RECORD_EXEC,
		.pid = (pid_t)unaligned_u32(p, 0),
		.tid = (pid_t)unaligned_u32(p, 4),
		.time_ns = unaligned_u64(p, 8),
		.cpu = unaligned_u32(p, 16),
	};
	return 1;
}

/* The terminated text in [p, p + len), or NULL. */
static const char *text_within(const unsigned char *p, size_t len)
{
	return memchr(p, 0, len) ? (const char *)p : NULL;
}

static int parse_mmap2(const unsigned char *p, size_t len, struct record *ret)
{
	const size_t fixed = 64;
	const char *path;

	if (len < fixed)
		return -EBADMSG;
	path = text_within(p + fixed, len - fixed);
	if (!path)
		return -EBADMSG;
	if (!(unaligned_u32(p, 56) & PROT_EXEC))
		return 0;
	ret->kind = RECORD_MMAP;
	ret->pid = (pid_t)unaligned_u32(p, 0);
	ret->tid = (pid_t)unaligned_u32(p, 4);
	ret->mmap = (struct record_mmap){
		.addr = unaligned_u64(p, 8),
		.len = unaligned_u64(p, 16),
		.file_off = unaligned_u64(p, 24),
		.dev_major = unaligned_u32(p, 32),
		.dev_minor = unaligned_u32(p, 36),
		.inode = unaligned_u64(p, 40),
		.path = path,
	};
	return 1;
}

/*
 * Reads a COMM record. Only a name given by exec counts; a name that a thread gives itself does
 * not.
 */
static int parse_comm(const unsigned char *p, size_t len, uint16_t misc, struct record *ret)
{
	if (len <= 8 || !text_within(p + 8, len - 8))
		return -EBADMSG;
	ret->kind = RECORD_EXEC;
	return misc & PERF_RECORD_MISC_COMM_EXEC ? 1 : 0;
}

static int parse_fork_exit(const unsigned char *p, size_t len, enum record_kind kind,
			   struct record *ret)
{
	if (len < 24)
		return -EBADMSG;
	ret->kind = kind;
	ret->pid = (pid_t)unaligned_u32(p, 0);
	ret->tid = (pid_t)unaligned_u32(p, 8);
	ret->fork.parent_pid = (pid_t)unaligned_u32(p, 4);
	return 1;
}

static int parse_ksymbol(const unsigned char *p, size_t len, struct record *ret)
{
	const size_t fixed = 16;
	const char *name = len > fixed ? text_within(p + fixed, len - fixed) : NULL;
	uint16_t type, flags;

	if (!name)
		return -EBADMSG;
	memcpy(&type, p + 12, sizeof(type));
	memcpy(&flags, p + 14, sizeof(flags));
	ret->kind = RECORD_KSYMBOL;
	ret->ksymbol = (struct record_ksymbol){
		.addr = unaligned_u64(p, 0),
		.len = unaligned_u32(p, 8),
		.is_bpf = type == PERF_RECORD_KSYMBOL_TYPE_BPF,
		.is_gone = flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER,
		.name = name,
	};
	return 1;
}

static int parse_lost(const unsigned char *p, size_t len, size_t off, struct record *ret)
{
	if (len < off + 8)
		return -EBADMSG;
	ret->kind = RECORD_LOST;
	ret->lost = unaligned_u64(p, off);
	return 1;
}

int perf_parse(const void *data, size_t len, uint64_t sample_type, struct record *ret)
{
	const struct perf_event_header *header = data;
	const unsigned char *p = (const unsigned char *)data + sizeof(*header);
	struct record record = {0};
	size_t id_off;
	int n;

	if (len < sizeof(*header) + SAMPLE_ID_BYTES || header->size != len)
		return -EBADMSG;
	len -= sizeof(*header);
	if (header->type == PERF_RECORD_SAMPLE && sample_type == PARSED_TYPE_EXEC)
		return parse_exec(p, len, ret);
	if (header->type == PERF_RECORD_SAMPLE)
		return parse_sample(header, sample_type, ret);
	id_off = len - SAMPLE_ID_BYTES;
	record.pid = (pid_t)unaligned_u32(p, id_off);
	record.tid = (pid_t)unaligned_u32(p, id_off + 4);
	record.time_ns = unaligned_u64(p, id_off + 8);
	record.cpu = unaligned_u32(p, id_off + 16);
	switch (header->type) {
	case PERF_RECORD_MMAP2:
		n = parse_mmap2(p, id_off, &record);
		break;
	case PERF_RECORD_COMM:
		n = parse_comm(p, id_off, header->misc, &record);
		break;
	case PERF_RECORD_FORK:
		n = parse_fork_exit(p, id_off, RECORD_FORK, &record);
		break;
	case PERF_RECORD_EXIT:
		n = parse_fork_exit(p, id_off, RECORD_EXIT, &record);
		break;
	case PERF_RECORD_KSYMBOL:
		n = parse_ksymbol(p, id_off, &record);
		break;
	case PERF_RECORD_LOST:
		n = parse_lost(p, id_off, 8, &record);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		n = parse_lost(p, id_off, 0, &record);
		break;
	case PERF_RECORD_THROTTLE:
		record.kind = RECORD_THROTTLED;
		n = 1;
		break;
	default:
		return 0;
	}
	if (n > 0)
		*ret = record;
	return n;
}
