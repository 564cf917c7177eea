// SPDX-License-Identifier: GPL-3.0-or-later

/* Answers of a worker, and their check. Plain C without GLib, because it also runs in a forked
 * child. */

#include "inspect/elf-worker.h"

#include <stdlib.h>
#include <string.h>

void
sysprof_elf_answers_clear (ElfAnswers *self)
{
  free (self->rows);
  free (self->frame);
  free (self->split);
  free (self->text);
  *self = (ElfAnswers){ 0 };
}

bool
sysprof_elf_answers_add_text (ElfAnswers *self, const char *text, uint32_t *offset)
{
  size_t size = strlen (text) + 1;

  if (self->text_size > ELF_MAX_TEXT || size > ELF_MAX_TEXT - self->text_size)
    return false;
  if (size > self->text_capacity - self->text_size)
    {
      size_t capacity = (self->text_size + size) * 2;
      char *larger = realloc (self->text, capacity);

      if (larger == NULL)
        return false;
      self->text = larger;
      self->text_capacity = capacity;
    }
  memcpy (self->text + self->text_size, text, size);
  *offset = (uint32_t) self->text_size;
  self->text_size += size;
  return true;
}

size_t
sysprof_elf_row_size (ElfKind kind)
{
  static const size_t sizes[] = { [ELF_SYMBOLS] = sizeof (ElfAnswer),
                                  [ELF_LINES] = sizeof (ElfLineRow),
                                  [ELF_CODE] = sizeof (ElfInstruction),
                                  [ELF_OBJECTS] = sizeof (ElfAnswer) };

  return sizes[kind];
}

bool
sysprof_elf_facts_are_sound (const ElfFacts *facts)
{
  for (size_t i = 0; i < ELF_MAX_TEXT_SECTIONS; i++)
    if (memchr (facts->text_section[i].name, 0, ELF_MAX_SECTION_NAME) == NULL)
      return false;
  return facts->build_id_size <= ELF_MAX_BUILD_ID && facts->alt_id_size <= ELF_MAX_BUILD_ID &&
         facts->n_text_sections <= ELF_MAX_TEXT_SECTIONS &&
         memchr (facts->link, 0, sizeof facts->link) != NULL &&
         strchr (facts->link, '/') == NULL &&
         memchr (facts->alt_link, 0, sizeof facts->alt_link) != NULL;
}

static bool
are_symbols_sound (const ElfAnswers *answers)
{
  for (size_t i = 0; i < answers->n; i++)
    {
      const ElfAnswer *answer = &answers->symbol[i];

      if (answer->name >= answers->text_size || answer->demangled >= answers->text_size ||
          answer->is_entry > 1)
        return false;
      if ((answer->name != 0 || answer->end != 0) &&
          (answer->link_address < answer->start || answer->link_address >= answer->end))
        return false;
    }
  return true;
}

static bool
are_lines_sound (const ElfAnswers *lines)
{
  uint64_t n_frames = 0;

  for (size_t i = 0; i < lines->n_frames; i++)
    {
      const ElfLineFrame *frame = &lines->frame[i];

      if (frame->name >= lines->text_size || frame->demangled >= lines->text_size ||
          frame->file >= lines->text_size || frame->decl_file >= lines->text_size ||
          frame->is_inlined != (frame->name != 0))
        return false;
    }
  for (size_t i = 0; i < lines->n_splits; i++)
    {
      const ElfSplit *split = &lines->split[i];

      if (split->name == 0 || split->name >= lines->text_size ||
          split->directory >= lines->text_size || split->is_other > 1)
        return false;
    }
  for (size_t i = 0; i < lines->n; i++)
    {
      const ElfLineRow *row = &lines->line[i];

      n_frames += row->n;
      if (row->first > lines->n_frames || row->n > lines->n_frames - row->first ||
          row->n > ELF_MAX_INLINES + 1 || n_frames > lines->n_frames)
        return false;
      for (uint32_t j = 0; j < row->n; j++)
        if (lines->frame[row->first + j].is_inlined != (j + 1 < row->n))
          return false;
    }
  return true;
}

static bool
is_code_sound (const ElfAnswers *code, const ElfCodeRange *ranges, size_t n_ranges)
{
  for (size_t i = 0; i < code->n; i++)
    {
      const ElfInstruction *row = &code->instruction[i];
      const ElfInstruction *last = i > 0 && row[-1].range == row->range ? row - 1 : NULL;

      if (row->range >= n_ranges || row->size == 0 || row->size > ELF_MAX_INSTRUCTION ||
          row->text >= code->text_size || row->offset > UINT64_MAX - row->size ||
          (i > 0 && row[-1].range > row->range) ||
          (last != NULL && last->offset + last->size > row->offset) ||
          (ranges[row->range].end != 0 &&
           (row->offset < ranges[row->range].start || row->offset >= ranges[row->range].end)))
        return false;
    }
  return true;
}

bool
sysprof_elf_answers_are_sound (const ElfQuery *query, const ElfAnswers *answers)
{
  if (answers->text_size == 0 || answers->text[answers->text_size - 1] != 0 ||
      (query->kind != ELF_CODE && answers->n != query->n) ||
      (query->kind != ELF_LINES && (answers->n_frames > 0 || answers->n_splits > 0)))
    return false;
  return query->kind == ELF_CODE    ? is_code_sound (answers, query->ranges, query->n)
         : query->kind == ELF_LINES ? are_lines_sound (answers)
                                    : are_symbols_sound (answers);
}
