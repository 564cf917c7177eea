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
  TreeShape shape = { .focus = "main" };
  SampleFilter filter = { .weigh_one = size % 2 == 0 };
  autofd fd = memfd_create ("fuzz-views", MFD_CLOEXEC);
  g_autoptr (Store) store = NULL;
  g_autoptr (SymbolTable) symbols = NULL;
  ViewRequest request = { 0 };

  if (fd < 0 || write (fd, bytes, size) != (ssize_t) size)
    return 0;
  store = sysprof_store_open_fd (fd, "input", NULL, NULL);
  if (store == NULL)
    return 0;

  symbols = sysprof_symbolize (store, &options, NULL, NULL);
  g_assert_nonnull (symbols);
  request = (ViewRequest){ .store = store, .symbols = symbols, .details = true };
  check_views (&request, bytes[size - 1], NULL, NULL);
  request.by_name = request.by_member = request.live = true;
  request.shape = &shape;
  check_views (&request, bytes[size - 1] + 1, NULL, NULL);

  /* Allocations in the shapes of samples. */
  shape =
      (TreeShape){ .hide_system = size % 3 == 0, .collapse = size % 5 < 2 ? collapsed : NULL };
  filter.events = &store->allocations;
  request.filter = &filter;
  check_views (&request, bytes[size - 1] + 2, NULL, NULL);
  return 0;
}
