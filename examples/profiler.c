// SPDX-License-Identifier: GPL-3.0-or-later

/* Write your own profiler: records the whole machine into capture.syscap until Ctrl-C, or for as many seconds as the
 * argument says.
 *
 *     cc profiler.c -o profiler $(pkg-config --cflags --libs sysprof-6) */

#include <glib-unix.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysprof.h>

static GMainLoop *main_loop;
static SysprofRecording *active_recording;
static int exit_status;

static void
fail (GError *error)
{
  fprintf (stderr, "%s\n", error->message);
  g_error_free (error);
  exit_status = EXIT_FAILURE;
}

static void
print_diagnostics (SysprofRecording *recording)
{
  g_autoptr (GListModel) diagnostics = sysprof_recording_list_diagnostics (recording);

  for (guint i = 0; i < g_list_model_get_n_items (diagnostics); i++)
    {
      g_autoptr (SysprofDiagnostic) diagnostic = g_list_model_get_item (diagnostics, i);

      fprintf (stderr, "%s: %s\n", sysprof_diagnostic_get_domain (diagnostic),
               sysprof_diagnostic_get_message (diagnostic));
    }
}

static void
wait_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  SysprofRecording *recording = SYSPROF_RECORDING (object);
  GError *error = NULL;

  (void) user_data;
  print_diagnostics (recording);
  if (!sysprof_recording_wait_finish (recording, result, &error))
    fail (error);
  else
    printf ("%" G_GINT64_FORMAT " frames in %.1f seconds\n",
            (gint64) sysprof_recording_get_event_count (recording),
            (double) sysprof_recording_get_duration (recording) / G_USEC_PER_SEC);
  g_main_loop_quit (main_loop);
}

static void
record_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  GError *error = NULL;

  (void) user_data;
  active_recording = sysprof_profiler_record_finish (SYSPROF_PROFILER (object), result, &error);
  if (active_recording == NULL)
    {
      fail (error);
      g_main_loop_quit (main_loop);
      return;
    }
  sysprof_recording_wait_async (active_recording, NULL, wait_cb, NULL);
}

static gboolean
stop (gpointer user_data)
{
  (void) user_data;
  if (active_recording != NULL)
    sysprof_recording_stop_async (active_recording, NULL, NULL, NULL);
  return G_SOURCE_REMOVE;
}

int
main (int argc, char *argv[])
{
  SysprofCaptureWriter *writer = sysprof_capture_writer_new ("capture.syscap", 0);
  SysprofProfiler *profiler = sysprof_profiler_new ();

  if (writer == NULL)
    {
      perror ("Cannot write 'capture.syscap'");
      return EXIT_FAILURE;
    }

  main_loop = g_main_loop_new (NULL, FALSE);

  sysprof_profiler_add_instrument (profiler, sysprof_sampler_new ());
  sysprof_profiler_add_instrument (profiler, sysprof_network_usage_new ());
  sysprof_profiler_add_instrument (profiler, sysprof_disk_usage_new ());
  sysprof_profiler_add_instrument (profiler, sysprof_energy_usage_new ());
  sysprof_profiler_add_instrument (profiler, sysprof_power_profile_new ("performance"));
  sysprof_profiler_add_instrument (profiler, sysprof_symbols_bundle_new ());

  /* The order of the reference is (profiler, writer, cancellable, callback, user_data). */
  sysprof_profiler_record_async (profiler, writer, record_cb, NULL, NULL);

  g_unix_signal_add (SIGINT, stop, NULL);
  g_unix_signal_add (SIGTERM, stop, NULL);
  if (argc > 1)
    g_timeout_add ((guint) (atof (argv[1]) * 1000), stop, NULL);
  g_main_loop_run (main_loop);

  g_clear_object (&active_recording);
  g_object_unref (profiler);
  sysprof_capture_writer_unref (writer);
  g_main_loop_unref (main_loop);
  return exit_status;
}
