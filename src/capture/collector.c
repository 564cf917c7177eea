// SPDX-License-Identifier: BSD-2-Clause

/* The functions that an instrumented program calls.
 *
 * Frames go into rings that the recorder passes over its control socket. Without that socket
 * they are appended to the capture that SYSPROF_TRACE_FD names, with one write() each. This is
 * slower and has no size limit.
 *
 * Each thread requests a ring at its first frame, so frames need no lock. Recording must not
 * disturb the program: no call fails, waits long, allocates with malloc() or is re-entered on
 * its thread (a malloc hook may call from within a backtrace that allocates).
 *
 * After fork() the child has its parent's memory, but a ring has only one writer. The kernel
 * clears a word in each child, however it was forked. The child's threads then ignore the
 * inherited rings and request new ones.
 *
 * *Guarded*: `state` and `generation_word` are atomics that carry no other data; the rest is
 * set once, before `state` is. */

#include "capture/byte-order.h"
#include "capture/capture.h"
#include "capture/control.h"
#include "capture/ring.h"
#include "capture/trace-file.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ADDRESSES_MAX      128
#define LOG_TEXT_SIZE      2048
#define VALUES_PER_GROUP   8U
#define COUNTERS_PER_FRAME 127U /* 16288 bytes */
#define GROUPS_PER_FRAME   170U /* 16352 bytes */
#define COUNTER_ID_MAX     0xFFFFFFU

/* A recorder looks at the rings every few milliseconds. If a ring stays full for many times as
 * long, nothing reads it. */
#define FULL_SLEEP_NSEC 1000000L
#define FULL_WAIT_NSEC  100000000

typedef enum
{
  STATE_UNKNOWN,
  STATE_OFF, /* for good */
  STATE_ON,
} State;

/* *Owned* by its thread. */
typedef struct
{
  Ring ring;
  uint32_t generation; /* of the process that it was made in */
  int32_t pid;
  int32_t tid;
  bool is_busy;   /* in a call of this thread, which this one interrupts */
  bool is_unread; /* the ring was full for so long that waiting is no use */
  size_t size;    /* bytes of this and of `frame` */
  uint8_t frame
      []; /* [SYSPROF_CAPTURE_FRAME_MAX] without a ring: the frame until it is appended to the trace file */
} Collector;

static int state = STATE_UNKNOWN; /* State; atomic */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;   /* → Collector of the thread, or no_collector */
static int control_fd = -1; /* -1 = a trace file is used instead */
static uint32_t *
    generation_word; /* atomic; 0 = in a child that has none yet; NULL = the kernel cannot clear it */
static uint32_t last_generation; /* atomic; children count on from their parent's */
static uint32_t next_counter_id; /* atomic; 0 = none given out yet */

/* A thread has this in place of a collector if its request failed. */
static Collector no_collector;
/* The thread is requesting a ring: calls from hooks of the functions that it uses for that
 * are dropped. */
static __thread bool is_asking;

static uint32_t
get_generation (void)
{
  uint32_t generation, fresh;

  if (generation_word == NULL)
    return (uint32_t) getpid ();

  generation = __atomic_load_n (generation_word, __ATOMIC_RELAXED);
  if (generation != 0)
    return generation;

  /* Threads of the child that get here at once agree on the first one's. */
  fresh = __atomic_add_fetch (&last_generation, 1, __ATOMIC_RELAXED);
  if (__atomic_compare_exchange_n (generation_word, &generation, fresh, false, __ATOMIC_RELAXED,
                                   __ATOMIC_RELAXED))
    return fresh;

  return generation;
}

static void
free_collector (Collector *self)
{
  sysprof_ring_close (&self->ring);
  (void) munmap (self, self->size); /* our own mapping */
}

static void
end_ring (Collector *self)
{
  /* An inherited ring still has its writer, in the parent. */
  if (control_fd >= 0 && self->generation == get_generation ())
    sysprof_ring_end (&self->ring);
}

static void
end_thread (void *data)
{
  Collector *self = data;

  if (self == &no_collector)
    return;

  end_ring (self);
  free_collector (self);
}

static void
make_generation_word (void)
{
  uint32_t *word =
      mmap (NULL, sizeof *word, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (word == MAP_FAILED)
    return;
  if (madvise (word, sysprof_getpagesize (), MADV_WIPEONFORK) == 0)
    generation_word = word;
  else
    (void) munmap (word, sizeof *word); /* our own mapping */
}

static void
find_recorder (void)
{
  State found = STATE_OFF;

  sysprof_clock_init ();
  control_fd = sysprof_control_find ();
  if ((control_fd >= 0 || sysprof_trace_file_open ()) &&
      pthread_key_create (&key, end_thread) == 0)
    {
      make_generation_word ();
      found = STATE_ON;
    }
  __atomic_store_n (&state, (int) found, __ATOMIC_RELEASE); /* pairs with is_on() */
}

static bool
is_on (void)
{
  int now = __atomic_load_n (&state, __ATOMIC_RELAXED);

  if (now == STATE_OFF)
    return false;
  if (now == STATE_UNKNOWN)
    {
      int saved = errno; /* the caller's program need not know */

      (void) pthread_once (&once, find_recorder); /* cannot fail */
      errno = saved;
    }

  return __atomic_load_n (&state, __ATOMIC_ACQUIRE) == STATE_ON;
}

static void
switch_off (void)
{
  __atomic_store_n (&state, STATE_OFF, __ATOMIC_RELAXED);
}

/* When the code is unloaded, or the process exits, threads must not call into it at their
 * end. */
static void __attribute__ ((destructor)) forget_threads (void)
{
  Collector *self;

  if (__atomic_exchange_n (&state, STATE_OFF, __ATOMIC_RELAXED) != STATE_ON)
    return;

  self = pthread_getspecific (key);
  if (self != NULL && self != &no_collector)
    end_ring (self);
  (void) pthread_key_delete (key); /* was created when the state became on */
}

/* Maps the ring of a new collector. */
static bool
get_ring (Ring *ring)
{
  int ring_fd = -1;
  ControlReply reply = sysprof_control_request_ring (control_fd, &ring_fd);
  bool is_open;

  if (reply == CONTROL_GONE)
    switch_off ();
  if (reply != CONTROL_RING)
    return false;

  is_open = sysprof_ring_open (ring, ring_fd);
  (void) close (ring_fd); /* the mapping stays */
  return is_open;
}

static Collector *
new_collector (void)
{
  size_t size = sizeof (Collector) + (control_fd >= 0 ? 0 : SYSPROF_CAPTURE_FRAME_MAX);
  Collector *self =
      mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (self == MAP_FAILED)
    return NULL;
  self->size = size;
  if (control_fd >= 0 && !get_ring (&self->ring))
    {
      (void) munmap (self, size); /* our own mapping */
      return NULL;
    }
  self->generation = get_generation ();
  self->pid = getpid ();
  self->tid = (int32_t) syscall (SYS_gettid);

  return self;
}

/* The collector of a thread that has none, or one of its parent process. */
static Collector *
ask_for_collector (Collector *self)
{
  int saved = errno; /* the caller's program need not know */

  is_asking = true;
  if (self != NULL)
    {
      (void) pthread_setspecific (key, NULL); /* a slot that is in use needs no memory */
      free_collector (self);
    }

  self = new_collector ();
  if (pthread_setspecific (key, self != NULL ? self : &no_collector) != 0 && self != NULL)
    {
      free_collector (self);
      self = NULL;
    }
  is_asking = false;
  errno = saved;

  return self;
}

static Collector *
get_collector (void)
{
  Collector *self;

  if (!is_on () || is_asking)
    return NULL;

  self = pthread_getspecific (key);
  if (self == &no_collector)
    return NULL;
  if (self == NULL || self->generation != get_generation ())
    self = ask_for_collector (self);
  if (self == NULL || self->is_busy)
    return NULL;

  self->is_busy = true;
  __atomic_signal_fence (
      __ATOMIC_SEQ_CST); /* with calls from signal handlers and back traces */

  return self;
}

/* This thread's collector, for one frame; NULL if there is nothing to be done. Inlined, so that
 * the functions return before they save registers if nothing records. */
static inline __attribute__ ((always_inline)) Collector *
enter (void)
{
  if (__atomic_load_n (&state, __ATOMIC_RELAXED) == STATE_OFF)
    return NULL;

  return get_collector ();
}

static void
leave (Collector *self)
{
  __atomic_signal_fence (__ATOMIC_SEQ_CST);
  self->is_busy = false;
}

static size_t
get_longest (const Collector *self)
{
  size_t longest =
      control_fd >= 0 ? sysprof_ring_get_longest (&self->ring) : SYSPROF_CAPTURE_FRAME_MAX;

  return longest < SYSPROF_CAPTURE_FRAME_MAX ? longest : SYSPROF_CAPTURE_FRAME_MAX;
}

static uint8_t *
wait_for_room (Collector *self, size_t padded)
{
  const struct timespec pause = { .tv_nsec = FULL_SLEEP_NSEC };
  int64_t deadline = SYSPROF_CAPTURE_CURRENT_TIME + FULL_WAIT_NSEC;

  do
    {
      uint8_t *reserved;

      if (sysprof_control_is_closed (control_fd))
        {
          switch_off ();
          return NULL;
        }
      (void) nanosleep (&pause, NULL); /* a signal only shortens it */
      reserved = sysprof_ring_reserve (&self->ring, padded);
      if (reserved != NULL)
        return reserved;
    }
  while (SYSPROF_CAPTURE_CURRENT_TIME < deadline);

  return NULL;
}

/* Room for a frame. A full ring is given some time to be read, once: then frames are dropped until there is room again. */
static uint8_t *
reserve (Collector *self, size_t len)
{
  size_t padded = (len + SYSPROF_CAPTURE_ALIGN - 1) & ~(SYSPROF_CAPTURE_ALIGN - 1);
  uint8_t *reserved = NULL;
  int saved = errno; /* the caller's program need not know */

  if (control_fd < 0)
    return padded <= get_longest (self) ? self->frame : NULL;
  if (padded > get_longest (self))
    {
      sysprof_ring_count_dropped (&self->ring);
      return NULL;
    }

  reserved = sysprof_ring_reserve (&self->ring, padded);
  if (reserved == NULL && !self->is_unread)
    reserved = wait_for_room (self, padded);
  self->is_unread = reserved == NULL;
  if (reserved == NULL)
    sysprof_ring_count_dropped (&self->ring);
  errno = saved;

  return reserved;
}

static void
set_header (const Collector *self, uint8_t *frame, SysprofCaptureFrameType type, int64_t time)
{
  SysprofCaptureFrame header = {
    .cpu = (int16_t) sched_getcpu (),
    .pid = self->pid,
    .time = time,
    .type = (uint8_t) type,
  };

  memcpy (frame, &header, sizeof header);
}

static void
commit (Collector *self, uint8_t *frame, size_t len)
{
  size_t padded = (len + SYSPROF_CAPTURE_ALIGN - 1) & ~(SYSPROF_CAPTURE_ALIGN - 1);

  memset (frame + len, 0, padded - len);
  sysprof_store_u16 (frame, (uint16_t) padded);
  if (control_fd >= 0)
    sysprof_ring_commit (&self->ring, padded);
  else
    {
      int saved = errno; /* the caller's program need not know */

      if (!sysprof_trace_file_append (frame, padded))
        switch_off ();
      errno = saved;
    }
}

static void
put_text (char *field, size_t field_size, const char *text)
{
  if (text != NULL)
    memcpy (field, text, strnlen (text, field_size - 1));
}

/* Longest text that fits behind `fixed` bytes of a frame, the NUL not counted. */
static size_t
longest_text (const Collector *self, size_t fixed)
{
  size_t longest = get_longest (self);

  return longest > fixed ? longest - fixed - 1 : 0;
}

/* `len`, or less where the text was cut in the middle of a UTF-8 character. */
static size_t
whole_characters (const char *text, size_t len)
{
  size_t n_following = 0;
  size_t n_needed;
  uint8_t lead;

  while (n_following < len && n_following < 3 &&
         ((uint8_t) text[len - 1 - n_following] & 0xc0) == 0x80)
    n_following++;
  if (n_following == len)
    return len;

  lead = (uint8_t) text[len - 1 - n_following];
  n_needed = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;

  return n_following < n_needed ? len - 1 - n_following : len;
}

/* Bytes of `text` that are kept where there is room for `limit`. */
static size_t
cut_text (const char *text, size_t limit)
{
  size_t len = strnlen (text, limit + 1);

  return len <= limit ? len : whole_characters (text, limit);
}

/* Asks for the stack, into the frame. Unwinders are known to write a little before the array as
 * well: the fixed part of the frame comes after. */
static unsigned int
get_stack (uint8_t *addrs, SysprofBacktraceFunc backtrace_func, void *backtrace_data)
{
  int n_addrs = 0;

  if (backtrace_func != NULL)
    n_addrs = backtrace_func ((SysprofCaptureAddress *) (void *) addrs, ADDRESSES_MAX,
                              backtrace_data);

  if (n_addrs < 0)
    return 0;

  return n_addrs > ADDRESSES_MAX ? ADDRESSES_MAX : (unsigned int) n_addrs;
}

void
sysprof_collector_init (void)
{
  (void) is_on (); /* finding out is the point */
}

bool
sysprof_collector_is_active (void)
{
  return is_on () && pthread_getspecific (key) != &no_collector;
}

void
sysprof_collector_allocate (SysprofCaptureAddress alloc_addr,
                            int64_t alloc_size,
                            SysprofBacktraceFunc backtrace_func,
                            void *backtrace_data)
{
  const size_t fixed = sizeof (SysprofCaptureAllocation);
  bool is_free = alloc_size <= 0;
  size_t stack_size = is_free ? 0 : ADDRESSES_MAX * sizeof (SysprofCaptureAddress);
  Collector *self = enter ();
  uint8_t *frame;

  if (self == NULL)
    return;

  frame = reserve (self, fixed + stack_size);
  if (frame != NULL)
    {
      SysprofCaptureAllocation *allocation = (SysprofCaptureAllocation *) frame;
      unsigned int n_addrs =
          is_free ? 0 : get_stack (frame + fixed, backtrace_func, backtrace_data);

      memset (frame, 0, fixed);
      set_header (self, frame, SYSPROF_CAPTURE_FRAME_ALLOCATION, SYSPROF_CAPTURE_CURRENT_TIME);
      allocation->alloc_addr = alloc_addr;
      allocation->alloc_size = is_free ? 0 : alloc_size;
      allocation->tid = self->tid;
      allocation->n_addrs = (uint16_t) n_addrs;
      commit (self, frame, fixed + n_addrs * sizeof (SysprofCaptureAddress));
    }
  leave (self);
}

/* A trace is a sample that says whether a function begins. */
static_assert (offsetof (SysprofCaptureSample, tid) == offsetof (SysprofCaptureTrace, tid), "");
static_assert (sizeof (SysprofCaptureSample) == sizeof (SysprofCaptureTrace), "");

static void
add_stack (SysprofCaptureFrameType type,
           SysprofBacktraceFunc backtrace_func,
           void *backtrace_data,
           bool entering)
{
  const size_t fixed = sizeof (SysprofCaptureTrace);
  Collector *self = enter ();
  uint8_t *frame;

  if (self == NULL)
    return;

  frame = reserve (self, fixed + ADDRESSES_MAX * sizeof (SysprofCaptureAddress));
  if (frame != NULL)
    {
      SysprofCaptureTrace *trace = (SysprofCaptureTrace *) frame;
      unsigned int n_addrs = get_stack (frame + fixed, backtrace_func, backtrace_data);

      memset (frame, 0, fixed);
      set_header (self, frame, type, SYSPROF_CAPTURE_CURRENT_TIME);
      trace->tid = self->tid;
      trace->entering = entering;
      trace->n_addrs = (uint16_t) n_addrs;
      commit (self, frame, fixed + n_addrs * sizeof (SysprofCaptureAddress));
    }
  leave (self);
}

void
sysprof_collector_sample (SysprofBacktraceFunc backtrace_func, void *backtrace_data)
{
  add_stack (SYSPROF_CAPTURE_FRAME_SAMPLE, backtrace_func, backtrace_data, false);
}

void
sysprof_collector_trace (SysprofBacktraceFunc backtrace_func,
                         void *backtrace_data,
                         bool entering)
{
  add_stack (SYSPROF_CAPTURE_FRAME_TRACE, backtrace_func, backtrace_data, entering);
}

static SysprofCaptureMark *
begin_mark (Collector *self,
            int64_t time,
            int64_t duration,
            const char *group,
            const char *name,
            size_t message_len)
{
  SysprofCaptureMark *mark =
      (SysprofCaptureMark *) reserve (self, sizeof *mark + message_len + 1);

  if (mark == NULL)
    return NULL;

  memset (mark, 0, sizeof *mark);
  set_header (self, (uint8_t *) mark, SYSPROF_CAPTURE_FRAME_MARK, time);
  mark->duration = duration;
  put_text (mark->group, sizeof mark->group, group);
  put_text (mark->name, sizeof mark->name, name);

  return mark;
}

void
sysprof_collector_mark (int64_t time,
                        int64_t duration,
                        const char *group,
                        const char *mark,
                        const char *message)
{
  Collector *self = enter ();
  SysprofCaptureMark *frame;
  size_t len;

  if (self == NULL)
    return;

  if (message == NULL)
    message = "";
  len = cut_text (message, longest_text (self, sizeof *frame));
  frame = begin_mark (self, time, duration, group, mark, len);
  if (frame != NULL)
    {
      memcpy (frame->message, message, len);
      frame->message[len] = '\0';
      commit (self, (uint8_t *) frame, sizeof *frame + len + 1);
    }
  leave (self);
}

void
sysprof_collector_mark_printf (int64_t time,
                               int64_t duration,
                               const char *group,
                               const char *mark,
                               const char *message_format,
                               ...)
{
  va_list args;

  va_start (args, message_format);
  sysprof_collector_mark_vprintf (time, duration, group, mark, message_format, args);
  va_end (args);
}

/* The text is formatted straight into the ring, after its length was found out. */
void
sysprof_collector_mark_vprintf (int64_t time,
                                int64_t duration,
                                const char *group,
                                const char *mark,
                                const char *message_format,
                                va_list args)
{
  Collector *self = enter ();
  SysprofCaptureMark *frame;
  size_t len, limit;
  va_list again;
  int needed;

  if (self == NULL)
    return;

  limit = longest_text (self, sizeof *frame);
  va_copy (again, args);
  needed = message_format != NULL ? vsnprintf (NULL, 0, message_format, again) : 0;
  va_end (again);
  len = needed > 0 ? (size_t) needed : 0;
  if (len > limit)
    len = limit;

  frame = begin_mark (self, time, duration, group, mark, len);
  if (frame != NULL)
    {
      frame->message[0] = '\0';
      if (len != 0)
        (void) vsnprintf (frame->message, len + 1, message_format,
                          args); /* as long as before */
      frame->message[len] = '\0';
      if (needed > 0 && (size_t) needed > len)
        {
          len = whole_characters (frame->message, len);
          frame->message[len] = '\0';
        }
      commit (self, (uint8_t *) frame, sizeof *frame + len + 1);
    }
  leave (self);
}

void
sysprof_collector_log (int severity, const char *domain, const char *message)
{
  Collector *self = enter ();
  SysprofCaptureLog *log;
  size_t len;

  if (self == NULL)
    return;

  if (message == NULL)
    message = "";
  len = cut_text (message, longest_text (self, sizeof *log));
  log = (SysprofCaptureLog *) reserve (self, sizeof *log + len + 1);
  if (log != NULL)
    {
      memset (log, 0, sizeof *log);
      set_header (self, (uint8_t *) log, SYSPROF_CAPTURE_FRAME_LOG,
                  SYSPROF_CAPTURE_CURRENT_TIME);
      log->severity = (uint16_t) severity;
      put_text (log->domain, sizeof log->domain, domain);
      memcpy (log->message, message, len);
      log->message[len] = '\0';
      commit (self, (uint8_t *) log, sizeof *log + len + 1);
    }
  leave (self);
}

void
sysprof_collector_log_printf (int severity, const char *domain, const char *format, ...)
{
  char text[LOG_TEXT_SIZE];
  va_list args;

  if (!sysprof_collector_is_active ())
    return;

  va_start (args, format);
  if (vsnprintf (text, sizeof text, format, args) < 0)
    text[0] = '\0';
  va_end (args);
  sysprof_collector_log (severity, domain, text);
}

/* Ids are counted per process, and from a start that depends on it, since recorders of old put
 * those of several processes into one capture as they are. */
unsigned int
sysprof_collector_request_counters (unsigned int n_counters)
{
  Collector *self = enter ();
  uint32_t first, next;

  if (self == NULL)
    return 0;

  first = __atomic_load_n (&next_counter_id, __ATOMIC_RELAXED);
  do
    {
      next = first != 0 ? first : (((uint32_t) self->pid & 0xFFFFU) << 8 | 1);
      if (n_counters == 0 || n_counters > COUNTER_ID_MAX + 1 - next)
        {
          leave (self);
          return 0;
        }
    }
  while (!__atomic_compare_exchange_n (&next_counter_id, &first, next + n_counters, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  leave (self);

  return next;
}

static void
define_some (Collector *self, const SysprofCaptureCounter *counters, unsigned int n_counters)
{
  size_t len = sizeof (SysprofCaptureCounterDefine) + n_counters * sizeof *counters;
  SysprofCaptureCounterDefine *define = (SysprofCaptureCounterDefine *) reserve (self, len);

  if (define == NULL)
    return;

  memset (define, 0, len);
  set_header (self, (uint8_t *) define, SYSPROF_CAPTURE_FRAME_CTRDEF,
              SYSPROF_CAPTURE_CURRENT_TIME);
  define->n_counters = (uint16_t) n_counters;
  for (unsigned int i = 0; i < n_counters; i++)
    {
      SysprofCaptureCounter *to = &define->counters[i];

      put_text (to->category, sizeof to->category, counters[i].category);
      put_text (to->name, sizeof to->name, counters[i].name);
      put_text (to->description, sizeof to->description, counters[i].description);
      to->id = counters[i].id;
      to->type = counters[i].type;
      to->value = counters[i].value;
    }
  commit (self, (uint8_t *) define, len);
}

void
sysprof_collector_define_counters (const SysprofCaptureCounter *counters,
                                   unsigned int n_counters)
{
  Collector *self = enter ();

  if (self == NULL)
    return;

  for (unsigned int at = 0; at < n_counters; at += COUNTERS_PER_FRAME)
    define_some (self, counters + at,
                 n_counters - at < COUNTERS_PER_FRAME ? n_counters - at : COUNTERS_PER_FRAME);
  leave (self);
}

static void
set_some (Collector *self,
          const unsigned int *ids,
          const SysprofCaptureCounterValue *values,
          unsigned int n_counters)
{
  unsigned int n_groups = (n_counters + VALUES_PER_GROUP - 1) / VALUES_PER_GROUP;
  size_t len =
      sizeof (SysprofCaptureCounterSet) + n_groups * sizeof (SysprofCaptureCounterValues);
  SysprofCaptureCounterSet *set = (SysprofCaptureCounterSet *) reserve (self, len);

  if (set == NULL)
    return;

  memset (set, 0, len);
  set_header (self, (uint8_t *) set, SYSPROF_CAPTURE_FRAME_CTRSET,
              SYSPROF_CAPTURE_CURRENT_TIME);
  set->n_values = (uint16_t) n_groups;
  for (unsigned int i = 0; i < n_counters; i++)
    {
      SysprofCaptureCounterValues *group = &set->values[i / VALUES_PER_GROUP];

      group->ids[i % VALUES_PER_GROUP] = ids[i];
      group->values[i % VALUES_PER_GROUP] = values[i];
    }
  commit (self, (uint8_t *) set, len);
}

void
sysprof_collector_set_counters (const unsigned int *counters_ids,
                                const SysprofCaptureCounterValue *values,
                                unsigned int n_counters)
{
  const unsigned int per_frame = GROUPS_PER_FRAME * VALUES_PER_GROUP;
  Collector *self = enter ();

  if (self == NULL)
    return;

  for (unsigned int at = 0; at < n_counters; at += per_frame)
    set_some (self, counters_ids + at, values + at,
              n_counters - at < per_frame ? n_counters - at : per_frame);
  leave (self);
}
