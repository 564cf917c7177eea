// SPDX-License-Identifier: GPL-3.0-or-later

/* Network counters from recorded texts of /proc/net/dev. */

#include "tests/record/counters/counter-bench.h"

extern const SampledCounters sysprof_network_usage_counters;

#define HEADER                                                                                    \
  "Inter-|   Receive                                                |  Transmit\n"                \
  " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop " \
  "fifo colls carrier compressed\n"

static void
test_bytes (void)
{
  CounterBench bench = { 0 };

  bench_init (&bench);
  bench_write (
      &bench, "/proc/net/dev",
      HEADER "    lo:    3319      30    0    0    0     0          0         0     3319      "
             "30    0    0    0     0       0          0\n"
             "  eth0: 229382119    5961    0    0    0     0          0         0   327738    "
             "4329    0    0    0     0       0          0\n");
  bench_open (&bench, &sysprof_network_usage_counters);
  bench_read (&bench, 1);
  /* eth0 is unplugged, wlan0 comes. A number may touch the colon. */
  bench_write (&bench, "/proc/net/dev",
               HEADER "    lo:3320 30 0 0 0 0 0 0 3321 30 0 0 0 0 0 0\n"
                      " wlan0:  5000 30 0 0 0 0 0 0 6000 30 0 0 0 0 0 0\n");
  bench_read (&bench, 2);
  bench_write (&bench, "/proc/net/dev",
               HEADER "    lo:3320 30 0 0 0 0 0 0 3321 30 0 0 0 0 0 0\n"
                      " wlan0:  5500 30 0 0 0 0 0 0 6001 30 0 0 0 0 0 0\n");
  bench_read (&bench, 3);

  bench_assert_series (&bench, "Network", "RX Bytes (lo)", "1=3319 2=3320 3=3320");
  bench_assert_series (&bench, "Network", "TX Bytes (lo)", "1=3319 2=3321 3=3321");
  bench_assert_series (&bench, "Network", "RX Bytes (eth0)", "1=229382119");
  bench_assert_series (&bench, "Network", "TX Bytes (wlan0)", "2=6000 3=6001");
  bench_assert_series (&bench, "Network", "RX Bytes", "1=229385438 2=229385439 3=229385939");
  bench_assert_series (&bench, "Network", "TX Bytes", "1=331057 2=331059 3=331060");
  bench_clear (&bench);
}

static void
test_refuses (void)
{
  static const char *const broken[] = {
    "",
    "Inter-|   Receive\n",
    HEADER "lo 1 2 3 4 5 6 7 8 9\n",
    HEADER ": 1 2 3 4 5 6 7 8 9\n",
    HEADER "lo: 1 2 3 4 5 6 7 8\n",
    HEADER "lo: 1 2 3 4 5 6 7 8 -9\n",
    HEADER "lo: 1 2 3 4 5 6 7 8 99999999999999999999\n",
    HEADER "lo:\n",
  };

  for (size_t i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      CounterValues values = { 0 };

      g_test_message ("'%s'", broken[i]);
      g_assert_false (sysprof_network_usage_counters.parse (
          0, sysprof_text_from_string (broken[i]), &values));
      sysprof_counter_values_clear (&values);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/network-usage/bytes", test_bytes);
  g_test_add_func ("/record/network-usage/refuses", test_refuses);
  return g_test_run ();
}
