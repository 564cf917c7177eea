// SPDX-License-Identifier: GPL-3.0-or-later

/* The power consumption of the processor's packages, cores, graphics and memory, in watts.
 *
 * The hardware adds up the energy of each domain (RAPL). perf counts it as events of the
 * devices "power" (packages) and "power_core" (single cores of AMD processors). If these are
 * missing, powercap has the sums, but only root can read them.
 *
 * Source: Linux, Documentation/ABI/testing/sysfs-bus-event_source-devices-events,
 * Documentation/power/powercap/powercap.rst. */

#include "record/counters/sampled-counters.h"

#include <errno.h>
#include <time.h>

#define DEVICES "/sys/bus/event_source/devices"
#define ZONES   "/sys/class/powercap"
#define CPUS    "/sys/devices/system/cpu"

#define JOULES_PER_UJ 1e-6

enum
{
  ROW_PACKAGE,
  ROW_CORE,
  ROW_GFX,
  ROW_RAM,
  ROW_PLATFORM,
  N_ROWS
};

static const CounterRow energy_rows[N_ROWS] = {
  [ROW_PACKAGE] = { "RAPL", "Package Watt", N_ ("Power of all packages"), COUNTER_RATE,
                    .sum_of = ROW_PACKAGE + 1 },
  [ROW_CORE] = { "RAPL", "Core Watt", N_ ("Power of all cores"), COUNTER_RATE,
                 .sum_of = ROW_CORE + 1 },
  [ROW_GFX] = { "RAPL", "GFX Watt", N_ ("Power of all integrated graphics"), COUNTER_RATE,
                .sum_of = ROW_GFX + 1 },
  [ROW_RAM] = { "RAPL", "RAM Watt", N_ ("Power of memory"), COUNTER_RATE,
                .sum_of = ROW_RAM + 1 },
  [ROW_PLATFORM] = { "RAPL", "Platform Watt", N_ ("Power of the whole platform"), COUNTER_RATE,
                     .sum_of = ROW_PLATFORM + 1 },
};

/* "%s" is CORE:CPU. */
static const CounterRow energy_instance_rows[N_ROWS] = {
  [ROW_PACKAGE] = { "RAPL %s", "Package Watt (%s)", N_ ("Power of the package of %s"),
                    COUNTER_RATE },
  [ROW_CORE] = { "RAPL %s", "Core Watt (%s)", N_ ("Power of the cores of %s"), COUNTER_RATE },
  [ROW_GFX] = { "RAPL %s", "GFX Watt (%s)", N_ ("Power of the graphics of %s"), COUNTER_RATE },
  [ROW_RAM] = { "RAPL %s", "RAM Watt (%s)", N_ ("Power of the memory of %s"), COUNTER_RATE },
  [ROW_PLATFORM] = { "RAPL %s", "Platform Watt (%s)", N_ ("Power of the platform of %s"),
                     COUNTER_RATE },
};

static const struct
{
  const char *event; /* name of the perf event */
  const char *zone;  /* prefix of the name of the powercap zone */
  unsigned row;
} domains[] = {
  { "energy-pkg", "package-", ROW_PACKAGE }, { "energy-cores", "core", ROW_CORE },
  { "energy-core", NULL, ROW_CORE },         { "energy-gpu", "uncore", ROW_GFX },
  { "energy-ram", "dram", ROW_RAM },         { "energy-psys", "psys", ROW_PLATFORM },
};

typedef struct
{
  int fd;
  bool is_event;
  unsigned row;
  double joules;  /* per unit */
  uint64_t range; /* the sum wraps to zero at this value; 0 = never */
  uint64_t last;
  double base; /* units before the last wrap */
  char *path;  /* of a zone, for reopening it; owned */
  char place[COUNTER_NAME_SIZE];
} Meter;

typedef struct
{
  Privilege *machine;
  GArray *meters; /* [Meter] */
  const char *device;
  bool is_there; /* there are such counters, readable or not */
  int cause;     /* errno of the open that failed, or 0 */
} Meters;

static void
clear_meter (void *data)
{
  Meter *meter = data;

  sysprof_autofd_close (&meter->fd);
  g_free (meter->path);
}

static bool
read_number (Privilege *machine, const char *path, uint64_t *number)
{
  char line[64];
  Text text;

  if (!sysprof_counter_read_line (machine, path, line, sizeof line))
    return false;
  text = sysprof_text_from_string (line);
  return sysprof_text_u64 (&text, number);
}

/* Formats CORE:CPU. */
static void
name_place (Privilege *machine, unsigned cpu, char place[COUNTER_NAME_SIZE])
{
  g_autofree char *path = g_strdup_printf (CPUS "/cpu%u/topology/core_id", cpu);
  uint64_t core = 0; /* if the kernel does not report it */

  (void) read_number (machine, path, &core);
  g_snprintf (place, COUNTER_NAME_SIZE, "%u:%u", (unsigned) core, cpu);
}

/* --- perf --- */

static void
open_meter (Meters *self,
            struct perf_event_attr *attr,
            unsigned cpu,
            unsigned row,
            double joules)
{
  Meter meter = { .is_event = true, .row = row, .joules = joules };

  self->is_there = true;
  meter.fd =
      sysprof_privilege_open_event (self->machine, attr, -1, (int) cpu, PERF_FLAG_FD_CLOEXEC);
  if (meter.fd < 0)
    {
      self->cause = errno;
      return;
    }
  name_place (self->machine, cpu, meter.place);
  g_array_append_val (self->meters, meter);
}

/* Opens the event on the CPUs that represent their packages, in a list like "0,18" or "0-3". */
static void
open_on_cpus (Meters *self, struct perf_event_attr *attr, unsigned row, double joules)
{
  g_autofree char *path = g_strdup_printf (DEVICES "/%s/cpumask", self->device);
  char line[4096];
  Text text;
  uint64_t first, last;

  if (!sysprof_counter_read_line (self->machine, path, line, sizeof line))
    return;

  text = sysprof_text_from_string (line);
  while (sysprof_text_u64 (&text, &first))
    {
      last = first;
      if (sysprof_text_skip (&text, "-") && !sysprof_text_u64 (&text, &last))
        return;
      for (uint64_t cpu = first; cpu <= MIN (last, first + COUNTER_MAX_INSTANCES); cpu++)
        open_meter (self, attr, (unsigned) cpu, row, joules);
      if (!sysprof_text_skip (&text, ","))
        return;
    }
}

static void
open_event (Meters *self, const char *event, unsigned row)
{
  g_autofree char *type_path = g_strdup_printf (DEVICES "/%s/type", self->device);
  g_autofree char *config_path = g_strdup_printf (DEVICES "/%s/events/%s", self->device, event);
  g_autofree char *scale_path =
      g_strdup_printf (DEVICES "/%s/events/%s.scale", self->device, event);
  /* The helper requires this clock for every event. */
  struct perf_event_attr attr = {
    .size = sizeof attr,
    .use_clockid = 1,
    .clockid = CLOCK_MONOTONIC,
  };
  char line[128];
  Text text;
  uint64_t type, config;
  double joules;

  if (!read_number (self->machine, type_path, &type) ||
      !sysprof_counter_read_line (self->machine, config_path, line, sizeof line))
    return;
  text = sysprof_text_from_string (line);
  if (!sysprof_text_skip (&text, "event=0x") || !sysprof_text_hex (&text, &config) ||
      !sysprof_counter_read_line (self->machine, scale_path, line, sizeof line))
    return;
  joules = g_ascii_strtod (line, NULL);
  if (!(joules > 0))
    return;

  attr.type = (uint32_t) type;
  attr.config = config;
  open_on_cpus (self, &attr, row, joules);
}

static void
open_events (Meters *self)
{
  static const char *const devices[] = { "power", "power_core" };

  for (size_t i = 0; i < G_N_ELEMENTS (devices); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (domains); j++)
      {
        self->device = devices[i];
        open_event (self, domains[j].event, domains[j].row);
      }
}

/* --- powercap --- */

typedef struct
{
  Privilege *machine;
  uint64_t package;
  uint64_t die; /* in the package; UINT64_MAX = any */
  uint64_t cpu; /* the first CPU found; UINT64_MAX = none */
} PackageSearch;

static void
check_cpu (const char *name, void *data)
{
  PackageSearch *self = data;
  g_autofree char *path = g_strdup_printf (CPUS "/%s/topology/physical_package_id", name);
  g_autofree char *die_path = g_strdup_printf (CPUS "/%s/topology/die_id", name);
  Text text = sysprof_text_from_string (name);
  uint64_t cpu, package, die;

  if (sysprof_text_skip (&text, "cpu") && sysprof_text_u64 (&text, &cpu) &&
      sysprof_text_size (text) == 0 && read_number (self->machine, path, &package) &&
      package == self->package &&
      (self->die == UINT64_MAX ||
       (read_number (self->machine, die_path, &die) && die == self->die)))
    self->cpu = MIN (self->cpu, cpu);
}

/* Finds the domain from the name of a zone: "package-1", "dram". */
static bool
find_domain (const char *name, unsigned *row)
{
  for (size_t i = 0; i < G_N_ELEMENTS (domains); i++)
    if (domains[i].zone != NULL && g_str_has_prefix (name, domains[i].zone))
      {
        *row = domains[i].row;
        return true;
      }
  return false;
}

/* Formats the location of a zone from the name of its package: "package-1",
 * "package-1-die-0". */
static void
name_place_of_package (Privilege *machine, const char *name, char place[COUNTER_NAME_SIZE])
{
  PackageSearch search = { machine, 0, UINT64_MAX, UINT64_MAX };
  Text text = sysprof_text_from_string (name);

  if (sysprof_text_skip (&text, "package-"))
    (void) sysprof_text_u64 (&text, &search.package); /* else it is the first package */
  if (sysprof_text_skip (&text, "-die-"))
    (void) sysprof_text_u64 (&text, &search.die);
  (void) sysprof_counter_list (machine, CPUS, check_cpu, &search);

  /* Keep two dies apart even if the kernel does not report their CPUs. */
  if (search.cpu == UINT64_MAX && search.die != UINT64_MAX)
    g_snprintf (place, COUNTER_NAME_SIZE, "%s", name);
  else
    name_place (machine, search.cpu != UINT64_MAX ? (unsigned) search.cpu : 0, place);
}

static void
open_zone (const char *name, void *data)
{
  Meters *self = data;
  g_autofree char *name_path = g_strdup_printf (ZONES "/%s/name", name);
  const char *package = strchr (name, ':'); /* the package number and what follows */
  int parent_length = package != NULL ? 1 + (int) strcspn (package + 1, ":") : 0;
  g_autofree char *parent_path =
      package != NULL
          ? g_strdup_printf (ZONES "/%.*s/name", (int) (package - name) + parent_length, name)
          : NULL;
  g_autofree char *energy_path = g_strdup_printf (ZONES "/%s/energy_uj", name);
  g_autofree char *range_path = g_strdup_printf (ZONES "/%s/max_energy_range_uj", name);
  Meter meter = { .joules = JOULES_PER_UJ };
  char line[64];

  /* "intel-rapl:PACKAGE" and "intel-rapl:PACKAGE:DOMAIN"; "intel-rapl-mmio:…" has the same sums
   * again. */
  if (!g_str_has_prefix (name, "intel-rapl:") ||
      !sysprof_counter_read_line (self->machine, name_path, line, sizeof line) ||
      !find_domain (line, &meter.row))
    return;

  self->is_there = true;
  meter.fd = sysprof_privilege_open_machine_file (self->machine, energy_path);
  if (meter.fd < 0)
    {
      self->cause = errno;
      return;
    }

  /* if it is missing, the sum never wraps */
  (void) read_number (self->machine, range_path, &meter.range);
  if (!sysprof_counter_read_line (self->machine, parent_path, line, sizeof line))
    line[0] = '\0';
  name_place_of_package (self->machine, line, meter.place);
  meter.path = g_steal_pointer (&energy_path);
  g_array_append_val (self->meters, meter);
}

/* --- both --- */

static void
close_meters (void *state)
{
  Meters *self = state;

  g_array_unref (self->meters);
  sysprof_privilege_unref (self->machine);
  g_free (self);
}

static void *
open_meters (Privilege *machine, GError **error)
{
  Meters *self = g_new0 (Meters, 1);

  self->machine = sysprof_privilege_ref (machine);
  self->meters = g_array_new (false, false, sizeof (Meter));
  g_array_set_clear_func (self->meters, clear_meter);
  open_events (self);
  if (self->meters->len == 0)
    /* reported below if there are none */
    (void) sysprof_counter_list (machine, ZONES, open_zone, self);
  if (self->meters->len > 0)
    return self;

  if (self->is_there)
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_DENIED,
                 "Cannot record energy: access to the processor's counters ('" DEVICES
                 "/power', '" ZONES
                 "/intel-rapl:0/energy_uj') is denied: %s. The recording continues without "
                 "them. Run it as root, or give it CAP_PERFMON, or install sysprofd.",
                 g_strerror (self->cause));
  else
    g_set_error (error, SYSPROF_ERROR, SYSPROF_ERROR_UNSUPPORTED,
                 "Cannot record energy: this machine has no energy counters ('" DEVICES
                 "/power' and '" ZONES
                 "/intel-rapl:0' are missing). The recording continues without them. Try "
                 "'modprobe intel_rapl_msr rapl'; in a virtual machine, record on the host.");
  close_meters (self);
  return NULL;
}

/* If a zone disappears and comes back, for example because its module was reloaded, its file
 * must be reopened. */
static bool
read_meter (Meters *self, Meter *meter, uint64_t *sum)
{
  char buffer[32];
  Text text;

  if (meter->is_event)
    return read (meter->fd, sum, sizeof *sum) == (ssize_t) sizeof *sum;
  if (meter->fd < 0)
    {
      meter->fd = sysprof_privilege_open_machine_file (self->machine, meter->path);
      meter->last = 0;
    }
  if (meter->fd < 0)
    return false;
  if (sysprof_counter_read_text (meter->fd, buffer, sizeof buffer, &text))
    return sysprof_text_u64 (&text, sum);

  if (errno == ENODEV)
    {
      sysprof_autofd_close (&meter->fd);
      meter->fd = -1;
    }
  return false;
}

static bool
read_meters (void *state, CounterValues *values, GError **error)
{
  Meters *self = state;

  for (unsigned i = 0; i < self->meters->len; i++)
    {
      Meter *meter = &g_array_index (self->meters, Meter, i);
      CounterInstance *instance;
      uint64_t sum;

      if (!read_meter (self, meter, &sum))
        continue; /* its CPU is offline */

      if (sum < meter->last && meter->range > 0)
        meter->base += (double) meter->range;
      meter->last = sum;

      instance =
          sysprof_counter_values_instance (values, sysprof_text_from_string (meter->place));
      if (instance != NULL)
        sysprof_counter_instance_set (instance, meter->row,
                                      (meter->base + (double) sum) * meter->joules);
    }
  return true;
}

const SampledCounters sysprof_energy_usage_counters = {
  .name = "Energy Usage",
  .title = N_ ("energy"),
  .interval = 1000 * MSEC,
  .rows = energy_rows,
  .n_rows = G_N_ELEMENTS (energy_rows),
  .instance_rows = energy_instance_rows,
  .n_instance_rows = G_N_ELEMENTS (energy_instance_rows),
  .open = open_meters,
  .read = read_meters,
  .close = close_meters,
};

SYSPROF_DEFINE_SAMPLED_COUNTERS (SysprofEnergyUsage,
                                 sysprof_energy_usage,
                                 &sysprof_energy_usage_counters)

const InstrumentRow sysprof_energy_usage_row = {
  .options = { { "rapl", "Record energy counters of the processor, in watts" } },
  .manual =
      "Record the power consumption of the CPU packages, cores, graphics and memory, in watts,\n"
      "once a second. The values are read from the perf device \\fBpower\\fR or from\n"
      "\\fI/sys/class/powercap\\fR. Both need privileges: see \\fBRIGHTS\\fR.",
  .new = sysprof_energy_usage_new,
};
