// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofSpawnable: the program to start, with its arguments, environment and descriptors. */

#pragma once

#include <gio/gio.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_SPAWNABLE (sysprof_spawnable_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofSpawnable, sysprof_spawnable, SYSPROF, SPAWNABLE, GObject)

/* `fd` is ours, `dest_fd` the number it will have in the child. */
typedef void (*SysprofSpawnableFDForeach) (int dest_fd, int fd, gpointer user_data);

/* No command yet, our own environment and working directory, no descriptors. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSpawnable *sysprof_spawnable_new (void);

/* One argument, copied, in front of those there are; the first of all is the program. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_prepend_argv (SysprofSpawnable *self, const char *argv);
/* One argument, copied, behind those there are. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_append_argv (SysprofSpawnable *self, const char *argv);

/* Appends all of a NULL-terminated vector; NULL appends nothing. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_append_args (SysprofSpawnable *self, const char *const *args);

/* NULL-terminated, never NULL, valid until the arguments change. Property "argv". *(none)* */
SYSPROF_AVAILABLE_IN_ALL
const char *const *sysprof_spawnable_get_argv (SysprofSpawnable *self);

/* NULL: our own working directory. Property "cwd". *(none, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_spawnable_get_cwd (SysprofSpawnable *self);
/* Copied; NULL: our own. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_set_cwd (SysprofSpawnable *self, const char *cwd);

/* The whole environment, "KEY=value" each, NULL-terminated; NULL when it was cleared. Property "environ".
 * *(none, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
const char *const *sysprof_spawnable_get_environ (SysprofSpawnable *self);

/* NULL clears it: the program starts without variables, but for those set afterwards. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_set_environ (SysprofSpawnable *self, const char *const *environ);

/* `value` NULL removes the variable. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_setenv (SysprofSpawnable *self, const char *key, const char *value);

/* Valid until the environment changes. *(none, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_spawnable_getenv (SysprofSpawnable *self, const char *key);

/* Hands `fd` (taken) to the child as `dest_fd`, or as the next free number when that is negative.
 * A descriptor handed over before under the same number is closed. Returns the number in the child. */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_spawnable_take_fd (SysprofSpawnable *self, int fd, int dest_fd);

/**
 * sysprof_spawnable_foreach_fd:
 * @self: a program to be started
 * @foreach: (scope call): called with each descriptor
 * @user_data: for @foreach
 *
 * In the order in which they were taken; the callback must not change them.
 */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_foreach_fd (SysprofSpawnable *self,
                                   SysprofSpawnableFDForeach foreach,
                                   gpointer user_data);

/* The first number for descriptors without a wish. Default 3, behind the standard streams; a
 * negative number means 2. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_set_starting_fd (SysprofSpawnable *self, int starting_fd);

/* Makes an unlinked capture file that the child finds by the variable `envvar` (NULL:
 * SYSPROF_TRACE_FD). Returns our descriptor of it *(full)*, or -1 with errno set. */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_spawnable_add_trace_fd (SysprofSpawnable *self,
                                    const char *envvar) G_GNUC_WARN_UNUSED_RESULT;

/* Puts `library_path` in front of the child's LD_PRELOAD. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_add_ld_preload (SysprofSpawnable *self, const char *library_path);

/* Default G_SUBPROCESS_FLAGS_NONE: standard output and error are ours. Property "flags". */
SYSPROF_AVAILABLE_IN_ALL
GSubprocessFlags sysprof_spawnable_get_flags (SysprofSpawnable *self);
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_set_flags (SysprofSpawnable *self, GSubprocessFlags flags);

/* Starts the program. Descriptors are duplicated, so that it may be started again. NULL and
 * `error`: there is no command, it does not exist, or it may not be run. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
GSubprocess *sysprof_spawnable_spawn (SysprofSpawnable *self, GError **error);

G_END_DECLS
