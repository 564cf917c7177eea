// SPDX-License-Identifier: GPL-3.0-or-later

/* Parses the mount options of overlays. Sources: proc(5), "/proc/pid/mountinfo"; Linux,
 * Documentation/filesystems/overlayfs.rst, "Multiple lower layers". */

#include "util/overlay-layers.h"

#include "util/mountinfo.h"

#include <string.h>

#define MOST_LAYERS 256   /* a layer's number has one byte */
#define MOST_PATHS  16000 /* bytes of both paths: a frame of a capture has at most 16384 */

static void
free_layer (void *data)
{
  OverlayLayer *layer = data;

  g_free (layer->source);
  g_free (layer->target);
}

/* `directory` is one complete directory of an option. */
static void
add_layer (GArray *layers, const Mountinfo *mount, const char *directory, unsigned *number)
{
  g_autofree char *root = sysprof_mountinfo_dup_plain (mount->root);
  OverlayLayer layer = { .layer = (uint8_t) *number };

  if (*directory == '\0' || *number >= MOST_LAYERS)
    return;
  /* The number counts relative directories, too, although nobody can resolve them. */
  (*number)++;
  if (*directory != '/')
    return;

  layer.target = sysprof_mountinfo_dup_plain (mount->mount_point);
  layer.source = g_strconcat (directory, g_str_equal (root, "/") ? "" : root, NULL);
  if (strlen (layer.source) + strlen (layer.target) <= MOST_PATHS)
    g_array_append_val (layers, layer);
  else
    free_layer (&layer);
}

/* Directories are separated by colons; a colon in a name is escaped with a backslash. Modifies
 * `list`. */
static void
add_list (GArray *layers, const Mountinfo *mount, char *list, unsigned *number)
{
  char *directory = list, *to = list;

  for (const char *at = list; *at != '\0'; at++)
    if (*at == '\\' && at[1] != '\0')
      *to++ = *++at;
    else if (*at != ':')
      *to++ = *at;
    else
      {
        *to++ = '\0';
        add_layer (layers, mount, directory, number);
        directory = to;
      }
  *to = '\0';
  add_layer (layers, mount, directory, number);
}

static void
add_option (GArray *layers, const Mountinfo *mount, const char *key, unsigned *number)
{
  bool is_list = g_str_equal (key, "lowerdir=");
  Text options = mount->options, option;

  while (sysprof_mountinfo_next_option (&options, &option))
    if (sysprof_text_skip (&option, key))
      {
        g_autofree char *value = sysprof_mountinfo_dup_plain (option);

        if (is_list)
          add_list (layers, mount, value, number);
        else
          add_layer (layers, mount, value, number);
      }
}

static void
add_mount (GArray *layers, const Mountinfo *mount)
{
  /* topmost first */
  static const char *const keys[] = { "upperdir=", "lowerdir=", "lowerdir+=" };
  unsigned number = 0;

  for (size_t i = 0; i < G_N_ELEMENTS (keys) && sysprof_text_equal (mount->type, "overlay");
       i++)
    add_option (layers, mount, keys[i], &number);
}

GArray *
sysprof_overlay_layers_parse (Text mountinfo)
{
  GArray *layers = g_array_new (false, false, sizeof (OverlayLayer));
  Mountinfo mount;

  g_array_set_clear_func (layers, free_layer);
  while (sysprof_mountinfo_next (&mountinfo, &mount))
    add_mount (layers, &mount);

  if (layers->len == 0)
    g_clear_pointer (&layers, g_array_unref);
  return layers;
}
