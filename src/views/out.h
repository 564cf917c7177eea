// SPDX-License-Identifier: GPL-3.0-or-later

/* Buffered output with the escapes of each look. The first error sticks; later writes do nothing, so that who writes rows
 * ends with sysprof_out_goes_on(). That it was cancelled, sysprof_is_wanted(), is an error, too. *Owned.*
 *
 * Names in captures are any bytes. Every function that escapes also replaces what is not UTF-8 by U+FFFD. */

#pragma once

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct
{
  GOutputStream *stream;
  GString *buffer;
  GError *error;
} Out;

void sysprof_out_init (Out *self, GOutputStream *stream);
/* Flushes; false with the first error that happened. */
bool sysprof_out_finish (Out *self, GError **error);

/* Whether more is of use. */
static inline bool
sysprof_out_goes_on (const Out *self)
{
  return self->error == NULL;
}

void sysprof_out_text (Out *self, const char *text);
void sysprof_out_bytes (Out *self, const char *bytes, size_t size);
void sysprof_out_printf (Out *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
void sysprof_out_fill (Out *self, char character, size_t n);

/* A JSON string with its quotes; no '<', '>' or '&' stands in it, so that it may stand inside a script element. */
void sysprof_out_json (Out *self, const char *text);
/* For text and quoted attributes of XML and HTML. Characters that XML does not know become U+FFFD; hidden ones are shown. */
void sysprof_out_xml (Out *self, const char *text);

/* `text` as one line of valid UTF-8: control characters become blanks, hidden ones (util/hidden-text.h) are shown as <U+202E>. *(full)* */
char *sysprof_dup_one_line (const char *text);
/* The same for data: hidden characters stay, but for those that end lines, which become blanks. *(full)* */
char *sysprof_dup_line_of_data (const char *text);
/* Printable ASCII, which is shown as it is. */
bool sysprof_is_plain (const char *text);
/* How many columns of a terminal it takes. */
size_t sysprof_text_columns (const char *text);
/* At most `columns` wide, ending in ".." when cut. *(full)* */
char *sysprof_dup_ellipsized (const char *text, size_t columns);
/* The same for drawings, where each column counts: what was cut is one letter, an ellipsis. *(full)* */
char *sysprof_dup_abbreviated (const char *text, size_t columns);
/* Broken at blanks into lines that end at that column; all but the first are indented. A longer word is cut. *(full)* */
char *sysprof_dup_wrapped (const char *text, size_t columns, size_t indent);

#define SYSPROF_GROUPED_SIZE 32
/* 1234567 as 1,234,567 in any locale. */
const char *sysprof_format_grouped (uint64_t value, char buffer[SYSPROF_GROUPED_SIZE]);
/* 12.3456 as 12.35 in any locale. */
const char *sysprof_format_fixed (double value, char buffer[SYSPROF_GROUPED_SIZE]);
double sysprof_percent (uint64_t part, uint64_t whole);
