// SPDX-License-Identifier: GPL-3.0-or-later

/* Collects the instruments and options of a recording, and starts it. *Owned* by the caller's
 * thread. */

#include "record/instruments/program-rings.h"
#include "record/processes/process-watcher.h"
#include "record/record.h"
#include "record/recording.h"

struct _SysprofProfiler
{
  GObject parent_instance;
  GPtrArray *instruments;
  SysprofSpawnable *spawnable;
  guint64 max_size;
  gint64 max_duration;
  int helper;
  char *machine;
  gboolean record_environment;
  gboolean acquire_privileges;
};

enum
{
  PROP_0,
  PROP_ACQUIRE_PRIVILEGES,
  PROP_SPAWNABLE,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (SysprofProfiler, sysprof_profiler, G_TYPE_OBJECT)

static GParamSpec *properties[N_PROPS];

static void
sysprof_profiler_finalize (GObject *object)
{
  SysprofProfiler *self = SYSPROF_PROFILER (object);

  g_ptr_array_unref (self->instruments);
  g_clear_object (&self->spawnable);
  g_free (self->machine);
  G_OBJECT_CLASS (sysprof_profiler_parent_class)->finalize (object);
}

static void
sysprof_profiler_get_property (GObject *object, guint prop_id, GValue *value, GParamSpec *pspec)
{
  SysprofProfiler *self = SYSPROF_PROFILER (object);

  switch (prop_id)
    {
    case PROP_ACQUIRE_PRIVILEGES:
      g_value_set_boolean (value, self->acquire_privileges);
      break;
    case PROP_SPAWNABLE:
      g_value_set_object (value, self->spawnable);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
sysprof_profiler_set_property (GObject *object,
                               guint prop_id,
                               const GValue *value,
                               GParamSpec *pspec)
{
  SysprofProfiler *self = SYSPROF_PROFILER (object);

  switch (prop_id)
    {
    case PROP_ACQUIRE_PRIVILEGES:
      sysprof_profiler_set_acquire_privileges (self, g_value_get_boolean (value));
      break;
    case PROP_SPAWNABLE:
      sysprof_profiler_set_spawnable (self, g_value_get_object (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
sysprof_profiler_class_init (SysprofProfilerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

  object_class->finalize = sysprof_profiler_finalize;
  object_class->get_property = sysprof_profiler_get_property;
  object_class->set_property = sysprof_profiler_set_property;

  properties[PROP_ACQUIRE_PRIVILEGES] =
      g_param_spec_boolean ("acquire-privileges", NULL, NULL, TRUE, flags);
  properties[PROP_SPAWNABLE] =
      g_param_spec_object ("spawnable", NULL, NULL, SYSPROF_TYPE_SPAWNABLE, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_profiler_init (SysprofProfiler *self)
{
  self->instruments = g_ptr_array_new_with_free_func (g_object_unref);
  self->acquire_privileges = TRUE;
  self->helper = -1;
}

SysprofProfiler *
sysprof_profiler_new (void)
{
  return g_object_new (SYSPROF_TYPE_PROFILER, NULL);
}

void
sysprof_profiler_add_instrument (SysprofProfiler *self, SysprofInstrument *instrument)
{
  g_return_if_fail (SYSPROF_IS_PROFILER (self));
  g_return_if_fail (SYSPROF_IS_INSTRUMENT (instrument));

  g_ptr_array_add (self->instruments, instrument);
}

SysprofSpawnable *
sysprof_profiler_get_spawnable (SysprofProfiler *self)
{
  g_return_val_if_fail (SYSPROF_IS_PROFILER (self), NULL);

  return self->spawnable;
}

void
sysprof_profiler_set_spawnable (SysprofProfiler *self, SysprofSpawnable *spawnable)
{
  g_return_if_fail (SYSPROF_IS_PROFILER (self));

  if (g_set_object (&self->spawnable, spawnable))
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SPAWNABLE]);
}

gboolean
sysprof_profiler_get_acquire_privileges (SysprofProfiler *self)
{
  g_return_val_if_fail (SYSPROF_IS_PROFILER (self), FALSE);

  return self->acquire_privileges;
}

void
sysprof_profiler_set_acquire_privileges (SysprofProfiler *self, gboolean acquire_privileges)
{
  g_return_if_fail (SYSPROF_IS_PROFILER (self));

  acquire_privileges = !!acquire_privileges;
  if (self->acquire_privileges == acquire_privileges)
    return;

  self->acquire_privileges = acquire_privileges;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_ACQUIRE_PRIVILEGES]);
}

void
sysprof_profiler_set_max_size (SysprofProfiler *self, guint64 bytes)
{
  g_return_if_fail (SYSPROF_IS_PROFILER (self));

  self->max_size = bytes;
}

void
sysprof_profiler_set_max_duration (SysprofProfiler *self, gint64 nsec)
{
  g_return_if_fail (SYSPROF_IS_PROFILER (self));

  self->max_duration = nsec;
}

void
sysprof_profiler_set_helper (SysprofProfiler *self, int socket)
{
  g_return_if_fail (SYSPROF_IS_PROFILER (self));

  self->helper = socket;
}

void
sysprof_profiler_set_machine (SysprofProfiler *self, const char *root)
{
  g_return_if_fail (SYSPROF_IS_PROFILER (self));

  g_free (self->machine);
  self->machine = g_strdup (root);
}

void
sysprof_profiler_set_record_environment (SysprofProfiler *self, gboolean record_environment)
{
  g_return_if_fail (SYSPROF_IS_PROFILER (self));

  self->record_environment = record_environment;
}

/* The recorder's own instruments come first; the socket of the program is closed before all
 * others. A profiler may record again, so its own list stays
 * unchanged. */
static GPtrArray *
list_all_instruments (SysprofProfiler *self)
{
  GPtrArray *all = g_ptr_array_new_with_free_func (g_object_unref);

  if (self->spawnable != NULL)
    g_ptr_array_add (all, sysprof_program_rings_new ());
  g_ptr_array_add (all, sysprof_process_watcher_new ());
  for (guint i = 0; i < self->instruments->len; i++)
    g_ptr_array_add (all, g_object_ref (g_ptr_array_index (self->instruments, i)));
  return all;
}

/* In parentheses, because the header has a macro of the same name. */
void (sysprof_profiler_record_async) (SysprofProfiler *self,
                                      SysprofCaptureWriter *writer,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data)
{
  g_autoptr (GPtrArray) instruments = NULL;
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (SYSPROF_IS_PROFILER (self));
  g_return_if_fail (writer != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  instruments = list_all_instruments (self);
  task = g_task_new (self, NULL, callback, user_data);
  g_task_set_source_tag (task, sysprof_profiler_record_finish);
  g_task_return_pointer (
      task,
      sysprof_recording_start (writer,
                               &(RecordingOptions){
                                   .instruments = instruments,
                                   .spawnable = self->spawnable,
                                   .max_size = self->max_size,
                                   .max_duration = self->max_duration,
                                   .helper = self->helper,
                                   .asks_service = self->acquire_privileges,
                                   .machine = self->machine,
                                   .record_environment = self->record_environment,
                               },
                               cancellable),
      g_object_unref);
}

SysprofRecording *
sysprof_profiler_record_finish (SysprofProfiler *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (SYSPROF_IS_PROFILER (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
