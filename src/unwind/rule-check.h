// SPDX-License-Identifier: GPL-3.0-or-later

/* Whether the unwind rules at the start of a function contradict its instructions. x86-64. */

#pragma once

#include "elf/elf.h"

#include <stdbool.h>
#include <stdint.h>

#define RULE_CHECK_ROWS 12

typedef struct
{
  uint64_t address;
  uint32_t rule;
} FirstRow;

/* *Owned* by one thread. */
typedef struct
{
  FirstRow first[RULE_CHECK_ROWS]; /* [n] the first rows of the current function */
  size_t n;
  uint64_t text_end; /* of the section */
  uint8_t *piece;    /* bytes at [piece_start, piece_end), or NULL */
  uint64_t piece_start;
  uint64_t piece_end;
} RuleCheck;

/* Adds a row of the current function; rows after the first ones are ignored. */
void sysprof_rule_check_add (RuleCheck *self, uint64_t address, uint32_t rule);

/* Whether the rows contradict what the first instructions of [start, end) do to SP. Rules that
 * do not use SP are trusted. So are rules that change with the first instruction, because their
 * author has considered it. */
bool
sysprof_rule_check_contradicts (RuleCheck *self, ElfImage *image, uint64_t start, uint64_t end);
void sysprof_rule_check_clear (RuleCheck *self);
