// SPDX-License-Identifier: GPL-3.0-or-later

/* Names of functions in which a process, a thread or a kernel context starts. A stack that ends
 * in one of them is complete, because only another such function calls it. */

#include "symbolize/symbolizer.h"

#include <string.h>

/* A trailing star matches any suffix. The list contains only names that no other function has;
 * a program's own `start` is not included. */
static const char *const user_names[] = {
  /* the linker's start files, and the C libraries (glibc, musl, bionic) */
  "_start",
  "_start_c",
  "__libc_start_main*",
  "__libc_start_call_main",
  "generic_start_main*",
  "__libc_init",
  "start_thread",
  "clone",
  "__clone",
  "__GI___clone",
  "clone3",
  "__clone3",
  "__GI___clone3",
  "__start_thread",
  "__pthread_start*",
  /* the dynamic loader */
  "_dl_start_user",
  "_dl_start",
  "_dlstart",
  "_dlstart_c",
  /* Go, whose goroutines have separate stacks */
  "runtime.goexit*",
  "runtime.rt0_go*",
  "runtime.mstart*",
  "_rt0_*",
};

/* Entry points from user mode (entry_SYSCALL_64 and similar) are not included: after them the
 * user part of the stack must follow, and a stack without that part is truncated. */
static const char *const kernel_names[] = {
  "ret_from_fork*",
  "secondary_startup*",
  "common_startup_64",
  "start_secondary",
  "start_kernel",
  "x86_64_start_kernel",
  "x86_64_start_reservations",
  "__secondary_switched",
  "__primary_switched",
};

static bool
matches (const char *pattern, const char *name)
{
  size_t size = strlen (pattern);

  if (pattern[size - 1] == '*')
    return strncmp (pattern, name, size - 1) == 0;
  return strcmp (pattern, name) == 0;
}

bool
sysprof_symbol_name_is_entry (const char *name, SymbolKind kind)
{
  const char *const *names = kind == SYMBOL_KERNEL ? kernel_names : user_names;
  size_t n = kind == SYMBOL_KERNEL ? G_N_ELEMENTS (kernel_names) : G_N_ELEMENTS (user_names);

  if (kind != SYMBOL_KERNEL && kind != SYMBOL_USER)
    return false;

  for (size_t i = 0; i < n; i++)
    if (matches (names[i], name))
      return true;

  return false;
}
