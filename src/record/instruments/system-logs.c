// SPDX-License-Identifier: GPL-3.0-or-later

/* Records messages of the systemd journal as they are added. Entries are read in slices, so
 * that a busy journal does not delay the rings. */

#include "record/clock.h"
#include "record/instrument.h"
#include "record/instruments/kernel-log.h"
#include "record/logs/journal.h"
#include "record/logs/log-text.h"
#include "record/recording-context.h"

#include <sysprof.h>

#define PROCESS_INTERVAL NSEC_PER_SEC
#define STOP_NSEC        (2 * NSEC_PER_SEC)

struct _SysprofSystemLogs
{
  SysprofInstrument parent_instance;
  bool leaves_kernel_out;

  /* Owned by the pump thread. */
  RecordingContext *context;
  Journal *journal;
  bool is_reading; /* read_entries() is queued */
  bool is_over;    /* a message after the end of the recording was seen */
};

SYSPROF_DEFINE_INSTRUMENT (SysprofSystemLogs, sysprof_system_logs)

static const char instrument_name[] = "System Logs";

static void
add_entry (SysprofSystemLogs *self, const JournalEntry *entry)
{
  int64_t end = self->context->end;

  self->is_over = end != 0 && entry->time > end;
  if (self->is_over || entry->time < self->context->begin ||
      (entry->is_of_kernel && self->leaves_kernel_out))
    return;

  if (!sysprof_log_add (self->context->writer, entry->time, entry->priority, "System Log",
                        &entry->message))
    sysprof_context_add_lost (self->context, LOST_OTHERS, 1);
}

/* FALSE if there is nothing more to read now. */
static bool
read_entries (RecordingContext *context, int64_t deadline, void *data)
{
  SysprofSystemLogs *self = data;
  JournalEntry entry;

  while (!self->is_over && sysprof_clock_now () < deadline)
    {
      self->is_reading = self->journal != NULL && sysprof_journal_next (self->journal, &entry);
      if (!self->is_reading)
        return false;
      add_entry (self, &entry);
    }
  return !self->is_over;
}

static void
look_for_more (SysprofSystemLogs *self)
{
  sysprof_journal_process (self->journal);
  if (self->is_reading)
    return;

  self->is_reading = true;
  sysprof_pump_add_work (self->context->pump, read_entries, self);
}

static void
journal_ready (RecordingContext *context, int fd, void *data)
{
  look_for_more (data);
}

static void
journal_tick (RecordingContext *context, int64_t now, void *data)
{
  look_for_more (data);
}

static gboolean
sysprof_system_logs_prepare (SysprofInstrument *instrument,
                             RecordingContext *context,
                             GError **error)
{
  SysprofSystemLogs *self = SYSPROF_SYSTEM_LOGS (instrument);

  self->context = context;
  self->journal = sysprof_journal_open (error);
  if (self->journal == NULL)
    g_prefix_error (error, "The system's journal is not recorded: ");
  return self->journal != NULL;
}

static void
sysprof_system_logs_record (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofSystemLogs *self = SYSPROF_SYSTEM_LOGS (instrument);

  sysprof_pump_watch_fd (context->pump, sysprof_journal_get_fd (self->journal), journal_ready,
                         self);
  sysprof_pump_add_tick (context->pump, PROCESS_INTERVAL, journal_tick, self);
}

static void
sysprof_system_logs_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofSystemLogs *self = SYSPROF_SYSTEM_LOGS (instrument);

  if (self->journal == NULL)
    return;

  sysprof_pump_unwatch_fd (context->pump, sysprof_journal_get_fd (self->journal));
  sysprof_journal_process (self->journal);
  if (read_entries (context, sysprof_clock_now () + STOP_NSEC, self))
    sysprof_context_report (
        context, instrument_name, false,
        "The last messages of the journal are missing: there are too many to read in time. "
        "'journalctl' shows them.");
  g_clear_pointer (&self->journal, sysprof_journal_close);
}

static void
sysprof_system_logs_finalize (GObject *object)
{
  sysprof_journal_close (SYSPROF_SYSTEM_LOGS (object)->journal);
  G_OBJECT_CLASS (sysprof_system_logs_parent_class)->finalize (object);
}

static void
sysprof_system_logs_class_init (SysprofSystemLogsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_system_logs_finalize;
  klass->parent_class.name = instrument_name;
  klass->parent_class.prepare = sysprof_system_logs_prepare;
  klass->parent_class.record = sysprof_system_logs_record;
  klass->parent_class.stop = sysprof_system_logs_stop;
}

static void
sysprof_system_logs_init (SysprofSystemLogs *self)
{
}

SysprofInstrument *
sysprof_system_logs_new (void)
{
  return g_object_new (SYSPROF_TYPE_SYSTEM_LOGS, NULL);
}

/* With --kernel-log kernel messages come from the kernel only, not also from the journal. */
static void
create_system_logs (const InstrumentSelection *selection, GPtrArray *instruments)
{
  SysprofInstrument *self = sysprof_system_logs_new ();

  SYSPROF_SYSTEM_LOGS (self)->leaves_kernel_out =
      sysprof_instrument_selection_includes (selection, &sysprof_kernel_log_row);
  g_ptr_array_add (instruments, self);
}

const InstrumentRow sysprof_system_logs_row = {
  .by_default = INSTRUMENT_OPTIONAL,
  .options = { { "no-system-log", "Do not record journal messages", .omits = true } },
  .manual =
      "Do not record journal messages. They are read from the journal's files, which root and\n"
      "members of the group systemd-journal can read.",
  .create = create_system_logs,
};
