// SPDX-License-Identifier: BSD-2-Clause

/* The state of recording in an instrumented program, and the ring of each thread.
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
 * *Guarded*: `sysprof_collector_state` and `generation_word` are atomics that carry no other
 * data; the rest is set once, before the state is. */

#include "capture/byte-order.h"
#include "capture/capture.h"
#include "capture/collector-private.h"
#include "capture/control.h"
#include "capture/trace-file.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A recorder looks at the rings every few milliseconds. If a ring stays full for many times as
 * long, nothing reads it. */
#define FULL_SLEEP_NSEC 1000000L
#define FULL_WAIT_NSEC  100000000

int sysprof_collector_state = STATE_UNKNOWN;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;   /* → Collector of the thread, or no_collector */
static int control_fd = -1; /* -1 = a trace file is used instead */
static uint32_t *
    generation_word; /* atomic; 0 = in a child that has none yet; NULL = the kernel cannot clear it */
static uint32_t last_generation; /* atomic; children count on from their parent's */

/* A thread has this in place of a collector if its request failed. */
static Collector no_collector;
/* The thread is looking for the recorder or requesting a ring: calls from signal handlers, and
 * from hooks of the functions that it uses for that, are dropped. */
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
  __atomic_store_n (&sysprof_collector_state, (int) found,
                    __ATOMIC_RELEASE); /* pairs with is_on() */
}

static bool
is_on (void)
{
  int now = __atomic_load_n (&sysprof_collector_state, __ATOMIC_RELAXED);

  if (now == STATE_OFF)
    return false;
  if (now == STATE_UNKNOWN)
    {
      int saved = errno; /* the caller's program need not know */

      /* A signal handler that interrupts pthread_once() would wait for its own thread. */
      if (is_asking)
        return false;
      is_asking = true;
      (void) pthread_once (&once, find_recorder); /* cannot fail */
      is_asking = false;
      errno = saved;
    }

  return __atomic_load_n (&sysprof_collector_state, __ATOMIC_ACQUIRE) == STATE_ON;
}

static void
switch_off (void)
{
  __atomic_store_n (&sysprof_collector_state, STATE_OFF, __ATOMIC_RELAXED);
}

/* When the code is unloaded, or the process exits, threads must not call into it at their
 * end. */
static void __attribute__ ((destructor)) forget_threads (void)
{
  Collector *self;

  if (__atomic_exchange_n (&sysprof_collector_state, STATE_OFF, __ATOMIC_RELAXED) != STATE_ON)
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

Collector *
sysprof_collector_get (void)
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

size_t
sysprof_collector_get_longest (const Collector *self)
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

uint8_t *
sysprof_collector_reserve (Collector *self, size_t len)
{
  size_t padded = (len + SYSPROF_CAPTURE_ALIGN - 1) & ~(SYSPROF_CAPTURE_ALIGN - 1);
  uint8_t *reserved = NULL;
  int saved = errno; /* the caller's program need not know */

  if (control_fd < 0)
    return padded <= sysprof_collector_get_longest (self) ? self->frame : NULL;
  if (padded > sysprof_collector_get_longest (self))
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

void
sysprof_collector_commit (Collector *self, uint8_t *frame, size_t len)
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
