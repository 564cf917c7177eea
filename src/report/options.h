// SPDX-License-Identifier: GPL-3.0-or-later

/* The command line of sysprof-report, parsed and checked before any file is opened. */

#pragma once

#include "document/document.h"
#include "render/render.h"

typedef struct
{
  gboolean version; /* print the version; nothing else is set */
  char *help;       /* text to print, and nothing else is set; or NULL */
  const View *view;
  char *capture;           /* "-" = standard input */
  bool is_default_capture; /* none was named */
  RenderFormat format;
  char *output; /* NULL = standard output */
  bool open_result;
  gboolean no_pager;
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
  Weight weight;
  char *event; /* event with the periods to sum; NULL = the only one */
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

/* Returns false with a one-line error if the arguments are invalid. */
bool sysprof_report_options_parse (ReportOptions *options, char **argv, GError **error);
void sysprof_report_options_clear (ReportOptions *options);
