// SPDX-License-Identifier: GPL-3.0-or-later

/* The event loop of a recording: descriptors in an epoll set, ticks, work in slices, calls from
 * other threads. A source must not block. */

#include "record/pump.h"

#include "record/clock.h"
#include "util/util.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define MAX_EVENTS       32
#define WORK_SLICE       (4 * NSEC_PER_MSEC)
#define NO_DEADLINE_MSEC 60000 /* how long to sleep when nothing is due */

typedef struct
{
  int fd; /* -1 = removed */
  PumpReadyFunc ready;
  void *data;
} PumpWatch;

typedef struct
{
  int64_t interval; /* ns */
  int64_t next;     /* ns; the start plus a multiple of the interval */
  PumpTickFunc tick;
  void *data;
} PumpTick;

typedef struct
{
  PumpWorkFunc work; /* NULL = done */
  void *data;
} PumpWork;

typedef struct
{
  PumpFunc func;
  void *data;
} PumpCall;

struct Pump
{
  RecordingContext *context; /* borrowed */
  int epoll_fd;
  int wake_fd; /* eventfd: another thread has queued a call or requests the end */

  /* Owned by the pump thread. */
  GPtrArray *watches; /* [PumpWatch]; a removed watch stays until the end of the loop's round */
  GArray *ticks;      /* [PumpTick] */
  GArray *works;      /* [PumpWork] */
  int64_t begin;      /* ns; the ticks run since then; 0 = not yet */

  /* Guarded by `lock`. This is not a GMutex because ThreadSanitizer does not know those. */
  pthread_mutex_t lock;
  GArray *invoked; /* [PumpCall]; NULL once the recording has ended */

  atomic_bool stop_requested; /* any thread; release, pairs with the acquire of the loop */
};

/* --- descriptors --- */

static void
woken (RecordingContext *context, int fd, void *data)
{
  uint64_t n;

  (void) !read (fd, &n, sizeof n); /* only resets it; the queued calls are in `invoked` */
  sysprof_pump_run_invoked (data);
}

void
sysprof_pump_watch_fd (Pump *self, int fd, PumpReadyFunc ready, void *data)
{
  PumpWatch *watch = g_new0 (PumpWatch, 1);
  struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };

  *watch = (PumpWatch){ fd, ready, data };
  if (epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
    {
      g_debug ("epoll rejects descriptor %d: %s", fd, g_strerror (errno));
      g_free (watch);
      return;
    }

  g_ptr_array_add (self->watches, watch);
}

void
sysprof_pump_unwatch_fd (Pump *self, int fd)
{
  for (guint i = 0; i < self->watches->len; i++)
    {
      PumpWatch *watch = g_ptr_array_index (self->watches, i);

      if (watch->fd != fd)
        continue;

      (void) epoll_ctl (self->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
      /* freed later, because an event that was already fetched may point to it */
      watch->fd = -1;
      return;
    }
}

static void
forget_removed_watches (Pump *self)
{
  for (guint i = self->watches->len; i > 0; i--)
    {
      PumpWatch *watch = g_ptr_array_index (self->watches, i - 1);

      if (watch->fd < 0)
        g_ptr_array_remove_index_fast (self->watches, i - 1);
    }
}

/* --- ticks --- */

void
sysprof_pump_add_tick (Pump *self, int64_t interval, PumpTickFunc tick, void *data)
{
  PumpTick added = { interval, self->begin, tick, data };

  g_return_if_fail (interval > 0);

  g_array_append_val (self->ticks, added);
}

void
sysprof_pump_remove_tick (Pump *self, PumpTickFunc tick, void *data)
{
  for (guint i = 0; i < self->ticks->len; i++)
    {
      const PumpTick *known = &g_array_index (self->ticks, PumpTick, i);

      if (known->tick != tick || known->data != data)
        continue;

      g_array_remove_index (self->ticks, i);
      return;
    }
}

void
sysprof_pump_change_tick (Pump *self, int64_t interval, PumpTickFunc tick, void *data)
{
  int64_t since_begin = sysprof_clock_now () - self->begin;

  g_return_if_fail (interval > 0);

  for (guint i = 0; i < self->ticks->len; i++)
    {
      PumpTick *known = &g_array_index (self->ticks, PumpTick, i);

      if (known->tick != tick || known->data != data)
        continue;

      known->interval = interval;
      known->next = self->begin + (since_begin / interval + 1) * interval;
      return;
    }
}

void
sysprof_pump_start_ticks (Pump *self, int64_t begin)
{
  self->begin = begin;
  for (guint i = 0; i < self->ticks->len; i++)
    g_array_index (self->ticks, PumpTick, i).next = begin;
}

static void
run_ticks (Pump *self)
{
  int64_t now = sysprof_clock_now ();

  if (self->begin == 0)
    return;

  for (guint i = 0; i < self->ticks->len; i++)
    {
      PumpTick *tick = &g_array_index (self->ticks, PumpTick, i);
      PumpTick copy = *tick; /* a tick may add ticks, and remove itself */

      if (tick->next > now)
        continue;

      /* Missed ticks are skipped; all ticks stay on the common grid. */
      tick->next += ((now - tick->next) / tick->interval + 1) * tick->interval;
      copy.tick (self->context, now, copy.data);
    }
}

/* --- work in slices --- */

void
sysprof_pump_add_work (Pump *self, PumpWorkFunc work, void *data)
{
  PumpWork added = { work, data };

  g_array_append_val (self->works, added);
}

static void
run_work (Pump *self)
{
  int64_t deadline = sysprof_clock_now () + WORK_SLICE;

  for (guint i = 0; i < self->works->len;)
    {
      PumpWork work = g_array_index (self->works, PumpWork, i);

      if (work.work (self->context, deadline, work.data))
        i++;
      else
        g_array_remove_index (self->works, i);
    }
}

/* --- calls from other threads --- */

static void
wake (Pump *self)
{
  uint64_t one = 1;

  /* fails if the counter is full: the thread is awake then */
  (void) !write (self->wake_fd, &one, sizeof one);
}

bool
sysprof_pump_invoke (Pump *self, PumpFunc func, void *data)
{
  PumpCall call = { func, data };
  bool is_taken;

  pthread_mutex_lock (&self->lock);
  is_taken = self->invoked != NULL;
  if (is_taken)
    g_array_append_val (self->invoked, call);
  pthread_mutex_unlock (&self->lock);

  if (is_taken)
    wake (self);
  return is_taken;
}

static void
run_calls (Pump *self, GArray *calls)
{
  for (guint i = 0; i < calls->len; i++)
    {
      PumpCall call = g_array_index (calls, PumpCall, i);

      call.func (self->context, call.data);
    }
  g_array_unref (calls);
}

void
sysprof_pump_run_invoked (Pump *self)
{
  GArray *calls = g_array_new (false, false, sizeof (PumpCall));

  pthread_mutex_lock (&self->lock);
  if (self->invoked != NULL)
    {
      GArray *taken = self->invoked;

      self->invoked = calls;
      calls = taken;
    }
  pthread_mutex_unlock (&self->lock);

  run_calls (self, calls);
}

void
sysprof_pump_close_invoked (Pump *self)
{
  GArray *calls;

  pthread_mutex_lock (&self->lock);
  calls = g_steal_pointer (&self->invoked);
  pthread_mutex_unlock (&self->lock);

  if (calls != NULL)
    run_calls (self, calls);
}

void
sysprof_pump_request_stop (Pump *self)
{
  atomic_store_explicit (&self->stop_requested, true, memory_order_release);
  wake (self);
}

bool
sysprof_pump_is_stop_requested (Pump *self)
{
  return atomic_load_explicit (&self->stop_requested, memory_order_acquire);
}

/* --- one round of the loop --- */

static int
msec_until_due (Pump *self, int64_t deadline)
{
  int64_t due = deadline;
  int64_t left;

  if (self->works->len > 0)
    return 0;

  for (guint i = 0; i < self->ticks->len && self->begin != 0; i++)
    due = MIN (due, g_array_index (self->ticks, PumpTick, i).next);

  left = due - sysprof_clock_now ();
  if (left <= 0)
    return 0;
  if (left > NO_DEADLINE_MSEC * NSEC_PER_MSEC)
    return NO_DEADLINE_MSEC;
  return (int) ((left + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

void
sysprof_pump_dispatch (Pump *self, int64_t deadline)
{
  struct epoll_event events[MAX_EVENTS];
  int n = epoll_wait (self->epoll_fd, events, MAX_EVENTS, msec_until_due (self, deadline));

  for (int i = 0; i < n; i++)
    {
      PumpWatch *watch = events[i].data.ptr;

      if (watch->fd >= 0)
        watch->ready (self->context, watch->fd, watch->data);
    }

  forget_removed_watches (self);
  run_ticks (self);
  run_work (self);
}

/* --- setup and cleanup --- */

Pump *
sysprof_pump_new (RecordingContext *context)
{
  Pump *self = g_new0 (Pump, 1);

  self->context = context;
  self->epoll_fd = -1;
  self->wake_fd = -1;
  pthread_mutex_init (&self->lock, NULL);
  return self;
}

bool
sysprof_pump_open (Pump *self, GError **error)
{
  self->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (self->epoll_fd < 0 || self->wake_fd < 0)
    {
      sysprof_set_error_errno (error, "Cannot start a recording: cannot create its event loop");
      return false;
    }

  self->watches = g_ptr_array_new_with_free_func (g_free);
  self->ticks = g_array_new (false, false, sizeof (PumpTick));
  self->works = g_array_new (false, false, sizeof (PumpWork));
  self->invoked = g_array_new (false, false, sizeof (PumpCall));
  sysprof_pump_watch_fd (self, self->wake_fd, woken, self);
  return true;
}

void
sysprof_pump_free (Pump *self)
{
  sysprof_autofd_close (&self->epoll_fd);
  sysprof_autofd_close (&self->wake_fd);
  g_clear_pointer (&self->watches, g_ptr_array_unref);
  g_clear_pointer (&self->ticks, g_array_unref);
  g_clear_pointer (&self->works, g_array_unref);
  g_clear_pointer (&self->invoked, g_array_unref);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}
