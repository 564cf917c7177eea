// SPDX-License-Identifier: GPL-3.0-or-later

/* import: turns another profiler's file into a capture, so that nothing downstream knows it was foreign.
 *
 *   ImportReport report;
 *   int fd = sysprof_import_open ("out.folded", &report, NULL, &error);   // a capture, whatever it was
 *   Store *store = sysprof_store_open_fd (fd, "out.folded", NULL, &error);
 *
 * One file per format; its name in meson.build registers it. Everything runs on the caller's thread. */

#pragma once

#include "util/util.h"

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysprof-capture.h>

typedef struct
{
  const char *
      format; /* name of the importer; NULL: the file was no foreign one and is handed on as it is */
  uint64_t n_lines;   /* that say something */
  uint64_t n_bad;     /* of these, left out because they cannot be understood */
  uint64_t first_bad; /* number of the first of them, from 1; 0 = none */
} ImportReport;

typedef struct
{
  const char *name;  /* as after --format */
  const char *title; /* for a person */
  /* Whether the file is of this format, by its first bytes: `is_all` says that they are all of it. */
  bool (*recognize) (Text begin, bool is_all);
  bool (*convert) (Text bytes,
                   SysprofCaptureWriter *writer,
                   ImportReport *report,
                   GCancellable *cancellable,
                   GError **error);
} Importer;

/* All of them; NULL-terminated. */
const Importer *const *sysprof_importers (void);

/* A descriptor, to be closed by the caller, of a capture: of one converted into memory where an importer knows the
 * file, else of the file itself, which may then still be no capture. `path` may be "-" for standard input. Lines
 * that cannot be understood are counted in `report`, which may be NULL; they are no error unless nothing is left. -1 with `error` set. */
int sysprof_import_open (const char *path,
                         ImportReport *report,
                         GCancellable *cancellable,
                         GError **error);
