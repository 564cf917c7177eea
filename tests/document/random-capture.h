// SPDX-License-Identifier: GPL-3.0-or-later

/* A capture of random stacks, and what each sample's stack is by name: written down before anything reads it. */

#pragma once

#include <sysprof.h>

typedef struct
{
  const char *name; /* interned */
  bool is_kernel;
  bool is_system; /* of a system library */
} PlainCall;

typedef struct
{
  int pid;
  int tid;
  const char *comm; /* interned */
  bool is_kernel_process;
  PlainCall *calls; /* [n] innermost first */
  guint n;
} PlainSample;

typedef struct
{
  char *path;
  GArray *samples; /* of PlainSample, in the order of time */
} RandomCapture;

/* `n` samples of stacks of up to `deepest` calls. */
RandomCapture *random_capture_new (guint32 seed, guint n, guint deepest);
void random_capture_free (RandomCapture *self);

SysprofDocument *random_capture_load (const RandomCapture *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (RandomCapture, random_capture_free)
