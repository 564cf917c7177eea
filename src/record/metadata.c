// SPDX-License-Identifier: GPL-3.0-or-later

/* Writes the metadata frames of a recording. The keys are those that other programs look
 * for. */

#include "record/metadata.h"

#include "access/access.h"
#include "capture/capture.h"
#include "util/util.h"

#include <fcntl.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#define APPLICATION_ID "org.gnome.Sysprof"

/* Sysprof 3.46 cannot join frames above 16,384 bytes: 64 bytes come before the value, and a NUL
 * after it. Each join by that version adds 8 bytes; this leaves space for 16 joins. */
#define MAX_VALUE_SIZE (16384 - 64 - 1 - 16 * 8)

static void
add (SysprofCaptureWriter *writer, const char *key, const char *value)
{
  size_t size = strlen (value);
  g_autoptr (GString) cut = NULL;

  if (size > MAX_VALUE_SIZE)
    {
      g_autofree char *remark = g_strdup_printf (" [truncated: %zu bytes in all]", size);
      const char *end = value + MAX_VALUE_SIZE - strlen (remark);

      /* not inside a UTF-8 character */
      while (end > value && ((unsigned char) *end & 0xc0) == 0x80)
        end--;

      cut = g_string_new_len (value, end - value);
      g_string_append (cut, remark);
      value = cut->str;
    }

  /* A full disk is reported when the writer is flushed. */
  (void) sysprof_capture_writer_add_metadata (writer, SYSPROF_CAPTURE_CURRENT_TIME, -1, -1, key,
                                              value, -1);
}

static void
add_number (SysprofCaptureWriter *writer, const char *key, uint64_t number)
{
  char value[24];

  g_snprintf (value, sizeof value, "%" G_GUINT64_FORMAT, number);
  add (writer, key, value);
}

static void
add_host (SysprofCaptureWriter *writer)
{
  struct utsname name;
  struct sysinfo info;

  add_number (writer, "n-cpu", g_get_num_processors ());
  add_number (writer, "page-size", (uint64_t) sysconf (_SC_PAGESIZE));
  add_number (writer, "buffer-size", sysprof_capture_writer_get_buffer_size (writer));

  if (uname (&name) == 0)
    {
      add (writer, "uname.sysname", name.sysname);
      add (writer, "uname.release", name.release);
      add (writer, "uname.version", name.version);
      add (writer, "uname.machine", name.machine);
    }

  add (writer, "hostname", g_get_host_name ());

  if (sysinfo (&info) == 0)
    {
      const struct
      {
        const char *key;
        uint64_t number;
      } facts[] = {
        { "sysinfo.uptime", (uint64_t) info.uptime }, { "sysinfo.totalram", info.totalram },
        { "sysinfo.freeram", info.freeram },          { "sysinfo.sharedram", info.sharedram },
        { "sysinfo.bufferram", info.bufferram },      { "sysinfo.totalswap", info.totalswap },
        { "sysinfo.freeswap", info.freeswap },        { "sysinfo.procs", info.procs },
        { "sysinfo.totalhigh", info.totalhigh },      { "sysinfo.freehigh", info.freehigh },
        { "sysinfo.mem_unit", info.mem_unit },
      };

      for (size_t i = 0; i < G_N_ELEMENTS (facts); i++)
        add_number (writer, facts[i].key, facts[i].number);
    }
}

/* The boot ID shows which captures are from the same boot, and so have the same kernel at the
 * same address. */
static void
add_boot (SysprofCaptureWriter *writer, const char *build_id)
{
  g_autofree char *id = NULL;
  g_autofree char *value = NULL;

  if (!g_file_get_contents ("/proc/sys/kernel/random/boot_id", &id, NULL, NULL) ||
      g_strchomp (id)[0] == '\0')
    /* some containers hide it */
    return;
  value = g_strdup_printf ("%s %s", id, build_id != NULL ? build_id : "-");
  add (writer, CAPTURE_BOOT_ID, value);
}

/* Build IDs identify the debug files of the kernel, on any machine. */
static void
add_kernel_build_ids (SysprofCaptureWriter *writer)
{
  g_autofree char *kernel = sysprof_dup_kernel_build_id ();
  g_autofree char *modules = sysprof_dup_module_build_ids ();

  if (kernel != NULL)
    add (writer, "org.gnome.sysprof.kernel-build-id", kernel);
  if (modules != NULL)
    add (writer, "org.gnome.sysprof.module-build-ids", modules);
  add_boot (writer, kernel);
}

static void
add_session (SysprofCaptureWriter *writer)
{
  static const char *const variables[] = {
    "USER",     "DISPLAY", "WAYLAND_DISPLAY", "DESKTOP_SESSION",
    "HOSTTYPE", "OSTYPE",  "DEBUGINFOD_URLS",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (variables); i++)
    {
      const char *value = g_getenv (variables[i]);

      if (value != NULL)
        add (writer, variables[i], value);
    }
}

/* Each item is quoted for a shell and followed by a space, as other recorders do it. */
static char *
quote_all (const char *const *items)
{
  GString *text = g_string_new (NULL);

  for (size_t i = 0; items != NULL && items[i] != NULL; i++)
    {
      g_autofree char *quoted = g_shell_quote (items[i]);

      g_string_append (text, quoted);
      g_string_append_c (text, ' ');
    }
  return g_string_free (text, FALSE);
}

static void
add_program (SysprofCaptureWriter *writer, SysprofSpawnable *spawnable, bool record_environment)
{
  g_autofree char *argv = quote_all (sysprof_spawnable_get_argv (spawnable));
  g_autofree char *here = g_get_current_dir ();
  const char *cwd = sysprof_spawnable_get_cwd (spawnable);

  add (writer, "spawnable.cwd", cwd != NULL ? cwd : here);
  if (record_environment)
    {
      g_autofree char *environment = quote_all (sysprof_spawnable_get_environ (spawnable));

      add (writer, "spawnable.environ", environment);
    }
  add (writer, "spawnable.argv", argv);
}

static void
add_os_release (SysprofCaptureWriter *writer)
{
  autofd fd = open ("/etc/os-release", O_RDONLY | O_CLOEXEC);

  /* Not every system has this file. */
  if (fd >= 0)
    (void) sysprof_capture_writer_add_file_fd (writer, SYSPROF_CAPTURE_CURRENT_TIME, -1, -1,
                                               "/etc/os-release", fd);
}

void
sysprof_record_metadata_write (SysprofCaptureWriter *writer,
                               SysprofSpawnable *spawnable,
                               bool record_environment)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *capture_time = g_date_time_format_iso8601 (now);

  add (writer, "org.gnome.sysprof.app-id", APPLICATION_ID);
  add (writer, "org.gnome.sysprof.version", SYSPROF_VERSION_S);
  add (writer, "capture-time", capture_time);
  add_host (writer);
  add_kernel_build_ids (writer);
  add_session (writer);
  if (spawnable != NULL)
    add_program (writer, spawnable, record_environment);
  add_os_release (writer);
}
