// SPDX-License-Identifier: GPL-3.0-or-later

/* The texts of /proc that become frames: parsers over saved bytes, so that they can be tested. */

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
  Text path; /* as it stands there, less " (deleted)"; empty for a nameless mapping */
} ProcMapping;

/* The next line of /proc/PID/maps that is one; others are skipped. FALSE at the end. */
bool sysprof_proc_next_mapping (Text *maps, ProcMapping *mapping);

/* The arguments, which end in NUL each, joined by blanks, in place; a NUL is put behind, for which `size` + 1 bytes
 * are there. What may not stand in a line becomes a blank, too. Returns the new length. */
size_t sysprof_proc_join_arguments (char *arguments, size_t size);
