// SPDX-License-Identifier: GPL-3.0-or-later

/* The file behind a mapping of a living process: its very file, or none. A child opens it, as that may take for ever
 * (util/opener.h). *Owned* by one thread. */

#pragma once

#include "record/privilege.h"
#include "util/util.h"

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

typedef struct
{
  Privilege *privilege; /* borrowed */
  Opener opener;
} LiveFiles;

/* Starts the child. */
void sysprof_live_files_init (LiveFiles *self, Privilege *privilege);
void sysprof_live_files_clear (LiveFiles *self);

/* Opens it for reading and tells about it in `info`: an envelope. -1: it cannot be had; a file of the same name that is
 * another one does not count. */
int sysprof_live_files_open (LiveFiles *self, const LiveMapping *mapping, struct stat *info);
/* An envelope with the debug file of that build ID (of `size` bytes) that is installed here; -1: there is none. */
int sysprof_live_files_open_debug (LiveFiles *self, const uint8_t *build_id, size_t size);
/* Tells only about it. */
bool sysprof_live_files_look (LiveFiles *self, const LiveMapping *mapping, struct stat *info);
/* An envelope with a file of our own (borrowed). */
int sysprof_live_files_wrap (int fd, struct stat *info);
