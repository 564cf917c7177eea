// SPDX-License-Identifier: GPL-3.0-or-later

/* Charges work for untrusted files to one limit. Callers may run on several threads. */

#include "util/children/file-budget.h"

#include <unistd.h>

bool
sysprof_file_is_trusted (const struct stat *info)
{
  return info->st_uid == 0 || info->st_uid == getuid () || info->st_uid == geteuid ();
}

int64_t
sysprof_file_budget_left_msec (const FileBudget *self)
{
  int64_t used_msec = __atomic_load_n (&self->used_usec, __ATOMIC_RELAXED) / 1000;

  return used_msec < FILE_BUDGET_MSEC ? FILE_BUDGET_MSEC - used_msec : 0;
}

bool
sysprof_file_budget_admit (FileBudget *self, const struct stat *info)
{
  uint64_t size = info->st_size > 0 ? (uint64_t) info->st_size : 0;
  uint64_t used = __atomic_load_n (&self->used_bytes, __ATOMIC_RELAXED);

  if (sysprof_file_budget_left_msec (self) == 0)
    return false;
  do
    if (used > FILE_BUDGET_BYTES || size > FILE_BUDGET_BYTES - used)
      return false;
  while (!__atomic_compare_exchange_n (&self->used_bytes, &used, used + size, true,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return true;
}

void
sysprof_file_budget_charge (FileBudget *self, int64_t usec)
{
  (void) __atomic_add_fetch (&self->used_usec, usec, __ATOMIC_RELAXED);
}
