// SPDX-License-Identifier: GPL-3.0-or-later

/* The sources of bytes: files, pipes, compressed files, and files that change while they are
 * read. The argument is a capture. */

#include "check-store.h"
#include "store/file-bytes.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

static char *base;
static gsize base_size;
static char *folder;

static Store *
open_file (const char *name, const char *bytes, gsize size, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (path, bytes, (gssize) size, NULL));
  return sysprof_store_open (path, NULL, error);
}

static void
assert_whole (const Store *store, const GError *error)
{
  g_assert_no_error (error);
  g_assert_cmpuint (store->size, ==, base_size);
  g_assert_cmpmem (store->bytes, store->size, base, base_size);
  check_store (store);
}

/* Packed by the programs that people use. */
static void
test_compressed (void)
{
  static const char *const packers[] = { "gzip", "bzip2", "xz", "zstd" };
  g_autofree char *plain = g_build_filename (folder, "plain", NULL);

  g_assert_true (g_file_set_contents (plain, base, (gssize) base_size, NULL));
  for (size_t i = 0; i < G_N_ELEMENTS (packers); i++)
    {
      const char *argv[] = { packers[i], "-c", plain, NULL };
      g_autoptr (GSubprocess) packer =
          g_subprocess_newv (argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE, NULL);
      g_autoptr (GBytes) packed = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (Store) store = NULL, cut = NULL;
      const char *bytes;
      gsize size;

      if (packer == NULL)
        {
          g_test_message ("%s is not installed", packers[i]);
          continue;
        }

      g_assert_true (g_subprocess_communicate (packer, NULL, NULL, &packed, NULL, NULL));
      bytes = g_bytes_get_data (packed, &size);
      g_assert_cmpuint (size, >, 100);
      store = open_file ("packed", bytes, size, &error);
      assert_whole (store, error);
      g_assert_cmpuint (store->frames.n, >, 100);

      /* A truncated one opens with the bytes that were decompressed, or fails if there are
       * none. */
      cut = open_file ("cut", bytes, size - 20, &error);
      if (cut != NULL)
        {
          g_assert_nonnull (cut->damage);
          g_assert_nonnull (strstr (cut->damage, "compressed"));
        }
      else
        g_assert_nonnull (error);
    }
}

static void
test_says_what_is_wrong (void)
{
  static const struct
  {
    const char *bytes;
    gsize size;
    const char *message;
  } cases[] = {
    { "", 0, "it has 0 bytes, and a capture begins with 256" },
    { "\x5e\x97\xca\xfd", 4, "it has 4 bytes" },
    { "\x1f\x8b rubbish behind the magic", 27, "damaged" },
  };
  char text[300];
  g_autoptr (GError) error = NULL;
  g_autofree char *missing = g_build_filename (folder, "missing", NULL);

  memset (text, 'x', sizeof text);
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_assert_null (open_file ("wrong", cases[i].bytes, cases[i].size, &error));
      g_assert_nonnull (strstr (error->message, cases[i].message));
      g_assert_nonnull (strstr (error->message, "wrong'"));
      g_clear_error (&error);
    }

  g_assert_null (open_file ("text", text, sizeof text, &error));
  g_assert_nonnull (strstr (error->message, "does not begin like a capture"));
  g_clear_error (&error);
  g_assert_null (sysprof_store_open (missing, NULL, &error));
  g_assert_nonnull (strstr (error->message, "No such file"));
  g_clear_error (&error);
  g_assert_null (sysprof_store_open (folder, NULL, &error));
  g_assert_nonnull (strstr (error->message, "directory"));
}

static void *
write_all (void *data)
{
  autofd fd = *(int *) data;

  for (size_t done = 0; done < base_size;)
    {
      ssize_t put = write (fd, base + done, MIN (base_size - done, 5000));

      g_assert_cmpint (put, >, 0);
      done += (size_t) put;
    }
  return NULL;
}

static void
test_pipe (void)
{
  int ends[2];
  pthread_t writer;
  autofd fd = -1;
  g_autoptr (GError) error = NULL;
  g_autoptr (Store) store = NULL;

  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  fd = ends[0];
  g_assert_cmpint (pthread_create (&writer, NULL, write_all, &ends[1]), ==, 0);
  store = sysprof_store_open_fd (fd, NULL, NULL, &error);
  pthread_join (writer, NULL);
  assert_whole (store, error);
}

static void
test_leaves_position_alone (void)
{
  autofd fd = memfd_create ("position", MFD_CLOEXEC);
  g_autoptr (Store) store = NULL;

  g_assert_cmpint (write (fd, base, base_size), ==, (ssize_t) base_size);
  g_assert_cmpint (lseek (fd, 77, SEEK_SET), ==, 77);
  store = sysprof_store_open_fd (fd, NULL, NULL, NULL);
  assert_whole (store, NULL);
  g_assert_cmpint (lseek (fd, 0, SEEK_CUR), ==, 77);
}

static sigjmp_buf probed;
static volatile uintptr_t probed_address;

static void
on_probe (int number, siginfo_t *info, void *context)
{
  probed_address = (uintptr_t) info->si_addr;
  siglongjmp (probed, 1);
}

/* qemu-user passes a wrong address, or none, to signal handlers (7.2: for s390x and 32-bit
 * arm). */
static bool
skips_where_faults_have_no_address (void)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  autofd fd = memfd_create ("probe", MFD_CLOEXEC);
  struct sigaction action = { .sa_sigaction = on_probe, .sa_flags = SA_SIGINFO };
  struct sigaction before;
  volatile uint8_t *bytes;

  g_assert_cmpint (ftruncate (fd, (off_t) page), ==, 0);
  bytes = mmap (NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
  g_assert_true (bytes != MAP_FAILED);
  g_assert_cmpint (ftruncate (fd, 0), ==, 0);
  g_assert_cmpint (sigaction (SIGBUS, &action, &before), ==, 0);
  if (sigsetjmp (probed, 1) == 0)
    (void) bytes[0];
  g_assert_cmpint (sigaction (SIGBUS, &before, NULL), ==, 0);
  munmap ((void *) bytes, page);
  if (probed_address == (uintptr_t) bytes)
    return false;

  g_test_skip ("a bus error does not tell its address here");
  return true;
}

static void
test_cut_after_opening (void)
{
  autofd fd = memfd_create ("cut", MFD_CLOEXEC);
  g_autoptr (Store) store = NULL;
  uint64_t sum = 0;

  if (skips_where_faults_have_no_address ())
    return;

  g_assert_cmpint (write (fd, base, base_size), ==, (ssize_t) base_size);
  store = sysprof_store_open_fd (fd, NULL, NULL, NULL);
  g_assert_cmpint (ftruncate (fd, 4096), ==, 0);
  for (size_t i = 4096; i < store->size; i++)
    sum += store->bytes[i];
  g_assert_cmpuint (sum, ==, 0);
  for (uint32_t i = 0; i < store->files.n; i++)
    {
      g_autoptr (GBytes) bytes = sysprof_store_read_file_raw (store, i, NULL);

      g_assert_cmpuint (g_bytes_get_size (bytes), <=, store->files.row[i].size);
    }
}

typedef struct
{
  int fd;
  bool is_over; /* atomic, relaxed: only an end to the noise */
} Vandal;

static void *
cut_and_overwrite (void *data)
{
  Vandal *self = data;
  uint32_t state = 1;

  while (!__atomic_load_n (&self->is_over, __ATOMIC_RELAXED))
    {
      state = state * 1664525 + 1013904223;
      if (state >> 28 == 0)
        (void) !ftruncate (self->fd, state >> 12 & 0xffff);
      else if (state >> 28 == 1)
        (void) !pwrite (self->fd, base, base_size, 0);
      else
        (void) !pwrite (self->fd, &state, sizeof state, (off_t) (state % base_size));
    }
  return NULL;
}

/* Whatever comes out, it is a store or an error. */
static void
test_changes_while_opening (void)
{
  Vandal vandal = { .fd = memfd_create ("changing", MFD_CLOEXEC) };
  pthread_t thread;

  if (skips_where_faults_have_no_address ())
    return;

  g_assert_cmpint (write (vandal.fd, base, base_size), ==, (ssize_t) base_size);
  g_assert_cmpint (pthread_create (&thread, NULL, cut_and_overwrite, &vandal), ==, 0);
  for (unsigned i = 0; i < 300; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Store) store = sysprof_store_open_fd (vandal.fd, NULL, NULL, &error);

      g_assert_true ((store != NULL) != (error != NULL));
      for (uint32_t file = 0; store != NULL && file < store->files.n; file++)
        {
          g_autoptr (GBytes) bytes = sysprof_store_read_file_raw (store, file, NULL);

          g_assert_nonnull (bytes);
        }
    }
  __atomic_store_n (&vandal.is_over, true, __ATOMIC_RELAXED);
  pthread_join (thread, NULL);
  close (vandal.fd);
}

static void
test_refuses_what_unpacks_to_too_much (void)
{
  FileBytes bytes = { 0 };
  Progress progress = { 0 };
  g_autoptr (GError) error = NULL;
  const char *argv[] = { "sh", "-c", "head -c 30000000 /dev/zero | gzip -9", NULL };
  g_autoptr (GSubprocess) packer =
      g_subprocess_newv (argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE, NULL);
  g_autoptr (GBytes) packed = NULL;
  autofd fd = memfd_create ("bomb", MFD_CLOEXEC);

  g_assert_true (g_subprocess_communicate (packer, NULL, NULL, &packed, NULL, NULL));
  g_assert_cmpint (write (fd, g_bytes_get_data (packed, NULL), g_bytes_get_size (packed)), >,
                   0);
  g_assert_false (
      sysprof_file_bytes_read (&bytes, fd, "bomb", 10 << 20, NULL, 0, &progress, &error));
  g_assert_error (error, SYSPROF_ERROR, SYSPROF_ERROR_NO_SPACE);
  g_assert_nonnull (strstr (error->message, "10 MiB"));
  g_assert_null (bytes.bytes);
}

static void
test_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  autofd fd = memfd_create ("cancelled", MFD_CLOEXEC);

  g_assert_cmpint (write (fd, base, base_size), ==, (ssize_t) base_size);
  g_cancellable_cancel (cancellable);
  g_assert_null (sysprof_store_open_fd (fd, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 2);
  g_assert_true (g_file_get_contents (argv[1], &base, &base_size, NULL));
  folder = g_dir_make_tmp ("store-XXXXXX", NULL);

  g_test_add_func ("/store/bytes/compressed", test_compressed);
  g_test_add_func ("/store/bytes/says-what-is-wrong", test_says_what_is_wrong);
  g_test_add_func ("/store/bytes/pipe", test_pipe);
  g_test_add_func ("/store/bytes/leaves-position-alone", test_leaves_position_alone);
  g_test_add_func ("/store/bytes/cut-after-opening", test_cut_after_opening);
  g_test_add_func ("/store/bytes/changes-while-opening", test_changes_while_opening);
  g_test_add_func ("/store/bytes/refuses-what-unpacks-to-too-much",
                   test_refuses_what_unpacks_to_too_much);
  g_test_add_func ("/store/bytes/cancelled", test_cancelled);
  status = g_test_run ();

  for (unsigned i = 0; i < 5; i++)
    {
      g_autofree char *path = g_build_filename (
          folder, ((const char *[]){ "plain", "packed", "cut", "wrong", "text" })[i], NULL);

      (void) unlink (path); /* not each was made */
    }
  rmdir (folder);
  g_free (folder);
  g_free (base);
  return status;
}
