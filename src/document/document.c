// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocument: a frozen store and its symbols, seen as objects. */

#include "document/frame.h"
#include "document/properties.h"

static GType
sysprof_document_get_item_type (GListModel *model)
{
  return SYSPROF_TYPE_DOCUMENT_FRAME;
}

static guint
sysprof_document_get_n_items (GListModel *model)
{
  return SYSPROF_DOCUMENT (model)->store->frames.n;
}

static gpointer
sysprof_document_get_item (GListModel *model, guint position)
{
  SysprofDocument *self = SYSPROF_DOCUMENT (model);

  if (position >= self->store->frames.n)
    return NULL;

  return sysprof_document_frame_new (self->store, position);
}

static void
list_model_init (GListModelInterface *interface)
{
  interface->get_item_type = sysprof_document_get_item_type;
  interface->get_n_items = sysprof_document_get_n_items;
  interface->get_item = sysprof_document_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (SysprofDocument,
                               sysprof_document,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

static GParamSpec *busy_property;

SysprofDocument *
sysprof_document_new (Store *store, SymbolTable *symbols, const char *filename)
{
  SysprofDocument *self = g_object_new (SYSPROF_TYPE_DOCUMENT, NULL);

  self->store = store;
  self->symbols = symbols;
  self->filename = g_strdup (filename);
  self->span =
      (SysprofTimeSpan){ store->begin,
                         store->begin + sysprof_time_between (store->begin, store->end) };
  self->symbol_objects = g_new0 (SysprofSymbol *, sysprof_graph_n_symbols (store, symbols));
  return self;
}

Store *
sysprof_document_get_store (SysprofDocument *self)
{
  return self->store;
}

SymbolTable *
sysprof_document_get_symbols (SysprofDocument *self)
{
  return self->symbols;
}

static char *
dup_recording_time (SysprofDocument *self)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_iso8601 (self->store->capture_time, NULL);
  g_autoptr (GDateTime) local = time != NULL ? g_date_time_to_local (time) : NULL;
  g_autofree char *text = local != NULL ? g_date_time_format (local, "%x %X")
                                        : g_utf8_make_valid (self->store->capture_time, -1);

  return g_strdup_printf ("Recording at %s", text != NULL ? text : self->store->capture_time);
}

char *
sysprof_document_dup_title (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return self->filename != NULL ? g_filename_display_basename (self->filename)
                                : dup_recording_time (self);
}

char *
sysprof_document_dup_subtitle (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return self->filename != NULL ? dup_recording_time (self) : NULL;
}

const SysprofTimeSpan *
sysprof_document_get_time_span (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), NULL);

  return &self->span;
}

gboolean
sysprof_document_get_busy (SysprofDocument *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT (self), FALSE);

  return self->n_works > 0;
}

void
sysprof_document_begin_work (SysprofDocument *self)
{
  if (self->n_works++ == 0)
    g_object_notify_by_pspec (G_OBJECT (self), busy_property);
}

void
sysprof_document_end_work (SysprofDocument *self)
{
  if (--self->n_works == 0)
    g_object_notify_by_pspec (G_OBJECT (self), busy_property);
}

static void
sysprof_document_finalize (GObject *object)
{
  SysprofDocument *self = SYSPROF_DOCUMENT (object);

  for (uint32_t i = 0; i < sysprof_graph_n_symbols (self->store, self->symbols); i++)
    g_clear_object (&self->symbol_objects[i]);
  g_free (self->symbol_objects);
  g_free (self->frame_of_process);

  g_clear_pointer (&self->symbols, sysprof_symbol_table_unref);
  g_clear_pointer (&self->store, sysprof_store_unref);
  g_free (self->filename);

  G_OBJECT_CLASS (sysprof_document_parent_class)->finalize (object);
}

static void
sysprof_document_class_init (SysprofDocumentClass *class)
{
  static const PropertyRow rows[] = {
    { "allocations", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_list_allocations),
      g_list_model_get_type },
    { "busy", PROPERTY_BOOLEAN, G_CALLBACK (sysprof_document_get_busy) },
    { "counters", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_list_counters),
      g_list_model_get_type },
    { "cpu-info", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_list_cpu_info),
      g_list_model_get_type },
    { "dbus-messages", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_list_dbus_messages),
      g_list_model_get_type },
    { "files", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_list_files),
      g_list_model_get_type },
    { "logs", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_list_logs),
      g_list_model_get_type },
    { "marks", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_list_marks),
      g_list_model_get_type },
    { "marks-catalog", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_catalog_marks),
      g_list_model_get_type },
    { "metadata", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_list_metadata),
      g_list_model_get_type },
    { "processes", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_list_processes),
      g_list_model_get_type },
    { "samples", PROPERTY_DUP_OBJECT, G_CALLBACK (sysprof_document_list_samples),
      g_list_model_get_type },
    { "samples-with-context-switch", PROPERTY_DUP_OBJECT,
      G_CALLBACK (sysprof_document_list_samples_with_context_switch), g_list_model_get_type },
    { "samples-without-context-switch", PROPERTY_DUP_OBJECT,
      G_CALLBACK (sysprof_document_list_samples_without_context_switch),
      g_list_model_get_type },
    { "subtitle", PROPERTY_DUP_STRING, G_CALLBACK (sysprof_document_dup_subtitle) },
    { "time-span", PROPERTY_BOXED, G_CALLBACK (sysprof_document_get_time_span),
      sysprof_time_span_get_type },
    { "title", PROPERTY_DUP_STRING, G_CALLBACK (sysprof_document_dup_title) },
  };

  G_OBJECT_CLASS (class)->finalize = sysprof_document_finalize;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
  busy_property = g_object_class_find_property (G_OBJECT_CLASS (class), "busy");
}

static void
sysprof_document_init (SysprofDocument *self)
{
}
