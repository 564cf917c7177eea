// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the rings of all CPUs. The rings are shared memory, so every record is checked before
 * it is used. */

#include "waits/wait-rings.h"

#include "util/util.h"

#include <sys/mman.h>

struct WaitRings
{
  unsigned n;
  uint32_t size; /* bytes of data in each ring, a power of two */
  size_t stride;
  uint8_t *rings;
  WaitsControl *control;
  uint64_t *first; /* [n] heads of the rings at the first and at the second reading */
  uint64_t *second;
  uint64_t *told;      /* [n] stacks and threads before this position have been delivered */
  uint64_t most_given; /* bytes of the fullest ring at the last drain */
  bool is_mapped;
};

static WaitRings *
make_rings (unsigned n, uint32_t size)
{
  WaitRings *self = g_new0 (WaitRings, 1);

  self->n = n;
  self->size = size;
  self->stride = (WAITS_RING_SIZE (size) + 7) & ~(size_t) 7;
  self->first = g_new0 (uint64_t, n);
  self->second = g_new0 (uint64_t, n);
  self->told = g_new0 (uint64_t, n);
  return self;
}

WaitRings *
sysprof_wait_rings_new (const WaitsProgram *program, GError **error)
{
  WaitRings *self = make_rings (sysprof_waits_n_rings (), sysprof_waits_ring_size ());
  void *rings = mmap (NULL, self->stride * self->n, PROT_READ | PROT_WRITE, MAP_SHARED,
                      program->fd[WAITS_RINGS_FD], 0);
  void *control = mmap (NULL, sizeof *self->control, PROT_READ | PROT_WRITE, MAP_SHARED,
                        program->fd[WAITS_CONTROL_FD], 0);

  self->is_mapped = true;
  self->rings = rings != MAP_FAILED ? rings : NULL;
  self->control = control != MAP_FAILED ? control : NULL;
  if (self->rings != NULL && self->control != NULL)
    return self;

  sysprof_set_error_errno (error, "Cannot map the %zu bytes into which the kernel writes waits",
                           self->stride * self->n);
  sysprof_wait_rings_free (self);
  return NULL;
}

WaitRings *
sysprof_wait_rings_new_in_memory (unsigned n, uint32_t size)
{
  WaitRings *self = make_rings (n, size);

  self->rings = g_malloc0 (self->stride * n);
  self->control = g_new0 (WaitsControl, 1);
  return self;
}

void
sysprof_wait_rings_free (WaitRings *self)
{
  if (self == NULL)
    return;

  if (!self->is_mapped)
    {
      g_free (self->rings);
      g_free (self->control);
    }
  else
    {
      if (self->rings != NULL)
        (void) munmap (self->rings, self->stride * self->n);
      if (self->control != NULL)
        (void) munmap (self->control, sizeof *self->control);
    }
  g_free (self->first);
  g_free (self->second);
  g_free (self->told);
  g_free (self);
}

WaitsControl *
sysprof_wait_rings_get_control (WaitRings *self)
{
  return self->control;
}

WaitsRing *
sysprof_wait_rings_get_ring (WaitRings *self, unsigned i)
{
  return (WaitsRing *) (void *) (self->rings + i * self->stride);
}

/* Pairs with commit() in the BPF program. */
static void
look_at_heads (WaitRings *self, uint64_t *heads)
{
  for (unsigned i = 0; i < self->n; i++)
    heads[i] = __atomic_load_n (&sysprof_wait_rings_get_ring (self, i)->head, __ATOMIC_ACQUIRE);
}

static bool
is_right (const WaitsHead *head, uint64_t left)
{
  size_t least;

  if (head->size > left || head->size > WAITS_MOST_RECORD || head->size % 8 != 0)
    return false;
  switch (head->kind)
    {
    case WAITS_THREAD:
      return head->size == sizeof (WaitsThread);
    case WAITS_WAIT:
      return head->size == sizeof (WaitsWait);
    case WAITS_RAN:
      return head->size == sizeof (WaitsRan);
    case WAITS_STACK:
      if (head->size < sizeof (WaitsStack))
        return false;
      least = sizeof (WaitsStack) +
              8 * ((size_t) ((const WaitsStack *) (const void *) head)->n_kernel +
                   ((const WaitsStack *) (const void *) head)->n_user);
      return head->size == least;
    default:
      return false;
    }
}

static bool
is_wait (const WaitsHead *head)
{
  return head->kind == WAITS_WAIT || head->kind == WAITS_RAN;
}

/* Delivers the records in [from, to): either waits and run times, or stacks and threads. FALSE:
 * a record is invalid. */
static bool
give (WaitRings *self,
      unsigned i,
      uint64_t from,
      uint64_t to,
      bool gives_waits,
      WaitRecordFunc func,
      void *data)
{
  const WaitsRing *ring = sysprof_wait_rings_get_ring (self, i);

  if (to - from > self->size)
    return false;
  while (from < to)
    {
      const WaitsHead *head =
          (const WaitsHead *) (const void *) (ring->data + (from & (self->size - 1)));

      if (to - from < sizeof *head || !is_right (head, to - from))
        return false;
      if (is_wait (head) == gives_waits)
        func (head, data);
      from += head->size;
    }
  return true;
}

/* A wait can refer to a stack or a thread in another CPU's ring. Those were written before the
 * wait. So this function reads all heads twice. It delivers waits up to the first head, and
 * before them stacks and threads up to the second head, which includes all that these waits
 * refer to. */
bool
sysprof_wait_rings_drain (WaitRings *self, WaitRecordFunc func, void *data)
{
  bool is_right_all = true;

  self->most_given = 0;
  look_at_heads (self, self->first);
  look_at_heads (self, self->second);
  for (unsigned i = 0; i < self->n; i++)
    {
      if (!give (self, i, self->told[i], self->second[i], false, func, data))
        is_right_all = false;
      self->told[i] = self->second[i];
    }
  for (unsigned i = 0; i < self->n; i++)
    {
      WaitsRing *ring = sysprof_wait_rings_get_ring (self, i);

      if (!give (self, i, ring->tail, self->first[i], true, func, data))
        is_right_all = false;
      self->most_given = MAX (self->most_given, self->first[i] - ring->tail);
      __atomic_store_n (&ring->tail, self->first[i], __ATOMIC_RELEASE);
    }
  return is_right_all;
}

double
sysprof_wait_rings_get_fill (const WaitRings *self)
{
  return (double) MIN (self->most_given, self->size) / self->size;
}

uint32_t
sysprof_wait_rings_get_size (const WaitRings *self)
{
  return self->size;
}

uint64_t
sysprof_wait_rings_count_lost (const WaitRings *self)
{
  uint64_t n = 0;

  for (unsigned i = 0; i < self->n; i++)
    {
      const WaitsRing *ring =
          sysprof_wait_rings_get_ring ((WaitRings *) self, i); /* only read */

      n += ring->n_lost + ring->n_unknown;
    }
  return n;
}

uint64_t
sysprof_wait_rings_count_unseen (const WaitRings *self)
{
  uint64_t n = 0;

  for (unsigned i = 0; i < self->n; i++)
    n += sysprof_wait_rings_get_ring ((WaitRings *) self, i)->n_unseen; /* only read */
  return n;
}
