// SPDX-License-Identifier: GPL-3.0-or-later

/* Source: RFC 8259. Values that are not needed are skipped by counting brackets and quotes,
 * without validating them. */

#include "locate/json-find.h"

static void
skip_blanks (Text *self)
{
  while (self->at < self->end &&
         (*self->at == ' ' || *self->at == '\t' || *self->at == '\n' || *self->at == '\r'))
    self->at++;
}

/* Skips white space, and that one character. */
static bool
skip_sign (Text *self, char sign)
{
  skip_blanks (self);
  if (self->at == self->end || *self->at != sign)
    return false;

  self->at++;
  return true;
}

/* Escape sequences are not decoded. */
static bool
take_string (Text *self, Text *string)
{
  const char *at;

  if (!skip_sign (self, '"'))
    return false;

  for (at = self->at; at < self->end && *at != '"'; at++)
    if (*at == '\\' && self->end - at > 1)
      at++;
  if (at >= self->end)
    return false;

  *string = (Text){ self->at, at };
  self->at = at + 1;
  return true;
}

/* Stops at the comma or bracket after the value. */
static bool
skip_value (Text *self)
{
  size_t depth = 0;
  Text string;

  for (skip_blanks (self); self->at < self->end; skip_blanks (self))
    {
      char sign = *self->at;

      if (depth == 0 && (sign == ',' || sign == ']' || sign == '}'))
        return true;
      if (sign == '"')
        {
          if (!take_string (self, &string))
            return false;
          continue;
        }
      if (sign == '[' || sign == '{')
        depth++;
      else if (sign == ']' || sign == '}')
        depth--;
      self->at++;
    }
  return false;
}

static Text *
find_member (StorageEntry *entry, Text key)
{
  if (sysprof_text_equal (key, "id"))
    return &entry->id;
  if (sysprof_text_equal (key, "layer"))
    return &entry->layer;
  if (sysprof_text_equal (key, "image"))
    return &entry->image;
  if (sysprof_text_equal (key, "parent"))
    return &entry->parent;
  return NULL;
}

static bool
take_member (Text *self, StorageEntry *entry)
{
  Text key;
  Text *member;

  if (!take_string (self, &key) || !skip_sign (self, ':'))
    return false;

  member = find_member (entry, key);
  skip_blanks (self);
  if (member != NULL && self->at < self->end && *self->at == '"')
    return take_string (self, member);
  return skip_value (self);
}

static bool
take_object (Text *self, StorageEntry *entry)
{
  *entry = (StorageEntry){ 0 };
  if (!skip_sign (self, '{'))
    return false;
  if (skip_sign (self, '}'))
    return true;

  do
    if (!take_member (self, entry))
      return false;
  while (skip_sign (self, ','));
  return skip_sign (self, '}');
}

bool
sysprof_json_find_entry (Text json, const char *id, StorageEntry *entry)
{
  if (!skip_sign (&json, '['))
    return false;

  do
    {
      if (!take_object (&json, entry))
        return false;
      if (entry->id.at != NULL && sysprof_text_equal (entry->id, id))
        return true;
    }
  while (skip_sign (&json, ','));
  return false;
}
