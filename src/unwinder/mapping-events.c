// SPDX-License-Identifier: GPL-3.0-or-later

/* The queue keeps a fixed set of known files: a hash table of SETS sets with WAYS slots each,
 * which replaces the least recently checked file. The memory stays bounded however many files
 * are mapped. */

#include "unwinder/mapping-events.h"

#include "unwinder/history.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* After this time a record stops waiting for a build ID. */
#define NAMES_NSEC INT64_C (10000000000)
#define SETS       1024
#define WAYS       4
#define SLOTS      (SETS * WAYS)
#define MOST_PIDS  (4u << 20) /* the kernel's maximum */
#define MOST_BYTES (4u << 20) /* queued records: more is an attempt to exhaust memory */

typedef struct
{
  ReportedFile file;     /* inode 0 = free */
  int64_t checked_nsec;  /* when the unwinder last received a record of it */
  int64_t believed_nsec; /* no further records until this time has passed */
  bool is_named;         /* the build ID is final; size 0 = none */
  uint8_t build_id_size;
  uint8_t build_id[PERF_MOST_BUILD_ID];
} Slot;
static_assert (sizeof (Slot) == 64, "a line of memory each");

/* A header; the record follows. */
typedef struct
{
  int32_t cpu;
  uint32_t size; /* of the record */
} Unnamed;

struct MappingEvents
{
  int wake_fd;
  pthread_mutex_t lock;     /* guards all that follows */
  uint16_t set[SETS][WAYS]; /* slot numbers plus 1; 0 = free */
  Slot *slot; /* [SLOTS] in the order of first use, so that the used ones are adjacent */
  uint16_t n_slots;
  History history;
  GByteArray *records;          /* for the unwinder */
  GByteArray *unnamed;          /* of Unnamed */
  bool has_news, has_new_names; /* of `records` and of build IDs */
  bool has_lost;
  int64_t events_until; /* ns */
  uint64_t followed[MOST_PIDS / 64];
};

MappingEvents *
sysprof_mapping_events_new (int wake_fd)
{
  MappingEvents *self = g_new0 (MappingEvents, 1);

  self->wake_fd = wake_fd;
  self->slot = g_aligned_alloc0 (SLOTS, sizeof (Slot), sizeof (Slot));
  pthread_mutex_init (&self->lock, NULL);
  sysprof_history_init (&self->history);
  self->records = g_byte_array_new ();
  self->unnamed = g_byte_array_new ();
  return self;
}

void
sysprof_mapping_events_free (MappingEvents *self)
{
  if (self == NULL)
    return;

  sysprof_history_clear (&self->history);
  g_byte_array_unref (self->records);
  g_byte_array_unref (self->unnamed);
  g_aligned_free (self->slot);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

/* --- files --- */

static uint16_t *
set_of (MappingEvents *self, const ReportedFile *file)
{
  uint64_t mixed =
      (file->inode ^ (uint64_t) file->device_minor << 40) * UINT64_C (0x9e3779b97f4a7c15);

  return self->set[mixed >> 54];
}

static bool
is_same_inode (const ReportedFile *left, const ReportedFile *right)
{
  return left->inode == right->inode && left->device_major == right->device_major &&
         left->device_minor == right->device_minor;
}

static Slot *
find_slot (MappingEvents *self, const ReportedFile *file)
{
  const uint16_t *set = set_of (self, file);

  for (unsigned i = 0; i < WAYS && set[i] != 0; i++)
    if (is_same_inode (&self->slot[set[i] - 1].file, file))
      return &self->slot[set[i] - 1];
  return NULL;
}

/* The file's slot, or else the slot in its set that was checked least recently. */
static Slot *
make_slot (MappingEvents *self, const ReportedFile *file)
{
  Slot *slot = find_slot (self, file), *oldest = NULL;
  uint16_t *set = set_of (self, file);

  if (slot != NULL)
    return slot;

  for (unsigned i = 0; i < WAYS; i++)
    {
      if (set[i] == 0)
        set[i] = ++self->n_slots;
      slot = &self->slot[set[i] - 1];
      if (slot->file.inode == 0)
        return slot;
      if (oldest == NULL || slot->checked_nsec < oldest->checked_nsec)
        oldest = slot;
    }

  *oldest = (Slot){ 0 };
  return oldest;
}

void
sysprof_mapping_events_set_file (MappingEvents *self,
                                 const ReportedFile *file,
                                 const uint8_t *build_id,
                                 size_t build_id_size,
                                 int64_t believed_nsec)
{
  Slot *slot;

  if (self == NULL || file->inode == 0)
    return;

  pthread_mutex_lock (&self->lock);
  slot = make_slot (self, file);
  slot->file = *file;
  slot->checked_nsec = MAX (slot->checked_nsec, self->events_until);
  slot->believed_nsec = believed_nsec;
  slot->is_named = build_id != NULL;
  slot->build_id_size =
      build_id != NULL && build_id_size <= PERF_MOST_BUILD_ID ? (uint8_t) build_id_size : 0;
  if (slot->build_id_size > 0)
    memcpy (slot->build_id, build_id, build_id_size);
  self->has_new_names |= slot->is_named;
  pthread_mutex_unlock (&self->lock);
}

void
sysprof_mapping_events_forget_file (MappingEvents *self, const ReportedFile *file)
{
  Slot *slot;

  if (self == NULL)
    return;

  pthread_mutex_lock (&self->lock);
  slot = find_slot (self, file);
  if (slot != NULL)
    *slot = (Slot){ 0 };
  pthread_mutex_unlock (&self->lock);
}

static ReportedFile
file_of (const TaskEvent *event)
{
  return (ReportedFile){ event->inode, event->inode_generation, event->device_major,
                         event->device_minor };
}

/* --- the pump --- */

static bool
is_followed (const MappingEvents *self, int32_t pid)
{
  return (uint32_t) pid < MOST_PIDS &&
         (self->followed[(uint32_t) pid / 64] >> ((uint32_t) pid % 64) & 1) != 0;
}

static void
wake_with (MappingEvents *self, const struct perf_event_header *record)
{
  if (self->records->len < MOST_BYTES)
    g_byte_array_append (self->records, (const uint8_t *) record, record->size);
  else
    self->has_lost = true;
  self->has_news = true;
}

static void
note_lost (MappingEvents *self)
{
  pthread_mutex_lock (&self->lock);
  self->has_lost = self->has_news = true;
  pthread_mutex_unlock (&self->lock);
}

static void
wait_for_name (MappingEvents *self, const struct perf_event_header *record, int cpu)
{
  Unnamed unnamed = { cpu, record->size };

  if (self->unnamed->len >= MOST_BYTES)
    return;
  g_byte_array_append (self->unnamed, (const uint8_t *) &unnamed, sizeof unnamed);
  g_byte_array_append (self->unnamed, (const uint8_t *) record, record->size);
}

/* TRUE: the unwinder must look at the file. */
static bool
see_file (MappingEvents *self,
          const TaskEvent *event,
          const struct perf_event_header *record,
          int cpu,
          uint8_t *build_id,
          size_t *build_id_size)
{
  ReportedFile file = file_of (event);
  Slot *slot;
  bool is_new;

  if (file.inode == 0)
    return false;

  slot = find_slot (self, &file);
  is_new = slot == NULL || slot->file.generation != file.generation;
  if (is_new || !slot->is_named)
    wait_for_name (self, record, cpu);
  else if (slot->build_id_size > 0)
    memcpy (build_id, slot->build_id, *build_id_size = slot->build_id_size);
  if (is_new)
    return true;

  if (event->time - slot->checked_nsec < slot->believed_nsec)
    return false;
  slot->checked_nsec = event->time;
  return true;
}

size_t
sysprof_mapping_events_add (const struct perf_event_header *record,
                            int cpu,
                            uint8_t *build_id,
                            void *data)
{
  MappingEvents *self = data;
  size_t build_id_size = 0;
  bool is_news = false;
  TaskEvent event;

  if (record->type == PERF_RECORD_LOST)
    note_lost (self);
  if (!sysprof_task_event_parse (&event, record))
    return 0;

  pthread_mutex_lock (&self->lock);
  sysprof_history_add (&self->history, &event, event.time / 1000);
  if (event.kind == TASK_MAPPED)
    is_news = see_file (self, &event, record, cpu, build_id, &build_id_size);
  if (is_news || is_followed (self, event.pid))
    wake_with (self, record);
  pthread_mutex_unlock (&self->lock);
  return build_id_size;
}

void
sysprof_mapping_events_wake_later (MappingEvents *self)
{
  pthread_mutex_lock (&self->lock);
  self->has_news = true;
  pthread_mutex_unlock (&self->lock);
}

void
sysprof_mapping_events_drained (int64_t until, void *data)
{
  MappingEvents *self = data;
  const uint64_t one = 1;
  bool has_news;

  pthread_mutex_lock (&self->lock);
  self->events_until = until;
  has_news = self->has_news;
  self->has_news = false;
  pthread_mutex_unlock (&self->lock);

  if (has_news)
    (void) !write (self->wake_fd, &one, sizeof one); /* full: already signaled */
}

/* FALSE: the build ID is not known yet. */
static bool
name_record (MappingEvents *self,
             PerfDecoder *decoder,
             const struct perf_event_header *record,
             int32_t cpu)
{
  TaskEvent event;
  ReportedFile file;
  Slot named = { 0 };
  const Slot *slot;
  int64_t events_until;

  if (!sysprof_task_event_parse (&event, record))
    return true;

  file = file_of (&event);
  pthread_mutex_lock (&self->lock);
  slot = find_slot (self, &file);
  if (slot != NULL)
    named = *slot;
  events_until = self->events_until;
  pthread_mutex_unlock (&self->lock);

  if (!named.is_named || named.file.generation != file.generation)
    return events_until - event.time >= NAMES_NSEC;
  if (named.build_id_size > 0)
    sysprof_perf_decoder_write_named (decoder, record, cpu, named.build_id,
                                      named.build_id_size);
  return true;
}

void
sysprof_mapping_events_write_named (MappingEvents *self, PerfDecoder *decoder)
{
  GByteArray *waiting;
  guint kept = 0;

  pthread_mutex_lock (&self->lock);
  waiting = self->has_new_names && self->unnamed->len > 0 ? self->unnamed : NULL;
  if (waiting != NULL)
    self->unnamed = g_byte_array_new ();
  self->has_new_names = false;
  pthread_mutex_unlock (&self->lock);
  if (waiting == NULL)
    return;

  for (guint at = 0; at < waiting->len;)
    {
      Unnamed unnamed;
      const struct perf_event_header *record;

      memcpy (&unnamed, waiting->data + at, sizeof unnamed);
      record = (const void *) (waiting->data + at + sizeof unnamed);
      if (!name_record (self, decoder, record, unnamed.cpu))
        {
          memmove (waiting->data + kept, waiting->data + at, sizeof unnamed + unnamed.size);
          kept += (guint) sizeof unnamed + unnamed.size;
        }
      at += (guint) sizeof unnamed + unnamed.size;
    }

  pthread_mutex_lock (&self->lock);
  g_byte_array_append (self->unnamed, waiting->data, kept);
  pthread_mutex_unlock (&self->lock);
  g_byte_array_unref (waiting);
}

/* --- the unwinder --- */

void
sysprof_mapping_events_remember (MappingEvents *self, const TaskEvent *event)
{
  pthread_mutex_lock (&self->lock);
  sysprof_history_add (&self->history, event, event->time / 1000);
  pthread_mutex_unlock (&self->lock);
}

void
sysprof_mapping_events_recall (MappingEvents *self, int32_t pid, GArray *found)
{
  pthread_mutex_lock (&self->lock);
  sysprof_history_find (&self->history, pid, found);
  pthread_mutex_unlock (&self->lock);
}

void
sysprof_mapping_events_follow (MappingEvents *self, int32_t pid, bool follows)
{
  uint64_t bit = UINT64_C (1) << ((uint32_t) pid % 64);

  if (self == NULL || (uint32_t) pid >= MOST_PIDS)
    return;

  pthread_mutex_lock (&self->lock);
  if (follows)
    self->followed[(uint32_t) pid / 64] |= bit;
  else
    self->followed[(uint32_t) pid / 64] &= ~bit;
  pthread_mutex_unlock (&self->lock);
}

void
sysprof_mapping_events_forget_history (MappingEvents *self)
{
  pthread_mutex_lock (&self->lock);
  sysprof_history_forget (&self->history);
  pthread_mutex_unlock (&self->lock);
}

int64_t
sysprof_mapping_events_take (MappingEvents *self, GByteArray *records, bool *has_lost)
{
  int64_t until;

  pthread_mutex_lock (&self->lock);
  g_byte_array_append (records, self->records->data, self->records->len);
  g_byte_array_set_size (self->records, 0);
  *has_lost = self->has_lost;
  self->has_lost = false;
  until = self->events_until;
  pthread_mutex_unlock (&self->lock);
  return until;
}
