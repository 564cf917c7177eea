// SPDX-License-Identifier: GPL-3.0-or-later

/* A source of counters over texts that the test writes, and what it leaves in a capture. */

#pragma once

#include "record/counters/sampled-counters.h"

#include <stdio.h>

typedef struct
{
  char *dir;
  char *root; /* stands for "/": `dir`, or "" for this machine's own files */
  Privilege *machine;
  CounterSampler *sampler;
  SysprofCaptureWriter *writer;
} CounterBench;

/* Makes or replaces, in place, the file `path` below the root. */
static inline void
bench_write (CounterBench *self, const char *path, const char *text)
{
  g_autofree char *whole = g_strconcat (self->root, path, NULL);
  g_autofree char *dir = g_path_get_dirname (whole);
  FILE *file;

  g_assert_cmpint (g_mkdir_with_parents (dir, 0700), ==, 0);
  file = fopen (whole, "w"); /* keeps the inode: the sampler's descriptor stays good */
  g_assert_nonnull (file);
  g_assert_cmpint (fputs (text, file), >=, 0);
  g_assert_cmpint (fclose (file), ==, 0);
}

static inline void
bench_remove (CounterBench *self, const char *path)
{
  g_autofree char *whole = g_strconcat (self->root, path, NULL);

  g_assert_cmpint (unlink (whole), ==, 0);
}

/* A symbolic link that leads nowhere, as descriptors in /proc do for who looks at them from here. */
static inline void
bench_link (CounterBench *self, const char *path, const char *target)
{
  g_autofree char *whole = g_strconcat (self->root, path, NULL);
  g_autofree char *dir = g_path_get_dirname (whole);

  g_assert_cmpint (g_mkdir_with_parents (dir, 0700), ==, 0);
  g_assert_cmpint (symlink (target, whole), ==, 0);
}

/* A directory with all that is in it. */
static inline void
bench_remove_all (CounterBench *self, const char *path)
{
  g_autofree char *whole = g_strconcat (self->root, path, NULL);
  g_autofree char *quoted = g_shell_quote (whole);
  g_autofree char *command = g_strconcat ("rm -r ", quoted, NULL);

  g_assert_true (g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL));
}

static inline void
bench_init (CounterBench *self)
{
  autofd fd = -1;

  self->dir = g_dir_make_tmp ("sysprof-counters-XXXXXX", NULL);
  g_assert_nonnull (self->dir);
  self->root = g_strdup (self->dir);
  fd = sysprof_memfd_create ("counters");
  g_assert_cmpint (fd, >=, 0);
  self->writer = sysprof_capture_writer_new_from_fd (sysprof_steal_fd (&fd), 0);
  g_assert_nonnull (self->writer);
}

/* Opening fails, and says these words. */
static inline void
bench_assert_refused (CounterBench *self, const SampledCounters *counters, const char *words)
{
  g_autoptr (GError) error = NULL;

  self->machine = sysprof_privilege_new_below (self->root);
  g_assert_null (sysprof_counter_sampler_open (counters, self->machine, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, words));
}

static inline void
bench_open (CounterBench *self, const SampledCounters *counters)
{
  g_autoptr (GError) error = NULL;

  self->machine = sysprof_privilege_new_below (self->root);
  self->sampler = sysprof_counter_sampler_open (counters, self->machine, &error);
  g_assert_no_error (error);
}

/* A reading at `seconds`. */
static inline void
bench_read (CounterBench *self, double seconds)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (sysprof_counter_sampler_read (self->sampler, self->writer,
                                               (int64_t) (seconds * 1e9), &error));
  g_assert_no_error (error);
}

static inline void
bench_clear (CounterBench *self)
{
  g_autofree char *quoted = g_shell_quote (self->dir);
  g_autofree char *command = g_strconcat ("rm -r ", quoted, NULL);

  sysprof_counter_sampler_free (self->sampler);
  sysprof_privilege_unref (self->machine);
  sysprof_capture_writer_unref (self->writer);
  g_assert_true (g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL));
  g_free (self->dir);
  g_free (self->root);
}

static inline void
bench_assert_complaint (CounterBench *self, const char *words)
{
  g_autofree char *complaint = sysprof_counter_sampler_take_complaint (self->sampler);

  if (words == NULL)
    g_assert_cmpstr (complaint, ==, NULL);
  else
    {
      g_assert_nonnull (complaint);
      g_assert_nonnull (strstr (complaint, words));
    }
}

/* Everything the capture says about one counter, as "SECONDS=VALUE SECONDS=VALUE …"; NULL when it was never
 * defined. Doubles have three decimals. */
static inline char *
bench_series (CounterBench *self, const char *category, const char *name)
{
  SysprofCaptureReader *reader = sysprof_capture_writer_create_reader (self->writer);
  GString *series = NULL;
  SysprofCaptureFrameType type;
  unsigned id = 0, value_type = 0;

  g_assert_nonnull (reader);
  while (sysprof_capture_reader_peek_type (reader, &type))
    {
      if (type == SYSPROF_CAPTURE_FRAME_CTRDEF)
        {
          const SysprofCaptureCounterDefine *def =
              sysprof_capture_reader_read_counter_define (reader);

          g_assert_nonnull (def);
          g_assert_cmpint (def->n_counters, <=, 127);
          for (unsigned i = 0; i < def->n_counters; i++)
            if (g_str_equal (def->counters[i].category, category) &&
                g_str_equal (def->counters[i].name, name))
              {
                g_assert_null (series); /* one counter per name */
                series = g_string_new (NULL);
                id = def->counters[i].id;
                value_type = def->counters[i].type;
              }
        }
      else if (type == SYSPROF_CAPTURE_FRAME_CTRSET)
        {
          const SysprofCaptureCounterSet *set =
              sysprof_capture_reader_read_counter_set (reader);

          g_assert_nonnull (set);
          g_assert_cmpint (set->frame.len, <=, 16384);
          for (unsigned i = 0; id != 0 && i < set->n_values; i++)
            for (unsigned j = 0; j < 8; j++)
              if (set->values[i].ids[j] == id)
                {
                  double at = (double) set->frame.time / 1e9;

                  if (value_type == SYSPROF_CAPTURE_COUNTER_DOUBLE)
                    g_string_append_printf (series, "%s%g=%.3f", series->len > 0 ? " " : "", at,
                                            set->values[i].values[j].vdbl);
                  else
                    g_string_append_printf (series, "%s%g=%" G_GINT64_FORMAT,
                                            series->len > 0 ? " " : "", at,
                                            set->values[i].values[j].v64);
                }
        }
      else
        g_assert_true (sysprof_capture_reader_skip (reader));
    }

  sysprof_capture_reader_unref (reader);
  return series != NULL ? g_string_free (series, FALSE) : NULL;
}

static inline void
bench_assert_series (CounterBench *self,
                     const char *category,
                     const char *name,
                     const char *expected)
{
  g_autofree char *series = bench_series (self, category, name);

  g_assert_cmpstr (series, ==, expected);
}
