// SPDX-License-Identifier: BSD-2-Clause

/* Kernels of several starts of machines in one capture.
 *
 * A kernel lies elsewhere after each start, and so do its modules: addresses of one, in a capture that was joined, would have the names of
 * another. So a join gives each start a place of its own: all addresses of kernel code are lower by 2^48 for each place. Code lies in the
 * uppermost 2^48 bytes of all, where kernels have 64 bits (x86-64, arm64, riscv64); that of others stays where it is, at place 0. What captures
 * say of their start is the metadata CAPTURE_BOOT_ID: its id, the build ID of the kernel or `-`, and the place if that is not 0. All that do
 * not say it count as one start. */

#pragma once

#include "capture/capture.h"

#define CAPTURE_BOOT_ID   "org.gnome.sysprof.boot-id"
#define BOOT_ID_SIZE      64 /* with its NUL; a UUID has 36 characters */
#define BOOTS_MOST        32
#define BOOT_ID_UNKNOWN   "unknown"
#define KERNEL_PLACE_BITS 48

#define SYSPROF_CAPTURE_BUILD_ID_MAX 128 /* hex digits */

typedef struct
{
  char id[BOOT_ID_SIZE];
  unsigned place;
} Boot;

/* What one capture says. A zeroed one says nothing. */
typedef struct
{
  Boot boot[BOOTS_MOST]; /* [n] */
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
  unsigned to[BOOTS_MOST];
  bool is_moved; /* any of them */
  bool is_apart; /* no other kernel is where that of place 0 is now */
} KernelMove;

/* `all`: of the captures before, to which these are added. Of the first one the kernel at place 0 stays there. */
void sysprof_kernel_move_init (KernelMove *self, Boots *all, const Boots *boots);

uint64_t sysprof_kernel_move_address (const KernelMove *self, uint64_t address);

/* The value of CAPTURE_BOOT_ID in the joined capture. */
void
sysprof_kernel_move_boot (const KernelMove *self, const char *value, char *moved, size_t size);
