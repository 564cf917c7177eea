// SPDX-License-Identifier: GPL-3.0-or-later

/* One object of a JSON array, by its id: what the storage of containers consists of. Plain C without a tree: it runs behind fork(), in a
 * child without rights, over a file that anybody may have written. */

#pragma once

#include "util/text.h"

/* Texts are as they stand between the quotes; empty where the object has no such string. */
typedef struct
{
  Text id;
  Text layer;
  Text image;
  Text parent;
} StorageEntry;

/* Of an array of objects, the first whose "id" is `id`. FALSE: there is none before the end, or before the first mistake. */
bool sysprof_json_find_entry (Text json, const char *id, StorageEntry *entry);
