// SPDX-License-Identifier: GPL-3.0-or-later

/* Size and times of a file when it was opened. See file-stamp.h. */

#include "store/file-stamp.h"

#include <sys/stat.h>
#include <unistd.h>

#define END_TIME_AT 80 /* in the header of a capture; other files have some other bytes there */
#define NSEC        INT64_C (1000000000)

void
sysprof_file_stamp_read (FileStamp *self, int fd)
{
  struct stat info;

  *self = (FileStamp){ 0 };
  if (fstat (fd, &info) < 0 || !S_ISREG (info.st_mode))
    return;

  self->device = info.st_dev;
  self->inode = info.st_ino;
  self->size = (uint64_t) info.st_size;
  self->modified = (int64_t) info.st_mtim.tv_sec * NSEC + info.st_mtim.tv_nsec;
  /* The last write of a recorder does not change the size, and may have the same time stamp
   * as the one before. */
  if (pread (fd, &self->end_time, sizeof self->end_time, END_TIME_AT) !=
      (ssize_t) sizeof self->end_time)
    self->end_time = 0;
}

bool
sysprof_store_is_current (const Store *self, int fd)
{
  FileStamp now;

  sysprof_file_stamp_read (&now, fd);
  return now.size != 0 && now.device == self->stamp.device && now.inode == self->stamp.inode &&
         now.size == self->stamp.size && now.modified == self->stamp.modified &&
         now.end_time == self->stamp.end_time;
}
