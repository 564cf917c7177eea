// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes opening a capture of any bytes, plain or compressed. The resulting store must be
 * consistent. */

#include "fuzz/fuzz.h"
#include "tests/store/check-store.h"

#include <sys/mman.h>

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  autofd fd = memfd_create ("fuzz-store", MFD_CLOEXEC);
  g_autoptr (GError) error = NULL;
  g_autoptr (Store) store = NULL;

  if (fd < 0 || write (fd, bytes, size) != (ssize_t) size)
    return 0;

  store = sysprof_store_open_fd (fd, "input", NULL, &error);
  if (store != NULL)
    check_store (store);
  else
    g_assert_nonnull (error);
  return 0;
}
