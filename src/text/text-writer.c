// SPDX-License-Identifier: GPL-3.0-or-later

/* TextWriter: a buffered output stream with the escapes of JSON, XML and HTML. It must not
 * write bytes that are not valid UTF-8, except those of sysprof_text_writer_bytes() and
 * printf(). */

#include "text/text.h"

#include "text/characters.h"
#include "util/hidden-text.h"

#include <stdarg.h>
#include <string.h>

#define BUFFER_SIZE (64 * 1024)

/* Characters that our formats draw, and the ASCII character to write in place of each. */
static const struct
{
  gunichar character;
  char ascii;
} drawn[] = {
  { 0xb7, '.' },   { 0x2013, '-' }, { 0x2026, '~' }, { 0x2190, '<' }, { 0x2502, '|' },
  { 0x2581, '_' }, { 0x2582, '.' }, { 0x2583, '-' }, { 0x2584, '=' }, { 0x2585, '+' },
  { 0x2586, '*' }, { 0x2587, '%' }, { 0x2588, '#' }, { 0xfffd, '?' },
};

static void
replace_drawn_characters (GString *text)
{
  const char *from = text->str;
  char *to = text->str;

  while (*from)
    {
      gunichar character;
      size_t size = sysprof_next_character (from, &character), i = 0;

      while (i < G_N_ELEMENTS (drawn) && drawn[i].character != character)
        i++;
      if (character >= 0x80 && i < G_N_ELEMENTS (drawn))
        *to++ = drawn[i].ascii;
      else
        to = (char *) memmove (to, from, size) + size;
      from += size;
    }
  g_string_truncate (text, (gsize) (to - text->str));
}

static void
flush (TextWriter *self)
{
  if (self->is_ascii)
    replace_drawn_characters (self->buffer);
  if (!self->error && self->buffer->len > 0)
    (void) g_output_stream_write_all (self->stream, self->buffer->str, self->buffer->len, NULL,
                                      g_cancellable_get_current (), &self->error);
  g_string_truncate (self->buffer, 0);
}

static void
flush_if_full (TextWriter *self)
{
  if (self->buffer->len >= BUFFER_SIZE)
    flush (self);
}

void
sysprof_text_writer_init (TextWriter *self, GOutputStream *stream)
{
  *self = (TextWriter){ .stream = stream, .buffer = g_string_sized_new (BUFFER_SIZE + 4096) };
}

bool
sysprof_text_writer_finish (TextWriter *self, GError **error)
{
  flush (self);
  if (!self->error &&
      !g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), &self->error))
    (void) g_output_stream_flush (self->stream, g_cancellable_get_current (), &self->error);
  g_string_free (self->buffer, TRUE);
  self->buffer = NULL;
  if (!self->error)
    return true;
  g_propagate_error (error, g_steal_pointer (&self->error));
  return false;
}

void
sysprof_text_writer_bytes (TextWriter *self, const char *bytes, size_t size)
{
  g_string_append_len (self->buffer, bytes, (gssize) size);
  flush_if_full (self);
}

void
sysprof_text_writer_puts (TextWriter *self, const char *text)
{
  sysprof_text_writer_bytes (self, text, strlen (text));
}

void
sysprof_text_writer_printf (TextWriter *self, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_string_append_vprintf (self->buffer, format, arguments);
  va_end (arguments);
  flush_if_full (self);
}

void
sysprof_text_writer_fill (TextWriter *self, char character, size_t n)
{
  for (size_t i = 0; i < n; i++)
    g_string_append_c (self->buffer, character);
  flush_if_full (self);
}

void
sysprof_text_writer_json (TextWriter *self, const char *text)
{
  GString *buffer = self->buffer;

  g_string_append_c (buffer, '"');
  while (*text)
    {
      gunichar character;
      size_t size = sysprof_next_character (text, &character);

      switch (character)
        {
        case '"':
        case '\\':
          g_string_append_c (buffer, '\\');
          g_string_append_c (buffer, (char) character);
          break;
        case '\n':
          g_string_append (buffer, "\\n");
          break;
        case '\t':
          g_string_append (buffer, "\\t");
          break;
        case '<':
        case '>':
        case '&':
        case 0x2028: /* line separators in JavaScript */
        case 0x2029:
          g_string_append_printf (buffer, "\\u%04x", character);
          break;
        case 0xfffd:
          g_string_append (buffer, REPLACEMENT);
          break;
        default:
          if (character < 0x20 || (character >= 0x7f && character < 0xa0))
            g_string_append_printf (buffer, "\\u%04x", character);
          else
            g_string_append_len (buffer, text, (gssize) size);
        }
      text += size;
    }
  g_string_append_c (buffer, '"');
  flush_if_full (self);
}

static bool
is_xml_character (gunichar character)
{
  if (character < 0x20)
    return character == '\t' || character == '\n';
  return character != 0xfffe && character != 0xffff && !(character >= 0x7f && character < 0xa0);
}

void
sysprof_text_writer_xml (TextWriter *self, const char *text)
{
  GString *buffer = self->buffer;

  while (*text)
    {
      gunichar character;
      size_t size = sysprof_next_character (text, &character);

      if (character == '<')
        g_string_append (buffer, "&lt;");
      else if (character == '>')
        g_string_append (buffer, "&gt;");
      else if (character == '&')
        g_string_append (buffer, "&amp;");
      else if (character == '"')
        g_string_append (buffer, "&quot;");
      else if (character == '\'')
        g_string_append (buffer, "&#39;");
      else if (character == 0xfffd || !is_xml_character (character))
        g_string_append (buffer, REPLACEMENT);
      else if (sysprof_is_hidden_character (character))
        g_string_append_printf (buffer, "&lt;U+%04X&gt;", character);
      else
        g_string_append_len (buffer, text, (gssize) size);
      text += size;
    }
  flush_if_full (self);
}
