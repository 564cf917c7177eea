// SPDX-License-Identifier: GPL-3.0-or-later

/* Parses the fdinfo text of a GPU client: lines "drm-KEY: VALUE". Other lines belong to other
 * parts of the kernel or to one driver only.
 *
 *   drm-engine-NAME: 9288864723 ns      drm-cycles-NAME: 28257900       drm-resident-NAME: 192 KiB
 *   drm-engine-capacity-NAME: 2         drm-total-cycles-NAME: 7655183  drm-memory-NAME, drm-total-NAME: likewise
 *
 * Each descriptor only reports the use by its own client. i915 and amdgpu report busy time, xe
 * reports cycles, msm and panfrost report both.
 *
 * Source: Linux, Documentation/gpu/drm-usage-stats.rst. */

#include "record/instruments/gpu-clients.h"

#include <glib.h>

static void
copy_name (char *out, size_t size, Text text)
{
  size_t length = MIN (sysprof_text_size (text), size - 1);

  memset (out, 0, size);
  for (size_t i = 0; i < length; i++)
    out[i] = g_ascii_isgraph (text.at[i]) ? text.at[i] : '?';
}

static bool
has_name (const char *name, Text text)
{
  char other[GPU_NAME_SIZE];

  copy_name (other, sizeof other, text);
  return g_str_equal (name, other);
}

static GpuEngine *
engine_of (GpuClient *self, Text name)
{
  for (unsigned i = 0; i < self->n_engines; i++)
    if (has_name (self->engines[i].name, name))
      return &self->engines[i];

  if (self->n_engines == GPU_MAX_ENGINES || sysprof_text_size (name) == 0)
    return NULL;
  self->engines[self->n_engines] = (GpuEngine){ .capacity = 1 };
  copy_name (self->engines[self->n_engines].name, GPU_NAME_SIZE, name);
  return &self->engines[self->n_engines++];
}

static GpuRegion *
region_of (GpuClient *self, Text name)
{
  for (unsigned i = 0; i < self->n_regions; i++)
    if (has_name (self->regions[i].name, name))
      return &self->regions[i];

  if (self->n_regions == GPU_MAX_REGIONS || sysprof_text_size (name) == 0)
    return NULL;
  self->regions[self->n_regions] = (GpuRegion){ 0 };
  copy_name (self->regions[self->n_regions].name, GPU_NAME_SIZE, name);
  return &self->regions[self->n_regions++];
}

/* "192 KiB" */
static bool
parse_size (Text value, uint64_t *size)
{
  static const struct
  {
    const char *unit;
    unsigned shift;
  } units[] = { { "KiB", 10 }, { "MiB", 20 }, { "GiB", 30 } };
  Text number, unit;

  if (!sysprof_text_next_word (&value, &number) || !sysprof_text_u64 (&number, size) ||
      sysprof_text_size (number) > 0)
    return false;
  if (!sysprof_text_next_word (&value, &unit))
    return true;
  for (size_t i = 0; i < G_N_ELEMENTS (units); i++)
    if (sysprof_text_equal (unit, units[i].unit))
      {
        *size = *size > UINT64_MAX >> units[i].shift ? UINT64_MAX : *size << units[i].shift;
        return true;
      }
  return false;
}

static bool
parse_number (Text value, uint64_t *number)
{
  Text word;

  return sysprof_text_next_word (&value, &word) && sysprof_text_u64 (&word, number) &&
         sysprof_text_size (word) == 0;
}

static void
parse_engine (GpuClient *self, Text key, Text value)
{
  bool is_capacity = sysprof_text_skip (&key, "engine-capacity-");
  bool is_total = !is_capacity && sysprof_text_skip (&key, "total-cycles-");
  bool is_cycles = !is_capacity && !is_total && sysprof_text_skip (&key, "cycles-");
  uint64_t number;
  GpuEngine *engine;

  if (!is_capacity && !is_total && !is_cycles && !sysprof_text_skip (&key, "engine-"))
    return;
  if (!parse_number (value, &number))
    return;
  engine = engine_of (self, key);
  if (engine == NULL)
    return;

  if (is_capacity)
    engine->capacity = MAX (number, 1);
  else if (is_total)
    {
      engine->total_cycles = number;
      engine->has_total = true;
    }
  else if (is_cycles)
    {
      engine->cycles = number;
      engine->has_cycles = true;
    }
  else
    {
      engine->busy_nsec = number;
      engine->has_time = true;
    }
}

/* If a region has several sizes, the resident size is the most useful one; "memory" is its old
 * name. */
static void
parse_region (GpuClient *self, Text key, Text value)
{
  static const char *const keys[] = { "total-", "memory-", "resident-" };
  uint64_t size;

  for (unsigned i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      Text name = key;
      GpuRegion *region;

      if (!sysprof_text_skip (&name, keys[i]) || !parse_size (value, &size))
        continue;
      region = region_of (self, name);
      if (region != NULL && i + 1 > region->rank)
        {
          region->size = size;
          region->rank = i + 1;
        }
      return;
    }
}

bool
sysprof_gpu_client_parse (Text text, GpuClient *client)
{
  Text line, key, value;

  *client = (GpuClient){ 0 };
  while (sysprof_text_next_line (&text, &line))
    {
      if (!sysprof_text_skip (&line, "drm-") || !sysprof_text_until (&line, ':', &key))
        continue;

      value = line;
      if (sysprof_text_equal (key, "driver"))
        {
          if (sysprof_text_next_word (&value, &line))
            copy_name (client->driver, sizeof client->driver, line);
        }
      else if (sysprof_text_equal (key, "pdev"))
        {
          if (sysprof_text_next_word (&value, &line))
            copy_name (client->device, sizeof client->device, line);
        }
      else if (sysprof_text_equal (key, "client-id"))
        (void) parse_number (value, &client->id); /* 0 if it is missing */
      else if (sysprof_text_starts_with (key, "engine-") ||
               sysprof_text_starts_with (key, "cycles-") ||
               sysprof_text_starts_with (key, "total-cycles-"))
        parse_engine (client, key, value);
      else
        parse_region (client, key, value);
    }

  /* Only PCI devices have an address. */
  if (client->device[0] == '\0')
    memcpy (client->device, client->driver, sizeof client->driver);
  return client->driver[0] != '\0';
}

static void
count_device (const char *name, void *data)
{
  unsigned *n = data;

  *n += g_str_has_prefix (name, "render") ||
        (g_str_has_prefix (name, "card") && strchr (name, '-') == NULL);
}

unsigned
sysprof_gpu_count (Privilege *machine)
{
  unsigned n = 0;

  (void) sysprof_counter_list (machine, "/sys/class/drm", count_device, &n);
  return n;
}
