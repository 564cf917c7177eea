// SPDX-License-Identifier: GPL-3.0-or-later

/* A library that is loaded at run time, so that a stack passes through it. */

__attribute__ ((visibility ("default"))) void backtrace_plugin_through (void (*func) (void));

void
backtrace_plugin_through (void (*func) (void))
{
  func ();
  __asm__ volatile(""); /* no call in the tail */
}
