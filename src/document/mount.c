// SPDX-License-Identifier: GPL-3.0-or-later

/* What a process has mounted, from the copy of its /proc/PID/mountinfo in the capture. */

#include "document/frames/frame.h"
#include "document/objects.h"
#include "document/properties.h"

#include <string.h>

struct _SysprofMount
{
  GObject parent_instance;
  int mount_id;
  int parent_mount_id;
  int device_major;
  int device_minor;
  char *root;
  char *mount_point;
  char *filesystem_type;
  char *mount_source;
  char *superblock_options;
};

G_DEFINE_FINAL_TYPE (SysprofMount, sysprof_mount, G_TYPE_OBJECT)

/* Blanks and such stand as a backslash and three octal digits. */
static char *
dup_unescaped (Text word)
{
  GString *text = g_string_sized_new (sysprof_text_size (word));

  for (const char *at = word.at; at < word.end; at++)
    {
      if (at[0] == '\\' && word.end - at > 3 && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' &&
          at[2] <= '7' && at[3] >= '0' && at[3] <= '7')
        {
          g_string_append_c (text,
                             (char) ((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0')));
          at += 3;
        }
      else
        g_string_append_c (text, at[0]);
    }

  {
    g_autofree char *bytes = g_string_free (text, FALSE);

    return g_utf8_make_valid (bytes, -1);
  }
}

static bool
take_int (Text *line, char separator, int *value)
{
  Text word;
  uint64_t number;

  if (!sysprof_text_until (line, separator, &word) || !sysprof_text_u64 (&word, &number) ||
      number > G_MAXINT)
    return false;

  *value = (int) number;
  return true;
}

static bool
take_text (Text *line, char **value)
{
  Text word;

  if (!sysprof_text_next_word (line, &word))
    return false;

  *value = dup_unescaped (word);
  return true;
}

/* Of any number, up to a dash. */
static bool
skip_optional_fields (Text *line)
{
  Text word;

  while (sysprof_text_next_word (line, &word))
    if (sysprof_text_equal (word, "-"))
      return true;
  return false;
}

/* NULL where the line is none. *(full)* */
static SysprofMount *
parse_mount (Text line)
{
  g_autoptr (SysprofMount) self = g_object_new (SYSPROF_TYPE_MOUNT, NULL);

  if (!take_int (&line, ' ', &self->mount_id) ||
      !take_int (&line, ' ', &self->parent_mount_id) ||
      !take_int (&line, ':', &self->device_major) ||
      !take_int (&line, ' ', &self->device_minor) || !take_text (&line, &self->root) ||
      !take_text (&line, &self->mount_point) || !skip_optional_fields (&line) ||
      !take_text (&line, &self->filesystem_type) || !take_text (&line, &self->mount_source) ||
      !take_text (&line, &self->superblock_options))
    return NULL;

  return g_steal_pointer (&self);
}

GListModel *
sysprof_mounts_read (const Store *store, int pid)
{
  GListStore *list = g_list_store_new (SYSPROF_TYPE_MOUNT);
  g_autofree char *name = g_strdup_printf ("/proc/%d/mountinfo", pid);
  g_autoptr (GBytes) bytes = sysprof_store_read_file (store, name, NULL); /* may be absent */
  Text text = { 0 }, line;
  gsize size;

  if (bytes != NULL)
    {
      text.at = g_bytes_get_data (bytes, &size);
      text.end = text.at + size;
    }

  while (text.at != NULL && sysprof_text_next_line (&text, &line))
    {
      g_autoptr (SysprofMount) mount = parse_mount (line);

      if (mount != NULL)
        g_list_store_append (list, mount);
    }
  return G_LIST_MODEL (list);
}

char *
sysprof_mount_get_superblock_option (SysprofMount *self, const char *option)
{
  g_auto (GStrv) options = NULL;
  size_t length;

  g_return_val_if_fail (SYSPROF_IS_MOUNT (self), NULL);
  g_return_val_if_fail (option != NULL, NULL);

  length = strlen (option);
  options = g_strsplit (self->superblock_options, ",", -1);
  for (guint i = 0; options[i] != NULL; i++)
    if (g_str_has_prefix (options[i], option))
      {
        if (options[i][length] == '=')
          return g_strdup (options[i] + length + 1);
        if (options[i][length] == 0)
          return g_strdup ("");
      }
  return NULL;
}

int
sysprof_mount_get_device_major (SysprofMount *self)
{
  g_return_val_if_fail (SYSPROF_IS_MOUNT (self), 0);

  return self->device_major;
}

int
sysprof_mount_get_device_minor (SysprofMount *self)
{
  g_return_val_if_fail (SYSPROF_IS_MOUNT (self), 0);

  return self->device_minor;
}

int
sysprof_mount_get_mount_id (SysprofMount *self)
{
  g_return_val_if_fail (SYSPROF_IS_MOUNT (self), 0);

  return self->mount_id;
}

int
sysprof_mount_get_parent_mount_id (SysprofMount *self)
{
  g_return_val_if_fail (SYSPROF_IS_MOUNT (self), 0);

  return self->parent_mount_id;
}

const char *
sysprof_mount_get_root (SysprofMount *self)
{
  g_return_val_if_fail (SYSPROF_IS_MOUNT (self), NULL);

  return self->root;
}

const char *
sysprof_mount_get_mount_point (SysprofMount *self)
{
  g_return_val_if_fail (SYSPROF_IS_MOUNT (self), NULL);

  return self->mount_point;
}

const char *
sysprof_mount_get_filesystem_type (SysprofMount *self)
{
  g_return_val_if_fail (SYSPROF_IS_MOUNT (self), NULL);

  return self->filesystem_type;
}

const char *
sysprof_mount_get_mount_source (SysprofMount *self)
{
  g_return_val_if_fail (SYSPROF_IS_MOUNT (self), NULL);

  return self->mount_source;
}

const char *
sysprof_mount_get_superblock_options (SysprofMount *self)
{
  g_return_val_if_fail (SYSPROF_IS_MOUNT (self), NULL);

  return self->superblock_options;
}

static void
sysprof_mount_finalize (GObject *object)
{
  SysprofMount *self = SYSPROF_MOUNT (object);

  g_free (self->root);
  g_free (self->mount_point);
  g_free (self->filesystem_type);
  g_free (self->mount_source);
  g_free (self->superblock_options);

  G_OBJECT_CLASS (sysprof_mount_parent_class)->finalize (object);
}

static void
sysprof_mount_class_init (SysprofMountClass *class)
{
  static const PropertyRow rows[] = {
    { "device-major", PROPERTY_INT, G_CALLBACK (sysprof_mount_get_device_major) },
    { "device-minor", PROPERTY_INT, G_CALLBACK (sysprof_mount_get_device_minor) },
    { "filesystem-type", PROPERTY_STRING, G_CALLBACK (sysprof_mount_get_filesystem_type) },
    { "mount-id", PROPERTY_INT, G_CALLBACK (sysprof_mount_get_mount_id) },
    { "mount-point", PROPERTY_STRING, G_CALLBACK (sysprof_mount_get_mount_point) },
    { "mount-source", PROPERTY_STRING, G_CALLBACK (sysprof_mount_get_mount_source) },
    { "parent-mount-id", PROPERTY_INT, G_CALLBACK (sysprof_mount_get_parent_mount_id) },
    { "root", PROPERTY_STRING, G_CALLBACK (sysprof_mount_get_root) },
    { "superblock-options", PROPERTY_STRING,
      G_CALLBACK (sysprof_mount_get_superblock_options) },
  };

  G_OBJECT_CLASS (class)->finalize = sysprof_mount_finalize;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_mount_init (SysprofMount *self)
{
}
