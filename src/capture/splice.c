// SPDX-License-Identifier: BSD-2-Clause

/* Puts captures together: as they are (splice), or so that counters and names stay what they are (cat, join). */

#include "capture/splice.h"

#include <errno.h>
#include <stdlib.h>

/* What says nothing of what samples were taken on. */
#define FILES_BESIDE_EVENTS (JOINED_ALL & ~JOINED_SAMPLED_ON)

bool
sysprof_capture_reader_splice (SysprofCaptureReader *self, SysprofCaptureWriter *dest)
{
  const SysprofCaptureFrame *frame;

  while ((frame = sysprof_capture_reader_next_any (self)) != NULL)
    {
      bool is_known = sysprof_capture_frame_type_is_known (frame->type);

      /* A frame index holds offsets of the file it is in; the destination makes its own. */
      if (!sysprof_capture_frame_is_index ((const uint8_t *) frame, false) &&
          (is_known || !self->is_swapped))
        {
          void *place = sysprof_capture_writer_reserve (dest, frame->len);

          if (place == NULL)
            return false;
          memcpy (place, frame, frame->len);
          sysprof_capture_writer_commit (dest, frame->len);
        }
      if (!is_known)
        self->n_unknown++;
      sysprof_capture_reader_step (self);
    }

  return sysprof_capture_reader_check (self);
}

bool
sysprof_capture_writer_splice (SysprofCaptureWriter *self, SysprofCaptureWriter *dest)
{
  SysprofCaptureReader *reader;
  bool is_done;
  int saved;

  if (self == dest)
    {
      errno = EINVAL;
      return false;
    }

  reader = sysprof_capture_writer_create_reader (self);
  if (reader == NULL)
    return false;

  is_done = sysprof_capture_reader_splice (reader, dest);
  saved = errno;
  sysprof_capture_reader_unref (reader);
  errno = saved;

  return is_done;
}

typedef struct
{
  int64_t begin;
  int64_t end;
} TimeRange;

/* Smallest begin, largest end. A destination that had no frames has no range of its own. */
static void
widen (TimeRange *range, const SysprofCaptureReader *read)
{
  int64_t end = read->header.end_time;

  if (read->last_time > end)
    end = read->last_time;
  if (read->header.time < range->begin)
    range->begin = read->header.time;
  if (end > range->end)
    range->end = end;
}

static bool
finish (SysprofCaptureWriter *self, TimeRange range)
{
  if (!sysprof_capture_writer_flush_jitmap (self))
    return false;
  sysprof_capture_writer_set_joined_range (self, range.begin, range.end);

  return sysprof_capture_writer_flush (self);
}

static TimeRange
initial_range (const SysprofCaptureWriter *self)
{
  TimeRange range = { INT64_MAX, INT64_MIN };

  if (self->n_frames != 0)
    {
      range.begin = self->begin;
      range.end = sysprof_capture_writer_get_end (self);
    }

  return range;
}

/* Of which of its files a capture keeps none beside what those before it said, to whom it is added then. False if they contradict each
 * other on what samples were taken on. `is_one_of_many`: processes of others may have the numbers of its own, whose code has other
 * names. */
static bool
judge_files (Translation *translation, Said *before, bool is_one_of_many)
{
  Said *said = &translation->said;
  bool agree;

  translation->left =
      before->files & said->files &
      (translation->joins_kernel_lists ? JOINED_WAITS : JOINED_WAITS | JOINED_KALLSYMS);
  if (translation->moves_addresses || translation->kernel_move.is_moved) /* those within */
    translation->left |= said->files & JOINED_WAITS;
  if (is_one_of_many)
    translation->left |= said->files & JOINED_JIT_CODE;
  said->files &= ~translation->left;

  /* What is the same in all is there once. */
  if (sysprof_said_tells_events (before))
    translation->left |= JOINED_SAMPLED_ON;
  agree = sysprof_said_agree_on_events (before, said);
  sysprof_said_add (before, said);

  return agree;
}

static bool
cat_files (Translation *translation, bool has_others)
{
  SysprofCaptureWriter *writer = translation->writer;
  Said *others = &writer->said;
  JoinedFiles before = others->files;

  others->has_samples |= writer->n_frames_of_type[SYSPROF_CAPTURE_FRAME_SAMPLE] != 0;
  if (!judge_files (translation, others, has_others) && (before & JOINED_SAMPLED_ON) != 0 &&
      /* Nobody knows what the samples were taken on: readers that see what contradicts the file before know that, too. */
      !sysprof_capture_writer_add_file (writer, translation->reader->header.time, -1, -1,
                                        CAPTURE_EVENTS_FILE, true, (const uint8_t *) "", 0))
    return false;

  translation->left |=
      before & FILES_BESIDE_EVENTS; /* a file that was ended is not continued */
  translation->contradicts_code = has_others;
  return true;
}

bool
sysprof_capture_writer_cat (SysprofCaptureWriter *self, SysprofCaptureReader *reader)
{
  TimeRange range = initial_range (self);
  bool has_others = self->n_frames != 0;
  Translation translation;
  bool is_done;

  if (!sysprof_translation_init (&translation, self, reader))
    return false;

  is_done = sysprof_translation_add_names (&translation, true) &&
            cat_files (&translation, has_others) &&
            sysprof_translation_copy (&translation, COPY_EARLY | COPY_LATE);
  if (is_done)
    widen (&range, translation.reader);
  sysprof_translation_clear (&translation);

  return is_done && finish (self, range);
}

static bool
has_kernel_lists (const Translation *self)
{
  return (self->said.files & ~self->left & JOINED_KALLSYMS) != 0;
}

/* Of those that do not say of which start of a machine they are, the first ones' lists are kept: who knows whether those of others
 * are of the same kernel. So it is with kernels that cannot be put apart. */
static void
choose_kernel_lists (Translation *translations, size_t n)
{
  bool has_unknown = false;

  for (size_t i = 0; i < n; i++)
    {
      bool is_unknown = translations[i].boots.n == 0 || !translations[i].kernel_move.is_apart;

      translations[i].joins_kernel_lists = !is_unknown || !has_unknown;
      has_unknown = has_unknown || (is_unknown && has_kernel_lists (&translations[i]));
    }
}

/* One that stands alone stays as it is, packed if it was. */
static void
keep_single_kernel_lists (Translation *translations, size_t n)
{
  Translation *single = NULL;
  size_t n_with = 0;

  for (size_t i = 0; i < n; i++)
    if (has_kernel_lists (&translations[i]))
      {
        single = &translations[i];
        n_with++;
      }
  if (n_with == 1 && !single->kernel_move.is_moved)
    single->keeps_kernel_lists = true;
}

/* Addresses are within a file of waits, too: the kernel of the first capture that has one stays where it is. */
static void
move_kernels (Translation *translations, size_t n)
{
  Boots all = { 0 };
  size_t first = 0;

  while (first < n && (translations[first].said.files & JOINED_WAITS) == 0)
    first++;
  for (size_t i = 0; i < n && first == n; i++)
    if (translations[i].boots.n > 0)
      first = i;
  if (first < n)
    sysprof_kernel_move_init (&translations[first].kernel_move, &all,
                              &translations[first].boots);
  for (size_t i = 0; i < n; i++)
    if (i != first)
      sysprof_kernel_move_init (&translations[i].kernel_move, &all, &translations[i].boots);
}

/* Of which captures which of those files are kept, and of all together. What was left out. */
static JoinedFiles
choose_files (Translation *translations, size_t n, JoinedFiles *kept)
{
  JoinedFiles left = 0;
  Said before = { 0 };
  bool agree = true;

  for (size_t i = 0; i < n; i++)
    {
      agree = judge_files (&translations[i], &before, n > 1) && agree;
      left |= translations[i].left & FILES_BESIDE_EVENTS;
    }

  for (size_t i = 0; i < n && !agree; i++)
    translations[i].left |= JOINED_SAMPLED_ON;

  *kept = agree ? before.files : before.files & FILES_BESIDE_EVENTS;
  return agree ? left : left | JOINED_SAMPLED_ON;
}

/* Addresses are within a file of waits, too: the names of the first capture that has one keep theirs. */
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
          JoinedFiles *left,
          JoinedFiles *kept,
          TimeRange *range)
{
  JoinedFiles left_out, of_all;

  for (size_t i = 0; i < n_readers; i++)
    if (!sysprof_translation_init (&translations[i], self, readers[i]))
      return false;
  if (!add_all_names (translations, n_readers))
    return false;

  if (unpack != NULL)
    {
      move_kernels (translations, n_readers);
      choose_kernel_lists (translations, n_readers);
    }
  left_out = choose_files (translations, n_readers, &of_all);
  keep_single_kernel_lists (translations, n_readers);
  for (size_t i = 0; i < n_readers; i++)
    {
      if (!sysprof_translation_copy (&translations[i], COPY_EARLY | LEAVE_MERGED))
        return false;
      widen (range, translations[i].reader);
    }

  if (!sysprof_capture_writer_add_joined_lists (self, range->end, translations, n_readers,
                                                unpack, &left_out, &of_all) ||
      !sysprof_capture_writer_add_merged_symbols (self, range->end, translations, n_readers,
                                                  unpack))
    return false;
  if (left != NULL)
    *left = left_out;
  if (kept != NULL)
    *kept = of_all;

  for (size_t i = 0; i < n_readers; i++)
    if (!sysprof_translation_copy (&translations[i], COPY_LATE))
      return false;

  return finish (self, *range);
}

bool
sysprof_capture_writer_join (SysprofCaptureWriter *self,
                             SysprofCaptureReader *const *readers,
                             size_t n_readers,
                             SysprofCaptureUnpackFunc unpack,
                             JoinedFiles *left,
                             JoinedFiles *kept)
{
  Translation *translations = calloc (n_readers, sizeof *translations);
  TimeRange range = initial_range (self);
  bool is_done;

  if (translations == NULL)
    return false;

  is_done = join_all (self, translations, readers, n_readers, unpack, left, kept, &range);
  for (size_t i = 0; i < n_readers && is_done; i++)
    is_done = sysprof_capture_reader_check (readers[i]);
  for (size_t i = 0; i < n_readers; i++)
    if (translations[i].writer != NULL)
      sysprof_translation_clear (&translations[i]);
  free (translations);

  return is_done;
}

struct SysprofCaptureJoin
{
  Translation translation;
  uint64_t n_cut;
};

SysprofCaptureJoin *
sysprof_capture_join_begin (SysprofCaptureWriter *writer, SysprofCaptureReader *reader)
{
  SysprofCaptureJoin *self = calloc (1, sizeof *self);

  if (self == NULL)
    return NULL;

  if (sysprof_translation_init (&self->translation, writer, reader))
    {
      self->translation.fits_frames = true;
      self->translation.left = JOINED_ALL; /* the recording has its own */
      if (sysprof_translation_add_names (&self->translation, false) &&
          sysprof_translation_copy (&self->translation, COPY_EARLY) &&
          sysprof_capture_writer_flush_jitmap (writer))
        {
          self->n_cut = self->translation.n_cut;
          return self;
        }
    }
  sysprof_capture_join_free (self);

  return NULL;
}

uint64_t
sysprof_capture_join_get_n_cut (const SysprofCaptureJoin *self)
{
  return self->n_cut;
}

bool
sysprof_capture_join_finish (SysprofCaptureJoin *self)
{
  return sysprof_translation_copy (&self->translation, COPY_LATE);
}

void
sysprof_capture_join_free (SysprofCaptureJoin *self)
{
  if (self == NULL)
    return;

  if (self->translation.writer != NULL)
    sysprof_translation_clear (&self->translation);
  free (self);
}
