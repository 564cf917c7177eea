// SPDX-License-Identifier: GPL-3.0-or-later

/* Metadata about the machine, the recorder and the command. */

#include "record/metadata.h"
#include "util/util.h"

#include <stdlib.h>
#include <sys/utsname.h>

/* All metadata that is written for `spawnable`: key to value. `files` gets the embedded files. */
static GHashTable *
metadata_of (SysprofSpawnable *spawnable, bool record_environment, GHashTable *files)
{
  GHashTable *values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  autofd fd = sysprof_memfd_create ("metadata");
  SysprofCaptureWriter *writer = sysprof_capture_writer_new_from_fd (sysprof_steal_fd (&fd), 0);
  SysprofCaptureReader *reader;
  SysprofCaptureFrameType type;

  sysprof_record_metadata_write (writer, spawnable, record_environment);
  reader = sysprof_capture_writer_create_reader (writer);
  while (sysprof_capture_reader_peek_type (reader, &type))
    {
      SysprofCaptureFrame frame;

      g_assert_true (sysprof_capture_reader_peek_frame (reader, &frame));
      g_assert_cmpint (frame.len, <=, 16384);
      g_assert_cmpint (frame.pid, ==, -1);
      if (type == SYSPROF_CAPTURE_FRAME_METADATA)
        {
          const SysprofCaptureMetadata *metadata =
              sysprof_capture_reader_read_metadata (reader);

          g_assert_true (g_hash_table_insert (values, g_strdup (metadata->id),
                                              g_strdup (metadata->metadata)));
        }
      else
        {
          const SysprofCaptureFileChunk *chunk = sysprof_capture_reader_read_file (reader);
          GString *content;

          g_assert_nonnull (chunk);
          g_assert_cmpint (chunk->len, <=, 16100);
          if (files == NULL)
            continue;
          content = g_hash_table_lookup (files, chunk->path);
          if (content == NULL)
            g_hash_table_insert (files, g_strdup (chunk->path), content = g_string_new (NULL));
          g_string_append_len (content, (const char *) chunk->data, chunk->len);
        }
    }

  sysprof_capture_reader_unref (reader);
  sysprof_capture_writer_unref (writer);
  return values;
}

static void
test_host (void)
{
  g_autoptr (GHashTable) values = NULL;
  g_autoptr (GDateTime) time = NULL;
  g_autofree char *n_pages = g_strdup_printf ("%ld", sysconf (_SC_PAGESIZE));
  struct utsname name;
  static const char *const keys[] = {
    "org.gnome.sysprof.app-id",
    "n-cpu",
    "buffer-size",
    "sysinfo.uptime",
    "sysinfo.totalram",
    "sysinfo.freeram",
    "sysinfo.sharedram",
    "sysinfo.bufferram",
    "sysinfo.totalswap",
    "sysinfo.freeswap",
    "sysinfo.procs",
    "sysinfo.totalhigh",
    "sysinfo.freehigh",
    "sysinfo.mem_unit",
  };

  g_setenv ("DEBUGINFOD_URLS", "https://example.org", TRUE);
  g_unsetenv ("WAYLAND_DISPLAY");
  values = metadata_of (NULL, true, NULL);
  g_assert_cmpint (uname (&name), ==, 0);

  g_assert_cmpstr (g_hash_table_lookup (values, "uname.sysname"), ==, name.sysname);
  g_assert_cmpstr (g_hash_table_lookup (values, "uname.release"), ==, name.release);
  g_assert_cmpstr (g_hash_table_lookup (values, "uname.version"), ==, name.version);
  g_assert_cmpstr (g_hash_table_lookup (values, "uname.machine"), ==, name.machine);
  g_assert_cmpstr (g_hash_table_lookup (values, "hostname"), ==, name.nodename);
  g_assert_cmpstr (g_hash_table_lookup (values, "page-size"), ==, n_pages);
  g_assert_cmpstr (g_hash_table_lookup (values, "org.gnome.sysprof.version"), ==, "51.0.0");
  g_assert_cmpstr (g_hash_table_lookup (values, "DEBUGINFOD_URLS"), ==, "https://example.org");
  g_assert_null (g_hash_table_lookup (values, "WAYLAND_DISPLAY"));
  g_assert_null (g_hash_table_lookup (values, "spawnable.argv"));
  for (size_t i = 0; i < G_N_ELEMENTS (keys); i++)
    g_assert_nonnull (g_hash_table_lookup (values, keys[i]));

  time = g_date_time_new_from_iso8601 (g_hash_table_lookup (values, "capture-time"), NULL);
  g_assert_nonnull (time);
}

static void
test_program (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autoptr (GHashTable) values = NULL;
  GHashTableIter iter;
  const char *value;

  sysprof_spawnable_append_args (spawnable,
                                 (const char *const[]){ "prog", "it's", "a b", "", NULL });
  sysprof_spawnable_set_cwd (spawnable, "/usr");
  sysprof_spawnable_setenv (spawnable, "TOKEN", "a-secret-of-the-user");
  values = metadata_of (spawnable, false, NULL);

  g_assert_cmpstr (g_hash_table_lookup (values, "spawnable.cwd"), ==, "/usr");
  g_assert_cmpstr (g_hash_table_lookup (values, "spawnable.argv"), ==,
                   "'prog' 'it'\\''s' 'a b' '' ");

  g_assert_null (g_hash_table_lookup (values, "spawnable.environ"));
  g_hash_table_iter_init (&iter, values);
  while (g_hash_table_iter_next (&iter, NULL, (void **) &value))
    g_assert_null (strstr (value, "a-secret-of-the-user"));
}

static void
test_environment_when_asked (void)
{
  g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
  g_autoptr (GHashTable) values = NULL;

  sysprof_spawnable_append_argv (spawnable, "prog");
  sysprof_spawnable_set_environ (spawnable, (const char *const[]){ "A=1", "B=x y", NULL });
  values = metadata_of (spawnable, true, NULL);
  g_assert_cmpstr (g_hash_table_lookup (values, "spawnable.environ"), ==, "'A=1' 'B=x y' ");
}

/* A frame has 16384 bytes at most, 64 of them before the value, and room for 16 joins of
 * version 3.46. A truncated value is marked, and is not truncated within a character. */
static void
test_long_value_is_cut (void)
{
  for (size_t shift = 0; shift < 3; shift++)
    {
      g_autoptr (SysprofSpawnable) spawnable = sysprof_spawnable_new ();
      g_autoptr (GString) argument = g_string_new (NULL);
      g_autoptr (GHashTable) values = NULL;
      const char *value;

      while (argument->len < shift)
        g_string_append_c (argument, 'x');
      while (argument->len < 70000)
        g_string_append (argument, "€");
      sysprof_spawnable_append_argv (spawnable, argument->str);
      values = metadata_of (spawnable, false, NULL);

      value = g_hash_table_lookup (values, "spawnable.argv");
      g_assert_cmpint (strlen (value), <, 16384);
      g_assert_cmpint (strlen (value), >, 16384 - 64 - 16 * 8 - 8);
      g_assert_true (g_utf8_validate (value, -1, NULL));
      g_assert_true (g_str_has_suffix (value, " bytes in all]"));
      g_assert_nonnull (strstr (value, "€ [truncated: 700"));
    }
}

static void
free_string (void *string)
{
  g_string_free (string, TRUE);
}

static void
test_os_release (void)
{
  g_autoptr (GHashTable) files =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_string);
  G_GNUC_UNUSED g_autoptr (GHashTable) values = metadata_of (NULL, false, files);
  g_autofree char *expected = NULL;
  const GString *content = g_hash_table_lookup (files, "/etc/os-release");

  if (!g_file_get_contents ("/etc/os-release", &expected, NULL, NULL))
    {
      g_assert_null (content);
      g_test_skip ("this system has no /etc/os-release");
      return;
    }
  g_assert_nonnull (content);
  g_assert_cmpstr (content->str, ==, expected);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/metadata/host", test_host);
  g_test_add_func ("/record/metadata/program", test_program);
  g_test_add_func ("/record/metadata/environment-when-asked", test_environment_when_asked);
  g_test_add_func ("/record/metadata/long-value-is-cut", test_long_value_is_cut);
  g_test_add_func ("/record/metadata/os-release", test_os_release);
  return g_test_run ();
}
