// SPDX-License-Identifier: GPL-3.0-or-later

/* Translates requests of the recorder to methods of the older service. It must never open an
 * event with other samples than those that were requested. */

#include "access/older-service.h"

#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SERVICE          "org.gnome.Sysprof3"
#define CALL_MSEC        5000
#define LEAST_PERIOD     100000u /* the service rejects shorter ones, even of dummy events */
#define NO_GROUP         UINT32_MAX
#define MAY_ASK_THE_USER 4u /* flag ALLOW_INTERACTIVE_AUTHORIZATION */
/* polkit keeps an authorization for five minutes. Later calls would make it request another
 * password, in the middle of the recording. */
#define AUTHORIZED_USEC (4 * 60 * G_USEC_PER_SEC)

struct OlderService
{
  BusConnection *bus; /* owned */
  int kallsyms;       /* owned */
  gint64 authorized_until;
};

static BusHeader
make_header (const char *member, const char *signature)
{
  return (BusHeader){ .type = BUS_METHOD_CALL,
                      .path = "/org/gnome/Sysprof3",
                      .interface = SERVICE ".Service",
                      .member = member,
                      .destination = SERVICE,
                      .signature = signature };
}

static BusMessage *
call (OlderService *self, const BusHeader *header, const BusWriter *body)
{
  if (g_get_monotonic_time () < self->authorized_until)
    return sysprof_dbus_connection_call (self->bus, header, body, CALL_MSEC);

  errno = EACCES;
  return NULL;
}

/* --- files --- */

static BusHeader
begin_file_call (BusWriter *body, const char *path)
{
  size_t array = sysprof_dbus_begin_array (body, 1);

  sysprof_dbus_write_bytes (body, path, strlen (path) + 1);
  sysprof_dbus_end_array (body, array, 1);
  return make_header ("GetProcFile", "ay");
}

uint32_t
sysprof_older_service_request_file (BusConnection *bus, const char *path)
{
  BusWriter body = { 0 };
  BusHeader header = begin_file_call (&body, path);
  uint32_t serial;

  header.flags = MAY_ASK_THE_USER;
  serial = sysprof_dbus_connection_send (bus, &header, &body, -1);
  sysprof_dbus_writer_clear (&body);
  return serial;
}

int
sysprof_older_service_take_file (BusMessage *reply)
{
  size_t end = sysprof_dbus_read_array (&reply->body, 1);
  const uint8_t *bytes = reply->body.bytes + reply->body.at;
  size_t size;
  autofd fd = -1;

  if (reply->body.is_failed || strcmp (reply->signature, "ay") != 0)
    {
      errno = EPROTO;
      return -1;
    }

  size = end - reply->body.at;
  if (size > 0 && bytes[size - 1] == '\0')
    size--;
  fd = memfd_create ("sysprof-file", MFD_CLOEXEC);
  if (fd < 0 || !sysprof_write_all (fd, bytes, size) || lseek (fd, 0, SEEK_SET) != 0)
    return -1;
  return sysprof_steal_fd (&fd);
}

int
sysprof_older_service_open_file (OlderService *self, const char *path)
{
  BusWriter body = { 0 };
  const BusHeader header = begin_file_call (&body, path);
  BusMessage *reply = call (self, &header, &body);
  int fd = -1;

  if (reply != NULL)
    fd = sysprof_older_service_take_file (reply);
  else if (errno == EREMOTEIO)
    errno = EACCES;
  sysprof_dbus_message_free (reply);
  sysprof_dbus_writer_clear (&body);
  return fd;
}

/* The list was read at the start of the recording, as the authorization may have expired since
 * then. A new description of the file has a position of its own. */
int
sysprof_older_service_open_kallsyms (OlderService *self)
{
  char path[64];

  g_snprintf (path, sizeof path, "/proc/self/fd/%d", self->kallsyms);
  return open (path, O_RDONLY | O_CLOEXEC);
}

/* --- events --- */

static bool
has_new_features (const struct perf_event_attr *attr)
{
  return attr->build_id || attr->ksymbol || attr->namespaces || attr->inherit_thread ||
         attr->read_format != 0 || attr->sample_max_stack != 0;
}

/* Whether the service would open an event with other samples. A dummy event has none. Guests
 * are excluded here, which makes a difference only on hosts of virtual machines. */
static bool
differs (const struct perf_event_attr *attr, unsigned long flags)
{
  const bool is_dummy = attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
  const bool is_excluding = attr->exclude_kernel || attr->exclude_user ||
                            attr->exclude_callchain_kernel || attr->exclude_callchain_user;

  return attr->inherit || (flags & PERF_FLAG_PID_CGROUP) != 0 ||
         (attr->sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)) != 0 ||
         (!is_dummy && (is_excluding || (attr->type != PERF_TYPE_TRACEPOINT &&
                                         attr->sample_period < LEAST_PERIOD)));
}

/* 0, or the errno with which the request is refused here. */
static int
check_event (const struct perf_event_attr *attr, unsigned long flags)
{
  if (has_new_features (attr))
    return EINVAL;
  if (attr->freq)
    return EOPNOTSUPP;
  return differs (attr, flags) ? EACCES : 0;
}

static void
write_option (BusWriter *body, const char *name, const char *type, uint64_t value)
{
  sysprof_dbus_write_align (body, 8);
  sysprof_dbus_write_string (body, name);
  sysprof_dbus_write_signature (body, type);
  if (*type != 't')
    {
      sysprof_dbus_write_u32 (body, (uint32_t) value);
      return;
    }
  sysprof_dbus_write_align (body, 8);
  sysprof_dbus_write_bytes (body, &value, sizeof value);
}

/* The service ignores options of later generations than its own. `wakeup_events` 0: the kernel
 * wakes the reader when half of the ring is full. */
static void
write_options (BusWriter *body, const struct perf_event_attr *attr)
{
  const struct
  {
    const char *name, *type;
    uint64_t value;
  } options[] = {
    { "clockid", "i", (uint64_t) attr->clockid },
    { "comm", "b", attr->comm },
    { "config", "t", attr->config },
    { "disabled", "b", attr->disabled },
    { "exclude_idle", "b", attr->exclude_idle },
    { "mmap", "b", attr->mmap },
    { "mmap2", "b", attr->mmap2 },
    { "sample_id_all", "b", attr->sample_id_all },
    { "sample_period", "t",
      attr->type == PERF_TYPE_TRACEPOINT ? attr->sample_period
                                         : MAX (attr->sample_period, LEAST_PERIOD) },
    { "sample_type", "t", attr->sample_type },
    { "task", "b", attr->task },
    { "type", "u", attr->type },
    { "use_clockid", "b", attr->use_clockid },
    { "wakeup_events", "u", 0 },
  };
  size_t array = sysprof_dbus_begin_array (body, 8);

  for (size_t i = 0; i < G_N_ELEMENTS (options); i++)
    write_option (body, options[i].name, options[i].type, options[i].value);
  sysprof_dbus_end_array (body, array, 8);
}

/* The reply has only a text. If the machine has no such counter, the caller may try another. */
static int
errno_of_failure (const struct perf_event_attr *attr)
{
  const bool is_counter = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;

  return errno != EREMOTEIO ? errno : is_counter ? ENOENT : EACCES;
}

int
sysprof_older_service_open_event (OlderService *self,
                                  const struct perf_event_attr *attr,
                                  pid_t pid,
                                  int cpu,
                                  unsigned long flags)
{
  const BusHeader header = make_header ("PerfEventOpen", "a{sv}iiht");
  const uint64_t service_flags = PERF_FLAG_FD_CLOEXEC;
  BusWriter body = { 0 };
  BusMessage *reply;
  int fd = -1;

  errno = check_event (attr, flags);
  if (errno != 0)
    return -1;

  write_options (&body, attr);
  sysprof_dbus_write_u32 (&body, (uint32_t) pid);
  sysprof_dbus_write_u32 (&body, (uint32_t) cpu);
  sysprof_dbus_write_u32 (&body, NO_GROUP);
  sysprof_dbus_write_align (&body, 8);
  sysprof_dbus_write_bytes (&body, &service_flags, sizeof service_flags);

  reply = call (self, &header, &body);
  if (reply == NULL)
    errno = errno_of_failure (attr);
  else if (reply->n_fds == 1)
    fd = fcntl (reply->fds[0], F_DUPFD_CLOEXEC, 3);
  else
    errno = EPROTO;
  sysprof_dbus_message_free (reply);
  sysprof_dbus_writer_clear (&body);
  return fd;
}

OlderService *
sysprof_older_service_new (BusConnection *bus, int kallsyms)
{
  OlderService *self = g_new0 (OlderService, 1);

  self->bus = bus;
  self->kallsyms = kallsyms;
  self->authorized_until = g_get_monotonic_time () + AUTHORIZED_USEC;
  return self;
}

void
sysprof_older_service_free (OlderService *self)
{
  if (self == NULL)
    return;

  sysprof_dbus_connection_free (self->bus);
  sysprof_autofd_close (&self->kallsyms);
  g_free (self);
}
