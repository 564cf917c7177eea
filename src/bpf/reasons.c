// SPDX-License-Identifier: GPL-3.0-or-later

/* Names of the reasons why a walk ends, as reports show them. */

#include "bpf/bpf.h"

static const char *const names[WALK_REASONS] = {
  [WALK_RUNNING] = "running",
  [WALK_END] = "end",
  [WALK_ROOT] = "root",
  [WALK_KERNEL_THREAD] = "kernel-thread",
  [WALK_IN_EXEC] = "in-exec",
  [WALK_NO_PROCESS] = "no-process",
  [WALK_NO_MAPPING] = "no-mapping",
  [WALK_NO_TABLE] = "no-table",
  [WALK_ESCAPE] = "escape",
  [WALK_BAD_FP] = "bad-fp",
  [WALK_FAULT] = "fault",
  [WALK_SP_NOT_RISING] = "sp-not-rising",
  [WALK_ZERO] = "zero",
  [WALK_DEPTH] = "depth",
  [WALK_COMPAT] = "compat",
  [WALK_NOT_YET] = "not-yet",
  [WALK_OVERLOAD] = "overload",
  [WALK_TABLE_FAILED] = "table-failed",
};

const char *
sysprof_walk_reason_to_string (WalkReason reason)
{
  return reason < WALK_REASONS ? names[reason] : "unknown";
}

bool
sysprof_walk_reason_is_whole (WalkReason reason)
{
  return reason >= WALK_END && reason <= WALK_IN_EXEC;
}
