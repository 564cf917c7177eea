// SPDX-License-Identifier: GPL-3.0-or-later

/* Looks up lines and inlined functions of the open file, in its own debug information or in
 * that of its debug file. Plain C without GLib, because it runs in a forked child. */

#include "inspect/elf-worker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_KNOWN_NAMES 0x4000

/* --- addresses --- */

typedef struct
{
  uint64_t address;
  uint32_t offset; /* index of the offset */
} Asked;

static int
compare_asked (const void *a, const void *b)
{
  const Asked *left = a, *right = b;

  return (left->address > right->address) - (left->address < right->address);
}

/* Sorts the addresses: they do not ascend with the offsets if the file orders its segments
 * differently than memory does. */
static size_t
find_addresses (const ElfWorker *self, const ElfQuery *query, Asked *asked)
{
  size_t n_asked = 0;
  bool is_sorted = true;

  for (size_t i = 0; i < query->n; i++)
    {
      Asked *next = &asked[n_asked];

      next->offset = (uint32_t) i;
      if (sysprof_elf_worker_find_address (self, query, query->offsets[i], &next->address) !=
          ELF_OK)
        continue;
      is_sorted = is_sorted && (n_asked == 0 || next[-1].address <= next->address);
      n_asked++;
    }
  if (!is_sorted)
    qsort (asked, n_asked, sizeof *asked, compare_asked);
  return n_asked;
}

/* --- answers --- */

typedef struct
{
  uint32_t name;
  uint32_t demangled;
} KnownName;

typedef struct
{
  ElfAnswers *lines;
  KnownName known[N_KNOWN_NAMES];
} Builder;

/* Returns the offset of the demangled name; 0 if the name is not mangled, or there is no
 * room. */
static uint32_t
demangle (Builder *self, uint32_t name)
{
  ElfAnswers *lines = self->lines;
  KnownName *known = &self->known[name % N_KNOWN_NAMES];
  char *demangled;

  if (known->name == name)
    return known->demangled;

  *known = (KnownName){ name, 0 };
  demangled = sysprof_elf_demangle (lines->text + name);
  if (demangled != NULL && demangled[0] != '\0')
    /* without room, the name stays mangled */
    (void) sysprof_elf_answers_add_text (lines, demangled, &known->demangled);
  free (demangled);
  return known->demangled;
}

/* An inlined function without a name cannot be shown. Its callees are then shown as called by
 * its caller. */
static void
take_row (Builder *self, const DwarfAnswers *answers, const DwarfRow *from, ElfLineRow *row)
{
  ElfAnswers *lines = self->lines;

  row->first = (uint32_t) lines->n_frames;
  if (from->n > ELF_MAX_LINE_FRAMES - lines->n_frames)
    return;
  for (uint32_t i = 0; i < from->n; i++)
    {
      const DwarfFrame *frame = &answers->frame[from->first + i];
      bool is_inlined = frame->is_inlined && i + 1 < from->n;
      ElfLineFrame *taken = &lines->frame[lines->n_frames];

      if (is_inlined && frame->name == 0)
        continue;
      *taken = (ElfLineFrame){
        .name = is_inlined ? frame->name : 0,
        .demangled = is_inlined ? demangle (self, frame->name) : 0,
        .file = frame->line != 0 ? frame->file : 0,
        .line = frame->file != 0 ? frame->line : 0,
        .decl_file = frame->decl_file,
        .decl_line = frame->decl_line,
        .is_inlined = is_inlined,
      };
      lines->n_frames++;
      row->n++;
    }
}

static ElfStatus
take_answers (DwarfAnswers *answers, const Asked *asked, size_t n, ElfAnswers *lines)
{
  Builder *builder = calloc (1, sizeof *builder);

  lines->line = calloc (n + 1, sizeof (ElfLineRow));
  lines->split = calloc (answers->n_splits + 1, sizeof (ElfSplit));
  lines->frame = calloc (
      (answers->n_frames < ELF_MAX_LINE_FRAMES ? answers->n_frames : ELF_MAX_LINE_FRAMES) + 1,
      sizeof (ElfLineFrame));
  if (builder == NULL || lines->line == NULL || lines->split == NULL || lines->frame == NULL)
    {
      free (builder);
      return ELF_NO_MEMORY;
    }

  lines->n = n;
  lines->is_over_limit = answers->is_over_limit;
  lines->text = answers->text;
  lines->text_size = lines->text_capacity = answers->text_size;
  answers->text = NULL;
  builder->lines = lines;
  for (size_t i = 0; i < answers->n; i++)
    take_row (builder, answers, &answers->row[i], &lines->line[asked[i].offset]);
  free (builder);
  for (size_t i = 0; i < answers->n_splits && i < ELF_MAX_SPLITS; i++)
    {
      const DwarfSplit *split = &answers->split[i];

      lines->split[lines->n_splits++] = (ElfSplit){ .directory = split->directory,
                                                    .name = split->name,
                                                    .is_other = split->is_other };
    }
  return ELF_OK;
}

/* --- split units --- */

/* Returns the entry of the answer for a missing file, or NULL. */
static ElfSplit *
find_lacking (ElfAnswers *lines, const ElfSplitFile *split)
{
  for (size_t i = 0; i < lines->n_splits; i++)
    if (strcmp (lines->text + lines->split[i].name, split->name) == 0 &&
        strcmp (lines->text + lines->split[i].directory, split->directory) == 0)
      return &lines->split[i];
  return NULL;
}

/* Keeps the received files that were useful, and replaces the others by those that this answer
 * is missing. */
static ElfStatus
expect_splits (ElfWorker *self, const DwarfAnswers *answers, ElfAnswers *lines)
{
  ElfSplitFile *larger;
  size_t n = 0;

  for (size_t i = 0; i < self->n_splits; i++)
    {
      ElfSplitFile *split = &self->split[i];
      ElfSplit *lacking = find_lacking (lines, split);

      if (split->fd >= 0 && lacking == NULL)
        {
          self->split[n++] = *split;
          continue;
        }
      if (lacking != NULL && split->is_other)
        lacking->is_other = true;
      if (split->fd >= 0)
        (void) close (split->fd); /* the file was only read */
      free (split->directory);
      free (split->name);
    }
  self->n_splits = self->n_given_splits = n;
  /* The requested files come first. Files beyond the limit are not looked for, so nothing is
   * known about them. */
  if (lines->n_splits > ELF_MAX_SPLITS - n)
    {
      lines->n_splits = ELF_MAX_SPLITS - n;
      lines->is_over_limit = true;
    }
  larger = realloc (self->split, (n + lines->n_splits + 1) * sizeof *larger);
  if (larger == NULL)
    return ELF_NO_MEMORY;

  self->split = larger;
  for (size_t i = 0; i < lines->n_splits; i++)
    {
      ElfSplitFile split = { .directory = strdup (lines->text + lines->split[i].directory),
                             .name = strdup (lines->text + lines->split[i].name),
                             .dwo_id = answers->split[i].dwo_id,
                             .fd = -1 };

      if (self->has_other_package)
        lines->split[i].is_other = true;
      self->split[self->n_splits++] = split;
      if (split.directory == NULL || split.name == NULL)
        return ELF_NO_MEMORY;
    }
  return ELF_OK;
}

/* Implements the callback of DwarfFiles. */
static int
open_split (void *closure, const char *directory, const char *name)
{
  const ElfWorker *self = closure;

  for (size_t i = 0; i < self->n_splits; i++)
    {
      const ElfSplitFile *split = &self->split[i];

      if (split->fd >= 0 && strcmp (split->name, name) == 0 &&
          strcmp (split->directory, directory) == 0)
        return split->fd;
    }
  return -1;
}

static ElfStatus
resolve (ElfWorker *self, const Asked *asked, size_t n_asked, size_t n, ElfAnswers *lines)
{
  uint64_t *addresses = calloc (n_asked + 1, sizeof *addresses);
  DwarfAnswers answers = { 0 };
  ElfStatus status;

  if (addresses == NULL)
    return ELF_NO_MEMORY;

  for (size_t i = 0; i < n_asked; i++)
    addresses[i] = asked[i].address;
  status = sysprof_dwarf_resolve (self->dwarf, addresses, n_asked, &answers);
  /* If a limit was exceeded, the answers found so far are valid. */
  if (status == ELF_OK || status == ELF_TOO_LARGE)
    status = take_answers (&answers, asked, n, lines);
  if (status == ELF_OK)
    status = expect_splits (self, &answers, lines);
  if (status != ELF_OK)
    sysprof_elf_worker_close_dwarf (self);
  sysprof_dwarf_answers_clear (&answers);
  free (addresses);
  return status;
}

/* The Dwarf is kept open, because a file with several paths or batches is queried several
 * times. */
static ElfStatus
open_dwarf (ElfWorker *self)
{
  DwarfFiles files = { .image = self->debug_image != NULL ? self->debug_image : self->image,
                       .supplement = self->supplement,
                       .package = self->package,
                       .open_split = open_split,
                       .closure = self };

  return self->dwarf != NULL ? ELF_OK : sysprof_dwarf_open (&files, &self->dwarf);
}

ElfStatus
sysprof_elf_worker_resolve_lines (ElfWorker *self, const ElfQuery *query, ElfAnswers *lines)
{
  Asked *asked = calloc (query->n + 1, sizeof *asked);
  ElfStatus status;

  if (asked == NULL)
    status = ELF_NO_MEMORY;
  else if (self->image == NULL || query->n >= UINT32_MAX)
    status = ELF_ABSENT;
  else
    status = open_dwarf (self);

  if (status == ELF_OK)
    status = resolve (self, asked, find_addresses (self, query, asked), query->n, lines);
  free (asked);
  return status;
}
