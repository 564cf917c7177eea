// SPDX-License-Identifier: GPL-3.0-or-later

/* The queue of mapping events between the pump and the unwinder. */

#include "unwinder/mapping-events.h"

#include <sys/eventfd.h>
#include <unistd.h>

#define SECOND INT64_C (1000000000)

/* As the kernel lays out PERF_RECORD_MMAP2, with what sample_id_all puts behind it. */
typedef struct
{
  struct perf_event_header header;
  int32_t pid, tid;
  uint64_t start, size, offset;
  uint32_t device_major, device_minor;
  uint64_t inode, generation;
  uint32_t protection, flags;
  char path[16];
  int32_t id_pid, id_tid;
  int64_t time;
} Mapped;

typedef struct
{
  int wake_fd;
  MappingEvents *mapping_events;
  uint8_t build_id[PERF_MOST_BUILD_ID];
} Test;

static void
set_up (Test *self)
{
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  g_assert_cmpint (self->wake_fd, >=, 0);
  self->mapping_events = sysprof_mapping_events_new (self->wake_fd);
}

static void
tear_down (Test *self)
{
  sysprof_mapping_events_free (self->mapping_events);
  (void) close (self->wake_fd);
}

static size_t
map (Test *self, int32_t pid, uint64_t inode, int64_t time)
{
  Mapped record = {
    .header = { PERF_RECORD_MMAP2, 0, sizeof record },
    .pid = pid,
    .tid = pid,
    .start = 0x1000,
    .size = 0x1000,
    .device_minor = 8,
    .inode = inode,
    .generation = 7,
    .path = "/bin/true",
    .id_pid = pid,
    .id_tid = pid,
    .time = time,
  };

  return sysprof_mapping_events_add (&record.header, 0, self->build_id, self->mapping_events);
}

static bool
is_woken (Test *self)
{
  uint64_t n;

  return read (self->wake_fd, &n, sizeof n) == sizeof n;
}

/* How many records it brings. */
static guint
take (Test *self)
{
  g_autoptr (GByteArray) records = g_byte_array_new ();
  bool has_lost;

  (void) sysprof_mapping_events_take (self->mapping_events, records, &has_lost);
  return records->len / (guint) sizeof (Mapped);
}

static void
test_known_files_wake_nobody (void)
{
  static const ReportedFile file = { 5, 7, 0, 8 };
  static const uint8_t build_id[] = { 1, 2, 3 };
  Test self;

  set_up (&self);
  g_assert_cmpuint (map (&self, 10, 5, SECOND), ==, 0);
  g_assert_false (is_woken (&self));
  sysprof_mapping_events_drained (SECOND, self.mapping_events);
  g_assert_true (is_woken (&self));
  g_assert_cmpuint (take (&self), ==, 1);

  sysprof_mapping_events_set_file (self.mapping_events, &file, build_id, sizeof build_id,
                                   2 * SECOND);
  g_assert_cmpuint (map (&self, 11, 5, SECOND + 1), ==, sizeof build_id);
  g_assert_cmpmem (self.build_id, sizeof build_id, build_id, sizeof build_id);
  sysprof_mapping_events_drained (SECOND + 2, self.mapping_events);
  g_assert_false (is_woken (&self));
  g_assert_cmpuint (take (&self), ==, 0);

  /* It may have been written again meanwhile; one record is enough to notice this. */
  g_assert_cmpuint (map (&self, 12, 5, 4 * SECOND), ==, sizeof build_id);
  g_assert_cmpuint (map (&self, 13, 5, 4 * SECOND + 1), ==, sizeof build_id);
  g_assert_cmpuint (take (&self), ==, 1);

  sysprof_mapping_events_forget_file (self.mapping_events, &file);
  g_assert_cmpuint (map (&self, 14, 5, 4 * SECOND + 2), ==, 0);
  g_assert_cmpuint (take (&self), ==, 1);
  tear_down (&self);
}

/* More than there is room for; the last ones are known, and none is taken for another. */
static void
test_many_files (void)
{
  enum
  {
    N_FILES = 20000,
    N_LAST = 500
  };
  unsigned n_known = 0;
  Test self;

  set_up (&self);
  for (uint64_t i = 1; i <= N_FILES; i++)
    {
      ReportedFile file = { i, 7, 0, 8 };

      sysprof_mapping_events_drained ((int64_t) i, self.mapping_events);
      sysprof_mapping_events_set_file (self.mapping_events, &file, (const uint8_t *) &i,
                                       sizeof i, 60 * SECOND);
    }
  for (uint64_t i = 1; i <= N_FILES; i++)
    {
      bool is_known = map (&self, 10, i, SECOND) == sizeof i;

      if (is_known)
        g_assert_cmpmem (self.build_id, sizeof i, &i, sizeof i);
      n_known += is_known;
      g_assert_true (is_known || i <= N_FILES - N_LAST);
    }
  g_assert_cmpuint (n_known, <=, 4096);
  g_assert_cmpuint (take (&self), ==, N_FILES - n_known);

  /* A place that was given up is taken again, by one file. */
  for (uint64_t i = N_FILES; i > N_FILES - N_LAST; i--)
    sysprof_mapping_events_forget_file (self.mapping_events, &(ReportedFile){ i, 7, 0, 8 });
  for (uint64_t i = N_FILES; i > N_FILES - N_LAST; i--)
    {
      g_assert_cmpuint (map (&self, 11, i, SECOND), ==, 0);
      sysprof_mapping_events_set_file (self.mapping_events, &(ReportedFile){ i, 7, 0, 8 },
                                       (const uint8_t *) &i, sizeof i, 60 * SECOND);
      g_assert_cmpuint (map (&self, 11, i, SECOND), ==, sizeof i);
    }
  tear_down (&self);
}

/* Files that have not changed for long are checked seldom. */
static void
test_files_are_believed_for_as_long_as_was_said (void)
{
  static const ReportedFile file = { 5, 7, 0, 8 };
  static const uint8_t build_id[] = { 1, 2, 3 };
  Test self;

  set_up (&self);
  sysprof_mapping_events_drained (SECOND, self.mapping_events);
  sysprof_mapping_events_set_file (self.mapping_events, &file, build_id, sizeof build_id,
                                   60 * SECOND);
  (void) map (&self, 10, 5, 60 * SECOND);
  g_assert_cmpuint (take (&self), ==, 0);
  (void) map (&self, 11, 5, 61 * SECOND);
  g_assert_cmpuint (take (&self), ==, 1);
  sysprof_mapping_events_set_file (self.mapping_events, &file, build_id, sizeof build_id,
                                   2 * SECOND);
  (void) map (&self, 12, 5, 62 * SECOND);
  g_assert_cmpuint (take (&self), ==, 0);
  (void) map (&self, 13, 5, 63 * SECOND);
  g_assert_cmpuint (take (&self), ==, 1);
  tear_down (&self);
}

/* The number of an inode is given again. */
static void
test_another_generation_is_another_file (void)
{
  static const ReportedFile file = { 5, 6, 0, 8 };
  static const uint8_t build_id[] = { 1, 2, 3 };
  Test self;

  set_up (&self);
  sysprof_mapping_events_set_file (self.mapping_events, &file, build_id, sizeof build_id,
                                   2 * SECOND);
  g_assert_cmpuint (map (&self, 10, 5, 1), ==, 0);
  g_assert_cmpuint (take (&self), ==, 1);
  tear_down (&self);
}

static void
test_what_is_followed_is_told (void)
{
  static const ReportedFile file = { 5, 7, 0, 8 };
  static const uint8_t build_id[] = { 1, 2, 3 };
  g_autoptr (GArray) found = g_array_new (false, false, sizeof (TaskEvent));
  Test self;

  set_up (&self);
  sysprof_mapping_events_set_file (self.mapping_events, &file, build_id, sizeof build_id,
                                   2 * SECOND);
  (void) map (&self, 10, 5, 1);
  (void) map (&self, 11, 5, 2);
  g_assert_cmpuint (take (&self), ==, 0);
  sysprof_mapping_events_recall (self.mapping_events, 10, found);
  g_assert_cmpuint (found->len, ==, 1);
  g_assert_cmpint (g_array_index (found, TaskEvent, 0).time, ==, 1);

  sysprof_mapping_events_follow (self.mapping_events, 10, true);
  (void) map (&self, 10, 5, 3);
  (void) map (&self, 11, 5, 4);
  g_assert_cmpuint (take (&self), ==, 1);
  sysprof_mapping_events_follow (self.mapping_events, 10, false);
  (void) map (&self, 10, 5, 5);
  g_assert_cmpuint (take (&self), ==, 0);
  tear_down (&self);
}

/* Of an unknown process. */
static void
test_losses_are_told_once (void)
{
  const struct
  {
    struct perf_event_header header;
    uint64_t id;
    uint64_t n;
  } lost = { { PERF_RECORD_LOST, 0, sizeof lost }, 1, 5 };
  g_autoptr (GByteArray) records = g_byte_array_new ();
  g_autoptr (GArray) found = g_array_new (false, false, sizeof (TaskEvent));
  uint8_t build_id[PERF_MOST_BUILD_ID];
  bool has_lost = false;
  Test self;

  set_up (&self);
  (void) map (&self, 10, 5, 1);
  (void) sysprof_mapping_events_take (self.mapping_events, records, &has_lost);
  g_assert_false (has_lost);

  g_assert_cmpuint (sysprof_mapping_events_add (&lost.header, 0, build_id, self.mapping_events),
                    ==, 0);
  sysprof_mapping_events_drained (SECOND, self.mapping_events);
  g_assert_true (is_woken (&self));
  (void) sysprof_mapping_events_take (self.mapping_events, records, &has_lost);
  g_assert_true (has_lost);
  (void) sysprof_mapping_events_take (self.mapping_events, records, &has_lost);
  g_assert_false (has_lost);

  sysprof_mapping_events_recall (self.mapping_events, 10, found);
  g_assert_cmpuint (found->len, ==, 1);
  sysprof_mapping_events_forget_history (self.mapping_events);
  sysprof_mapping_events_recall (self.mapping_events, 10, found);
  g_assert_cmpuint (found->len, ==, 0);

  /* An event without room is lost as well: for a process that is followed, whatever its
   * kind. */
  sysprof_mapping_events_follow (self.mapping_events, 10, true);
  for (unsigned i = 0; i * sizeof (Mapped) < 5 << 20; i++)
    (void) map (&self, 10, 5, 2 + i);
  (void) sysprof_mapping_events_take (self.mapping_events, records, &has_lost);
  g_assert_true (has_lost);
  tear_down (&self);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/unwinder/mapping-events/known-files-wake-no-thread",
                   test_known_files_wake_nobody);
  g_test_add_func ("/unwinder/mapping-events/many-files", test_many_files);
  g_test_add_func ("/unwinder/mapping-events/files-are-believed-for-as-long-as-was-said",
                   test_files_are_believed_for_as_long_as_was_said);
  g_test_add_func ("/unwinder/mapping-events/another-generation-is-another-file",
                   test_another_generation_is_another_file);
  g_test_add_func ("/unwinder/mapping-events/what-is-followed-is-told",
                   test_what_is_followed_is_told);
  g_test_add_func ("/unwinder/mapping-events/losses-are-told-once", test_losses_are_told_once);
  return g_test_run ();
}
