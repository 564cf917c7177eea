// SPDX-License-Identifier: GPL-3.0-or-later

/* Two documents are equal if every view of both is equal. */

#pragma once

#include "document/document.h"
#include "tests/views/check-views.h"

static inline void
keep_answer (const View *view, RenderFormat format, const char *text, size_t size, void *data)
{
  g_string_append_printf (data, "%s: ", view->name);
  g_string_append_len (data, text, (gssize) size);
}

/* Returns the output of all views, as JSON. *(full)* */
static inline char *
answer_all (SysprofDocument *document)
{
  static const char *const details[] = { "details", NULL };
  Shape shape = { .focus = "main" };
  ViewRequest request = { .store = sysprof_document_get_store (document),
                          .symbols = sysprof_document_get_symbols (document),
                          .shape = &shape,
                          .switches = details };
  GString *answers = g_string_new (NULL);

  for (const View *const *view = sysprof_view_list (); *view != NULL; view++)
    check_view (*view, RENDER_JSON, &request, keep_answer, answers);
  return g_string_free (answers, FALSE);
}

static inline void
check_same (SysprofDocument *one, SysprofDocument *other)
{
  g_autofree char *left = answer_all (one);
  g_autofree char *right = answer_all (other);

  g_assert_cmpuint (strlen (left), >, 1000);
  g_assert_cmpstr (left, ==, right);
}
