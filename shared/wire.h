// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes of one message <-> structs; one encoder and one decoder for each kind of record
 * units:   addresses as the JVM sees them, times CLOCK_MONOTONIC nanoseconds, sizes bytes
 * threads: any; a buffer or reader belongs to one thread at a time
 * errors:  decoders return negative errno and leave ret_ untouched; encoders set overflow
 * source:  shared/README.md
 *
 * Decoded strings point into the message's bytes, and live as long as these bytes. Strings are not
 * terminated, and may hold any byte.
 */
#ifndef FG_WIRE_H
#define FG_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_VERSION		  1
#define WIRE_MESSAGE_HEADER_BYTES 24
#define WIRE_RECORD_HEADER_BYTES  8
#define WIRE_MESSAGE_MAX_BYTES	  (1u << 20)
#define WIRE_STRING_MAX_BYTES	  65535
/*
 * A listening agent's memfd has this name and its path; /proc/<pid>/maps has both after "/memfd:".
 */
#define WIRE_LISTEN_REGION "fgagent-listen:"
#define WIRE_TICK_NS	   UINT64_C(25000000) /* agents send at multiples of it */

#define WIRE_SP_GREETING_BYTES	   8
#define WIRE_SP_FRAME_HEADER_BYTES 9
#define WIRE_SP_PUSH		   0x0050
#define WIRE_SP_PULL		   0x0051

enum wire_kind {
	WIRE_HELLO = 1,
	WIRE_RESYNC_BEGIN = 2,
	WIRE_RESYNC_END = 3,
	WIRE_METHOD_LOAD = 4,
	WIRE_METHOD_UNLOAD = 5,
	WIRE_STUB = 6,
	WIRE_LOSS = 7,
	WIRE_BYE = 8,
	WIRE_THREAD = 9,
	WIRE_PROBES = 10,
};

enum wire_record_flags {
	WIRE_FLAG_RESYNC = 1,
};

enum wire_hello_flags {
	WIRE_HELLO_FP_SET = 1,
	WIRE_HELLO_FP_WAS_ON = 2,
	WIRE_HELLO_VMSTRUCTS = 4,
};

enum wire_code_kind {
	WIRE_CODE_UNKNOWN = 0,
	WIRE_CODE_JAVA = 1,
	WIRE_CODE_NATIVE_WRAPPER = 2,
	WIRE_CODE_OSR = 3,
};

enum wire_section_tag {
	WIRE_SECTION_INLINE = 1,
	WIRE_SECTION_FRAME = 2,
};

enum wire_method_how {
	WIRE_METHOD_KNOWN = 0,
	WIRE_METHOD_NAMED = 1,
	WIRE_METHOD_SELF = 2, /* has the names of the METHOD_LOAD record itself */
};

#define WIRE_METHOD_ID_MAX	65535
#define WIRE_INLINE_MAX_METHODS 65535
#define WIRE_INLINE_MAX_DEPTH	1024
#define WIRE_BCI_UNKNOWN	(-1)

enum wire_loss_reason {
	WIRE_LOSS_BUFFER_FULL = 1,
	WIRE_LOSS_TOO_LARGE = 2,
	WIRE_LOSS_NO_MEMORY = 3,
	WIRE_LOSS_JVMTI = 4,
	WIRE_LOSS_DISCONNECT = 5,
	WIRE_LOSS_REASONS = 6, /* one past the last reason */
};

enum wire_probes_flags {
	WIRE_PROBES_ALLOC = 1, /* the event is on */
	WIRE_PROBES_LOCK = 2,
	WIRE_PROBES_ALLOC_REFUSED = 4, /* the JVM has not given the capability */
	WIRE_PROBES_LOCK_REFUSED = 8,
};

enum wire_bye_reason {
	WIRE_BYE_VM_DEATH = 1,
};

#define WIRE_LEVEL_UNKNOWN 255

struct wire_str {
	const char *data;
	uint16_t len;
};

struct wire_attr {
	struct wire_str key, text;
};

struct wire_value {
	struct wire_str key;
	int64_t value;
};

struct wire_hello {
	uint32_t pid;
	uint32_t flags;
	uint64_t loaded_ns;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	uint32_t buffer_bytes;
	uint16_t n_attrs;
	uint16_t n_values;
	const uint8_t *items; /* decoded only: attributes, then values; see wire_hello_next_attr */
	size_t items_len;
	size_t attrs_len; /* bytes of the attributes */
};

struct wire_resync {
	uint64_t time_ns;
	uint32_t epoch;
	bool complete; /* RESYNC_END only */
};

/* Frame facts of code, for the unwinder; all members are 0 where nothing is known. */
struct wire_frame {
	uint32_t size;	   /* bytes, with the return address; 0: not known */
	uint32_t complete; /* offset from the code's address at which the frame is whole */
	uint32_t entry;	   /* offset of the verified entry point */
};

struct wire_method_load {
	uint64_t time_ns;
	uint64_t addr;
	uint32_t size;
	uint8_t level;
	uint8_t code_kind;
	bool frame_is_broken;	 /* decoded only: frame facts were cut short; frame is 0 then */
	struct wire_frame frame; /* section 2 */
	struct wire_str class_sig, method, method_sig, source_file;
	const uint8_t *sections; /* see wire_section_next */
	size_t sections_len;
};

struct wire_line {
	uint32_t bci; /* the bytecode index at which the line begins */
	uint32_t line;
};

/* One method of an inline table. */
struct wire_method {
	uint32_t id; /* 0: no ID */
	uint8_t how;
	struct wire_str class_sig, name, sig, source_file; /* WIRE_METHOD_NAMED only */
	uint32_t n_lines;
	const uint8_t *lines; /* decoded only, see wire_method_next_line */
	size_t lines_len;
};

struct wire_region {
	uint32_t size;	 /* bytes from the end of the region before */
	uint32_t depth;	 /* number of frames */
	uint32_t shared; /* number of outermost frames that are those of the region before */
};

struct wire_inline_frame {
	uint32_t method; /* index into the table's methods */
	int32_t bci;	 /* WIRE_BCI_UNKNOWN if not known */
};

struct wire_method_unload {
	uint64_t time_ns;
	uint64_t addr;
};

struct wire_stub {
	uint64_t time_ns;
	uint64_t addr;
	uint32_t size;
	bool frame_is_broken; /* as in struct wire_method_load */
	struct wire_frame frame;
	struct wire_str name;
};

struct wire_loss {
	uint64_t time_ns;
	uint64_t count[WIRE_LOSS_REASONS]; /* by reason; index 0 unused */
};

struct wire_bye {
	uint64_t time_ns;
	uint16_t reason;
};

struct wire_thread {
	uint64_t time_ns;
	uint32_t tid;
	struct wire_str name;
};

/* The counters are totals since the agent was loaded. */
struct wire_probes {
	uint64_t time_ns;
	uint32_t flags;		 /* enum wire_probes_flags */
	uint32_t alloc_interval; /* bytes between sampled allocations; 0: the event is off */
	uint64_t alloc_events;
	uint64_t alloc_bytes;  /* sum of the sampled objects' sizes */
	uint64_t lock_events;  /* waits that have ended */
	uint64_t lock_ns;      /* sum of their durations */
	uint32_t live_objects; /* sampled objects to which there is a weak reference now */
	uint32_t live_level;   /* of the sampled ones one of 2^live_level has one */
};

/* --- encoding ------------------------------------------------------------------------- */

/*
 * The caller's storage. A write past size is not made, and sets overflow; len stays at the end of
 * the last whole write. The caller takes back a record that did not fit by restoring len and
 * overflow.
 */
struct wire_buf {
	uint8_t *data;
	size_t size;
	size_t len;
	bool overflow;
};

/* The string of a terminated text; NULL is empty; cut at WIRE_STRING_MAX_BYTES. */
struct wire_str wire_str_from(const char *text);

void wire_encode_greeting(uint8_t out[WIRE_SP_GREETING_BYTES], uint16_t protocol);
/* Returns 0, or -EPROTO if in is not a greeting of the protocol. */
int wire_check_greeting(const uint8_t in[WIRE_SP_GREETING_BYTES], uint16_t protocol);
void wire_encode_frame(uint8_t out[WIRE_SP_FRAME_HEADER_BYTES], uint64_t message_len);

void wire_encode_message(uint8_t out[WIRE_MESSAGE_HEADER_BYTES], uint64_t seq, uint64_t time_ns);

/* Each function appends one whole record, or nothing if the record does not fit: false then. */
bool wire_encode_hello(struct wire_buf *buf, const struct wire_hello *hello,
		       const struct wire_attr *attrs, const struct wire_value *values);
bool wire_encode_resync(struct wire_buf *buf, enum wire_kind begin_or_end,
			const struct wire_resync *resync);
/*
 * load->sections are copied unchanged; they are made with wire_encode_section in another buffer.
 * load->frame, unless it is all 0, is written as a section in front of them.
 */
bool wire_encode_method_load(struct wire_buf *buf, uint16_t flags,
			     const struct wire_method_load *load);
bool wire_encode_method_unload(struct wire_buf *buf, const struct wire_method_unload *unload);
bool wire_encode_stub(struct wire_buf *buf, uint16_t flags, const struct wire_stub *stub);
bool wire_encode_loss(struct wire_buf *buf, const struct wire_loss *loss);
bool wire_encode_bye(struct wire_buf *buf, const struct wire_bye *bye);
bool wire_encode_thread(struct wire_buf *buf, const struct wire_thread *thread);
bool wire_encode_probes(struct wire_buf *buf, const struct wire_probes *probes);
bool wire_encode_section(struct wire_buf *buf, uint16_t tag, const void *data, uint32_t len);

/* The parts of an inline table, in this order; a part that does not fit sets overflow. */
void wire_encode_inline_count(struct wire_buf *buf, uint32_t n); /* of methods, then of regions */
void wire_encode_inline_method(struct wire_buf *buf, const struct wire_method *method,
			       const struct wire_line *lines);
void wire_encode_inline_region(struct wire_buf *buf, const struct wire_region *region);
void wire_encode_inline_frame(struct wire_buf *buf, const struct wire_inline_frame *frame);

/* The bytes that the record takes in a buffer, header included. */
size_t wire_method_load_bytes(const struct wire_method_load *load);
size_t wire_stub_bytes(const struct wire_stub *stub);

/* --- decoding ------------------------------------------------------------------------- */

struct wire_message {
	uint16_t version;
	uint64_t seq;
	uint64_t time_ns;
	const uint8_t *records;
	size_t records_len;
};

struct wire_record {
	uint16_t kind;
	uint16_t flags;
	const uint8_t *payload;
	uint32_t len;
};

struct wire_reader {
	const uint8_t *data;
	size_t len;
	size_t pos;
};

/* Returns 0, -EBADMSG (no agent's message, or cut short), -EPROTONOSUPPORT (another version). */
int wire_decode_message(const void *data, size_t len, struct wire_message *ret);

void wire_reader_init(struct wire_reader *reader, const struct wire_message *message);
/* Returns 1 and *ret, 0 at the end, -EBADMSG if the rest does not hold a whole record. */
int wire_reader_next(struct wire_reader *reader, struct wire_record *ret);

/*
 * Return 0, or -EBADMSG if the payload is shorter than its kind needs; frame facts may be missing.
 */
int wire_decode_hello(const struct wire_record *record, struct wire_hello *ret);
int wire_decode_resync(const struct wire_record *record, struct wire_resync *ret);
int wire_decode_method_load(const struct wire_record *record, struct wire_method_load *ret);
int wire_decode_method_unload(const struct wire_record *record, struct wire_method_unload *ret);
int wire_decode_stub(const struct wire_record *record, struct wire_stub *ret);
int wire_decode_loss(const struct wire_record *record, struct wire_loss *ret);
int wire_decode_bye(const struct wire_record *record, struct wire_bye *ret);
int wire_decode_thread(const struct wire_record *record, struct wire_thread *ret);
int wire_decode_probes(const struct wire_record *record, struct wire_probes *ret);

/*
 * Walk the attributes and the values of a hello, which wire_decode_hello has checked. For both *pos
 * starts at 0. False at the end.
 */
bool wire_hello_next_attr(const struct wire_hello *hello, size_t *pos, struct wire_attr *ret);
bool wire_hello_next_value(const struct wire_hello *hello, size_t *pos, struct wire_value *ret);

/*
 * Returns 1 and the section, 0 at the end, -EBADMSG if the rest is no whole section. *pos starts at
 * 0.
 */
int wire_section_next(const uint8_t *sections, size_t len, size_t *pos, uint16_t *ret_tag,
		      const uint8_t **ret_data, uint32_t *ret_len);

/*
 * A walk through section 1, the inline table. The caller reads all methods, then all regions, and
 * after each region its frames, of which the section has depth - shared. Each function returns 1, 0
 * at the end of its list, or -EBADMSG, after which nothing more can be read. In another order the
 * bytes are read wrongly. Indices of methods in frames are checked.
 */
struct wire_inline {
	const uint8_t *data;
	size_t left;
	uint32_t n_methods, methods_left;
	uint32_t n_regions, regions_left; /* valid if has_regions */
	uint32_t frames_left;
	uint32_t last_depth;
	bool has_regions; /* all methods and the number of regions have been read */
	bool bad;
};

int wire_inline_init(struct wire_inline *table, const uint8_t *data, size_t len);
int wire_inline_next_method(struct wire_inline *table, struct wire_method *ret);
int wire_inline_next_region(struct wire_inline *table, struct wire_region *ret);
int wire_inline_next_frame(struct wire_inline *table, struct wire_inline_frame *ret);

/* Walks the method's n_lines lines; *pos and *line start at 0. False at the end. */
bool wire_method_next_line(const struct wire_method *method, size_t *pos, struct wire_line *line);

/* The name of a reason in logs and counters; "unknown" for any other number. */
const char *wire_loss_reason_name(uint16_t reason);

#endif
