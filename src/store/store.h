// SPDX-License-Identifier: GPL-3.0-or-later

/* store: a capture as immutable columns.
 *
 * sysprof_store_open() maps or decompresses the file, validates every frame, sorts frames by
 * time and fills the columns, on all CPUs. Then the store is *frozen*: any thread may read it.
 * Pointers into it, StringIds and all other ids live as long as the store. Id 0 is the "none"
 * row everywhere, so a zeroed structure is valid.
 *
 *   g_autoptr(Store) store = sysprof_store_open ("run.syscap", NULL, &error);
 *   for (uint32_t i = 0; i < store->samples.n; i++)
 *     … store->samples.time[i], store->samples.stack[i] …
 *
 * All stacks are one tree. Node p, 1 ≤ p < n_processes, has depth 0 and is the root of process
 * p. Every other node is an address called from its parent. A stack is the id of its innermost
 * node, and a parent's id is smaller than its children's. The kind of an address is its
 * context. A sample without addresses is the root of its process. Entries for inlined calls may
 * be inserted once, before the store is shared. */

#pragma once

#include "store/progress.h"
#include "util/util.h"

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>

typedef uint32_t StackId;
typedef uint32_t AddressId;
typedef uint32_t MappingId;
typedef uint32_t ProcessId; /* index into Processes, not a pid */
typedef uint32_t FrameNo;   /* index into FrameTable: order of time */

typedef enum
{
  ADDRESS_NONE,
  ADDRESS_USER,
  ADDRESS_KERNEL,
  ADDRESS_JIT, /* synthetic, named by a jitmap */
  ADDRESS_HYPERVISOR,
  ADDRESS_GUEST,
  ADDRESS_GUEST_KERNEL,
  ADDRESS_GUEST_USER,
  /* One row for all callers without a mapping. Unwinding by frame pointers finds ever new ones
   * in programs without frame pointers: half a million in a minute of a compiler. */
  ADDRESS_UNMAPPED,
  ADDRESS_DATA, /* a lock, in no stack. Its mapping is the executable one before it */
} AddressKind;

typedef struct
{
  uint64_t *offset; /* [n] of the frame in the file, bytes */
  int64_t *time;    /* [n] ns, ascending */
  uint8_t *type;    /* [n] */
  int16_t *cpu;     /* [n] */
  int32_t *pid;     /* [n] */
  uint32_t n;
} FrameTable;

typedef struct
{
  FrameNo *frame; /* [n] ascending */
  uint32_t n;
} FrameList;

/* Things with a stack. `weight` is NULL where each weighs 1. */
typedef struct
{
  int64_t *time;      /* [n] ns, ascending */
  int32_t *pid;       /* [n] as in the frame */
  int32_t *tid;       /* [n] -1 unknown */
  int16_t *cpu;       /* [n] -1 unknown */
  StackId *stack;     /* [n] */
  ProcessId *process; /* [n] */
  int64_t *weight;    /* [n] or NULL */
  uint32_t n;
} StackEvents;

typedef struct
{
  StackId *parent;    /* [n]; 0 at depth 0 */
  AddressId *address; /* [n]; 0 at depth 0 */
  uint16_t *depth;    /* [n]; 0 = a process */
  uint32_t n;
} StackTree;

typedef uint32_t JitCodeId;

/* Generated code, valid from a time on until the program reports other code there. */
typedef struct
{
  ProcessId process;
  StringId name;
  int64_t time; /* ns; 0 = since ever */
  uint64_t start;
  uint64_t end;
} JitCode;

/* Code addresses: one row per (process, address), and one per kernel or JIT address. If other
 * code replaces that of a range, its addresses get new rows from then on. */
typedef struct
{
  uint64_t *address;  /* [n] */
  uint8_t *kind;      /* [n] AddressKind */
  ProcessId *process; /* [n]; 0 for kernel and JIT addresses */
  MappingId *mapping; /* [n]; 0 = in no known mapping */
  /* [n] 1 where it was only ever seen as a return address: look up address - 1 */
  uint8_t *is_return;
  /* [n] the generated code that it was then; NULL = there is none in the capture */
  JitCodeId *code;
  uint32_t n;
} AddressTable;

typedef struct
{
  ProcessId process;
  int64_t time; /* ns, when it was first seen */
  uint64_t start;
  uint64_t end;
  uint64_t file_offset; /* of `start` */
  uint64_t inode;       /* 0 = unknown, or do not compare */
  StringId path;        /* as the process sees it */
  StringId build_id;    /* lower-case hex, 0 = unknown */
} Mapping;

typedef struct
{
  int32_t pid;
  /* the longest kind of name known: arguments where some frame brought them */
  StringId command_line;
  /* short: the last comm seen, else base name of argv[0]; never 0 ("Process N") */
  StringId comm;
  int32_t parent_pid; /* -1 unknown */
  int64_t start;      /* ns; the capture's begin where it ran before */
  int64_t end;        /* ns; the capture's end where it went on */
  bool has_exit;
  bool is_kernel;        /* no mapping, and only kernel addresses in its stacks; or pid 0 */
  uint32_t first_thread; /* index into Processes.thread_ids */
  uint32_t n_threads;
} Process;

typedef struct
{
  int32_t pid;
  ProcessId process;
} ProcessOfPid;

/* A name that a thread has from `time` on, and before if it is its first. */
typedef struct
{
  int32_t pid;
  int32_t tid;
  int64_t time; /* ns; 0 = unknown */
  StringId name;
} ThreadName;

typedef struct
{
  Process *row; /* [n]; row 0 is no process */
  uint32_t n;
  ProcessOfPid *by_pid; /* [n - 1] ordered by pid */
  int32_t *thread_ids;  /* [n_thread_ids] of all processes, each process's in ascending order */
  uint32_t n_thread_ids;
  ThreadName *thread_names; /* [n_thread_names] by thread and time; 0 = none were recorded */
  uint32_t n_thread_names;
} Processes;

typedef struct
{
  int64_t time;
  int64_t duration; /* ns; 0 = an instant */
  int32_t pid;
  int16_t cpu;
  StringId group;
  StringId name;
  StringId message;
} Mark;

typedef struct
{
  uint32_t id; /* in the file */
  int32_t pid; /* of the definition: ids are only unique together with it */
  StringId category;
  StringId name;
  StringId description;
  bool is_double;
  /* index into Counters.time and .value: the values of a counter are neighbours */
  uint32_t first_value;
  uint32_t n_values;
} Counter;

typedef union
{
  int64_t i64;
  double dbl;
} CounterValue;

typedef struct
{
  Counter *row; /* [n] in the order of their definition */
  uint32_t n;
  int64_t *time;       /* [n_values] ns */
  CounterValue *value; /* [n_values] */
  uint32_t n_values;
} Counters;

typedef struct
{
  int64_t time;
  int32_t pid;
  StringId id;
  StringId value;
} Metadata;

typedef struct
{
  int64_t time;
  int32_t pid;
  int16_t cpu;
  /* GLib's flags: 4 error, 8 critical, 16 warning, 32 message, 64 info, 128 debug */
  uint16_t severity;
  StringId domain;
  StringId message;
} Log;

/* A message of D-Bus; its bytes stay in the file. */
typedef struct
{
  int64_t time;
  int32_t pid;
  int16_t cpu;
  uint8_t bus;       /* 1 = system, 2 = session, else another: GLib's numbers */
  bool is_too_large; /* the recorder left its bytes out */
  uint16_t size;     /* bytes; 0 = not stored */
  uint64_t offset;   /* of the message in Store.bytes */
} DBusMessage;

typedef enum
{
  DBUS_CALL = 1,
  DBUS_REPLY,
  DBUS_ERROR,
  DBUS_SIGNAL,
} DBusType;

/* The header of a message. Texts point into Store.bytes, have no NUL at their end, and are
 * empty if the message does not have them. */
typedef struct
{
  uint8_t type; /* DBusType, or another number */
  bool wants_no_reply;
  bool is_big_endian;    /* the message; the capture may differ */
  uint32_t serial;       /* unique together with the sender */
  uint32_t reply_serial; /* of the call that is answered; 0 = none */
  Text path;
  Text interface;
  Text member;
  Text error_name;
  Text destination;
  Text sender;
  Text signature;     /* of the body */
  uint64_t body;      /* offset in Store.bytes */
  uint32_t body_size; /* bytes that are there */
} DBusHeader;

/* What was allocated and freed, in order of time: row i is the frame
 * frames_of_type[allocation].frame[i], which has time, pid and cpu. */
typedef struct
{
  uint64_t *address;    /* [n] */
  int64_t *size;        /* [n] bytes; 0 or less = freed */
  int32_t *tid;         /* [n] -1 unknown */
  StackId *stack;       /* [n] where that was */
  uint32_t *allocation; /* [n] row of Store.allocations; NO_ALLOCATION where it was freed */
  uint32_t *freed;      /* [n] or NULL; set once and atomically: sysprof_heap_get_freed() */
  uint32_t n;
} HeapEvents;

#define NO_ALLOCATION UINT32_MAX

typedef struct
{
  StringId name; /* as stored: may end in .gz */
  int32_t pid;
  uint64_t size;        /* bytes as stored */
  bool is_whole;        /* its last chunk is there */
  bool is_repeated;     /* there is one more of the name, of another capture: it is left out, */
  bool is_contradicted; /* and says something else */
  uint32_t first_chunk; /* index into EmbeddedFiles.chunk */
  uint32_t n_chunks;
} EmbeddedFile;

typedef struct
{
  EmbeddedFile *row;       /* [n] in the order of their first chunk, each name once */
  GHashTable *row_of_name; /* StringId → row + 1 */
  uint32_t n;
  FrameNo *chunk; /* [n_chunks] */
  uint32_t n_chunks;
} EmbeddedFiles;

/* A directory of the host that replaces one of the process. Texts point into Store.bytes. */
typedef struct
{
  int32_t pid;
  uint8_t layer; /* 0 = topmost */
  Text source;   /* on the host */
  Text target;   /* as the process sees it */
} Overlay;

typedef struct
{
  uint64_t address;
  StringId name;
} JitName;

/* What a file was when it was opened; see sysprof_store_is_current(). */
typedef struct
{
  uint64_t device;
  uint64_t inode;
  uint64_t size;    /* bytes, as stored */
  int64_t modified; /* ns since 1970 */
  int64_t end_time; /* bytes of the header, whatever they mean */
} FileStamp;

/* What samples were taken on, as our recorder says. */
typedef struct
{
  StringId name;
  bool is_time;   /* its periods are ns */
  int64_t period; /* of every sample; 0 = they differ */
  uint32_t rate;  /* samples per second, if the kernel adjusts the period; 0 = unknown */
} SampledEvent;

#define SAMPLED_EVENT_UNKNOWN 255

/* Why a thread was off the CPU: the first that fits. */
typedef enum
{
  OFF_CPU_PAGE_FAULT = 1,
  OFF_CPU_CHILD,
  OFF_CPU_SLEEP,
  OFF_CPU_FUTEX,
  OFF_CPU_IO,
  OFF_CPU_SYSCALL, /* Wait.syscall says in which */
  OFF_CPU_OTHER,
  OFF_CPU_PREEMPTED, /* taken off while able to run */
} OffCpuReason;
#define N_OFF_CPU_REASONS (OFF_CPU_PREEMPTED + 1)

#define OFF_CPU_GOES_ON         1u /* it had not ended when the recording did */
#define OFF_CPU_HAS_LOCK        2u /* it has a row in Waits.locks */
#define OFF_CPU_BY_INTERRUPT    4u /* the waker was none of the threads */
#define OFF_CPU_UNINTERRUPTIBLE 8u
#define OFF_CPU_WAS_BEFORE      16u /* it began before the recording */

/* A thread under one name. One that changes it, or whose id another takes, has several. */
typedef struct
{
  int32_t tid;
  int32_t pid;
  ProcessId process;
  StringId comm;
  bool has_run;
  int64_t run; /* ns on a CPU, if recorded */
} WaitThread;

typedef struct
{
  int64_t runnable;    /* ns of it, at its end: woken, and not yet running */
  uint32_t thread;     /* row of Waits.threads */
  uint32_t waker;      /* 1 + row of Waits.threads; 0 = unknown, or an interrupt */
  StackId waker_stack; /* 0 = unknown */
  uint32_t syscall;    /* 1 + its number; 0 = in none */
  uint16_t stands_for; /* number of similar waits that this one represents; at least 1 */
  uint8_t reason;      /* OffCpuReason */
  uint8_t flags;       /* OFF_CPU_… */
} Wait;

typedef struct
{
  uint64_t address;
  uint32_t wait;  /* row of Waits.events */
  int32_t holder; /* thread id; 0 = unknown */
  AddressId data; /* of kind ADDRESS_DATA */
} WaitLock;

/* When threads were off the CPU, why, and who woke them. */
typedef struct
{
  /* by begin; weight = ns, not yet multiplied by `stands_for`; cpu = the one that was left */
  StackEvents events;
  Wait *row;           /* [events.n] */
  WaitThread *threads; /* [n_threads] */
  uint32_t n_threads;
  WaitLock *locks; /* [n_locks] by wait */
  uint32_t n_locks;
  uint64_t n_lost;  /* switches and stacks that are missing */
  bool is_recorded; /* somebody looked; there may have been none */
} Waits;

#define STORE_N_FRAME_TYPES 19 /* 0 holds the unknown ones, 18 the frame indexes */

typedef struct Store
{
  const uint8_t *bytes; /* [size] the whole (unpacked) file */
  size_t size;
  bool is_swapped; /* integers in `bytes` are of the other byte order; the columns never are */

  const char *path; /* as given, or NULL */
  FileStamp stamp;
  char capture_time[65];
  int64_t begin; /* ns; see capture-format.md 11.4 */
  int64_t end;   /* ns */
  uint64_t n_frames_by_type[STORE_N_FRAME_TYPES];
  uint64_t n_lost;         /* what the capture says was dropped, from any source … */
  uint64_t n_lost_samples; /* … of that samples; of captures without the kinds everything … */
  uint64_t n_lost_records; /* … and records of processes and mappings */
  uint64_t damaged_at;     /* offset from which on nothing could be read, 0 = whole file read */
  bool is_imported;        /* from another profiler: stacks are complete unless marked */
  const char *damage;      /* what is wrong there, for a person; NULL if nothing */
  /* what is left out as it is of several captures, for a person; NULL if nothing */
  const char *mixed;

  FrameTable frames;
  FrameList frames_of_type[STORE_N_FRAME_TYPES];
  StackEvents samples;
  StackEvents allocations; /* weight = bytes; frees are not in this table but in `heap` */
  StackEvents traces;      /* functions that were entered or left */
  StackTree stacks;
  uint8_t *sample_notes;        /* [samples.n] CaptureFound; NULL = not recorded */
  SampledEvent *sampled_events; /* [n_sampled_events] none if not recorded */
  uint32_t n_sampled_events;
  /* [samples.n] index of its event, or SAMPLED_EVENT_UNKNOWN; NULL = of the first, if any */
  uint8_t *sample_event;
  int64_t *sample_period; /* [samples.n], with `sample_event` */
  AddressTable addresses;
  Mapping *mappings; /* [n_mappings] row 0 is none */
  uint32_t n_mappings;
  Processes processes;
  HeapEvents heap;
  Waits waits;
  /* Of these, row i is the frame frames_of_type[…].frame[i] of its type. */
  Mark *marks; /* [n_marks] by time */
  uint32_t n_marks;
  Log *logs; /* [n_logs] by time */
  uint32_t n_logs;
  DBusMessage *dbus; /* [n_dbus] by time */
  uint32_t n_dbus;
  Metadata *metadata; /* [n_metadata] by time */
  uint32_t n_metadata;
  bool has_walks;      /* truncated stacks end in an entry with the reason */
  bool is_not_unwound; /* recorded with --unwind none: each stack is one address by choice */
  bool has_copies;     /* … and all of them outside the kernel, from copies */
  Counters counters;
  EmbeddedFiles files;
  JitName *jit_names; /* [n_jit_names] by address */
  uint32_t n_jit_names;
  JitCode *jit_code; /* [n_jit_code] by process and time; row 0 is none */
  uint32_t n_jit_code;
  Intern strings;
  /* guarded by its own atomics: what symbolizing this capture has used */
  FileBudget file_budget;
} Store;

/* Opens a capture: a path, or "-" for standard input. .gz .bz2 .xz .zst are recognized by
 * their first bytes. Of a truncated or damaged capture the readable part is opened, and
 * `damage` describes the problem. It is an error if the file is no capture (shorter than its
 * header, wrong magic) or cannot be read. */
Store *sysprof_store_open (const char *path, GCancellable *cancellable, GError **error);
/* `fd` is borrowed and its position left alone where it can seek; `name` is for messages and
 * may be NULL. */
Store *
sysprof_store_open_fd (int fd, const char *name, GCancellable *cancellable, GError **error);
/* The same for who wants to hear how far it is. */
Store *sysprof_store_open_telling (const char *path, Progress *progress, GError **error);
Store *
sysprof_store_open_fd_telling (int fd, const char *name, Progress *progress, GError **error);
/* Inserts n_inner[address] entries into all stacks between each address and its callee, for
 * inlined calls. n_inner is [addresses.n]. The entries get new address rows after all
 * others, in the order of the addresses, the outermost first. These are copies of the row of
 * their address. The number of a stack then means its innermost entry. FALSE if there are
 * none, or too many: then nothing was done. Earlier stack ids are invalid. */
bool sysprof_store_insert_inlined_calls (Store *self, const uint16_t *n_inner);
/* The same for whoever keeps a column by address, a pointer to which `column` leads to: its `n`
 * items of `size` bytes become `n_rows`, the new ones being what those of their addresses are.
 * A column that is NULL stays so. */
void sysprof_store_extend_column (void *column,
                                  size_t size,
                                  uint32_t n,
                                  const uint16_t *n_inner,
                                  uint32_t n_rows);
/* Whether `fd` is the file that was opened, and was not written since. FALSE if it is not
 * regular. A store never changes; open the file again to read appended frames. */
bool sysprof_store_is_current (const Store *self, int fd);
Store *sysprof_store_ref (Store *self);
void sysprof_store_unref (Store *self);

static inline const char *
sysprof_store_string (const Store *self, StringId id)
{
  return sysprof_intern_get (&self->strings, id);
}

/* The first with that key, or the next one behind `after`; NULL if there is none. Recordings
 * write a key once each: what was joined may have it several times. */
const Metadata *
sysprof_store_find_metadata (const Store *self, const char *key, const Metadata *after);

/* ns from one instant to a later one, 0 to an earlier; times in captures are any numbers. */
static inline int64_t
sysprof_time_between (int64_t from, int64_t to)
{
  int64_t nsec;

  if (to <= from)
    return 0;
  return __builtin_sub_overflow (to, from, &nsec) ? INT64_MAX : nsec;
}

/* Of times that are not negative; INT64_MAX = that much or more. */
static inline int64_t
sysprof_time_sum (int64_t a, int64_t b)
{
  int64_t sum;

  return __builtin_add_overflow (a, b, &sum) ? INT64_MAX : sum;
}

/* The samples of an event; each weighs its period. *Owned*; valid as long as the store. */
typedef struct
{
  StackEvents samples; /* the store's columns, with weights of our own */
  uint8_t *is_in;      /* [samples.n] which are of the event; NULL = all */
} WeighedEvent;

/* FALSE: their periods differ, and were not kept. */
bool sysprof_store_weigh_event (const Store *self, uint32_t event, WeighedEvent *weighed);
void sysprof_weighed_event_clear (WeighedEvent *self);

/* The first at or after `time`; `n` if there is none. */
uint32_t sysprof_stack_events_find_time (const StackEvents *self, int64_t time);

/* Of an address in its mapping's file; 0 without mapping. */
static inline uint64_t
sysprof_store_file_offset (const Store *self, AddressId address)
{
  MappingId id = self->addresses.mapping[address];
  const Mapping *mapping = &self->mappings[id];

  return id != 0 ? self->addresses.address[address] - mapping->start + mapping->file_offset : 0;
}

static inline JitCodeId
sysprof_address_table_get_code (const AddressTable *self, AddressId address)
{
  return self->code != NULL ? self->code[address] : 0;
}

/* Whether code in that mapping may be generated: the mapping has no file. */
bool sysprof_store_may_be_generated (const Store *self, MappingId mapping);

/* The name of a synthetic address; NULL if it has none. */
const JitName *sysprof_store_find_jit_name (const Store *self, uint64_t address);

/* 0 when there is none. */
ProcessId sysprof_store_find_process (const Store *self, int32_t pid);
/* The name that a thread has at `time`, its last one at INT64_MAX: its process's where it has
 * none of its own. 0 where the capture has no names of threads. */
StringId
sysprof_store_thread_name (const Store *self, ProcessId process, int32_t tid, int64_t time);
/* "NAME (TID)", "Thread TID" without a name, "Thread ?" for a negative `tid`. *(full)* */
char *sysprof_store_dup_thread_label (const Store *self, ProcessId process, int32_t tid);
/* The process whose thread is processes.thread_ids[index]. */
ProcessId sysprof_store_process_of_thread (const Store *self, uint32_t index);
ProcessId sysprof_store_process_of_stack (const Store *self, StackId stack);

/* FALSE if message `i` of Store.dbus was not stored, is cut, or is none of D-Bus. */
bool sysprof_store_read_dbus_header (const Store *self, uint32_t i, DBusHeader *header);

uint32_t sysprof_store_count_overlays (const Store *self);
/* The one with number `i`. FALSE where one of its paths is not absolute. */
bool sysprof_store_read_overlay (const Store *self, uint32_t i, Overlay *overlay);

/* The embedded file of that name, or of that name with ".gz", unpacked; NULL without error when
 * absent. */
GBytes *sysprof_store_read_file (const Store *self, const char *name, GError **error);
/* The same; unpacking takes its time. */
GBytes *sysprof_store_read_file_cancellable (const Store *self,
                                             const char *name,
                                             GCancellable *cancellable,
                                             GError **error);
/* The same of an embedded file by its number. */
GBytes *sysprof_store_read_file_unpacked (const Store *self, uint32_t file, GError **error);
/* The bytes as stored. */
GBytes *sysprof_store_read_file_raw (const Store *self, uint32_t file, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Store, sysprof_store_unref)
