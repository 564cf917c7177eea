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

typedef struct
{
  Text comm;
  char state; /* 'R', 'S', 'Z' … */
  int32_t parent_pid;
  uint64_t cpu_ticks;   /* user and system time of all threads, without children; USER_HZ */
  uint64_t start_ticks; /* after boot; USER_HZ */
} ProcStat;

/* Parses /proc/PID/stat. The name may contain spaces and parentheses. */
bool sysprof_proc_parse_stat (Text text, ProcStat *stat);
/* Parses the resident size in /proc/PID/statm. It is more exact than the one in stat since
 * Linux 6.17. */
bool sysprof_proc_parse_resident (Text statm, uint64_t *pages);

/* Joins the NUL-terminated arguments by spaces, in place, and appends a NUL, for which
 * `arguments` must have `size` + 1 bytes. Control characters become spaces, too. Returns the
 * new length. */
size_t sysprof_proc_join_arguments (char *arguments, size_t size);
