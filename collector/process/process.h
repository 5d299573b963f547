// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one process: its code, mappings, threads and container, and what its agent said
 * units:   PIDs and TIDs in the collector's namespace, or in the process's own if called inner;
 *          CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  negative errno
 * source:  proc(5), shared/README.md
 *
 * A process is identified by (pid, start_ticks). A process is known because its agent connected, or
 * because a recording wants processes without an agent too. jvm and code are NULL until an agent of
 * the process has connected.
 */
#ifndef FG_PROCESS_PROCESS_H
#define FG_PROCESS_PROCESS_H

#include "base/counters.h"
#include "base/map64.h"
#include "code/code_listener.h"
#include "code/code_map.h"
#include "code/code_methods.h"
#include "code/java_methods.h"
#include "code/jvm_hello.h"
#include "code/name_pool.h"
#include "code/vm_layout.h"
#include "container/containers.h"
#include "container/jar_manifest.h"
#include "container/pod_uid.h"
#include "foreign/foreign_reader.h"
#include "guard/owner.h"
#include "memory/address_space.h"
#include "process/outside_process.h"
#include "process/workload.h"
#include "vm/thread_history.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The most threads, and the most names of threads, of a process; past it, all are learnt anew. */
#define PROCESS_MAX_THREADS 65536

/* The name of a class, method, signature or thread is cut here. */
#define PROCESS_MAX_NAME_BYTES 1024

enum jvm_state {
	JVM_RESYNCING, /* the agent is connected; not all code of the JVM is known yet */
	JVM_CURRENT,   /* the agent is connected; all code of the JVM is known */
	JVM_DISCONNECTED,
	JVM_ENDED, /* the agent said bye, or the process is gone or runs another program */
};

struct jvm {
	enum jvm_state state;
	bool is_replaced;   /* the process runs another program, and is no JVM any more */
	uint32_t session;   /* ID of the last session; struct targets knows whether it is open */
	uint64_t opened_ns; /* when the last session began */
	bool is_dialled;    /* the agent listened and was dialled; else the agent dialled */
	bool is_outside;    /* there is no agent: the collector reads what it would tell */
	bool had_agent;	    /* there has been one */
	bool has_guests;    /* code of other languages' functions, see outside/guest_names.h */
	bool has_hello;	    /* in the last session */
	uint64_t loaded_ns; /* when the agent of the last hello was loaded, by its clock */
	bool is_resyncing;  /* in the last session, between the two marks of resync_epoch */
	uint32_t resync_epoch;
	uint64_t resync_ns;   /* when the last resynchronisation began, by the agent's mark */
	uint32_t hello_flags; /* enum wire_hello_flags */
	struct jvm_hello hello;
	struct vm_layout layout; /* made of the hello */
	uint64_t in_heap_ns;  /* time of the last sample whose stack goes on in the heap; 0: none */
	uint64_t mounting_pc; /* where Continuation.enterSpecial's frame is complete; 0: unknown */
	uint64_t lost[WIRE_LOSS_REASONS]; /* events lost by the agent since its start */
	struct wire_probes probes;	  /* as the agent has last told; 0 until it tells */
	uint64_t gaps;			  /* jumps of the sequence numbers of its sessions */
	/* Too short for their kind, before the hello, senseless, or past a limit. */
	uint64_t bad_records;
	uint64_t unknown_records; /* of a kind that this version does not know */
	uint64_t lost_inlines; /* inline tables that were broken or for which there was no room */
	uint64_t lost_frames;  /* frame facts that were broken or cannot be true */
	uint64_t name_limit_hits;			/* names that became NAME_POOL_LIMIT_TEXT */
	uint64_t unnamed_methods[JAVA_METHODS_REASONS]; /* frames of interpreted methods */
	uint32_t resyncs;				/* complete resynchronisations */
};
extern const struct counters jvm_counters;

/* A thread's name that is older is read again when a sample of the thread comes. */
#define PROCESS_NAME_AGE_NS UINT64_C(1000000000)

struct thread {
	pid_t tid;
	pid_t inner_tid;
	uint64_t read_ns;  /* when its name was last read */
	uint64_t seen_ns;  /* when its last sample was taken */
	uint64_t asked_ns; /* when its full name was last asked for; 0: never */
	bool is_cut;	   /* it was asked for and was not had, which has counted */
	struct thread_comms comms;
	char name[PROCESS_COMM_BYTES]; /* that was last wanted of those, in UTF-8 */
};

/* Which thread is meant, and when. */
struct thread_at {
	pid_t tid;
	uint64_t time_ns;
	const char *comm; /* as the kernel called it then; NULL or "": not known */
};

/*
 * Samples of processor time that a daemon's own sampling has kept, by the frames that were named
 * and by the thread's entry that was reached. Recordings of clients are not among them.
 */
struct process_samples {
	uint64_t samples;
	uint64_t unnamed;  /* with a frame of Java's, or of generated code, that has no name */
	uint64_t unrooted; /* whose stack does not reach the thread's entry */
};

struct process {
	pid_t pid;
	pid_t inner_pid;
	uint64_t start_ticks;
	uint64_t proc_inode;	 /* in /proc, see process_stat_is_gone; 0: not known */
	int64_t clock_offset_ns; /* its CLOCK_MONOTONIC minus the collector's: a time namespace */
	char comm[PROCESS_COMM_BYTES];
	char container_id[CONTAINER_ID_BYTES]; /* "": in no container */
	char pod_uid[POD_UID_BYTES];	       /* "": in no pod */
	struct container_entry *container; /* held by the targets; NULL: in none, or not known */
	uint64_t container_version;	   /* the version of container that workload is made of */
	struct workload workload;	   /* its names and labels */
	char start_class[JAR_CLASS_BYTES]; /* what its jar starts; "": no jar, or not known */
	uint64_t called_hash; /* of what process_write_called writes; of a JVM, see namesakes.h */
	uint64_t called_version; /* the version of workload that called_hash is of; 0: none */
	uint64_t parted_version; /* the version of workload for which is_namesake is decided */
	bool is_namesake;	 /* an earlier JVM is called the same */
	struct address_space space;
	struct space_reader *reader; /* reads the mappings anew; NULL: none does */
	uint64_t space_read_ns;	     /* when space was last read; 0: space is to be read anew */
	uint64_t space_wait_ns;	     /* shortest time between two reads of space; 0: the usual */
	uint64_t space_checked_ns;   /* when the size of its code was last read */
	uint64_t space_same_ns;	     /* up to then the size of its code was as in space */
	uint64_t space_due_ns;	     /* when what was late is read again; 0: nothing was */
	unsigned space_late;	     /* readings that were late, one after the other */
	uint64_t waiting_ns;	     /* since when a sample waits for mappings; 0: none does */
	uint64_t patience_ns;	     /* until then no sample of it waits for mappings */
	uint64_t left_checked_ns;    /* when process_has_left_libjvm was last asked */
	struct code_map *code;	     /* NULL without an agent */
	struct jvm *jvm;	     /* NULL without an agent */
	struct jvm_hello *program;   /* what its JVM runs, read before jvm has a hello; or NULL */
	struct code_methods methods; /* the methods that its inline tables refer to */
	struct name_pool names;	     /* of code and threads; empty without an agent */
	struct name_move *name_move; /* of names to a fresh pool; NULL: none is under way */
	struct java_methods java_methods; /* interpreted methods */
	struct outside_process *outside;  /* its JVM without an agent; or NULL */
	struct foreign_reader foreign;	  /* the perf map that a runtime without an agent writes */
	struct map64 threads;		  /* TID -> struct thread */
	struct map64 thread_names;	  /* inner TID -> struct thread_full_names, of names */
	uint64_t threads_forgotten;	  /* times that either table was past PROCESS_MAX_THREADS */

	struct process_samples samples;

	struct owner owner; /* as the targets have last asked; of nobody while it is not known */
	uint64_t group;	    /* owner_group, of the place that process_pool.h has given it */
	const struct code_listener *listener; /* of its code; borrowed, NULL: nobody */
	struct map_output *output;	      /* the listener's own; NULL: it has none */
	uint64_t libjvm_serial;	      /* the serial of space as of which maps_libjvm is known */
	bool maps_libjvm;	      /* a mapping that is known is of libjvm.so */
	uint64_t jvm_mapped_ns;	      /* when it was seen to map libjvm.so; 0: not seen */
	uint64_t gone_ns;	      /* when it was found to be gone; 0: it is there */
	struct process *next_removed; /* used while struct targets removes several processes */
	size_t charged_bytes;	      /* process_bytes, as struct targets has last counted it */
	unsigned uncounted;	      /* records since then */
	bool has_place;		      /* see group */
	bool was_announced;
	bool is_replayed; /* of a capture: nothing of it is read from /proc */
	uint32_t users;	  /* calls of targets_want without their targets_unwant */
};
extern const struct counters process_counters;

/*
 * Reads a process's identity, names, container and mappings from /proc. start_ticks 0: it is read
 * too. The mappings are read for about so long; process_read_on reads the rest. -ESRCH if the
 * process is gone, -ENOMEM, -ETIMEDOUT if it does not say when it began. The right to read the
 * mappings is not needed.
 */
#define PROCESS_READ_ALL UINT64_MAX
int process_new(pid_t pid, uint64_t start_ticks, uint64_t for_ns, struct process **ret);
/*
 * A process of a capture. Its identity and names are the caller's to set; of its threads
 * process_set_thread is to tell. -ENOMEM.
 */
int process_new_replayed(pid_t pid, uint64_t start_ticks, struct process **ret);
void process_free(struct process *process); /* NULL is legal */
/* Closes the process's files. Nothing may be done to the process then but to free it. */
void process_close(struct process *process);
/* Tells whoever listens to the process's code. */
void process_tell(struct process *process, enum code_news news, uint64_t now_ns);

/*
 * Whether the process runs or has run a JVM whose code is told or read, and no other program since.
 */
static inline bool process_is_jvm(const struct process *process)
{
	return process->jvm && !process->jvm->is_replaced;
}

/* Whether an agent tells of its JVM, or has told. */
bool process_has_agent(const struct process *process);
/* Makes code, names and jvm where the process has none. */
int process_add_jvm(struct process *process);
/*
 * A session of the process's agent begins, or with session 0 a reading from outside. Code that is
 * known stays; method IDs of the session before are forgotten, and its resynchronisation ends
 * incomplete.
 */
void process_open_session(struct process *process, uint32_t session, uint64_t now_ns);

/*
 * Reads the mappings of the process anew, for about so long; 0: not yet. process_read_on reads the
 * rest, and until all is read, or without the right to, the mappings stay as they were. A reading
 * that has begun goes on.
 */
void process_read_space(struct process *process, uint64_t now_ns, uint64_t for_ns);
/* Reads on in the mappings for about so long, if there is more to read, or anew what was late. */
void process_read_on(struct process *process, uint64_t for_ns);

/*
 * Has process/space_upkeep.h read the mappings anew, because they have changed at now_ns; at most
 * four times a second. A reading that began before may have missed the change.
 */
void process_read_space_soon(struct process *process, uint64_t now_ns);

/* A reading that has no answer in time is made again so much later, and each time twice as late. */
#define PROCESS_LATE_NS	   UINT64_C(250000000)
#define PROCESS_LATE_READS 8u
void process_note_late_space(struct process *process, uint64_t now_ns);

/* Reads the comm of the process anew, because the process has just begun another program. */
void process_read_comm(struct process *process);

/*
 * The process runs another program since time_ns. Its mappings and threads are forgotten, unless
 * they were read since; mappings that the kernel told of within 50 ms before time_ns stay. Its JVM
 * has ended, unless an agent has connected since, which is then the new program's agent. Returns
 * whether the JVM ended.
 */
bool process_exec(struct process *process, uint64_t time_ns);
/*
 * Whether the process had mapped libjvm.so and has not any more: it runs another program, of whose
 * beginning nobody has told. False where the mappings cannot be read at once.
 */
bool process_has_left_libjvm(const struct process *process);

/* Takes the agent's hello in place of an earlier one. */
int process_set_hello(struct process *process, const struct wire_hello *hello);
/*
 * Takes the texts of a hello that was read from outside, for process_attr: the process is known by
 * its names, and none of its code is. -ENOMEM.
 */
int process_set_program(struct process *process, const struct wire_hello *hello);
void process_forget_program(struct process *process);
/* What its agent has said, or else what was read of its program; or NULL. */
const struct jvm_hello *process_hello(const struct process *process);
/* Whether what its JVM runs is known, and it has begun no other program since. */
static inline bool process_has_program(const struct process *process)
{
	return process->program || process_is_jvm(process);
}
/* Who pays for what is done for the process. */
struct owner process_owner(const struct process *process);
/*
 * Whether its JVM is HotSpot's port without machine code, whose Java frames are not on the stack.
 */
bool process_is_zero_vm(const struct process *process);
/* The text of an attribute of the hello, or of what was read of the program; or NULL. */
const char *process_attr(const struct process *process, const char *key);
/* Sets ret to a value of the hello; false if the hello has no such value. */
bool process_value(const struct process *process, const char *key, int64_t *ret);

/* Whether the process has mappings of generated code, see mapping_is_generated. */
bool process_has_generated(const struct process *process);

/*
 * What the thread was called at a time, in UTF-8: its full name if the agent told it and it was the
 * newer one, or the kernel's was cut from it, else the kernel's. Borrowed until the next change. ""
 * if the thread was gone before its name could be read. *ret_cut is the kernel's name if earlier
 * samples that have the kernel's name are of the full name too, else NULL; ret_cut may be NULL.
 */
const char *process_thread_name_at(struct process *process, const struct thread_at *at,
				   const char **ret_cut);
/* What it is called now. */
const char *process_thread_name(struct process *process, pid_t tid);
/* The full name of a thread that is known, if the kernel's name is cut from it; or NULL. */
const char *process_full_name(const struct process *process, const struct thread *thread);
void process_set_comm(struct process *process, pid_t tid, const char *comm, uint64_t time_ns);
/*
 * Notes what a thread was called of which a sample was taken just now. Its name is read if the
 * sample does not tell it, and that is due.
 */
void process_see_thread(struct process *process, const struct thread_at *at);
/*
 * The thread's name, for a process of a capture, which has a JVM's name pool; the names before are
 * forgotten. cut is what process_thread_name_at had set *ret_cut to. -ENOMEM.
 */
int process_set_thread(struct process *process, pid_t tid, const char *name, const char *cut);
void process_remove_thread(struct process *process, pid_t tid);
/* Forgets all threads, which are then read anew; names that the agent told stay. */
void process_forget_threads(struct process *process);
/*
 * Asks for the full names of up to max threads: of those that were sampled since they were last
 * asked for, and that PROCESS_NAME_AGE_NS ago at least. Returns how many; ret has their inner TIDs.
 * The kernel is not told each name, so those are asked for too whose comm is not cut.
 */
size_t process_ask_threads(struct process *process, uint64_t now_ns, uint32_t *ret, size_t max);
/* Of those that were asked for then, how many have no full name, and have not counted yet. */
size_t process_count_cut_threads(struct process *process, uint64_t asked_ns);

/* Takes the name that the agent told of a thread; name is one of process_name's. -ENOMEM. */
int process_set_thread_name(struct process *process, pid_t inner_tid, const char *name,
			    uint64_t time_ns);

/*
 * The UTF-8 name, in the process's name pool, of a modified UTF-8 name from the JVM: converted, cut
 * at PROCESS_MAX_NAME_BYTES, and one pointer for equal names. NULL if the text is empty or too
 * long.
 */
const char *process_name(struct process *process, const char *text, size_t len);
/* The same of a terminated text that is UTF-8 and short enough already; never NULL. */
const char *process_name_utf8(struct process *process, const char *text);
/* The memory of all names. */
size_t process_name_bytes(const struct process *process);
/* Frees all names, whose users must have been freed before. */
void process_free_names(struct process *process);
/*
 * Moves some names of the process's code, methods and threads to a new pool, if that is due. After
 * the last step all other pointers to names are no longer valid.
 */
void process_compact_names(struct process *process, uint64_t now_ns);

/* Goes on with a move that has begun, for a process whose agent says nothing more. */
void process_move_names(struct process *process, uint64_t now_ns, uint64_t until_ns);
/* The process has another, empty code map. */
void process_move_new_code(struct process *process);

/* The name of the process's Kubernetes pod; the pod's UID if it has no name; "" if in no pod. */
const char *process_pod(const struct process *process);

/*
 * The interpreted method whose Method* is at addr, borrowed as from java_methods_find; or NULL and
 * the reason. Nothing is counted.
 */
const struct java_method *process_java_method(struct process *process, uint64_t addr,
					      uint64_t now_ns,
					      enum java_methods_reason *ret_reason);
/* Adds frames without a method, by reason, of a stack that is taken. process may be NULL. */
void process_count_unnamed(struct process *process, const uint32_t unnamed[JAVA_METHODS_REASONS]);

/* Makes the process's workload anew of its container, its agent's hello and its start_class. */
void process_identify(struct process *process);
/* Sets start_class, and with it the label WORKLOAD_CLASS. What the process is called stays. */
void process_set_start_class(struct process *process, const char *text);

/*
 * Writes a JVM's main class, jar or source file, or else the process's comm, into ret, terminated.
 */
void process_title(const struct process *process, char *ret, size_t size);
/* Writes what people call the process, see place_name.h, into ret, terminated. */
void process_write_called(const struct process *process, char *ret, size_t size);

/*
 * Whether the process's JVM runs one of the JDK's own tools (java_program.h) and is, or was at its
 * end, no older than PROCESS_PASSING_NS. Nothing that stays is made of such a process unasked: jcmd
 * runs for a moment, and often every few seconds.
 */
#define PROCESS_PASSING_NS UINT64_C(10000000000)
bool process_is_passing(const struct process *process);

/* Whether the process maps libjvm.so now, as far as two milliseconds of /proc/<pid>/maps say. */
bool process_maps_libjvm(pid_t pid);
/* Whether a file of the name is among those of the process's known mappings. */
bool process_has_file(const struct process *process, const char *name);
bool process_has_libjvm(const struct process *process);
/* The same, looked for only when mappings have changed. */
bool process_maps_libjvm_now(struct process *process);

/* A word or some for the state in which the JVM is. */
const char *jvm_state_name(const struct jvm *jvm);

#endif
