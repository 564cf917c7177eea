// SPDX-License-Identifier: BSD-2-Clause

/* Joins finished captures. It decides which of their files are kept, and never changes the
 * captures that it reads. */

#include "join/parts.h"

#include <stdlib.h>
#include <string.h>

#define FILES_WITHOUT_EVENTS (JOINED_ALL & ~JOINED_SAMPLED_ON)

/* The capture whose kernel addresses stay: the first with off-CPU times, which contain such
 * addresses; else the first that has kernel code, preferably with a boot ID. */
static const CaptureContents *
choose_boot (const Translation *translations, size_t n)
{
  const CaptureContents *chosen = NULL;
  int chosen_rank = -1;

  for (size_t i = 0; i < n; i++)
    {
      const CaptureContents *contents = &translations[i].contents;
      int rank = 2 * contents->has_kernel_code + (contents->boot[0] != '\0');

      if ((contents->files & JOINED_WAITS) != 0)
        return contents;
      if (rank > chosen_rank)
        {
          chosen = contents;
          chosen_rank = rank;
        }
    }

  return chosen;
}

/* Captures without a boot ID count as captures of one boot. Returns the number of captures that
 * lose kernel addresses. */
static size_t
mark_other_boots (Translation *translations, size_t n)
{
  const CaptureContents *chosen = choose_boot (translations, n);
  size_t n_other = 0;

  for (size_t i = 0; i < n && chosen != NULL; i++)
    if (strcmp (translations[i].contents.boot, chosen->boot) != 0)
      {
        translations[i].is_of_other_boot = true;
        n_other += translations[i].contents.has_kernel_code;
      }

  return n_other;
}

/* Chooses the files of each capture. Returns those that are missing for some capture. Kernel
 * symbol lists are among them only if the captures have no boot ID, because they may be of
 * different kernels. */
static JoinedFiles
choose_files (Translation *translations, size_t n, JoinedFiles *kept)
{
  JoinedFiles left = 0;
  CaptureContents before = { 0 };
  bool agree = true;

  for (size_t i = 0; i < n; i++)
    {
      Translation *one = &translations[i];

      agree = sysprof_translation_choose_files (one, &before, n > 1) && agree;
      left |= one->left & (JoinedFiles) (FILES_WITHOUT_EVENTS - JOINED_KALLSYMS);
      if (one->contents.boot[0] == '\0' && !one->is_of_other_boot)
        left |= one->left & JOINED_KALLSYMS;
    }

  for (size_t i = 0; i < n && !agree; i++)
    translations[i].left |= JOINED_SAMPLED_ON;

  *kept = agree ? before.files : before.files & FILES_WITHOUT_EVENTS;
  return agree ? left : left | JOINED_SAMPLED_ON;
}

/* Off-CPU times contain addresses, so the names of the first capture that has them keep
 * theirs. */
static bool
add_all_names (Translation *translations, size_t n)
{
  size_t first = 0;

  while (first < n && sysprof_capture_reader_find_file (translations[first].reader,
                                                        CAPTURE_WAITS_FILE) == NULL)
    first++;
  if (first < n && !sysprof_translation_add_names (&translations[first], true))
    return false;

  for (size_t i = 0; i < n; i++)
    if (i != first && !sysprof_translation_add_names (&translations[i], false))
      return false;

  return true;
}

static bool
join_all (SysprofCaptureWriter *self,
          Translation *translations,
          SysprofCaptureReader *const *readers,
          size_t n_readers,
          SysprofCaptureUnpackFunc unpack,
          JoinReport *report,
          CaptureRange *range)
{
  for (size_t i = 0; i < n_readers; i++)
    if (!sysprof_translation_init (&translations[i], self, readers[i]))
      return false;
  if (!add_all_names (translations, n_readers))
    return false;

  if (unpack != NULL)
    report->n_other_boots = mark_other_boots (translations, n_readers);
  report->left = choose_files (translations, n_readers, &report->kept);
  for (size_t i = 0; i < n_readers; i++)
    {
      translations[i].merged = JOINED_SYMBOLS | JOINED_LISTS;
      if (!sysprof_translation_copy (&translations[i], COPY_EARLY))
        return false;
      sysprof_capture_range_add (range, translations[i].reader);
    }

  if (!sysprof_capture_writer_add_joined_lists (self, range->end, translations, n_readers,
                                                unpack, &report->left, &report->kept) ||
      !sysprof_capture_writer_add_merged_symbols (self, range->end, translations, n_readers,
                                                  unpack))
    return false;

  for (size_t i = 0; i < n_readers; i++)
    if (!sysprof_translation_copy (&translations[i], COPY_LATE))
      return false;

  return sysprof_capture_writer_finish_join (self, *range);
}

bool
sysprof_capture_writer_join (SysprofCaptureWriter *self,
                             SysprofCaptureReader *const *readers,
                             size_t n_readers,
                             SysprofCaptureUnpackFunc unpack,
                             JoinReport *report)
{
  Translation *translations = calloc (n_readers, sizeof *translations);
  CaptureRange range = sysprof_capture_range_of_writer (self);
  JoinReport own = { 0 };
  bool is_done;

  if (translations == NULL)
    return false;

  is_done = join_all (self, translations, readers, n_readers, unpack, &own, &range);
  for (size_t i = 0; i < n_readers && is_done; i++)
    is_done = sysprof_capture_reader_check (readers[i]);
  for (size_t i = 0; i < n_readers; i++)
    if (translations[i].writer != NULL)
      sysprof_translation_clear (&translations[i]);
  free (translations);
  if (report != NULL)
    *report = own;

  return is_done;
}
