// SPDX-License-Identifier: GPL-3.0-or-later

/* Temperatures of the machine, and how much it is throttled.
 *
 * Sensors are those of hwmon and the thermal zones. x86 processors count how often and for how
 * long they were throttled. With other processors, throttling shows in the state of the cooling
 * devices ("cpufreq-cpu0").
 *
 * Source: Linux, Documentation/hwmon/sysfs-interface.rst,
 * Documentation/driver-api/thermal/sysfs-api.rst,
 * Documentation/ABI/testing/sysfs-devices-system-cpu (thermal_throttle). */

#include "record/counters/sampled-counters.h"

#define MILLI   1e-3
#define PERCENT 0.1 /* of time, from ms per second */

#define SENSORS "/sys/class/hwmon"
#define ZONES   "/sys/class/thermal"
#define CPUS    "/sys/devices/system/cpu"

typedef struct
{
  Privilege *machine;
  CounterValues *values;
  const char *device; /* the device whose files are listed */
  const char *title;  /* the name of that device */
  uint64_t packages;  /* packages already seen, one bit each */
} Search;

/* The instance with that key, or NULL if it already has a name. */
static CounterInstance *
add_instance (const Search *search, const char *key)
{
  CounterInstance *instance =
      sysprof_counter_values_instance (search->values, sysprof_text_from_string (key));

  return instance != NULL && !instance->has_files ? instance : NULL;
}

static bool
read_below (const Search *search,
            const char *dir,
            const char *device,
            const char *file,
            char *text,
            size_t size)
{
  g_autofree char *path = g_build_filename (dir, device, file, NULL);

  return sysprof_counter_read_line (search->machine, path, text, size) &&
         *g_strstrip (text) != '\0';
}

/* --- temperatures --- */

enum
{
  ROW_DEGREES,
};

static const CounterRow temperature_rows[] = {
  [ROW_DEGREES] = { "Temperature", "%s", "%s", COUNTER_REAL, MILLI },
};

static void
add_sensor (const char *name, void *data)
{
  const Search *search = data;
  g_autofree char *key = NULL;
  g_autofree char *label_file = NULL;
  g_autofree char *label = NULL;
  char text[COUNTER_NAME_SIZE];
  CounterInstance *sensor;

  if (!g_str_has_prefix (name, "temp") || !g_str_has_suffix (name, "_input"))
    return;

  key = g_strdup_printf ("hwmon/%s/%s", search->device, name);
  sensor = add_instance (search, key);
  if (sensor == NULL)
    return;

  label_file = g_strdup_printf ("%.*s_label", (int) strcspn (name, "_"), name);
  if (!read_below (search, SENSORS, search->device, label_file, text, sizeof text))
    g_snprintf (text, sizeof text, "%.*s", (int) strcspn (name, "_"), name);
  label = g_strdup_printf ("%s %s", search->title, text);
  sysprof_counter_instance_name (sensor, label, key);
}

static void
add_chip (const char *name, void *data)
{
  Search *search = data;
  g_autofree char *dir = g_strdup_printf (SENSORS "/%s", name);
  char title[COUNTER_NAME_SIZE];

  if (!read_below (search, SENSORS, name, "name", title, sizeof title))
    g_strlcpy (title, name, sizeof title);
  search->device = name;
  search->title = title;
  /* fails if the device was removed */
  (void) sysprof_counter_list (search->machine, dir, add_sensor, search);
}

static void
add_zone (const char *name, void *data)
{
  const Search *search = data;
  g_autofree char *key = NULL;
  char type[COUNTER_NAME_SIZE];
  CounterInstance *zone;

  if (!g_str_has_prefix (name, "thermal_zone"))
    return;

  key = g_strdup_printf ("thermal/%s/temp", name);
  zone = add_instance (search, key);
  if (zone != NULL && read_below (search, ZONES, name, "type", type, sizeof type))
    sysprof_counter_instance_name (zone, type, key);
}

static void
find_sensors (Privilege *machine, CounterValues *values)
{
  Search search = { .machine = machine, .values = values };

  /* `absence` reports that there is none. */
  (void) sysprof_counter_list (machine, SENSORS, add_chip, &search);
  (void) sysprof_counter_list (machine, ZONES, add_zone, &search);
}

static void
parse_temperature (unsigned path, Text text, CounterInstance *sensor)
{
  bool is_below_zero = sysprof_text_skip (&text, "-");
  uint64_t number;

  if (sysprof_text_u64 (&text, &number))
    sysprof_counter_instance_set (sensor, ROW_DEGREES,
                                  is_below_zero ? -(double) number : (double) number);
}

const SampledCounters sysprof_temperature_counters = {
  .name = "Temperature",
  .title = N_ ("temperatures"),
  .absence =
      "this machine has no sensors in '" SENSORS "' or '" ZONES "'. Load the driver of its "
      "sensors ('sensors-detect' of lm-sensors finds it); in a virtual machine, record on "
      "the host.",
  .interval = 1000 * MSEC,
  .instance_rows = temperature_rows,
  .n_instance_rows = G_N_ELEMENTS (temperature_rows),
  .find = find_sensors,
  .instance_paths = { "/sys/class/%s" },
  .parse_instance = parse_temperature,
  .patience = 20 * MSEC,
};

/* --- throttling --- */

enum
{
  ROW_TIME,
  ROW_EVENTS,
};

enum
{
  PATH_TIME,
  PATH_EVENTS,
};

static const CounterRow throttle_rows[] = {
  [ROW_TIME] = { "Throttling", "%s", N_ ("Share of time %s was throttled"), COUNTER_RATE,
                 PERCENT },
  [ROW_EVENTS] = { "Throttling Events", "%s", N_ ("How often %s was throttled"),
                   COUNTER_GROWTH },
};

static void
add_throttled (const Search *search, const char *cpu, const char *part, const char *label)
{
  g_autofree char *key = g_strdup_printf ("%s/thermal_throttle/%s", cpu, part);
  CounterInstance *instance = add_instance (search, key);

  if (instance != NULL)
    sysprof_counter_instance_name (instance, label, label);
}

/* All CPUs of a package have the same package count, so only the first one is read. */
static void
add_throttled_cpu (const char *name, void *data)
{
  Search *search = data;
  g_autofree char *count = g_strdup_printf ("%s/thermal_throttle/core_throttle_count", name);
  char text[COUNTER_NAME_SIZE], label[COUNTER_NAME_SIZE + 16];
  uint64_t package;
  Text number;

  if (!g_str_has_prefix (name, "cpu") || !g_ascii_isdigit (name[3]) ||
      !read_below (search, CPUS, count, "", text, sizeof text))
    return;

  g_snprintf (label, sizeof label, "CPU %s", name + 3);
  add_throttled (search, name, "core", label);

  if (!read_below (search, CPUS, name, "topology/physical_package_id", text, sizeof text))
    return;
  number = sysprof_text_from_string (text);
  if (!sysprof_text_u64 (&number, &package) || package >= 64 ||
      (search->packages & (UINT64_C (1) << package)) != 0)
    return;
  search->packages |= UINT64_C (1) << package;
  g_snprintf (label, sizeof label, "Package %s", text);
  add_throttled (search, name, "package", label);
}

static void
find_throttled (Privilege *machine, CounterValues *values)
{
  Search search = { .machine = machine, .values = values };

  /* `absence` reports that there is none */
  (void) sysprof_counter_list (machine, CPUS, add_throttled_cpu, &search);
}

static void
parse_throttled (unsigned path, Text text, CounterInstance *cpu)
{
  uint64_t number;

  if (sysprof_text_u64 (&text, &number))
    sysprof_counter_instance_set (cpu, path == PATH_TIME ? ROW_TIME : ROW_EVENTS,
                                  (double) number);
}

const SampledCounters sysprof_throttle_counters = {
  .name = "Throttling",
  .title = N_ ("processor throttling"),
  .absence = "this processor or kernel does not count throttling (there is no "
             "'thermal_throttle' in '" CPUS "/cpu0'). It requires an x86 processor and a "
             "kernel with CONFIG_X86_THERMAL_VECTOR; virtual machines do not have it.",
  .interval = 1000 * MSEC,
  .instance_rows = throttle_rows,
  .n_instance_rows = G_N_ELEMENTS (throttle_rows),
  .find = find_throttled,
  .instance_paths = {
    [PATH_TIME] = CPUS "/%s_throttle_total_time_ms",
    [PATH_EVENTS] = CPUS "/%s_throttle_count",
  },
  .parse_instance = parse_throttled,
};

/* --- cooling devices --- */

enum
{
  ROW_STATE,
};

enum
{
  PATH_MAX_STATE,
  PATH_STATE,
};

static const CounterRow cooling_rows[] = {
  [ROW_STATE] = { "Cooling", "%s", N_ ("Cooling state of %s"), COUNTER_RATIO },
};

static void
add_cooling_device (const char *name, void *data)
{
  const Search *search = data;
  char type[COUNTER_NAME_SIZE], label[2 * COUNTER_NAME_SIZE];
  CounterInstance *device;

  if (!g_str_has_prefix (name, "cooling_device"))
    return;

  device = add_instance (search, name);
  if (device == NULL || !read_below (search, ZONES, name, "type", type, sizeof type))
    return;
  g_snprintf (label, sizeof label, "%s %s", type, name + strlen ("cooling_device"));
  sysprof_counter_instance_name (device, label, name);
}

static void
find_cooling_devices (Privilege *machine, CounterValues *values)
{
  Search search = { .machine = machine, .values = values };

  /* `absence` reports that there is none */
  (void) sysprof_counter_list (machine, ZONES, add_cooling_device, &search);
}

static void
parse_state (unsigned path, Text text, CounterInstance *device)
{
  uint64_t number;

  if (!sysprof_text_u64 (&text, &number))
    return;
  if (path == PATH_MAX_STATE)
    device->wholes[ROW_STATE] = (double) number;
  else
    sysprof_counter_instance_set_share (device, ROW_STATE, (double) number,
                                        device->wholes[ROW_STATE]);
}

const SampledCounters sysprof_cooling_counters = {
  .name = "Cooling",
  .title = N_ ("cooling devices"),
  .absence = "this machine has none in '" ZONES "'. In a virtual machine, record on the host.",
  .interval = 1000 * MSEC,
  .instance_rows = cooling_rows,
  .n_instance_rows = G_N_ELEMENTS (cooling_rows),
  .find = find_cooling_devices,
  .instance_paths = {
    [PATH_MAX_STATE] = ZONES "/%s/max_state",
    [PATH_STATE] = ZONES "/%s/cur_state",
  },
  .n_constant = 1,
  .parse_instance = parse_state,
  .patience = 20 * MSEC,
};

SYSPROF_DEFINE_SAMPLED_COUNTERS (SysprofThermal,
                                 sysprof_thermal,
                                 &sysprof_temperature_counters,
                                 &sysprof_throttle_counters,
                                 &sysprof_cooling_counters)

const InstrumentRow sysprof_thermal_row = {
  .options = { { "thermal", "Record temperatures and thermal throttling" },
               { "no-thermal", "Do not record temperatures (default)", .omits = true } },
  .manual =
      "Record the temperatures of all sensors, thermal throttling, and the state of cooling\n"
      "devices, once a second. The recorder stops reading a sensor that responds slowly, and\n"
      "reports this.",
  .new = sysprof_thermal_new,
};
