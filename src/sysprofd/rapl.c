// SPDX-License-Identifier: GPL-3.0-or-later

/* The Profiler at /org/gnome/Sysprof3/RAPL: the power of the processor, once a second, written
 * as a capture to a file in memory of the client. The kernel counts energy per package and per
 * part of it; the counters are sums over the packages. */

#include "sysprofd/sysprofd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysprof-capture.h>
#include <unistd.h>

#define ZONES         "/sys/class/powercap"
#define MOST_PACKAGES 16
#define MOST_PARTS    8
#define MOST_ZONES    (MOST_PACKAGES * (MOST_PARTS + 1))
#define JOULE         1000000.0 /* microjoules */

/* clang-format off */
static const struct { const char *zone; const char *name; } counters[] = {
  { "package", "Package Watt" }, /* package-0, package-1 … */
  { "core", "Core Watt" },
  { "uncore", "GFX Watt" },
  { "dram", "RAM Watt" },
};
/* clang-format on */

#define N_COUNTERS (sizeof counters / sizeof counters[0])

typedef struct
{
  int fd; /* energy_uj */
  unsigned counter;
  uint64_t last;  /* microjoules */
  uint64_t range; /* after which the number starts at 0 again */
} Zone;

struct Rapl
{
  SysprofCaptureWriter *writer;
  unsigned first_id;
  int64_t last_time; /* ns */
  Zone zones[MOST_ZONES];
  unsigned n_zones;
};

static bool
read_number (int fd, uint64_t *number)
{
  char text[32];
  ssize_t n = pread (fd, text, sizeof text - 1, 0);

  if (n <= 0)
    return false;
  text[n] = '\0';
  *number = strtoull (text, NULL, 10);
  return true;
}

static int
open_zone_file (const char *zone, const char *file)
{
  char path[128];

  (void) snprintf (path, sizeof path, ZONES "/%s/%s", zone, file);
  return open (path, O_RDONLY | O_CLOEXEC);
}

/* N_COUNTERS if the zone is none of ours. */
static unsigned
find_counter (const char *zone)
{
  char name[32] = "";
  int fd = open_zone_file (zone, "name");
  unsigned i = 0;

  if (fd < 0)
    return N_COUNTERS;
  (void) !read (fd, name, sizeof name - 1); /* then the name is empty */
  (void) close (fd);
  name[strcspn (name, "-\n")] = '\0';
  while (i < N_COUNTERS && strcmp (name, counters[i].zone) != 0)
    i++;
  return i;
}

static bool
add_zone (Rapl *self, const char *name)
{
  Zone zone = { .counter = find_counter (name) };
  int range;

  if (zone.counter == N_COUNTERS || self->n_zones == MOST_ZONES)
    return false;
  zone.fd = open_zone_file (name, "energy_uj");
  if (zone.fd < 0)
    return false;

  range = open_zone_file (name, "max_energy_range_uj");
  if (!read_number (zone.fd, &zone.last) || range < 0 || !read_number (range, &zone.range))
    {
      (void) close (zone.fd);
      zone.fd = -1;
    }
  if (range >= 0)
    (void) close (range);
  if (zone.fd >= 0)
    self->zones[self->n_zones++] = zone;
  return zone.fd >= 0;
}

static void
find_zones (Rapl *self)
{
  for (unsigned package = 0; package < MOST_PACKAGES; package++)
    {
      char name[48];

      (void) snprintf (name, sizeof name, "intel-rapl:%u", package);
      (void) add_zone (self, name); /* its parts may be there without it */
      for (unsigned part = 0; part < MOST_PARTS; part++)
        {
          (void) snprintf (name, sizeof name, "intel-rapl:%u:%u", package, part);
          (void) add_zone (self, name);
        }
    }
}

static void
define_counters (Rapl *self)
{
  SysprofCaptureCounter defined[N_COUNTERS] = { 0 };

  self->first_id = sysprof_capture_writer_request_counter (self->writer, N_COUNTERS);
  for (unsigned i = 0; i < N_COUNTERS; i++)
    {
      (void) snprintf (defined[i].category, sizeof defined[i].category, "RAPL");
      (void) snprintf (defined[i].name, sizeof defined[i].name, "%s", counters[i].name);
      defined[i].id = self->first_id + i;
      defined[i].type = SYSPROF_CAPTURE_COUNTER_DOUBLE;
    }
  /* A writer that has failed reports it at the flush. */
  (void) sysprof_capture_writer_define_counters (self->writer, SYSPROF_CAPTURE_CURRENT_TIME, -1,
                                                 -1, defined, N_COUNTERS);
}

void
sysprof_rapl_tick (Rapl *self)
{
  int64_t now = sysprof_service_now ();
  double seconds = (double) (now - self->last_time) / (double) NSEC_PER_SEC;
  SysprofCaptureCounterValue values[N_COUNTERS] = { 0 };
  unsigned ids[N_COUNTERS];

  for (unsigned i = 0; i < self->n_zones; i++)
    {
      Zone *zone = &self->zones[i];
      uint64_t energy;

      if (!read_number (zone->fd, &energy))
        continue;
      if (seconds > 0)
        values[zone->counter].vdbl +=
            (double) (energy - zone->last + (energy < zone->last ? zone->range : 0)) / JOULE /
            seconds;
      zone->last = energy;
    }
  for (unsigned i = 0; i < N_COUNTERS; i++)
    ids[i] = self->first_id + i;
  self->last_time = now;
  (void) sysprof_capture_writer_set_counters (self->writer, SYSPROF_CAPTURE_CURRENT_TIME, -1,
                                              -1, ids, values, N_COUNTERS);
}

void
sysprof_rapl_free (Rapl *self)
{
  if (self == NULL)
    return;

  sysprof_rapl_tick (self);
  (void) sysprof_capture_writer_flush (self->writer); /* the client sees what was written */
  sysprof_capture_writer_unref (self->writer);
  for (unsigned i = 0; i < self->n_zones; i++)
    (void) close (self->zones[i].fd);
  free (self);
}

static Rapl *
new_rapl (int fd)
{
  Rapl *self = calloc (1, sizeof *self);
  int own = self != NULL ? fcntl (fd, F_DUPFD_CLOEXEC, 3) : -1;

  if (own >= 0)
    self->writer = sysprof_capture_writer_new_from_fd (own, 0);
  if (self == NULL || self->writer == NULL)
    {
      if (own >= 0)
        (void) close (own);
      free (self);
      return NULL;
    }
  find_zones (self);
  define_counters (self);
  self->last_time = sysprof_service_now ();
  return self;
}

/* Only files in memory have seals. Writing to any other file may block. */
static bool
is_in_memory (int fd)
{
  int flags = fd >= 0 ? fcntl (fd, F_GETFL) : -1;

  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fcntl (fd, F_GET_SEALS) >= 0;
}

void
sysprof_run_rapl_start (Call *call)
{
  Service *service = call->service;
  int fd;

  sysprof_dbus_skip (call->values, "a{sv}");
  fd = sysprof_call_get_fd (call, sysprof_dbus_read_u32 (call->values));
  if (service->rapl != NULL)
    {
      sysprof_reply_fail (&call->reply, "Failed", "RAPL collector already running");
      return;
    }
  if (!is_in_memory (fd))
    {
      sysprof_reply_fail (&call->reply, "InvalidArgs",
                          "Invalid param 'fd': give a file of memfd_create()");
      return;
    }

  service->rapl = new_rapl (fd);
  if (service->rapl != NULL && service->rapl->n_zones > 0)
    {
      service->rapl_client = call->client;
      service->rapl_tick = sysprof_service_now () + NSEC_PER_SEC;
      return;
    }
  sysprof_rapl_free (service->rapl);
  service->rapl = NULL;
  sysprof_reply_fail (&call->reply, "Failed",
                      "This machine has no RAPL counters in " ZONES ": the processor or the "
                      "virtual machine does not provide them");
}

/* Only the client that has started can stop; for others nothing runs. */
void
sysprof_run_rapl_stop (Call *call)
{
  if (call->service->rapl_client != call->client)
    return;

  sysprof_rapl_free (call->service->rapl);
  call->service->rapl = NULL;
  call->service->rapl_client = NULL;
}
