// SPDX-License-Identifier: BSD-2-Clause

/* Kernels of several starts of machines in one capture: where each lies.
 *
 * A kernel lies elsewhere after each start, and so do its modules: addresses of one, in a capture that was joined, would have the names of
 * another. So a join gives each start a place of its own: all addresses of kernel code are lower by 2^48 for each place. Code lies in the
 * uppermost 2^48 bytes of all, where kernels have 64 bits (x86-64, arm64, riscv64); that of others stays where it is, at place 0. What captures
 * say of their start is the metadata CAPTURE_BOOT_ID: its id, the build ID of the kernel or `-`, and the place if that is not 0. */

#pragma once

#include <stdint.h>

#define CAPTURE_BOOT_ID         "org.gnome.sysprof.boot-id"
#define CAPTURE_BOOT_ID_UNKNOWN "unknown" /* the id of who does not tell */
#define KERNEL_PLACE_BITS       48
#define KERNEL_PLACES           32

/* Not below KERNEL_PLACES: it lies where no start is put. */
static inline uint64_t
sysprof_kernel_place_of (uint64_t address)
{
  return (UINT64_MAX >> KERNEL_PLACE_BITS) - (address >> KERNEL_PLACE_BITS);
}
