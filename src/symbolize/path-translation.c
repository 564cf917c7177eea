// SPDX-License-Identifier: GPL-3.0-or-later

/* A file lies in a file system at a path of its own; each mount shows a part of one, from a `root` on. What is mounted in two
 * places, in any namespaces, is the same device, so
 *
 *   path of the process → (device, root / rest) → each of our mounts of that device that shows this part → our path
 *
 * covers bind mounts, subvolumes of Btrfs, deployments of OSTree and Flatpak, and what sandboxes put together of them. An overlay that
 * is gone, or that only the container sees, is made of directories: those are tried from the topmost on.
 *
 * Where nothing identifies the file, a place counts only if nothing else can have come there: not by a device whose number is given
 * again, or that is another one after a start of the machine, and not by a mount that others hid from the process.
 *
 * Source: docs/format.md; proc(5), "/proc/pid/mountinfo". */

#include "symbolize/path-translation.h"

#include <string.h>

/* Older bubblewraps build the sandbox there, and the kernel tells paths to who looks from outside as it was before the change of root. */
#define NEW_ROOT "/newroot"

#define LOOP_MAJOR 7 /* of files that are mounted like disks */

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

/* Longer mount points lie within shorter ones; of equal ones, the later hides the earlier. */
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

/* What of `path` lies below `directory`: "" or with a slash in front. NULL: it does not. */
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

/* `rest` as of find_rest(). */
static char *
join (const char *directory, const char *rest)
{
  return g_strconcat (strcmp (directory, "/") == 0 && rest[0] == '/' ? "" : directory, rest,
                      NULL);
}

/* Takes the path. */
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

/* Takes the path, which is the host's. */
static void
add_path (const PathFacts *facts, GPtrArray *paths, char *path)
{
  if (facts->host_prefix != NULL && find_rest (path, "/home") == NULL)
    add_once (paths, g_strconcat (facts->host_prefix, path, NULL));
  add_once (paths, path);
}

/* --- ways --- */

/* Those of one directory stand in their order; `only` is one, NULL = all. */
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

/* The kernel gives the next file system, or image, that number again. A disk's Btrfs has one of this kind, too, but says which disk. */
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

  /* After a start of the machine only a disk, or a server's directory, says what it is. */
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

      /* Both are below our root already: no prefix. */
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
        return; /* the others lie below this one */
    }
}

/* The mount that shows the path to the process. NULL: it is not known. */
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

/* The deployments that Flatpak shows under /app and /usr. */
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

  /* Another machine may have other files there. Recorders that do not tell theirs are taken to be of this one. */
  if (!facts->is_identified && facts->is_elsewhere)
    return paths;

  if (inner != NULL && inner[0] == '/')
    add_all (facts, paths, inner);
  if (path[0] == '/')
    add_all (facts, paths, path);
  return paths;
}
