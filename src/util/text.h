// SPDX-License-Identifier: GPL-3.0-or-later

/* A bounded cursor over untrusted text (/proc, files of names, folded stacks).
 *
 * Every function takes a part from the front and returns whether it could. It never reads past
 * `end`, and needs no NUL there. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct
{
  const char *at;
  const char *end; /* exclusive */
} Text;

static inline Text
sysprof_text_from_string (const char *string)
{
  return (Text){ string, string + strlen (string) };
}

static inline size_t
sysprof_text_size (Text self)
{
  return (size_t) (self.end - self.at);
}

/* The next line, without its newline. FALSE at the end. The last line needs no newline. */
bool sysprof_text_next_line (Text *self, Text *line);

/* The next run of bytes up to a space or tab, after skipping spaces. FALSE if none is left. */
bool sysprof_text_next_word (Text *self, Text *word);

/* Takes the part before `separator`, and the separator. Without a separator takes nothing and
 * returns FALSE. */
bool sysprof_text_until (Text *self, char separator, Text *part);

/* Takes `prefix` if the text begins with it. */
bool sysprof_text_skip (Text *self, const char *prefix);

/* Takes a number: digits only, no sign; fails on overflow or without a digit. */
bool sysprof_text_u64 (Text *self, uint64_t *value);
bool sysprof_text_hex (Text *self, uint64_t *value);

/* The number after the first occurrence of `key`. */
bool sysprof_text_u64_after (Text self, const char *key, uint64_t *value);

bool sysprof_text_equal (Text self, const char *string);
bool sysprof_text_starts_with (Text self, const char *prefix);
