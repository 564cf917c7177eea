// SPDX-License-Identifier: GPL-3.0-or-later

/* Loads libdebuginfod when the first file is requested.
 *
 * The library fetches one file per call and reports the progress. So a few threads, each with
 * its own client, take one file after the other while the caller waits. Several limits bound
 * the wait: a download without new bytes is canceled, no more files are requested once no
 * server answers, and there is a time limit for all downloads. A thread that does not return,
 * for example from a DNS lookup, is abandoned together with its memory. */

#include "locate/debuginfod-download.h"

#include "util/util.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

/* *Frozen* once sysprof_debuginfod_load_library() has returned TRUE. */
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

bool
sysprof_debuginfod_load_library (char **problem)
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

void
sysprof_debuginfod_download (DebuginfodFile *const *files,
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
