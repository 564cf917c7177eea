// SPDX-License-Identifier: GPL-3.0-or-later

/* A file has a path within its file system. Each mount shows the part of a file system below a
 * `root`. If a file system is mounted twice, in any namespaces, the device number is the same.
 * So
 *
 *   path of the process → (device, root / rest) → each of our mounts of that device that shows
 *   this part → our path
 *
 * covers bind mounts, Btrfs subvolumes, OSTree and Flatpak deployments, and the combinations
 * that sandboxes build from them. An overlay that no longer exists, or that only the container
 * sees, consists of directories: those are tried from the topmost one on.
 *
 * If the file cannot be identified, a path is only used if no other file can be there. This
 * excludes device numbers that may have been reused or that changed with a reboot, and mounts
 * that were hidden from the process by others.
 *
 * Source: docs/format.md; proc(5), "/proc/pid/mountinfo". */

#include "locate/path-translation.h"

#include <string.h>

/* Older versions of bubblewrap build the sandbox in this directory. To a process outside of the
 * sandbox the kernel shows paths as they were before the change of root. */
#define NEW_ROOT "/newroot"

#define LOOP_MAJOR 7 /* loop devices */

typedef struct
{
  char *root;
  char *mount_point;
  char *type;
  char *source;
  int device_major;
  int device_minor;
} Mount;

/* --- tables --- */

static void
clear_mount (void *data)
{
  Mount *mount = data;

  g_free (mount->root);
  g_free (mount->mount_point);
  g_free (mount->type);
  g_free (mount->source);
}

/* Longer mount points are below shorter ones; of equal mount points, the later one hides the
 * earlier one. */
static int
compare_mounts (const void *a, const void *b, void *data)
{
  const GArray *mounts = data;
  guint left = *(const guint *) a, right = *(const guint *) b;
  size_t left_length = strlen (g_array_index (mounts, Mount, left).mount_point);
  size_t right_length = strlen (g_array_index (mounts, Mount, right).mount_point);

  if (left_length != right_length)
    return left_length > right_length ? -1 : 1;
  return left > right ? -1 : left < right;
}

MountTable *
sysprof_mount_table_new (Text mountinfo)
{
  MountTable *self = g_new0 (MountTable, 1);
  Text text = mountinfo;
  Mountinfo line;

  self->mounts = g_array_new (FALSE, FALSE, sizeof (Mount));
  self->order = g_array_new (FALSE, FALSE, sizeof (guint));
  g_array_set_clear_func (self->mounts, clear_mount);
  while (sysprof_mountinfo_next (&text, &line))
    {
      Mount mount = {
        .root = sysprof_mountinfo_dup_plain (line.root),
        .mount_point = sysprof_mountinfo_dup_plain (line.mount_point),
        .type = sysprof_mountinfo_dup_plain (line.type),
        .source = sysprof_mountinfo_dup_plain (line.source),
        .device_major = line.device_major,
        .device_minor = line.device_minor,
      };

      g_array_append_val (self->order, self->mounts->len);
      g_array_append_val (self->mounts, mount);
    }

  g_array_sort_with_data (self->order, compare_mounts, self->mounts);
  self->layers = sysprof_overlay_layers_parse (mountinfo);
  return self;
}

void
sysprof_mount_table_free (MountTable *self)
{
  if (self == NULL)
    return;

  g_array_unref (self->mounts);
  g_array_unref (self->order);
  g_clear_pointer (&self->layers, g_array_unref);
  g_free (self);
}

static const Mount *
nth_mount (const MountTable *self, guint i)
{
  return &g_array_index (self->mounts, Mount, g_array_index (self->order, guint, i));
}

/* --- paths --- */

/* Returns the part of `path` below `directory`: "" or a text that starts with a slash. Returns
 * NULL if `path` is not below it. */
static const char *
find_rest (const char *path, const char *directory)
{
  size_t length = strlen (directory);

  if (strcmp (directory, "/") == 0)
    return path;
  if (strncmp (path, directory, length) != 0 || (path[length] != '/' && path[length] != '\0'))
    return NULL;
  return path + length;
}

/* `rest` is a result of find_rest(). */
static char *
join (const char *directory, const char *rest)
{
  return g_strconcat (strcmp (directory, "/") == 0 && rest[0] == '/' ? "" : directory, rest,
                      NULL);
}

/* Takes ownership of the path. */
static void
add_once (GPtrArray *paths, char *path)
{
  for (guint i = 0; i < paths->len; i++)
    if (strcmp (g_ptr_array_index (paths, i), path) == 0)
      {
        g_free (path);
        return;
      }

  if (path[0] == '/' && paths->len < TRANSLATION_MOST_PATHS)
    g_ptr_array_add (paths, path);
  else
    g_free (path);
}

/* Takes ownership of the path, which is a path on the host. */
static void
add_path (const PathFacts *facts, GPtrArray *paths, char *path)
{
  if (facts->host_prefix != NULL && find_rest (path, "/home") == NULL)
    add_once (paths, g_strconcat (facts->host_prefix, path, NULL));
  add_once (paths, path);
}

/* --- ways --- */

/* Adds the layers whose target contains the path, in the order of the array; `only` selects one
 * target, NULL = all. */
static void
add_layers (const PathFacts *facts,
            GPtrArray *paths,
            const GArray *layers,
            const char *only,
            const char *path)
{
  for (guint i = 0; layers != NULL && i < layers->len; i++)
    {
      const OverlayLayer *layer = &g_array_index (layers, OverlayLayer, i);
      const char *rest = find_rest (path, layer->target);

      if (rest != NULL && (only == NULL || strcmp (only, layer->target) == 0))
        add_path (facts, paths, join (layer->source, rest));
    }
}

/* The kernel reuses these device numbers for other file systems or images. Btrfs on a disk also
 * has such a number, but its source names the disk. */
static bool
is_numbered_anew (const Mount *mount)
{
  return (mount->device_major == 0 && strcmp (mount->type, "btrfs") != 0) ||
         mount->device_major == LOOP_MAJOR;
}

static bool
is_of_same_source (const Mount *mount, const Mount *own)
{
  return strcmp (mount->type, own->type) == 0 && strcmp (mount->source, own->source) == 0;
}

static bool
is_same_file_system (const PathFacts *facts, const Mount *mount, const Mount *own)
{
  if (!facts->is_identified && (is_numbered_anew (mount) ||
                                (mount->device_major == 0 && !is_of_same_source (mount, own))))
    return false;

  if (facts->has_same_devices)
    return mount->device_major == own->device_major && mount->device_minor == own->device_minor;

  /* After a reboot, only a disk or a server's directory identifies a file system. */
  return is_of_same_source (mount, own) &&
         (mount->source[0] == '/' || strchr (mount->source, ':') != NULL);
}

static void
add_own_mounts (const PathFacts *facts, GPtrArray *paths, const Mount *mount, const char *rest)
{
  g_autofree char *in_file_system = join (mount->root, rest);

  for (guint i = 0; facts->own != NULL && i < facts->own->order->len; i++)
    {
      const Mount *own = nth_mount (facts->own, i);
      const char *own_rest = find_rest (in_file_system, own->root);

      /* Both paths are below our root already, so they need no host prefix. */
      if (own_rest != NULL && is_same_file_system (facts, mount, own))
        add_once (paths, join (own->mount_point, own_rest));
    }
}

static void
add_by_mounts (const PathFacts *facts, GPtrArray *paths, const char *path)
{
  for (guint i = 0; facts->process != NULL && i < facts->process->order->len; i++)
    {
      const Mount *mount = nth_mount (facts->process, i);
      const char *rest = find_rest (path, mount->mount_point);

      if (rest == NULL)
        continue;
      add_own_mounts (facts, paths, mount, rest);
      if (strcmp (mount->type, "overlay") == 0)
        add_layers (facts, paths, facts->process->layers, mount->mount_point, path);
      if (!facts->is_identified)
        return; /* this mount hides the remaining ones */
    }
}

/* Returns the mount that contains the path in the process's view, or NULL if it is unknown. */
static const Mount *
find_mount (const PathFacts *facts, const char *path)
{
  for (guint i = 0; facts->process != NULL && i < facts->process->order->len; i++)
    {
      const Mount *mount = nth_mount (facts->process, i);

      if (find_rest (path, mount->mount_point) != NULL)
        return mount;
    }
  return NULL;
}

static void
add_told_layers (const PathFacts *facts, GPtrArray *paths, const char *path)
{
  const Mount *mount = facts->is_identified ? NULL : find_mount (facts, path);

  add_layers (facts, paths, facts->layers, mount != NULL ? mount->mount_point : NULL, path);
}

/* Adds the deployments that Flatpak shows under /app and /usr. */
static void
add_flatpak (const PathFacts *facts, GPtrArray *paths, const char *path)
{
  static const struct
  {
    const char *key;
    const char *directory;
  } deployments[] = { { "app-path=", "/app" }, { "runtime-path=", "/usr" } };
  Text text = facts->flatpak_info, line;

  while (text.at != NULL && sysprof_text_next_line (&text, &line))
    for (size_t i = 0; i < G_N_ELEMENTS (deployments); i++)
      {
        const char *rest = find_rest (path, deployments[i].directory);
        Text value = line;

        if (rest != NULL && sysprof_text_skip (&value, deployments[i].key))
          {
            g_autofree char *directory = g_strndup (value.at, sysprof_text_size (value));

            add_path (facts, paths, join (directory, rest));
          }
      }
}

static void
add_all (const PathFacts *facts, GPtrArray *paths, const char *path)
{
  add_told_layers (facts, paths, path);
  add_by_mounts (facts, paths, path);
  add_flatpak (facts, paths, path);
}

GPtrArray *
sysprof_translate_path (const PathFacts *facts, const char *path)
{
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  const char *inner = find_rest (path, NEW_ROOT);

  /* Another machine may have different files at these paths. Captures that do not identify the
   * machine are assumed to be from this one. */
  if (!facts->is_identified && facts->is_elsewhere)
    return paths;

  if (inner != NULL && inner[0] == '/')
    add_all (facts, paths, inner);
  if (path[0] == '/')
    add_all (facts, paths, path);
  return paths;
}
