// SPDX-License-Identifier: GPL-3.0-or-later

/* Any bytes as folded stacks: what the importer takes becomes a capture without damage. */

#include "fuzz/fuzz.h"
#include "import/import.h"

#include <sys/mman.h>

static const Importer *
folded (void)
{
  const Importer *const *importer = sysprof_importer_table;

  while (strcmp ((*importer)->name, "folded") != 0)
    importer++;
  return *importer;
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  Text text = { (const char *) bytes, (const char *) bytes + size };
  int fd = memfd_create ("fuzz-folded", MFD_CLOEXEC);
  SysprofCaptureWriter *writer = sysprof_capture_writer_new_from_fd (fd, 0);
  ImportReport report = { 0 };
  g_autoptr (GError) error = NULL;

  if (writer == NULL)
    return 0;

  (void) folded ()->recognize (text, true); /* either answer is right */
  if (!folded ()->convert (text, writer, &report, NULL, &error))
    g_assert_nonnull (error);
  else
    g_assert_cmpuint (report.n_bad, <=, report.n_lines);
  sysprof_capture_writer_unref (writer);
  return 0;
}
