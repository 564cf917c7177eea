// SPDX-License-Identifier: GPL-3.0-or-later

/* Focus: what a window looks at: the visible and the selected time, the filters, the root
 * function, the weight and the options of call trees. A focus that others can see is immutable:
 * copy it, change the copy, and pass the copy to app_session_push(). All times are ns since the
 * start of the recording. */

#pragma once

#include "document/document.h"
#include "views/views.h"

typedef struct Focus
{
  gatomicrefcount n_references;
  int64_t duration; /* of the recording */
  int64_t visible_begin, visible_end;
  int64_t selected_begin, selected_end;
  /* Filters, root function (`focus`) and shape of trees. Strings are owned. Its times are those
   * that are excluded. */
  Selection selection;
  char **off; /* filters that are switched off, as "option=value"; NULL = none */
  Weight weight;
  Weight heap_weight; /* of allocations: WEIGHT_BYTES or WEIGHT_COUNT */
  char *event;        /* of WEIGHT_PERIOD; NULL = the only one */
  bool categorizes;
  bool icicle;
} Focus;

Focus *app_focus_new (int64_t duration);
/* A copy that the caller may change. *(full)* */
Focus *app_focus_copy (const Focus *self);
Focus *app_focus_ref (const Focus *self);
void app_focus_unref (const Focus *self);

void app_focus_set_visible (Focus *self, int64_t begin, int64_t end);
void app_focus_select (Focus *self, int64_t begin, int64_t end);
bool app_focus_selects_all (const Focus *self);
/* Whether both differ in nothing but the visible time. */
bool app_focus_only_moved (const Focus *self, const Focus *other);

/* Adds or removes a value of a list option of sysprof_selection_options, such as "process". */
void app_focus_add_filter (Focus *self, const char *option, const char *value);
void app_focus_remove_filter (Focus *self, const char *option, const char *value);
/* Keeps a filter without effect, or lets it select again. */
void app_focus_switch_off (Focus *self, const char *option, const char *value);
void app_focus_switch_on (Focus *self, const char *filter);
/* Forgets a filter that is switched off. */
void app_focus_drop (Focus *self, const char *filter);
/* Replaces "value" by "!value", and the other way round. */
void app_focus_invert_filter (Focus *self, const char *option, const char *value);
void app_focus_set_root (Focus *self, const char *function);
/* Sets an option by its name, as findings and command lines spell it. Unknown names do nothing.
 * */
void app_focus_set_option (Focus *self, const char *option, const char *value);
gboolean *app_focus_get_switch (Focus *self, const char *option);

/* The values of --time: the selected time, and times that filters exclude, like
 * "!1.500000000s..2.000000000s". NULL if all is selected. *(full)* */
char **app_focus_dup_times (const Focus *self);
/* FALSE if `value` is not like "1.5s..2s". */
bool app_focus_parse_time (const Focus *self, const char *value, int64_t *begin, int64_t *end);
/* Excludes the selected time with a filter, or selects the time of such a filter again. */
void app_focus_invert_time (Focus *self, const char *filter);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Focus, app_focus_unref)
