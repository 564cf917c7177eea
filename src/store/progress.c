// SPDX-License-Identifier: GPL-3.0-or-later

/* Progress and cancellation of long work. See progress.h. */

#include "store/progress.h"

#define STEP 0.01 /* of the total, as reported */

bool
sysprof_progress_stage (Progress *self, double share, const char *message)
{
  if (sysprof_progress_is_cancelled (self))
    return false;

  self->begin = MIN (self->begin + self->share, 1);
  self->share = share;
  self->message = message;
  self->told = MAX (self->told, self->begin);
  if (self->func != NULL)
    self->func (self->told, message, self->data);
  return !sysprof_progress_is_cancelled (self);
}

bool
sysprof_progress_at (Progress *self, uint64_t done, uint64_t all)
{
  double fraction;

  if (sysprof_progress_is_cancelled (self))
    return false;
  if (self->func == NULL || all == 0)
    return true;

  fraction = MIN (self->begin + self->share * ((double) MIN (done, all) / (double) all), 1);
  if (fraction < self->told + STEP)
    return true;
  self->told = fraction;
  self->func (fraction, self->message, self->data);
  return !sysprof_progress_is_cancelled (self);
}

bool
sysprof_progress_set_error_if_cancelled (const Progress *self, GError **error)
{
  return self->cancellable != NULL &&
         g_cancellable_set_error_if_cancelled (self->cancellable, error);
}
