// SPDX-License-Identifier: GPL-3.0-or-later

/* Layout, from perf_event_open(2): u64 abi; u64 register[], unless abi is 0; u64 size; then,
 * unless size is 0, size bytes of stack and a u64 with the number of bytes that were copied. */

#include "perf/copy.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

#ifdef __aarch64__
#  define N_REGISTERS 33 /* in PERF_COPY_REGISTERS */
#else
#  define N_REGISTERS 17
#endif

static bool
take_u64 (const uint8_t **at, const uint8_t *end, uint64_t *value)
{
  if (end - *at < (ptrdiff_t) sizeof *value)
    return false;

  memcpy (value, *at, sizeof *value);
  *at += sizeof *value;
  return true;
}

#ifdef __aarch64__
static void
sort_registers (PerfCopy *self, const uint64_t *registers)
{
  memcpy (self->registers, registers, sizeof self->registers);
  self->fp = registers[29];
  self->lr = registers[30];
  self->sp = registers[31];
  self->ip = registers[32];
}
#else
/* Converts the kernel's order of registers to the order of DWARF numbers: ax dx cx bx si di bp
 * sp r8 … r15. */
static void
sort_registers (PerfCopy *self, const uint64_t *registers)
{
  static const uint8_t places[16] = { 0, 3, 2, 1, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16 };

  for (unsigned i = 0; i < 16; i++)
    self->registers[i] = registers[places[i]];
  self->fp = self->registers[6];
  self->sp = self->registers[7];
  self->ip = registers[8];
}
#endif

static bool
take_registers (PerfCopy *self, const uint8_t **at, const uint8_t *end)
{
  uint64_t registers[N_REGISTERS];
  uint64_t abi;

  if (!take_u64 (at, end, &abi) || abi > PERF_SAMPLE_REGS_ABI_64)
    return false;
  if (abi == PERF_SAMPLE_REGS_ABI_NONE)
    return true;

  if (end - *at < (ptrdiff_t) sizeof registers)
    return false;
  memcpy (registers, *at, sizeof registers);
  *at += sizeof registers;
  sort_registers (self, registers);
  self->kind = abi == PERF_SAMPLE_REGS_ABI_64 ? PERF_COPY_64_BITS : PERF_COPY_32_BITS;
  return true;
}

bool
sysprof_perf_copy_take (PerfCopy *self, const uint8_t **at, const uint8_t *end)
{
  uint64_t size, copied;

  *self = (PerfCopy){ .kind = PERF_COPY_NONE };
  if (!take_registers (self, at, end) || !take_u64 (at, end, &size))
    return false;
  if (size == 0)
    return true;

  if (size > (uint64_t) (end - *at))
    return false;
  self->stack = *at;
  *at += size;
  if (!take_u64 (at, end, &copied) || copied > size)
    return false;

  self->size = (uint32_t) copied; /* less than 64 KiB, the largest record */
  self->is_cut = copied == size;
  return true;
}
