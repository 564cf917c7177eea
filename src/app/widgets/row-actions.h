// SPDX-License-Identifier: GPL-3.0-or-later

/* Actions on rows of tables, which set the focus from the cells of a row. To add an action, add
 * a row to the table. */

#pragma once

#include "app/session/row-query.h"

typedef struct
{
  const char *name;
  const char *title;
  guint key; /* GDK_KEY_…, without modifiers; 0 = none */
  bool (*applies) (const RowResult *result, uint32_t row);
  void (*run) (AppSession *session, const RowResult *result, uint32_t row);
} RowAction;

extern const RowAction app_row_actions[]; /* ended by a row without a name */

/* The function of a row; NULL if the row is none. *(none)* */
const char *app_row_get_function (const RowResult *result, uint32_t row);
/* The begin and end of the event of a row. */
bool app_row_get_span (const RowResult *result, uint32_t row, int64_t *begin, int64_t *end);
