// SPDX-License-Identifier: GPL-3.0-or-later

/* The charge of each battery of the machine, and the power it supplies or takes.
 *
 * Drivers report either the charge (µAh) or the energy (µWh). The energy divided by the design
 * voltage of the battery gives the charge. Batteries of mice and keyboards have the scope
 * "Device" and are ignored, because they do not power the machine.
 *
 * Source: Linux, Documentation/ABI/testing/sysfs-class-power. */

#include "record/counters/sampled-counters.h"

#define SUPPLIES "/sys/class/power_supply"

#define MICRO 1e-6

enum
{
  ROW_COMBINED,
};

enum
{
  ROW_CHARGE,
  ROW_POWER,
};

enum
{
  PATH_DESIGN_VOLTAGE, /* µV */
  PATH_VOLTAGE,        /* µV */
  PATH_CHARGE,         /* µAh */
  PATH_ENERGY,         /* µWh */
  PATH_CURRENT,        /* µA; negative with some drivers */
  PATH_POWER,          /* µW; negative with some drivers */
};

static const CounterRow battery_rows[] = {
  [ROW_COMBINED] = { "Battery Charge", "Combined", "Combined", COUNTER_VALUE,
                     .sum_of = ROW_CHARGE + 1 },
};

static const CounterRow battery_instance_rows[] = {
  [ROW_CHARGE] = { "Battery Charge", "%s", "%s", COUNTER_VALUE },
  [ROW_POWER] = { "Battery Power", "%s", N_ ("Power into or out of %s"), COUNTER_REAL, MICRO },
};

typedef struct
{
  Privilege *machine;
  CounterValues *values;
} Search;

static bool
read_property (Privilege *machine,
               const char *name,
               const char *property,
               char *text,
               size_t size)
{
  g_autofree char *path = g_strdup_printf (SUPPLIES "/%s/%s", name, property);

  return sysprof_counter_read_line (machine, path, text, size);
}

static void
add_battery (const char *name, void *data)
{
  const Search *search = data;
  char type[32], scope[32], model[64];
  CounterInstance *battery;

  if (!read_property (search->machine, name, "type", type, sizeof type) ||
      !g_str_equal (type, "Battery") ||
      (read_property (search->machine, name, "scope", scope, sizeof scope) &&
       g_str_equal (scope, "Device")))
    return;

  battery = sysprof_counter_values_instance (search->values, sysprof_text_from_string (name));
  if (battery == NULL || battery->has_files)
    return;
  if (read_property (search->machine, name, "model_name", model, sizeof model) &&
      *g_strstrip (model) != '\0')
    sysprof_counter_instance_name (battery, model, name);
}

static void
find_batteries (Privilege *machine, CounterValues *values)
{
  Search search = { machine, values };

  /* `absence` reports that there is none */
  (void) sysprof_counter_list (machine, SUPPLIES, add_battery, &search);
}

static void
parse_battery (unsigned path, Text text, CounterInstance *battery)
{
  uint64_t number;
  double volts;

  (void) sysprof_text_skip (&text, "-"); /* only the amount is recorded, not the direction */
  if (!sysprof_text_u64 (&text, &number))
    return;

  switch (path)
    {
    case PATH_DESIGN_VOLTAGE:
      battery->wholes[ROW_CHARGE] = (double) number;
      break;

    case PATH_VOLTAGE:
      battery->wholes[ROW_POWER] = (double) number;
      break;

    case PATH_CHARGE:
      sysprof_counter_instance_set_share (battery, ROW_CHARGE, (double) number,
                                          battery->wholes[ROW_CHARGE]);
      break;

    case PATH_ENERGY:
      volts = MICRO * (battery->wholes[ROW_CHARGE] > 0 ? battery->wholes[ROW_CHARGE]
                                                       : battery->wholes[ROW_POWER]);
      if (!battery->is_set[ROW_CHARGE] && volts > 0)
        sysprof_counter_instance_set_share (battery, ROW_CHARGE, (double) number / volts,
                                            battery->wholes[ROW_CHARGE]);
      break;

    case PATH_CURRENT:
      volts = MICRO * battery->wholes[ROW_POWER];
      if (volts > 0)
        sysprof_counter_instance_set_share (battery, ROW_POWER, (double) number * volts,
                                            battery->wholes[ROW_POWER]);
      break;

    case PATH_POWER:
      sysprof_counter_instance_set_share (battery, ROW_POWER, (double) number,
                                          battery->wholes[ROW_POWER]);
      break;

    default:
      g_assert_not_reached ();
    }
}

const SampledCounters sysprof_battery_charge_counters = {
  .name = "Battery Charge",
  .title = N_ ("battery charge"),
  .absence = "this machine has no battery, or no driver for it (there is no directory of "
             "type 'Battery' in '" SUPPLIES "'). In a container or virtual machine, record "
             "on the host.",
  .interval = 500 * MSEC,
  .rows = battery_rows,
  .n_rows = G_N_ELEMENTS (battery_rows),
  .instance_rows = battery_instance_rows,
  .n_instance_rows = G_N_ELEMENTS (battery_instance_rows),
  .find = find_batteries,
  .instance_paths = {
    [PATH_DESIGN_VOLTAGE] = SUPPLIES "/%s/voltage_min_design",
    [PATH_VOLTAGE] = SUPPLIES "/%s/voltage_now",
    [PATH_CHARGE] = SUPPLIES "/%s/charge_now",
    [PATH_ENERGY] = SUPPLIES "/%s/energy_now",
    [PATH_CURRENT] = SUPPLIES "/%s/current_now",
    [PATH_POWER] = SUPPLIES "/%s/power_now",
  },
  .n_constant = 1,
  .parse_instance = parse_battery,
  .patience = 100 * MSEC,
};

SYSPROF_DEFINE_SAMPLED_COUNTERS (SysprofBatteryCharge,
                                 sysprof_battery_charge,
                                 &sysprof_battery_charge_counters)

const InstrumentRow sysprof_battery_charge_row = {
  .by_default = INSTRUMENT_OPTIONAL,
  .options = { { "no-battery", "Do not record battery counters", .omits = true } },
  .new = sysprof_battery_charge_new,
};
