// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens and reads the files of a source of counters: those with one path, and those of its
 * instances, which come and go. A file that delays the recording is not read again. */

#include "record/counters/sampled-counters-private.h"

#include <errno.h>

/* /proc/stat lists every interrupt; on machines with thousands of CPUs that is some hundred
 * KiB. */
#define FIRST_TEXT_SIZE (16 * 1024)
#define MAX_TEXT_SIZE   (4 * 1024 * 1024)

/* A shorter text is complete: the kernel writes such texts into a page, and only stops early if
 * a line does not fit. */
#define SURELY_WHOLE 2048

/* On a busy machine any single reading may take long. */
#define MANY_SLOW 3

void
sysprof_counter_fill_in (char *out, size_t size, const char *pattern, const char *name)
{
  const char *hole = strstr (pattern, "%s");
  size_t before = hole != NULL ? (size_t) (hole - pattern) : strlen (pattern);

  memset (out, 0, size);
  g_snprintf (out, size, "%.*s%s%s", (int) before, pattern, hole != NULL ? name : "",
              hole != NULL ? hole + 2 : "");
}

/* Reads the complete file. FALSE with errno if it cannot be read. */
static bool
read_text (CounterSampler *self, int fd, Text *text)
{
  size_t used = 0;

  for (;;)
    {
      ssize_t n;

      if (used == self->text_size)
        {
          if (self->text_size >= MAX_TEXT_SIZE)
            {
              errno = EFBIG;
              return false;
            }
          self->text_size *= 2;
          self->text = g_realloc (self->text, self->text_size);
        }

      n = pread (fd, self->text + used, self->text_size - used, (off_t) used);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return false;
      used += (size_t) n;
      if (n == 0 || used <= SURELY_WHOLE)
        break;
    }

  *text = (Text){ self->text, self->text + used };
  return true;
}

static bool
read_common_files (CounterSampler *self, GError **error)
{
  const SampledCounters *counters = self->counters;

  for (unsigned i = 0; i < COUNTER_MAX_PATHS; i++)
    {
      Text text;

      /* A file may exist and still be unreadable, like those for pressure when it is turned
       * off. Then there are no values. */
      if (self->fds[i] < 0 || !read_text (self, self->fds[i], &text))
        continue;

      if (!counters->parse (i, text, &self->values))
        {
          g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_CORRUPT,
                       "Cannot read %s from '%s%s': the format of the text is unknown. "
                       "Values are missing while that is so; please report the text.",
                       counters->title, sysprof_privilege_get_root (self->machine),
                       counters->paths[i]);
          return false;
        }
    }

  return true;
}

static int
open_instance_file (CounterSampler *self, const CounterInstance *instance, unsigned i)
{
  const char *pattern = self->counters->instance_paths[i];
  g_autofree char *path = g_malloc (strlen (pattern) + strlen (instance->key));

  sysprof_counter_fill_in (path, strlen (pattern) + strlen (instance->key), pattern,
                           instance->key);
  return sysprof_privilege_open_machine_file (self->machine, path);
}

/* Returns whether any file could be opened. */
static bool
open_instance_files (CounterSampler *self, CounterInstance *instance)
{
  bool any = false;

  for (unsigned i = 0; i < COUNTER_MAX_PATHS && self->counters->instance_paths[i] != NULL; i++)
    {
      instance->fds[i] = open_instance_file (self, instance, i);
      any |= instance->fds[i] >= 0;
    }
  return any;
}

/* Some sensors hang on slow buses. A file that repeatedly delayed the pump is not read
 * again. */
static void
lose_patience (CounterSampler *self, CounterInstance *instance, unsigned i, int64_t nsec)
{
  sysprof_autofd_close (&instance->fds[i]);
  instance->fds[i] = -1;
  if (self->values.complaint == NULL)
    self->values.complaint =
        g_strdup_printf ("'%s' is no longer read: one reading took %d ms and delayed the "
                         "recording. Other counters are still recorded.",
                         instance->detail, (int) (nsec / MSEC));
}

static void
read_instance_file (CounterSampler *self, CounterInstance *instance, unsigned i)
{
  const SampledCounters *counters = self->counters;
  int64_t begin = counters->patience > 0 ? SYSPROF_CAPTURE_CURRENT_TIME : 0;
  Text text;

  if (read_text (self, instance->fds[i], &text))
    counters->parse_instance (i, text, instance);
  else if (errno == ENODEV)
    {
      sysprof_counter_instance_close_files (instance);
      instance->is_lost = true;
      return;
    }
  if (counters->patience > 0)
    {
      int64_t nsec = SYSPROF_CAPTURE_CURRENT_TIME - begin;

      instance->n_slow[i] = nsec > counters->patience ? instance->n_slow[i] + 1 : 0;
      if (instance->n_slow[i] == MANY_SLOW)
        lose_patience (self, instance, i, nsec);
    }
}

/* The files of an instance are opened when it appears, and again when it comes back, which may
 * happen before anyone notices that it was gone. */
static void
read_instance_files (CounterSampler *self, CounterInstance *instance)
{
  const SampledCounters *counters = self->counters;
  bool is_new = !instance->has_files;

  if (!sysprof_counter_instance_is_there (instance, &self->values))
    {
      if (instance->has_files)
        sysprof_counter_instance_close_files (instance);
      instance->is_lost = false;
      return;
    }

  instance->has_files = true;
  if (is_new && !open_instance_files (self, instance) && instance->is_lost)
    {
      instance->has_files = false;
      return;
    }
  instance->is_lost = false;
  for (unsigned i = 0; i < COUNTER_MAX_PATHS && counters->instance_paths[i] != NULL; i++)
    if (instance->fds[i] >= 0 && (is_new || i >= counters->n_constant))
      read_instance_file (self, instance, i);
}

/* Between two searches, the instances found last are taken to exist. */
static void
find_instances (CounterSampler *self)
{
  CounterValues *values = &self->values;

  if (values->now >= self->next_find)
    {
      self->counters->find (self->machine, values);
      self->next_find = values->now + COUNTER_FIND_INTERVAL;
      return;
    }

  for (unsigned i = 0; i < values->n_instances; i++)
    if (values->instances[i].seen + 1 == values->reading)
      values->instances[i].seen = values->reading;
}

bool
sysprof_counter_sampler_open_files (CounterSampler *self, GError **error)
{
  const SampledCounters *counters = self->counters;
  unsigned n_open = 0;

  self->text_size = FIRST_TEXT_SIZE;
  self->text = g_malloc (self->text_size);
  if (counters->open != NULL)
    {
      self->state = counters->open (self->machine, error);
      return self->state != NULL;
    }

  for (unsigned i = 0; i < COUNTER_MAX_PATHS && counters->paths[i] != NULL; i++)
    {
      Text text;

      self->fds[i] = sysprof_privilege_open_machine_file (self->machine, counters->paths[i]);
      n_open += self->fds[i] >= 0 && read_text (self, self->fds[i], &text);
    }
  if (counters->find != NULL)
    {
      int cause = errno;

      counters->find (self->machine, &self->values);
      n_open += self->values.n_instances;
      errno = cause;
    }

  if (n_open == 0 && counters->absence != NULL)
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                 "Cannot record %s: %s The recording continues without it.", counters->title,
                 counters->absence);
  else if (n_open == 0)
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                 "Cannot record %s: cannot read '%s%s': %s. The recording continues without "
                 "it. Check that /proc and /sys are mounted and not hidden.",
                 counters->title, sysprof_privilege_get_root (self->machine),
                 counters->paths[0], g_strerror (errno));
  return n_open > 0;
}

bool
sysprof_counter_sampler_read_files (CounterSampler *self, GError **error)
{
  if (self->counters->read != NULL)
    return self->counters->read (self->state, &self->values, error);
  if (self->counters->find != NULL)
    find_instances (self);
  if (!read_common_files (self, error))
    return false;

  for (unsigned i = 0; i < self->values.n_instances; i++)
    read_instance_files (self, &self->values.instances[i]);
  return true;
}
