// SPDX-License-Identifier: GPL-3.0-or-later

/* A program in C whose work truth-cgo.go does, as a library. */

void run_truth (void);

int
main (void)
{
  run_truth ();
  return 0;
}
