// SPDX-License-Identifier: GPL-3.0-or-later

/* The request for names: takes over the names that files give, and stores why addresses have
 * none. */

#include "symbolize/names.h"

#include <string.h>

#define LOOK_AHEAD    16     /* addresses */
#define ITEMS_BETWEEN 0x1000 /* between two checks for cancelation */

/* --- answers --- */

/* Translates the function's range from file offsets to addresses of the process that contains
 * `address`. */
static void
find_range (const Symbolization *self,
            AddressId address,
            const ElfAnswer *answer,
            uint64_t *start,
            uint64_t *end)
{
  uint64_t at = sysprof_symbolization_lookup_address (self, address);

  *start = at - (answer->link_address - answer->start);
  *end = at + (answer->end - answer->link_address);
}

static SymbolId
use_answer (Symbolization *self,
            const FileBatch *batch,
            const BatchItem *item,
            const ElfAnswer *answer,
            const char *text)
{
  const char *raw_name = text + answer->name;
  g_autofree char *unversioned = NULL;
  const char *version;
  SymbolAnswer named = {
    .binary = sysprof_symbolize_base_name (batch->path),
    .path = batch->path,
    .kind = sysprof_default_symbol_kind (self->request->address_kind),
    .is_entry = answer->is_entry,
  };

  find_range (self, item->address, answer, &named.start, &named.end);

  /* such as memcpy@@GLIBC_2.14, but not memcpy@plt */
  version = raw_name[0] != 0 ? strchr (raw_name + 1, '@') : NULL;
  if (version != NULL && strcmp (version, ELF_STUB_SUFFIX) != 0)
    raw_name = unversioned = g_strndup (raw_name, (size_t) (version - raw_name));

  named.name = answer->demangled != 0 ? text + answer->demangled : raw_name;
  named.raw_name = raw_name;
  return sysprof_symbolization_name (self, item->address, &named);
}

/* Prefetches rows: items are sorted by offset, so the rows of their addresses are in random
 * order. */
static void
expect_item (const Symbolization *self, AddressId address)
{
  const AddressTable *addresses = &self->store->addresses;

  __builtin_prefetch (&addresses->address[address]);
  __builtin_prefetch (&addresses->is_return[address]);
  __builtin_prefetch (&self->table->of_address[address], 1);
  __builtin_prefetch (&self->table->function_start[address], 1);
  __builtin_prefetch (&self->table->function_end[address], 1);
  __builtin_prefetch (&self->reason[address], 1);
}

static void
explain_answer (Symbolization *self,
                AddressId address,
                const ElfAnswer *answer,
                UnnamedReason reason)
{
  uint64_t at = sysprof_symbolization_lookup_address (self, address);
  UnnamedAnswer unnamed = { .reason = reason, .is_entry = answer->is_entry };

  if (answer->link_address != 0)
    unnamed.link_address =
        answer->link_address + (self->store->addresses.is_return[address] != 0);
  if (answer->end != 0)
    {
      unnamed.start = at - (answer->link_address - answer->start);
      unnamed.end = at + (answer->end - answer->link_address);
    }
  sysprof_symbolization_explain (self, address, &unnamed);
}

void
sysprof_names_use (Symbolization *self,
                   const FileBatch *batch,
                   const ElfAnswers *answers,
                   UnnamedReason reason)
{
  const ElfAnswer *last = NULL; /* the answer that gave `symbol` */
  SymbolId symbol = 0;
  uint32_t at = 0;

  for (uint32_t i = 0; i < batch->n_items; i++)
    {
      const BatchItem *item = &batch->items[i];
      const ElfAnswer *answer;

      if (i % ITEMS_BETWEEN == 0 && sysprof_progress_is_cancelled (self->progress))
        return;
      if (i + LOOK_AHEAD < batch->n_items)
        expect_item (self, batch->items[i + LOOK_AHEAD].address);
      while (batch->offsets[at] != item->offset)
        at++;
      answer = &answers->symbol[at];

      if (answer->name != 0 && last != NULL && answer->name == last->name &&
          answer->is_entry == last->is_entry && symbol != 0)
        {
          uint64_t start, end;

          find_range (self, item->address, answer, &start, &end);
          sysprof_symbolization_name_again (self, item->address, symbol, start, end);
        }
      else if (answer->name != 0)
        {
          symbol = use_answer (self, batch, item, answer, answers->text);
          last = answer;
        }
      else
        explain_answer (self, item->address, answer, reason);
    }
}

static void
explain (Symbolization *self, const FileBatch *batch, UnnamedReason reason)
{
  for (uint32_t i = 0; i < batch->n_items; i++)
    sysprof_symbolization_explain (self, batch->items[i].address,
                                   &(UnnamedAnswer){ .reason = reason });
}

static bool
is_lack_of_names (uint8_t reason)
{
  return reason == UNNAMED_NO_SYMBOLS || reason == UNNAMED_BETWEEN_SYMBOLS ||
         reason == UNNAMED_OTHER_DEBUG_FILE || reason == UNNAMED_DEBUG_FILE_FAILED ||
         reason == UNNAMED_OVER_LIMIT;
}

/* Whether the recorder has read this file and found no names for any of these addresses. */
static bool
is_useless (const Symbolization *self, const FileBatch *batch, bool is_complete)
{
  for (uint32_t i = 0; i < batch->n_items; i++)
    {
      AddressId address = batch->items[i].address;

      if (!self->is_told[address] || !is_lack_of_names (self->reason[address]))
        return false;
    }
  return true;
}

/* A debug file that cannot be read costs only the names that it alone contains. */
static bool
resolve (ElfSearch *self,
         const FileBatch *batch,
         const uint64_t *addresses,
         UnnamedReason reason)
{
  bool of_data = self->symbolization->request->address_kind == ADDRESS_DATA;
  const ElfQuery query = { .kind = of_data ? ELF_OBJECTS : ELF_SYMBOLS,
                           .are_addresses = addresses != NULL,
                           .offsets = addresses != NULL ? addresses : batch->offsets,
                           .n = batch->n_offsets };
  guint n_blamed = sysprof_elf_parser_n_blamed (&self->parser);
  ElfAnswers answers = { 0 };
  ElfStatus status;

  for (;;)
    {
      status = sysprof_elf_cache_resolve (&self->parser.elf, &query, &answers);
      if (!sysprof_elf_parser_do_without (&self->parser, status))
        break;
      reason = UNNAMED_DEBUG_FILE_FAILED;
    }
  if (status == ELF_OK)
    sysprof_names_use (self->symbolization, batch, &answers, reason);
  else
    sysprof_elf_parser_forgive (&self->parser, n_blamed);
  sysprof_elf_answers_clear (&answers);
  return status == ELF_OK;
}

/* --- the kernel --- */

static void
name_kernel_address (Symbolization *self,
                     const FileBatch *batch,
                     AddressId address,
                     const ElfAnswer *answer,
                     const char *text)
{
  const char *raw_name = text + answer->name;
  SymbolAnswer named = {
    .name = answer->demangled != 0 ? text + answer->demangled : raw_name,
    .raw_name = raw_name,
    .binary = batch->path,
    .kind = SYMBOL_KERNEL,
  };

  find_range (self, address, answer, &named.start, &named.end);
  (void) sysprof_symbolization_name (self, address, &named);
}

static void
resolve_kernel (Symbolization *self,
                ElfCache *elf,
                const FileBatch *batch,
                const uint64_t *addresses,
                uint64_t shift)
{
  const ElfQuery query = { .are_addresses = true, .offsets = addresses, .n = batch->n_offsets };
  ElfAnswers answers = { 0 };
  uint32_t at = 0;

  if (sysprof_elf_cache_resolve (elf, &query, &answers) != ELF_OK)
    return;
  for (uint32_t i = 0; i < batch->n_items; i++)
    {
      while (batch->offsets[at] != batch->items[i].offset)
        at++;
      if (answers.symbol[at].name != 0)
        name_kernel_address (self, batch, batch->items[i].address, &answers.symbol[at],
                             answers.text);
    }
  sysprof_elf_answers_clear (&answers);
}

/* --- the request --- */

static bool
wants (const Symbolization *self, AddressId address)
{
  return sysprof_symbolization_is_open (self, address);
}

static bool
is_complete (const ElfFacts *facts)
{
  return facts->is_full;
}

const SymbolRequest sysprof_names_request = {
  .address_kind = ADDRESS_USER,
  .is_cached = true,
  .reports_gaps = true,
  .wants = wants,
  .is_complete = is_complete,
  .is_useless = is_useless,
  .resolve = resolve,
  .resolve_kernel = resolve_kernel,
  .explain = explain,
};

const SymbolRequest sysprof_data_request = {
  .address_kind = ADDRESS_DATA,
  .wants = wants,
  .is_complete = is_complete,
  .is_useless = is_useless,
  .resolve = resolve,
  .explain = explain,
};
