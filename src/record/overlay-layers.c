// SPDX-License-Identifier: GPL-3.0-or-later

/* Sources: proc(5), "/proc/pid/mountinfo"; Linux, Documentation/filesystems/overlayfs.rst, "Multiple lower layers". */

#include "record/overlay-layers.h"

#include <string.h>

#define MOST_LAYERS 256   /* what a number of a layer can say */
#define MOST_PATHS  16000 /* bytes of both paths: a frame is not longer than 16384 */

typedef struct
{
  Text root; /* of the mount, in its file system */
  Text target;
  Text options; /* of the file system */
} OverlayMount;

static void
free_layer (void *data)
{
  OverlayLayer *layer = data;

  g_free (layer->source);
  g_free (layer->target);
}

/* Blanks, commas and backslashes stand there as \040, \054 and \134. *(full)* */
static char *
dup_unescaped (Text text)
{
  char *plain = g_malloc (sysprof_text_size (text) + 1);
  char *to = plain;

  for (const char *at = text.at; at < text.end; at++)
    {
      bool is_octal = *at == '\\' && text.end - at > 3;

      for (int i = 1; i <= 3 && is_octal; i++)
        is_octal = at[i] >= '0' && at[i] <= (i == 1 ? '3' : '7');
      if (is_octal)
        {
          *to++ = (char) ((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
          at += 3;
        }
      else
        *to++ = *at;
    }
  *to = '\0';
  return plain;
}

static bool
read_mount (Text line, OverlayMount *mount)
{
  Text word;

  for (int i = 0; i < 3; i++) /* its number, its parent's, the device */
    if (!sysprof_text_next_word (&line, &word))
      return false;
  if (!sysprof_text_next_word (&line, &mount->root) ||
      !sysprof_text_next_word (&line, &mount->target))
    return false;
  do /* options of the mount, and fields that a line may have */
    if (!sysprof_text_next_word (&line, &word))
      return false;
  while (!sysprof_text_equal (word, "-"));

  return sysprof_text_next_word (&line, &word) && sysprof_text_equal (word, "overlay") &&
         sysprof_text_next_word (&line, &word) && /* the source, which is a name only */
         sysprof_text_next_word (&line, &mount->options);
}

/* `directory` is the whole one of an option. */
static void
add_layer (GArray *layers, const OverlayMount *mount, const char *directory, unsigned *number)
{
  g_autofree char *root = dup_unescaped (mount->root);
  OverlayLayer layer = { .layer = (uint8_t) *number };

  if (*directory == '\0' || *number >= MOST_LAYERS)
    return;
  /* It has its number, also where nobody can follow it. */
  (*number)++;
  if (*directory != '/')
    return;

  layer.target = dup_unescaped (mount->target);
  layer.source = g_strconcat (directory, g_str_equal (root, "/") ? "" : root, NULL);
  if (strlen (layer.source) + strlen (layer.target) <= MOST_PATHS)
    g_array_append_val (layers, layer);
  else
    free_layer (&layer);
}

/* Directories are separated by colons; one that belongs to a name has a backslash in front. Cuts `list`. */
static void
add_list (GArray *layers, const OverlayMount *mount, char *list, unsigned *number)
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
add_option (GArray *layers, const OverlayMount *mount, const char *key, unsigned *number)
{
  bool is_list = g_str_equal (key, "lowerdir=");
  Text options = mount->options;

  while (options.at < options.end)
    {
      Text option = options;

      if (!sysprof_text_until (&options, ',', &option))
        options.at = options.end;
      if (sysprof_text_skip (&option, key))
        {
          g_autofree char *value = dup_unescaped (option);

          if (is_list)
            add_list (layers, mount, value, number);
          else
            add_layer (layers, mount, value, number);
        }
    }
}

GArray *
sysprof_overlay_layers_parse (Text mountinfo)
{
  static const char *const keys[] = { "upperdir=", "lowerdir=", "lowerdir+=" }; /* from above */
  GArray *layers = g_array_new (false, false, sizeof (OverlayLayer));
  Text line;

  g_array_set_clear_func (layers, free_layer);
  while (sysprof_text_next_line (&mountinfo, &line))
    {
      OverlayMount mount;
      unsigned number = 0;

      for (size_t i = 0; i < G_N_ELEMENTS (keys) && read_mount (line, &mount); i++)
        add_option (layers, &mount, keys[i], &number);
    }

  if (layers->len == 0)
    g_clear_pointer (&layers, g_array_unref);
  return layers;
}
