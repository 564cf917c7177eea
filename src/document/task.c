// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentTask: the face of what takes long while loading. *Guarded* by `lock`, as the work is done elsewhere. */

#include "document/objects.h"
#include "document/properties.h"
#include "util/parallel.h"

struct _SysprofDocumentTask
{
  GObject parent_instance;
  GCancellable *cancellable;
  GMutex lock;
  double progress;
  char *message;
  char *title;
};

struct _SysprofDocumentTaskClass
{
  GObjectClass parent_class;
};

G_DEFINE_ABSTRACT_TYPE (SysprofDocumentTask, sysprof_document_task, G_TYPE_OBJECT)

/* The only kind there is: what is done is done by whoever made it. */
typedef SysprofDocumentTask SysprofLoadingTask;
typedef SysprofDocumentTaskClass SysprofLoadingTaskClass;
static GType sysprof_loading_task_get_type (void);
G_DEFINE_TYPE (SysprofLoadingTask, sysprof_loading_task, SYSPROF_TYPE_DOCUMENT_TASK)

static void
sysprof_loading_task_class_init (SysprofLoadingTaskClass *class)
{
}

static void
sysprof_loading_task_init (SysprofLoadingTask *self)
{
}

SysprofDocumentTask *
sysprof_document_task_new (const char *title, GCancellable *cancellable)
{
  SysprofDocumentTask *self = g_object_new (sysprof_loading_task_get_type (), NULL);

  self->title = g_strdup (title);
  self->cancellable = g_object_ref (cancellable);
  return self;
}

void
sysprof_document_task_set_progress (SysprofDocumentTask *self,
                                    double progress,
                                    const char *message)
{
  g_mutex_lock (&self->lock);
  self->progress = progress;
  if (g_strcmp0 (self->message, message) != 0)
    {
      g_free (self->message);
      self->message = g_strdup (message);
    }
  g_mutex_unlock (&self->lock);
}

double
sysprof_document_task_get_progress (SysprofDocumentTask *self)
{
  double progress;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_TASK (self), 0);

  g_mutex_lock (&self->lock);
  progress = self->progress;
  g_mutex_unlock (&self->lock);
  return progress;
}

static char *
dup_text (SysprofDocumentTask *self, char *const *text)
{
  char *copy;

  g_mutex_lock (&self->lock);
  copy = g_strdup (*text);
  g_mutex_unlock (&self->lock);
  return copy;
}

char *
sysprof_document_task_dup_message (SysprofDocumentTask *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_TASK (self), NULL);

  return dup_text (self, &self->message);
}

char *
sysprof_document_task_dup_title (SysprofDocumentTask *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_TASK (self), NULL);

  return dup_text (self, &self->title);
}

gboolean
sysprof_document_task_is_cancelled (SysprofDocumentTask *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_TASK (self), FALSE);

  return g_cancellable_is_cancelled (self->cancellable);
}

void
sysprof_document_task_cancel (SysprofDocumentTask *self)
{
  g_return_if_fail (SYSPROF_IS_DOCUMENT_TASK (self));

  g_cancellable_cancel (self->cancellable);
}

static void
sysprof_document_task_finalize (GObject *object)
{
  SysprofDocumentTask *self = SYSPROF_DOCUMENT_TASK (object);

  g_clear_object (&self->cancellable);
  g_free (self->message);
  g_free (self->title);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (sysprof_document_task_parent_class)->finalize (object);
}

static void
sysprof_document_task_class_init (SysprofDocumentTaskClass *class)
{
  static const PropertyRow rows[] = {
    { "cancelled", PROPERTY_BOOLEAN, G_CALLBACK (sysprof_document_task_is_cancelled) },
    { "message", PROPERTY_DUP_STRING, G_CALLBACK (sysprof_document_task_dup_message) },
    { "progress", PROPERTY_DOUBLE, G_CALLBACK (sysprof_document_task_get_progress) },
    { "title", PROPERTY_DUP_STRING, G_CALLBACK (sysprof_document_task_dup_title) },
  };

  G_OBJECT_CLASS (class)->finalize = sysprof_document_task_finalize;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_document_task_init (SysprofDocumentTask *self)
{
  g_mutex_init (&self->lock);
}

void
sysprof_run_in_thread (GTask *task, GTaskThreadFunc func)
{
  GError *error = NULL;

  if (sysprof_check_threads (&error))
    g_task_run_in_thread (task, func);
  else
    g_task_return_error (task, error);
}
