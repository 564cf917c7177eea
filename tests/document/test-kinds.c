// SPDX-License-Identifier: GPL-3.0-or-later

/* Each kind of frame, and what is made of several, in a capture that was written without our writer (make-kinds.py).
 *
 * usage: test-kinds LITTLE BIG */

#include <sysprof.h>

#include <glib/gstdio.h>
#include <string.h>

static SysprofDocument *
load_with (const char *path, SysprofSymbolizer *symbolizer)
{
  g_autoptr (SysprofDocumentLoader) loader = sysprof_document_loader_new (path);
  g_autoptr (GListModel) tasks = sysprof_document_loader_list_tasks (loader);
  g_autoptr (GError) error = NULL;
  SysprofDocument *document;

  g_assert_true (g_list_model_get_item_type (tasks) == SYSPROF_TYPE_DOCUMENT_TASK);
  sysprof_document_loader_set_symbolizer (loader, symbolizer);
  document = sysprof_document_loader_load (loader, NULL, &error);
  g_assert_no_error (error);
  return document;
}

static void
keep_result (GObject *object, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

static void
count_notify (GObject *object, GParamSpec *pspec, gpointer data)
{
  ++*(guint *) data;
}

/* A load is a task that can be seen, and cancelled by who sees it; the caller's own cancellable does the same. */
static void
test_load_is_a_task (gconstpointer path)
{
  g_autoptr (SysprofDocumentLoader) loader = sysprof_document_loader_new (path);
  g_autoptr (GListModel) tasks = sysprof_document_loader_list_tasks (loader);

  for (guint way = 0; way < 3; way++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (SysprofDocumentTask) task = NULL;
      g_autoptr (SysprofDocument) document = NULL;
      g_autoptr (GAsyncResult) result = NULL;
      g_autoptr (GError) error = NULL;
      g_autofree char *title = NULL;
      guint n_notified = 0;

      g_assert_cmpuint (g_list_model_get_n_items (tasks), ==, 0);
      sysprof_document_loader_load_async (loader, cancellable, keep_result, &result);
      g_assert_cmpuint (g_list_model_get_n_items (tasks), ==, 1);
      task = g_list_model_get_item (tasks, 0);
      title = sysprof_document_task_dup_title (task);
      g_assert_true (g_str_has_prefix (title, "Loading '"));
      g_signal_connect (task, "notify::progress", G_CALLBACK (count_notify), &n_notified);
      if (way == 1)
        sysprof_document_task_cancel (task);
      if (way == 2)
        g_cancellable_cancel (cancellable);
      while (result == NULL || g_list_model_get_n_items (tasks) > 0)
        g_main_context_iteration (NULL, TRUE);
      document = sysprof_document_loader_load_finish (loader, result, &error);
      if (way == 0)
        {
          g_assert_no_error (error);
          g_assert_cmpfloat (sysprof_document_task_get_progress (task), ==, 1);
          g_assert_cmpuint (n_notified, >, 0);
        }
      else
        {
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
          g_assert_true (sysprof_document_task_is_cancelled (task));
        }
      g_signal_handlers_disconnect_by_func (task, count_notify, &n_notified);
    }
}

static SysprofDocument *
load (gconstpointer path)
{
  return load_with (path, sysprof_no_symbolizer_get ());
}

/* The only frame of its kind at `time`. */
static gpointer
frame_at (SysprofDocument *document, gint64 time)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (document)); i++)
    {
      g_autoptr (SysprofDocumentFrame) frame =
          g_list_model_get_item (G_LIST_MODEL (document), i);

      if (sysprof_document_frame_get_time (frame) == time)
        return g_steal_pointer (&frame);
    }
  g_assert_not_reached ();
}

static void
test_mappings (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (SysprofDocumentMmap) library = frame_at (document, 1001);
  g_autoptr (SysprofDocumentMmap) stack = frame_at (document, 1002);
  g_autofree char *tooltip =
      sysprof_document_frame_dup_tooltip (SYSPROF_DOCUMENT_FRAME (library));

  g_assert_cmphex (sysprof_document_mmap_get_start_address (library), ==, 0x10000);
  g_assert_cmphex (sysprof_document_mmap_get_end_address (library), ==, 0x20000);
  g_assert_cmphex (sysprof_document_mmap_get_file_offset (library), ==, 0x1000);
  g_assert_cmpuint (sysprof_document_mmap_get_file_inode (library), ==, 99);
  g_assert_cmpstr (sysprof_document_mmap_get_file (library), ==, "/usr/lib/libexample.so");
  g_assert_cmpstr (sysprof_document_mmap_get_build_id (library), ==, "abcdef0123");
  g_assert_null (sysprof_document_mmap_get_build_id (stack));
  g_assert_nonnull (strstr (tooltip, "libexample.so"));
}

static void
test_small_kinds (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (SysprofDocumentFork) fork = frame_at (document, 1003);
  g_autoptr (SysprofDocumentExit) exited = frame_at (document, 50000);
  g_autoptr (SysprofDocumentMetadata) metadata = frame_at (document, 1007);
  g_autoptr (SysprofDocumentLog) log = frame_at (document, 1008);
  g_autoptr (SysprofDocumentOverlay) overlay = frame_at (document, 1009);
  g_autoptr (GListModel) logs = sysprof_document_list_logs (document);
  g_autoptr (GListModel) all_metadata = sysprof_document_list_metadata (document);
  g_autofree char *tooltip = sysprof_document_frame_dup_tooltip (SYSPROF_DOCUMENT_FRAME (log));
  guint severity;

  g_assert_cmpint (sysprof_document_fork_get_child_pid (fork), ==, 11);
  g_assert_true (SYSPROF_IS_DOCUMENT_EXIT (exited));
  g_assert_cmpstr (sysprof_document_metadata_get_id (metadata), ==, "key");
  g_assert_cmpstr (sysprof_document_metadata_get_value (metadata), ==, "value \xc3\xa4");
  g_assert_cmpstr (sysprof_document_log_get_domain (log), ==, "domain");
  g_assert_cmpstr (sysprof_document_log_get_message (log), ==, "broken ? text");
  g_assert_cmpint (sysprof_document_log_get_severity (log), ==, G_LOG_LEVEL_WARNING);
  g_object_get (log, "severity", &severity, NULL);
  g_assert_cmpuint (severity, ==, G_LOG_LEVEL_WARNING);
  g_assert_true (g_str_has_suffix (tooltip, "domain: broken ? text"));
  g_assert_cmpuint (sysprof_document_overlay_get_layer (overlay), ==, 2);
  g_assert_cmpstr (sysprof_document_overlay_get_source (overlay), ==, "/over/diff");
  g_assert_cmpstr (sysprof_document_overlay_get_destination (overlay), ==, "/");
  g_assert_cmpuint (g_list_model_get_n_items (logs), ==, 1);
  g_assert_true (g_list_model_get_item_type (logs) == SYSPROF_TYPE_DOCUMENT_LOG);
  g_assert_cmpuint (g_list_model_get_n_items (all_metadata), ==, 1);
}

static void
test_names_and_counters (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (SysprofDocumentJitmap) jitmap = frame_at (document, 1004);
  g_autoptr (SysprofDocumentCtrdef) definitions = frame_at (document, 1005);
  g_autoptr (SysprofDocumentCtrset) values = frame_at (document, 1006);
  g_autoptr (GListModel) jitmaps = sysprof_document_list_jitmaps (document);
  guint64 address;
  guint id, type;
  const char *category, *name, *description;
  guint8 raw[8];
  gint64 integer;
  double real;

  g_assert_cmpuint (g_list_model_get_n_items (jitmaps), ==, 1);
  g_assert_cmpuint (sysprof_document_jitmap_get_size (jitmap), ==, 2);
  g_assert_cmpstr (sysprof_document_jitmap_get_mapping (jitmap, 1, &address), ==, "second");
  g_assert_cmphex (address, ==, G_GUINT64_CONSTANT (0xe000000000000002));
  g_assert_null (sysprof_document_jitmap_get_mapping (jitmap, 2, &address));

  g_assert_cmpuint (sysprof_document_ctrdef_get_n_counters (definitions), ==, 2);
  sysprof_document_ctrdef_get_counter (definitions, 0, &id, &type, &category, &name,
                                       &description);
  g_assert_cmpuint (id, ==, 3);
  g_assert_cmpuint (type, ==, 0);
  g_assert_cmpstr (category, ==, "Disk");
  g_assert_cmpstr (name, ==, "Reads");
  g_assert_cmpstr (description, ==, "of /dev/sda");
  sysprof_document_ctrdef_get_counter (definitions, 1, &id, &type, NULL, NULL, NULL);
  g_assert_cmpuint (id, ==, 4);
  g_assert_cmpuint (type, ==, 1);

  g_assert_cmpuint (sysprof_document_ctrset_get_n_values (values), ==, 2);
  sysprof_document_ctrset_get_raw_value (values, 0, &id, raw);
  memcpy (&integer, raw, sizeof integer);
  g_assert_cmpuint (id, ==, 3);
  g_assert_cmpint (integer, ==, 77);
  sysprof_document_ctrset_get_raw_value (values, 1, &id, raw);
  memcpy (&real, raw, sizeof real);
  g_assert_cmpuint (id, ==, 4);
  g_assert_cmpfloat (real, ==, 0.5);
  sysprof_document_ctrset_get_raw_value (values, 2, &id, raw);
  g_assert_cmpuint (id, ==, 0);
}

static void
test_dbus (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (GListModel) messages = sysprof_document_list_dbus_messages (document);
  g_autoptr (SysprofDocumentDBusMessage) call = g_list_model_get_item (messages, 0);
  g_autoptr (SysprofDocumentDBusMessage) none = g_list_model_get_item (messages, 1);
  g_autoptr (GDBusMessage) message = sysprof_document_dbus_message_dup_message (call);
  g_autofree char *text = sysprof_document_dbus_message_dup_string (call);
  guint length;

  g_assert_cmpuint (g_list_model_get_n_items (messages), ==, 2);
  g_assert_cmpint (sysprof_document_dbus_message_get_bus_type (call), ==, G_BUS_TYPE_SESSION);
  g_assert_cmpint (sysprof_document_dbus_message_get_message_type (call), ==,
                   G_DBUS_MESSAGE_TYPE_METHOD_CALL);
  g_assert_cmpint (sysprof_document_dbus_message_get_flags (call), ==,
                   G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED);
  g_assert_cmpuint (sysprof_document_dbus_message_get_serial (call), ==, 7);
  g_assert_cmpuint (sysprof_document_dbus_message_get_reply_serial (call), ==, 0);
  g_assert_cmpstr (sysprof_document_dbus_message_get_path (call), ==, "/org/example");
  g_assert_cmpstr (sysprof_document_dbus_message_get_interface (call), ==, "org.example.Face");
  g_assert_cmpstr (sysprof_document_dbus_message_get_member (call), ==, "Look");
  g_assert_cmpstr (sysprof_document_dbus_message_get_destination (call), ==,
                   "org.example.Target");
  g_assert_cmpstr (sysprof_document_dbus_message_get_sender (call), ==, ":1.5");
  g_assert_cmpstr (sysprof_document_dbus_message_get_signature (call), ==, "s");
  g_assert_cmpstr (g_dbus_message_get_arg0 (message), ==, "hello");
  g_assert_nonnull (strstr (text, "hello"));
  g_assert_nonnull (sysprof_document_dbus_message_get_message_data (call, &length));
  g_assert_cmpuint (length, ==, sysprof_document_dbus_message_get_message_length (call));

  g_assert_cmpuint (sysprof_document_dbus_message_get_message_length (none), ==, 10);
  g_assert_null (sysprof_document_dbus_message_dup_message (none));
  g_assert_null (sysprof_document_dbus_message_get_member (none));
  g_assert_null (sysprof_document_dbus_message_dup_string (none));
  g_assert_cmpuint (sysprof_document_dbus_message_get_serial (none), ==, 0);
}

/* The property has the same frames as the list that its getter returned. */
static void
assert_list_property (SysprofDocument *document, const char *name, GListModel *expected)
{
  g_autoptr (GListModel) list = NULL;

  g_object_get (document, name, &list, NULL);
  g_assert_cmpuint (g_list_model_get_n_items (list), ==, g_list_model_get_n_items (expected));
  for (guint i = 0; i < g_list_model_get_n_items (list); i++)
    {
      g_autoptr (SysprofDocumentFrame) got = g_list_model_get_item (list, i);
      g_autoptr (SysprofDocumentFrame) wanted = g_list_model_get_item (expected, i);

      g_assert_true (sysprof_document_frame_equal (got, wanted));
    }
}

static void
test_stacks (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (GListModel) allocations = sysprof_document_list_allocations (document);
  g_autoptr (GListModel) traceables = sysprof_document_list_traceables (document);
  g_autoptr (GListModel) with = sysprof_document_list_samples_with_context_switch (document);
  g_autoptr (GListModel) without =
      sysprof_document_list_samples_without_context_switch (document);
  g_autoptr (SysprofDocumentAllocation) given = g_list_model_get_item (allocations, 0);
  g_autoptr (SysprofDocumentAllocation) freed = g_list_model_get_item (allocations, 1);
  g_autoptr (SysprofDocumentTraceable) trace = g_list_model_get_item (traceables, 2);
  guint depth;
  int thread;

  g_assert_cmpuint (g_list_model_get_n_items (allocations), ==, 2);
  g_assert_cmphex (sysprof_document_allocation_get_address (given), ==, 0x5000);
  g_assert_cmpint (sysprof_document_allocation_get_size (given), ==, 64);
  g_assert_cmpint (sysprof_document_allocation_get_tid (given), ==, 12);
  g_assert_false (sysprof_document_allocation_is_free (given));
  g_assert_true (sysprof_document_allocation_is_free (freed));
  g_object_get (given, "stack-depth", &depth, "thread-id", &thread, NULL);
  g_assert_cmpuint (depth, ==, 2);
  g_assert_cmpint (thread, ==, 12);

  g_assert_cmpuint (g_list_model_get_n_items (traceables), ==, 5);
  g_assert_true (SYSPROF_IS_DOCUMENT_TRACEABLE (trace));
  g_assert_cmpint (sysprof_document_traceable_get_thread_id (trace), ==, 10);
  g_assert_cmphex (sysprof_document_traceable_get_stack_address (trace, 0), ==, 0x10040);
  g_assert_cmpuint (g_list_model_get_n_items (with), ==, 1);
  g_assert_cmpuint (g_list_model_get_n_items (without), ==, 1);
  assert_list_property (document, "samples-with-context-switch", with);
  assert_list_property (document, "samples-without-context-switch", without);
}

static void
test_process (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (GListModel) processes = sysprof_document_list_processes (document);
  g_autoptr (SysprofDocumentProcess) process = sysprof_document_lookup_process (document, 10);
  g_autoptr (GListModel) maps = sysprof_document_process_list_memory_maps (process);
  g_autoptr (GListModel) mounts = sysprof_document_process_list_mounts (process);
  g_autoptr (GListModel) threads = sysprof_document_process_list_threads (process);
  g_autoptr (SysprofMount) mount = g_list_model_get_item (mounts, 1);
  g_autoptr (SysprofThreadInfo) main_thread = g_list_model_get_item (threads, 0);
  g_autoptr (SysprofThreadInfo) other_thread = g_list_model_get_item (threads, 2);
  g_autofree char *title = sysprof_document_process_dup_title (process);
  g_autofree char *user = sysprof_mount_get_superblock_option (mount, "user_id");
  g_autofree char *plain = sysprof_mount_get_superblock_option (mount, "rw");

  g_assert_cmpuint (g_list_model_get_n_items (processes), >=, 1);
  g_assert_null (sysprof_document_lookup_process (document, 4711));
  g_assert_cmpstr (sysprof_document_process_get_command_line (process), ==,
                   "/usr/bin/example --run");
  g_assert_cmpint (sysprof_document_process_get_exit_time (process), ==, 50000);
  g_assert_cmpint (sysprof_document_process_get_duration (process), ==, 49000);
  g_assert_cmpstr (title, ==, "example [10]");

  g_assert_cmpuint (g_list_model_get_n_items (maps), ==, 2);
  g_assert_cmpuint (g_list_model_get_n_items (mounts), ==, 2);
  g_assert_cmpint (sysprof_mount_get_mount_id (mount), ==, 36);
  g_assert_cmpint (sysprof_mount_get_parent_mount_id (mount), ==, 22);
  g_assert_cmpint (sysprof_mount_get_device_major (mount), ==, 98);
  g_assert_cmpint (sysprof_mount_get_device_minor (mount), ==, 7);
  g_assert_cmpstr (sysprof_mount_get_root (mount), ==, "/a b");
  g_assert_cmpstr (sysprof_mount_get_mount_point (mount), ==, "/mnt/with blank");
  g_assert_cmpstr (sysprof_mount_get_filesystem_type (mount), ==, "fuse.portal");
  g_assert_cmpstr (sysprof_mount_get_mount_source (mount), ==, "portal");
  g_assert_cmpstr (sysprof_mount_get_superblock_options (mount), ==, "rw,user_id=1000");
  g_assert_cmpstr (user, ==, "1000");
  g_assert_cmpstr (plain, ==, "");
  g_assert_null (sysprof_mount_get_superblock_option (mount, "user"));

  /* A PID that was forked and never described is a thread. */
  g_assert_cmpuint (g_list_model_get_n_items (threads), ==, 3);
  g_assert_cmpint (sysprof_thread_info_get_thread_id (main_thread), ==, 10);
  g_assert_true (sysprof_thread_info_is_main_thread (main_thread));
  g_assert_cmpint (sysprof_thread_info_get_thread_id (other_thread), ==, 12);
  g_assert_false (sysprof_thread_info_is_main_thread (other_thread));
  g_assert_true (sysprof_thread_info_get_process (other_thread) == process);
  g_assert_null (sysprof_thread_info_dup_name (other_thread)); /* it has no names of threads */
}

static void
test_processors (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (GListModel) cpus = sysprof_document_list_cpu_info (document);
  g_autoptr (SysprofCpuInfo) first = g_list_model_get_item (cpus, 0);
  g_autoptr (SysprofCpuInfo) second = g_list_model_get_item (cpus, 1);

  g_assert_cmpuint (g_list_model_get_n_items (cpus), ==, 2);
  g_assert_cmpuint (sysprof_cpu_info_get_id (second), ==, 1);
  g_assert_cmpuint (sysprof_cpu_info_get_core_id (second), ==, 4);
  g_assert_cmpstr (sysprof_cpu_info_get_model_name (first), ==, "Example CPU @ 3 GHz");
  g_assert_null (sysprof_cpu_info_get_model_name (second));
}

static void
test_files (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (GListModel) files = sysprof_document_list_files (document);
  g_autoptr (SysprofDocumentFile) two = sysprof_document_lookup_file (document, "two.txt");
  g_autoptr (SysprofDocumentFile) packed =
      sysprof_document_lookup_file (document, "packed.txt");
  g_autoptr (SysprofDocumentFileChunk) chunk = frame_at (document, 1019);
  g_autoptr (GBytes) bytes = sysprof_document_file_dup_bytes (two);
  g_autoptr (GInputStream) stream = sysprof_document_file_read (packed);
  char text[32] = { 0 };
  guint size;

  g_assert_cmpuint (g_list_model_get_n_items (files), ==, 4);
  g_assert_null (sysprof_document_lookup_file (document, "two"));
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "one, two", 8);
  g_assert_cmpuint (sysprof_document_file_get_size (two), ==, 8);
  g_assert_false (sysprof_document_file_is_compressed (two));

  g_assert_cmpstr (sysprof_document_file_get_path (packed), ==, "packed.txt");
  g_assert_true (sysprof_document_file_is_compressed (packed));
  g_assert_cmpuint (sysprof_document_file_get_size (packed), ==, 1000);
  g_assert_cmpint (g_input_stream_read (stream, text, 20, NULL, NULL), ==, 20);
  g_assert_cmpstr (text, ==, "was packedwas packed");

  g_assert_cmpstr (sysprof_document_file_chunk_get_path (chunk), ==, "two.txt");
  g_assert_false (sysprof_document_file_chunk_get_is_last (chunk));
  g_assert_cmpmem (sysprof_document_file_chunk_get_data (chunk, &size), 5, "one, ", 5);
  g_assert_cmpuint (size, ==, 5);
  g_assert_cmpuint (sysprof_document_file_chunk_get_size (chunk), ==, 5);
}

static void
test_catalogues (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (GListModel) groups = sysprof_document_catalog_marks (document);
  g_autoptr (GListModel) second = g_list_model_get_item (groups, 1);
  g_autoptr (SysprofMarkCatalog) catalog = g_list_model_get_item (second, 0);
  g_autoptr (SysprofDocumentMark) last = g_list_model_get_item (G_LIST_MODEL (catalog), 3);
  g_autoptr (GListModel) of_group = sysprof_document_list_marks_by_group (document, "b");
  g_autoptr (GListModel) of_none = sysprof_document_list_marks_by_group (document, "c");

  g_assert_cmpuint (g_list_model_get_n_items (groups), ==, 2);
  g_assert_cmpuint (g_list_model_get_n_items (second), ==, 2);
  g_assert_cmpstr (sysprof_mark_catalog_get_group (catalog), ==, "b");
  g_assert_cmpstr (sysprof_mark_catalog_get_name (catalog), ==, "y");
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (catalog)), ==, 4);
  g_assert_cmpint (sysprof_document_mark_get_duration (last), ==, 60);
  g_assert_cmpint (sysprof_mark_catalog_get_min_duration (catalog), ==, 10);
  g_assert_cmpint (sysprof_mark_catalog_get_max_duration (catalog), ==, 60);
  g_assert_cmpint (sysprof_mark_catalog_get_average_duration (catalog), ==, 30);
  g_assert_cmpint (sysprof_mark_catalog_get_median_duration (catalog), ==, 20);
  g_assert_cmpuint (g_list_model_get_n_items (of_group), ==, 5);
  g_assert_cmpuint (g_list_model_get_n_items (of_none), ==, 0);
}

static void
assert_column (SysprofDocument *document,
               GListModel *frames,
               SysprofDocumentColumn column,
               const gint64 *expected)
{
  g_autoptr (GBytes) bytes = sysprof_document_dup_column (document, frames, column);
  gsize size;
  gconstpointer got = g_bytes_get_data (bytes, &size);

  g_assert_cmpmem (got, size, expected, g_list_model_get_n_items (frames) * sizeof (gint64));
}

static void
test_columns (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (GListModel) traceables = sysprof_document_list_traceables (document);
  g_autoptr (GListModel) marks = sysprof_document_list_marks (document);
  g_autoptr (GListModel) samples = sysprof_document_list_samples (document);
  g_autoptr (GListModel) with = sysprof_document_list_samples_with_context_switch (document);
  g_autoptr (GListModel) common = sysprof_document_intersect (document, traceables, with);
  g_autoptr (GListModel) all =
      sysprof_document_intersect (document, G_LIST_MODEL (document), samples);
  g_autoptr (GListModel) none = sysprof_document_intersect (document, marks, samples);
  g_autoptr (SysprofDocumentFrame) only = g_list_model_get_item (common, 0);
  g_autoptr (SysprofDocumentCounter) reads =
      sysprof_document_find_counter (document, "Disk", "Reads");
  g_autoptr (GBytes) times = sysprof_document_counter_dup_times (reads);
  g_autoptr (GBytes) values = sysprof_document_counter_dup_values (reads);
  g_autoptr (GBytes) spans = sysprof_document_dup_spans (document, marks);
  const gint64 *span = g_bytes_get_data (spans, NULL);

  assert_column (document, traceables, SYSPROF_DOCUMENT_COLUMN_TIME,
                 (gint64[]){ 1012, 1013, 1014, 1015, 1016 });
  assert_column (document, traceables, SYSPROF_DOCUMENT_COLUMN_PID,
                 (gint64[]){ 10, 10, 10, 10, 10 });
  assert_column (document, traceables, SYSPROF_DOCUMENT_COLUMN_CPU,
                 (gint64[]){ -1, -1, -1, -1, -1 });
  assert_column (document, traceables, SYSPROF_DOCUMENT_COLUMN_SIZE,
                 (gint64[]){ 64, 0, 0, 0, 0 });
  assert_column (document, traceables, SYSPROF_DOCUMENT_COLUMN_WEIGHT,
                 (gint64[]){ 1, 1, 1, 1, 1 });
  assert_column (document, samples, SYSPROF_DOCUMENT_COLUMN_TID, (gint64[]){ 12, 10 });
  assert_column (document, samples, SYSPROF_DOCUMENT_COLUMN_DEPTH, (gint64[]){ 2, 1 });
  assert_column (document, marks, SYSPROF_DOCUMENT_COLUMN_DURATION,
                 (gint64[]){ 10, 30, 20, 0, 60, 5 });

  g_assert_cmpuint (g_list_model_get_n_items (common), ==, 1);
  g_assert_cmpint (sysprof_document_frame_get_time (only), ==, 1015);
  g_assert_cmpuint (g_list_model_get_n_items (all), ==, 2);
  g_assert_cmpuint (g_list_model_get_n_items (none), ==, 0);

  g_assert_cmpmem (g_bytes_get_data (times, NULL), g_bytes_get_size (times),
                   ((gint64[]){ 1006 }), 8);
  g_assert_cmpmem (g_bytes_get_data (values, NULL), g_bytes_get_size (values),
                   ((gint64[]){ 77 }), 8);
  g_assert_cmpuint (g_bytes_get_size (spans), ==, 6 * 16);
  g_assert_cmpint (span[2], ==, 2001);
  g_assert_cmpint (span[3], ==, 2031);
}

static GAsyncResult *
wait_for (GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return *result;
}

static void
test_saves (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autofree char *copy = g_dir_make_tmp ("saved-XXXXXX", NULL);
  g_autofree char *name = g_build_filename (copy, "copy.syscap", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (name);
  g_autoptr (GFile) nowhere = g_file_new_for_path ("/no/such/directory/copy.syscap");
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GAsyncResult) failed = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *expected = NULL;
  g_autofree char *got = NULL;
  gsize n_expected, n_got;

  sysprof_document_save_async (document, file, NULL, keep_result, &result);
  g_assert_true (sysprof_document_get_busy (document));
  g_assert_true (sysprof_document_save_finish (document, wait_for (&result), &error));
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (path, &expected, &n_expected, NULL));
  g_assert_true (g_file_get_contents (name, &got, &n_got, NULL));
  g_assert_cmpmem (got, n_got, expected, n_expected);

  sysprof_document_save_async (document, nowhere, NULL, keep_result, &failed);
  g_assert_false (sysprof_document_save_finish (document, wait_for (&failed), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_nonnull (strstr (error->message, "/no/such/directory/copy.syscap"));

  (void) g_unlink (name); /* in a temporary directory */
  (void) g_rmdir (copy);
}

/* A canceled reader has either the old rows or all rows, and no other ones. */
static void
test_saves_all_or_nothing (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autofree char *directory = g_dir_make_tmp ("saved-XXXXXX", NULL);
  g_autofree char *name = g_build_filename (directory, "copy.syscap", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (name);
  g_autofree char *expected = NULL;
  gsize n_expected;

  g_assert_true (g_file_get_contents (path, &expected, &n_expected, NULL));
  for (int round = 0; round < 8; round++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GAsyncResult) result = NULL;
      g_autoptr (GError) error = NULL;
      g_autofree char *got = NULL;
      gsize n_got;
      gboolean is_saved;

      g_assert_true (g_file_set_contents (name, "before", -1, NULL));
      if (round == 0)
        g_cancellable_cancel (cancellable);
      sysprof_document_save_async (document, file, cancellable, keep_result, &result);
      g_cancellable_cancel (cancellable);
      is_saved = sysprof_document_save_finish (document, wait_for (&result), &error);
      g_assert_true (g_file_get_contents (name, &got, &n_got, NULL));
      if (is_saved)
        g_assert_cmpmem (got, n_got, expected, n_expected);
      else
        {
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
          g_assert_cmpstr (got, ==, "before");
        }
      g_assert_true (round > 0 || !is_saved);
    }

  g_assert_cmpint (g_unlink (name), ==, 0);
  g_assert_cmpint (g_rmdir (directory), ==, 0); /* nothing else is in it */
}

/* Memory that was freed has a stack, too; its size is that of the allocation. */
static void
test_graph_of_allocations (gconstpointer path)
{
  g_autoptr (SysprofDocument) document = load (path);
  g_autoptr (GListModel) allocations = sysprof_document_list_allocations (document);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (SysprofCallgraph) callgraph = NULL;
  g_autoptr (SysprofCallgraphFrame) root = NULL;
  g_autoptr (GBytes) nodes = NULL;
  const gint64 *node;

  sysprof_document_callgraph_async (document, SYSPROF_CALLGRAPH_FLAGS_NONE, allocations, 0,
                                    NULL, NULL, NULL, NULL, keep_result, &result);
  callgraph = sysprof_document_callgraph_finish (document, wait_for (&result), NULL);
  root = g_list_model_get_item (G_LIST_MODEL (callgraph), 0);
  g_assert_cmpuint (sysprof_callgraph_frame_get_total (root), ==, 2);
  g_assert_cmpint (sysprof_callgraph_frame_sum_total (root, SYSPROF_DOCUMENT_COLUMN_SIZE), ==,
                   64);
  g_assert_cmpint (sysprof_callgraph_frame_sum_self (root, SYSPROF_DOCUMENT_COLUMN_SIZE), ==,
                   0);
  g_assert_null (sysprof_callgraph_frame_get_augment (root));

  /* The root, the process, two functions of the one stack and one of the other. */
  nodes = sysprof_callgraph_frame_dup_nodes (root, SYSPROF_DOCUMENT_COLUMN_SIZE);
  node = g_bytes_get_data (nodes, NULL);
  g_assert_cmpuint (g_bytes_get_size (nodes), ==, 5 * 32);
  g_assert_cmpint (node[0], ==, -1);
  g_assert_cmpint (node[3], ==, 64);
  g_assert_cmpint (node[4], ==, 0);
  g_assert_cmpstr (
      sysprof_symbol_get_name (sysprof_document_get_nth_symbol (document, (guint) node[5])), ==,
      "[example]");
  g_assert_cmpint (node[8], ==, 1);
  g_assert_null (sysprof_document_get_nth_symbol (document, 0));
}

static const char *
innermost_name (SysprofDocument *document)
{
  g_autoptr (GListModel) samples = sysprof_document_list_samples (document);
  g_autoptr (SysprofDocumentTraceable) sample = g_list_model_get_item (samples, 0);
  SysprofSymbol *symbols[1];

  g_assert_cmpuint (sysprof_document_symbolize_traceable (document, sample, symbols, 1, NULL),
                    ==, 1);
  return sysprof_symbol_get_name (symbols[0]);
}

static void
test_symbolizers (gconstpointer path)
{
  static const char list[] = "ffffffff81000000 T some_function\nffffffff81000100 T another\n";
  g_autoptr (GInputStream) stream =
      g_memory_input_stream_new_from_data (list, sizeof list - 1, NULL);
  g_autoptr (SysprofMultiSymbolizer) several = sysprof_multi_symbolizer_new ();
  g_autoptr (SysprofSymbolizer) elf = sysprof_elf_symbolizer_new ();
  g_autoptr (SysprofSymbolizer) jit = sysprof_jitmap_symbolizer_new ();
  const char *const dirs[] = { "/a", "/b", NULL };
  g_autoptr (SysprofDocument) named = NULL;
  g_autoptr (SysprofDocument) unnamed = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GBytes) table = NULL;
  g_autoptr (GError) error = NULL;

  sysprof_multi_symbolizer_take (several, sysprof_bundled_symbolizer_new ());
  sysprof_multi_symbolizer_take (several, sysprof_kallsyms_symbolizer_new_for_symbols (stream));
  named = load_with (path, SYSPROF_SYMBOLIZER (several));
  g_assert_cmpstr (innermost_name (named), ==, "some_function");
  unnamed = load_with (path, jit);
  g_assert_cmpstr (innermost_name (unnamed), !=, "some_function");

  sysprof_document_serialize_symbols_async (named, NULL, keep_result, &result);
  table = sysprof_document_serialize_symbols_finish (named, wait_for (&result), &error);
  g_assert_no_error (error);
  g_assert_nonnull (memmem (g_bytes_get_data (table, NULL), g_bytes_get_size (table),
                            "some_function", strlen ("some_function")));

  g_assert_null (sysprof_elf_symbolizer_get_debug_dirs (SYSPROF_ELF_SYMBOLIZER (elf)));
  sysprof_elf_symbolizer_set_debug_dirs (SYSPROF_ELF_SYMBOLIZER (elf), dirs);
  sysprof_elf_symbolizer_set_external_debug_dirs (SYSPROF_ELF_SYMBOLIZER (elf), dirs + 1);
  g_assert_cmpstrv (sysprof_elf_symbolizer_get_debug_dirs (SYSPROF_ELF_SYMBOLIZER (elf)), dirs);
  g_assert_cmpstrv (
      sysprof_elf_symbolizer_get_external_debug_dirs (SYSPROF_ELF_SYMBOLIZER (elf)), dirs + 1);

  g_unsetenv ("DEBUGINFOD_URLS");
  g_assert_null (sysprof_debuginfod_symbolizer_new (&error));
  g_assert_nonnull (error);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    GTestDataFunc test;
  } tests[] = {
    { "load-is-a-task", test_load_is_a_task },
    { "mappings", test_mappings },
    { "small-kinds", test_small_kinds },
    { "names-and-counters", test_names_and_counters },
    { "dbus", test_dbus },
    { "stacks", test_stacks },
    { "process", test_process },
    { "processors", test_processors },
    { "files", test_files },
    { "catalogues", test_catalogues },
    { "columns", test_columns },
    { "saves", test_saves },
    { "saves-all-or-nothing", test_saves_all_or_nothing },
    { "graph-of-allocations", test_graph_of_allocations },
    { "symbolizers", test_symbolizers },
  };

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 3);
  for (size_t i = 0; i < G_N_ELEMENTS (tests); i++)
    for (int order = 0; order < 2; order++)
      {
        g_autofree char *name =
            g_strdup_printf ("/kinds/%s/%s", order == 0 ? "little" : "big", tests[i].name);

        g_test_add_data_func (name, argv[1 + order], tests[i].test);
      }
  return g_test_run ();
}
