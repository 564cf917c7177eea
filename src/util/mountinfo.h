// SPDX-License-Identifier: GPL-3.0-or-later

/* The lines of /proc/PID/mountinfo: what a process has mounted, and where. A path in them is any path: whoever made the mount chose it. */

#pragma once

#include "util/text.h"

/* Texts point into the line, and are as they stand there: sysprof_mountinfo_dup_plain(). */
typedef struct
{
  int id;
  int parent_id;
  int device_major;
  int device_minor;
  Text root; /* of the mount, in its file system */
  Text mount_point;
  Text type; /* of the file system */
  Text source;
  Text options; /* of the file system */
} Mountinfo;

/* Takes the next line that is one; lines that make no sense are skipped. FALSE at the end. */
bool sysprof_mountinfo_next (Text *text, Mountinfo *mount);

/* Takes the next of the file system's options, "key" or "key=value". FALSE at the end. */
bool sysprof_mountinfo_next_option (Text *options, Text *option);

/* The text with its blanks, commas and backslashes, which stand there as \040, \054 and \134. *(full)* */
char *sysprof_mountinfo_dup_plain (Text text);
