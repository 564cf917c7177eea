// SPDX-License-Identifier: GPL-3.0-or-later

/* Embedded files; a recorder may have compressed one, which its name tells. */

#include "document/objects.h"
#include "document/properties.h"

#include <string.h>

struct _SysprofDocumentFile
{
  GObject parent_instance;
  Store *store;
  uint32_t file; /* index into the store's */
  char *path;    /* without ".gz" */
  bool is_compressed;
  GBytes *bytes; /* decompressed; NULL until used */
};

G_DEFINE_FINAL_TYPE (SysprofDocumentFile, sysprof_document_file, G_TYPE_OBJECT)

SysprofDocumentFile *
sysprof_document_file_new (Store *store, uint32_t file)
{
  SysprofDocumentFile *self = g_object_new (SYSPROF_TYPE_DOCUMENT_FILE, NULL);
  const char *name = sysprof_store_string (store, store->files.row[file].name);

  self->store = sysprof_store_ref (store);
  self->file = file;
  self->is_compressed = g_str_has_suffix (name, ".gz");
  self->path = g_utf8_make_valid (
      name, (gssize) strlen (name) - (self->is_compressed ? (gssize) strlen (".gz") : 0));
  return self;
}

GBytes *
sysprof_document_file_dup_bytes (SysprofDocumentFile *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FILE (self), NULL);

  if (self->bytes == NULL)
    self->bytes = sysprof_store_read_file_unpacked (self->store, self->file, NULL);
  if (self->bytes == NULL)
    self->bytes = g_bytes_new (NULL, 0);
  return g_bytes_ref (self->bytes);
}

GInputStream *
sysprof_document_file_read (SysprofDocumentFile *self)
{
  g_autoptr (GBytes) bytes = NULL;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FILE (self), NULL);

  bytes = sysprof_document_file_dup_bytes (self);
  return g_memory_input_stream_new_from_bytes (bytes);
}

gsize
sysprof_document_file_get_size (SysprofDocumentFile *self)
{
  g_autoptr (GBytes) bytes = NULL;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FILE (self), 0);

  if (!self->is_compressed)
    return self->store->files.row[self->file].size;

  bytes = sysprof_document_file_dup_bytes (self);
  return g_bytes_get_size (bytes);
}

const char *
sysprof_document_file_get_path (SysprofDocumentFile *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FILE (self), NULL);

  return self->path;
}

gboolean
sysprof_document_file_is_compressed (SysprofDocumentFile *self)
{
  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_FILE (self), FALSE);

  return self->is_compressed;
}

/* As wide as the property, on every machine. */
static guint64
get_wide_size (gpointer self)
{
  return sysprof_document_file_get_size (self);
}

static void
sysprof_document_file_finalize (GObject *object)
{
  SysprofDocumentFile *self = SYSPROF_DOCUMENT_FILE (object);

  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_clear_pointer (&self->store, sysprof_store_unref);
  g_free (self->path);

  G_OBJECT_CLASS (sysprof_document_file_parent_class)->finalize (object);
}

static void
sysprof_document_file_class_init (SysprofDocumentFileClass *class)
{
  static const PropertyRow rows[] = {
    { "is-compressed", PROPERTY_BOOLEAN, G_CALLBACK (sysprof_document_file_is_compressed) },
    { "path", PROPERTY_STRING, G_CALLBACK (sysprof_document_file_get_path) },
    { "size", PROPERTY_UINT64, G_CALLBACK (get_wide_size) },
  };

  G_OBJECT_CLASS (class)->finalize = sysprof_document_file_finalize;
  sysprof_properties_install (G_OBJECT_CLASS (class), rows, G_N_ELEMENTS (rows));
}

static void
sysprof_document_file_init (SysprofDocumentFile *self)
{
}
