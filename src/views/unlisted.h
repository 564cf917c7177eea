// SPDX-License-Identifier: GPL-3.0-or-later

/* Views of the application that sysprof-report does not list. */

#pragma once

#include "views/views.h"

extern const View sysprof_counter_values_view;
extern const View sysprof_heap_sizes_view;
extern const View sysprof_stack_events_view;

/* The text of a stack of the last view, in the shape of the request and the arena of `rows`. */
const StackText *
sysprof_request_stack_text (const ViewRequest *request, StackId stack, Rows *rows);
