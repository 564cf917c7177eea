// SPDX-License-Identifier: GPL-3.0-or-later

/* Records made by hand, as perf_event_open(2) lays them out, become the frames that the capture library reads back;
 * records that lie become nothing, and are counted. */

#include "../data/fixed-seed.h"
#include "capture/capture.h"
#include "perf/decode.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TIME 1000000007

typedef struct
{
  PerfDecoder decoder;
  ProcessLog log;
  int fd;
  uint8_t record[70000] __attribute__ ((aligned (8)));
  size_t size;
  ThrottledEvents throttled;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  self->fd = memfd_create ("decode", MFD_CLOEXEC);
  g_assert_cmpint (self->fd, >=, 0);
  self->decoder = (PerfDecoder){
    .writer = sysprof_capture_writer_new_from_fd (fcntl (self->fd, F_DUPFD_CLOEXEC, 3), 0),
    .log = &self->log,
    .has_chains = true,
    .cpu = 5,
    .nsec_per_sample = { 1000000, 500000 },
    .throttled = &self->throttled,
  };
  g_assert_nonnull (self->decoder.writer);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  sysprof_capture_writer_unref (self->decoder.writer);
  sysprof_process_log_clear (&self->log);
  (void) close (self->fd);
}

static void
begin (Fixture *self, uint32_t type, uint16_t misc)
{
  struct perf_event_header header = { type, misc, 0 };

  memcpy (self->record, &header, sizeof header);
  self->size = sizeof header;
}

static void
put (Fixture *self, const void *bytes, size_t size)
{
  if (size > 0) /* no bytes may have no place */
    memcpy (self->record + self->size, bytes, size);
  self->size += size;
}

static void
put_u64 (Fixture *self, uint64_t value)
{
  put (self, &value, sizeof value);
}

static void
put_two (Fixture *self, int32_t first, int32_t second)
{
  put (self, &first, sizeof first);
  put (self, &second, sizeof second);
}

/* NUL-terminated and padded to 8, as the kernel does. */
static void
put_text (Fixture *self, const char *text)
{
  put (self, text, strlen (text) + 1);
  while (self->size % 8 != 0)
    put (self, "", 1);
}

static void
put_id (Fixture *self, int32_t pid, int32_t tid)
{
  put_two (self, pid, tid);
  put_u64 (self, TIME);
}

static void
end (Fixture *self)
{
  ((struct perf_event_header *) (void *) self->record)->size = (uint16_t) self->size;
  sysprof_perf_decode ((const void *) self->record, &self->decoder);
}

static SysprofCaptureReader *
read_back (Fixture *self)
{
  g_assert_true (sysprof_capture_writer_flush (self->decoder.writer));
  return sysprof_capture_reader_new_from_fd (fcntl (self->fd, F_DUPFD_CLOEXEC, 3));
}

static void
put_sample_of (Fixture *self,
               int32_t pid,
               int32_t tid,
               const uint64_t *chain,
               uint64_t n,
               const uint64_t *cgroup)
{
  begin (self, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  put_u64 (self, 0x401000);
  put_two (self, pid, tid);
  put_u64 (self, TIME);
  put_u64 (self, n);
  put (self, chain, n * sizeof *chain);
  if (cgroup != NULL)
    put_u64 (self, *cgroup);
  end (self);
}

static void
put_sample (Fixture *self, int32_t pid, int32_t tid, const uint64_t *chain, uint64_t n)
{
  put_sample_of (self, pid, tid, chain, n, NULL);
}

static void
test_sample (Fixture *self, gconstpointer data)
{
  static const uint64_t chain[] = {
    (uint64_t) PERF_CONTEXT_KERNEL,
    0xffffffff81000010,
    (uint64_t) PERF_CONTEXT_USER,
    0x401000,
    0x402000,
  };
  SysprofCaptureReader *reader;
  const SysprofCaptureSample *sample;

  put_sample (self, 345, 346, chain, G_N_ELEMENTS (chain));
  reader = read_back (self);
  sample = sysprof_capture_reader_read_sample (reader);

  g_assert_nonnull (sample);
  g_assert_cmpint (sample->frame.time, ==, TIME);
  g_assert_cmpint (sample->frame.cpu, ==, 5);
  g_assert_cmpint (sample->frame.pid, ==, 345);
  g_assert_cmpint (sample->tid, ==, 346);
  g_assert_cmpint (sample->n_addrs, ==, 5);
  g_assert_cmpmem (sample->addrs, sizeof chain, chain, sizeof chain);
  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, 0);
  sysprof_capture_reader_unref (reader);
}

/* The mode of the record decides what the address is. */
static void
test_sample_without_chain (Fixture *self, gconstpointer data)
{
  static const uint64_t expected[] = { (uint64_t) PERF_CONTEXT_USER, 0x401000 };
  SysprofCaptureReader *reader;
  const SysprofCaptureSample *sample;

  put_sample (self, 345, 345, NULL, 0);
  reader = read_back (self);
  sample = sysprof_capture_reader_read_sample (reader);
  g_assert_nonnull (sample);
  g_assert_cmpmem (sample->addrs, sample->n_addrs * sizeof (uint64_t), expected,
                   sizeof expected);
  sysprof_capture_reader_unref (reader);
}

static uint64_t
inode_of (const char *path)
{
  struct stat info;

  g_assert_cmpint (stat (path, &info), ==, 0);
  return info.st_ino;
}

/* A cgroup is a directory, whose number samples name: any directories do. */
static void
test_samples_of_a_cgroup (Fixture *self, gconstpointer data)
{
  static const uint64_t chain[] = { (uint64_t) PERF_CONTEXT_USER, 0x401000 };
  g_autofree char *top = g_dir_make_tmp ("sysprof-cgroups-XXXXXX", NULL);
  g_autofree char *chosen = g_build_filename (top, "chosen", NULL);
  g_autofree char *inside = g_build_filename (chosen, "inside", NULL);
  g_autofree char *later = g_build_filename (inside, "later", NULL);
  uint64_t cgroups[4];
  SysprofCaptureReader *reader;
  int fd;

  g_assert_cmpint (g_mkdir_with_parents (inside, 0755), ==, 0);
  fd = open (chosen, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  self->decoder.cgroups = sysprof_cgroup_filter_new (fd);
  cgroups[0] = inode_of (top);
  cgroups[1] = inode_of (chosen);
  cgroups[2] = inode_of (inside);
  for (size_t i = 0; i < 3; i++)
    put_sample_of (self, 10 + (int) i, 10, chain, G_N_ELEMENTS (chain), &cgroups[i]);
  g_assert_cmpint (mkdir (later, 0755), ==, 0);
  cgroups[3] = inode_of (later);
  put_sample_of (self, 13, 10, chain, 0, &cgroups[3]);
  put_sample_of (self, 14, 10, chain, 0, &cgroups[0]);
  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, 0);
  put_sample (self, 15, 10, chain, G_N_ELEMENTS (chain)); /* names none: makes no sense */
  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, 1);

  reader = read_back (self);
  for (int pid = 11; pid <= 13; pid++)
    {
      const SysprofCaptureSample *sample = sysprof_capture_reader_read_sample (reader);

      g_assert_nonnull (sample);
      g_assert_cmpint (sample->frame.pid, ==, pid);
      g_assert_cmpmem (sample->addrs, sample->n_addrs * sizeof (uint64_t), chain, sizeof chain);
    }
  g_assert_null (sysprof_capture_reader_read_sample (reader));

  sysprof_capture_reader_unref (reader);
  sysprof_cgroup_filter_free (self->decoder.cgroups);
  (void) close (fd);
  (void) rmdir (later);
  (void) rmdir (inside);
  (void) rmdir (chosen);
  (void) rmdir (top);
}

static void
test_idle_is_left_out (Fixture *self, gconstpointer data)
{
  static const uint64_t chain[] = { (uint64_t) PERF_CONTEXT_KERNEL, 0xffffffff81000010 };
  SysprofCaptureReader *reader;
  SysprofCaptureFrameType type;

  put_sample (self, 0, 0, chain, G_N_ELEMENTS (chain));
  reader = read_back (self);
  g_assert_false (sysprof_capture_reader_peek_type (reader, &type));
  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, 0);
  sysprof_capture_reader_unref (reader);
}

static void
put_mapping (Fixture *self, uint16_t misc, const uint64_t file[3], const char *path)
{
  begin (self, PERF_RECORD_MMAP2, misc);
  put_two (self, 345, 347);
  put_u64 (self, 0x400000);
  put_u64 (self, 0x100000);
  put_u64 (self, 0x1000);
  put (self, file, 3 * sizeof *file);
  put_two (self, 5, 2);
  put_text (self, path);
  put_id (self, 345, 347);
  end (self);
}

static void
test_mapping_with_inode (Fixture *self, gconstpointer data)
{
  static const uint64_t file[] = { (uint64_t) 0xfe << 32, 987654, 7 };
  SysprofCaptureReader *reader;
  const SysprofCaptureMap *map;

  put_mapping (self, 0, file, "/usr/bin/foo (deleted)");
  reader = read_back (self);
  map = sysprof_capture_reader_read_map (reader);
  g_assert_nonnull (map);
  g_assert_cmpint (map->frame.pid, ==, 345);
  g_assert_cmpint (map->frame.time, ==, TIME);
  g_assert_cmpuint (map->start, ==, 0x400000);
  g_assert_cmpuint (map->end, ==, 0x500000);
  g_assert_cmpuint (map->offset, ==, 0x1000);
  g_assert_cmpuint (map->inode, ==, 987654);
  g_assert_cmpstr (map->filename, ==, "/usr/bin/foo");
  sysprof_capture_reader_unref (reader);
}

/* The bytes of capture-format.md § 16, but for the CPU's and the time's. */
static void
test_mapping_with_build_id (Fixture *self, gconstpointer data)
{
  static const uint8_t id[24] = { 20,   0,    0,    0,    0x01, 0x23, 0x45, 0x67,
                                  0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67,
                                  0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67 };
  static const char tail[] = "/usr/bin/foo\0@0123456789abcdef0123456789abcdef01234567";
  uint64_t file[3];
  SysprofCaptureReader *reader;
  const SysprofCaptureMap *map;

  memcpy (file, id, sizeof id);
  put_mapping (self, PERF_RECORD_MISC_MMAP_BUILD_ID, file, "/usr/bin/foo");
  reader = read_back (self);
  map = sysprof_capture_reader_read_map (reader);
  g_assert_nonnull (map);
  g_assert_cmpuint (map->frame.len, ==, 0x70);
  g_assert_cmpuint (map->inode, ==, 0);
  g_assert_cmpmem (map->filename, sizeof tail, tail, sizeof tail);
  sysprof_capture_reader_unref (reader);
}

static size_t
know_build_id (const struct perf_event_header *record, int cpu, uint8_t *build_id, void *data)
{
  unsigned *n_told = data;

  ++*n_told;
  memset (build_id, 0xab, 3);
  return 3;
}

/* The kernel marks the records of all recorders while any of them requests build IDs. */
static void
test_mapping_that_is_told (Fixture *self, gconstpointer data)
{
  static const uint64_t file[] = { (uint64_t) 0xfe << 32 | 0xfe, 987654, 7 };
  static const char tail[] = "/usr/bin/foo\0@ababab";
  unsigned n_told = 0;
  SysprofCaptureReader *reader;
  const SysprofCaptureMap *map;

  self->decoder.tell = know_build_id;
  self->decoder.tell_data = &n_told;
  put_mapping (self, PERF_RECORD_MISC_MMAP_BUILD_ID, file, "/usr/bin/foo");
  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, 0);
  g_assert_cmpuint (n_told, ==, 1);
  reader = read_back (self);
  map = sysprof_capture_reader_read_map (reader);
  g_assert_nonnull (map);
  g_assert_cmpuint (map->inode, ==, 0);
  g_assert_cmpmem (map->filename, sizeof tail, tail, sizeof tail);
  sysprof_capture_reader_unref (reader);
}

static void
test_build_id_that_is_too_long_is_refused (Fixture *self, gconstpointer data)
{
  uint64_t file[3] = { 0 };
  const uint8_t size = 21;

  memcpy (file, &size, 1);
  put_mapping (self, PERF_RECORD_MISC_MMAP_BUILD_ID, file, "/usr/bin/foo");
  g_assert_cmpuint (self->decoder.n_dropped_records, ==, 1);
}

static void
put_comm (Fixture *self, uint16_t misc, int32_t pid, int32_t tid, const char *name)
{
  begin (self, PERF_RECORD_COMM, misc);
  put_two (self, pid, tid);
  put_text (self, name);
  put_id (self, pid, tid);
  end (self);
}

static void
put_task (Fixture *self,
          uint32_t type,
          int32_t pid,
          int32_t parent,
          int32_t tid,
          int32_t parent_tid)
{
  begin (self, type, 0);
  put_two (self, pid, parent);
  put_two (self, tid, parent_tid);
  put_u64 (self, TIME);
  put_id (self, pid, tid);
  end (self);
}

static void
test_life_of_a_process (Fixture *self, gconstpointer data)
{
  SysprofCaptureReader *reader;
  const SysprofCaptureFork *fork_frame;
  const SysprofCaptureProcess *process;
  const SysprofCaptureExit *exit_frame;
  SysprofCaptureFrameType type;
  StartedProcess started;

  put_task (self, PERF_RECORD_FORK, 400, 345, 400, 346);
  put_comm (self, PERF_RECORD_MISC_COMM_EXEC, 400, 400, "make");
  g_assert_true (sysprof_process_log_take (&self->log, INT64_MAX, &started));
  g_assert_cmpint (started.pid, ==, 400);
  g_assert_cmpint (started.time, ==, TIME);

  put_comm (self, 0, 400, 401, "a thread");
  put_comm (self, PERF_RECORD_MISC_COMM_EXEC, 400, 400, "cc1");
  put_task (self, PERF_RECORD_EXIT, 400, 345, 401, 345);
  put_task (self, PERF_RECORD_EXIT, 400, 345, 400, 345);
  g_assert_false (sysprof_process_log_take (&self->log, INT64_MAX, &started));

  reader = read_back (self);
  fork_frame = sysprof_capture_reader_read_fork (reader);
  g_assert_nonnull (fork_frame);
  g_assert_cmpint (fork_frame->frame.pid, ==, 345);
  g_assert_cmpint (fork_frame->child_pid, ==, 400);
  process = sysprof_capture_reader_read_process (reader);
  g_assert_cmpstr (process->cmdline, ==, "make");
  process = sysprof_capture_reader_read_process (reader);
  g_assert_cmpstr (process->cmdline, ==, "cc1");
  exit_frame = sysprof_capture_reader_read_exit (reader);
  g_assert_nonnull (exit_frame);
  g_assert_cmpint (exit_frame->frame.pid, ==, 400);
  g_assert_false (sysprof_capture_reader_peek_type (reader, &type));
  sysprof_capture_reader_unref (reader);
}

static void
put_namespaces (Fixture *self, int32_t pid, int32_t tid, uint64_t n)
{
  begin (self, PERF_RECORD_NAMESPACES, 0);
  put_two (self, pid, tid);
  put_u64 (self, n);
  for (uint64_t i = 0; i < n; i++)
    {
      put_u64 (self, 4); /* device */
      put_u64 (self, 4026531000 + i);
    }
  put_id (self, pid, tid);
  end (self);
}

static void
test_namespaces_of_processes (Fixture *self, gconstpointer data)
{
  const Namespaces *namespaces;

  put_namespaces (self, 400, 401, N_NAMESPACES);
  g_assert_null (sysprof_process_log_get_namespaces (&self->log, 400));
  put_namespaces (self, 400, 400, N_NAMESPACES - 1);
  g_assert_cmpuint (self->decoder.n_dropped_records, ==, 1);
  g_assert_null (sysprof_process_log_get_namespaces (&self->log, 400));

  put_namespaces (self, 400, 400, N_NAMESPACES);
  namespaces = sysprof_process_log_get_namespaces (&self->log, 400);
  g_assert_nonnull (namespaces);
  g_assert_cmpuint (namespaces->inode[NAMESPACE_NET], ==, 4026531000);
  g_assert_cmpuint (namespaces->inode[NAMESPACE_CGROUP], ==, 4026531006);
  put_task (self, PERF_RECORD_EXIT, 400, 345, 400, 345);
  g_assert_null (sysprof_process_log_get_namespaces (&self->log, 400));
}

static void
put_kernel_symbol (Fixture *self, uint16_t flags, const char *name, size_t cut)
{
  uint32_t size = 0x40;
  uint16_t type = PERF_RECORD_KSYMBOL_TYPE_BPF;

  begin (self, PERF_RECORD_KSYMBOL, 0);
  put_u64 (self, 0xffffffffc0001000);
  put (self, &size, sizeof size);
  put (self, &type, sizeof type);
  put (self, &flags, sizeof flags);
  put_text (self, name);
  put_id (self, 7, 7);
  self->size -= cut;
  end (self);
}

static void
test_kernel_symbols (Fixture *self, gconstpointer data)
{
  KernelSymbolLog log = { 0 };
  GString *text;

  put_kernel_symbol (self, 0, "nobody_asks", 0);
  self->decoder.kernel_symbols = &log;
  put_kernel_symbol (self, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, "bpf_prog_1_x", 0);
  put_kernel_symbol (self, 0, "bpf_prog_2_y", 0);
  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, 0);
  put_kernel_symbol (self, 0, "", 16 + 8 + 8); /* ends within what it says */
  g_assert_cmpuint (self->decoder.n_dropped_records, ==, 1);
  text = sysprof_kernel_symbol_log_to_text (&log);
  g_assert_cmpstr (text->str, ==,
                   "ffffffffc0001000 40 0 1000000007 bpf_prog_1_x\n"
                   "ffffffffc0001000 40 1000000007 0 bpf_prog_2_y\n");
  g_string_free (text, TRUE);
  sysprof_kernel_symbol_log_clear (&log);
}

static void
test_losses_are_counted (Fixture *self, gconstpointer data)
{
  begin (self, PERF_RECORD_LOST, 0);
  put_u64 (self, 17);
  put_u64 (self, 40);
  put_id (self, 1, 1);
  end (self);
  begin (self, PERF_RECORD_LOST_SAMPLES, 0);
  put_u64 (self, 2);
  put_id (self, 1, 1);
  end (self);

  g_assert_cmpuint (self->decoder.n_kernel_lost, ==, 40);
  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, 2);
  g_assert_cmpuint (self->decoder.n_dropped_records, ==, 0);
}

static void
put_throttle_of (Fixture *self, uint32_t type, uint64_t time, uint64_t id, uint64_t stream)
{
  begin (self, type, 0);
  put_u64 (self, time);
  put_u64 (self, id);
  put_u64 (self, stream);
  put_id (self, 1, 1);
  end (self);
}

static void
put_throttle (Fixture *self, uint32_t type, uint64_t time)
{
  put_throttle_of (self, type, time, 1, 1);
}

/* Held back for 4.5 ms at one sample per ms: four, and the one at which it began. */
static void
test_throttled_samples_are_counted (Fixture *self, gconstpointer data)
{
  put_throttle (self, PERF_RECORD_THROTTLE, 1000000);
  put_throttle (self, PERF_RECORD_UNTHROTTLE, 5500000);
  g_assert_cmpuint (self->decoder.n_throttled, ==, 5);
}

/* One with a sample per ms is held back for 8 ms, and meanwhile another one with two for 3 ms. */
static void
test_several_events_are_throttled (Fixture *self, gconstpointer data)
{
  self->decoder.ledger = sysprof_event_ledger_new ();
  sysprof_event_ledger_add_id (self->decoder.ledger, 11, 0);
  sysprof_event_ledger_add_id (self->decoder.ledger, 12, 1);
  put_throttle_of (self, PERF_RECORD_THROTTLE, 1000000, 11, 21);
  put_throttle_of (self, PERF_RECORD_THROTTLE, 2000000, 12, 22);
  put_throttle_of (self, PERF_RECORD_UNTHROTTLE, 5000000, 12, 22);
  put_throttle_of (self, PERF_RECORD_UNTHROTTLE, 9000000, 11, 21);
  g_assert_cmpuint (self->decoder.n_throttled, ==, 1 + 1 + 6 + 8);

  /* More at once than the decoder follows, and one whose start was not reported. */
  for (unsigned i = 0; i < 1000; i++)
    put_throttle_of (self, PERF_RECORD_THROTTLE, 10000000, 11, i);
  put_throttle_of (self, PERF_RECORD_UNTHROTTLE, 90000000, 11, 5000);
  g_assert_cmpuint (self->decoder.n_throttled, ==, 16 + 1000);
  sysprof_event_ledger_free (self->decoder.ledger);
}

static void
test_samples_are_dropped_when_told_to (Fixture *self, gconstpointer data)
{
  static const uint64_t chain[] = { (uint64_t) PERF_CONTEXT_USER, 0x401000 };
  SysprofCaptureReader *reader;
  SysprofCaptureFrameType type;

  self->decoder.drops_samples = true;
  put_sample (self, 345, 345, chain, G_N_ELEMENTS (chain));
  put_comm (self, 0, 345, 345, "kept");
  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, 1);

  reader = read_back (self);
  g_assert_true (sysprof_capture_reader_peek_type (reader, &type));
  g_assert_cmpint (type, ==, SYSPROF_CAPTURE_FRAME_PROCESS);
  sysprof_capture_reader_unref (reader);
}

/* Counts that promise more than there is, up to those that overflow when multiplied. */
static void
test_counts_that_lie_are_refused (Fixture *self, gconstpointer data)
{
  static const uint64_t counts[] = {
    2, 8188, 65535, (uint64_t) 1 << 61, ((uint64_t) 1 << 61) + 1, UINT64_MAX
  };

  for (size_t i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      begin (self, PERF_RECORD_SAMPLE, 0);
      put_u64 (self, 0x401000);
      put_two (self, 345, 345);
      put_u64 (self, TIME);
      put_u64 (self, counts[i]);
      put_u64 (self, 0x401000);
      end (self);
      g_assert_cmpuint (self->decoder.n_dropped_samples, ==, i + 1);
    }
}

/* The deepest stack that a record can hold. */
static void
test_deep_stacks (Fixture *self, gconstpointer data)
{
  g_autofree uint64_t *chain = g_new0 (uint64_t, 8187);
  SysprofCaptureReader *reader;
  const SysprofCaptureSample *sample;

  put_sample (self, 345, 345, chain, 8186);
  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, 0);
  reader = read_back (self);
  sample = sysprof_capture_reader_read_sample (reader);
  g_assert_nonnull (sample);
  g_assert_cmpint (sample->n_addrs, ==, 8186);
  sysprof_capture_reader_unref (reader);
}

/* Each prefix of each kind of record, in memory of exactly that size, so that the address
 * sanitizer detects reads beyond it; then the same with random bytes. The output must be
 * readable to its end. */
static void
test_records_that_are_cut_or_random (Fixture *self, gconstpointer data)
{
  g_autoptr (GRand) random = g_rand_new_with_seed ((guint32) g_test_rand_int ());
  SysprofCaptureReader *reader;
  SysprofCaptureFrame frame;
  SysprofCaptureStat stat;
  size_t n_frames = 0, n_read = 0;

  for (uint32_t type = 0; type < 24; type++)
    for (unsigned round = 0; round < 60; round++)
      for (size_t size = sizeof (struct perf_event_header); size <= 160; size += 8)
        {
          g_autofree uint8_t *bytes = g_malloc (size);
          struct perf_event_header header = { type, (uint16_t) g_rand_int (random),
                                              (uint16_t) size };

          for (size_t i = 0; i < size; i++)
            bytes[i] = round % 2 == 0 ? (uint8_t) g_rand_int (random)
                                      : (uint8_t) g_rand_int_range (random, 0, 4);
          memcpy (bytes, &header, sizeof header);
          sysprof_perf_decode ((const void *) bytes, &self->decoder);
        }

  sysprof_capture_writer_stat (self->decoder.writer, &stat);
  for (size_t i = 0; i < G_N_ELEMENTS (stat.frame_count); i++)
    n_frames += stat.frame_count[i];

  reader = read_back (self);
  while (sysprof_capture_reader_peek_frame (reader, &frame))
    {
      g_assert_true (sysprof_capture_reader_skip (reader));
      n_read++;
    }
  g_assert_cmpuint (n_read, ==, n_frames);
  g_assert_cmpuint (n_read, >, 0);
  sysprof_capture_reader_unref (reader);
}

/* As the program sends it: the kernel's part as the chain, the user's part as raw bytes. */
static void
put_walked_sample (Fixture *self, const uint64_t *chain, uint64_t n, const uint64_t *cgroup)
{
  struct
  {
    uint32_t size;
    uint8_t reason;
    uint8_t used;
    uint16_t n;
    uint64_t address[2];
  } walk = { sizeof walk - sizeof walk.size,
             WALK_END,
             WALK_USED_FP | WALK_USED_FP_FIRST | WALK_USED_SIGNAL,
             2,
             { 0x402000, 0x402100 } };

  begin (self, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  put_u64 (self, 0x402000);
  put_two (self, 10, 11);
  put_u64 (self, TIME);
  put_u64 (self, n);
  put (self, chain, n * sizeof *chain);
  put (self, &walk, sizeof walk);
  if (cgroup != NULL)
    put_u64 (self, *cgroup);
  end (self);
}

static const uint64_t chain_before_walks[] = {
  (uint64_t) PERF_CONTEXT_KERNEL,
  0xffffffff81000010,
  (uint64_t) PERF_CONTEXT_USER,
  0x401000,
  0x401100,
};

static void
put_walk_without_table (Fixture *self)
{
  const struct
  {
    uint32_t size;
    uint8_t reason;
    uint8_t used;
    uint16_t n;
    uint64_t address;
  } walk = { sizeof walk - sizeof walk.size, WALK_NO_TABLE, 0, 1, 0x402000 };

  begin (self, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  put_u64 (self, 0x402000);
  put_two (self, 10, 11);
  put_u64 (self, TIME);
  put_u64 (self, 0);
  put (self, &walk, sizeof walk);
  end (self);
}

/* The walker had no room for a copy of the stack. */
static void
test_walk_without_copy_is_counted (Fixture *self, gconstpointer data)
{
  self->decoder.has_walks = true;
  put_walk_without_table (self);
  put_walked_sample (self, NULL, 0, NULL);
  g_assert_cmpuint (self->decoder.n_walks[WALK_NO_TABLE], ==, 1);
  g_assert_cmpuint (self->decoder.n_without_copy, ==, 1);
}

/* Stacks by frame pointers, from before the BPF program was attached, are in one ring with
 * those that it unwound. */
static void
put_both_kinds (Fixture *self, const uint64_t *cgroup)
{
  self->decoder.has_walks = true;
  put_sample_of (self, 10, 11, chain_before_walks, 5, cgroup);
  put_sample_of (self, 10, 11, chain_before_walks, 2, cgroup);
  put_walked_sample (self, chain_before_walks, 2, cgroup);

  g_assert_cmpuint (self->decoder.n_dropped_samples, ==, 0);
  g_assert_cmpuint (self->decoder.n_walks[WALK_NOT_YET], ==, 1);
  g_assert_cmpuint (self->decoder.n_walks[WALK_KERNEL_THREAD], ==, 1);
  g_assert_cmpuint (self->decoder.n_walks[WALK_END], ==, 1);
}

static const SysprofCaptureSample *
read_next_sample (SysprofCaptureReader *reader)
{
  SysprofCaptureFrameType type;

  while (sysprof_capture_reader_peek_type (reader, &type) &&
         type != SYSPROF_CAPTURE_FRAME_SAMPLE)
    g_assert_true (sysprof_capture_reader_skip (reader));
  return sysprof_capture_reader_read_sample (reader);
}

static void
test_walks_begin_later (Fixture *self, gconstpointer data)
{
  static const uint64_t walked[] = {
    (uint64_t) PERF_CONTEXT_KERNEL,
    0xffffffff81000010,
    (uint64_t) PERF_CONTEXT_USER,
    0x402000,
    0x402100,
  };
  SysprofCaptureReader *reader;
  const SysprofCaptureSample *sample;
  const uint8_t *notes;
  size_t size;

  self->decoder.tally = sysprof_stack_tally_new ();
  put_both_kinds (self, NULL);
  reader = read_back (self);

  /* It is unknown whether it is complete, so it has one more entry, which contains the
   * reason. */
  sample = read_next_sample (reader);
  g_assert_nonnull (sample);
  g_assert_cmpint (sample->n_addrs, ==, 6);
  g_assert_cmpmem (sample->addrs, 5 * sizeof (uint64_t), chain_before_walks,
                   sizeof chain_before_walks);
  g_assert_cmpuint (sample->addrs[5], ==, self->decoder.marker[WALK_NOT_YET]);
  g_assert_cmpuint (sample->padding1, ==, 0);

  sample = read_next_sample (reader);
  g_assert_nonnull (sample);
  g_assert_cmpint (sample->n_addrs, ==, 2);

  sample = read_next_sample (reader);
  g_assert_nonnull (sample);
  g_assert_cmpint (sample->n_addrs, ==, 5);
  g_assert_cmpmem (sample->addrs, sizeof walked, walked, sizeof walked);
  g_assert_null (read_next_sample (reader));

  /* Of the second there is nothing to say. */
  notes = sysprof_stack_tally_get_notes (self->decoder.tally, &size);
  g_assert_cmpuint (size, ==, 2 * CAPTURE_FOUND_SIZE);
  g_assert_cmpuint (notes[12], ==, CAPTURE_FOUND_BY_FRAME_POINTERS);
  g_assert_cmpuint (notes[CAPTURE_FOUND_SIZE + 12], ==,
                    CAPTURE_FOUND_BY_BOTH | CAPTURE_FOUND_BY_FP_FIRST);
  g_clear_pointer (&self->decoder.tally, sysprof_stack_tally_free);
  sysprof_capture_reader_unref (reader);
}

static void
test_walks_in_a_cgroup_begin_later (Fixture *self, gconstpointer data)
{
  g_autofree char *chosen = g_dir_make_tmp ("sysprof-cgroups-XXXXXX", NULL);
  uint64_t cgroup = inode_of (chosen);
  int fd = open (chosen, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  self->decoder.cgroups = sysprof_cgroup_filter_new (fd);
  put_both_kinds (self, &cgroup);

  sysprof_cgroup_filter_free (g_steal_pointer (&self->decoder.cgroups));
  (void) close (fd);
  (void) rmdir (chosen);
}

#define ADD(name, func) \
  g_test_add ("/perf/decode/" name, Fixture, NULL, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  test_init_with_fixed_seed (&argc, &argv);
  ADD ("sample", test_sample);
  ADD ("sample-without-chain", test_sample_without_chain);
  ADD ("samples-of-a-cgroup", test_samples_of_a_cgroup);
  ADD ("idle-is-left-out", test_idle_is_left_out);
  ADD ("mapping-with-inode", test_mapping_with_inode);
  ADD ("mapping-with-build-id", test_mapping_with_build_id);
  ADD ("mapping-that-is-told", test_mapping_that_is_told);
  ADD ("build-id-that-is-too-long-is-refused", test_build_id_that_is_too_long_is_refused);
  ADD ("life-of-a-process", test_life_of_a_process);
  ADD ("namespaces-of-processes", test_namespaces_of_processes);
  ADD ("kernel-symbols", test_kernel_symbols);
  ADD ("losses-are-counted", test_losses_are_counted);
  ADD ("throttled-samples-are-counted", test_throttled_samples_are_counted);
  ADD ("several-events-are-throttled", test_several_events_are_throttled);
  ADD ("samples-are-dropped-when-told-to", test_samples_are_dropped_when_told_to);
  ADD ("counts-that-lie-are-refused", test_counts_that_lie_are_refused);
  ADD ("deep-stacks", test_deep_stacks);
  ADD ("records-that-are-cut-or-random", test_records_that_are_cut_or_random);
  ADD ("walks-begin-later", test_walks_begin_later);
  ADD ("walk-without-copy-is-counted", test_walk_without_copy_is_counted);
  ADD ("walks-in-a-cgroup-begin-later", test_walks_in_a_cgroup_begin_later);
  return g_test_run ();
}
