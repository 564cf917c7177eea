// SPDX-License-Identifier: GPL-3.0-or-later

/* text: writes names and numbers as text for people and for programs.
 *
 * TextWriter is a buffered stream with the escapes of JSON, XML and HTML. Its first error sticks and later writes do
 * nothing, so a caller may write a whole report and check only sysprof_text_writer_finish(). A loop over many rows should
 * stop when sysprof_text_writer_is_open() is false. Cancellation of the thread's GCancellable is an error, too.
 *
 * Names in captures are untrusted bytes of any length. Every function that escapes a name also replaces bytes that are not
 * valid UTF-8 by U+FFFD. */

#pragma once

#include "text/short-name.h"

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>

/* *Owned* by one thread. */
typedef struct
{
  GOutputStream *stream; /* borrowed */
  GString *buffer;
  GError *error; /* the first one; NULL = none */
  /* The stream takes no UTF-8: write ASCII in place of characters that we draw, such as
   * lines, blocks and ellipses. Names stay as they are. */
  bool is_ascii;
} TextWriter;

void sysprof_text_writer_init (TextWriter *self, GOutputStream *stream);
/* Flushes and frees the buffer. Returns false with the first error that happened. */
bool sysprof_text_writer_finish (TextWriter *self, GError **error);

/* Whether writes still reach the stream. */
static inline bool
sysprof_text_writer_is_open (const TextWriter *self)
{
  return self->error == NULL;
}

void sysprof_text_writer_puts (TextWriter *self, const char *text);
void sysprof_text_writer_bytes (TextWriter *self, const char *bytes, size_t size);
void sysprof_text_writer_printf (TextWriter *self, const char *format, ...)
    G_GNUC_PRINTF (2, 3);
void sysprof_text_writer_fill (TextWriter *self, char character, size_t n);

/* Writes a JSON string with its quotes. It contains no '<', '>' or '&', so it is safe inside a script element. */
void sysprof_text_writer_json (TextWriter *self, const char *text);
/* Escapes text for XML and HTML, also inside quoted attributes. Characters that XML forbids become U+FFFD; invisible ones
 * are written as <U+202E>. */
void sysprof_text_writer_xml (TextWriter *self, const char *text);

/* Returns `text` as one line of valid UTF-8: control characters become blanks, and invisible characters
 * (util/hidden-text.h) become <U+202E>. *(full)* */
char *sysprof_dup_one_line (const char *text);
/* Same for data: keeps invisible characters, except those that end lines, which become blanks. *(full)* */
char *sysprof_dup_line_of_data (const char *text);
/* Whether `text` has only printable ASCII characters, which need no escapes in a terminal. */
bool sysprof_is_plain (const char *text);
/* Width of `text` in columns of a terminal. */
size_t sysprof_text_columns (const char *text);
/* Shortens `text` to at most `columns`; a shortened text ends in "..". *(full)* */
char *sysprof_dup_ellipsized (const char *text, size_t columns);
/* Same for drawings, where each column counts: a shortened text ends in U+2026, an ellipsis. *(full)* */
char *sysprof_dup_abbreviated (const char *text, size_t columns);
/* Wraps `text` at blanks into lines of at most `columns` and indents all lines but the first. Shortens words that are
 * longer than a line. *(full)* */
char *sysprof_dup_wrapped (const char *text, size_t columns, size_t indent);

#define SYSPROF_GROUPED_SIZE 32
/* Formats 1234567 as 1,234,567 in any locale. */
const char *sysprof_format_grouped (uint64_t value, char buffer[SYSPROF_GROUPED_SIZE]);
/* Formats 12.3456 as 12.35 in any locale. */
const char *sysprof_format_fixed (double value, char buffer[SYSPROF_GROUPED_SIZE]);
/* Large numbers get three digits and a prefix. Others are whole, or have two decimals, or three
 * digits if two decimals would show 0. *(full)* */
char *sysprof_dup_real (double value);
/* Formats a value with a prefix of its unit that fits: "9.09 MB" for bytes, "572 ms" for ns,
 * "34.1 GB/s" for bytes/s, "12.3 %". Units without a short form are omitted. *(full)* */
char *sysprof_dup_quantity (double value, const char *unit);
/* Formats nanoseconds with a suitable unit: "12.40 s", "830.00 ms". *(full)* */
char *sysprof_dup_duration (int64_t nsec);
/* `part` as a percentage of `whole`; 0 if `whole` is 0. */
double sysprof_percent (uint64_t part, uint64_t whole);
