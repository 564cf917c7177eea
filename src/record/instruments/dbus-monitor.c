// SPDX-License-Identifier: GPL-3.0-or-later

/* Records all messages on a message bus as they are on the wire.
 *
 * The bus sends them to a connection that has become a monitor: it receives all messages and
 * may not send any. If the bus does not permit that, match rules for eavesdropping, which are
 * the older way, receive the messages that the bus policy permits. This file must never send
 * messages to other clients of the bus.
 *
 * These frames are written to the deferred frames at the end of the recording. The numbers of
 * the buses are GLib's, as in captures of other recorders.
 *
 * Source: D-Bus Specification, "org.freedesktop.DBus.Monitoring.BecomeMonitor" and "Match
 * Rules". */

#include "record/clock.h"
#include "record/dbus/bus-address.h"
#include "record/dbus/bus.h"
#include "record/instrument.h"
#include "record/recording-context.h"
#include "util/util.h"

#include <sysprof.h>

/* Monitoring should start before the command does, so that its first messages are recorded; but
 * an unresponsive bus must not delay the command for longer. */
#define PREPARE_NSEC (2 * NSEC_PER_SEC)
#define LAST_NSEC    (50 * NSEC_PER_MSEC)
#define STOP_NSEC    (200 * NSEC_PER_MSEC)

typedef struct
{
  const char *interface;
  const char *method;
  const char *rule; /* NULL = become a monitor, which has no rule */
  bool gets_own;    /* also receives messages to our own connection */
} Way;

/* The first permitted way is used. */
static const Way ways[] = {
  { "org.freedesktop.DBus.Monitoring", "BecomeMonitor", NULL, false },
  { "org.freedesktop.DBus", "AddMatch", "eavesdrop='true'", true },
  { "org.freedesktop.DBus", "AddMatch", "", true },
};

static const char instrument_name[] = "D-Bus Monitor";

struct _SysprofDBusMonitor
{
  SysprofInstrument parent_instance;
  GBusType bus_type; /* G_BUS_TYPE_NONE if there is an address */
  char *bus_address;

  /* Owned by the pump thread. */
  RecordingContext *context;
  SysprofCaptureWriter *writer; /* borrowed from the pump */
  Bus *bus;
  char *title;
  GError *error; /* why the connection was closed before the recording started */
  char *refusal; /* the error of the first way */
  size_t way;
  bool is_listening;
  bool is_refused; /* with all ways */
  bool is_full;    /* the user has been told that there is no more space */
  bool is_recording;
  uint64_t n_messages;
};

SYSPROF_DEFINE_INSTRUMENT (SysprofDBusMonitor, sysprof_dbus_monitor)

enum
{
  PROP_0,
  PROP_BUS_ADDRESS,
  PROP_BUS_TYPE,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static void
sysprof_dbus_monitor_finalize (GObject *object)
{
  SysprofDBusMonitor *self = SYSPROF_DBUS_MONITOR (object);

  sysprof_bus_close (self->bus);
  g_free (self->bus_address);
  g_free (self->title);
  g_free (self->refusal);
  g_clear_error (&self->error);
  G_OBJECT_CLASS (sysprof_dbus_monitor_parent_class)->finalize (object);
}

static void
sysprof_dbus_monitor_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  SysprofDBusMonitor *self = SYSPROF_DBUS_MONITOR (object);

  switch (id)
    {
    case PROP_BUS_ADDRESS:
      g_value_set_string (value, self->bus_address);
      break;
    case PROP_BUS_TYPE:
      g_value_set_enum (value, self->bus_type);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_dbus_monitor_set_property (GObject *object,
                                   guint id,
                                   const GValue *value,
                                   GParamSpec *pspec)
{
  SysprofDBusMonitor *self = SYSPROF_DBUS_MONITOR (object);

  switch (id)
    {
    case PROP_BUS_ADDRESS:
      self->bus_address = g_value_dup_string (value);
      break;
    case PROP_BUS_TYPE:
      self->bus_type = g_value_get_enum (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

/* --- messages from the bus --- */

/* With match rules, messages to our own connection arrive, too. */
static bool
is_for_us (Bus *bus, const uint8_t *bytes, size_t size)
{
  g_autoptr (GDBusMessage) message = g_dbus_message_new_from_blob (
      (guchar *) bytes, size, G_DBUS_CAPABILITY_FLAGS_UNIX_FD_PASSING, NULL);

  return message != NULL &&
         g_strcmp0 (g_dbus_message_get_destination (message), sysprof_bus_get_name (bus)) == 0;
}

static void
take_message (Bus *bus, int64_t time, const uint8_t *bytes, size_t size, void *data)
{
  SysprofDBusMonitor *self = data;
  int64_t end = self->context->end;

  if (bytes != NULL && ways[self->way].gets_own && is_for_us (bus, bytes, size))
    return;

  /* No frame may be older than the start of the recording. */
  if (!self->is_recording)
    return;
  if (!sysprof_context_has_tail_room (self->context))
    {
      sysprof_context_add_lost (self->context, LOST_OTHERS, 1);
      if (!self->is_full)
        sysprof_context_report (
            self->context, instrument_name, false,
            "After %" G_GUINT64_FORMAT " messages there is no space for more messages on %s "
            "in '%s'; later ones are lost. Record for a shorter time, or set TMPDIR to a "
            "directory with more space.",
            self->n_messages, self->title, g_get_tmp_dir ());
      self->is_full = true;
      return;
    }

  if (end != 0 && time > end)
    time = end;
  self->n_messages++;
  if (!sysprof_capture_writer_add_dbus_message (
          self->writer, time, -1, -1, (uint16_t) self->bus_type,
          bytes == NULL ? SYSPROF_CAPTURE_DBUS_FLAGS_MESSAGE_TOO_LARGE : 0, bytes,
          bytes != NULL ? size : 0))
    sysprof_context_add_lost (self->context, LOST_OTHERS, 1);
}

static void
bus_closed (Bus *bus, const GError *error, void *data)
{
  SysprofDBusMonitor *self = data;

  if (!self->is_recording)
    self->error = g_error_copy (error);
  else
    sysprof_context_report (self->context, instrument_name, false,
                            "After %" G_GUINT64_FORMAT " messages, recording of %s ended: %s",
                            self->n_messages, self->title, error->message);
}

static const BusEvents bus_events = { .message = take_message, .closed = bus_closed };

/* --- becoming a monitor --- */

static void listen_in_some_way (SysprofDBusMonitor *self);

static void
answered (Bus *bus, GDBusMessage *reply, const GError *error, void *data)
{
  SysprofDBusMonitor *self = data;

  if (error == NULL)
    {
      sysprof_bus_set_monitor (bus);
      self->is_listening = true;
      if (self->refusal != NULL)
        sysprof_context_report (
            self->context, instrument_name, false,
            "Only broadcast signals on %s are recorded: the bus does not allow monitoring "
            "(%s). Record as root, or as the user who owns the bus.",
            self->title, self->refusal);
      return;
    }

  if (g_error_matches (error, SYSPROF_ERROR, SYSPROF_ERROR_PEER_GONE))
    return;
  if (self->refusal == NULL)
    self->refusal = g_strdup (error->message);
  if (++self->way < G_N_ELEMENTS (ways))
    {
      listen_in_some_way (self);
      return;
    }
  self->way = 0;
  self->is_refused = true;
  sysprof_context_report (
      self->context, instrument_name, false,
      "Messages on %s are not recorded: the bus does not allow monitoring (%s). Record as "
      "root, or as the user who owns the bus.",
      self->title, self->refusal);
}

static void
listen_in_some_way (SysprofDBusMonitor *self)
{
  const Way *way = &ways[self->way];
  GDBusMessage *call = g_dbus_message_new_method_call (
      "org.freedesktop.DBus", "/org/freedesktop/DBus", way->interface, way->method);

  g_dbus_message_set_body (call, way->rule == NULL ? g_variant_new_parsed ("(@as [], @u 0)")
                                                   : g_variant_new ("(s)", way->rule));
  sysprof_bus_call (self->bus, call, -1, answered, self);
}

static bool
is_settled (const void *data)
{
  const SysprofDBusMonitor *self = data;

  return self->is_listening || self->is_refused || self->error != NULL;
}

static gboolean
sysprof_dbus_monitor_prepare (SysprofInstrument *instrument,
                              RecordingContext *context,
                              GError **error)
{
  SysprofDBusMonitor *self = SYSPROF_DBUS_MONITOR (instrument);
  g_autofree char *address = self->bus_address != NULL
                                 ? g_strdup (self->bus_address)
                                 : sysprof_bus_dup_address (self->bus_type, error);

  self->context = context;
  self->title = self->bus_address != NULL
                    ? g_strdup_printf ("the bus at '%s'", address)
                    : g_strdup (self->bus_type == G_BUS_TYPE_SYSTEM ? "the system bus"
                                                                    : "the session bus");
  if (address != NULL)
    self->writer = sysprof_context_get_tail_writer (context, error);
  if (self->writer != NULL)
    self->bus = sysprof_bus_open (context, address, &bus_events, self, error);
  if (self->bus != NULL)
    {
      listen_in_some_way (self);
      (void) sysprof_bus_wait (self->bus, sysprof_clock_now () + PREPARE_NSEC, is_settled,
                               self);
      if (self->error != NULL)
        g_propagate_error (error, g_steal_pointer (&self->error));
      else if (!self->is_listening && !self->is_refused)
        sysprof_context_report (
            context, instrument_name, false,
            "Messages on %s are not recorded yet: the bus has not replied. "
            "Recording starts when it does. If it never does, check whether "
            "other programs can connect: dbus-monitor --address '%s'.",
            self->title, address);
    }
  if (error == NULL || *error == NULL)
    return TRUE;

  g_prefix_error (error, "Messages on %s are not recorded: ", self->title);
  sysprof_bus_detach (self->bus);
  g_clear_pointer (&self->bus, sysprof_bus_close);
  return FALSE;
}

static void
sysprof_dbus_monitor_record (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofDBusMonitor *self = SYSPROF_DBUS_MONITOR (instrument);

  self->is_recording = true;
  if (self->error != NULL) /* the connection was closed after prepare */
    bus_closed (self->bus, self->error, self);
}

static bool
is_never (const void *data)
{
  return false;
}

static void
sysprof_dbus_monitor_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofDBusMonitor *self = SYSPROF_DBUS_MONITOR (instrument);

  if (self->bus == NULL)
    return;

  /* A bus sends copies to monitors with a delay. */
  (void) sysprof_bus_wait (self->bus, sysprof_clock_now () + LAST_NSEC, is_never, self);
  if (!sysprof_bus_drain (self->bus, sysprof_clock_now () + STOP_NSEC))
    sysprof_context_report (
        context, instrument_name, false,
        "The last messages on %s are missing: they arrived faster than they "
        "could be read. Record longer, or when the bus is less busy.",
        self->title);
  sysprof_bus_detach (self->bus);
}

static void
sysprof_dbus_monitor_class_init (SysprofDBusMonitorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;

  object_class->finalize = sysprof_dbus_monitor_finalize;
  object_class->get_property = sysprof_dbus_monitor_get_property;
  object_class->set_property = sysprof_dbus_monitor_set_property;
  klass->parent_class.name = instrument_name;
  klass->parent_class.prepare = sysprof_dbus_monitor_prepare;
  klass->parent_class.record = sysprof_dbus_monitor_record;
  klass->parent_class.stop = sysprof_dbus_monitor_stop;

  properties[PROP_BUS_ADDRESS] = g_param_spec_string ("bus-address", NULL, NULL, NULL, flags);
  properties[PROP_BUS_TYPE] =
      g_param_spec_enum ("bus-type", NULL, NULL, G_TYPE_BUS_TYPE, G_BUS_TYPE_NONE, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_dbus_monitor_init (SysprofDBusMonitor *self)
{
}

SysprofInstrument *
sysprof_dbus_monitor_new (GBusType bus_type)
{
  return g_object_new (SYSPROF_TYPE_DBUS_MONITOR, "bus-type", bus_type, NULL);
}

SysprofInstrument *
sysprof_dbus_monitor_new_for_bus_address (const char *bus_address)
{
  return g_object_new (SYSPROF_TYPE_DBUS_MONITOR, "bus-address", bus_address, NULL);
}

GBusType
sysprof_dbus_monitor_get_bus_type (SysprofDBusMonitor *self)
{
  g_return_val_if_fail (SYSPROF_IS_DBUS_MONITOR (self), G_BUS_TYPE_NONE);

  return self->bus_type;
}

const char *
sysprof_dbus_monitor_get_bus_address (SysprofDBusMonitor *self)
{
  g_return_val_if_fail (SYSPROF_IS_DBUS_MONITOR (self), NULL);

  return self->bus_address;
}

static void
create_monitors (const InstrumentSelection *selection, GPtrArray *instruments)
{
  const char *const *address = sysprof_instrument_selection_values (selection, "monitor-bus");

  if (sysprof_instrument_selection_has (selection, "session-bus"))
    g_ptr_array_add (instruments, sysprof_dbus_monitor_new (G_BUS_TYPE_SESSION));
  if (sysprof_instrument_selection_has (selection, "system-bus"))
    g_ptr_array_add (instruments, sysprof_dbus_monitor_new (G_BUS_TYPE_SYSTEM));
  for (; address != NULL && *address != NULL; address++)
    g_ptr_array_add (instruments, sysprof_dbus_monitor_new_for_bus_address (*address));
}

const InstrumentRow sysprof_dbus_monitor_row = {
  .options = { { "session-bus", "Record messages on the session bus" },
               { "system-bus", "Record messages on the system bus" },
               { "monitor-bus", "Record messages on the bus at ADDRESS; repeatable",
                 .value = "ADDRESS" } },
  .manual =
      "Record all messages on this D-Bus bus: calls, replies and signals. The option for an\n"
      "address, like \\fIunix:path=/run/user/1000/bus\\fR, is repeatable. Each message has the time\n"
      "at which the recorder woke up to read it. Only root can record all messages on the\n"
      "system bus; other users receive broadcast signals. See \\fBLIMITS\\fR for long messages.",
  .create = create_monitors,
};
