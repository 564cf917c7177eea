// SPDX-License-Identifier: GPL-3.0-or-later

/* Opening and symbolizing report their progress, which never decreases. After cancellation
 * there are no further reports, and all memory is freed, which the sanitizers check. */

#include "capture/capture.h"
#include "symbolize/symbolize.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define N_STACKS 60000
#define LEAST    40 /* steps of a capture of that size */

/* Owned* by the working thread, because it makes the calls. */
typedef struct
{
  GCancellable *cancellable;
  unsigned cancel_at; /* the step to cancel in; 0 = none */
  unsigned n_told;
  double fraction;
  const char *message;
} Listener;

static int capture;

static void
listen (double fraction, const char *message, void *data)
{
  Listener *self = data;

  g_assert_cmpfloat (fraction, >=, self->fraction);
  g_assert_cmpfloat (fraction, <=, 1);
  g_assert_nonnull (message);
  g_assert_false (g_cancellable_is_cancelled (self->cancellable));
  self->fraction = fraction;
  self->message = message;
  if (++self->n_told == self->cancel_at)
    g_cancellable_cancel (self->cancellable);
}

static void
append_frame (GByteArray *bytes,
              uint8_t type,
              int32_t pid,
              int64_t time,
              const void *rest,
              size_t size)
{
  static const uint8_t zeros[8];
  SysprofCaptureFrame frame = { .len = (uint16_t) ((sizeof frame + size + 7) / 8 * 8),
                                .cpu = 1,
                                .pid = pid,
                                .time = time,
                                .type = type };

  g_byte_array_append (bytes, (const uint8_t *) &frame, sizeof frame);
  g_byte_array_append (bytes, rest, (guint) size);
  g_byte_array_append (bytes, zeros, (guint) (frame.len - sizeof frame - size));
}

/* Most distinct, of many processes, in no order of time; with marks, logs, counters, and names
 * for some. */
static void
append_moment (GByteArray *bytes, uint32_t i)
{
  int32_t pid = 100 + (int32_t) (i % 300);
  int64_t time = 1000 + (int64_t) (i * UINT64_C (7919) % N_STACKS);
  struct
  {
    uint16_t n;
    uint16_t padding;
    int32_t tid;
    uint64_t address[6];
  } stack = { 6,
              0,
              pid,
              { (uint64_t) -512, 0x1000 + i, 0x200000 + i % 7000, 0x300000 + i % 90, 0x400000,
                0x500000 } };
  struct
  {
    int64_t duration;
    char group[24];
    char name[40];
    char message[8];
  } mark = { i % 100, "group", "name", "text" };
  struct
  {
    uint64_t start;
    uint64_t end;
    uint64_t offset;
    uint64_t inode;
    char path[16];
  } map = { 0, 1 << 30, 0, i, "/bin/program" };

  append_frame (bytes, SYSPROF_CAPTURE_FRAME_SAMPLE, pid, time, &stack, sizeof stack);
  if (i % 4 == 0)
    append_frame (bytes, SYSPROF_CAPTURE_FRAME_MARK, pid, time, &mark, sizeof mark);
  if (i < 300)
    append_frame (bytes, SYSPROF_CAPTURE_FRAME_MAP, pid, 1000, &map, sizeof map);
}

static GByteArray *
begin_capture (void)
{
  SysprofCaptureFileHeader header = {
    .magic = GUINT32_FROM_LE (0xfdca975e),
    .version = 1,
    .little_endian = G_BYTE_ORDER == G_LITTLE_ENDIAN,
    .capture_time = "2001-01-01T00:00:00Z",
    .time = 1000,
  };
  GByteArray *bytes = g_byte_array_new ();

  return g_byte_array_append (bytes, (const uint8_t *) &header, sizeof header);
}

static int
write_capture (const GByteArray *bytes)
{
  int fd = memfd_create ("capture", MFD_CLOEXEC);

  g_assert_true (sysprof_write_all (fd, bytes->data, bytes->len));
  return fd;
}

static int
make_capture (void)
{
  g_autoptr (GByteArray) bytes = begin_capture ();

  for (uint32_t i = 0; i < N_STACKS; i++)
    append_moment (bytes, i);
  return write_capture (bytes);
}

#define FILE_SIZE (3 << 20) /* bytes */

typedef struct
{
  uint8_t flags[4]; /* bit 0 in the order of the file: the last chunk */
  char name[256];
  uint8_t data[0x8000];
} Chunk;

static void
append_file (GByteArray *bytes, const char *name, const uint8_t *data, size_t size)
{
  g_autofree Chunk *chunk = g_new0 (Chunk, 1);

  g_strlcpy (chunk->name, name, sizeof chunk->name);
  for (size_t at = 0; at < size; at += sizeof chunk->data)
    {
      uint32_t n = (uint32_t) MIN (sizeof chunk->data, size - at);
      uint16_t n16 = (uint16_t) n;
      bool is_last = at + n == size;

      chunk->flags[0] = !is_last ? 0 : G_BYTE_ORDER == G_LITTLE_ENDIAN ? 0x01 : 0x80;
      memcpy (&chunk->flags[2], &n16, sizeof n16);
      memcpy (chunk->data, data + at, n);
      append_frame (bytes, SYSPROF_CAPTURE_FRAME_FILE_CHUNK, 1, 1000, chunk,
                    G_STRUCT_OFFSET (Chunk, data) + n);
    }
}

/* The same, packed. */
static int
pack (int from)
{
  g_autoptr (GConverter) compressor =
      G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, 1));
  int fd = memfd_create ("packed", MFD_CLOEXEC);
  size_t size = (size_t) lseek (from, 0, SEEK_END);
  g_autofree char *plain = g_malloc (size);
  g_autofree char *packed = g_malloc (size);
  gsize n_read, n_written;

  g_assert_cmpint (pread (from, plain, size, 0), ==, (ssize_t) size);
  g_assert_cmpint (g_converter_convert (compressor, plain, size, packed, size,
                                        G_CONVERTER_INPUT_AT_END, &n_read, &n_written, NULL),
                   ==, G_CONVERTER_FINISHED);
  g_assert_cmpint (write (fd, packed, n_written), ==, (ssize_t) n_written);
  return fd;
}

/* How many steps it told; `cancel_at` is one of them, or 0. */
static unsigned
open_and_listen (int fd, unsigned cancel_at)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Listener listener = { .cancellable = cancellable, .cancel_at = cancel_at };
  Progress progress = { .cancellable = cancellable, .func = listen, .data = &listener };
  g_autoptr (Store) store = sysprof_store_open_fd_telling (fd, "capture", &progress, &error);

  if (cancel_at == 0)
    {
      g_assert_no_error (error);
      g_assert_cmpuint (store->samples.n, ==, N_STACKS);
      g_assert_cmpfloat (listener.fraction, >, 0.9);
      return listener.n_told;
    }

  g_assert_null (store);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (listener.n_told, ==, cancel_at);
  return listener.n_told;
}

static GBytes *
read_embedded (const Store *store, const char *name, bool is_wanted)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  GBytes *bytes;

  if (!is_wanted)
    g_cancellable_cancel (cancellable);
  bytes = sysprof_store_read_file_cancellable (store, name, cancellable, &error);
  if (is_wanted)
    g_assert_no_error (error);
  else
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  return bytes;
}

static void
test_reading_what_is_embedded (void)
{
  g_autoptr (GByteArray) bytes = begin_capture ();
  g_autofree uint8_t *plain = g_malloc (FILE_SIZE);
  autofd plain_fd = memfd_create ("plain", MFD_CLOEXEC);
  autofd packed_fd = -1, fd = -1;
  g_autofree uint8_t *packed = g_malloc (FILE_SIZE);
  g_autoptr (Store) store = NULL;
  ssize_t size;

  for (size_t i = 0; i < FILE_SIZE; i++)
    plain[i] = (uint8_t) (i * i >> 8);
  g_assert_true (sysprof_write_all (plain_fd, plain, FILE_SIZE));
  packed_fd = pack (plain_fd);
  size = pread (packed_fd, packed, FILE_SIZE, 0);
  g_assert_cmpint (size, >, 0);
  append_file (bytes, "plain", plain, FILE_SIZE);
  append_file (bytes, "packed.gz", packed, (size_t) size);
  fd = write_capture (bytes);
  store = sysprof_store_open_fd (fd, "capture", NULL, NULL);

  for (unsigned i = 0; i < 2; i++)
    {
      const char *name = i == 0 ? "plain" : "packed";
      g_autoptr (GBytes) whole = read_embedded (store, name, true);

      g_assert_nonnull (whole);
      g_assert_cmpmem (g_bytes_get_data (whole, NULL), g_bytes_get_size (whole), plain,
                       FILE_SIZE);
      g_assert_null (read_embedded (store, name, false));
    }
}

static unsigned
symbolize_and_listen (Store *store, unsigned cancel_at)
{
  SymbolizeOptions options = { .sysroot = "/nonexistent" }; /* this machine plays no part */
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Listener listener = { .cancellable = cancellable, .cancel_at = cancel_at };
  Progress progress = { .cancellable = cancellable, .func = listen, .data = &listener };
  g_autoptr (SymbolTable) table =
      sysprof_symbolize_telling (store, &options, &progress, &error);

  if (cancel_at == 0)
    g_assert_nonnull (table);
  else
    {
      g_assert_null (table);
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpuint (listener.n_told, ==, cancel_at);
    }
  return listener.n_told;
}

static void
test_opening (void)
{
  unsigned n = open_and_listen (capture, 0);

  g_assert_cmpuint (n, >=, LEAST);
  for (unsigned i = 1; i <= n; i++)
    open_and_listen (capture, i);
}

static void
test_opening_what_is_packed (void)
{
  autofd fd = pack (capture);
  unsigned n = open_and_listen (fd, 0);

  g_assert_cmpuint (n, >=, LEAST);
  for (unsigned i = 1; i <= n; i += 1 + i / 8)
    open_and_listen (fd, i);
}

static void
test_naming (void)
{
  g_autoptr (Store) store = sysprof_store_open_fd (capture, "capture", NULL, NULL);
  unsigned n = symbolize_and_listen (store, 0);

  g_assert_cmpuint (n, >=, 10);
  for (unsigned i = 1; i <= n; i++)
    symbolize_and_listen (store, i);
}

/* --- a child that does not answer --- */

#define LARGE    (200 << 20) /* bytes: of a file of that size the answer is waited for for 20 s */
#define PATIENCE 10          /* s */

static struct
{
  unsigned stuck_child; /* number of the child that never gets to its work; 0 = none */
  pthread_mutex_t lock;
  pthread_cond_t is_stuck;
  unsigned n_children;
} children = { .lock = PTHREAD_MUTEX_INITIALIZER, .is_stuck = PTHREAD_COND_INITIALIZER };

static void
count_child (void)
{
  pthread_mutex_lock (&children.lock);
  if (++children.n_children == children.stuck_child)
    pthread_cond_signal (&children.is_stuck);
  pthread_mutex_unlock (&children.lock);
}

/* The parent counts after it has forked. When it is ended, its children end, too. */
static void
be_stuck (void)
{
  (void) prctl (PR_SET_PDEATHSIG, SIGKILL);
  while (children.n_children + 1 == children.stuck_child)
    (void) pause ();
}

static gpointer
cancel_when_stuck (gpointer data)
{
  pthread_mutex_lock (&children.lock);
  while (children.n_children < children.stuck_child)
    pthread_cond_wait (&children.is_stuck, &children.lock);
  pthread_mutex_unlock (&children.lock);
  g_cancellable_cancel (data);
  return NULL;
}

static char *
make_sysroot (void)
{
  char *root = g_dir_make_tmp ("sysprof-cancel-XXXXXX", NULL);
  g_autofree char *directory = g_build_filename (root, "bin", NULL);
  g_autofree char *path = g_build_filename (directory, "program", NULL);
  autofd fd = -1;

  g_assert_no_errno (g_mkdir (directory, 0700));
  fd = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  g_assert_no_errno (fd);
  g_assert_no_errno (ftruncate (fd, LARGE));
  return root;
}

static void
remove_sysroot (const char *root)
{
  g_autofree char *directory = g_build_filename (root, "bin", NULL);
  g_autofree char *path = g_build_filename (directory, "program", NULL);

  g_assert_no_errno (g_unlink (path));
  g_assert_no_errno (g_rmdir (directory));
  g_assert_no_errno (g_rmdir (root));
}

/* The first child opens files, the second reads them. A reader that waits longer than its
 * limit is ended. */
static void
test_child_that_says_nothing (void)
{
  g_autofree char *root = NULL;
  SymbolizeOptions options = { 0 };
  g_autoptr (Store) store = NULL;

  if (g_getenv ("MESON_EXE_WRAPPER") != NULL)
    {
      g_test_skip (
          "under an emulator the child that opens files refuses them, and no second one is started");
      return;
    }
  root = make_sysroot ();
  options.sysroot = root;
  store = sysprof_store_open_fd (capture, "capture", NULL, NULL);

  (void) pthread_atfork (NULL, count_child, be_stuck);
  for (unsigned stuck = 1; stuck <= 2; stuck++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      GThread *thread;

      children.n_children = 0;
      children.stuck_child = stuck;
      thread = g_thread_new ("cancel", cancel_when_stuck, cancellable);
      (void) alarm (PATIENCE);
      g_assert_null (sysprof_symbolize (store, &options, cancellable, &error));
      (void) alarm (0);
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_thread_join (thread);
      g_assert_cmpuint (children.n_children, ==, stuck); /* no other was started after that */
    }
  children.stuck_child = 0;
  remove_sysroot (root);
}

static gpointer
cancel_late (gpointer data)
{
  g_cancellable_cancel (data);
  return NULL;
}

/* The pipe has no writer that sends or closes. */
static void
test_pipe_that_says_nothing (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  GThread *thread;
  int ends[2];

  g_assert_no_errno (pipe (ends));
  thread = g_thread_new ("cancel", cancel_late, cancellable);
  g_assert_null (sysprof_store_open_fd (ends[0], "pipe", cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_thread_join (thread);
  close (ends[0]);
  close (ends[1]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  capture = make_capture ();

  g_test_add_func ("/store/cancel/opening", test_opening);
  g_test_add_func ("/store/cancel/opening-what-is-packed", test_opening_what_is_packed);
  g_test_add_func ("/store/cancel/naming", test_naming);
  g_test_add_func ("/store/cancel/child-that-says-nothing", test_child_that_says_nothing);
  g_test_add_func ("/store/cancel/reading-what-is-embedded", test_reading_what_is_embedded);
  g_test_add_func ("/store/cancel/pipe-that-says-nothing", test_pipe_that_says_nothing);
  return g_test_run ();
}
