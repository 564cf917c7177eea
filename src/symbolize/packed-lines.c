// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads and writes `__lines__`. Files are grouped as for names (batch.h), so that a file that
 * was mapped by a hundred processes is stored once. The part of each file is self-contained, so
 * that captures can be joined by concatenating their `__lines__`. */

#include "symbolize/packed-lines.h"

#include "symbolize/kernel-parts.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TEXT     ((gsize) 64 << 20) /* total bytes that are written */
#define LINES_BETWEEN 0x1000             /* between two checks for cancelation */

/* --- writing --- */

typedef struct
{
  GString *text;
  const ElfAnswers *lines;
  GHashTable *number; /* text → its offset, counted from 1 */
} Writer;

/* A text is stored as one line, so it must not contain a newline. */
static bool
fits_line (const char *text)
{
  return strpbrk (text, "\r\n") == NULL;
}

static uint32_t
number_of (Writer *self, uint32_t offset)
{
  const char *text = self->lines->text + offset;
  uint32_t number;

  if (offset == 0 || !fits_line (text))
    return 0;
  number = GPOINTER_TO_UINT (g_hash_table_lookup (self->number, GUINT_TO_POINTER (offset)));
  if (number == 0)
    {
      number = g_hash_table_size (self->number) + 1;
      g_hash_table_insert (self->number, GUINT_TO_POINTER (offset), GUINT_TO_POINTER (number));
      g_string_append_printf (self->text, "text %s\n", text);
    }
  return number;
}

/* Texts precede the first line that refers to them. */
static void
add_row (Writer *self, uint64_t offset, const ElfLineRow *row)
{
  g_autoptr (GString) line = g_string_new (NULL);

  g_string_append_printf (line, "at %" G_GINT64_MODIFIER "x", offset);
  for (uint32_t i = 0; i < row->n; i++)
    {
      const ElfLineFrame *frame = &self->lines->frame[row->first + i];

      g_string_append_printf (line, " %u,%u,%u,%u,%u,%u", number_of (self, frame->name),
                              number_of (self, frame->demangled), number_of (self, frame->file),
                              frame->line, number_of (self, frame->decl_file),
                              frame->decl_line);
    }
  g_string_append_c (line, '\n');
  g_string_append_len (self->text, line->str, (gssize) line->len);
}

static void
add_file (GString *text, const FileBatch *batch)
{
  g_string_append_printf (text, "file %s %" G_GINT64_MODIFIER "x %s%s\n",
                          batch->build_id[0] != 0 ? batch->build_id : "-", batch->inode,
                          batch->path, batch->section != NULL ? batch->section : "");
}

void
sysprof_packed_lines_add (GString *text, const FileBatch *batch, const ElfAnswers *lines)
{
  Writer self = { .text = text, .lines = lines };

  if (!fits_line (batch->path))
    return;

  self.number = g_hash_table_new (NULL, NULL);
  add_file (text, batch);
  for (uint32_t i = 0; i < batch->n_offsets && text->len < MOST_TEXT; i++)
    if (lines->line[i].n > 0)
      add_row (&self, batch->offsets[i], &lines->line[i]);
  g_hash_table_unref (self.number);
}

/* --- reading --- */

typedef struct
{
  FileBatch batch;
  uint8_t *is_answered; /* [batch.n_offsets] */
} KnownFile;

typedef struct
{
  Symbolization *symbolization;
  GHashTable *files; /* first line of a file's part → KnownFile */

  /* Members for the part that is being read. */
  KnownFile *file;        /* NULL: the capture has no addresses in this file */
  GArray *offset_of_text; /* of uint32_t, into `text`; [0] is 0 */
  GString *text;          /* an empty text, followed by the NUL-terminated texts */
  GArray *frames;         /* of ElfLineFrame */
  GArray *answers;        /* of Answer */
} Reader;

/* A row for one offset. */
typedef struct
{
  uint32_t at; /* index into batch->offsets */
  ElfLineRow row;
} Answer;

static bool
take_number (Text *word, char separator, uint64_t *number)
{
  const char end[] = { separator, 0 };

  return sysprof_text_u64 (word, number) && *number <= G_MAXUINT32 &&
         (separator == 0 ? sysprof_text_size (*word) == 0 : sysprof_text_skip (word, end));
}

static bool
take_text (const Reader *self, Text *word, char separator, uint32_t *offset)
{
  uint64_t number;

  if (!take_number (word, separator, &number) || number >= self->offset_of_text->len)
    return false;
  *offset = g_array_index (self->offset_of_text, uint32_t, number);
  return true;
}

static bool
parse_frame (const Reader *self, Text word, ElfLineFrame *frame)
{
  uint64_t line, decl_line;

  *frame = (ElfLineFrame){ 0 };
  if (!take_text (self, &word, ',', &frame->name) ||
      !take_text (self, &word, ',', &frame->demangled) ||
      !take_text (self, &word, ',', &frame->file) || !take_number (&word, ',', &line) ||
      !take_text (self, &word, ',', &frame->decl_file) || !take_number (&word, 0, &decl_line))
    return false;
  frame->line = (uint32_t) line;
  frame->decl_line = (uint32_t) decl_line;
  frame->is_inlined = frame->name != 0;
  return true;
}

static int
compare_offsets (const void *a, const void *b)
{
  uint64_t left = *(const uint64_t *) a, right = *(const uint64_t *) b;

  return (left > right) - (left < right);
}

/* If an offset occurs twice, the first row counts. */
static void
read_row (Reader *self, Text line)
{
  uint64_t offset;
  const uint64_t *found = NULL;
  uint8_t *is_answered;
  ElfLineRow row = { .first = self->frames->len };
  ElfLineFrame frame = { .is_inlined = true };
  Text word;

  if (self->file != NULL && sysprof_text_hex (&line, &offset))
    found = bsearch (&offset, self->file->batch.offsets, self->file->batch.n_offsets,
                     sizeof offset, compare_offsets);
  if (found == NULL)
    return;
  is_answered = &self->file->is_answered[found - self->file->batch.offsets];
  if (*is_answered)
    return;

  /* All functions but the last are inlined. */
  while (frame.is_inlined && row.n <= ELF_MAX_INLINES &&
         self->frames->len < ELF_MAX_LINE_FRAMES && sysprof_text_next_word (&line, &word) &&
         parse_frame (self, word, &frame))
    {
      g_array_append_val (self->frames, frame);
      row.n++;
    }
  if (row.n > 0 && !frame.is_inlined)
    {
      Answer answer = { (uint32_t) (found - self->file->batch.offsets), row };

      g_array_append_val (self->answers, answer);
      *is_answered = 1;
    }
  else
    g_array_set_size (self->frames, row.first);
}

static void
read_text (Reader *self, Text line)
{
  uint32_t offset = (uint32_t) self->text->len;

  if (self->file == NULL)
    return;
  g_string_append_len (self->text, line.at, (gssize) sysprof_text_size (line));
  g_string_append_c (self->text, 0);
  g_array_append_val (self->offset_of_text, offset);
}

static int
compare_answers (const void *a, const void *b)
{
  const Answer *left = a, *right = b;

  return (left->at > right->at) - (left->at < right->at);
}

/* Returns the first item of the batch with this offset, which must exist. */
static const BatchItem *
find_items (const FileBatch *batch, uint64_t offset)
{
  uint32_t low = 0, high = batch->n_items;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (batch->items[middle].offset < offset)
        low = middle + 1;
      else
        high = middle;
    }
  return &batch->items[low];
}

/* Makes a batch of the items that have answers, so that the others are still looked up in
 * files. A file may have as many parts as there are lines. So the time for a part must only
 * depend on its own size. */
static void
finish_file (Reader *self)
{
  const FileBatch *batch = self->file != NULL ? &self->file->batch : NULL;
  g_autoptr (GArray) items = NULL;
  g_autofree uint64_t *offsets = NULL;
  g_autofree ElfLineRow *rows = NULL;
  FileBatch answered;
  ElfAnswers lines;

  self->file = NULL;
  if (batch == NULL || self->answers->len == 0)
    return;

  g_array_sort (self->answers, compare_answers);
  items = g_array_new (FALSE, FALSE, sizeof (BatchItem));
  offsets = g_new (uint64_t, self->answers->len);
  rows = g_new (ElfLineRow, self->answers->len);
  answered = (FileBatch){ .path = batch->path, .offsets = offsets };
  for (guint i = 0; i < self->answers->len; i++)
    {
      const Answer *answer = &g_array_index (self->answers, Answer, i);
      const BatchItem *item = find_items (batch, batch->offsets[answer->at]);
      guint n_before = items->len;

      for (; item < batch->items + batch->n_items && item->offset == batch->offsets[answer->at];
           item++)
        if (sysprof_symbolization_wants (self->symbolization, item->address))
          g_array_append_val (items, *item);
      if (items->len == n_before)
        continue;
      rows[answered.n_offsets] = answer->row;
      offsets[answered.n_offsets++] = batch->offsets[answer->at];
    }
  answered.items = (const BatchItem *) (const void *) items->data;
  answered.n_items = items->len;

  lines = (ElfAnswers){
    .line = rows,
    .n = answered.n_offsets,
    .frame = (ElfLineFrame *) (void *) self->frames->data,
    .n_frames = self->frames->len,
    .text = self->text->str,
    .text_size = self->text->len,
  };
  sysprof_line_collection_add (self->symbolization, &answered, &lines);
}

static void
begin_file (Reader *self, Text line)
{
  g_autofree char *key = g_strndup (line.at, sysprof_text_size (line));

  finish_file (self);
  self->file = g_hash_table_lookup (self->files, key);
  g_array_set_size (self->offset_of_text, 1);
  g_string_truncate (self->text, 1);
  g_array_set_size (self->frames, 0);
  g_array_set_size (self->answers, 0);
}

static void
read_lines (Reader *self, Text text)
{
  Text line;

  for (uint32_t i = 0; sysprof_text_next_line (&text, &line); i++)
    {
      Text whole = line;

      if (i % LINES_BETWEEN == 0 &&
          sysprof_progress_is_cancelled (self->symbolization->progress))
        break;
      if (sysprof_text_skip (&line, "text "))
        read_text (self, line);
      else if (sysprof_text_skip (&line, "at "))
        read_row (self, line);
      else if (sysprof_text_starts_with (whole, "file "))
        begin_file (self, whole);
    }
  finish_file (self);
}

/* Returns FALSE if captures of several machines were joined, because their files may have equal
 * paths and inodes. */
static bool
is_of_one_machine (const Store *store)
{
  const Metadata *first = sysprof_store_find_metadata (store, "hostname", NULL);

  for (const Metadata *row = first;
       first != NULL && (row = sysprof_store_find_metadata (store, "hostname", row)) != NULL;)
    if (row->value != first->value)
      return false;
  return true;
}

static bool
is_any (const char *path)
{
  return true;
}

static void
free_known_file (void *file)
{
  KnownFile *self = file;

  g_free (self->is_answered);
  g_free (self);
}

static void
add_known_file (Reader *self, const FileBatch *batch)
{
  GString *key = g_string_new (NULL);
  KnownFile *file = g_new (KnownFile, 1);

  *file = (KnownFile){ *batch, g_new0 (uint8_t, batch->n_offsets + 1) };
  add_file (key, batch);
  g_string_truncate (key, key->len - 1); /* the newline */
  g_hash_table_insert (self->files, g_string_free (key, FALSE), file);
}

void
sysprof_packed_lines_use (Symbolization *symbolization)
{
  g_autoptr (GBytes) bytes = sysprof_store_read_file_cancellable (
      symbolization->store, "__lines__", symbolization->progress->cancellable, NULL);
  Reader self = { .symbolization = symbolization };
  g_autoptr (FileBatches) batches = NULL;
  g_autoptr (KernelParts) kernel = NULL;
  bool has_inodes = is_of_one_machine (symbolization->store);
  uint32_t none = 0;

  if (bytes == NULL)
    return;

  batches = sysprof_file_batches_new (symbolization, is_any);
  kernel = sysprof_kernel_parts_new (symbolization);
  self.files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_known_file);
  self.offset_of_text = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  self.text = g_string_new (NULL);
  self.frames = g_array_new (FALSE, FALSE, sizeof (ElfLineFrame));
  self.answers = g_array_new (FALSE, FALSE, sizeof (Answer));
  g_array_append_val (self.offset_of_text, none);
  g_string_append_c (self.text, 0);
  for (uint32_t i = 0; i < batches->n; i++)
    if (batches->row[i].build_id[0] != 0 || has_inodes)
      add_known_file (&self, &batches->row[i]);
  for (guint i = 0; i < kernel->parts->len; i++)
    {
      FileBatch batch =
          sysprof_kernel_part_get_batch (&g_array_index (kernel->parts, KernelPart, i));

      if (batch.build_id[0] != 0 && batch.n_offsets > 0)
        add_known_file (&self, &batch);
    }

  read_lines (&self, (Text){ g_bytes_get_data (bytes, NULL),
                             (const char *) g_bytes_get_data (bytes, NULL) +
                                 g_bytes_get_size (bytes) });
  g_hash_table_unref (self.files);
  g_array_unref (self.offset_of_text);
  g_string_free (self.text, TRUE);
  g_array_unref (self.frames);
  g_array_unref (self.answers);
}
