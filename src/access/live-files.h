// SPDX-License-Identifier: GPL-3.0-or-later

/* Opens the file of a mapping of a running process: exactly that file, or none. A child process
 * opens it, because open() may block forever (util/children/opener.h). *Owned* by one thread. */

#pragma once

#include "access/privilege.h"
#include "util/util.h"

typedef struct
{
  int32_t pid;
  uint64_t start;
  uint64_t end;
  uint64_t inode; /* 0 = the vDSO */
  uint32_t device_major;
  uint32_t device_minor;
  const char *path; /* as seen by the process */
} LiveMapping;

typedef struct
{
  Privilege *privilege; /* borrowed */
  Opener opener;
} LiveFiles;

/* Starts the child. */
void sysprof_live_files_init (LiveFiles *self, Privilege *privilege);
void sysprof_live_files_clear (LiveFiles *self);

/* Opens the file for reading and fills `info`. Returns an envelope. -1 if it cannot be opened;
 * another file with the same name is not accepted. */
int sysprof_live_files_open (LiveFiles *self, const LiveMapping *mapping, struct stat *info);
/* An envelope with the installed debug file of that build ID (`size` bytes); -1 if there is
 * none. */
int sysprof_live_files_open_debug (LiveFiles *self, const uint8_t *build_id, size_t size);
/* Only fills `info`. */
bool sysprof_live_files_look (LiveFiles *self, const LiveMapping *mapping, struct stat *info);
/* An envelope with a file that we have opened ourselves (borrowed). */
int sysprof_live_files_wrap (int fd, struct stat *info);
