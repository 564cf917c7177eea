// SPDX-License-Identifier: GPL-3.0-or-later

/* The instrument that adds symbols to a recording at its end, so that it opens without the
 * recorded machine's files. */

#include "bundle/bundle.h"

#include "capture/capture.h"
#include "record/record.h"
#include "symbolize/symbolize.h"

#include <sys/auxv.h>

struct _SysprofSymbolsBundle
{
  SysprofInstrument parent_instance;
  gboolean enable_debuginfod;
  DebuginfodQueue *queue; /* borrowed; NULL = wait for servers */
  char **debug_dirs;      /* NULL = none */
};

enum
{
  PROP_0,
  PROP_ENABLE_DEBUGINFOD,
  N_PROPERTIES,
};

static GParamSpec *properties[N_PROPERTIES];

SYSPROF_DEFINE_INSTRUMENT (SysprofSymbolsBundle, sysprof_symbols_bundle)

static bool
add_file (RecordingContext *context, const char *name, GBytes *bytes, bool compress)
{
  size_t size;
  const void *data = g_bytes_get_data (bytes, &size);

  return sysprof_context_add_file (context, SYSPROF_CAPTURE_CURRENT_TIME, -1, name, data, size,
                                   compress);
}

/* The function that flushes reports a full disk; frames that did not fit are counted. */
static void
add_tables (RecordingContext *context,
            SymbolTable *table,
            Store *store,
            const SymbolizeOptions *options)
{
  GCancellable *cancellable = context->augment_cancellable;
  g_autoptr (GBytes) symbols = NULL;
  g_autoptr (GBytes) unnamed = NULL;
  g_autoptr (GBytes) lines = NULL;
  GBytes *kallsyms = sysprof_symbol_table_get_kallsyms (table);

  /* After an interrupt these pack what was found until then, and look for nothing more. */
  symbols = sysprof_symbol_table_pack (table, store);
  unnamed = sysprof_symbol_table_pack_unnamed (table, store);
  lines = sysprof_symbol_table_pack_lines (table, store, options, cancellable);

  if (kallsyms != NULL && g_bytes_get_size (kallsyms) > 0)
    (void) add_file (context, "/proc/kallsyms", kallsyms, true);
  if (unnamed != NULL)
    (void) add_file (context, "__unnamed__", unnamed, true);
  if (lines != NULL)
    (void) add_file (context, "__lines__", lines, true);

  /* Version 3.46 looks at every other frame only in a row of file frames, and would not find the table if its first
   * chunk were one of those between. This one it may pass over. Its time must not lie behind the end. */
  (void) sysprof_capture_writer_add_timestamp (context->writer, context->begin, -1, -1);
  (void) add_file (context, "__symbols__", symbols, false);
}

static void
tell_debuginfod (const DebuginfodStatus *status, void *context)
{
  g_autofree char *text = status->is_done ? sysprof_debuginfod_describe (status) : NULL;

  if (text != NULL)
    sysprof_context_report (context, "debuginfod", false, "%s", text);
}

/* For the terminal, and for whoever reads the capture later. */
static void
report_incomplete (RecordingContext *context, const SymbolTable *table)
{
  g_autofree char *reason = NULL;
  g_autofree char *visible = NULL;
  const char *example = "";
  uint32_t n_skipped = 0;

  for (uint32_t i = 0; i < table->n_gaps; i++)
    if (table->gap[i].kind == DEBUG_GAP_SKIPPED && n_skipped++ == 0)
      example = sysprof_intern_get (&table->strings, table->gap[i].what);

  if (n_skipped > 0)
    reason = g_strdup_printf (
        "%u file%s of other users %s not read for symbols, because all these files together exceed "
        "%d s or %d GiB",
        n_skipped, n_skipped == 1 ? "" : "s", n_skipped == 1 ? "was" : "were",
        FILE_BUDGET_MSEC / 1000, (int) (FILE_BUDGET_BYTES >> 30));
  else if (sysprof_context_is_augment_skipped (context))
    reason = g_strdup ("the search for symbols was interrupted");
  else
    return;

  visible = sysprof_dup_visible (example);
  sysprof_context_note_missing (context, "symbols", reason);
  if (n_skipped > 0)
    sysprof_context_report (context, "Symbols", false, "%s. The first is '%s'.", reason,
                            visible);
  else
    sysprof_context_report (
        context, "Symbols", false,
        "The search for symbols was interrupted: what was found until then is "
        "in the capture. Open it on this machine to look up the others.");
}

static gboolean
sysprof_symbols_bundle_augment (SysprofInstrument *instrument,
                                RecordingContext *context,
                                GError **error)
{
  /* AT_SECURE: started with rights that its user has not, like capabilities of the file. */
  SymbolizeOptions options = {
    .use_sandbox = geteuid () == 0 || getauxval (AT_SECURE) != 0,
    /* Which files are written for it, and where, is for the environment to say. */
    .ask_debuginfod =
        SYSPROF_SYMBOLS_BUNDLE (instrument)->enable_debuginfod && getauxval (AT_SECURE) == 0,
    .debuginfod_queue = SYSPROF_SYMBOLS_BUNDLE (instrument)->queue,
    .debug_dirs = (const char *const *) SYSPROF_SYMBOLS_BUNDLE (instrument)->debug_dirs,
    .pinned_files = context->pinned_files,
    .keep_found = true,
    .tell_debuginfod = tell_debuginfod,
    .tell_debuginfod_data = context,
  };
  g_autoptr (SymbolTable) table = NULL;
  g_autoptr (Store) store = NULL;
  g_autoptr (GBytes) borrowed = NULL;
  autofd fd = sysprof_context_dup_fd (context, error);

  if (fd >= 0)
    store = sysprof_store_open_fd (fd, "the recording", context->augment_cancellable, error);
  if (store == NULL && sysprof_context_is_augment_skipped (context))
    {
      g_clear_error (error);
      return TRUE;
    }
  if (store == NULL)
    {
      g_prefix_error (error, "The capture has no symbols: ");
      return FALSE;
    }

  if (sysprof_privilege_has_helper (context->privilege)) /* our own list has no addresses */
    borrowed = sysprof_context_read_kernel_symbols (context);
  options.kernel_symbols = borrowed;
  table = sysprof_symbolize (store, &options, context->augment_cancellable, error);
  if (table == NULL)
    return FALSE;
  add_tables (context, table, store, &options);
  report_incomplete (context, table);
  return TRUE;
}

static void
sysprof_symbols_bundle_get_property (GObject *object,
                                     guint prop_id,
                                     GValue *value,
                                     GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_ENABLE_DEBUGINFOD:
      g_value_set_boolean (value, sysprof_symbols_bundle_get_enable_debuginfod (
                                      SYSPROF_SYMBOLS_BUNDLE (object)));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
sysprof_symbols_bundle_set_property (GObject *object,
                                     guint prop_id,
                                     const GValue *value,
                                     GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_ENABLE_DEBUGINFOD:
      sysprof_symbols_bundle_set_enable_debuginfod (SYSPROF_SYMBOLS_BUNDLE (object),
                                                    g_value_get_boolean (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
sysprof_symbols_bundle_finalize (GObject *object)
{
  g_strfreev (SYSPROF_SYMBOLS_BUNDLE (object)->debug_dirs);
  G_OBJECT_CLASS (sysprof_symbols_bundle_parent_class)->finalize (object);
}

static void
sysprof_symbols_bundle_class_init (SysprofSymbolsBundleClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = sysprof_symbols_bundle_get_property;
  object_class->set_property = sysprof_symbols_bundle_set_property;
  object_class->finalize = sysprof_symbols_bundle_finalize;
  klass->parent_class.name = "Symbols";
  klass->parent_class.bundles_kernel_symbols = true;
  klass->parent_class.reads_recording = true;
  klass->parent_class.augment = sysprof_symbols_bundle_augment;

  properties[PROP_ENABLE_DEBUGINFOD] = g_param_spec_boolean (
      "enable-debuginfod", NULL, NULL, FALSE,
      G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPERTIES, properties);
}

static void
sysprof_symbols_bundle_init (SysprofSymbolsBundle *self)
{
}

void
sysprof_symbols_bundle_set_debuginfod_queue (SysprofSymbolsBundle *self, DebuginfodQueue *queue)
{
  self->queue = queue;
}

void
sysprof_symbols_bundle_set_debug_dirs (SysprofSymbolsBundle *self,
                                       const char *const *debug_dirs)
{
  g_strfreev (self->debug_dirs);
  self->debug_dirs = g_strdupv ((char **) debug_dirs);
}

SysprofInstrument *
sysprof_symbols_bundle_new (void)
{
  return g_object_new (SYSPROF_TYPE_SYMBOLS_BUNDLE, NULL);
}

gboolean
sysprof_symbols_bundle_get_enable_debuginfod (SysprofSymbolsBundle *self)
{
  g_return_val_if_fail (SYSPROF_IS_SYMBOLS_BUNDLE (self), FALSE);

  return self->enable_debuginfod;
}

void
sysprof_symbols_bundle_set_enable_debuginfod (SysprofSymbolsBundle *self,
                                              gboolean enable_debuginfod)
{
  g_return_if_fail (SYSPROF_IS_SYMBOLS_BUNDLE (self));

  enable_debuginfod = !!enable_debuginfod;
  if (self->enable_debuginfod == enable_debuginfod)
    return;
  self->enable_debuginfod = enable_debuginfod;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_ENABLE_DEBUGINFOD]);
}
