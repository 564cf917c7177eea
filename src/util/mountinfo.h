// SPDX-License-Identifier: GPL-3.0-or-later

/* The lines of /proc/PID/mountinfo: the mounts of a process. Their paths are untrusted: whoever
 * made the mount chose them. */

#pragma once

#include "util/text.h"

/* Texts point into the line and are still escaped: see sysprof_mountinfo_dup_plain(). */
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

/* Takes the next valid line and skips invalid ones. FALSE at the end. */
bool sysprof_mountinfo_next (Text *text, Mountinfo *mount);

/* Takes the next option of the file system, "key" or "key=value". FALSE at the end. */
bool sysprof_mountinfo_next_option (Text *options, Text *option);

/* The text with spaces, commas and backslashes, which are escaped as \040, \054 and \134.
 * *(full)* */
char *sysprof_mountinfo_dup_plain (Text text);
