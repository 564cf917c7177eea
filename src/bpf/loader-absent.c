// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces loader.c in builds without BPF, and on machines whose registers registers.h does not
 * describe. */

#include "bpf/bpf.h"

#include <errno.h>

bool
sysprof_walk_program_asks_kernel (void)
{
  return false;
}

bool
sysprof_walk_program_make_maps (WalkProgram *self)
{
  *self = (WalkProgram) WALK_PROGRAM_INIT;
  errno = ENOSYS;
  return false;
}

bool
sysprof_walk_program_load (WalkProgram *self, const WalkProgramOptions *options)
{
  errno = ENOSYS;
  return false;
}

void
sysprof_walk_program_clear (WalkProgram *self)
{
  *self = (WalkProgram) WALK_PROGRAM_INIT;
}

int
sysprof_walk_program_add_slab (const WalkProgram *self, uint32_t index)
{
  errno = ENOSYS;
  return -1;
}

bool
sysprof_walk_program_set_output (const WalkProgram *self, uint32_t index, int event_fd)
{
  errno = ENOSYS;
  return false;
}

bool
sysprof_waits_program_load (WaitsProgram *self, const WalkProgram *maps)
{
  for (unsigned i = 0; i < N_WAITS_FDS; i++)
    self->fd[i] = -1;
  errno = ENOSYS;
  return false;
}

void
sysprof_waits_program_clear (WaitsProgram *self)
{
}

uint32_t
sysprof_waits_ring_size (void)
{
  return 0;
}

unsigned
sysprof_waits_n_rings (void)
{
  errno = ENOSYS;
  return 0;
}
