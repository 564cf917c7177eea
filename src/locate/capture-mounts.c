// SPDX-License-Identifier: GPL-3.0-or-later

/* A capture does not have all data of every process. A mount table is recorded once per mount
 * namespace. Of a process that exited before it could be inspected, only its parent is known.
 * So this file takes the mount table from another process of the same namespace, and a process
 * without any data uses that of its parent. */

#include "locate/capture-mounts.h"

#include "locate/container-storage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_ANCESTORS    16
#define HOST_IN_CONTAINER "/var/run/host"

typedef struct
{
  const MountTable *table; /* borrowed; NULL = unknown */
  GArray *layers;          /* of OverlayLayer; borrowed; NULL = none */
  GBytes *flatpak_info;    /* NULL = none */
  char *root; /* as seen in its mount namespace; NULL = the root of the namespace, or unknown */
} ProcessMounts;

struct CaptureMounts
{
  const LocateOptions *options;
  MountTable *own;
  const char *host_prefix;
  GHashTable *of_process;   /* ProcessId → ProcessMounts */
  GHashTable *by_namespace; /* its inode → MountTable */
  GPtrArray *tables;        /* of MountTable: owns all of them */
  GHashTable *layers;       /* pid → GArray of OverlayLayer */
  ContainerStorage storage;
  bool has_read_namespaces;
};

static void
free_process (void *data)
{
  ProcessMounts *mounts = data;

  g_clear_pointer (&mounts->flatpak_info, g_bytes_unref);
  g_free (mounts->root);
  g_free (mounts);
}

static void
clear_layer (void *data)
{
  OverlayLayer *layer = data;

  g_free (layer->source);
  g_free (layer->target);
}

/* --- texts --- */

static Text
text_of (GBytes *bytes)
{
  gsize size = 0;
  const char *at = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;

  return (Text){ at, at != NULL ? at + size : NULL };
}

/* Returns an embedded file of that process, or NULL if there is none that can be read. */
static GBytes *
read_file (const CaptureMounts *self, int32_t pid, const char *name)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/%s", pid, name);

  return sysprof_store_read_file (self->options->store, path, NULL);
}

static MountTable *
read_own_table (void)
{
  g_autofree char *text = NULL;
  gsize size = 0;

  if (!g_file_get_contents ("/proc/self/mountinfo", &text, &size, NULL))
    return sysprof_mount_table_new ((Text){ "", "" });
  return sysprof_mount_table_new ((Text){ text, text + size });
}

/* --- tables of mounts --- */

/* Returns 0 if unknown. */
static uint64_t
read_namespace (const CaptureMounts *self, int32_t pid)
{
  g_autoptr (GBytes) bytes = read_file (self, pid, "ns");
  Text text = text_of (bytes), line;
  uint64_t inode;

  while (text.at != NULL && sysprof_text_next_line (&text, &line))
    if (sysprof_text_skip (&line, "mnt ") && sysprof_text_u64 (&line, &inode))
      return inode;
  return 0;
}

/* Returns NULL if the capture has no table of that process. */
static const MountTable *
read_table (CaptureMounts *self, int32_t pid)
{
  g_autoptr (GBytes) bytes = read_file (self, pid, "mountinfo");
  MountTable *table;

  if (bytes == NULL)
    return NULL;

  table = sysprof_mount_table_new (text_of (bytes));
  g_ptr_array_add (self->tables, table);
  return table;
}

static void
add_namespace (CaptureMounts *self, uint64_t inode, const MountTable *table)
{
  if (inode != 0 && table != NULL && !g_hash_table_contains (self->by_namespace, &inode))
    g_hash_table_insert (self->by_namespace, g_memdup2 (&inode, sizeof inode), (void *) table);
}

/* Assigns tables to namespaces. This runs only when a table is requested that is not known
 * yet. */
static void
read_namespaces (CaptureMounts *self)
{
  const Store *store = self->options->store;

  if (self->has_read_namespaces)
    return;

  self->has_read_namespaces = true;
  for (uint32_t i = 0; i < store->files.n; i++)
    {
      const char *name = sysprof_store_string (store, store->files.row[i].name);
      uint64_t inode;
      int32_t pid;
      int end = 0;

      if (sscanf (name, "/proc/%d/mountinfo%n", &pid, &end) != 1 || end == 0 ||
          (name[end] != '\0' && strcmp (name + end, ".gz") != 0))
        continue;
      inode = read_namespace (self, pid);
      if (inode != 0 && !g_hash_table_contains (self->by_namespace, &inode))
        add_namespace (self, inode, read_table (self, pid));
    }
}

/* Another process of the namespace has the same table, unless one of them has a different root.
 * So the process's own table is tried first. */
static const MountTable *
find_table (CaptureMounts *self, int32_t pid)
{
  uint64_t inode = read_namespace (self, pid);
  const MountTable *table = read_table (self, pid);

  if (table == NULL && inode != 0)
    {
      read_namespaces (self);
      table = g_hash_table_lookup (self->by_namespace, &inode);
    }
  add_namespace (self, inode, table);
  return table;
}

/* --- layers --- */

static int
compare_layers (const void *a, const void *b)
{
  const OverlayLayer *left = a, *right = b;
  size_t left_length = strlen (left->target), right_length = strlen (right->target);

  if (left_length != right_length)
    return left_length > right_length ? -1 : 1;
  return (int) left->layer - (int) right->layer;
}

static void
read_layers (CaptureMounts *self)
{
  const Store *store = self->options->store;
  GHashTableIter iter;
  void *layers;

  for (uint32_t i = 0; i < sysprof_store_count_overlays (store); i++)
    {
      OverlayLayer layer;
      Overlay overlay;

      if (!sysprof_store_read_overlay (store, i, &overlay))
        continue;
      layers = g_hash_table_lookup (self->layers, GINT_TO_POINTER (overlay.pid));
      if (layers == NULL)
        {
          layers = g_array_new (FALSE, FALSE, sizeof (OverlayLayer));
          g_array_set_clear_func (layers, clear_layer);
          g_hash_table_insert (self->layers, GINT_TO_POINTER (overlay.pid), layers);
        }
      layer = (OverlayLayer){
        .source = g_strndup (overlay.source.at, sysprof_text_size (overlay.source)),
        .target = g_strndup (overlay.target.at, sysprof_text_size (overlay.target)),
        .layer = overlay.layer,
      };
      g_array_append_val ((GArray *) layers, layer);
    }

  g_hash_table_iter_init (&iter, self->layers);
  while (g_hash_table_iter_next (&iter, NULL, &layers))
    g_array_sort (layers, compare_layers);
}

/* --- processes --- */

/* For a container whose mounts do not name their layers. Returns NULL if there are none, or
 * they are unknown. */
static GArray *
find_stored_layers (CaptureMounts *self, int32_t pid)
{
  g_autoptr (GBytes) cgroup = read_file (self, pid, "cgroup");

  return cgroup != NULL ? sysprof_container_storage_find (&self->storage, text_of (cgroup))
                        : NULL;
}

/* Returns NULL if the process has the root of its namespace, or the capture does not record
 * it. */
static char *
read_root (const CaptureMounts *self, int32_t pid)
{
  g_autoptr (GBytes) bytes = read_file (self, pid, "root-path");
  Text text = text_of (bytes);
  g_autofree char *root =
      text.at != NULL ? g_strndup (text.at, sysprof_text_size (text)) : NULL;

  return root != NULL && root[0] == '/' && root[1] != 0 ? g_steal_pointer (&root) : NULL;
}

static ProcessMounts *
read_process (CaptureMounts *self, ProcessId process)
{
  const Process *row = &self->options->store->processes.row[process];
  ProcessMounts *mounts = g_new0 (ProcessMounts, 1);

  mounts->table = find_table (self, row->pid);
  mounts->layers = g_hash_table_lookup (self->layers, GINT_TO_POINTER (row->pid));
  if (mounts->layers == NULL)
    mounts->layers = find_stored_layers (self, row->pid);
  mounts->flatpak_info = read_file (self, row->pid, "root/.flatpak-info");
  mounts->root = read_root (self, row->pid);
  return mounts;
}

static const ProcessMounts *
find_process (CaptureMounts *self, ProcessId process)
{
  ProcessMounts *mounts = g_hash_table_lookup (self->of_process, GUINT_TO_POINTER (process));

  if (mounts == NULL)
    {
      mounts = read_process (self, process);
      g_hash_table_insert (self->of_process, GUINT_TO_POINTER (process), mounts);
    }
  return mounts;
}

static bool
is_known_of (const ProcessMounts *mounts)
{
  return mounts->table != NULL || mounts->layers != NULL || mounts->flatpak_info != NULL;
}

static const ProcessMounts *
find_process_or_ancestor (CaptureMounts *self, ProcessId process)
{
  const Store *store = self->options->store;
  const ProcessMounts *mounts = find_process (self, process);

  for (unsigned i = 0; i < MOST_ANCESTORS && !is_known_of (mounts) && process != 0; i++)
    {
      process = sysprof_store_find_process (store, store->processes.row[process].parent_pid);
      if (process != 0)
        mounts = find_process (self, process);
    }
  return mounts;
}

/* For a process in a chroot. Paths that were mapped before the chroot, or read by a process
 * outside of it, are paths of the namespace. */
static GPtrArray *
translate_below_root (const PathFacts *facts, const char *root, const char *path)
{
  g_autofree char *whole = g_strconcat (root, path, NULL);
  GPtrArray *paths = sysprof_translate_path (facts, whole);
  GPtrArray *outer = sysprof_translate_path (facts, path);

  g_ptr_array_add (paths, g_steal_pointer (&whole));
  g_ptr_array_extend_and_steal (paths, outer);
  return paths;
}

GPtrArray *
sysprof_capture_mounts_translate (CaptureMounts *self,
                                  ProcessId process,
                                  const char *path,
                                  bool is_identified,
                                  bool *is_known)
{
  const ProcessMounts *mounts = find_process_or_ancestor (self, process);
  PathFacts facts = {
    .process = mounts->table,
    .own = self->own,
    .layers = mounts->layers,
    .flatpak_info = text_of (mounts->flatpak_info),
    .has_same_devices = self->options->is_this_boot,
    .is_elsewhere = self->options->is_elsewhere,
    .is_identified = is_identified,
    .host_prefix = self->host_prefix,
  };

  *is_known = is_known_of (mounts);
  return mounts->root != NULL && is_identified
             ? translate_below_root (&facts, mounts->root, path)
             : sysprof_translate_path (&facts, path);
}

CaptureMounts *
sysprof_capture_mounts_new (const LocateOptions *options, int stop_fd)
{
  CaptureMounts *self = g_new0 (CaptureMounts, 1);

  self->options = options;
  self->own = read_own_table ();
  if (access ("/.flatpak-info", F_OK) == 0 || access ("/run/.containerenv", F_OK) == 0)
    self->host_prefix = HOST_IN_CONTAINER;
  self->of_process = g_hash_table_new_full (NULL, NULL, NULL, free_process);
  self->by_namespace = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  self->tables = g_ptr_array_new_with_free_func ((GDestroyNotify) sysprof_mount_table_free);
  sysprof_container_storage_init (&self->storage, stop_fd);
  self->layers = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  read_layers (self);
  return self;
}

void
sysprof_capture_mounts_free (CaptureMounts *self)
{
  g_hash_table_unref (self->of_process);
  g_hash_table_unref (self->by_namespace);
  g_hash_table_unref (self->layers);
  g_ptr_array_unref (self->tables);
  sysprof_container_storage_clear (&self->storage);
  sysprof_mount_table_free (self->own);
  g_free (self);
}
