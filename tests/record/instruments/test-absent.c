// SPDX-License-Identifier: GPL-3.0-or-later

/* Every constructor of the interface makes an instrument. Those that are not built yet report
 * this, and the rest is recorded. */

#include "../recorder.h"

#include <string.h>

static SysprofInstrument *
new_user_sampler (void)
{
  return sysprof_user_sampler_new (16384);
}

static SysprofInstrument *
new_power_profile (void)
{
  return sysprof_power_profile_new ("performance");
}

static SysprofInstrument *
new_monitor (void)
{
  return sysprof_dbus_monitor_new (G_BUS_TYPE_SESSION);
}

static SysprofInstrument *
new_monitor_for_address (void)
{
  return sysprof_dbus_monitor_new_for_bus_address ("unix:path=/nonexistent");
}

static const struct
{
  const char *name; /* as it introduces itself */
  const char *what; /* which one it is, where there may be several */
  SysprofInstrument *(*create) (void);
} absent[] = {
  { "Malloc Tracing", "", sysprof_malloc_tracing_new },
  { "Tracer", "", sysprof_tracer_new },
};

static void
test_say_so_and_the_rest_is_recorded (void)
{
  g_autoptr (SysprofProfiler) profiler = sysprof_profiler_new ();
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autoptr (GListModel) diagnostics = NULL;
  Recorded recorded = { 0 };
  int fd = new_memory_file ();
  SysprofCaptureReader *reader;

  for (size_t i = 0; i < G_N_ELEMENTS (absent); i++)
    sysprof_profiler_add_instrument (profiler, absent[i].create ());
  sysprof_profiler_add_instrument (profiler, sysprof_memory_usage_new ());
  sysprof_spawnable_append_argv (spawnable, "true");
  sysprof_profiler_set_spawnable (profiler, spawnable);
  record_and_wait (&recorded, profiler, new_writer_for (fd));
  g_assert_no_error (recorded.error);

  diagnostics = sysprof_recording_list_diagnostics (recorded.recording);
  for (size_t i = 0; i < G_N_ELEMENTS (absent); i++)
    {
      guint n_told = 0;

      for (guint j = 0; j < g_list_model_get_n_items (diagnostics); j++)
        {
          g_autoptr (SysprofDiagnostic) diagnostic = g_list_model_get_item (diagnostics, j);

          g_assert_false (sysprof_diagnostic_get_fatal (diagnostic));
          n_told +=
              g_str_equal (sysprof_diagnostic_get_domain (diagnostic), absent[i].name) &&
              g_str_has_prefix (sysprof_diagnostic_get_message (diagnostic), absent[i].what) &&
              strstr (sysprof_diagnostic_get_message (diagnostic), "does not implement it yet");
        }
      g_assert_cmpuint (n_told, ==, 1);
    }

  reader = new_reader_for (fd);
  g_assert_cmpuint (count_frames (reader, SYSPROF_CAPTURE_FRAME_CTRSET, 0), >, 0);
  g_assert_cmpuint (count_frames (reader, SYSPROF_CAPTURE_FRAME_METADATA, 0), >, 0);
  sysprof_capture_reader_unref (reader);
  recorded_clear (&recorded);
  (void) close (fd);
}

static void
test_keep_what_they_were_given (void)
{
  g_autoptr (SysprofInstrument) profile = new_power_profile ();
  g_autoptr (SysprofInstrument) monitor = new_monitor ();
  g_autoptr (SysprofInstrument) address = new_monitor_for_address ();
  g_autoptr (SysprofInstrument) sampler = new_user_sampler ();
  g_autofree char *id = NULL;
  guint stack_size;
  GBusType type;

  g_assert_cmpstr (sysprof_power_profile_get_id (SYSPROF_POWER_PROFILE (profile)), ==,
                   "performance");
  g_object_get (profile, "id", &id, NULL);
  g_assert_cmpstr (id, ==, "performance");

  g_assert_cmpint (sysprof_dbus_monitor_get_bus_type (SYSPROF_DBUS_MONITOR (monitor)), ==,
                   G_BUS_TYPE_SESSION);
  g_assert_null (sysprof_dbus_monitor_get_bus_address (SYSPROF_DBUS_MONITOR (monitor)));
  g_object_get (address, "bus-type", &type, NULL);
  g_assert_cmpint (type, ==, G_BUS_TYPE_NONE);
  g_assert_cmpstr (sysprof_dbus_monitor_get_bus_address (SYSPROF_DBUS_MONITOR (address)), ==,
                   "unix:path=/nonexistent");

  g_object_get (sampler, "stack-size", &stack_size, NULL);
  g_assert_cmpuint (stack_size, ==, 16384);
  g_assert_true (SYSPROF_IS_USER_SAMPLER (sampler));
  g_assert_false (SYSPROF_IS_POWER_PROFILE (sampler));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/absent/say-so", test_say_so_and_the_rest_is_recorded);
  g_test_add_func ("/record/absent/keep-what-they-were-given", test_keep_what_they_were_given);
  return g_test_run ();
}
