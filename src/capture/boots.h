// SPDX-License-Identifier: BSD-2-Clause

/* Which starts of machines captures tell of, and their places (kernel-places.h) in one that they are joined to.
 *
 * Captures that tell of none count as one start. But a join that has one of those beside others keeps it apart from all others when it is
 * joined again: nobody knows any more which captures it was made of. */

#pragma once

#include "capture/capture.h"

#define BOOT_ID_SIZE 64 /* with its NUL; a UUID has 36 characters */

#define SYSPROF_CAPTURE_BUILD_ID_MAX 128 /* hex digits */

typedef struct
{
  char id[BOOT_ID_SIZE];
  unsigned place;
  bool is_of_join; /* unknown, in a capture that tells of others: no other start is it */
} Boot;

/* What one capture says. A zeroed one says nothing. */
typedef struct
{
  Boot boot[KERNEL_PLACES]; /* [n] */
  size_t n;
  bool has_kernel_code; /* in a sample */
  bool is_elsewhere;    /* that does not lie where it could be moved */
} Boots;

void sysprof_boots_add_frame (Boots *self, const SysprofCaptureFrame *frame);
/* NULL: nothing is said of a kernel at that place. */
const char *sysprof_boots_id_at (const Boots *self, unsigned place);

/* From each place of one capture to that of the joined one. */
typedef struct
{
  unsigned to[KERNEL_PLACES];
  bool is_set;   /* a zeroed one leaves all where it is */
  bool is_moved; /* any of them */
  bool is_apart; /* no other kernel is where that of place 0 is now */
} KernelMove;

/* `all`: of the captures before, to which these are added. Of the first one the kernel at place 0 stays there. */
void sysprof_kernel_move_init (KernelMove *self, Boots *all, const Boots *boots);

uint64_t sysprof_kernel_move_address (const KernelMove *self, uint64_t address);

/* The value of CAPTURE_BOOT_ID in the joined capture. */
void
sysprof_kernel_move_boot (const KernelMove *self, const char *value, char *moved, size_t size);
