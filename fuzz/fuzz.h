// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions that a harness provides. libFuzzer (make fuzz) and replay.c (make check) call
 * them. */

#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size);
