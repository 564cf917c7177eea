// SPDX-License-Identifier: GPL-3.0-or-later

/* import: converts a file of another profiler into a capture, so that other modules need not
 * know its format.
 *
 *   ImportReport report;
 *   int fd = sysprof_import_open ("out.folded", &report, NULL, &error);
 *   Store *store = sysprof_store_open_fd (fd, "out.folded", NULL, &error);
 *
 * A format is one file with an Importer, and its name in meson.build. Everything runs on the
 * thread of the caller. */

#pragma once

#include "util/util.h"

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysprof-capture.h>

typedef struct
{
  const char *
      /* name of the importer; NULL: the file is not of another profiler and is unchanged */
      format;
  uint64_t n_lines;   /* lines with content */
  uint64_t n_bad;     /* lines that were ignored because they are invalid */
  uint64_t first_bad; /* number of the first of these lines, from 1; 0 = none */
} ImportReport;

typedef struct
{
  const char *name;  /* value of --format */
  const char *title; /* to show */
  /* Whether the file has this format, by its first bytes. `is_all`: these are the whole
   * file. */
  bool (*recognize) (Text begin, bool is_all);
  bool (*convert) (Text bytes,
                   SysprofCaptureWriter *writer,
                   ImportReport *report,
                   GCancellable *cancellable,
                   GError **error);
} Importer;

/* All importers; NULL-terminated. */
extern const Importer *const sysprof_importer_table[];

/* Returns a descriptor of a capture, for the caller to close: of a capture converted into
 * memory if an importer knows the file, else of the file itself, which may not be a capture.
 * `path` may be "-" for standard input. Invalid lines are counted in `report` (may be NULL);
 * they are an error only if all are invalid. -1 with `error` set. */
int sysprof_import_open (const char *path,
                         ImportReport *report,
                         GCancellable *cancellable,
                         GError **error);
