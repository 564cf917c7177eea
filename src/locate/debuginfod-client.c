// SPDX-License-Identifier: GPL-3.0-or-later

/* A client for debuginfod servers: it looks for files in the cache, and has the others
 * downloaded (debuginfod-download.h) at once or, from a queue, later.
 *
 * The layout of the cache is that of libdebuginfod and gdb: BUILDID/debuginfo,
 * BUILDID/executable. An empty file means that no server had the file. */

#include "locate/debuginfod-client.h"

#include "locate/debuginfod-download.h"
#include "util/util.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* seconds, unless the cache's configuration sets another value */
#define NOT_FOUND_IS_VALID  600
#define MOST_CONTROL_NUMBER 32 /* bytes */

/* --- the cache --- */

static char *
find_cache (void)
{
  const char *given = g_getenv ("DEBUGINFOD_CACHE_PATH");
  g_autofree char *old = g_build_filename (g_get_home_dir (), ".debuginfod_client_cache", NULL);

  if (given != NULL && given[0] != 0)
    return g_strdup (given);
  if (g_file_test (old, G_FILE_TEST_IS_DIR))
    return g_steal_pointer (&old);
  return g_build_filename (g_get_user_cache_dir (), "debuginfod_client", NULL);
}

/* How many seconds the answer "no such file" stays valid. */
static int64_t
read_miss_time (const char *cache)
{
  g_autofree char *path = g_build_filename (cache, "cache_miss_s", NULL);
  g_autofree char *text = NULL;
  gsize size;
  guint64 seconds;

  if (g_file_get_contents (path, &text, &size, NULL) && size < MOST_CONTROL_NUMBER &&
      g_ascii_string_to_unsigned (g_strchomp (text), 10, 0, G_MAXINT32, &seconds, NULL))
    return (int64_t) seconds;
  return NOT_FOUND_IS_VALID;
}

typedef enum
{
  CACHE_UNKNOWN,
  CACHE_HAS,
  CACHE_KNOWS_NONE,
} CacheAnswer;

/* Converts a path to a file name like the library does. */
static char *
dup_source_name (const char *source)
{
  GString *name = g_string_new ("source");

  for (; *source != 0; source++)
    if (*source == '/')
      g_string_append (name, "##");
    else if (*source == '#')
      g_string_append (name, "#_");
    else
      g_string_append_c (name, *source);
  return g_string_free (name, FALSE);
}

static char *
dup_name_in_cache (const DebuginfodFile *file)
{
  if (file->source != NULL)
    return dup_source_name (file->source);
  return g_strdup (file->is_executable ? "executable" : "debuginfo");
}

static CacheAnswer
look_in_cache (const char *cache, int64_t miss_time, DebuginfodFile *file)
{
  g_autofree char *name = dup_name_in_cache (file);
  g_autofree char *path = g_build_filename (cache, file->build_id, name, NULL);
  struct stat info;

  if (stat (path, &info) != 0 || !S_ISREG (info.st_mode))
    return CACHE_UNKNOWN;
  if (info.st_size > 0)
    {
      file->path = g_steal_pointer (&path);
      return CACHE_HAS;
    }
  return info.st_mtime + miss_time > g_get_real_time () / G_USEC_PER_SEC ? CACHE_KNOWS_NONE
                                                                         : CACHE_UNKNOWN;
}

/* --- the cache and the servers --- */

static int
compare_weights (const void *a, const void *b)
{
  const DebuginfodFile *left = a, *right = b;

  if (left->weight != right->weight)
    return left->weight > right->weight ? -1 : 1;
  return strcmp (left->build_id, right->build_id);
}

char *
sysprof_debuginfod_check (void)
{
  const char *urls = g_getenv ("DEBUGINFOD_URLS");
  char *problem = NULL;

  if (urls == NULL || strstr (urls, "://") == NULL)
    return g_strdup (
        "No debuginfod server was queried: none is configured. Set DEBUGINFOD_URLS, for "
        "example to the server of your distribution.");
  return sysprof_debuginfod_load_library (&problem) ? NULL : problem;
}

struct DebuginfodQueue
{
  GArray *files; /* of DebuginfodFile, whose strings are owned */
};

static void
clear_queued (void *data)
{
  DebuginfodFile *file = data;

  g_free ((char *) file->build_id);
  g_free ((char *) file->source);
  g_free (file->path);
}

DebuginfodQueue *
sysprof_debuginfod_queue_new (void)
{
  DebuginfodQueue *self = g_new0 (DebuginfodQueue, 1);

  self->files = g_array_new (FALSE, FALSE, sizeof (DebuginfodFile));
  g_array_set_clear_func (self->files, clear_queued);
  return self;
}

void
sysprof_debuginfod_queue_free (DebuginfodQueue *self)
{
  if (self == NULL)
    return;

  g_array_unref (self->files);
  g_free (self);
}

uint32_t
sysprof_debuginfod_queue_get_n (const DebuginfodQueue *self)
{
  return self->files->len;
}

static void
queue_add (DebuginfodQueue *self, const DebuginfodFile *file)
{
  DebuginfodFile copy = *file;

  copy.build_id = g_strdup (file->build_id);
  copy.source = g_strdup (file->source);
  g_array_append_val (self->files, copy);
}

void
sysprof_debuginfod_queue_fetch (DebuginfodQueue *self, DebuginfodFunc func, void *data)
{
  const Progress progress = { 0 };
  DebuginfodStatus status;

  sysprof_debuginfod_fetch ((DebuginfodFile *) (void *) self->files->data, self->files->len,
                            &progress, NULL, func, data, &status);
  status.is_done = true;
  func (&status, data);
  g_free (status.problem);
}

void
sysprof_debuginfod_fetch (DebuginfodFile *files,
                          uint32_t n,
                          const Progress *progress,
                          DebuginfodQueue *queue,
                          DebuginfodFunc func,
                          void *data,
                          DebuginfodStatus *status)
{
  g_autofree char *cache = find_cache ();
  int64_t miss_time = read_miss_time (cache);
  g_autofree DebuginfodFile **unknown = g_new (DebuginfodFile *, n + 1);
  uint32_t n_unknown = 0;

  *status = (DebuginfodStatus){ .is_of_sources = n > 0 && files[0].source != NULL };
  if (n > 0)
    qsort (files, n, sizeof *files, compare_weights);
  for (uint32_t i = 0; i < n; i++)
    switch (look_in_cache (cache, miss_time, &files[i]))
      {
      case CACHE_HAS:
        status->n_cached++;
        break;
      case CACHE_KNOWS_NONE:
        status->n_known_missing++;
        break;
      default:
        if (files[i].may_ask)
          unknown[n_unknown++] = &files[i];
        break;
      }

  if (n_unknown == 0)
    return;
  if (queue != NULL)
    {
      for (uint32_t i = 0; i < n_unknown; i++)
        queue_add (queue, unknown[i]);
      return;
    }
  status->problem = sysprof_debuginfod_check ();
  if (status->problem == NULL)
    sysprof_debuginfod_download (unknown, n_unknown, progress, func, data, status);
}

char *
sysprof_debuginfod_find_cached (const char *build_id)
{
  g_autofree char *cache = find_cache ();
  DebuginfodFile file = { .build_id = build_id };

  (void) look_in_cache (cache, 0, &file);
  return file.path;
}

void
sysprof_debuginfod_files_clear (DebuginfodFile *files, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    g_clear_pointer (&files[i].path, g_free);
}

/* --- configuration --- */

bool
sysprof_debuginfod_may_ask (bool is_wanted, bool is_refused)
{
  static const char folder[] = "/etc/debuginfod";
  const char *urls = g_getenv ("DEBUGINFOD_URLS");
  g_autoptr (GString) found = g_string_new (NULL);
  g_autoptr (GDir) dir = NULL;
  const char *name;

  if (is_refused)
    return false;
  if (urls != NULL && urls[0] != 0)
    return true;
  if (!is_wanted)
    return false;

  /* Programs started by a desktop do not have the environment that a login shell sets from this
   * directory. */
  dir = g_dir_open (folder, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autofree char *text = NULL;

      if (g_str_has_suffix (name, ".urls") && g_file_get_contents (path, &text, NULL, NULL))
        g_string_append_printf (found, "%s ", text);
    }
  g_strdelimit (g_strchomp (found->str), "\n\t", ' ');
  if (found->str[0] != 0)
    g_setenv ("DEBUGINFOD_URLS", found->str, TRUE);
  return true;
}

static void
add_part (GString *text, uint32_t n, const char *what)
{
  if (n > 0)
    g_string_append_printf (text, "%s%u %s", text->len > 0 ? ", " : "", n, what);
}

char *
sysprof_debuginfod_describe (const DebuginfodStatus *status)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const char *what = status->is_of_sources ? "source files" : "debug files";

  if (!status->is_done)
    return g_strdup_printf ("%u of %u %s, %.1f MB", status->n_done, status->n_asked, what,
                            (double) status->bytes / 1e6);

  add_part (text, status->n_cached, "from the cache");
  add_part (text, status->n_known_missing, "recently not found on servers");
  add_part (text, status->n_found, "found");
  if (status->n_found > 0)
    g_string_append_printf (text, " (%.1f MB)", (double) status->bytes / 1e6);
  add_part (text, status->n_not_found, "not found");
  add_part (text, status->n_failed, "not answered");
  if (status->n_failed > 0 && status->first_error != 0)
    g_string_append_printf (text, " (%s)", g_strerror (status->first_error));
  add_part (text, status->n_too_large,
            "skipped as larger than the limit (DEBUGINFOD_MAXSIZE, or 512 MiB if not set)");
  add_part (text, status->n_unfit, "rejected as not the requested file");
  if (status->n_asked > 0)
    {
      g_autofree char *asked = g_strdup_printf (
          "requested %u %s from servers in %.1f s: ", status->n_asked, what, status->seconds);

      g_string_prepend (text, asked);
    }
  else if (text->len > 0)
    {
      g_string_prepend (text, ": ");
      g_string_prepend (text, what);
    }
  if (text->len > 0)
    g_string_append (text, ". ");
  if (status->is_out_of_time)
    g_string_append (text, "The time limit was reached; debuginfod-find waits longer. ");
  if (status->problem != NULL)
    g_string_append (text, status->problem);
  g_strchomp (text->str);
  return text->str[0] != 0 ? g_strdup (text->str) : NULL;
}
