// SPDX-License-Identifier: GPL-3.0-or-later

/* Parsers of /proc texts that become frames. They work on bytes in memory, so that tests can
 * use saved texts. */

#pragma once

#include "util/util.h"

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t offset;
  uint64_t inode;
  uint32_t device_major;
  uint32_t device_minor;
  bool is_executable;
  Text path; /* as in the text, without " (deleted)"; empty for an anonymous mapping */
} ProcMapping;

/* Parses the next valid line of /proc/PID/maps; skips others. FALSE at the end. */
bool sysprof_proc_next_mapping (Text *maps, ProcMapping *mapping);

/* Joins the NUL-terminated arguments by spaces, in place, and appends a NUL, for which
 * `arguments` must have `size` + 1 bytes. Control characters become spaces, too. Returns the
 * new length. */
size_t sysprof_proc_join_arguments (char *arguments, size_t size);
