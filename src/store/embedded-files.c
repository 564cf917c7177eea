// SPDX-License-Identifier: GPL-3.0-or-later

/* Files inside the capture: chunks of one name, up to the first that says it is the last.
 * Chunks of different files may be interleaved. */

#include "store/builder.h"
#include "store/file-bytes.h"

#include <string.h>
#include <sys/mman.h>

#define PATH_SIZE      256
#define DATA_AT        284
#define CHUNKS_BETWEEN 0x100                /* between two checks for cancellation */
#define UNPACK_MOST    ((size_t) 256 << 20) /* bytes of one embedded file: none in use is near */

static uint32_t
data_size (const Frame *frame)
{
  return sysprof_frame_count (frame, 26, DATA_AT, 1);
}

static bool
is_last (const Frame *frame)
{
  bool is_big_endian = frame->is_swapped == (G_BYTE_ORDER == G_LITTLE_ENDIAN);

  return (frame->bytes[24] & (is_big_endian ? 0x80 : 0x01)) != 0;
}

static uint32_t
find_file (const Store *self, const char *name)
{
  StringId id = sysprof_intern_lookup (&self->strings, name);
  uint32_t known = 0;

  if (id != 0) /* else no file has that name */
    known =
        GPOINTER_TO_UINT (g_hash_table_lookup (self->files.row_of_name, GUINT_TO_POINTER (id)));
  return known != 0 ? known - 1 : G_MAXUINT32;
}

/* The same name again, from another capture that was joined. `first`: the number of the file's
 * first chunk. */
static void
note_repetition (EmbeddedFile *file, const Store *store, FrameNo first, const Frame *again)
{
  Frame frame = sysprof_store_frame (store, first);
  uint32_t size = data_size (&frame);

  file->is_repeated = true;
  if (!file->is_contradicted)
    file->is_contradicted = file->n_chunks > 1 || size != data_size (again) ||
                            memcmp (frame.bytes + DATA_AT, again->bytes + DATA_AT, size) != 0;
}

const EmbeddedFile *
sysprof_builder_find_file (const Builder *self, const char *name)
{
  uint32_t file = find_file (self->store, name);

  return file < self->store->files.n ? &self->store->files.row[file] : NULL;
}

void
sysprof_builder_note_mixed (Builder *self, const char *format, ...)
{
  va_list arguments;

  if (self->mixed->len > 0)
    g_string_append_c (self->mixed, ' ');
  va_start (arguments, format);
  g_string_append_vprintf (self->mixed, format, arguments);
  va_end (arguments);
}

void
sysprof_builder_read_embedded_files (Builder *self)
{
  Store *store = self->store;
  const FrameList *frames = &store->frames_of_type[SYSPROF_CAPTURE_FRAME_FILE_CHUNK];
  EmbeddedFiles *files = &store->files;
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (EmbeddedFile));
  g_autoptr (GHashTable) row_of_name = g_hash_table_new (NULL, NULL);
  g_autofree uint32_t *row_of_chunk = g_new (uint32_t, frames->n); /* row + 1; 0 = left out */
  g_autofree uint32_t *next = NULL;
  FileWindow window;

  /* They may lie all over the file. */
  sysprof_file_window_init (&window, self->file, FILE_WINDOW_SOME);
  for (uint32_t i = 0; i < frames->n && sysprof_builder_goes_on (self, i, frames->n); i++)
    {
      FrameNo number = frames->frame[i];
      Frame frame = sysprof_store_frame_in (store, &window, number);
      StringId name = sysprof_store_intern (store, sysprof_frame_field (&frame, 28, PATH_SIZE));
      uint32_t known =
          GPOINTER_TO_UINT (g_hash_table_lookup (row_of_name, GUINT_TO_POINTER (name)));
      EmbeddedFile *row;

      if (known == 0)
        {
          EmbeddedFile file = { .name = name,
                                .pid = store->frames.pid[number],
                                .first_chunk = i };

          g_array_append_val (rows, file);
          known = rows->len;
          g_hash_table_insert (row_of_name, GUINT_TO_POINTER (name), GUINT_TO_POINTER (known));
        }

      row = &g_array_index (rows, EmbeddedFile, known - 1);
      row_of_chunk[i] = row->is_whole ? 0 : known;
      if (row->is_whole)
        {
          note_repetition (row, store, frames->frame[row->first_chunk], &frame);
          continue;
        }

      row->size += data_size (&frame);
      row->is_whole = is_last (&frame);
      row->n_chunks++;
      files->n_chunks++;
    }
  sysprof_file_window_clear (&window);

  if (sysprof_progress_is_cancelled (self->progress))
    return;

  files->n = rows->len;
  files->row = (EmbeddedFile *) g_array_free (g_steal_pointer (&rows), FALSE);
  files->row_of_name = g_steal_pointer (&row_of_name);
  files->chunk = g_new (FrameNo, files->n_chunks);
  next = g_new (uint32_t, files->n);
  for (uint32_t i = 0, at = 0; i < files->n; at += files->row[i++].n_chunks)
    files->row[i].first_chunk = next[i] = at;
  for (uint32_t i = 0; i < frames->n; i++)
    if (row_of_chunk[i] != 0)
      files->chunk[next[row_of_chunk[i] - 1]++] = frames->frame[i];
}

static GBytes *
read_raw (const Store *self, uint32_t file, const Progress *progress, GError **error)
{
  const EmbeddedFile *row;
  uint8_t *bytes;
  size_t done = 0;

  if (file >= self->files.n)
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
                   "Cannot read embedded file %u of '%s': it has %u.", file,
                   self->path != NULL ? self->path : "the capture", self->files.n);
      return NULL;
    }

  row = &self->files.row[file];
  bytes = g_malloc (MAX (row->size, 1));
  for (uint32_t i = 0; i < row->n_chunks; i++)
    {
      Frame frame = sysprof_store_frame (self, self->files.chunk[row->first_chunk + i]);

      size_t size = MIN (data_size (&frame), row->size - done);

      if (i % CHUNKS_BETWEEN == 0 && sysprof_progress_set_error_if_cancelled (progress, error))
        {
          g_free (bytes);
          return NULL;
        }
      memcpy (bytes + done, frame.bytes + DATA_AT, size);
      done += size;
    }
  sysprof_store_leave_file (self);

  return g_bytes_new_take (bytes, done);
}

GBytes *
sysprof_store_read_file_raw (const Store *self, uint32_t file, GError **error)
{
  const Progress progress = { 0 };

  return read_raw (self, file, &progress, error);
}

static void
free_unpacked (gpointer data)
{
  sysprof_file_bytes_clear (data);
  g_free (data);
}

static GBytes *
unpack (GBytes *packed, const char *name, Progress *progress, GError **error)
{
  FileBytes bytes = { 0 };
  size_t size;
  const uint8_t *data = g_bytes_get_data (packed, &size);

  if (!sysprof_file_bytes_reserve (&bytes, size, name, UNPACK_MOST, error))
    return NULL;

  if (size > 0)
    memcpy (bytes.bytes, data, size);
  bytes.size = size;
  if (!sysprof_file_bytes_unpack (&bytes, name, UNPACK_MOST, NULL, 0, progress, error))
    {
      sysprof_file_bytes_clear (&bytes);
      return NULL;
    }

  return g_bytes_new_with_free_func (bytes.bytes, bytes.size, free_unpacked,
                                     g_memdup2 (&bytes, sizeof bytes));
}

static GBytes *
read_unpacked (const Store *self, uint32_t file, Progress *progress, GError **error)
{
  g_autoptr (GBytes) bytes = read_raw (self, file, progress, error);
  const char *name;

  if (bytes == NULL)
    return NULL;

  name = sysprof_store_string (self, self->files.row[file].name);
  return g_str_has_suffix (name, ".gz") ? unpack (bytes, name, progress, error)
                                        : g_steal_pointer (&bytes);
}

GBytes *
sysprof_store_read_file_unpacked (const Store *self, uint32_t file, GError **error)
{
  Progress progress = { 0 };

  return read_unpacked (self, file, &progress, error);
}

GBytes *
sysprof_store_read_file_cancellable (const Store *self,
                                     const char *name,
                                     GCancellable *cancellable,
                                     GError **error)
{
  g_autofree char *packed_name = g_strconcat (name, ".gz", NULL);
  Progress progress = { .cancellable = cancellable };
  uint32_t file = find_file (self, name);

  if (file < self->files.n)
    return read_raw (self, file, &progress, error);

  file = find_file (self, packed_name);
  return file < self->files.n ? read_unpacked (self, file, &progress, error) : NULL;
}

GBytes *
sysprof_store_read_file (const Store *self, const char *name, GError **error)
{
  return sysprof_store_read_file_cancellable (self, name, g_cancellable_get_current (), error);
}
