// SPDX-License-Identifier: GPL-3.0-or-later

/* access: what the recorder may open and read, of the kernel and of other processes. Only this
 * module decides with whose privileges that happens.
 *
 *   descriptor-limit.h  the limit of open files, shared by all who need many
 *   jit-finder.h        perf maps and jitdumps of running programs
 *   kernel-build-ids.h  the build IDs of the kernel and its modules
 *   live-files.h        the files of executable mappings
 *   module-sections.h   the load addresses of the kernel's modules
 *   older-service.h     what the privileged service of older generations does for a recorder
 *   privilege.h         operations that need privileges: here, or by a privileged helper
 *   proc-text.h         parsers of /proc/PID/maps and cmdline
 *   tasks.h             lists of processes and threads
 *
 * Files that a process controls are opened in child processes, with the rights of the process's
 * user. */

#pragma once

#include "access/descriptor-limit.h"
#include "access/jit-finder.h"
#include "access/kernel-build-ids.h"
#include "access/live-files.h"
#include "access/module-sections.h"
#include "access/older-service.h"
#include "access/privilege.h"
#include "access/proc-text.h"
#include "access/tasks.h"
