// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofDocumentTraceable: the interface of frames that have a stack. */

#include "document/frame.h"
#include "document/properties.h"

G_DEFINE_INTERFACE (SysprofDocumentTraceable,
                    sysprof_document_traceable,
                    SYSPROF_TYPE_DOCUMENT_FRAME)

static const PropertyRow rows[] = {
  { "stack-depth", PROPERTY_UINT, G_CALLBACK (sysprof_document_traceable_get_stack_depth) },
  { "thread-id", PROPERTY_INT, G_CALLBACK (sysprof_document_traceable_get_thread_id) },
};

static void
sysprof_document_traceable_default_init (SysprofDocumentTraceableInterface *interface)
{
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      GParamSpec *spec = sysprof_property_new (&rows[i]);

      sysprof_property_attach (spec, &rows[i]);
      g_object_interface_install_property (interface, spec);
    }
}

void
sysprof_traceable_class_install (GObjectClass *class, guint id)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_object_class_override_property (class, id + i, rows[i].name);
}

static const SysprofCaptureAddress *
get_addresses (SysprofDocumentTraceable *self, guint *n_addresses)
{
  SysprofDocumentTraceableInterface *interface = G_TYPE_INSTANCE_GET_INTERFACE (
      self, SYSPROF_TYPE_DOCUMENT_TRACEABLE, SysprofDocumentTraceableInterface);

  return interface->get_addresses (self, n_addresses);
}

guint
sysprof_document_traceable_get_stack_depth (SysprofDocumentTraceable *self)
{
  guint n;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_TRACEABLE (self), 0);

  (void) get_addresses (self, &n); /* only how many */
  return n;
}

guint64
sysprof_document_traceable_get_stack_address (SysprofDocumentTraceable *self, guint position)
{
  const SysprofCaptureAddress *addresses;
  guint n;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_TRACEABLE (self), 0);

  addresses = get_addresses (self, &n);
  return position < n ? addresses[position] : 0;
}

guint
sysprof_document_traceable_get_stack_addresses (SysprofDocumentTraceable *self,
                                                guint64 *addresses,
                                                guint n_addresses)
{
  const SysprofCaptureAddress *all;
  guint n;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_TRACEABLE (self), 0);

  all = get_addresses (self, &n);
  n = MIN (n, n_addresses);
  for (guint i = 0; i < n; i++)
    addresses[i] = all[i];
  return n;
}

int
sysprof_document_traceable_get_thread_id (SysprofDocumentTraceable *self)
{
  SysprofDocumentTraceableInterface *interface;

  g_return_val_if_fail (SYSPROF_IS_DOCUMENT_TRACEABLE (self), -1);

  interface = G_TYPE_INSTANCE_GET_INTERFACE (self, SYSPROF_TYPE_DOCUMENT_TRACEABLE,
                                             SysprofDocumentTraceableInterface);
  return interface->get_thread_id (self);
}
