// SPDX-License-Identifier: GPL-3.0-or-later

/* A client for debuginfod servers. It loads libdebuginfod when the first file is requested.
 *
 * The library fetches one file per call and reports the progress. So a few threads, each with
 * its own client, take one file after the other while the caller waits. Several limits bound
 * the wait: a download without new bytes is canceled, no more files are requested once no
 * server answers, and there is a time limit for all downloads. A thread that does not return,
 * for example from a DNS lookup, is abandoned together with its memory.
 *
 * The layout of the cache is that of libdebuginfod and gdb: BUILDID/debuginfo,
 * BUILDID/executable. An empty file means that no server had the file. */

#include "locate/debuginfod-client.h"

#include "util/util.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY      "libdebuginfod.so.1"
#define MOST_THREADS 4
#define MOST_BYTES \
  (INT64_C (512) << 20) /* of one file, unless DEBUGINFOD_MAXSIZE sets another limit */
#define PATIENCE  (5 * G_USEC_PER_SEC)  /* without new bytes */
#define MOST_TIME (60 * G_USEC_PER_SEC) /* for all files */
#define PATIENCE_FOR_END \
  (2 * G_USEC_PER_SEC) /* the library calls the progress function once per second */
#define BETWEEN_LOOKS (G_USEC_PER_SEC / 10)
/* Number of files without an answer from any server after which servers are given up; 1 if none
 * has answered yet */
#define MOST_SILENT 4
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

/* --- the library --- */

typedef struct debuginfod_client Client;
typedef int (*ProgressFn) (Client *client, long a, long b);

/* The declarations of <elfutils/debuginfod.h>. */
typedef struct
{
  Client *(*begin) (void);
  void (*end) (Client *);
  int (*find_debuginfo) (Client *, const unsigned char *build_id, int size, char **path);
  int (*find_executable) (Client *, const unsigned char *build_id, int size, char **path);
  int (*find_source) (Client *,
                      const unsigned char *build_id,
                      int size,
                      const char *source,
                      char **path);
  void (*set_progressfn) (Client *, ProgressFn);
  void (*set_user_data) (Client *, void *);
  void *(*get_user_data) (Client *);
} Library;

/* *Frozen* once load_library() has returned TRUE. */
static Library library;

/* The library is never unloaded, because abandoned threads may still run its code. */
static bool
load_functions (char **problem)
{
  static bool is_loaded;
  void *handle;
  const struct
  {
    const char *name;
    void *into;
  } functions[] = {
    { "debuginfod_begin", &library.begin },
    { "debuginfod_end", &library.end },
    { "debuginfod_find_debuginfo", &library.find_debuginfo },
    { "debuginfod_find_executable", &library.find_executable },
    { "debuginfod_find_source", &library.find_source },
    { "debuginfod_set_progressfn", &library.set_progressfn },
    { "debuginfod_set_user_data", &library.set_user_data },
    { "debuginfod_get_user_data", &library.get_user_data },
  };

  if (is_loaded)
    return true;
  handle = dlopen (LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL)
    {
      *problem = g_strdup_printf ("No debuginfod server was queried: %s. Install libdebuginfod "
                                  "(package libdebuginfod1 on Debian).",
                                  dlerror ());
      return false;
    }

  for (size_t i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      void *function = dlsym (handle, functions[i].name);

      if (function == NULL)
        {
          *problem = g_strdup_printf ("No debuginfod server was queried: " LIBRARY
                                      " has no %s. Install version 0.179 or later.",
                                      functions[i].name);
          return false;
        }
      memcpy (functions[i].into, &function, sizeof function);
    }
  is_loaded = true;
  return true;
}

/* On failure returns FALSE and sets `problem`, which the caller frees. May be called from any
 * thread. */
static bool
load_library (char **problem)
{
  static GMutex lock;
  bool is_loaded;

  g_mutex_lock (&lock);
  is_loaded = load_functions (problem);
  g_mutex_unlock (&lock);
  return is_loaded;
}

/* --- downloads --- */

typedef enum
{
  WAITING,
  RUNNING,
  FINISHED,
} DownloadState;

typedef struct
{
  char *build_id;
  char *source; /* NULL, or as in DebuginfodFile */
  bool is_executable;
  DownloadState state;
  int64_t last_news; /* monotonic: the start, or the last time bytes arrived */
  long told;         /* byte count that the library reported last */
  int64_t bytes;     /* received so far */
  bool is_too_large;
  bool was_stopped; /* by this client */
  int result;       /* of the library: a descriptor, here 0, or -errno */
  char *path;
} Download;

/* *Guarded* by `lock`, except for the members that never change: `most_bytes`, `n`. */
typedef struct
{
  gint n_references;
  int64_t most_bytes; /* per file; 0 = unlimited */
  GMutex lock;
  GCond changed;
  Download *row; /* [n] the heaviest first */
  uint32_t n;
  uint32_t next; /* index of the next one to start */
  uint32_t n_running;
  uint32_t n_answered;
  uint32_t n_silent;  /* ended without an answer from any server */
  bool takes_no_more; /* start no more downloads; running ones continue */
  bool is_stopped;
} Downloads;

static void
downloads_unref (Downloads *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_references))
    return;

  for (uint32_t i = 0; i < self->n; i++)
    {
      g_free (self->row[i].build_id);
      g_free (self->row[i].source);
      g_free (self->row[i].path);
    }
  g_free (self->row);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self);
}

/* The download that a thread of the library is working on. */
typedef struct
{
  Downloads *downloads;
  Download *current;
} Worker;

/* The library passes the bytes received and the total. While no server has answered, it passes
 * the number of calls so far, and 0. */
static int
on_progress (Client *client, long a, long b)
{
  const Worker *worker = library.get_user_data (client);
  Downloads *downloads = worker->downloads;
  Download *download = worker->current;
  int64_t now = g_get_monotonic_time ();
  bool is_wanted;

  g_mutex_lock (&downloads->lock);
  if (a != download->told && (b > 0 || a != download->told + 1))
    {
      download->last_news = now;
      download->bytes = a;
    }
  download->told = a;
  download->is_too_large =
      downloads->most_bytes > 0 && MAX (b, download->bytes) > downloads->most_bytes;
  is_wanted =
      !downloads->is_stopped && !download->is_too_large && now - download->last_news < PATIENCE;
  download->was_stopped |= !is_wanted;
  g_mutex_unlock (&downloads->lock);
  return is_wanted ? 0 : 1;
}

static bool
take_next (Downloads *self, Worker *worker)
{
  if (self->is_stopped || self->takes_no_more || self->next == self->n)
    return false;

  worker->current = &self->row[self->next++];
  worker->current->state = RUNNING;
  worker->current->last_news = g_get_monotonic_time ();
  return true;
}

/* The caller holds the lock. */
static void
finish (Downloads *self, Download *download, int result, char *path)
{
  download->state = FINISHED;
  download->result = result;
  download->path = path;
  if (download->bytes > 0 || result >= 0 || (result == -ENOENT && !download->was_stopped))
    self->n_answered++;
  else
    self->n_silent++;
  /* Each further file would take as long as this one did. */
  self->takes_no_more |= self->n_silent >= (self->n_answered > 0 ? MOST_SILENT : 1);
  g_cond_broadcast (&self->changed);
}

/* The caller does not hold the lock. */
static void
change_running (Downloads *self, int difference)
{
  g_mutex_lock (&self->lock);
  self->n_running += (uint32_t) difference;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

static int
find_file (Client *client, const Download *file, char **path)
{
  const unsigned char *build_id = (const unsigned char *) file->build_id;

  if (file->source != NULL)
    return library.find_source (client, build_id, 0, file->source, path);
  return (file->is_executable ? library.find_executable
                              : library.find_debuginfo) (client, build_id, 0, path);
}

static void *
download_all (void *data)
{
  Downloads *downloads = data;
  Worker worker = { .downloads = downloads };
  Client *client = library.begin ();

  if (client != NULL)
    {
      library.set_user_data (client, &worker);
      library.set_progressfn (client, on_progress);
    }

  g_mutex_lock (&downloads->lock);
  while (take_next (downloads, &worker))
    {
      const Download *current = worker.current;
      char *path = NULL;
      int result = -ENOMEM;

      g_mutex_unlock (&downloads->lock);
      if (client != NULL)
        result = find_file (client, current, &path);
      if (result >= 0)
        (void) close (result); /* the parser opens it again */
      g_mutex_lock (&downloads->lock);
      finish (downloads, worker.current, MIN (result, 0), result >= 0 ? g_strdup (path) : NULL);
      free (path);
    }
  g_mutex_unlock (&downloads->lock);

  /* This must happen before the thread reports its end, so that no code of the library runs
   * while the program exits. */
  if (client != NULL)
    library.end (client);
  change_running (downloads, -1);
  downloads_unref (downloads);
  return NULL;
}

static Downloads *
downloads_new (const DebuginfodFile *const *files, uint32_t n)
{
  Downloads *self = g_new0 (Downloads, 1);
  const char *given = g_getenv ("DEBUGINFOD_MAXSIZE");

  self->n_references = 1;
  self->most_bytes = MOST_BYTES;
  if (given != NULL && given[0] != 0)
    self->most_bytes = g_ascii_strtoll (given, NULL, 10);
  self->row = g_new0 (Download, n);
  self->n = n;
  for (uint32_t i = 0; i < n; i++)
    {
      self->row[i].build_id = g_strdup (files[i]->build_id);
      self->row[i].source = g_strdup (files[i]->source);
      self->row[i].is_executable = files[i]->is_executable;
    }
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  return self;
}

static void
start_threads (Downloads *self)
{
  for (uint32_t i = 0; i < MIN (self->n, MOST_THREADS); i++)
    {
      g_autoptr (GThread) thread = NULL;

      g_atomic_int_inc (&self->n_references);
      change_running (self, 1);
      thread = g_thread_try_new ("debuginfod", download_all, self, NULL);
      if (thread == NULL)
        {
          change_running (self, -1);
          downloads_unref (self);
        }
    }
}

/* --- waiting --- */

/* The caller holds the lock. */
static void
count (Downloads *self, DebuginfodStatus *status)
{
  DebuginfodStatus now = *status;

  now.n_done = now.n_found = now.n_not_found = now.n_failed = now.n_too_large = 0;
  now.bytes = 0;
  now.first_error = 0;
  for (uint32_t i = 0; i < self->n; i++)
    {
      const Download *download = &self->row[i];

      now.bytes += (uint64_t) MAX (download->bytes, 0);
      if (download->state != FINISHED)
        continue;
      now.n_done++;
      if (download->path != NULL)
        now.n_found++;
      else if (download->is_too_large)
        now.n_too_large++;
      else if (download->result == -ENOENT && !download->was_stopped)
        now.n_not_found++;
      else
        {
          now.n_failed++;
          if (now.first_error == 0)
            now.first_error = download->was_stopped ? ETIMEDOUT : -download->result;
        }
    }
  *status = now;
}

/* Each thread checks once per second whether to continue. A thread that does not is stuck in
 * the library. */
static void
wait_for_all (Downloads *self,
              const Progress *progress,
              DebuginfodFunc func,
              void *data,
              DebuginfodStatus *status)
{
  int64_t begin = g_get_monotonic_time ();
  int64_t end = begin + MOST_TIME;

  g_mutex_lock (&self->lock);
  while (self->n_running > 0 && g_get_monotonic_time () < end)
    {
      (void) g_cond_wait_until (&self->changed, &self->lock,
                                g_get_monotonic_time () + BETWEEN_LOOKS);
      if (sysprof_progress_is_cancelled (progress))
        break;
      count (self, status);
      status->seconds = (double) (g_get_monotonic_time () - begin) / G_USEC_PER_SEC;
      if (func != NULL)
        {
          g_mutex_unlock (&self->lock);
          func (status, data);
          g_mutex_lock (&self->lock);
        }
    }

  status->is_out_of_time = g_get_monotonic_time () - begin >= MOST_TIME;
  self->is_stopped = true;
  end = g_get_monotonic_time () + PATIENCE_FOR_END;
  while (self->n_running > 0 && g_cond_wait_until (&self->changed, &self->lock, end))
    continue;
  count (self, status);
  status->n_failed += self->n - status->n_done;
  status->seconds = (double) (g_get_monotonic_time () - begin) / G_USEC_PER_SEC;
  g_mutex_unlock (&self->lock);
}

static void
ask_servers (DebuginfodFile *const *files,
             uint32_t n,
             const Progress *progress,
             DebuginfodFunc func,
             void *data,
             DebuginfodStatus *status)
{
  Downloads *downloads = downloads_new ((const DebuginfodFile *const *) files, n);

  status->n_asked = n;
  start_threads (downloads);
  wait_for_all (downloads, progress, func, data, status);

  g_mutex_lock (&downloads->lock);
  for (uint32_t i = 0; i < n; i++)
    if (downloads->row[i].state == FINISHED)
      files[i]->path = g_steal_pointer (&downloads->row[i].path);
  g_mutex_unlock (&downloads->lock);
  downloads_unref (downloads);
}

/* --- both --- */

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
  return load_library (&problem) ? NULL : problem;
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
    ask_servers (unknown, n_unknown, progress, func, data, status);
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
