// SPDX-License-Identifier: GPL-3.0-or-later

/* Merges the frames of all rings into the recording.
 *
 * Each poll first looks at the positions of all writers, and then takes the frames before them
 * in order of time. The frames of one ring keep their order, so that the definition of a
 * counter stays before its values. */

#include "rings/rings.h"

#include "capture/capture.h"
#include "join/join.h"
#include "rings/process-ids.h"
#include "rings/ring-reader.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <sys/mman.h>

#define BODY_PAGES  63 /* 252 KiB; collectors that wait for room need few pages */
#define RINGS_MAX   4096
#define TIDY_MIN    512     /* rings; with fewer, those of exited processes stay */
#define NAMES_MAX   65536   /* counters, and names of addresses, of one ring */
#define SHARED_MAX  1000000 /* counters of all rings */
#define CHECK_EVERY 64      /* frames between two looks at the clock */

typedef struct
{
  RingReader reader;
  NumberMap counters; /* those that were defined or set here */
  NumberMap addresses;
  RingProgram *program; /* borrowed */
  pid_t inner_pid;      /* of the program in its own PID namespace; 0 = the same */
  pid_t inner_tid;      /* of the thread; 0 = not known yet */
  pid_t tid;
  void *memory; /* [memory_size]; NULL = not ours */
  size_t memory_size;
  bool is_finished;
} ProgramRing;

typedef struct
{
  int64_t time; /* of the next frame; not checked, only orders the rings */
  ProgramRing *ring;
} HeapItem;

struct RingSet
{
  Translation translation; /* its maps are those of a ring while it copies a frame */
  RingLateWriterFunc late_writer;
  void *late_writer_data;
  GPtrArray *rings;     /* [ProgramRing] */
  GHashTable *programs; /* pid → RingProgram */
  GArray *heap;         /* [HeapItem] rings with frames, the earliest first */
  uint8_t *frame;       /* [RING_FRAME_MAX] */
  guint tidy_at;        /* number of rings at which those of exited processes are removed */
};

static void
free_ring (void *data)
{
  ProgramRing *ring = data;

  sysprof_number_map_clear (&ring->counters);
  sysprof_number_map_clear (&ring->addresses);
  if (ring->memory != NULL)
    (void) munmap (ring->memory, ring->memory_size); /* our own mapping */
  g_free (ring);
}

RingSet *
sysprof_ring_set_new (SysprofCaptureWriter *writer, RingLateWriterFunc late_writer, void *data)
{
  RingSet *self = g_new0 (RingSet, 1);

  if (!sysprof_translation_init (&self->translation, writer, NULL))
    g_error ("out of memory");
  self->translation.shorten = sysprof_capture_frame_shorten;
  self->translation.left = JOINED_ALL; /* the recording has its own */
  self->translation.separates_processes = true;
  self->late_writer = late_writer;
  self->late_writer_data = data;
  self->rings = g_ptr_array_new_with_free_func (free_ring);
  self->programs = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->heap = g_array_new (false, false, sizeof (HeapItem));
  self->frame = g_malloc (RING_FRAME_MAX);
  self->tidy_at = TIDY_MIN;
  return self;
}

void
sysprof_ring_set_free (RingSet *self)
{
  if (self == NULL)
    return;

  g_ptr_array_unref (self->rings);
  g_hash_table_unref (self->programs);
  g_array_unref (self->heap);
  g_free (self->frame);
  sysprof_translation_clear (&self->translation);
  g_free (self);
}

/* --- programs --- */

/* A program may have been replaced by another one with exec() since its last request. */
static void
read_name (RingProgram *program)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/comm", (int) program->pid);
  autofd fd = open (path, O_RDONLY | O_CLOEXEC);
  char name[sizeof program->name];
  ssize_t size = fd >= 0 ? read (fd, name, sizeof name) : 0;

  if (size <= 1)
    return;

  name[size - 1] = '\0'; /* the newline */
  g_strlcpy (program->name, name, sizeof program->name);
}

static RingProgram *
get_program (RingSet *self, pid_t pid)
{
  RingProgram *program = g_hash_table_lookup (self->programs, GINT_TO_POINTER (pid));

  if (program == NULL)
    {
      program = g_new0 (RingProgram, 1);
      program->pid = pid;
      g_hash_table_insert (self->programs, GINT_TO_POINTER (pid), program);
    }
  read_name (program);
  return program;
}

void
sysprof_ring_set_foreach_program (const RingSet *self, RingProgramFunc func, void *data)
{
  GHashTableIter iter;
  void *program;

  g_hash_table_iter_init (&iter, self->programs);
  while (g_hash_table_iter_next (&iter, NULL, &program))
    func (program, data);
}

static void
add_lost (const RingProgram *program, void *data)
{
  *(uint64_t *) data += program->n_dropped + program->n_rejected + program->n_invalid;
}

uint64_t
sysprof_ring_set_get_n_lost (const RingSet *self)
{
  uint64_t n = 0;

  sysprof_ring_set_foreach_program (self, add_lost, &n);
  return n;
}

/* --- rings --- */

/* The target could otherwise truncate the file, and reading it would be a fatal signal. */
static int
make_file (size_t size)
{
  autofd fd = memfd_create ("[sysprof-ring-buffer]", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  if (fd < 0 || ftruncate (fd, (off_t) size) != 0 ||
      fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return -1;

  return sysprof_steal_fd (&fd);
}

static uint8_t *
map_file (int fd, size_t page_size, size_t body_size)
{
  const int access = PROT_READ | PROT_WRITE;
  size_t size = page_size + 2 * body_size;
  uint8_t *memory = mmap (NULL, size, access, MAP_SHARED, fd, 0);

  if (memory == MAP_FAILED)
    return NULL;
  if (mmap (memory + page_size + body_size, body_size, access, MAP_SHARED | MAP_FIXED, fd,
            (off_t) page_size) != MAP_FAILED)
    return memory;

  (void) munmap (memory, size); /* our own mapping */
  return NULL;
}

void
sysprof_ring_set_add_memory (RingSet *self,
                             pid_t pid,
                             uint8_t *header,
                             const uint8_t *body,
                             uint32_t size)
{
  ProgramRing *ring = g_new0 (ProgramRing, 1);

  ring->program = get_program (self, pid);
  sysprof_ring_reader_init (&ring->reader, header, body, (uint32_t) sysprof_getpagesize (),
                            size);
  g_ptr_array_add (self->rings, ring);
}

static bool
has_exited (const RingProgram *program)
{
  return program->pid > 0 && kill (program->pid, 0) != 0 && errno == ESRCH;
}

/* Collectors of other versions do not end a ring when their process exits. A child of the
 * process may still write to it, so these rings stay while they are few. */
static void
forget_exited (RingSet *self)
{
  (void) sysprof_ring_set_drain (self, INT64_MAX);
  for (guint i = self->rings->len; i-- > 0;)
    if (has_exited (((const ProgramRing *) g_ptr_array_index (self->rings, i))->program))
      g_ptr_array_remove_index_fast (self->rings, i);
  self->tidy_at = MAX (TIDY_MIN, 2 * self->rings->len);
}

int
sysprof_ring_set_add (RingSet *self, pid_t pid)
{
  size_t page_size = sysprof_getpagesize ();
  size_t body_size = BODY_PAGES * page_size;
  autofd fd = -1;
  uint8_t *memory;
  ProgramRing *ring;

  if (self->rings->len >= MIN (self->tidy_at, RINGS_MAX))
    forget_exited (self);
  if (self->rings->len >= RINGS_MAX)
    {
      errno = EMFILE;
      return -1;
    }
  fd = make_file (page_size + body_size);
  memory = fd >= 0 ? map_file (fd, page_size, body_size) : NULL;
  if (memory == NULL)
    return -1;

  sysprof_ring_set_add_memory (self, pid, memory, memory + page_size, (uint32_t) body_size);
  ring = g_ptr_array_index (self->rings, self->rings->len - 1);
  ring->inner_pid = sysprof_ring_find_inner_pid (pid);
  ring->memory = memory;
  ring->memory_size = page_size + 2 * body_size;
  return sysprof_steal_fd (&fd);
}

unsigned
sysprof_ring_set_get_n (const RingSet *self)
{
  return self->rings->len;
}

/* --- copying --- */

static bool
is_late (uint8_t type)
{
  return type == SYSPROF_CAPTURE_FRAME_TRACE || type == SYSPROF_CAPTURE_FRAME_DBUS_MESSAGE;
}

static bool
copy_frame (RingSet *self, ProgramRing *ring, SysprofCaptureFrame *frame)
{
  Translation *translation = &self->translation;
  bool is_copied;

  if (is_late (frame->type) && self->late_writer != NULL)
    {
      translation->late_writer = self->late_writer (self->late_writer_data);
      if (translation->late_writer == NULL)
        return false;
    }

  /* Ids and addresses of two rings may be equal. */
  translation->counters = ring->counters;
  translation->addresses = ring->addresses;
  is_copied = sysprof_translation_copy_frame (translation, frame);
  ring->counters = translation->counters;
  ring->addresses = translation->addresses;
  translation->counters = (NumberMap){ 0 };
  translation->addresses = (NumberMap){ 0 };
  return is_copied;
}

static int32_t *
get_tid (SysprofCaptureFrame *frame)
{
  switch (frame->type)
    {
    case SYSPROF_CAPTURE_FRAME_SAMPLE:
      return &((SysprofCaptureSample *) frame)->tid;
    case SYSPROF_CAPTURE_FRAME_TRACE:
      return &((SysprofCaptureTrace *) frame)->tid;
    case SYSPROF_CAPTURE_FRAME_ALLOCATION:
      return &((SysprofCaptureAllocation *) frame)->tid;
    default:
      return NULL;
    }
}

/* A ring belongs to one thread, so at most one is looked up. */
static void
translate_ids (ProgramRing *ring, SysprofCaptureFrame *frame)
{
  int32_t *tid = get_tid (frame);

  if (frame->pid != ring->inner_pid)
    return;
  frame->pid = ring->program->pid;
  if (tid == NULL || *tid <= 0)
    return;
  if (*tid == ring->inner_pid)
    {
      *tid = ring->program->pid;
      return;
    }
  if (ring->inner_tid == 0)
    {
      ring->inner_tid = *tid;
      ring->tid = sysprof_ring_find_thread (ring->program->pid, *tid);
    }
  *tid = *tid == ring->inner_tid ? ring->tid : -1;
}

static void
give_up (ProgramRing *ring)
{
  ring->program->n_broken++;
  ring->is_finished = true;
}

/* Copies one frame. False if the ring has no more of them. */
static bool
copy_next (RingSet *self, ProgramRing *ring)
{
  uint64_t n_cut = self->translation.n_cut;

  switch (sysprof_ring_reader_take (&ring->reader, self->frame))
    {
    case RING_FRAME:
      break;
    case RING_EMPTY:
      return false;
    case RING_ENDED:
      ring->is_finished = true;
      return false;
    case RING_BROKEN:
      give_up (ring);
      return false;
    }

  if (ring->inner_pid != 0)
    translate_ids (ring, (SysprofCaptureFrame *) (void *) self->frame);
  if (!copy_frame (self, ring, (SysprofCaptureFrame *) (void *) self->frame))
    ring->program->n_rejected++;
  ring->program->n_shortened += self->translation.n_cut - n_cut;

  /* No program has so many names, and they need memory. */
  if (ring->counters.n + ring->addresses.n > NAMES_MAX ||
      self->translation.counters_by_id.n > SHARED_MAX)
    {
      give_up (ring);
      return false;
    }
  return ring->reader.available > 0;
}

/* --- the merge: a binary heap --- */

static HeapItem *
get_item (RingSet *self, guint i)
{
  return &g_array_index (self->heap, HeapItem, i);
}

/* Moves an item down until no item below it is earlier. */
static void
sift_down (RingSet *self, guint i)
{
  HeapItem item = *get_item (self, i);
  guint n = self->heap->len;

  for (guint child; (child = 2 * i + 1) < n; i = child)
    {
      if (child + 1 < n && get_item (self, child + 1)->time < get_item (self, child)->time)
        child++;
      if (item.time <= get_item (self, child)->time)
        break;
      *get_item (self, i) = *get_item (self, child);
    }
  *get_item (self, i) = item;
}

static RingActivity
look_at_rings (RingSet *self)
{
  RingActivity activity = RINGS_EMPTY;

  g_array_set_size (self->heap, 0);
  for (guint i = 0; i < self->rings->len; i++)
    {
      ProgramRing *ring = g_ptr_array_index (self->rings, i);
      HeapItem item = { 0, ring };

      sysprof_ring_reader_look (&ring->reader);
      if (ring->reader.is_broken)
        give_up (ring);
      if (ring->reader.available == 0)
        continue;
      if (ring->reader.available > ring->reader.size / 4)
        activity = RINGS_FILLING;
      else if (activity == RINGS_EMPTY)
        activity = RINGS_ACTIVE;
      item.time = sysprof_ring_reader_peek_time (&ring->reader);
      g_array_append_val (self->heap, item);
    }

  for (guint i = self->heap->len / 2; i-- > 0;)
    sift_down (self, i);
  return activity;
}

/* False if frames are left. */
static bool
merge (RingSet *self, int64_t deadline)
{
  for (unsigned n = 1; self->heap->len > 0; n++)
    {
      HeapItem *first = get_item (self, 0);

      if (copy_next (self, first->ring))
        {
          first->time = sysprof_ring_reader_peek_time (&first->ring->reader);
        }
      else
        {
          *first = *get_item (self, self->heap->len - 1);
          g_array_set_size (self->heap, self->heap->len - 1);
        }
      if (self->heap->len > 1)
        sift_down (self, 0);
      if (n % CHECK_EVERY == 0 && SYSPROF_CAPTURE_CURRENT_TIME >= deadline)
        return self->heap->len == 0;
    }

  return true;
}

RingActivity
sysprof_ring_set_drain (RingSet *self, int64_t deadline)
{
  RingActivity activity = look_at_rings (self);

  if (!merge (self, deadline))
    activity = RINGS_FILLING;

  for (guint i = self->rings->len; i-- > 0;)
    {
      ProgramRing *ring = g_ptr_array_index (self->rings, i);

      ring->program->n_dropped += sysprof_ring_reader_count_dropped (&ring->reader);
      ring->program->n_invalid += ring->reader.n_invalid;
      ring->reader.n_invalid = 0;
      sysprof_ring_reader_release (&ring->reader);
      if (ring->is_finished)
        g_ptr_array_remove_index_fast (self->rings, i);
    }
  return activity;
}
