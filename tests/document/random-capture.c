// SPDX-License-Identifier: GPL-3.0-or-later

/* A random capture whose stacks are known. See random-capture.h. */

#include "random-capture.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define N_PROCESSES 5
#define N_NAMES     9
/* The marker that the kernel puts before the addresses of a context. */
#define KERNEL_MARKER ((SysprofCaptureAddress) -128)
#define USER_MARKER   ((SysprofCaptureAddress) -512)
#define KERNEL_BASE   G_GUINT64_CONSTANT (0xffffffff81000000)
#define SYSTEM_BASE   G_GUINT64_CONSTANT (0x7f0000000000)
#define NOT_A_FILE    "/usr/lib/no-such-directory/libsystem.so.3"

/* pid 0 idles; 2 is a thread of the kernel; two processes run the same program. */
static const struct
{
  int pid;
  const char *comm;
} processes[N_PROCESSES] = { { 0, "swapper" },
                             { 2, "kthreadd" },
                             { 10, "shell" },
                             { 11, "shell" },
                             { 12, "editor" } };

static SysprofCaptureAddress
choose_call (GRand *random, SysprofCaptureWriter *writer, bool in_kernel, PlainCall *call)
{
  int which = g_rand_int_range (random, 0, N_NAMES);
  g_autofree char *name = NULL;
  SysprofCaptureAddress address;

  call->is_kernel = in_kernel;
  call->is_system = false;
  if (in_kernel)
    {
      name = g_strdup_printf ("kernel_%d", which);
      address = KERNEL_BASE + (guint64) which * 256 + 16;
    }
  else if (g_rand_int_range (random, 0, 3) == 0)
    {
      name = g_strdup_printf ("[libsystem.so.3+0x%x]", which * 64 + 0x1000);
      address = SYSTEM_BASE + (guint64) which * 64;
      call->is_system = true;
    }
  else
    {
      name = g_strdup_printf ("function_%d", which);
      address = sysprof_capture_writer_add_jitmap (writer, name);
    }
  call->name = g_intern_string (name);
  return address;
}

static void
add_sample (GRand *random,
            SysprofCaptureWriter *writer,
            gint64 time,
            guint deepest,
            GArray *samples)
{
  int which = g_rand_int_range (random, 0, N_PROCESSES);
  guint n = (guint) g_rand_int_range (random, 0, (int) deepest + 1);
  guint n_kernel = (guint) g_rand_int_range (random, 0, (int) n + 1);
  g_autoptr (GArray) addresses = g_array_new (FALSE, FALSE, sizeof (SysprofCaptureAddress));
  const SysprofCaptureAddress kernel = KERNEL_MARKER, user = USER_MARKER;
  PlainSample sample = { .pid = processes[which].pid,
                         .comm = g_intern_string (processes[which].comm),
                         .is_kernel_process = processes[which].pid <= 2,
                         .n = n };

  sample.tid = sample.pid + (sample.pid >= 10 ? g_rand_int_range (random, 0, 2) * 100 : 0);
  sample.calls = g_new0 (PlainCall, MAX (n, 1));
  if (sample.is_kernel_process)
    n_kernel = n;

  for (guint i = 0; i < n; i++)
    {
      SysprofCaptureAddress address;

      if (i == 0 && n_kernel > 0)
        g_array_append_val (addresses, kernel);
      if (i == n_kernel)
        g_array_append_val (addresses, user);
      address = choose_call (random, writer, i < n_kernel, &sample.calls[i]);
      g_array_append_val (addresses, address);
    }
  if (n == 0)
    g_array_append_val (addresses, user);

  g_assert_true (sysprof_capture_writer_add_sample (writer, time, 0, sample.pid, sample.tid,
                                                    (SysprofCaptureAddress *) addresses->data,
                                                    addresses->len));
  g_array_append_val (samples, sample);
}

static void
add_names_of_kernel (SysprofCaptureWriter *writer)
{
  g_autoptr (GString) lines = g_string_new (NULL);

  for (guint i = 0; i <= N_NAMES; i++)
    g_string_append_printf (lines, "%" G_GINT64_MODIFIER "x T kernel_%u\n",
                            KERNEL_BASE + i * 256, i);
  g_assert_true (sysprof_capture_writer_add_file (writer, 1, -1, -1, "/proc/kallsyms", true,
                                                  (const guint8 *) lines->str, lines->len));
}

static void
clear_sample (gpointer data)
{
  g_free (((PlainSample *) data)->calls);
}

RandomCapture *
random_capture_new (guint32 seed, guint n, guint deepest)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  RandomCapture *self = g_new0 (RandomCapture, 1);
  SysprofCaptureWriter *writer;
  int fd;

  g_test_message ("seed %u", seed);
  fd = g_file_open_tmp ("random-XXXXXX.syscap", &self->path, NULL);
  g_assert_cmpint (fd, >=, 0);
  self->samples = g_array_new (FALSE, TRUE, sizeof (PlainSample));
  g_array_set_clear_func (self->samples, clear_sample);

  writer = sysprof_capture_writer_new_from_fd (fd, 0);
  g_assert_nonnull (writer);
  add_names_of_kernel (writer);
  for (guint i = 0; i < N_PROCESSES; i++)
    {
      g_assert_true (sysprof_capture_writer_add_process (writer, 2, -1, processes[i].pid,
                                                         processes[i].comm));
      if (processes[i].pid >= 10)
        g_assert_true (sysprof_capture_writer_add_map (writer, 3, -1, processes[i].pid,
                                                       SYSTEM_BASE, SYSTEM_BASE + 0x10000,
                                                       0x1000, 0, NOT_A_FILE));
    }
  for (guint i = 0; i < n; i++)
    add_sample (random, writer, 1000 + i, deepest, self->samples);
  g_assert_true (sysprof_capture_writer_flush (writer));
  sysprof_capture_writer_unref (writer);
  return self;
}

void
random_capture_free (RandomCapture *self)
{
  (void) g_unlink (self->path); /* a temporary file */
  g_free (self->path);
  g_array_unref (self->samples);
  g_free (self);
}

SysprofDocument *
random_capture_load (const RandomCapture *self)
{
  g_autoptr (SysprofDocumentLoader) loader = sysprof_document_loader_new (self->path);
  g_autoptr (GError) error = NULL;
  SysprofDocument *document = sysprof_document_loader_load (loader, NULL, &error);

  g_assert_no_error (error);
  return document;
}
