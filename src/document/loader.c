// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens a capture on a worker thread: columns, then names, then the object over both.
 *
 * The loader is *owned* by the thread that made it, except for its progress. */

#include "document/objects.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct _SysprofDocumentLoader
{
  GObject parent_instance;
  char *filename; /* NULL: `fd` is read */
  char *name;     /* of what `fd` leads to, or NULL */
  int fd;
  SysprofSymbolizer *symbolizer; /* nullable */
  SymbolizeOptions options;      /* what it points to is ours */
  GListStore *tasks;             /* of SysprofDocumentTask */

  /* *Guarded* by `lock`: the worker writes it, anybody asks. */
  GMutex lock;
  double fraction;
  const char *message; /* static */
};

G_DEFINE_FINAL_TYPE (SysprofDocumentLoader, sysprof_document_loader, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_FRACTION,
  PROP_MESSAGE,
  PROP_SYMBOLIZER,
  PROP_TASKS,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

/* Of the two steps, naming takes longer where ELF files are read, and next to nothing otherwise. */
#define FRACTION_OF_READING 0.5
#define FRACTION_OF_LINES   0.2 /* on request */

/* Who opens and who parses the files that names come from: the kernel's, all others, and once more for lines. */
#define N_CHILDREN 6
#define LARGE_CAPTURE \
  ((off_t) 16 << 20) /* bytes: smaller ones leave the process as small as it was */

static gboolean
notify_progress (gpointer data)
{
  SysprofDocumentLoader *self = data;

  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FRACTION]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_MESSAGE]);
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->tasks)); i++)
    {
      g_autoptr (GObject) task = g_list_model_get_item (G_LIST_MODEL (self->tasks), i);

      g_object_notify (task, "progress");
      g_object_notify (task, "message");
    }
  return G_SOURCE_REMOVE;
}

/* Where a step of loading is in the whole. */
typedef struct
{
  SysprofDocumentLoader *loader;
  GTask *task;
  SysprofDocumentTask *shown;
  double begin;
  double share;
} Telling;

static void
tell (double step, const char *message, void *data)
{
  const Telling *telling = data;
  SysprofDocumentLoader *self = telling->loader;
  double fraction = telling->begin + telling->share * step;
  g_autoptr (GSource) source = g_idle_source_new ();

  g_mutex_lock (&self->lock);
  self->fraction = fraction;
  self->message = message;
  g_mutex_unlock (&self->lock);
  sysprof_document_task_set_progress (telling->shown, fraction, message);

  /* Not below the priority of the task: what is notified comes before its end. */
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, notify_progress, g_object_ref (self), g_object_unref);
  g_source_attach (source, g_task_get_context (telling->task));
}

/* A copy of the settings at the start: after canceling, the caller may change the loader
 * while the worker still runs. */
typedef struct
{
  SysprofDocument *earlier; /* NULL where all is loaded, whatever was before */
  SysprofDocumentTask *shown;
  GCancellable *cancellable; /* the caller's, or NULL */
  gulong handler;            /* of it, or 0 */
  SymbolizeOptions options;
} Request;

static void
free_request (gpointer data)
{
  Request *self = data;

  g_clear_object (&self->earlier);
  g_clear_object (&self->shown);
  if (self->handler != 0)
    g_signal_handler_disconnect (self->cancellable, self->handler);
  g_clear_object (&self->cancellable);
  sysprof_symbolize_options_clear (&self->options);
  g_free (self);
}

/* Whether the file is no longer what `earlier` was made of. FALSE with `error` set where it cannot be read twice. */
static bool
has_changed (SysprofDocumentLoader *self, SysprofDocument *earlier, GError **error)
{
  const char *name = self->filename != NULL ? self->filename
                     : self->name != NULL   ? self->name
                                            : "the capture";
  autofd own = -1;
  int fd = self->fd;
  struct stat info;

  if (g_strcmp0 (self->filename, "-") == 0)
    fd = STDIN_FILENO;
  else if (self->filename != NULL)
    fd = own = open (self->filename, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat (fd, &info) < 0)
    {
      sysprof_set_error_errno (error, "Cannot follow '%s'", name);
      return false;
    }
  if (!S_ISREG (info.st_mode))
    {
      g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                   "Cannot follow '%s': what was read from a pipe cannot be read again. "
                   "Record to a file, and follow that.",
                   name);
      return false;
    }

  return !sysprof_store_is_current (earlier->store, fd);
}

static bool
is_large (const SysprofDocumentLoader *self)
{
  struct stat info;

  return (self->filename != NULL ? stat (self->filename, &info) : fstat (self->fd, &info)) ==
             0 &&
         S_ISREG (info.st_mode) && info.st_size >= LARGE_CAPTURE;
}

/* NULL without error where nothing came since the earlier document. */
static SysprofDocument *
load (SysprofDocumentLoader *self,
      const Request *request,
      GTask *task,
      GCancellable *cancellable,
      GError **error)
{
  g_autoptr (Store) store = NULL;
  g_autoptr (SymbolTable) symbols = NULL;
  Telling telling = { self, task, request->shown, 0, FRACTION_OF_READING };
  Progress progress = { .cancellable = cancellable, .func = tell, .data = &telling };
  double fraction_of_lines = request->options.with_lines ? FRACTION_OF_LINES : 0;

  if (request->earlier != NULL && !has_changed (self, request->earlier, error))
    return NULL;

  if (self->filename != NULL)
    store = sysprof_store_open_telling (self->filename, &progress, error);
  else
    store = sysprof_store_open_fd_telling (self->fd, self->name, &progress, error);
  if (store == NULL)
    return NULL;

  telling.begin = FRACTION_OF_READING;
  telling.share = 1 - FRACTION_OF_READING - fraction_of_lines;
  progress = (Progress){ .cancellable = cancellable, .func = tell, .data = &telling };
  symbols = sysprof_symbolize_telling (store, &request->options, &progress, error);
  if (symbols == NULL)
    return NULL;

  telling.begin = 1 - fraction_of_lines;
  telling.share = fraction_of_lines;
  progress = (Progress){ .cancellable = cancellable, .func = tell, .data = &telling };
  if (request->options.with_lines &&
      !sysprof_symbol_table_load_lines (symbols, store, &request->options, &progress, error))
    return NULL;

  tell (1, "Done", &telling);
  return sysprof_document_new (g_steal_pointer (&store), g_steal_pointer (&symbols),
                               self->filename);
}

static void
load_on_worker (GTask *task, gpointer source, gpointer task_data, GCancellable *cancellable)
{
  GError *error = NULL;
  SysprofDocument *document;

  /* Who has an earlier document has grown already. */
  if (((const Request *) task_data)->earlier == NULL && is_large (source))
    sysprof_confined_children_prepare (N_CHILDREN);
  document = load (source, task_data, task, cancellable, &error);
  sysprof_confined_children_dismiss ();

  if (error == NULL)
    g_task_return_pointer (task, document, g_object_unref);
  else
    g_task_return_error (task, error);
}

static void
cancel_other (GCancellable *cancellable, gpointer other)
{
  g_cancellable_cancel (other);
}

/* Its answer has been given. */
static void
hide (GTask *task, GParamSpec *pspec, gpointer data)
{
  SysprofDocumentLoader *self = g_task_get_source_object (task);
  const Request *request = g_task_get_task_data (task);
  guint position;

  if (g_list_store_find (self->tasks, request->shown, &position))
    g_list_store_remove (self->tasks, position);
}

/* Who looks at the tasks sees the load, and may cancel it: as the caller may, through the same cancellable. */
static void
show (SysprofDocumentLoader *self, Request *request, GCancellable *cancellable)
{
  const char *path = self->filename != NULL ? self->filename : self->name;
  g_autofree char *name = path != NULL ? g_path_get_basename (path) : NULL;
  g_autofree char *title =
      name != NULL ? g_strdup_printf ("Loading '%s'", name) : g_strdup ("Loading a capture");

  request->shown = sysprof_document_task_new (title, cancellable);
  g_list_store_append (self->tasks, request->shown);
}

static void
start (SysprofDocumentLoader *self,
       SysprofDocument *earlier,
       GCancellable *cancellable,
       GAsyncReadyCallback callback,
       gpointer user_data)
{
  g_autoptr (GCancellable) either = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (self, either, callback, user_data);
  SymbolizeOptions options = self->options;
  Request *request = g_new0 (Request, 1);

  if (self->symbolizer != NULL)
    sysprof_symbolizer_configure (self->symbolizer, &options);
  sysprof_symbolize_options_copy (&options, &request->options);
  g_set_object (&request->earlier, earlier);
  show (self, request, either);
  if (g_set_object (&request->cancellable, cancellable))
    request->handler = g_cancellable_connect (cancellable, G_CALLBACK (cancel_other),
                                              g_object_ref (either), g_object_unref);
  g_task_set_source_tag (task, start);
  g_task_set_task_data (task, request, free_request);
  g_signal_connect (task, "notify::completed", G_CALLBACK (hide), NULL);
  /* Who cancels is answered at once, also where the worker waits for a disk. */
  g_task_set_return_on_cancel (task, TRUE);
  sysprof_run_in_thread (task, load_on_worker);
}

void
sysprof_document_loader_load_async (SysprofDocumentLoader *self,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data)
{
  g_return_if_fail (SYSPROF_IS_DOCUMENT_LOADER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  start (self, NULL, cancellable, callback, user_data);
}

void
sysprof_document_loader_follow_async (SysprofDocumentLoader *self,
                                      SysprofDocument *earlier,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data)
{
  g_return_if_fail (SYSPROF_IS_DOCUMENT_LOADER (self));
  g_return_if_fail (SYSPROF_IS_DOCUMENT (earlier));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  start (self, earlier, cancellable, callback, user_data);
}

SysprofDocument *
sysprof_document_loader_load_finish (SysprofDocumentLoader *self,
                                     GAsyncResult *result,
                                     GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

SysprofDocument *
sysprof_document_loader_follow_finish (SysprofDocumentLoader *self,
                                       GAsyncResult *result,
                                       GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

static void
keep_result (GObject *object, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

static SysprofDocument *
start_and_wait (SysprofDocumentLoader *self,
                SysprofDocument *earlier,
                GCancellable *cancellable,
                GError **error)
{
  g_autoptr (GMainContext) context = g_main_context_ref_thread_default ();
  g_autoptr (GMainContext) own = NULL;
  g_autoptr (GAsyncResult) result = NULL;

  /* A thread may call us whose default context another thread runs; there the callback would never be ours. */
  if (!g_main_context_acquire (context))
    {
      own = g_main_context_new ();
      g_main_context_push_thread_default (own);
    }

  start (self, earlier, cancellable, keep_result, &result);
  while (result == NULL)
    g_main_context_iteration (own != NULL ? own : context, TRUE);

  if (own != NULL)
    g_main_context_pop_thread_default (own);
  else
    g_main_context_release (context);
  return g_task_propagate_pointer (G_TASK (result), error);
}

SysprofDocument *
sysprof_document_loader_load (SysprofDocumentLoader *self,
                              GCancellable *cancellable,
                              GError **error)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_LOADER (self), NULL);

  return start_and_wait (self, NULL, cancellable, error);
}

SysprofDocument *
sysprof_document_loader_follow (SysprofDocumentLoader *self,
                                SysprofDocument *earlier,
                                GCancellable *cancellable,
                                GError **error)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_LOADER (self), NULL);
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (earlier), NULL);

  return start_and_wait (self, earlier, cancellable, error);
}

void
sysprof_document_loader_set_name (SysprofDocumentLoader *self, const char *name)
{
  g_free (self->name);
  self->name = g_strdup (name);
}

void
sysprof_document_loader_set_symbolize_options (SysprofDocumentLoader *self,
                                               const SymbolizeOptions *options)
{
  sysprof_symbolize_options_clear (&self->options);
  sysprof_symbolize_options_copy (options, &self->options);
}

SysprofSymbolizer *
sysprof_document_loader_get_symbolizer (SysprofDocumentLoader *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_LOADER (self), NULL);

  return self->symbolizer;
}

void
sysprof_document_loader_set_symbolizer (SysprofDocumentLoader *self,
                                        SysprofSymbolizer *symbolizer)
{
  g_return_if_fail (SYSPROF_IS_DOCUMENT_LOADER (self));
  g_return_if_fail (symbolizer == NULL || SYSPROF_IS_SYMBOLIZER (symbolizer));

  if (g_set_object (&self->symbolizer, symbolizer))
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SYMBOLIZER]);
}

double
sysprof_document_loader_get_fraction (SysprofDocumentLoader *self)
{
  double fraction;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_LOADER (self), 0);

  g_mutex_lock (&self->lock);
  fraction = self->fraction;
  g_mutex_unlock (&self->lock);
  return fraction;
}

char *
sysprof_document_loader_dup_message (SysprofDocumentLoader *self)
{
  const char *message;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_LOADER (self), NULL);

  g_mutex_lock (&self->lock);
  message = self->message;
  g_mutex_unlock (&self->lock);
  return g_strdup (message);
}

const char *
sysprof_document_loader_get_message (SysprofDocumentLoader *self)
{
  return NULL;
}

GListModel *
sysprof_document_loader_list_tasks (SysprofDocumentLoader *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_LOADER (self), NULL);

  return G_LIST_MODEL (g_object_ref (self->tasks));
}

SysprofDocumentLoader *
sysprof_document_loader_new (const char *filename)
{
  SysprofDocumentLoader *self;

  g_return_val_if_fail (filename != NULL, NULL);

  self = g_object_new (SYSPROF_TYPE_DOCUMENT_LOADER, NULL);
  self->filename = g_strdup (filename);
  return self;
}

SysprofDocumentLoader *
sysprof_document_loader_new_for_fd (int fd, GError **error)
{
  autofd copy = fcntl (fd, F_DUPFD_CLOEXEC, 0);
  SysprofDocumentLoader *self;

  if (copy < 0)
    {
      sysprof_set_error_errno (error, "Cannot read a capture from descriptor %d", fd);
      return NULL;
    }

  self = g_object_new (SYSPROF_TYPE_DOCUMENT_LOADER, NULL);
  self->fd = sysprof_steal_fd (&copy);
  return self;
}

static void
sysprof_document_loader_finalize (GObject *object)
{
  SysprofDocumentLoader *self = SYSPROF_DOCUMENT_LOADER (object);

  g_free (self->filename);
  g_free (self->name);
  sysprof_autofd_close (&self->fd);
  g_clear_object (&self->symbolizer);
  g_clear_object (&self->tasks);
  sysprof_symbolize_options_clear (&self->options);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (sysprof_document_loader_parent_class)->finalize (object);
}

static void
sysprof_document_loader_get_property (GObject *object,
                                      guint id,
                                      GValue *value,
                                      GParamSpec *pspec)
{
  SysprofDocumentLoader *self = SYSPROF_DOCUMENT_LOADER (object);

  switch (id)
    {
    case PROP_FRACTION:
      g_value_set_double (value, sysprof_document_loader_get_fraction (self));
      break;
    case PROP_MESSAGE:
      g_value_take_string (value, sysprof_document_loader_dup_message (self));
      break;
    case PROP_SYMBOLIZER:
      g_value_set_object (value, self->symbolizer);
      break;
    case PROP_TASKS:
      g_value_set_object (value, self->tasks);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_document_loader_set_property (GObject *object,
                                      guint id,
                                      const GValue *value,
                                      GParamSpec *pspec)
{
  switch (id)
    {
    case PROP_SYMBOLIZER:
      sysprof_document_loader_set_symbolizer (SYSPROF_DOCUMENT_LOADER (object),
                                              g_value_get_object (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_document_loader_class_init (SysprofDocumentLoaderClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->finalize = sysprof_document_loader_finalize;
  object_class->get_property = sysprof_document_loader_get_property;
  object_class->set_property = sysprof_document_loader_set_property;

  properties[PROP_FRACTION] = g_param_spec_double ("fraction", NULL, NULL, 0, 1, 0,
                                                   G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  properties[PROP_MESSAGE] = g_param_spec_string ("message", NULL, NULL, NULL,
                                                  G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  properties[PROP_SYMBOLIZER] = g_param_spec_object (
      "symbolizer", NULL, NULL, SYSPROF_TYPE_SYMBOLIZER,
      G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
  properties[PROP_TASKS] = g_param_spec_object ("tasks", NULL, NULL, G_TYPE_LIST_MODEL,
                                                G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_document_loader_init (SysprofDocumentLoader *self)
{
  self->fd = -1;
  self->tasks = g_list_store_new (SYSPROF_TYPE_DOCUMENT_TASK);
  g_mutex_init (&self->lock);
}
