// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofSpawnable: the program to start, with its arguments, environment and descriptors. */

#pragma once

#include <gio/gio.h>

#include "sysprof-version-macros.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_SPAWNABLE (sysprof_spawnable_get_type ())

SYSPROF_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (SysprofSpawnable, sysprof_spawnable, SYSPROF, SPAWNABLE, GObject)

/* `fd` is the descriptor of this process, `dest_fd` its number in the child. */
typedef void (*SysprofSpawnableFDForeach) (int dest_fd, int fd, gpointer user_data);

/* Has no command and no descriptors, and the environment and working directory of this process.
 * *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofSpawnable *sysprof_spawnable_new (void);

/* Inserts an argument, which is copied, before the others. The first argument is the program.
 */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_prepend_argv (SysprofSpawnable *self, const char *argv);
/* Appends an argument, which is copied. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_append_argv (SysprofSpawnable *self, const char *argv);

/* Appends all strings of a NULL-terminated vector; NULL appends nothing. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_append_args (SysprofSpawnable *self, const char *const *args);

/* NULL-terminated, never NULL, valid until the arguments change. Property "argv". *(none)* */
SYSPROF_AVAILABLE_IN_ALL
const char *const *sysprof_spawnable_get_argv (SysprofSpawnable *self);

/* The working directory; NULL is that of this process. Property "cwd". *(none, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_spawnable_get_cwd (SysprofSpawnable *self);
/* The path is copied; NULL is the directory of this process. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_set_cwd (SysprofSpawnable *self, const char *cwd);

/* The complete environment, "KEY=value" each, NULL-terminated; NULL if it was cleared. Property
 * "environ". *(none, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
const char *const *sysprof_spawnable_get_environ (SysprofSpawnable *self);

/* NULL clears the environment. The program then has only variables that are set afterwards. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_set_environ (SysprofSpawnable *self, const char *const *environ);

/* NULL as `value` removes the variable. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_setenv (SysprofSpawnable *self, const char *key, const char *value);

/* Valid until the environment changes. *(none, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_spawnable_getenv (SysprofSpawnable *self, const char *key);

/* Takes ownership of `fd` and passes it to the child as `dest_fd`, or as the next free number
 * if `dest_fd` is negative. Closes a descriptor that was passed before with the same number.
 * Returns the number in the child. */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_spawnable_take_fd (SysprofSpawnable *self, int fd, int dest_fd);

/**
 * sysprof_spawnable_foreach_fd:
 * @self: a program to be started
 * @foreach: (scope call): called with each descriptor
 * @user_data: for @foreach
 *
 * Descriptors are passed in the order in which they were added. The callback must not change
 * them.
 */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_foreach_fd (SysprofSpawnable *self,
                                   SysprofSpawnableFDForeach foreach,
                                   gpointer user_data);

/* The first number for descriptors without a requested number. The default is 3, after the
 * standard streams; a negative number means 2. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_set_starting_fd (SysprofSpawnable *self, int starting_fd);

/* Creates an unlinked capture file, whose descriptor the child finds in the variable `envvar`
 * (NULL: SYSPROF_TRACE_FD). Returns a descriptor of it *(full)*, or -1 with errno set. */
SYSPROF_AVAILABLE_IN_ALL
int sysprof_spawnable_add_trace_fd (SysprofSpawnable *self,
                                    const char *envvar) G_GNUC_WARN_UNUSED_RESULT;

/* Prepends `library_path` to LD_PRELOAD of the child. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_add_ld_preload (SysprofSpawnable *self, const char *library_path);

/* The default, G_SUBPROCESS_FLAGS_NONE, inherits standard output and error. Property "flags".
 */
SYSPROF_AVAILABLE_IN_ALL
GSubprocessFlags sysprof_spawnable_get_flags (SysprofSpawnable *self);
SYSPROF_AVAILABLE_IN_ALL
void sysprof_spawnable_set_flags (SysprofSpawnable *self, GSubprocessFlags flags);

/* Starts the program. Descriptors are duplicated, so it may be started again. *(full)*; NULL
 * with `error` set if there is no command, if it does not exist, or if it may not be executed.
 */
SYSPROF_AVAILABLE_IN_ALL
GSubprocess *sysprof_spawnable_spawn (SysprofSpawnable *self, GError **error);

G_END_DECLS
