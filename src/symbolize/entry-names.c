// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions in which a process, a thread or a kernel context begins: a stack that ends in one of them is whole.
 * Nobody calls them, or only another one of them does. */

#include "symbolize/symbolizer.h"

#include <string.h>

/* A star at the end: whatever follows. Only names that nothing else has: a program's own `start` is not here. */
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
  /* Go, whose goroutines have stacks of their own */
  "runtime.goexit*",
  "runtime.rt0_go*",
  "runtime.mstart*",
  "_rt0_*",
};

/* The way in from user code (entry_SYSCALL_64 and its like) is not here: behind it the user's part of the stack
 * must follow, and a stack without it is cut. */
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
