// SPDX-License-Identifier: GPL-3.0-or-later

/* Unwinds stacks that a debugger has dumped. Standard input:
 *
 *     machine arm64 MASK           of arm64; MASK: address bits without signature; hex
 *     map START END OFFSET PATH    an executable mapping; all before the first stop; hex
 *     rule ADDRESS RULE            for one byte of code, instead of mappings; ascending; hex
 *     regs 16 × VALUE IP           registers by DWARF number; 32 of them on arm64
 *     code BYTES                   eight of them, from a byte before IP on
 *     stack START BYTES            hex; then one line is printed: reason, flags, addresses
 */

#include "unwind/table.h"
#include "unwind/unwind.h"

#include <elf.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PID            1234
#define MOST_ADDRESSES 8192

typedef struct
{
  uint64_t address;
  uint32_t rule;
} Rule;

typedef struct
{
  UnwindIndex *index;
  UnwindPublisher *publisher;
  GArray *mappings; /* UnwindProcessMapping */
  GArray *rules;    /* Rule */
  bool is_arm64;
  uint64_t code_mask;
} Tables;

static void
add_mapping (Tables *self, const char *line)
{
  UnwindProcessMapping mapping = { 0 };
  uint64_t offset;
  ElfImage *image;
  UnwindTable table;
  char path[4096];
  int fd;

  if (sscanf (line, "map %" SCNx64 " %" SCNx64 " %" SCNx64 " %4095s", &mapping.start,
              &mapping.end, &offset, path) != 4)
    exit (2);

  fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0 && sysprof_elf_image_open (fd, &image) == ELF_OK)
    {
      if (sysprof_unwind_table_build (image, NULL, &table) == ELF_OK)
        {
          if (sysprof_unwind_table_bias (&table, mapping.start, mapping.end, offset,
                                         &mapping.bias))
            mapping.file = sysprof_unwind_publisher_add_table (self->publisher, &table, 0);
          sysprof_unwind_table_clear (&table);
        }
      sysprof_elf_image_free (image);
    }
  if (fd >= 0)
    close (fd);
  g_array_append_val (self->mappings, mapping);
}

/* All rules as one mapping. */
static void
add_rules (Tables *self)
{
  const Rule *rules = (const Rule *) (const void *) self->rules->data;
  UnwindProcessMapping mapping = { 0 };
  TableBuilder *builder;
  UnwindTable table;
  ElfCode code;

  if (self->rules->len == 0)
    return;
  code = (ElfCode){ .start = rules[0].address & ~(uint64_t) 4095,
                    .end = (rules[self->rules->len - 1].address | 4095) + 1 };
  builder = sysprof_table_builder_new (&code, 1);
  for (guint i = 0; i < self->rules->len; i++)
    {
      sysprof_table_builder_add (builder, rules[i].address, rules[i].rule);
      sysprof_table_builder_add (builder, rules[i].address + 1, RULE_NONE);
    }
  if (sysprof_table_builder_finish (builder, (UnwindTableHeader){ .machine = EM_AARCH64 },
                                    &table) != ELF_OK)
    abort ();
  mapping.start = code.start;
  mapping.end = code.end;
  mapping.file = sysprof_unwind_publisher_add_table (self->publisher, &table, 0);
  g_array_append_val (self->mappings, mapping);
  g_array_set_size (self->rules, 0);
  sysprof_unwind_table_clear (&table);
  sysprof_table_builder_free (builder);
}

static void
read_registers (const char *line, uint64_t registers[33])
{
  char *end;

  line += strlen ("regs");
  for (unsigned i = 0; i < 33; i++)
    {
      registers[i] = strtoull (line, &end, 16);
      line = end;
    }
}

static void
read_hex (const char *hex, uint8_t *bytes, size_t size)
{
  for (size_t i = 0; i < size; i++)
    bytes[i] = (uint8_t) (g_ascii_xdigit_value (hex[2 * i]) << 4 |
                          g_ascii_xdigit_value (hex[2 * i + 1]));
}

static void
walk (Tables *self, const uint64_t registers[33], const uint8_t code[8], char *line)
{
  static uint64_t addresses[MOST_ADDRESSES];
  UnwindStart start = { .ip = registers[self->is_arm64 ? 32 : 16],
                        .sp = registers[self->is_arm64 ? 31 : 7],
                        .fp = registers[self->is_arm64 ? 29 : 6],
                        .lr = registers[30],
                        .is_exact = true,
                        .is_arm64 = self->is_arm64,
                        .code_mask = self->code_mask,
                        .registers = registers,
                        .code = code };
  char *hex;
  uint64_t address = strtoull (line + strlen ("stack"), &hex, 16);
  size_t size;
  uint8_t *bytes;
  UnwindStack stack;
  UnwindWalk result;

  hex++;
  size = strcspn (hex, "\n") / 2;
  bytes = g_malloc (size + 1);
  read_hex (hex, bytes, size);

  stack = (UnwindStack){ .start = address, .bytes = bytes, .size = size };
  result = sysprof_unwind_walk (sysprof_unwind_publisher_get_memory (self->publisher), PID,
                                &start, &stack, addresses, MOST_ADDRESSES);
  printf ("%u %u", result.reason, result.used);
  for (size_t i = 0; i < result.n; i++)
    printf (" %" PRIx64, addresses[i]);
  putchar ('\n');
  g_free (bytes);
}

int
main (void)
{
  Tables tables = { .index = g_new0 (UnwindIndex, 1),
                    .mappings = g_array_new (FALSE, FALSE, sizeof (UnwindProcessMapping)),
                    .rules = g_array_new (FALSE, FALSE, sizeof (Rule)) };
  uint64_t registers[33] = { 0 };
  uint8_t code[8] = { 0 };
  char *line = NULL;
  size_t capacity = 0;
  bool is_published = false;

  tables.publisher = sysprof_unwind_publisher_new (tables.index, NULL, NULL);
  while (getline (&line, &capacity, stdin) > 0)
    {
      if (g_str_has_prefix (line, "machine arm64 "))
        {
          tables.is_arm64 = true;
          tables.code_mask = strtoull (line + strlen ("machine arm64 "), NULL, 16);
        }
      else if (g_str_has_prefix (line, "map "))
        {
          add_mapping (&tables, line);
          is_published = false;
        }
      else if (g_str_has_prefix (line, "rule "))
        {
          Rule rule;

          if (sscanf (line, "rule %" SCNx64 " %" SCNx32, &rule.address, &rule.rule) != 2)
            return 2;
          g_array_append_val (tables.rules, rule);
          is_published = false;
        }
      else if (g_str_has_prefix (line, "regs "))
        {
          read_registers (line, registers);
        }
      else if (g_str_has_prefix (line, "code "))
        {
          read_hex (line + strlen ("code "), code, sizeof code);
        }
      else if (g_str_has_prefix (line, "stack "))
        {
          add_rules (&tables);
          if (!is_published)
            is_published = sysprof_unwind_publisher_set_process (
                tables.publisher, PID,
                (const UnwindProcessMapping *) (const void *) tables.mappings->data,
                tables.mappings->len, 0);
          walk (&tables, registers, code, line);
        }
      else if (g_str_has_prefix (line, "unmap"))
        {
          for (guint i = 0; i < tables.mappings->len; i++)
            sysprof_unwind_file_unref (
                tables.publisher, g_array_index (tables.mappings, UnwindProcessMapping, i).file,
                0);
          g_array_set_size (tables.mappings, 0);
        }
    }

  free (line);
  for (guint i = 0; i < tables.mappings->len; i++)
    sysprof_unwind_file_unref (
        tables.publisher, g_array_index (tables.mappings, UnwindProcessMapping, i).file, 0);
  g_array_unref (tables.mappings);
  g_array_unref (tables.rules);
  sysprof_unwind_publisher_free (tables.publisher);
  g_free (tables.index);
  return 0;
}
