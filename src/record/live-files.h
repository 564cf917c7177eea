// SPDX-License-Identifier: GPL-3.0-or-later

/* The file behind a mapping of a living process: its very file, or none. */

#pragma once

#include "record/privilege.h"

#include <sys/stat.h>

typedef struct
{
  int32_t pid;
  uint64_t start;
  uint64_t end;
  uint64_t inode;
  uint32_t device_major;
  uint32_t device_minor;
  const char *path; /* as the process sees it */
} LiveMapping;

/* Opens it for reading and tells about it in `info`. -1: it cannot be had; a file of the same name that is another one does
 * not count. */
int
sysprof_live_file_open (Privilege *privilege, const LiveMapping *mapping, struct stat *info);
