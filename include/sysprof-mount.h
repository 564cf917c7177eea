// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofMount: one mount of a process, as in mountinfo of proc(5). */

#pragma once

#include <glib-object.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_MOUNT (sysprof_mount_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofMount, sysprof_mount, SYSPROF, MOUNT, GObject)

/* Property "device-major". */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_mount_get_device_major (SysprofMount *self);

/* Property "device-minor". */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_mount_get_device_minor (SysprofMount *self);

/* Property "mount-id". */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_mount_get_mount_id (SysprofMount *self);

/* Property "parent-mount-id". */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_mount_get_parent_mount_id (SysprofMount *self);

/* The directory of the file system that is mounted. *(none)* Property "root". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_mount_get_root (SysprofMount *self);

/* The path of the mount point. *(none)* Property "mount-point". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_mount_get_mount_point (SysprofMount *self);

/* The device, or the text that the file system provides instead. *(none)* Property
 * "mount-source". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_mount_get_mount_source (SysprofMount *self);

/* *(none)* Property "filesystem-type". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_mount_get_filesystem_type (SysprofMount *self);

/* All options, separated by commas. *(none)* Property "superblock-options". */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_mount_get_superblock_options (SysprofMount *self);

/* The value of an option, "" if it has none; NULL if there is no such option. *(full,
 * nullable)* */
SYSPROF_AVAILABLE_IN_ALL
char *sysprof_mount_get_superblock_option (SysprofMount *self, const char *option);

G_END_DECLS
