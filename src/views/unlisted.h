// SPDX-License-Identifier: GPL-3.0-or-later

/* Views of the application that sysprof-report does not list. */

#pragma once

#include "views/views.h"

extern const View sysprof_counter_values_view;
extern const View sysprof_heap_sizes_view;
extern const View sysprof_stack_events_view;
