// SPDX-License-Identifier: GPL-3.0-or-later

/* The public object of a running recording.
 *
 * *Owned* by the thread whose main context started it. The events of the pump thread arrive
 * there as GSources: the functions in `events` only attach such sources. The recording holds a
 * reference to itself until the end of the recording has been reported. */

#include "record/recording.h"

#include "record/diagnostic.h"
#include "record/record.h"
#include "util/util.h"

struct _SysprofRecording
{
  GObject parent_instance;
  GMainContext *context;
  RecordingThread *thread;
  GListStore *diagnostics;
  GSubprocess *subprocess; /* NULL = none, or not yet */
  GCancellable *cancellable;
  gulong cancelled_id;
  GPtrArray *waiting; /* [GTask] NULL = the recording has ended */
  GError *error;
};

enum
{
  PROP_0,
  PROP_DIAGNOSTICS,
  PROP_DURATION,
  PROP_EVENT_COUNT,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (SysprofRecording, sysprof_recording, G_TYPE_OBJECT)

static GParamSpec *properties[N_PROPS];

/* --- events of the recording thread, passed to the recording's main context --- */

typedef struct
{
  SysprofRecording *self; /* a reference */
  GObject *object;
  GError *error;
  bool is_sent; /* atomic: for ThreadSanitizer, which does not know the context's lock */
} News;

static News *
receive_news (gpointer data)
{
  News *news = data;

  (void) __atomic_load_n (&news->is_sent, __ATOMIC_ACQUIRE); /* pairs with send_news() */
  return news;
}

static void
free_news (gpointer data)
{
  News *news = receive_news (data);

  g_object_unref (news->self);
  g_clear_object (&news->object);
  g_clear_error (&news->error);
  g_free (news);
}

/* All sources have the same priority, so they are dispatched in the order in which they are
 * sent. */
static void
send_news (SysprofRecording *self, GSourceFunc func, GObject *object, const GError *error)
{
  News *news = g_new0 (News, 1);
  GSource *source = g_idle_source_new ();

  news->self = g_object_ref (self);
  news->object = object;
  news->error = error != NULL ? g_error_copy (error) : NULL;

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, func, news, free_news);
  __atomic_store_n (&news->is_sent, true, __ATOMIC_RELEASE);
  g_source_attach (source, self->context);
  g_source_unref (source);
}

static gboolean
take_diagnostic (gpointer data)
{
  News *news = receive_news (data);

  g_list_store_append (news->self->diagnostics, news->object);
  return G_SOURCE_REMOVE;
}

static void
send_diagnostic (void *data, const char *domain, const char *message, bool fatal)
{
  send_news (data, take_diagnostic, G_OBJECT (sysprof_diagnostic_new (domain, message, fatal)),
             NULL);
}

static gboolean
take_subprocess (gpointer data)
{
  News *news = receive_news (data);

  g_set_object (&news->self->subprocess, G_SUBPROCESS (news->object));
  return G_SOURCE_REMOVE;
}

static void
send_subprocess (void *data, GSubprocess *subprocess)
{
  send_news (data, take_subprocess, G_OBJECT (g_object_ref (subprocess)), NULL);
}

static gboolean
take_second (gpointer data)
{
  News *news = receive_news (data);

  g_object_notify_by_pspec (G_OBJECT (news->self), properties[PROP_DURATION]);
  g_object_notify_by_pspec (G_OBJECT (news->self), properties[PROP_EVENT_COUNT]);
  return G_SOURCE_REMOVE;
}

static void
send_second (void *data)
{
  send_news (data, take_second, NULL, NULL);
}

static void
complete_wait (SysprofRecording *self, GTask *task)
{
  GSource *cancelled = g_task_get_task_data (task);

  if (cancelled != NULL)
    g_source_destroy (cancelled); /* it holds the task */
  if (self->error != NULL)
    g_task_return_error (task, g_error_copy (self->error));
  else
    g_task_return_boolean (task, TRUE);
}

static void
forget_cancellable (SysprofRecording *self)
{
  if (self->cancelled_id != 0)
    g_cancellable_disconnect (self->cancellable, self->cancelled_id);
  self->cancelled_id = 0;
  g_clear_object (&self->cancellable);
}

static gboolean
take_end (gpointer data)
{
  News *news = receive_news (data);
  SysprofRecording *self = news->self;
  g_autoptr (GPtrArray) waiting = g_steal_pointer (&self->waiting);

  self->error = g_steal_pointer (&news->error);
  forget_cancellable (self);
  take_second (news);

  for (guint i = 0; i < waiting->len; i++)
    complete_wait (self, g_ptr_array_index (waiting, i));

  g_object_unref (self); /* the reference of the recording thread */
  return G_SOURCE_REMOVE;
}

static void
send_end (void *data, const GError *error)
{
  send_news (data, take_end, NULL, error);
}

static const RecordingEvents events = {
  .diagnostic = send_diagnostic,
  .spawned = send_subprocess,
  .second = send_second,
  .ended = send_end,
};

/* --- the object --- */

static void
sysprof_recording_finalize (GObject *object)
{
  SysprofRecording *self = SYSPROF_RECORDING (object);

  forget_cancellable (self);
  g_clear_pointer (&self->thread, sysprof_recording_thread_free);
  g_clear_object (&self->diagnostics);
  g_clear_object (&self->subprocess);
  g_clear_pointer (&self->waiting, g_ptr_array_unref);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_clear_error (&self->error);
  G_OBJECT_CLASS (sysprof_recording_parent_class)->finalize (object);
}

static void
sysprof_recording_get_property (GObject *object,
                                guint prop_id,
                                GValue *value,
                                GParamSpec *pspec)
{
  SysprofRecording *self = SYSPROF_RECORDING (object);

  switch (prop_id)
    {
    case PROP_DIAGNOSTICS:
      g_value_set_object (value, SYSPROF_RECORDING (object)->diagnostics);
      break;
    case PROP_DURATION:
      g_value_set_int64 (value, sysprof_recording_get_duration (self));
      break;
    case PROP_EVENT_COUNT:
      g_value_set_uint64 (value, sysprof_recording_get_event_count (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
sysprof_recording_class_init (SysprofRecordingClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = sysprof_recording_finalize;
  object_class->get_property = sysprof_recording_get_property;

  properties[PROP_DIAGNOSTICS] =
      g_param_spec_object ("diagnostics", NULL, NULL, G_TYPE_LIST_MODEL, flags);
  properties[PROP_DURATION] =
      g_param_spec_int64 ("duration", NULL, NULL, 0, G_MAXINT64, 0, flags);
  properties[PROP_EVENT_COUNT] =
      g_param_spec_uint64 ("event-count", NULL, NULL, 0, G_MAXUINT64, 0, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_recording_init (SysprofRecording *self)
{
  self->diagnostics = g_list_store_new (SYSPROF_TYPE_DIAGNOSTIC);
  self->waiting = g_ptr_array_new_with_free_func (g_object_unref);
}

/* Called on the thread that cancels. */
static void
cancelled (GCancellable *cancellable, gpointer data)
{
  sysprof_recording_thread_request_stop (data);
}

SysprofRecording *
sysprof_recording_start (SysprofCaptureWriter *writer,
                         const RecordingOptions *options,
                         GCancellable *cancellable)
{
  SysprofRecording *self = g_object_new (SYSPROF_TYPE_RECORDING, NULL);
  g_autoptr (GError) error = NULL;

  self->context = g_main_context_ref_thread_default ();
  self->thread = sysprof_recording_thread_new (writer, options, &events, self);
  g_object_ref (self); /* until take_end() */

  if (!sysprof_recording_thread_start (self->thread, &error))
    {
      send_end (self, error);
      return self;
    }

  if (cancellable != NULL)
    {
      self->cancellable = g_object_ref (cancellable);
      self->cancelled_id =
          g_cancellable_connect (cancellable, G_CALLBACK (cancelled), self->thread, NULL);
    }

  return self;
}

GListModel *
sysprof_recording_list_diagnostics (SysprofRecording *self)
{
  g_return_val_if_fail (SYSPROF_IS_RECORDING (self), NULL);

  return G_LIST_MODEL (g_object_ref (self->diagnostics));
}

gint64
sysprof_recording_get_duration (SysprofRecording *self)
{
  RecordingStatus status;

  g_return_val_if_fail (SYSPROF_IS_RECORDING (self), 0);

  sysprof_recording_thread_get_status (self->thread, &status);
  return status.duration / 1000;
}

guint64
sysprof_recording_get_event_count (SysprofRecording *self)
{
  RecordingStatus status;

  g_return_val_if_fail (SYSPROF_IS_RECORDING (self), 0);

  sysprof_recording_thread_get_status (self->thread, &status);
  return status.n_frames;
}

GSubprocess *
sysprof_recording_get_subprocess (SysprofRecording *self)
{
  g_return_val_if_fail (SYSPROF_IS_RECORDING (self), NULL);

  return self->subprocess;
}

static gboolean
wait_cancelled (GCancellable *cancellable, gpointer data)
{
  SysprofRecording *self = g_task_get_source_object (data);

  g_ptr_array_remove (self->waiting, data); /* the source holds the task until this returns */
  (void) g_task_return_error_if_cancelled (data);
  return G_SOURCE_REMOVE;
}

static void
watch_cancellable (GTask *task)
{
  GSource *source = g_cancellable_source_new (g_task_get_cancellable (task));

  g_task_set_task_data (task, source, (GDestroyNotify) g_source_unref);
  g_task_attach_source (task, source, G_SOURCE_FUNC (wait_cancelled));
}

void
sysprof_recording_wait_async (SysprofRecording *self,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (SYSPROF_IS_RECORDING (self));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sysprof_recording_wait_async);

  if (self->waiting == NULL)
    {
      complete_wait (self, task);
      return;
    }
  if (cancellable != NULL)
    watch_cancellable (task);
  g_ptr_array_add (self->waiting, g_steal_pointer (&task));
}

gboolean
sysprof_recording_wait_finish (SysprofRecording *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (SYSPROF_IS_RECORDING (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

void
sysprof_recording_stop_async (SysprofRecording *self,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (SYSPROF_IS_RECORDING (self));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sysprof_recording_stop_async);
  sysprof_recording_thread_request_stop (self->thread);
  g_task_return_boolean (task, TRUE);
}

gboolean
sysprof_recording_stop_finish (SysprofRecording *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (SYSPROF_IS_RECORDING (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

int
sysprof_recording_dup_fd (SysprofRecording *self)
{
  g_return_val_if_fail (SYSPROF_IS_RECORDING (self), -1);

  return sysprof_recording_thread_open_recording (self->thread);
}

int
sysprof_recording_dup_written_fd (SysprofRecording *self)
{
  return sysprof_recording_thread_dup_written_fd (self->thread);
}

SysprofCaptureReader *
sysprof_recording_create_reader (SysprofRecording *self)
{
  autofd fd = -1;
  SysprofCaptureReader *reader;

  g_return_val_if_fail (SYSPROF_IS_RECORDING (self), NULL);

  fd = sysprof_recording_thread_open_recording (self->thread);
  if (fd < 0)
    return NULL;

  reader = sysprof_capture_reader_new_from_fd (fd);
  if (reader != NULL)
    sysprof_steal_fd (&fd);
  return reader;
}

void
sysprof_recording_get_status (SysprofRecording *self, RecordingStatus *status)
{
  g_return_if_fail (SYSPROF_IS_RECORDING (self));

  sysprof_recording_thread_get_status (self->thread, status);
}

void
sysprof_recording_skip_augment (SysprofRecording *self)
{
  g_return_if_fail (SYSPROF_IS_RECORDING (self));

  sysprof_recording_thread_skip_augment (self->thread);
}

bool
sysprof_recording_interrupt (SysprofRecording *self, guint n)
{
  if (n == 1 && self != NULL)
    sysprof_recording_stop_async (self, NULL, NULL, NULL);
  if (n == 2 && self != NULL)
    sysprof_recording_skip_augment (self);
  return n <= 2;
}

guint
sysprof_recording_report_diagnostics (SysprofRecording *self,
                                      guint first,
                                      RecordingMessage report,
                                      gpointer data)
{
  g_autoptr (GListModel) diagnostics = sysprof_recording_list_diagnostics (self);
  guint n = g_list_model_get_n_items (diagnostics);

  for (guint i = first; i < n; i++)
    {
      g_autoptr (SysprofDiagnostic) diagnostic = g_list_model_get_item (diagnostics, i);

      if (!sysprof_diagnostic_get_fatal (diagnostic))
        report (sysprof_diagnostic_get_domain (diagnostic),
                sysprof_diagnostic_get_message (diagnostic), data);
    }
  return n;
}
