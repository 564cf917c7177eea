// SPDX-License-Identifier: GPL-3.0-or-later

/* Records kernel messages from /dev/kmsg: each read() returns one record.
 *
 * The log has its own clock. It starts at the same time as CLOCK_MONOTONIC and drifts from it
 * by seconds in weeks. Each message is read a short time after it was written, so the smallest
 * difference seen so far approximates the offset between the clocks.
 *
 * Source: Linux, Documentation/ABI/testing/dev-kmsg. */

#include "record/instruments/kernel-log.h"

#include "record/clock.h"
#include "record/logs/log-text.h"
#include "record/recording-context.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>

#define RECORD_SIZE   16384 /* bytes; more than any record has */
#define RECORD_BUDGET 256   /* records per wake-up, so that other sources get their turn */
#define LAST_RECORDS  65536 /* limit when the recording stops; more than a log usually has */
#define NO_OFFSET     INT64_MAX

struct _SysprofKernelLog
{
  SysprofInstrument parent_instance;

  /* Owned by the pump thread. */
  RecordingContext *context;
  int fd;
  int64_t offset; /* ns: CLOCK_MONOTONIC minus the log's clock */
  uint64_t next;  /* sequence number */
  bool has_next;
  uint64_t n_lost; /* overwritten in the kernel's ring buffer */
};

SYSPROF_DEFINE_INSTRUMENT (SysprofKernelLog, sysprof_kernel_log)

static const char instrument_name[] = "Kernel Log";

bool
sysprof_kernel_log_parse (Text record, KernelMessage *message)
{
  Text fields;
  uint64_t priority, usec;

  if (!sysprof_text_until (&record, ';', &fields))
    return false;
  if (!sysprof_text_u64 (&fields, &priority) || !sysprof_text_skip (&fields, ",") ||
      !sysprof_text_u64 (&fields, &message->sequence) || !sysprof_text_skip (&fields, ",") ||
      !sysprof_text_u64 (&fields, &usec) || usec > INT64_MAX / 1000)
    return false;

  message->priority = (int) (priority & 7); /* the upper bits are the facility */
  message->time = (int64_t) usec * 1000;
  return sysprof_text_next_line (&record, &message->text);
}

size_t
sysprof_kernel_log_unescape (char *text, size_t size)
{
  size_t n = 0;

  for (size_t i = 0; i < size; i++)
    {
      int high = i + 3 < size && text[i] == '\\' && text[i + 1] == 'x'
                     ? g_ascii_xdigit_value (text[i + 2])
                     : -1;
      int low = high >= 0 ? g_ascii_xdigit_value (text[i + 3]) : -1;

      if (low >= 0)
        i += 3;
      text[n++] = low >= 0 ? (char) (high << 4 | low) : text[i];
    }
  return n;
}

static void
add_message (SysprofKernelLog *self, KernelMessage *message)
{
  int64_t now = sysprof_clock_now ();
  int64_t end = self->context->end;
  char *text = (char *) message->text.at;
  size_t size = sysprof_kernel_log_unescape (text, sysprof_text_size (message->text));
  int64_t time;

  if (self->has_next && message->sequence > self->next)
    {
      self->n_lost += message->sequence - self->next;
      sysprof_context_add_lost (self->context, LOST_OTHERS, message->sequence - self->next);
    }
  self->next = message->sequence + 1;
  self->has_next = true;

  self->offset = MIN (self->offset, now - message->time);
  time = message->time + self->offset;
  if (end != 0)
    time = MIN (time, end);
  if (!sysprof_log_add (self->context->writer, time, message->priority, instrument_name,
                        &(LogMessage){ text, size, false }))
    sysprof_context_add_lost (self->context, LOST_OTHERS, 1);
}

/* FALSE if there are no more records now. */
static bool
read_record (SysprofKernelLog *self)
{
  char bytes[RECORD_SIZE];
  KernelMessage message;
  ssize_t n = read (self->fd, bytes, sizeof bytes);

  if (n < 0)
    /* EPIPE: records were overwritten; the next sequence number shows how many */
    return errno == EINTR || errno == EPIPE;
  if (n == 0)
    return false;

  if (sysprof_kernel_log_parse ((Text){ bytes, bytes + n }, &message))
    add_message (self, &message);
  return true;
}

static void
log_ready (RecordingContext *context, int fd, void *data)
{
  for (unsigned i = 0; i < RECORD_BUDGET && read_record (data); i++)
    continue;
}

static gboolean
sysprof_kernel_log_prepare (SysprofInstrument *instrument,
                            RecordingContext *context,
                            GError **error)
{
  SysprofKernelLog *self = SYSPROF_KERNEL_LOG (instrument);

  self->context = context;
  self->fd = open ("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (self->fd >= 0 && lseek (self->fd, 0, SEEK_END) >= 0)
    return TRUE;

  sysprof_set_error_errno (error,
                           "The kernel log is not recorded: cannot read '/dev/kmsg' (without "
                           "root this requires kernel.dmesg_restrict=0)");
  return FALSE;
}

static void
sysprof_kernel_log_record (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofKernelLog *self = SYSPROF_KERNEL_LOG (instrument);

  sysprof_pump_watch_fd (context->pump, self->fd, log_ready, self);
}

static void
sysprof_kernel_log_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofKernelLog *self = SYSPROF_KERNEL_LOG (instrument);
  if (self->fd < 0)
    return;

  for (unsigned i = 0; i < LAST_RECORDS && read_record (self); i++)
    continue;
  sysprof_pump_unwatch_fd (context->pump, self->fd);
  if (self->n_lost > 0)
    sysprof_context_report (
        context, instrument_name, false,
        "%" G_GUINT64_FORMAT " kernel messages are lost: the kernel overwrote them before "
        "they could be read. Enlarge its log with log_buf_len=16M on the kernel command line.",
        self->n_lost);
}

static void
sysprof_kernel_log_finalize (GObject *object)
{
  sysprof_autofd_close (&SYSPROF_KERNEL_LOG (object)->fd);
  G_OBJECT_CLASS (sysprof_kernel_log_parent_class)->finalize (object);
}

static void
sysprof_kernel_log_class_init (SysprofKernelLogClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_kernel_log_finalize;
  klass->parent_class.name = instrument_name;
  klass->parent_class.prepare = sysprof_kernel_log_prepare;
  klass->parent_class.record = sysprof_kernel_log_record;
  klass->parent_class.stop = sysprof_kernel_log_stop;
}

static void
sysprof_kernel_log_init (SysprofKernelLog *self)
{
  self->fd = -1;
  self->offset = NO_OFFSET;
}

SysprofInstrument *
sysprof_kernel_log_new (void)
{
  return g_object_new (SYSPROF_TYPE_KERNEL_LOG, NULL);
}

const InstrumentRow sysprof_kernel_log_row = {
  .options = { { "kernel-log", "Record kernel messages" },
               { "no-kernel-log", "Do not record kernel messages (default)", .omits = true } },
  .manual =
      "Record kernel messages from \\fI/dev/kmsg\\fR. Kernel messages from the journal are then\n"
      "dropped, to avoid duplicates. Off by default.",
  .new = sysprof_kernel_log_new,
};
