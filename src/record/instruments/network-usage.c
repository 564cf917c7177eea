// SPDX-License-Identifier: GPL-3.0-or-later

/* Bytes received and sent by each network interface of our network namespace.
 *
 * Source: proc(5), /proc/net/dev; Linux, net/core/net-procfs.c for the columns. */

#include "record/counters/sampled-counters.h"

enum
{
  ROW_RX,
  ROW_TX,
};

#define COLUMN_RX      0
#define COLUMN_TX      8
#define N_HEADER_LINES 2

static const CounterRow network_rows[] = {
  { "Network", "RX Bytes", "Combined", COUNTER_TOTAL, .sum_of = ROW_RX + 1 },
  { "Network", "TX Bytes", "Combined", COUNTER_TOTAL, .sum_of = ROW_TX + 1 },
};

static const CounterRow network_instance_rows[] = {
  [ROW_RX] = { "Network", "RX Bytes (%s)", "%s", COUNTER_TOTAL },
  [ROW_TX] = { "Network", "TX Bytes (%s)", "%s", COUNTER_TOTAL },
};

static bool
parse_columns (Text line, uint64_t *rx, uint64_t *tx)
{
  Text word;

  for (unsigned i = 0; i <= COLUMN_TX; i++)
    {
      uint64_t number;

      if (!sysprof_text_next_word (&line, &word) || !sysprof_text_u64 (&word, &number) ||
          sysprof_text_size (word) > 0)
        return false;
      if (i == COLUMN_RX)
        *rx = number;
      if (i == COLUMN_TX)
        *tx = number;
    }

  return true;
}

static bool
parse_net_dev (unsigned path, Text text, CounterValues *values)
{
  Text line;

  for (unsigned i = 0; i < N_HEADER_LINES; i++)
    if (!sysprof_text_next_line (&text, &line))
      return false;

  while (sysprof_text_next_line (&text, &line))
    {
      uint64_t rx = 0, tx = 0;
      Text padded, name;
      CounterInstance *interface;

      if (!sysprof_text_until (&line, ':', &padded) ||
          !sysprof_text_next_word (&padded, &name) || !parse_columns (line, &rx, &tx))
        return false;

      interface = sysprof_counter_values_instance (values, name);
      if (interface == NULL)
        continue;
      sysprof_counter_instance_set (interface, ROW_RX, (double) rx);
      sysprof_counter_instance_set (interface, ROW_TX, (double) tx);
    }

  return true;
}

const SampledCounters sysprof_network_usage_counters = {
  .name = "Network Usage",
  .title = N_ ("network usage"),
  .paths = { "/proc/net/dev" },
  .interval = 500 * MSEC,
  .rows = network_rows,
  .n_rows = G_N_ELEMENTS (network_rows),
  .instance_rows = network_instance_rows,
  .n_instance_rows = G_N_ELEMENTS (network_instance_rows),
  .parse = parse_net_dev,
};

SYSPROF_DEFINE_SAMPLED_COUNTERS (SysprofNetworkUsage,
                                 sysprof_network_usage,
                                 &sysprof_network_usage_counters)

const InstrumentRow sysprof_network_usage_row = {
  .by_default = INSTRUMENT_ON,
  .options = { { "no-network", "Do not record network counters", .omits = true } },
  .new = sysprof_network_usage_new,
};
