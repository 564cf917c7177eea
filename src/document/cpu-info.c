// SPDX-License-Identifier: GPL-3.0-or-later

/* Processors, from the copy of /proc/cpuinfo in the capture. */

#include "document/objects.h"
#include "document/properties.h"

struct _SysprofCpuInfo
{
  GObject parent_instance;
  guint id;
  guint core_id;
  char *model_name; /* nullable */
};

G_DEFINE_FINAL_TYPE (SysprofCpuInfo, sysprof_cpu_info, G_TYPE_OBJECT)

/* `line` is "key<tab>: value". */
static bool
take_value (Text line, const char *key, Text *value)
{
  Text name;

  if (!sysprof_text_starts_with (line, key) || !sysprof_text_until (&line, ':', &name))
    return false;

  while (name.end > name.at && g_ascii_isspace (name.end[-1]))
    name.end--;
  while (line.at < line.end && line.at[0] == ' ')
    line.at++;
  *value = line;
  return sysprof_text_equal (name, key);
}

/* A block of lines for each processor; it begins with its number. */
GListModel *
sysprof_cpu_infos_read (const Store *store)
{
  GListStore *list = g_list_store_new (SYSPROF_TYPE_CPU_INFO);
  g_autoptr (GBytes) bytes =
      sysprof_store_read_file (store, "/proc/cpuinfo", NULL); /* may be absent */
  SysprofCpuInfo *last = NULL;
  Text text = { 0 }, line, value;
  gsize size;
  uint64_t number;

  if (bytes != NULL)
    {
      text.at = g_bytes_get_data (bytes, &size);
      text.end = text.at + size;
    }

  while (text.at != NULL && sysprof_text_next_line (&text, &line))
    {
      if (take_value (line, "processor", &value) && sysprof_text_u64 (&value, &number))
        {
          g_autoptr (SysprofCpuInfo) info = g_object_new (SYSPROF_TYPE_CPU_INFO, NULL);

          info->id = info->core_id = (guint) number;
          g_list_store_append (list, info);
          last = info; /* the list keeps it */
        }
      else if (last != NULL && take_value (line, "core id", &value) &&
               sysprof_text_u64 (&value, &number))
        last->core_id = (guint) number;
      else if (last != NULL && last->model_name == NULL &&
               take_value (line, "model name", &value))
        last->model_name = g_utf8_make_valid (value.at, (gssize) sysprof_text_size (value));
    }
  return G_LIST_MODEL (list);
}

guint
sysprof_cpu_info_get_id (SysprofCpuInfo *self)
{
  g_return_val_if_fail (SYSPROF_IS_CPU_INFO (self), 0);

  return self->id;
}

guint
sysprof_cpu_info_get_core_id (SysprofCpuInfo *self)
{
  g_return_val_if_fail (SYSPROF_IS_CPU_INFO (self), 0);

  return self->core_id;
}

const char *
sysprof_cpu_info_get_model_name (SysprofCpuInfo *self)
{
  g_return_val_if_fail (SYSPROF_IS_CPU_INFO (self), NULL);

  return self->model_name;
}

static void
sysprof_cpu_info_finalize (GObject *object)
{
  SysprofCpuInfo *self = SYSPROF_CPU_INFO (object);

  g_free (self->model_name);

  G_OBJECT_CLASS (sysprof_cpu_info_parent_class)->finalize (object);
}

static void
sysprof_cpu_info_class_init (SysprofCpuInfoClass *class)
{
  static const PropertyRow rows[] = {
    { "core-id", PROPERTY_UINT, G_CALLBACK (sysprof_cpu_info_get_core_id) },
    { "id", PROPERTY_UINT, G_CALLBACK (sysprof_cpu_info_get_id) },
    { "model-name", PROPERTY_STRING, G_CALLBACK (sysprof_cpu_info_get_model_name) },
  };

  G_OBJECT_CLASS (class)->finalize = sysprof_cpu_info_finalize;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_cpu_info_init (SysprofCpuInfo *self)
{
}
