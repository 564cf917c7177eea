// SPDX-License-Identifier: GPL-3.0-or-later

/* What a process has mounted, from the copy of its /proc/PID/mountinfo in the capture. */

#include "document/frame.h"
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

static char *
dup_text (Text word)
{
  g_autofree char *plain = sysprof_mountinfo_dup_plain (word);

  return g_utf8_make_valid (plain, -1);
}

/* *(full)* */
static SysprofMount *
make_mount (const Mountinfo *mount)
{
  SysprofMount *self = g_object_new (SYSPROF_TYPE_MOUNT, NULL);

  self->mount_id = mount->id;
  self->parent_mount_id = mount->parent_id;
  self->device_major = mount->device_major;
  self->device_minor = mount->device_minor;
  self->root = dup_text (mount->root);
  self->mount_point = dup_text (mount->mount_point);
  self->filesystem_type = dup_text (mount->type);
  self->mount_source = dup_text (mount->source);
  self->superblock_options = dup_text (mount->options);
  return self;
}

GListModel *
sysprof_mounts_read (const Store *store, int pid)
{
  GListStore *list = g_list_store_new (SYSPROF_TYPE_MOUNT);
  g_autofree char *name = g_strdup_printf ("/proc/%d/mountinfo", pid);
  g_autoptr (GBytes) bytes = sysprof_store_read_file (store, name, NULL); /* may be absent */
  Text text = { 0 };
  Mountinfo mount;
  gsize size;

  if (bytes != NULL)
    {
      text.at = g_bytes_get_data (bytes, &size);
      text.end = text.at + size;
    }

  while (text.at != NULL && sysprof_mountinfo_next (&text, &mount))
    {
      g_autoptr (SysprofMount) object = make_mount (&mount);

      g_list_store_append (list, object);
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
