// SPDX-License-Identifier: GPL-3.0-or-later

/* What the values of counters mean: captures do not say it. */

#pragma once

typedef enum
{
  COUNTER_VALUE,
  COUNTER_INCREASE, /* each value is the increase since the value before */
  COUNTER_TOTAL,    /* values grow; their increase matters */
} CounterKind;

typedef struct
{
  const char *category; /* prefix */
  const char *name;     /* prefix; NULL = any */
  const char *unit;
  CounterKind kind;
} CounterUnit;

/* Never NULL; the unit of unknown counters is "". */
const CounterUnit *sysprof_counter_find_unit (const char *category, const char *name);
