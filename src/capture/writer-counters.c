// SPDX-License-Identifier: BSD-2-Clause

/* Counters: ids, definitions, values, and those of another capture. */

#include "capture/writer.h"

#include <errno.h>

#define COUNTERS_PER_FRAME                                                    \
  ((SYSPROF_CAPTURE_FRAME_USUAL_MAX - sizeof (SysprofCaptureCounterDefine)) / \
   sizeof (SysprofCaptureCounter))
#define GROUPS_PER_FRAME                                                   \
  ((SYSPROF_CAPTURE_FRAME_USUAL_MAX - sizeof (SysprofCaptureCounterSet)) / \
   sizeof (SysprofCaptureCounterValues))
#define VALUES_PER_GROUP 8U

/* A counter whose values came before its definition has an id already, and gets no second one. */
#define IS_DEFINED (UINT64_C (1) << 32)

unsigned int
sysprof_capture_writer_request_counter (SysprofCaptureWriter *self, unsigned int n_counters)
{
  unsigned int first = self->next_counter_id;

  if (n_counters > SYSPROF_CAPTURE_COUNTER_ID_MAX + 1 - first)
    {
      errno = ERANGE;
      return 0;
    }
  self->next_counter_id += n_counters;

  return first;
}

static void
copy_counter (SysprofCaptureCounter *to, const SysprofCaptureCounter *from)
{
  /* Padding after the texts of a caller's structure must not be recorded. */
  sysprof_capture_put_text ((uint8_t *) to->category, sizeof to->category, from->category);
  sysprof_capture_put_text ((uint8_t *) to->name, sizeof to->name, from->name);
  sysprof_capture_put_text ((uint8_t *) to->description, sizeof to->description,
                            from->description);
  to->id = from->id;
  to->type = from->type;
  to->value = from->value;
}

static bool
define_some (SysprofCaptureWriter *self,
             int64_t time,
             int cpu,
             int32_t pid,
             const SysprofCaptureCounter *counters,
             size_t n_counters)
{
  SysprofCaptureCounterDefine *define;
  size_t len = sizeof *define + n_counters * sizeof *counters;

  define = (SysprofCaptureCounterDefine *) sysprof_capture_writer_begin_frame (
      self, SYSPROF_CAPTURE_FRAME_CTRDEF, time, cpu, pid, len, len);
  if (define == NULL)
    return false;
  define->n_counters = (uint16_t) n_counters;
  for (size_t i = 0; i < n_counters; i++)
    copy_counter (&define->counters[i], &counters[i]);
  sysprof_capture_writer_commit (self, len);

  return true;
}

bool
sysprof_capture_writer_define_counters (SysprofCaptureWriter *self,
                                        int64_t time,
                                        int cpu,
                                        int32_t pid,
                                        const SysprofCaptureCounter *counters,
                                        unsigned int n_counters)
{
  for (unsigned int i = 0; i < n_counters; i++)
    if (counters[i].id == 0 || counters[i].id >= self->next_counter_id)
      {
        errno = EINVAL;
        return false;
      }

  for (size_t at = 0; at < n_counters; at += COUNTERS_PER_FRAME)
    {
      size_t n = n_counters - at < COUNTERS_PER_FRAME ? n_counters - at : COUNTERS_PER_FRAME;

      if (!define_some (self, time, cpu, pid, counters + at, n))
        return false;
    }

  return true;
}

static bool
set_some (SysprofCaptureWriter *self,
          int64_t time,
          int cpu,
          int32_t pid,
          const unsigned int *ids,
          const SysprofCaptureCounterValue *values,
          size_t n_counters)
{
  SysprofCaptureCounterSet *set;
  size_t n_groups = (n_counters + VALUES_PER_GROUP - 1) / VALUES_PER_GROUP;
  size_t len = sizeof *set + n_groups * sizeof (SysprofCaptureCounterValues);

  set = (SysprofCaptureCounterSet *) sysprof_capture_writer_begin_frame (
      self, SYSPROF_CAPTURE_FRAME_CTRSET, time, cpu, pid, len, len);
  if (set == NULL)
    return false;
  set->n_values = (uint16_t) n_groups;
  for (size_t i = 0; i < n_counters; i++)
    {
      SysprofCaptureCounterValues *group = &set->values[i / VALUES_PER_GROUP];

      group->ids[i % VALUES_PER_GROUP] = ids[i];
      group->values[i % VALUES_PER_GROUP] = values[i];
    }
  sysprof_capture_writer_commit (self, len);

  return true;
}

bool
sysprof_capture_writer_set_counters (SysprofCaptureWriter *self,
                                     int64_t time,
                                     int cpu,
                                     int32_t pid,
                                     const unsigned int *counters_ids,
                                     const SysprofCaptureCounterValue *values,
                                     unsigned int n_counters)
{
  const size_t per_frame = GROUPS_PER_FRAME * VALUES_PER_GROUP;

  for (size_t at = 0; at < n_counters; at += per_frame)
    {
      size_t n = n_counters - at < per_frame ? n_counters - at : per_frame;

      if (!set_some (self, time, cpu, pid, counters_ids + at, values + at, n))
        return false;
    }

  return true;
}

static uint64_t
counter_key (int32_t pid, uint32_t id)
{
  return (uint64_t) (uint32_t) pid << 32 | id;
}

static uint64_t
shared_counter_key (const Translation *self, int32_t pid, uint32_t id)
{
  return self->separates_processes ? counter_key (pid, id) : id;
}

static bool
set_counter (Translation *self, int32_t pid, uint32_t id, uint64_t ours)
{
  return sysprof_number_map_set (&self->counters, counter_key (pid, id), ours) &&
         sysprof_number_map_set (&self->counters_by_id, shared_counter_key (self, pid, id),
                                 ours);
}

static unsigned int
new_counter (Translation *self, int32_t pid, uint32_t id, uint64_t flags)
{
  unsigned int ours = sysprof_capture_writer_request_counter (self->writer, 1);

  return ours != 0 && set_counter (self, pid, id, ours | flags) ? ours : 0;
}

/* The counter that was set before its definition, by another thread of the process perhaps;
 * 0 = none. */
static uint64_t
find_undefined (const Translation *self, int32_t pid, uint32_t id)
{
  uint64_t known = sysprof_number_map_get (&self->counters, counter_key (pid, id));

  if (known == 0 && self->separates_processes)
    known = sysprof_number_map_get (&self->counters_by_id, shared_counter_key (self, pid, id));
  return (known & IS_DEFINED) == 0 ? known : 0;
}

bool
sysprof_translation_copy_definitions (Translation *self, SysprofCaptureCounterDefine *define)
{
  const SysprofCaptureFrame *frame = &define->frame;

  for (unsigned int i = 0; i < define->n_counters; i++)
    {
      uint32_t id = define->counters[i].id;
      uint64_t known = find_undefined (self, frame->pid, id);
      unsigned int ours = (unsigned int) known;

      if (known == 0)
        ours = new_counter (self, frame->pid, id, IS_DEFINED);
      else if (!set_counter (self, frame->pid, id, known | IS_DEFINED))
        return false;
      if (ours == 0)
        return false;
      define->counters[i].id = ours & SYSPROF_CAPTURE_COUNTER_ID_MAX;
    }

  return sysprof_capture_writer_define_counters (
      self->writer, frame->time, frame->cpu, frame->pid,
      (const SysprofCaptureCounter *) define->counters, define->n_counters);
}

static unsigned int
translate_counter (Translation *self, int32_t pid, uint32_t id)
{
  uint64_t ours = sysprof_number_map_get (&self->counters, counter_key (pid, id));

  if (ours == 0)
    ours = sysprof_number_map_get (&self->counters_by_id, shared_counter_key (self, pid, id));
  if (ours == 0)
    ours = new_counter (self, pid, id, 0);

  return (unsigned int) ours;
}

bool
sysprof_translation_copy_values (Translation *self, const SysprofCaptureCounterSet *set)
{
  const SysprofCaptureFrame *frame = &set->frame;
  unsigned int n = 0;

  for (unsigned int i = 0; i < set->n_values * VALUES_PER_GROUP; i++)
    {
      const SysprofCaptureCounterValues *group = &set->values[i / VALUES_PER_GROUP];
      uint32_t id = group->ids[i % VALUES_PER_GROUP];

      if (id == 0)
        continue;
      self->ids[n] = translate_counter (self, frame->pid, id);
      if (self->ids[n] == 0)
        return false;
      self->values[n++] = group->values[i % VALUES_PER_GROUP];
    }

  return sysprof_capture_writer_set_counters (self->writer, frame->time, frame->cpu, frame->pid,
                                              self->ids, self->values, n);
}
