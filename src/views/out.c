// SPDX-License-Identifier: GPL-3.0-or-later

#include "views/out.h"

#include "util/hidden-text.h"
#include "views/views.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define BUFFER_SIZE (64 * 1024)

#define REPLACEMENT "\357\277\275" /* U+FFFD in UTF-8 */

#define FIXED_MOST  1e6 /* a hundredfold of which a double holds to 2e-8 */
#define FIXED_DOUBT 1e-6

static void
flush (Out *self)
{
  if (!self->error && self->buffer->len > 0)
    (void) g_output_stream_write_all (self->stream, self->buffer->str, self->buffer->len, NULL,
                                      g_cancellable_get_current (), &self->error);
  g_string_truncate (self->buffer, 0);
}

static void
flush_if_full (Out *self)
{
  if (self->buffer->len >= BUFFER_SIZE)
    flush (self);
}

void
sysprof_out_init (Out *self, GOutputStream *stream)
{
  *self = (Out){ .stream = stream, .buffer = g_string_sized_new (BUFFER_SIZE + 4096) };
}

bool
sysprof_out_finish (Out *self, GError **error)
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
sysprof_out_bytes (Out *self, const char *bytes, size_t size)
{
  g_string_append_len (self->buffer, bytes, (gssize) size);
  flush_if_full (self);
}

void
sysprof_out_text (Out *self, const char *text)
{
  sysprof_out_bytes (self, text, strlen (text));
}

void
sysprof_out_printf (Out *self, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_string_append_vprintf (self->buffer, format, arguments);
  va_end (arguments);
  flush_if_full (self);
}

void
sysprof_out_fill (Out *self, char character, size_t n)
{
  for (size_t i = 0; i < n; i++)
    g_string_append_c (self->buffer, character);
  flush_if_full (self);
}

/* Takes one character from `at`; `*character` is 0xfffd for bytes that are none. Returns how many bytes it took. */
static size_t
next_character (const char *at, gunichar *character)
{
  gunichar found;

  if ((unsigned char) *at < 0x80)
    {
      *character = (unsigned char) *at;
      return 1;
    }
  found = g_utf8_get_char_validated (at, -1);
  if (found == (gunichar) -1 || found == (gunichar) -2)
    {
      *character = 0xfffd;
      return 1;
    }
  *character = found;
  return (size_t) (g_utf8_next_char (at) - at);
}

void
sysprof_out_json (Out *self, const char *text)
{
  GString *buffer = self->buffer;

  g_string_append_c (buffer, '"');
  while (*text)
    {
      gunichar character;
      size_t size = next_character (text, &character);

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
        case 0x2028: /* line ends in JavaScript */
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
sysprof_out_xml (Out *self, const char *text)
{
  GString *buffer = self->buffer;

  while (*text)
    {
      gunichar character;
      size_t size = next_character (text, &character);

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

/* Printable ASCII, as most texts are to their end: one column a byte, shown as it is. */
static size_t
count_plain (const char *text)
{
  size_t n = 0;

  while (text[n] >= 0x20 && text[n] < 0x7f)
    n++;
  return n;
}

bool
sysprof_is_plain (const char *text)
{
  return !text[count_plain (text)];
}

static bool
ends_line (gunichar character)
{
  return character == 0x2028 || character == 0x2029;
}

static char *
dup_line (const char *text, bool shows_hidden)
{
  size_t n_plain = count_plain (text);
  GString *line;

  if (!text[n_plain])
    return g_strndup (text, n_plain);

  line = g_string_new_len (text, (gssize) n_plain);
  text += n_plain;
  while (*text)
    {
      gunichar character;
      size_t size = next_character (text, &character);

      if (character == 0xfffd)
        g_string_append (line, REPLACEMENT);
      else if (shows_hidden && sysprof_is_hidden_character (character))
        sysprof_append_hidden_character (line, character);
      else if (character < 0x20 || (character >= 0x7f && character < 0xa0) ||
               ends_line (character))
        g_string_append_c (line, ' ');
      else
        g_string_append_len (line, text, (gssize) size);
      text += size;
    }
  return g_string_free (line, FALSE);
}

char *
sysprof_dup_one_line (const char *text)
{
  return dup_line (text, true);
}

char *
sysprof_dup_line_of_data (const char *text)
{
  return dup_line (text, false);
}

static size_t
columns_of (gunichar character)
{
  if (g_unichar_iszerowidth (character))
    return 0;
  return g_unichar_iswide (character) ? 2 : 1;
}

size_t
sysprof_text_columns (const char *text)
{
  size_t columns = count_plain (text);

  text += columns;
  while (*text)
    {
      gunichar character;

      text += next_character (text, &character);
      columns += columns_of (character);
    }
  return columns;
}

/* The beginning of `text` with `mark` behind it, if it is wider than `columns`. */
static char *
dup_cut (const char *text, size_t columns, const char *mark)
{
  size_t room = columns - sysprof_text_columns (mark);
  GString *cut;
  size_t used = 0;

  if (sysprof_text_columns (text) <= columns)
    return g_strdup (text);

  cut = g_string_new (NULL);
  while (*text)
    {
      gunichar character;
      size_t size = next_character (text, &character);

      used += columns_of (character);
      if (used > room)
        break;
      g_string_append_len (cut, text, (gssize) size);
      text += size;
    }
  g_string_append (cut, mark);
  return g_string_free (cut, FALSE);
}

char *
sysprof_dup_ellipsized (const char *text, size_t columns)
{
  if (columns < 3)
    return sysprof_text_columns (text) <= columns ? g_strdup (text) : g_strnfill (columns, '.');
  return dup_cut (text, columns, "..");
}

char *
sysprof_dup_wrapped (const char *text, size_t columns, size_t indent)
{
  size_t room = columns > indent + 20 ? columns - indent : 20;
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  GString *lines = g_string_new (NULL);
  size_t used = 0;

  for (char **word = words; *word; word++)
    {
      g_autofree char *cut = sysprof_dup_ellipsized (*word, room);
      size_t width = sysprof_text_columns (cut);

      if (word > words && used + 1 + width > room)
        {
          g_string_append_printf (lines, "\n%*s", (int) indent, "");
          used = 0;
        }
      else if (word > words)
        {
          g_string_append_c (lines, ' ');
          used++;
        }
      g_string_append (lines, cut);
      used += width;
    }
  return g_string_free (lines, FALSE);
}

char *
sysprof_dup_abbreviated (const char *text, size_t columns)
{
  return dup_cut (text, columns, columns > 0 ? "\342\200\246" : "");
}

const char *
sysprof_format_grouped (uint64_t value, char buffer[SYSPROF_GROUPED_SIZE])
{
  char *at = buffer + SYSPROF_GROUPED_SIZE - 1;
  unsigned digits = 0;

  *at = '\0';
  do
    {
      if (digits > 0 && digits % 3 == 0)
        *--at = ',';
      *--at = (char) ('0' + value % 10);
      value /= 10;
      digits++;
    }
  while (value > 0);
  return at;
}

static const char *
format_hundredths (uint64_t value, char buffer[SYSPROF_GROUPED_SIZE])
{
  char *at = buffer + SYSPROF_GROUPED_SIZE - 1;

  *at = '\0';
  for (unsigned digits = 0; digits < 3 || value > 0; digits++)
    {
      if (digits == 2)
        *--at = '.';
      *--at = (char) ('0' + value % 10);
      value /= 10;
    }
  return at;
}

const char *
sysprof_format_fixed (double value, char buffer[SYSPROF_GROUPED_SIZE])
{
  double hundredths = value * 100;
  double left = hundredths - floor (hundredths);

  /* What printf() makes of it is only in doubt near the middle between two. */
  if (value >= 0 && value < FIXED_MOST && fabs (left - 0.5) > FIXED_DOUBT)
    return format_hundredths ((uint64_t) hundredths + (left > 0.5), buffer);
  return g_ascii_formatd (buffer, SYSPROF_GROUPED_SIZE, "%.2f", value);
}

double
sysprof_percent (uint64_t part, uint64_t whole)
{
  return whole > 0 ? 100.0 * (double) part / (double) whole : 0.0;
}

void
sysprof_name_written_file (GError **error, const char *path)
{
  if (error == NULL || *error == NULL || (*error)->domain != G_IO_ERROR)
    return;
  if (path != NULL)
    g_prefix_error (error, "Cannot write to '%s': ", path);
  else
    g_prefix_error_literal (error, "Cannot write to standard output: ");
}
