// SPDX-License-Identifier: GPL-3.0-or-later

/* The command line of sysprof-report, read and checked before anything is opened. */

#pragma once

#include "document/document.h"
#include "render/render.h"

typedef enum
{
  WEIGHT_DEFAULT, /* of the view */
  WEIGHT_SAMPLES,
  WEIGHT_PERIOD,
  WEIGHT_TIME, /* off the CPU */
  WEIGHT_WALL, /* on it, too */
  WEIGHT_BYTES,
  WEIGHT_COUNT,
} ReportWeight;

typedef struct
{
  gboolean version; /* print it; nothing else is set */
  char *help;       /* NULL, or to be printed; nothing else is set */
  const View *view;
  char *capture; /* "-" = standard input */
  RenderFormat format;
  char *output; /* NULL = standard output */
  bool open_result;
  char *extract; /* name of an embedded file, or NULL */
  bool limit_is_given;
  int limit;
  int depth;
  bool min_is_given;
  double min_percent;
  char *sort;
  char *search;
  const char **switches; /* names of switches of views, NULL-terminated */
  gboolean annotate;
  gboolean lines;
  ReportWeight weight;
  char *event; /* whose periods are summed; NULL = the only one's */
  Selection selection;
  char *title;
  char *subtitle;
  int width;
  int row_height;
  char *colors;
  gboolean icicle;
  char **debug_dirs;
  char *sysroot;
  gboolean debuginfod;
  gboolean no_debuginfod;
} ReportOptions;

/* False with one line of error when the arguments ask for nothing that can be done. */
bool sysprof_report_options_parse (ReportOptions *options, char **argv, GError **error);
void sysprof_report_options_clear (ReportOptions *options);
