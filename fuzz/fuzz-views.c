// SPDX-License-Identifier: GPL-3.0-or-later

/* A capture of any bytes through every view, in the look that its last byte chooses. */

#include "fuzz/fuzz.h"
#include "tests/views/check-views.h"

#include <sys/mman.h>

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  SymbolizeOptions options = { .sysroot = "/nonexistent" }; /* this machine plays no part */
  static const char *const collapsed[] = { "*", NULL };
  Shape shape = { .focus = "main" };
  SampleFilter filter = { .weigh_one = size % 2 == 0 };
  autofd fd = memfd_create ("fuzz-views", MFD_CLOEXEC);
  g_autoptr (Store) store = NULL;
  g_autoptr (SymbolTable) symbols = NULL;
  static const char *const details[] = { "details", NULL };
  static const char *const by_thread[] = { "details", "by-name",   "by-member",
                                           "live",    "by-thread", NULL };
  static const char *const by_lock[] = { "details", "by-name", "by-member",
                                         "live",    "by-lock", NULL };
  static const char *const critical_path[] = { "details", "by-name",       "by-member",
                                               "live",    "critical-path", NULL };
  static const char *const path_sums[] = { "critical-path", NULL };
  ViewRequest request = { 0 };

  if (fd < 0 || write (fd, bytes, size) != (ssize_t) size)
    return 0;
  store = sysprof_store_open_fd (fd, "input", NULL, NULL);
  if (store == NULL)
    return 0;

  symbols = sysprof_symbolize (store, &options, NULL, NULL);
  g_assert_nonnull (symbols);
  request = (ViewRequest){
    .store = store, .symbols = symbols, .symbolize = &options, .switches = details
  };
  check_views (&request, bytes[size - 1], NULL, NULL);
  request.switches = by_thread;
  request.shape = &shape;
  check_views (&request, bytes[size - 1] + 1, NULL, NULL);

  /* Waits in the other forms, and all as time. */
  if (store->waits.is_recorded)
    {
      static const int32_t tids[] = { 12, 10 };
      SampleFilter some = {
        .tids = tids, .n_tids = 1 + size % 2, .has_tids = true, .no_idle = true
      };
      WeighedWaits wall;

      request.filter = &some;
      request.switches = by_lock;
      check_views (&request, bytes[size - 1] + 3, NULL, NULL);
      request.switches = critical_path;
      check_views (&request, bytes[size - 1] + 4, NULL, NULL);
      request.switches = path_sums;
      if (sysprof_waits_weigh_wall (&wall, store, symbols, &some))
        {
          some.events = &wall.events;
          some.event_is_in = wall.is_in;
          some.weight_name = "wall";
          some.weight_unit = "ns";
          check_views (&request, bytes[size - 1] + 5, NULL, NULL);
        }
      sysprof_weighed_waits_clear (&wall);
    }

  /* Allocations in the shapes of samples. */
  shape = (Shape){ .hide_system = size % 3 == 0, .collapse = size % 5 < 2 ? collapsed : NULL };
  filter.events = &store->allocations;
  request.filter = &filter;
  check_views (&request, bytes[size - 1] + 2, NULL, NULL);
  return 0;
}
