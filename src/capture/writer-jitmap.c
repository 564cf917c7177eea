// SPDX-License-Identifier: BSD-2-Clause

/* Names that stand for addresses: code that no file contains, or that has better names than its
 * file has.
 *
 * New names are collected in a table, which is the jitmap frame that it becomes when it is full
 * or on flush. It is then forgotten, so that memory stays bounded: a name may have several
 * addresses.
 */

#include "capture/writer.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#define NAMES_MAX 512
#define ENTRIES_SIZE \
  16384 /* bytes; one name alone may fill them, several make no frame that is longer than usual */
#define HEAD_SIZE    sizeof (SysprofCaptureJitmap)
#define FRAME_SIZE   (HEAD_SIZE + ENTRIES_SIZE)
#define ADDRESS_SIZE sizeof (SysprofCaptureAddress)
#define NAME_LEN_MAX (ENTRIES_SIZE - ADDRESS_SIZE - 1)
#define SLOTS        1024 /* a power of two, never more than half full */

static_assert (SLOTS >= 2 * NAMES_MAX, "probing must end at an empty slot");
static_assert (FRAME_SIZE < UINT16_MAX, "a slot holds an offset in the frame");

struct JitTable
{
  uint64_t n_addresses;  /* ever given out by this writer */
  uint32_t n_names;      /* in the frame */
  size_t used;           /* bytes of the frame */
  uint16_t slots[SLOTS]; /* offset in the frame, 0 = empty; by hash of the name */
  uint8_t frame[FRAME_SIZE + SYSPROF_CAPTURE_ALIGN]; /* entries: address, name, NUL; packed */
};

static uint32_t
hash_name (const char *name, size_t len)
{
  uint32_t hash = 2166136261U; /* FNV-1a */

  for (size_t i = 0; i < len; i++)
    hash = (hash ^ (uint8_t) name[i]) * 16777619U;

  return hash;
}

/* The slot of `name`, or the empty one where it would be. */
static uint16_t *
find_slot (JitTable *table, const char *name, size_t len)
{
  for (uint32_t i = hash_name (name, len);; i++)
    {
      uint16_t *slot = &table->slots[i % SLOTS];
      const char *other = (const char *) table->frame + *slot + ADDRESS_SIZE;

      if (*slot == 0 || (strncmp (other, name, len) == 0 && other[len] == '\0'))
        return slot;
    }
}

static void
forget_names (JitTable *table)
{
  table->n_names = 0;
  table->used = HEAD_SIZE;
  memset (table->slots, 0, sizeof table->slots);
}

bool
sysprof_capture_writer_flush_jitmap (SysprofCaptureWriter *self)
{
  JitTable *table = self->jit_table;
  size_t padded;

  if (table == NULL || table->n_names == 0)
    return true;

  padded = (table->used + SYSPROF_CAPTURE_ALIGN - 1) & ~(SYSPROF_CAPTURE_ALIGN - 1);
  SysprofCaptureJitmap head = {
    .frame = {
      .len = (uint16_t) padded,
      .cpu = -1,
      .pid = getpid (),
      .time = SYSPROF_CAPTURE_CURRENT_TIME,
      .type = SYSPROF_CAPTURE_FRAME_JITMAP,
    },
    .n_jitmaps = table->n_names,
  };
  memcpy (table->frame, &head, HEAD_SIZE);
  memset (table->frame + table->used, 0, padded - table->used);
  if (!sysprof_capture_writer_add_early (self, table->frame, padded))
    return false;
  forget_names (table);

  return true;
}

void
sysprof_capture_writer_free_jitmap (SysprofCaptureWriter *self)
{
  free (self->jit_table);
  self->jit_table = NULL;
}

/* NULL: no memory. */
static JitTable *
need_table (SysprofCaptureWriter *self)
{
  if (self->jit_table == NULL)
    {
      self->jit_table = calloc (1, sizeof *self->jit_table);
      if (self->jit_table != NULL)
        forget_names (self->jit_table);
    }

  return self->jit_table;
}

static bool
make_room (SysprofCaptureWriter *self, size_t len)
{
  const JitTable *table = self->jit_table;

  if (table->n_names == 0 ||
      (table->n_names < NAMES_MAX &&
       table->used + ADDRESS_SIZE + len + 1 <= SYSPROF_CAPTURE_FRAME_USUAL_MAX))
    return true;

  return sysprof_capture_writer_flush_jitmap (self);
}

/* For which there is room. */
static void
add_entry (JitTable *table, uint64_t address, const char *name, size_t len)
{
  uint16_t *slot = find_slot (table, name, len);

  if (*slot == 0)
    *slot = (uint16_t) table->used;
  sysprof_store_u64 (table->frame + table->used, address);
  memcpy (table->frame + table->used + ADDRESS_SIZE, name, len);
  table->frame[table->used + ADDRESS_SIZE + len] = '\0';
  table->used += ADDRESS_SIZE + len + 1;
  table->n_names++;
}

uint64_t
sysprof_capture_writer_add_jitmap (SysprofCaptureWriter *self, const char *name)
{
  JitTable *table = need_table (self);
  uint64_t address;
  uint16_t *slot;
  size_t len;

  if (table == NULL)
    return 0;
  if (name == NULL)
    name = "";

  len = strnlen (name, NAME_LEN_MAX);
  slot = find_slot (table, name, len);
  if (*slot != 0)
    return sysprof_load_u64 (table->frame + *slot, false);
  if (!make_room (self, len))
    return 0;

  address = SYSPROF_CAPTURE_JITMAP_MARK | ++table->n_addresses;
  add_entry (table, address, name, len);

  return address;
}

bool
sysprof_capture_writer_has_names (const SysprofCaptureWriter *self)
{
  return self->jit_table != NULL && self->jit_table->n_addresses > 0;
}

bool
sysprof_capture_writer_keep_jitmap (SysprofCaptureWriter *self,
                                    uint64_t address,
                                    const char *name)
{
  JitTable *table = need_table (self);
  uint64_t number = address - SYSPROF_CAPTURE_JITMAP_MARK;
  size_t len = strnlen (name, NAME_LEN_MAX);

  if (table == NULL || !make_room (self, len))
    return false;

  add_entry (table, address, name, len);
  if (number > table->n_addresses)
    table->n_addresses = number;

  return true;
}
