// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes the public documents with a capture of any bytes. It uses all data that are parsed on
 * first use: mount tables, descriptions of CPUs, groups of processes, bodies of D-Bus messages,
 * names of files. */

#include "document/document.h"
#include "fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

static void
check_text (const char *text)
{
  g_assert_true (text == NULL || g_utf8_validate (text, -1, NULL));
}

static void
take_text (char *text)
{
  check_text (text);
  g_free (text);
}

static void
look_at_mount (gpointer item)
{
  check_text (sysprof_mount_get_root (item));
  check_text (sysprof_mount_get_mount_point (item));
  check_text (sysprof_mount_get_mount_source (item));
  check_text (sysprof_mount_get_filesystem_type (item));
  check_text (sysprof_mount_get_superblock_options (item));
  take_text (sysprof_mount_get_superblock_option (item, "lowerdir"));
}

static void
look_at_cpu (gpointer item)
{
  check_text (sysprof_cpu_info_get_model_name (item));
}

/* Takes the list. */
static void
for_each (GListModel *items, void (*look) (gpointer item))
{
  guint n = g_list_model_get_n_items (items);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GObject) item = g_list_model_get_item (items, i);

      look (item);
    }
  g_object_unref (items);
}

static void
look_at_process (gpointer item)
{
  take_text (sysprof_document_process_dup_title (item));
  for_each (sysprof_document_process_list_mounts (item), look_at_mount);
}

static void
look_at_message (gpointer item)
{
  GDBusMessage *message = sysprof_document_dbus_message_dup_message (item);

  g_clear_object (&message);
  take_text (sysprof_document_dbus_message_dup_string (item));
  check_text (sysprof_document_dbus_message_get_member (item));
  check_text (sysprof_document_dbus_message_get_sender (item));
}

static void
look_at_file (gpointer item)
{
  g_autoptr (GBytes) bytes = sysprof_document_file_dup_bytes (item);

  check_text (sysprof_document_file_get_path (item));
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, sysprof_document_file_get_size (item));
}

static void
look_at_frame (gpointer item)
{
  take_text (sysprof_document_frame_dup_tooltip (item));
}

static void
look_at_counter (gpointer item)
{
  take_text (sysprof_document_counter_dup_key (item));
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  SymbolizeOptions options = { .sysroot = "/nonexistent" }; /* this machine plays no part */
  autofd fd = memfd_create ("fuzz-document", MFD_CLOEXEC);
  g_autoptr (SysprofDocumentLoader) loader = NULL;
  g_autoptr (SysprofDocument) document = NULL;
  g_auto (GStrv) cgroups = NULL;

  if (fd < 0 || write (fd, bytes, size) != (ssize_t) size)
    return 0;
  loader = sysprof_document_loader_new_for_fd (fd, NULL);
  sysprof_document_loader_set_symbolize_options (loader, &options);
  document = sysprof_document_loader_load (loader, NULL, NULL);
  if (document == NULL)
    return 0;

  take_text (sysprof_document_dup_title (document));
  for_each (sysprof_document_list_processes (document), look_at_process);
  for_each (sysprof_document_list_cpu_info (document), look_at_cpu);
  for_each (sysprof_document_list_dbus_messages (document), look_at_message);
  for_each (sysprof_document_list_files (document), look_at_file);
  for_each (sysprof_document_list_counters (document), look_at_counter);
  for_each (G_LIST_MODEL (g_object_ref (document)), look_at_frame);
  cgroups = sysprof_store_dup_cgroups (sysprof_document_get_store (document));
  return 0;
}
