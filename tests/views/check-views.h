// SPDX-License-Identifier: GPL-3.0-or-later

/* Invariants of every view in every format, for any capture: each view returns rows, or a
 * reason of one line why not. Its output can be displayed: no control characters, valid
 * UTF-8. */

#pragma once

#include "render/render.h"

#include <string.h>

static inline void
check_one_line (const char *message)
{
  g_assert_cmpuint (strlen (message), >, 20);
  g_assert_null (strchr (message, '\n'));
  g_assert_true (g_utf8_validate (message, -1, NULL));
}

static inline bool
is_control (gunichar character)
{
  return (character < 0x20 && character != '\n' && character != '\t') ||
         (character >= 0x7f && character < 0xa0);
}

/* Nothing that a terminal obeys. */
static inline void
check_printable (const char *text, size_t size)
{
  g_assert_true (g_utf8_validate_len (text, size, NULL));
  for (const char *at = text, *end = at + size; at < end; at = g_utf8_next_char (at))
    g_assert_false (is_control (g_utf8_get_char (at)));
}

static inline void
check_well_formed (const char *xml, size_t size)
{
  static const GMarkupParser no_parser = { 0 };
  g_autoptr (GMarkupParseContext) context =
      g_markup_parse_context_new (&no_parser, 0, NULL, NULL);
  g_autoptr (GError) error = NULL;

  if (!g_markup_parse_context_parse (context, xml, (gssize) size, &error) ||
      !g_markup_parse_context_end_parse (context, &error))
    g_error ("not well-formed: %s", error->message);
}

typedef void (*OutputFunc) (const View *view,
                            RenderFormat format,
                            const char *text,
                            size_t size,
                            void *data);

static inline void
check_view (const View *view,
            RenderFormat format,
            const ViewRequest *request,
            OutputFunc func,
            void *data)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  GMemoryOutputStream *memory = G_MEMORY_OUTPUT_STREAM (stream);
  g_autoptr (GError) error = NULL;
  const char *text;
  size_t size;

  if (!sysprof_render_view (view, format, request, stream, &error))
    {
      check_one_line (error->message);
      return;
    }
  g_assert_no_error (error);

  if (!g_output_stream_write_all (stream, "", 1, NULL, NULL, NULL))
    g_assert_not_reached ();
  text = g_memory_output_stream_get_data (memory);
  size = g_memory_output_stream_get_data_size (memory) - 1;
  check_printable (text, size);
  if (format == RENDER_SVG)
    check_well_formed (text, size);
  if (func != NULL)
    func (view, format, text, size, data);
}

/* All views, each in one look: another one the next turn. `func` sees every output and may be NULL. */
static inline void
check_views (const ViewRequest *request, uint64_t turn, OutputFunc func, void *data)
{
  for (const View *const *view = sysprof_view_list (); *view != NULL; view++, turn++)
    check_view (*view, (RenderFormat) (turn % N_RENDER_FORMATS), request, func, data);
}
