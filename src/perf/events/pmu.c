// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the units in sysfs. A name must never lead out of its directory, because it becomes
 * part of a path. */

#include "perf/events/pmu.h"

#include "util/util.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#define DEVICES    "/sys/bus/event_source/devices"
#define TEXT_SIZE  4096 /* of one sysfs file */
#define MOST_SHOWN 24   /* names of one unit in a message */

/* --- sysfs files --- */

/* TRUE for a file name that cannot lead out of its directory. */
static bool
is_plain (const char *name)
{
  if (*name == '\0' || *name == '.')
    return false;
  for (; *name != '\0'; name++)
    if (!g_ascii_isalnum (*name) && strchr ("_-.", *name) == NULL)
      return false;
  return true;
}

/* Returns the first line of DEVICES/UNIT/NAME, or NULL. *(full)* */
static char *
dup_file (Privilege *privilege, const char *unit, const char *name)
{
  g_autofree char *path = g_build_filename (DEVICES, unit, name, NULL);
  autofd fd = sysprof_privilege_open_machine_file (privilege, path);
  char bytes[TEXT_SIZE];
  ssize_t size = fd >= 0 ? read (fd, bytes, sizeof bytes) : -1;
  Text text = { bytes, bytes + MAX (size, 0) }, line;

  if (size < 0 || !sysprof_text_next_line (&text, &line))
    return NULL;
  return g_strndup (line.at, sysprof_text_size (line));
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Returns the sorted names in a directory. *(full)* */
static GPtrArray *
list_names (Privilege *privilege, const char *path)
{
  autofd fd = sysprof_privilege_open_machine_file (privilege, path);
  DIR *directory = fd >= 0 ? fdopendir (fd) : NULL;
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  struct dirent *entry;

  if (directory == NULL)
    return names;

  (void) sysprof_steal_fd (&fd);
  while ((entry = readdir (directory)) != NULL)
    if (is_plain (entry->d_name))
      g_ptr_array_add (names, g_strdup (entry->d_name));
  (void) closedir (directory);
  g_ptr_array_sort (names, compare_names);
  return names;
}

/* Returns the units of CPUs: those with a file "cpus", and "cpu", the only unit of a machine
 * with one kind of CPU. Other units (memory controllers, tracers) do not support sampling.
 * *(full)* */
static GPtrArray *
list_units (Privilege *privilege)
{
  GPtrArray *units = list_names (privilege, DEVICES);

  for (guint i = units->len; i > 0; i--)
    {
      const char *unit = g_ptr_array_index (units, i - 1);
      g_autofree char *cpus = dup_file (privilege, unit, "cpus");

      if (cpus == NULL && !g_str_equal (unit, "cpu"))
        g_ptr_array_remove_index (units, i - 1);
    }
  return units;
}

/* --- events of a unit --- */

/* Stores the bits of `value`, lowest first, at the bit positions `ranges` ("0-7,32-35"). FALSE
 * if the value does not fit. */
static bool
put_bits (Text ranges, uint64_t value, uint64_t *config)
{
  uint64_t first, last;

  do
    {
      if (!sysprof_text_u64 (&ranges, &first))
        return false;
      last = first;
      if (sysprof_text_skip (&ranges, "-") && !sysprof_text_u64 (&ranges, &last))
        return false;
      if (first > last || last > 63)
        return false;

      for (uint64_t bit = first; bit <= last; bit++, value >>= 1)
        *config |= (value & 1) << bit;
    }
  while (sysprof_text_skip (&ranges, ","));
  return value == 0 && sysprof_text_size (ranges) == 0;
}

/* Parses a hexadecimal number with 0x in front, or a decimal number. */
static bool
read_number (const char *digits, uint64_t *value)
{
  Text text = sysprof_text_from_string (digits);

  return (sysprof_text_skip (&text, "0x") ? sysprof_text_hex (&text, value)
                                          : sysprof_text_u64 (&text, value)) &&
         sysprof_text_size (text) == 0;
}

/* Adds a term such as "umask=0x8f", or "edge", which means 1. Only terms that go into `config`
 * are supported, because the layout of config1 and config2 differs between kernels. */
static bool
add_term (Privilege *privilege, const char *unit, const char *term, uint64_t *config)
{
  const char *equal = strchr (term, '=');
  g_autofree char *name =
      g_strndup (term, equal != NULL ? (size_t) (equal - term) : strlen (term));
  g_autofree char *path = g_build_filename ("format", name, NULL);
  g_autofree char *format = is_plain (name) ? dup_file (privilege, unit, path) : NULL;
  uint64_t value = 1;
  Text ranges;

  if (equal != NULL && !read_number (equal + 1, &value))
    return false;
  if (g_str_equal (name, "config"))
    {
      *config |= value;
      return true;
    }
  if (format == NULL)
    return false;

  ranges = sysprof_text_from_string (format);
  return sysprof_text_skip (&ranges, "config:") && put_bits (ranges, value, config);
}

static bool
read_terms (Privilege *privilege, const char *unit, const char *text, uint64_t *config)
{
  g_auto (GStrv) terms = g_strsplit (text, ",", -1);

  *config = 0;
  for (guint i = 0; terms[i] != NULL; i++)
    if (!add_term (privilege, unit, terms[i], config))
      return false;
  return terms[0] != NULL;
}

/* `what`: a name that the unit lists, or terms. */
static bool
read_event (Privilege *privilege, const char *unit, const char *what, PerfUnit *into)
{
  g_autofree char *path = g_build_filename ("events", what, NULL);
  g_autofree char *listed = is_plain (what) ? dup_file (privilege, unit, path) : NULL;
  g_autofree char *type = dup_file (privilege, unit, "type");
  g_autofree char *cpus = dup_file (privilege, unit, "cpus");
  Text number = sysprof_text_from_string (type != NULL ? type : "");
  uint64_t value;

  if (listed == NULL && strchr (what, '=') == NULL)
    return false;
  if (!sysprof_text_u64 (&number, &value) || value > UINT32_MAX)
    return false;
  if (cpus != NULL && strlen (cpus) >= sizeof into->cpus)
    return false;

  *into = (PerfUnit){ .type = (uint32_t) value };
  g_strlcpy (into->cpus, cpus != NULL ? cpus : "", sizeof into->cpus);
  return read_terms (privilege, unit, listed != NULL ? listed : what, &into->config);
}

bool
sysprof_pmu_find_event (PerfEvent *self, const char *name, Privilege *privilege)
{
  g_autoptr (GPtrArray) units = list_units (privilege);
  const char *slash = strchr (name, '/');
  g_autofree char *only = slash != NULL ? g_strndup (name, (size_t) (slash - name)) : NULL;
  g_autofree char *what = g_strdup (slash != NULL ? slash + 1 : name);
  PerfEvent found = { .period = self->period };

  if (slash != NULL && !g_str_has_suffix (what, "/"))
    return false;
  if (slash != NULL)
    what[strlen (what) - 1] = '\0';
  else if (strchr (what, '=') != NULL)
    return false;

  for (guint i = 0; i < units->len && found.n_units < G_N_ELEMENTS (found.units); i++)
    {
      const char *unit = g_ptr_array_index (units, i);

      if (only == NULL || g_str_equal (only, unit))
        found.n_units += read_event (privilege, unit, what, &found.units[found.n_units]);
    }
  if (found.n_units == 0)
    return false;

  found.type = found.units[0].type;
  found.config = found.units[0].config;
  g_strlcpy (found.name, name, sizeof found.name);
  *self = found;
  return true;
}

void
sysprof_pmu_append_events (GString *text, Privilege *privilege)
{
  g_autoptr (GPtrArray) units = list_units (privilege);

  for (guint i = 0; i < units->len; i++)
    {
      const char *unit = g_ptr_array_index (units, i);
      g_autofree char *path = g_build_filename (DEVICES, unit, "events", NULL);
      g_autoptr (GPtrArray) names = list_names (privilege, path);
      guint n = 0;

      for (guint j = 0; j < names->len; j++)
        {
          const char *name = g_ptr_array_index (names, j);
          PerfUnit event;

          /* Skip "NAME.unit" and "NAME.scale", which describe NAME, and events that cannot be
           * opened. */
          if (strchr (name, '.') != NULL || !read_event (privilege, unit, name, &event))
            continue;
          if (n == 0)
            g_string_append_printf (text, "; of the CPUs' unit %s, as %s/NAME/, ", unit, unit);
          else if (n < MOST_SHOWN)
            g_string_append (text, ", ");
          if (n++ < MOST_SHOWN)
            g_string_append (text, name);
        }
      if (n > MOST_SHOWN)
        g_string_append_printf (text, " and %u more ('ls " DEVICES "/%s/events' shows all)",
                                n - MOST_SHOWN, unit);
    }
}
