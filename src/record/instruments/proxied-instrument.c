// SPDX-License-Identifier: GPL-3.0-or-later

/* Lets a service on a message bus write a capture of its own, and joins it with the recording.
 *
 * The service receives a file descriptor with the method Start, and must have written
 * everything when it replies to Stop. The recorder never waits longer than a few seconds for a
 * service that does not reply. */

#include "record/clock.h"
#include "record/dbus/bus-address.h"
#include "record/dbus/bus.h"
#include "record/instrument.h"
#include "record/joined-capture.h"
#include "record/recording-context.h"
#include "util/util.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sysprof.h>

/* The service may have to ask the user for permission; the recording starts without waiting for
 * that. */
#define PREPARE_NSEC (1 * NSEC_PER_SEC)
#define STOP_NSEC    (3 * NSEC_PER_SEC)

typedef enum
{
  PEER_FAILED, /* or Start was never called */
  PEER_STARTING,
  PEER_RUNNING,
  PEER_STOPPING,
  PEER_STOPPED,
} PeerState;

static const char instrument_name[] = "Proxied Instrument";

struct _SysprofProxiedInstrument
{
  SysprofInstrument parent_instance;
  GBusType bus_type;
  char *bus_name;
  char *object_path;
  GVariant *options; /* a{sv} or NULL */

  /* Owned by the pump thread. */
  RecordingContext *context;
  Bus *bus;
  PeerState state;
  int64_t asked_at; /* ns; when Stop was called */
  int capture_fd;
  SysprofCaptureJoin *join; /* NULL = nothing left to join */
};

SYSPROF_DEFINE_INSTRUMENT (SysprofProxiedInstrument, sysprof_proxied_instrument)

static void
sysprof_proxied_instrument_finalize (GObject *object)
{
  SysprofProxiedInstrument *self = SYSPROF_PROXIED_INSTRUMENT (object);

  /* The join only borrows the writer; nothing is written any more. */
  sysprof_capture_join_free (self->join);
  sysprof_bus_close (self->bus);
  sysprof_autofd_close (&self->capture_fd);
  g_free (self->bus_name);
  g_free (self->object_path);
  g_clear_pointer (&self->options, g_variant_unref);
  G_OBJECT_CLASS (sysprof_proxied_instrument_parent_class)->finalize (object);
}

/* --- the service --- */

static GDBusMessage *
new_call (SysprofProxiedInstrument *self, const char *method)
{
  return g_dbus_message_new_method_call (self->bus_name, self->object_path,
                                         "org.gnome.Sysprof3.Profiler", method);
}

static void
set_failed (SysprofProxiedInstrument *self, const char *reason)
{
  self->state = PEER_FAILED;
  sysprof_context_report (
      self->context, instrument_name, false,
      "'%s' is not recorded: %s. Start it, or a version that supports profiling, and record "
      "again.",
      self->bus_name, reason);
}

static void
started (Bus *bus, GDBusMessage *reply, const GError *error, void *data)
{
  SysprofProxiedInstrument *self = data;

  if (self->state != PEER_STARTING)
    return;
  if (error == NULL)
    self->state = PEER_RUNNING;
  else
    set_failed (self, error->message);
}

static void
stopped (Bus *bus, GDBusMessage *reply, const GError *error, void *data)
{
  SysprofProxiedInstrument *self = data;

  if (self->state != PEER_STOPPING)
    return;
  self->state = PEER_STOPPED;
  if (error != NULL)
    sysprof_context_report (
        self->context, instrument_name, false,
        "Cannot stop recording in '%s': %s. The data that it has written is kept. Restart it "
        "before the next recording.",
        self->bus_name, error->message);
}

static void
set_gone (SysprofProxiedInstrument *self, const char *reason)
{
  if (self->state != PEER_RUNNING && self->state != PEER_STOPPING)
    return;

  self->state = PEER_STOPPED;
  sysprof_context_report (
      self->context, instrument_name, false,
      "'%s' disappeared during the recording: %s. The data that it has written is kept. "
      "Record again when it is running.",
      self->bus_name, reason);
}

static void
take_signal (Bus *bus, GDBusMessage *message, void *data)
{
  SysprofProxiedInstrument *self = data;
  GVariant *body = g_dbus_message_get_body (message);
  const char *name, *before, *after;

  if (g_strcmp0 (g_dbus_message_get_sender (message), "org.freedesktop.DBus") != 0 ||
      g_strcmp0 (g_dbus_message_get_member (message), "NameOwnerChanged") != 0 ||
      body == NULL || !g_variant_is_of_type (body, G_VARIANT_TYPE ("(sss)")))
    return;

  g_variant_get (body, "(&s&s&s)", &name, &before, &after);
  if (g_str_equal (name, self->bus_name) && *before != '\0')
    set_gone (self, *after == '\0' ? "it has left the bus"
                                   : "another process has taken its "
                                     "name");
}

static void
bus_closed (Bus *bus, const GError *error, void *data)
{
  set_gone (data, error->message); /* if Start is pending, started() reports the error */
}

static const BusEvents bus_events = { .signal = take_signal, .closed = bus_closed };

static void
watch_name (SysprofProxiedInstrument *self)
{
  g_autofree char *rule = g_strdup_printf (
      "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
      "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='%s'",
      self->bus_name);
  GDBusMessage *call = g_dbus_message_new_method_call (
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch");

  g_dbus_message_set_body (call, g_variant_new ("(s)", rule));
  sysprof_bus_call (self->bus, call, -1, NULL, NULL);
}

static void
start_peer (SysprofProxiedInstrument *self)
{
  GDBusMessage *call = new_call (self, "Start");
  GVariant *options = self->options != NULL
                          ? self->options
                          : g_variant_new_array (G_VARIANT_TYPE ("{sv}"), NULL, 0);

  g_dbus_message_set_flags (call, G_DBUS_MESSAGE_FLAGS_ALLOW_INTERACTIVE_AUTHORIZATION);
  g_dbus_message_set_body (call, g_variant_new ("(@a{sv}h)", options, 0));
  self->state = PEER_STARTING;
  sysprof_bus_call (self->bus, call, self->capture_fd, started, self);
}

/* --- the phases --- */

static bool
is_settled (const void *data)
{
  const SysprofProxiedInstrument *self = data;

  return self->state != PEER_STARTING && self->state != PEER_STOPPING;
}

static gboolean
sysprof_proxied_instrument_prepare (SysprofInstrument *instrument,
                                    RecordingContext *context,
                                    GError **error)
{
  SysprofProxiedInstrument *self = SYSPROF_PROXIED_INSTRUMENT (instrument);
  g_autofree char *address = NULL;

  self->context = context;
  if (!g_dbus_is_name (self->bus_name) || !g_variant_is_object_path (self->object_path))
    {
      g_set_error (
          error, SYSPROF_ERROR, SYSPROF_ERROR_FAILED,
          "'%s' is not recorded: this name and the path '%s' are not a valid D-Bus object. "
          "Give a bus name and an object path.",
          self->bus_name, self->object_path);
      return FALSE;
    }

  address = sysprof_bus_dup_address (self->bus_type, error);
  if (address != NULL)
    {
      self->capture_fd = memfd_create ("[sysprof-proxy]", MFD_CLOEXEC | MFD_ALLOW_SEALING);
      if (self->capture_fd < 0)
        sysprof_set_error_errno (error, "cannot create a memory file for it");
      else
        self->bus = sysprof_bus_open (context, address, &bus_events, self, error);
    }
  if (self->bus == NULL)
    {
      g_prefix_error (error, "'%s' is not recorded: ", self->bus_name);
      return FALSE;
    }

  watch_name (self);
  start_peer (self);
  (void) sysprof_bus_wait (self->bus, sysprof_clock_now () + PREPARE_NSEC, is_settled, self);
  return TRUE;
}

/* A service that has written something is running, even if it has not replied to Start. */
static bool
runs (SysprofProxiedInstrument *self)
{
  struct stat info;

  return self->state == PEER_RUNNING ||
         (self->state == PEER_STARTING && fstat (self->capture_fd, &info) == 0 &&
          info.st_size > 0);
}

static void
sysprof_proxied_instrument_stop (SysprofInstrument *instrument, RecordingContext *context)
{
  SysprofProxiedInstrument *self = SYSPROF_PROXIED_INSTRUMENT (instrument);

  if (self->bus == NULL)
    return;

  if (runs (self))
    {
      self->state = PEER_STOPPING;
      self->asked_at = sysprof_clock_now ();
      sysprof_bus_call (self->bus, new_call (self, "Stop"), -1, stopped, self);
    }
  else if (self->state == PEER_STARTING)
    set_failed (self, "it has not replied");
  sysprof_bus_detach (self->bus); /* from now on sysprof_bus_wait() reads the replies */
}

static gboolean
sysprof_proxied_instrument_augment (SysprofInstrument *instrument,
                                    RecordingContext *context,
                                    GError **error)
{
  SysprofProxiedInstrument *self = SYSPROF_PROXIED_INSTRUMENT (instrument);
  g_autoptr (GError) cause = NULL;

  if (self->bus == NULL || self->state == PEER_FAILED)
    return TRUE;

  if (!sysprof_bus_wait (self->bus, self->asked_at + STOP_NSEC, is_settled, self))
    sysprof_context_report (
        context, instrument_name, false,
        "'%s' has not replied to the request to stop. The data that it has written is kept, "
        "later data is not. Restart it before the next recording.",
        self->bus_name);

  /* The second call fails while the service has a writable mapping. The file may then change
   * while it is read, and the reader must tolerate that. */
  (void) fcntl (self->capture_fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK);
  (void) fcntl (self->capture_fd, F_ADD_SEALS, F_SEAL_WRITE);
  self->join = sysprof_joined_capture_begin (context, instrument_name, self->bus_name,
                                             self->capture_fd, &cause);
  if (cause == NULL)
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

static gboolean
sysprof_proxied_instrument_append (SysprofInstrument *instrument,
                                   RecordingContext *context,
                                   GError **error)
{
  SysprofProxiedInstrument *self = SYSPROF_PROXIED_INSTRUMENT (instrument);

  return sysprof_joined_capture_finish (self->join, self->bus_name, error);
}

static void
sysprof_proxied_instrument_class_init (SysprofProxiedInstrumentClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sysprof_proxied_instrument_finalize;
  klass->parent_class.name = instrument_name;
  klass->parent_class.prepare = sysprof_proxied_instrument_prepare;
  klass->parent_class.stop = sysprof_proxied_instrument_stop;
  klass->parent_class.augment = sysprof_proxied_instrument_augment;
  klass->parent_class.append = sysprof_proxied_instrument_append;
}

static void
sysprof_proxied_instrument_init (SysprofProxiedInstrument *self)
{
  self->capture_fd = -1;
}

SysprofInstrument *
sysprof_proxied_instrument_new (GBusType bus_type,
                                const char *bus_name,
                                const char *object_path)
{
  return sysprof_proxied_instrument_new_with_options (bus_type, bus_name, object_path, NULL);
}

SysprofInstrument *
sysprof_proxied_instrument_new_with_options (GBusType bus_type,
                                             const char *bus_name,
                                             const char *object_path,
                                             GVariant *options)
{
  SysprofProxiedInstrument *self = g_object_new (SYSPROF_TYPE_PROXIED_INSTRUMENT, NULL);

  self->bus_type = bus_type;
  self->bus_name = g_strdup (bus_name);
  self->object_path = g_strdup (object_path);
  self->options = options != NULL ? g_variant_ref_sink (options) : NULL;
  return SYSPROF_INSTRUMENT (self);
}

static SysprofInstrument *
new_gnome_shell (void)
{
  return sysprof_proxied_instrument_new (G_BUS_TYPE_SESSION, "org.gnome.Shell",
                                         "/org/gnome/Sysprof3/Profiler");
}

const InstrumentRow sysprof_proxied_instrument_row = {
  .options = { { "gnome-shell", "Record profiling data of GNOME Shell" } },
  .manual =
      "Record profiling data of GNOME Shell, and merge it at the end. The recorder waits at\n"
      "most three seconds for it.",
  .new = new_gnome_shell,
};
