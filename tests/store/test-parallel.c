// SPDX-License-Identifier: GPL-3.0-or-later

/* A capture that is read and folded on two CPUs is the store that one CPU makes of it, and what
 * was written.
 *
 * Just where the second half begins lies an embedded file full of what looks like frames, so
 * that the second thread begins in the wrong place. */

#include "capture/capture.h"
#include "check-store.h"
#include "use-cpus.h"

#include <sched.h>
#include <sys/mman.h>

#define N_SAMPLES   40000 /* enough for two threads */
#define N_PROCESSES 5
#define N_VARIANTS  97
#define N_CALLERS   14 /* the outer ones are those of many stacks */
#define N_DECOYS    1500
#define FIRST_PID   100
#define CODE        UINT64_C (0x400000)
#define CODE_SIZE   UINT64_C (0x100000)
#define KERNEL      UINT64_C (0xffffffff81000000)
#define IN_KERNEL   ((uint64_t) -128)
#define IN_USER     ((uint64_t) -512)

static void
append_zeros (GByteArray *bytes, size_t n)
{
  static const uint8_t zeros[4096];

  g_assert_cmpuint (n, <=, sizeof zeros);
  g_byte_array_append (bytes, zeros, (guint) n);
}

static SysprofCaptureFrame
make_frame (uint8_t type, size_t size, int32_t pid, int64_t time)
{
  return (
      SysprofCaptureFrame){ .len = (uint16_t) size, .pid = pid, .time = time, .type = type };
}

static void
add_map (GByteArray *bytes, int32_t pid, int64_t time, const char *path)
{
  size_t size = (sizeof (SysprofCaptureMap) + strlen (path) + 1 + 7) / 8 * 8;
  SysprofCaptureMap map = {
    .frame = make_frame (SYSPROF_CAPTURE_FRAME_MAP, size, pid, time),
    .start = CODE,
    .end = CODE + CODE_SIZE,
  };

  g_byte_array_append (bytes, (const uint8_t *) &map, sizeof map);
  g_byte_array_append (bytes, (const uint8_t *) path, (guint) strlen (path));
  append_zeros (bytes, size - sizeof map - strlen (path));
}

static int32_t
pid_of (uint32_t sample)
{
  return FIRST_PID + (int32_t) (sample * 7 / 3 % N_PROCESSES);
}

static int64_t
time_of (uint32_t sample)
{
  return 1000 + 10 * (int64_t) sample;
}

/* The address `level` calls above where the CPU was in the program. */
static uint64_t
caller (uint32_t sample, uint32_t level)
{
  return CODE + 16 * (sample % N_VARIANTS >> level) + 0x1000 * (level + 1);
}

static uint64_t
kernel_address (uint32_t sample)
{
  return KERNEL + 32 * (sample % 13);
}

static void
add_sample (GByteArray *bytes, uint32_t sample)
{
  uint64_t words[3 + N_CALLERS] = { IN_KERNEL, kernel_address (sample), IN_USER };
  SysprofCaptureSample frame = {
    .frame = make_frame (SYSPROF_CAPTURE_FRAME_SAMPLE, sizeof frame + sizeof words,
                         pid_of (sample), time_of (sample)),
    .n_addrs = G_N_ELEMENTS (words),
    .tid = (int32_t) sample,
  };

  for (uint32_t level = 0; level < N_CALLERS; level++)
    words[3 + level] = caller (sample, level);
  g_byte_array_append (bytes, (const uint8_t *) &frame, sizeof frame);
  g_byte_array_append (bytes, (const uint8_t *) words, sizeof words);
}

/* Neighbours change places: by time they are in order again. */
static void
add_samples (GByteArray *bytes, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end; i++)
    add_sample (bytes, i ^ 1);
}

static void
add_decoys (GByteArray *bytes)
{
  size_t gap = 8 - (sizeof (SysprofCaptureFileChunk) % 8); /* frames begin at multiples of 8 */
  size_t size =
      sizeof (SysprofCaptureFileChunk) + gap + N_DECOYS * sizeof (SysprofCaptureSample);
  SysprofCaptureFileChunk chunk = {
    .frame = make_frame (SYSPROF_CAPTURE_FRAME_FILE_CHUNK, size, 1, time_of (N_SAMPLES / 2)),
    .is_last = 1,
    .len = (uint16_t) (size - sizeof chunk),
    .path = "decoys",
  };

  g_assert_cmpuint (size, <=, G_MAXUINT16);
  g_assert_cmpuint (size % 8, ==, 0);
  g_byte_array_append (bytes, (const uint8_t *) &chunk, sizeof chunk);
  append_zeros (bytes, gap);
  for (uint32_t i = 0; i < N_DECOYS; i++)
    {
      SysprofCaptureSample decoy = {
        .frame = make_frame (SYSPROF_CAPTURE_FRAME_SAMPLE, sizeof decoy, 999,
                             time_of (N_SAMPLES / 2)),
        .tid = -1,
      };

      g_byte_array_append (bytes, (const uint8_t *) &decoy, sizeof decoy);
    }
}

static const SysprofCaptureFileHeader header = {
  .magic = GUINT32_FROM_LE (0xfdca975e),
  .version = 1,
  .little_endian = G_BYTE_ORDER == G_LITTLE_ENDIAN,
  .capture_time = "2026-01-01T00:00:00Z",
  .time = 1,
};

static GByteArray *
make_capture (void)
{
  GByteArray *bytes = g_byte_array_new ();
  size_t begin, end, middle;

  g_byte_array_append (bytes, (const uint8_t *) &header, sizeof header);
  for (int32_t i = 0; i < N_PROCESSES; i++)
    add_map (bytes, FIRST_PID + i, 1 + i, "/bin/first");
  add_samples (bytes, 0, N_SAMPLES / 2);
  begin = bytes->len;
  add_decoys (bytes);
  end = bytes->len;
  add_map (bytes, FIRST_PID, time_of (N_SAMPLES / 2), "/bin/other");
  add_samples (bytes, N_SAMPLES / 2, N_SAMPLES);

  /* The offset at which the second of two threads starts to search for a frame. */
  middle = sizeof header + (bytes->len - sizeof header) / 2 / 8 * 8;
  g_assert_cmpuint (middle, >, begin);
  g_assert_cmpuint (middle, <, end - N_DECOYS / 4 * sizeof (SysprofCaptureSample));
  return bytes;
}

static void
check_stack (const Store *store, uint32_t sample, bool is_late)
{
  const StackTree *stacks = &store->stacks;
  const AddressTable *addresses = &store->addresses;
  StackId at = store->samples.stack[sample];
  AddressId address = stacks->address[at];

  g_assert_cmpuint (addresses->kind[address], ==, ADDRESS_KERNEL);
  g_assert_cmphex (addresses->address[address], ==, kernel_address (sample));
  for (uint32_t level = 0; level < N_CALLERS; level++)
    {
      const Mapping *mapping;

      at = stacks->parent[at];
      address = stacks->address[at];
      mapping = &store->mappings[addresses->mapping[address]];
      g_assert_cmpuint (addresses->kind[address], ==, ADDRESS_USER);
      g_assert_cmphex (addresses->address[address], ==, caller (sample, level));
      g_assert_cmpuint (addresses->process[address], ==, store->samples.process[sample]);
      g_assert_cmpstr (sysprof_store_string (store, mapping->path), ==,
                       is_late && pid_of (sample) == FIRST_PID ? "/bin/other" : "/bin/first");
    }
  at = stacks->parent[at];
  g_assert_cmpuint (at, ==, store->samples.process[sample]);
}

/* Equal data are stored once: the kernel's addresses, and the stacks of a process. */
static void
check_no_doubles (const Store *store)
{
  g_autoptr (GHashTable) kernel = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) nodes =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (AddressId i = 1; i < store->addresses.n; i++)
    if (store->addresses.kind[i] == ADDRESS_KERNEL)
      g_assert_true (
          g_hash_table_add (kernel, (void *) (uintptr_t) store->addresses.address[i]));
  g_assert_cmpuint (g_hash_table_size (kernel), ==, 13);

  for (StackId i = store->processes.n; i < store->stacks.n; i++)
    {
      gint64 key = (gint64) store->stacks.parent[i] << 32 | store->stacks.address[i];

      g_assert_true (g_hash_table_add (nodes, g_memdup2 (&key, sizeof key)));
    }
}

static void
open_and_check (int fd)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Store) store = sysprof_store_open_fd (fd, "parallel", NULL, &error);

  g_assert_no_error (error);
  g_assert_null (store->damage);
  check_store (store);
  g_assert_cmpuint (store->samples.n, ==, N_SAMPLES);
  g_assert_cmpuint (store->frames.n, ==, N_SAMPLES + N_PROCESSES + 2);
  g_assert_cmpuint (store->files.n, ==, 1);
  for (uint32_t i = 0; i < N_SAMPLES; i++)
    {
      g_assert_cmpint (store->samples.tid[i], ==, (int32_t) i);
      g_assert_cmpint (store->samples.pid[i], ==, pid_of (i));
      g_assert_cmpint (store->samples.time[i], ==, time_of (i));
      check_stack (store, i, i >= N_SAMPLES / 2);
    }
  check_no_doubles (store);
}

static void
test_two_threads (void)
{
  g_autoptr (GByteArray) bytes = make_capture ();
  autofd fd = memfd_create ("parallel", MFD_CLOEXEC);
  cpu_set_t allowed;

  g_assert_cmpint (write (fd, bytes->data, bytes->len), ==, (ssize_t) bytes->len);
  g_assert_no_errno (sched_getaffinity (0, sizeof allowed, &allowed));

  use_cpus (&allowed, 1);
  open_and_check (fd);
  if (use_cpus (&allowed, 2) == 2)
    open_and_check (fd);
  else
    g_test_skip ("there is but one CPU");
  g_assert_no_errno (sched_setaffinity (0, sizeof allowed, &allowed));
}

#define N_SMALL 500000

/* Times that are 2^63 ns apart: their difference has no absolute value. */
static void
test_times_far_apart (void)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  autofd fd = memfd_create ("far", MFD_CLOEXEC);
  g_autoptr (GError) error = NULL;
  g_autoptr (Store) store = NULL;
  cpu_set_t allowed;

  g_byte_array_append (bytes, (const uint8_t *) &header, sizeof header);
  for (uint32_t i = 0; i < N_SMALL; i++)
    {
      SysprofCaptureFrame frame = make_frame (SYSPROF_CAPTURE_FRAME_EXIT, sizeof frame,
                                              FIRST_PID, i % 2 != 0 ? INT64_MIN : 0);

      g_byte_array_append (bytes, (const uint8_t *) &frame, sizeof frame);
    }
  g_assert_cmpint (write (fd, bytes->data, bytes->len), ==, (ssize_t) bytes->len);

  g_assert_no_errno (sched_getaffinity (0, sizeof allowed, &allowed));
  use_cpus (&allowed, 2);
  store = sysprof_store_open_fd (fd, NULL, NULL, &error);
  g_assert_no_errno (sched_setaffinity (0, sizeof allowed, &allowed));
  g_assert_no_error (error);
  g_assert_cmpuint (store->frames.n, ==, N_SMALL);
}

/* There are far more frames than the length of the file lets one expect. */
static void
test_small_frames (void)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  autofd fd = memfd_create ("small", MFD_CLOEXEC);
  g_autoptr (GError) error = NULL;
  g_autoptr (Store) store = NULL;
  cpu_set_t allowed;

  g_byte_array_append (bytes, (const uint8_t *) &header, sizeof header);
  for (uint32_t i = 0; i < N_SMALL; i++)
    {
      SysprofCaptureFrame frame = make_frame (SYSPROF_CAPTURE_FRAME_EXIT, sizeof frame,
                                              FIRST_PID + (int32_t) (i % N_PROCESSES), i);

      g_byte_array_append (bytes, (const uint8_t *) &frame, sizeof frame);
    }
  g_assert_cmpint (write (fd, bytes->data, bytes->len), ==, (ssize_t) bytes->len);

  g_assert_no_errno (sched_getaffinity (0, sizeof allowed, &allowed));
  use_cpus (&allowed, 1);
  store = sysprof_store_open_fd (fd, NULL, NULL, &error);
  g_assert_no_errno (sched_setaffinity (0, sizeof allowed, &allowed));
  g_assert_no_error (error);
  g_assert_cmpuint (store->n_frames_by_type[SYSPROF_CAPTURE_FRAME_EXIT], ==, N_SMALL);
  g_assert_cmpuint (store->frames.n, ==, N_SMALL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/store/parallel/small-frames", test_small_frames);
  g_test_add_func ("/store/parallel/times-far-apart", test_times_far_apart);
  g_test_add_func ("/store/parallel/two-threads", test_two_threads);
  return g_test_run ();
}
