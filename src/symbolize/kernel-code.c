// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the instructions of kernel functions whose bounds are known, from a file that is open
 * in the sandbox. */

#include "symbolize/kernel-code.h"

#include "symbolize/code.h"

#include <stdlib.h>

#define NO_CODE        "the kernel's file has no code at this address"
#define NO_MODULE_CODE "the module's file has no code at this address"

/* Returns 1 + the index of the piece; 0 = its bounds are unknown, or the limit is reached. */
static uint32_t
add_piece (Symbolization *self, const FileBatch *batch, AddressId address)
{
  CodeCollection *code = self->code;
  uint64_t at = sysprof_symbolization_lookup_address (self, address);
  SymbolId symbol = self->table->of_address[address];
  bool is_module = batch->section != NULL && batch->section[0] != '\0';
  const CodePiece piece = {
    .symbol = symbol,
    .path = is_module ? sysprof_symbol_binary (self->table, symbol) : "[kernel]",
    .build_id = "",
    .start = self->table->function_start[address],
    .end = self->table->function_end[address],
    .is_in_memory = true,
    .is_of_kernel = true,
    .problem = is_module ? NO_MODULE_CODE : NO_CODE,
    .remedy = "",
  };

  if (piece.start == 0 || piece.start > at || piece.end <= at)
    return 0;
  for (guint i = 0; i < code->pieces->len; i++)
    {
      const CodePiece *known = &g_array_index (code->pieces, CodePiece, i);

      if (known->is_of_kernel && known->start == piece.start && known->symbol == piece.symbol)
        return i + 1;
    }
  if (code->pieces->len >= MOST_PIECES)
    {
      code->into->is_cut = true;
      return 0;
    }
  g_array_append_val (code->pieces, piece);
  return code->pieces->len;
}

typedef struct
{
  ElfCodeRange range;
  uint32_t piece; /* 1 + the index of the piece */
} Wanted;

static int
compare_wanted (const void *a, const void *b)
{
  const Wanted *left = a, *right = b;

  return (left->range.start > right->range.start) - (left->range.start < right->range.start);
}

/* Lists each piece once, sorted by address. */
static GArray *
list_wanted (Symbolization *self, const FileBatch *batch)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (Wanted));
  g_autofree bool *is_listed = g_new0 (bool, MOST_PIECES + 1);

  for (uint32_t i = 0; i < batch->n_items; i++)
    {
      AddressId address = batch->items[i].address;
      uint32_t number = add_piece (self, batch, address);
      const CodePiece *piece;
      Wanted wanted;

      self->code->into->piece_of[address] = number;
      if (number == 0 || is_listed[number])
        continue;
      is_listed[number] = true;
      piece = &g_array_index (self->code->pieces, CodePiece, number - 1);
      wanted = (Wanted){ { piece->start, piece->end }, number };
      g_array_append_val (list, wanted);
    }
  g_array_sort (list, compare_wanted);
  return list;
}

static void
find_lines (const Symbolization *self,
            ElfSandbox *sandbox,
            const ElfAnswers *found,
            uint64_t shift,
            ElfAnswers *lines)
{
  g_autofree uint64_t *addresses = g_new (uint64_t, found->n + 1);

  if (!self->options->with_lines)
    return;
  for (size_t i = 0; i < found->n; i++)
    {
      addresses[i] = found->instruction[i].address - shift;
      if (i > 0 && addresses[i] < addresses[i - 1])
        return; /* the functions overlap */
    }
  if (sysprof_elf_sandbox_resolve (
          sandbox,
          &(ElfQuery){
              .kind = ELF_LINES, .are_addresses = true, .offsets = addresses, .n = found->n },
          lines) != ELF_OK)
    *lines = (ElfAnswers){ 0 };
}

void
sysprof_kernel_code_read (Symbolization *self,
                          ElfSandbox *sandbox,
                          const FileBatch *batch,
                          uint64_t shift)
{
  g_autoptr (GArray) list = list_wanted (self, batch);
  g_autofree ElfCodeRange *ranges = g_new0 (ElfCodeRange, list->len + 1);
  g_autofree uint32_t *number_of = g_new0 (uint32_t, list->len + 1);
  ElfAnswers found = { 0 };
  ElfAnswers lines = { 0 };

  for (guint i = 0; i < list->len; i++)
    {
      ranges[i] = g_array_index (list, Wanted, i).range;
      number_of[i] = g_array_index (list, Wanted, i).piece;
    }
  if (list->len == 0 || sysprof_elf_sandbox_resolve (sandbox,
                                                     &(ElfQuery){ .kind = ELF_CODE,
                                                                  .are_addresses = true,
                                                                  .shift = shift,
                                                                  .ranges = ranges,
                                                                  .n = list->len },
                                                     &found) != ELF_OK)
    return;

  find_lines (self, sandbox, &found, shift, &lines);
  sysprof_code_collection_take (self, number_of, &found, &lines);
  sysprof_elf_answers_clear (&found);
  sysprof_elf_answers_clear (&lines);
}
