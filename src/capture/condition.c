// SPDX-License-Identifier: BSD-2-Clause

/* Conditions on frames: types, processes, counters, spans of time, and their combinations. */

#include "capture/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_PER_GROUP 8U

typedef enum
{
  CONDITION_AND,
  CONDITION_OR,
  CONDITION_TYPE_IN,
  CONDITION_TIME_BETWEEN,
  CONDITION_PID_IN,
  CONDITION_COUNTER_IN,
  CONDITION_FILE,
} ConditionKind;

/* *Frozen* once it is made; conditions share their parts. */
struct _SysprofCaptureCondition
{
  int ref_count; /* atomic */
  ConditionKind kind;
  SysprofCaptureCondition *left; /* of and, or */
  SysprofCaptureCondition *right;
  int64_t begin; /* ns, both inclusive */
  int64_t end;
  int64_t *numbers; /* [n_numbers] types, pids or counter ids */
  size_t n_numbers;
  char *path;
};

static SysprofCaptureCondition *
new_condition (ConditionKind kind)
{
  SysprofCaptureCondition *self = calloc (1, sizeof *self);

  if (self != NULL)
    {
      self->ref_count = 1;
      self->kind = kind;
    }

  return self;
}

SysprofCaptureCondition *
sysprof_capture_condition_ref (SysprofCaptureCondition *self)
{
  (void) __atomic_add_fetch (&self->ref_count, 1, __ATOMIC_RELAXED);

  return self;
}

void
sysprof_capture_condition_unref (SysprofCaptureCondition *self)
{
  if (self == NULL || __atomic_sub_fetch (&self->ref_count, 1, __ATOMIC_ACQ_REL) != 0)
    return;

  sysprof_capture_condition_unref (self->left);
  sysprof_capture_condition_unref (self->right);
  free (self->numbers);
  free (self->path);
  free (self);
}

static SysprofCaptureCondition *
new_pair (ConditionKind kind, SysprofCaptureCondition *left, SysprofCaptureCondition *right)
{
  SysprofCaptureCondition *self = new_condition (kind);

  if (self == NULL)
    {
      sysprof_capture_condition_unref (left);
      sysprof_capture_condition_unref (right);
      errno = ENOMEM;
      return NULL;
    }
  self->left = left;
  self->right = right;

  return self;
}

SysprofCaptureCondition *
sysprof_capture_condition_new_and (SysprofCaptureCondition *left,
                                   SysprofCaptureCondition *right)
{
  return new_pair (CONDITION_AND, left, right);
}

SysprofCaptureCondition *
sysprof_capture_condition_new_or (SysprofCaptureCondition *left, SysprofCaptureCondition *right)
{
  return new_pair (CONDITION_OR, left, right);
}

static SysprofCaptureCondition *
new_numbers (ConditionKind kind, size_t n_numbers)
{
  SysprofCaptureCondition *self = new_condition (kind);

  if (self == NULL)
    return NULL;

  self->numbers = calloc (n_numbers != 0 ? n_numbers : 1, sizeof *self->numbers);
  self->n_numbers = n_numbers;
  if (self->numbers == NULL)
    {
      sysprof_capture_condition_unref (self);
      errno = ENOMEM;
      return NULL;
    }

  return self;
}

SysprofCaptureCondition *
sysprof_capture_condition_new_where_type_in (unsigned int n_types,
                                             const SysprofCaptureFrameType *types)
{
  SysprofCaptureCondition *self = new_numbers (CONDITION_TYPE_IN, n_types);

  for (unsigned int i = 0; self != NULL && i < n_types; i++)
    self->numbers[i] = types[i];

  return self;
}

SysprofCaptureCondition *
sysprof_capture_condition_new_where_pid_in (unsigned int n_pids, const int32_t *pids)
{
  SysprofCaptureCondition *self = new_numbers (CONDITION_PID_IN, n_pids);

  for (unsigned int i = 0; self != NULL && i < n_pids; i++)
    self->numbers[i] = pids[i];

  return self;
}

SysprofCaptureCondition *
sysprof_capture_condition_new_where_counter_in (unsigned int n_counters,
                                                const unsigned int *counters)
{
  SysprofCaptureCondition *self = new_numbers (CONDITION_COUNTER_IN, n_counters);

  for (unsigned int i = 0; self != NULL && i < n_counters; i++)
    self->numbers[i] = counters[i];

  return self;
}

SysprofCaptureCondition *
sysprof_capture_condition_new_where_time_between (int64_t begin_time, int64_t end_time)
{
  SysprofCaptureCondition *self = new_condition (CONDITION_TIME_BETWEEN);

  if (self != NULL)
    {
      self->begin = begin_time < end_time ? begin_time : end_time;
      self->end = begin_time < end_time ? end_time : begin_time;
    }

  return self;
}

SysprofCaptureCondition *
sysprof_capture_condition_new_where_file (const char *path)
{
  SysprofCaptureCondition *self = new_condition (CONDITION_FILE);

  if (self == NULL)
    return NULL;

  self->path = strdup (path);
  if (self->path == NULL)
    {
      sysprof_capture_condition_unref (self);
      errno = ENOMEM;
      return NULL;
    }

  return self;
}

SysprofCaptureCondition *
sysprof_capture_condition_copy (const SysprofCaptureCondition *self)
{
  SysprofCaptureCondition *copy = self->numbers != NULL
                                      ? new_numbers (self->kind, self->n_numbers)
                                      : new_condition (self->kind);

  if (copy == NULL)
    return NULL;

  copy->begin = self->begin;
  copy->end = self->end;
  if (self->numbers != NULL)
    memcpy (copy->numbers, self->numbers, self->n_numbers * sizeof *copy->numbers);
  if (self->left != NULL)
    copy->left = sysprof_capture_condition_copy (self->left);
  if (self->right != NULL)
    copy->right = sysprof_capture_condition_copy (self->right);
  if (self->path != NULL)
    copy->path = strdup (self->path);

  if ((copy->left == NULL) != (self->left == NULL) ||
      (copy->right == NULL) != (self->right == NULL) ||
      (copy->path == NULL) != (self->path == NULL))
    {
      sysprof_capture_condition_unref (copy);
      errno = ENOMEM;
      return NULL;
    }

  return copy;
}

static bool
has_number (const SysprofCaptureCondition *self, int64_t number)
{
  for (size_t i = 0; i < self->n_numbers; i++)
    if (self->numbers[i] == number)
      return true;

  return false;
}

static bool
has_counter_of (const SysprofCaptureCondition *self, const SysprofCaptureFrame *frame)
{
  if (frame->type == SYSPROF_CAPTURE_FRAME_CTRDEF)
    {
      const SysprofCaptureCounterDefine *define = (const SysprofCaptureCounterDefine *) frame;

      for (unsigned int i = 0; i < define->n_counters; i++)
        if (has_number (self, define->counters[i].id))
          return true;
    }
  else if (frame->type == SYSPROF_CAPTURE_FRAME_CTRSET)
    {
      const SysprofCaptureCounterSet *set = (const SysprofCaptureCounterSet *) frame;

      for (unsigned int i = 0; i < set->n_values * VALUES_PER_GROUP; i++)
        {
          uint32_t id = set->values[i / VALUES_PER_GROUP].ids[i % VALUES_PER_GROUP];

          if (id != 0 && has_number (self, id))
            return true;
        }
    }

  return false;
}

bool
sysprof_capture_condition_match (const SysprofCaptureCondition *self,
                                 const SysprofCaptureFrame *frame)
{
  switch (self->kind)
    {
    case CONDITION_AND:
      return sysprof_capture_condition_match (self->left, frame) &&
             sysprof_capture_condition_match (self->right, frame);

    case CONDITION_OR:
      return sysprof_capture_condition_match (self->left, frame) ||
             sysprof_capture_condition_match (self->right, frame);

    case CONDITION_TYPE_IN:
      return has_number (self, frame->type);

    case CONDITION_TIME_BETWEEN:
      return frame->time >= self->begin && frame->time <= self->end;

    case CONDITION_PID_IN:
      return has_number (self, frame->pid);

    case CONDITION_COUNTER_IN:
      return has_counter_of (self, frame);

    case CONDITION_FILE:
      return frame->type == SYSPROF_CAPTURE_FRAME_FILE_CHUNK &&
             strcmp (((const SysprofCaptureFileChunk *) frame)->path, self->path) == 0;
    }

  return false;
}
