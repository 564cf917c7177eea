// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds one object of a JSON array by its ID, for the lists in container storages. Plain C
 * without memory allocation, because it runs in a forked child without privileges. The input is
 * untrusted. */

#pragma once

#include "util/text.h"

/* The texts are those between the quotes; empty if the object has no such string. */
typedef struct
{
  Text id;
  Text layer;
  Text image;
  Text parent;
} StorageEntry;

/* Finds the first object whose "id" is `id` in an array of objects. Returns FALSE if there is
 * none before the end of the text or its first syntax error. */
bool sysprof_json_find_entry (Text json, const char *id, StorageEntry *entry);
