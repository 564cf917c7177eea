// SPDX-License-Identifier: GPL-3.0-or-later

/* The values that the parsers of sampled-counters.h set, and helpers for reading files and
 * directories of the machine. */

#include "record/counters/sampled-counters.h"

#include <dirent.h>
#include <errno.h>

void
sysprof_counter_values_set (CounterValues *self, unsigned row, double value)
{
  sysprof_counter_values_set_share (self, row, value, 0);
}

void
sysprof_counter_values_set_share (CounterValues *self, unsigned row, double part, double whole)
{
  g_assert (row < COUNTER_MAX_ROWS);
  self->values[row] = part;
  self->wholes[row] = whole;
  self->is_set[row] = true;
}

void
sysprof_counter_instance_set (CounterInstance *self, unsigned row, double value)
{
  sysprof_counter_instance_set_share (self, row, value, 0);
}

void
sysprof_counter_instance_set_share (CounterInstance *self,
                                    unsigned row,
                                    double part,
                                    double whole)
{
  g_assert (row < COUNTER_MAX_INSTANCE_ROWS);
  self->values[row] = part;
  self->wholes[row] = whole;
  self->is_set[row] = true;
}

void
sysprof_counter_instance_close_files (CounterInstance *self)
{
  for (unsigned i = 0; i < COUNTER_MAX_PATHS; i++)
    {
      sysprof_autofd_close (&self->fds[i]);
      self->fds[i] = -1;
    }
  self->has_files = false;
}

static bool
has_key (const CounterInstance *self, Text key)
{
  size_t size = sysprof_text_size (key);

  return strncmp (self->key, key.at, size) == 0 && self->key[size] == '\0';
}

/* Containers create interfaces with new names all the time, so slots of instances that have
 * disappeared are reused. */
static CounterInstance *
free_place (CounterValues *self)
{
  if (self->n_instances < self->capacity)
    return &self->instances[self->n_instances++];

  for (unsigned i = 0; i < self->n_instances; i++)
    {
      CounterInstance *instance = &self->instances[i];

      if (instance->seen + 1 < self->reading)
        {
          sysprof_counter_instance_close_files (instance);
          g_free (instance->key);
          return instance;
        }
    }

  if (self->capacity >= COUNTER_MAX_INSTANCES)
    return NULL;

  self->capacity = MAX (32, self->capacity * 2);
  self->instances = g_renew (CounterInstance, self->instances, self->capacity);
  return &self->instances[self->n_instances++];
}

static void
copy_printable (char *out, size_t size, const char *text)
{
  memset (out, 0, size);
  for (size_t i = 0; i < size - 1 && text[i] != '\0'; i++)
    out[i] = g_ascii_isprint (text[i]) ? text[i] : '?';
}

void
sysprof_counter_instance_name (CounterInstance *self, const char *label, const char *detail)
{
  copy_printable (self->label, sizeof self->label, label);
  copy_printable (self->detail, sizeof self->detail, detail);
}

CounterInstance *
sysprof_counter_values_instance (CounterValues *self, Text key)
{
  CounterInstance *instance = NULL;

  key.end = key.at + strnlen (key.at, sysprof_text_size (key));
  for (unsigned i = 0; i < self->n_instances; i++)
    {
      unsigned at = (self->hint + i) % self->n_instances;

      if (has_key (&self->instances[at], key))
        {
          self->hint = at + 1;
          instance = &self->instances[at];
          break;
        }
    }

  if (instance == NULL)
    {
      instance = free_place (self);
      if (instance == NULL)
        return NULL;

      *instance = (CounterInstance){ .key = g_strndup (key.at, sysprof_text_size (key)) };
      sysprof_counter_instance_name (instance, instance->key, instance->key);
      memset (instance->fds, 0xff, sizeof instance->fds);
      self->hint = (unsigned) (instance - self->instances) + 1;
    }

  instance->seen = self->reading;
  return instance;
}

bool
sysprof_counter_instance_is_there (const CounterInstance *self, const CounterValues *values)
{
  return self->seen == values->reading;
}

void
sysprof_counter_values_clear (CounterValues *self)
{
  for (unsigned i = 0; i < self->n_instances; i++)
    {
      sysprof_counter_instance_close_files (&self->instances[i]);
      g_free (self->instances[i].key);
    }
  g_free (self->instances);
  g_free (self->complaint);
  *self = (CounterValues){ 0 };
}

/* --- the machine --- */

bool
sysprof_counter_read_text (int fd, char *buffer, size_t size, Text *text)
{
  ssize_t n;

  do
    n = pread (fd, buffer, size, 0);
  while (n < 0 && errno == EINTR);
  *text = (Text){ buffer, buffer + MAX (n, 0) };
  return n >= 0;
}

bool
sysprof_counter_read_line (Privilege *machine, const char *path, char *text, size_t size)
{
  autofd fd = sysprof_privilege_open_machine_file (machine, path);
  Text whole, line = { text, text };

  if (fd < 0 || !sysprof_counter_read_text (fd, text, size - 1, &whole))
    return false;
  (void) sysprof_text_next_line (&whole, &line); /* an empty file gives an empty line */
  text[line.end - text] = '\0';
  return true;
}

bool
sysprof_counter_list (Privilege *machine,
                      const char *path,
                      void (*each) (const char *name, void *data),
                      void *data)
{
  int fd = sysprof_privilege_open_machine_file (machine, path);
  DIR *dir = fd >= 0 ? fdopendir (fd) : NULL;
  const struct dirent *entry;

  if (dir == NULL)
    {
      int cause = errno;

      sysprof_autofd_close (&fd);
      errno = cause;
      return false;
    }

  while ((entry = readdir (dir)) != NULL)
    if (entry->d_name[0] != '.')
      each (entry->d_name, data);
  (void) closedir (dir); /* nothing was written, so it cannot fail */
  return true;
}
