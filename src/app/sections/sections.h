// SPDX-License-Identifier: GPL-3.0-or-later

/* Sections: the pages of the capture window, each a table row: what its sidebar entry says,
 * which tracks its timeline has, and which views it offers. To add a section, write a Section
 * in a file of this folder and list it in sections.c. To add a view, add a SectionView to a
 * section: without `make` it is a table of the rows of its query. */

#pragma once

#include "app/session/row-query.h"

#define SECTION_MAX_VIEWS 10

typedef struct SectionView
{
  const char *id;
  const char *title; /* translatable */
  const char *icon;
  RowQuery query;
  /* Names of columns, NULL-terminated: those of a table; NULL = those that text shows. */
  const char *const *columns;
  const char *const *titles; /* of `columns`, translatable; NULL = those of the view */
  const char
      *filter; /* a search entry with this placeholder is always there; NULL = on Ctrl+F */
  const char *chart; /* of spans (views/tracks/span-chart.h) */
  GtkWidget *(*make) (AppSession *session, const struct SectionView *view); /* NULL = a table */
} SectionView;

typedef enum
{
  SECTIONS_OVERVIEW,
  SECTIONS_CALLGRAPH,
  SECTIONS_PROCESSES,
  SECTIONS_COUNTERS,
  SECTIONS_AUXILIARY,
} SectionGroup;

typedef struct Section
{
  const char *id;
  const char *title; /* translatable */
  const char *icon;
  SectionGroup group;
  uint64_t (*count) (
      const Store *store); /* number of its events; 0 = the section has no data */
  bool has_badge;
  const char *weight;        /* action that chooses the weight of its views; NULL = none */
  const char *missing;       /* translatable: how to record its data */
  const char *const *tracks; /* NULL-terminated (views/tracks/tracks.h); NULL = no timeline */
  SectionView views[SECTION_MAX_VIEWS + 1];         /* ended by a row without id */
  GtkWidget *(*make_details) (AppSession *session); /* the panel on the right; NULL = none */
} Section;

extern const Section *const app_sections[]; /* NULL-terminated, in the order of the sidebar */

const Section *app_section_find (const char *id);

extern const Section app_overview_section;
extern const Section app_time_profiler_section;
extern const Section app_memory_section;
extern const Section app_logs_section;
extern const Section app_marks_section;
extern const Section app_processes_section;
extern const Section app_dbus_section;
extern const Section app_cpu_section;
extern const Section app_energy_section;
extern const Section app_graphics_section;
extern const Section app_memory_usage_section;
extern const Section app_network_section;
extern const Section app_storage_section;
extern const Section app_pressure_section;
extern const Section app_other_section;
extern const Section app_files_section;
extern const Section app_metadata_section;
