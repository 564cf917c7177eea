// SPDX-License-Identifier: GPL-3.0-or-later

/* The list of sections. */

#include "app/sections/sections.h"

#include <string.h>

const Section *const app_sections[] = {
  &app_overview_section, &app_time_profiler_section, &app_memory_section,
  &app_logs_section,     &app_marks_section,         &app_processes_section,
  &app_dbus_section,     &app_cpu_section,           &app_energy_section,
  &app_graphics_section, &app_memory_usage_section,  &app_network_section,
  &app_storage_section,  &app_pressure_section,      &app_other_section,
  &app_files_section,    &app_metadata_section,      NULL,
};

const Section *
app_section_find (const char *id)
{
  for (size_t i = 0; app_sections[i] != NULL; i++)
    if (strcmp (app_sections[i]->id, id) == 0)
      return app_sections[i];
  return NULL;
}
