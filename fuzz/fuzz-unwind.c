// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes unwind tables and the walker: any bytes are a table, with which any stack is unwound.
 * The walks must end, and must read no memory outside of both.
 *
 * The input is a table. Its last STACK_SIZE bytes are also the stack. If the table is refused,
 * its rows are put into the slabs nevertheless, because the kernel's walker must be safe with
 * any rows. */

#include "fuzz/fuzz.h"
#include "unwind/unwind.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define STACK_SIZE 512
#define STACK      UINT64_C (0x7ffe00000000)
#define BIAS       UINT64_C (0x550000000000)
#define PID        5
#define MOST       4096 /* addresses */

static UnwindIndex *walk_index;
static UnwindPublisher *publisher;

/* As if the recorder had gone mad: a process whose pages are the input itself. */
static void
publish_raw (const uint8_t *bytes, size_t size)
{
  static uint8_t slab[UNWIND_SLAB_SIZE];
  static UnwindMemory memory;
  uint64_t addresses[MOST];
  UnwindStack stack = { .start = STACK, .bytes = bytes, .size = size };

  memory.index = walk_index;
  memory.slab[3] = slab;
  memset (slab, 0, sizeof slab);
  memcpy (slab + UNWIND_SLAB_SIZE - MIN (size, UNWIND_SLAB_SIZE), bytes,
          MIN (size, UNWIND_SLAB_SIZE));

  for (uint32_t i = 0; i < 4; i++)
    {
      UnwindStart start = {
        .ip = BIAS + 0x100 * i, .sp = STACK, .fp = STACK + 64, .is_exact = i & 1
      };
      uint32_t slot = sysprof_unwind_slot (PID + 1 + i);

      walk_index->process[slot] =
          (UnwindProcess){ PID + 1 + i, 1, PROCESS_LIST (60000 + i, 1 + i * 20000) };
      walk_index->mapping[60000 + i] =
          (UnwindMapping){ BIAS, BIAS << (i / 2), BIAS, UNWIND_MOST_PAGES - 3 + i,
                           1u << (i * 9) };
      walk_index->page[UNWIND_MOST_PAGES - 1] =
          UNWIND_PAGE_MAKE (3, UNWIND_SLAB_SIZE - size) | i;
      (void) sysprof_unwind_walk (&memory, PID + 1 + i, &start, &stack, addresses, MOST);
      walk_index->process[slot] = (UnwindProcess){ 0 };
    }
}

static void
walk_table (UnwindTable *table, const uint8_t *stack_bytes)
{
  const uint64_t registers[16] = { STACK,      STACK + 8,  STACK + 16, STACK + 24,
                                   STACK + 32, STACK + 40, STACK + 48, STACK };
  UnwindProcessMapping mapping = { .start = BIAS,
                                   .end = BIAS + UINT64_C (0x40000000),
                                   .bias = BIAS };
  UnwindStack stack = { .start = STACK, .bytes = stack_bytes, .size = STACK_SIZE };
  const UnwindMemory *memory = sysprof_unwind_publisher_get_memory (publisher);
  uint64_t addresses[MOST];

  mapping.file = sysprof_unwind_publisher_add_table (publisher, table, 0);
  if (!sysprof_unwind_publisher_set_process (publisher, PID, &mapping, 1, 0))
    abort ();
  sysprof_unwind_file_unref (publisher, mapping.file, 0);

  for (uint64_t at = 0; at < STACK_SIZE; at += 40)
    {
      UnwindStart start = { .ip = BIAS + table->header->start + at * 0x333,
                            .sp = STACK + at,
                            .fp = STACK + 16,
                            .is_exact = true,
                            .registers = registers };
      UnwindWalk walk = sysprof_unwind_walk (memory, PID, &start, &stack, addresses, MOST);

      if (walk.n == 0 || walk.n > MOST || walk.reason == WALK_RUNNING ||
          walk.reason >= WALK_REASONS || addresses[0] != start.ip)
        abort ();
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  UnwindTable table;

  if (size < STACK_SIZE)
    return 0;
  if (walk_index == NULL)
    walk_index = g_new0 (UnwindIndex, 1);
  publish_raw (bytes, size);

  publisher = sysprof_unwind_publisher_new (walk_index, NULL, NULL);
  if (sysprof_unwind_table_adopt (&table, g_memdup2 (bytes, size), size))
    {
      walk_table (&table, bytes + size - STACK_SIZE);
      sysprof_unwind_table_clear (&table);
    }
  sysprof_unwind_publisher_drop_process (publisher, PID, 0);
  sysprof_unwind_publisher_free (publisher);
  return 0;
}
