// SPDX-License-Identifier: GPL-3.0-or-later

/* Prints the unwind table of a file as text, for tests that compare it with readelf.
 *
 *     print-table rows FILE [DEBUG-FILE]   "address CFA frame-pointer" per row, as readelf
 *     print-table facts FILE [DEBUG-FILE]  the header, sizes
 *     print-table bytes FILE [DEBUG-FILE]  the bytes of the table
 *     print-table code FILE [DEBUG-FILE]   the same, made from the instructions alone
 */

#include "unwind/build.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
print_slot (uint32_t slot)
{
  if (slot == SLOT_UNCHANGED)
    puts (" u");
  else if (slot == SLOT_LOST)
    puts (" lost");
  else if (slot == SLOT_AT_FP)
    puts (" at-fp");
  else
    printf (" c-%u\n", slot * 8);
}

static void
print_far_rule_arm64 (uint32_t rule)
{
  uint32_t place = RULE_FAR_SLOT (rule), offset = RULE_FAR_OFFSET (rule);
  uint32_t distance = 8 * (place & 63);

  if (place == FAR_IN_LR)
    printf ("lr+%u u\n", offset);
  else
    printf ("sp+%u%s c-%u\n", offset, (place & FAR_LINK) != 0 ? " link" : "",
            (place & FAR_FROM_CFA) != 0 ? distance : offset - distance);
}

static void
print_rule (uint32_t rule, bool is_arm64)
{
  static const char *const registers[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                           "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                           "r12", "r13", "r14", "r15" };
  uint32_t slot;

  switch (RULE_KIND (rule))
    {
    case RULE_NONE:
      puts ("none");
      return;
    case RULE_END:
      puts ("end");
      return;
    case RULE_SIGNAL:
      puts ("signal");
      return;
    case RULE_ESCAPE:
      puts ("escape");
      return;
    case RULE_SP:
      printf ("%s+%u", is_arm64 ? "sp" : "rsp", RULE_OFFSET (rule));
      break;
    case RULE_LR:
      printf ("lr+%u", RULE_OFFSET (rule));
      break;
    case RULE_BP:
      printf ("%s+%u", is_arm64 ? "x29" : "rbp", RULE_OFFSET (rule));
      break;
    case RULE_REG:
      if (is_arm64)
        printf ("x%u+%u", RULE_REG_NUMBER (rule), RULE_REG_OFFSET (rule));
      else
        printf ("%s+%u", registers[RULE_REG_NUMBER (rule)], RULE_REG_OFFSET (rule));
      break;
    case RULE_BP_LOAD:
      printf ("[rbp-%u]", RULE_OFFSET (rule));
      break;
    case RULE_SP_LOAD:
      printf ("[rsp+%u]+8", RULE_OFFSET (rule));
      break;
    case RULE_RA:
      printf ("rsp+%u %s\n", RULE_REG_OFFSET (rule), registers[RULE_REG_NUMBER (rule)]);
      return;
    case RULE_GO:
      printf ("go%u below %u size %u place %u distance %u\n", RULE_GO_MODE (rule),
              RULE_GO_BELOW (rule), RULE_GO_SIZE (rule), RULE_GO_OFFSET (rule),
              RULE_GO_DISTANCE (rule));
      return;
    case RULE_PLT: /* or RULE_SP_LINK */
      if (is_arm64)
        printf ("sp+%u link", RULE_OFFSET (rule));
      else
        printf ("plt%u", RULE_OFFSET (rule) / 8);
      break;
    case RULE_SP_BX:
    case RULE_BP_BX:
      slot = RULE_BX_SLOT (rule);
      printf ("%s+%u", RULE_KIND (rule) == RULE_SP_BX ? "rsp" : "rbp", RULE_BX_OFFSET (rule));
      print_slot (slot < SLOT_BX_AT_FP ? slot : slot + SLOT_AT_FP - SLOT_BX_AT_FP);
      return;
    case RULE_SP_FAR:
      if (is_arm64)
        {
          print_far_rule_arm64 (rule);
          return;
        }
      slot = RULE_FAR_SLOT (rule);
      printf ("rsp+%u", RULE_FAR_OFFSET (rule));
      print_slot (slot < SLOT_FAR_AT_FP ? slot : slot + SLOT_AT_FP - SLOT_FAR_AT_FP);
      return;
    default:
      printf ("?%u", RULE_KIND (rule));
    }
  print_slot (RULE_SLOT (rule));
}

static void
print_page (const UnwindTable *table, uint32_t page, bool as_numbers)
{
  const uint8_t *block = table->bytes + table->block[page];
  const uint16_t *first = (const uint16_t *) (const void *) block;
  uint32_t n_rules = first[UNWIND_BLOCKS + 1];
  const uint32_t *rule = (const uint32_t *) (const void *) (block + UNWIND_RULES_OFFSET);
  const uint16_t *row = (const uint16_t *) (const void *) (rule + n_rules);
  uint64_t start = table->header->start + (uint64_t) page * UNWIND_PAGE_SIZE;

  if (table->block[page] == 0)
    {
      printf ("%" PRIx64 " %s\n", start, as_numbers ? "0" : "none");
      return;
    }
  for (uint32_t i = 0; i < UNWIND_BLOCKS; i++)
    for (uint32_t r = first[i]; r < first[i + 1]; r++)
      {
        printf ("%" PRIx64 " ", start + i * 256 + (row[r] >> 8));
        if (as_numbers)
          printf ("%" PRIx32 "\n", rule[row[r] & 255]);
        else
          print_rule (rule[row[r] & 255], table->header->machine != 62);
      }
}

static void
print_facts (const UnwindTable *table)
{
  const UnwindTableHeader *header = table->header;

  printf ("functions %u\nrefused %u\nbroken %u\nrows %u\nescapes %u\npages %u\nsources %u\n"
          "text %" PRIu64 "\ncovered %" PRIu64 "\nbytes %zu\ncontradictions %u\n",
          header->n_functions, header->n_refused, header->n_broken, header->n_rows,
          header->n_escapes, header->n_pages, header->sources, header->text_size,
          header->covered_size, table->size, header->n_contradictions);
}

static ElfImage *
open_image (const char *path)
{
  ElfImage *image = NULL;
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  ElfStatus status = fd < 0 ? ELF_IO_ERROR : sysprof_elf_image_open (fd, &image);

  if (status != ELF_OK)
    {
      fprintf (stderr, "%s: %s\n", path, sysprof_elf_status_to_string (status));
      exit (3);
    }
  return image;
}

int
main (int argc, char **argv)
{
  ElfImage *image, *debug_image = NULL;
  UnwindTable table = { 0 };
  BuildSources sources = BUILD_ALL;
  ElfStatus status;
  uint8_t *bytes;
  size_t size;

  if (argc < 3)
    return 2;
  image = open_image (argv[2]);
  if (argc > 3)
    debug_image = open_image (argv[3]);

  if (strcmp (argv[1], "code") == 0)
    sources = BUILD_CODE;
  else if (strcmp (argv[1], "rows") == 0)
    sources = BUILD_FRAMES;
  status = sysprof_unwind_table_build_from (image, debug_image, sources, &table);
  sysprof_elf_image_free (image);
  sysprof_elf_image_free (debug_image);
  if (status != ELF_OK)
    {
      fprintf (stderr, "%s: %s\n", argv[2], sysprof_elf_status_to_string (status));
      return 3;
    }

  /* The table must pass the check of the process that receives it. */
  bytes = table.bytes;
  size = table.size;
  if (!sysprof_unwind_table_adopt (&table, bytes, size))
    abort ();

  if (strcmp (argv[1], "facts") == 0)
    print_facts (&table);
  else if (strcmp (argv[1], "bytes") == 0)
    (void) fwrite (table.bytes, 1, table.size, stdout);
  else
    for (uint32_t page = 0; page < table.header->n_pages; page++)
      print_page (&table, page, strcmp (argv[1], "numbers") == 0);
  sysprof_unwind_table_clear (&table);
  return 0;
}
